"""Poses through the graph, held against the facts of the paper's library."""

import pytest

from armillary import seconds
from armillary.errors import AfterHistory, AmbiguousPath, BeforeHistory, NotConnected
from armillary.scene import NodeId
from armillary.scene.domains import SpatialDomain
from conformance.scenes import assert_close, shifted
from conformance.things import fixed, xyz

MS = 1_000_000
BEGIN = seconds(1)


@pytest.fixture
def nodes(scene):
    """top over tf1 and tf2; tf3 in tf1 and group4 in tf2 are both over node5. Each pose is a millisecond younger."""

    def add(parent, at_ms, *at):
        return scene.add_transform(parent=parent, transform=shifted(*at), at=BEGIN + at_ms * MS)

    top = add(scene.root, 0, 0, 0, -1)
    tf1, tf2 = add(top, 1, 1, 2, 3), add(top, 2, 6, 5, 4)
    tf3, group4 = add(tf1, 3, 7, 8, 9), scene.add_group(parent=tf2)
    node5 = scene.add_group(parent=tf3)
    scene.add_parent(node5, group4)
    return {"top": top, "tf1": tf1, "tf2": tf2, "tf3": tf3, "group4": group4, "node5": node5}


class TestThePoseInTheRoot:
    @pytest.mark.parametrize(
        ("name", "expected"), [("tf1", [1, 2, 2]), ("tf3", [8, 10, 11]), ("group4", [6, 5, 3]), ("top", [0, 0, -1])]
    )
    def test_is_the_product_along_the_path(self, house, nodes, name, expected):
        assert xyz(house, nodes[name], at=BEGIN + 3 * MS, outside="hold") == expected

    def test_follows_what_is_above(self, house, scene, nodes):
        scene.set_transform(nodes["top"], shifted(100, 100, 99), at=BEGIN + 5 * MS)
        house.prefer(of=scene.frame(nodes["node5"]), source=str(nodes["group4"]))
        assert xyz(house, nodes["node5"], at=BEGIN + 5 * MS, outside="hold") == [106, 105, 103]
        assert xyz(house, nodes["node5"], at=seconds(1000), outside="hold") == [106, 105, 103]


class TestThePoseInTheRootDiffers:
    def test_by_choosing_no_path_by_itself_g1(self, house, scene, nodes):
        with pytest.raises(AmbiguousPath, match=r"world\.prefer"):
            xyz(house, nodes["node5"], at=BEGIN + 3 * MS, outside="hold")
        for parent, expected in (("group4", [6, 5, 3]), ("tf3", [8, 10, 11])):
            house.prefer(of=scene.frame(nodes["node5"]), source=str(nodes[parent]))
            assert xyz(house, nodes["node5"], at=BEGIN + 3 * MS, outside="hold") == expected

    def test_by_showing_every_path_g1(self, scene):
        found = scene.traverse(SpatialDomain(), under=diamond_of_fixed(scene)["node5"]).paths
        assert [path.transform.translation.tolist() for path in found] == [[8, 10, 11], [6, 5, 3]]

    def test_by_one_instant_for_the_whole_path_g2(self, house, scene, nodes):
        """The library took the entry next in time of each edge, and the newest of their stamps."""
        with pytest.raises(BeforeHistory, match="do not overlap"):
            xyz(house, nodes["tf3"])
        pose = house.pose(of=scene.frame(nodes["tf3"]), in_frame="map", at=BEGIN + 2 * MS, outside="hold")
        assert (pose.stamp, bool(pose.held)) == (BEGIN + 2 * MS, True)

    def test_by_not_answering_for_the_future_g2(self, house, scene, nodes):
        scene.set_transform(nodes["top"], shifted(), at=BEGIN + 5 * MS)
        with pytest.raises(AfterHistory):
            xyz(house, nodes["top"], at=seconds(1000))


def diamond_of_fixed(scene):
    """The same graph, of poses that hold always."""
    top = fixed(scene, 0, 0, -1, parent=scene.root)
    tf1, tf2 = fixed(scene, 1, 2, 3, parent=top), fixed(scene, 6, 5, 4, parent=top)
    tf3, group4 = fixed(scene, 7, 8, 9, parent=tf1), scene.add_group(parent=tf2)
    node5 = scene.add_group(parent=tf3)
    scene.add_parent(node5, group4)
    return {"tf1": tf1, "tf2": tf2, "tf3": tf3, "group4": group4, "node5": node5}


class TestARelativePose:
    def test_is_undone_by_the_other_way_round(self, house, scene):
        nodes = diamond_of_fixed(scene)
        tf3, tf2 = scene.frame(nodes["tf3"]), scene.frame(nodes["tf2"])
        there = house.pose(of=tf3, in_frame=tf2).transform
        assert there.translation.tolist() == [2, 5, 8]
        assert_close(there @ house.pose(of=tf2, in_frame=tf3).transform, shifted())

    def test_of_a_node_in_itself_is_nothing(self, house, scene):
        nodes = diamond_of_fixed(scene)
        assert xyz(house, nodes["tf3"], seen_from=nodes["tf3"]) == [0, 0, 0]

    def test_of_then_is_not_changed_by_later_samples(self, house, scene):
        node = scene.add_transform(parent=scene.root, transform=shifted(1), at=seconds(1))
        scene.set_transform(node, shifted(2), at=seconds(2))
        before = xyz(house, node, at=seconds(1.5))
        scene.set_transform(node, shifted(30), at=seconds(3))
        assert xyz(house, node, at=seconds(1.5)) == before == [1.5, 0, 0]

    def test_of_graphs_that_do_not_meet_is_refused_g3(self, house, scene):
        here = fixed(scene, 1, 2, 3, parent=scene.root)
        there = fixed(scene, -1, -2, -3, parent=scene.add_remote_root(NodeId.random()))
        with pytest.raises(NotConnected):
            xyz(house, here, seen_from=there)
