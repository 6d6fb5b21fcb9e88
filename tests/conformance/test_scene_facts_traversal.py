"""Walking through a scene, held against the facts of the paper's library about its traversers."""

import pytest

from armillary import seconds
from armillary.scene import PointCloud, Sphere
from armillary.scene.domains import PathCollector, PointCloudAccumulator, SpatialDomain, SubgraphChecker
from conformance.scenes import shifted
from conformance.things import covariance_of, fixed

EXACT = covariance_of(0, 0, 0, 0, 0, 0)


@pytest.fixture
def nodes(scene):
    """root over tf1 over utf3 over n5, and over utf2 over g4 over the same n5."""
    tf1 = fixed(scene, 1, 2, 3, parent=scene.root)
    utf2 = _uncertain(scene, scene.root, 6, 5, 4)
    utf3 = _uncertain(scene, tf1, 7, 8, 9)
    g4 = scene.add_group(parent=utf2)
    n5 = scene.add_group(parent=utf3)
    scene.add_parent(n5, g4)
    return {"root": scene.root, "tf1": tf1, "utf2": utf2, "utf3": utf3, "g4": g4, "n5": n5}


def _uncertain(scene, parent, *xyz):
    return scene.add_uncertain_transform(parent=parent, transform=shifted(*xyz), covariance=EXACT, at=None)


def named(nodes, ids):
    names = {node: name for name, node in nodes.items()}
    return [names[node] for node in ids]


class TestTheWalk:
    def test_is_depth_first_and_once_for_each_path(self, scene, nodes):
        seen = []
        scene.traverse(lambda node: seen.append(node.id), once="path")
        assert named(nodes, seen) == ["root", "tf1", "utf3", "n5", "utf2", "g4", "n5"]

    def test_is_once_for_each_node_unless_asked_otherwise_v1(self, scene, nodes):
        seen = []
        scene.traverse(lambda node: seen.append(node.id))
        assert named(nodes, seen) == ["root", "tf1", "utf3", "n5", "utf2", "g4"]

    def test_goes_up_as_well(self, scene, nodes):
        seen = []
        scene.traverse(lambda node: seen.append(node.id), under=nodes["n5"], direction="up", once="path")
        assert named(nodes, seen) == ["n5", "utf3", "tf1", "root", "g4", "utf2", "root"]


class TestThePathsToANode:
    def test_are_whole(self, scene, nodes):
        found = scene.traverse(PathCollector(), under=nodes["n5"]).paths
        assert [named(nodes, path) for path in found] == [["root", "tf1", "utf3"], ["root", "utf2", "g4"]]

    def test_multiply(self, scene, nodes):
        found = scene.traverse(SpatialDomain(), under=nodes["n5"]).paths
        assert [path.transform.translation.tolist() for path in found] == [[8, 10, 12], [6, 5, 4]]

    def test_of_the_root_are_one_and_empty(self, scene):
        assert scene.traverse(PathCollector(), under=scene.root).paths == [()]

    def test_are_whole_where_they_part_above_the_node(self, scene):
        """The library gave [root, A, P] and [root, B]: defect D1, in the walk itself."""
        a, b = (scene.add_group(parent=scene.root) for _ in range(2))
        p = scene.add_group(parent=a)
        scene.add_parent(p, b)
        leaf = scene.add_group(parent=p)
        assert scene.traverse(PathCollector(), under=leaf).paths == [(scene.root, a, p), (scene.root, b, p)]


class TestTheSubgraphOfANode:
    @pytest.fixture
    def diamond(self, scene):
        sides = [scene.add_group(parent=scene.root) for _ in range(2)]
        bottom = scene.add_group(parent=sides[0])
        scene.add_parent(bottom, sides[1])
        return sides, bottom

    def ways(self, scene, node, of):
        return scene.traverse(SubgraphChecker(of), under=node).number_of_paths

    def test_has_the_node_itself_in_one_way(self, scene, diamond):
        assert self.ways(scene, diamond[1], diamond[1]) == 1

    def test_has_the_bottom_of_a_diamond_in_two_ways(self, scene, diamond):
        assert self.ways(scene, diamond[1], scene.root) == 2
        assert self.ways(scene, diamond[1], diamond[0][0]) == 1

    def test_has_nothing_from_beside_it(self, scene, diamond):
        sides, _ = diamond
        checker = scene.traverse(SubgraphChecker(sides[1]), under=sides[0])
        assert (checker.is_contained, checker.number_of_paths) == (False, 0)


class TestTheCloudsBelowANode:
    def test_are_each_mapped_at_their_own_stamp(self, scene):
        camera = scene.add_transform(parent=scene.root, transform=shifted(1), at=seconds(1))
        scene.set_transform(camera, shifted(2), at=seconds(2))
        for at_s in (1, 2):
            scene.add_geometry(parent=camera, shape=PointCloud([[0, 0, 0]]), at=seconds(at_s))
        scene.add_geometry(parent=camera, shape=Sphere(1.0), at=seconds(1))
        assert scene.traverse(PointCloudAccumulator(in_frame="map")).points.tolist() == [[1, 0, 0], [2, 0, 0]]
