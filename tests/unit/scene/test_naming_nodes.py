"""What names a node, and what does not."""

from __future__ import annotations

import uuid

import pytest

from armillary import Sphere, Transform, seconds
from armillary.errors import InvalidArgument, UnknownFrame
from armillary.scene import Fix, NodeId
from unit.kit import FakeClock, moved

READERS = ("kind", "parents", "children", "attributes", "stamp", "frame", "geometry", "levels", "connection")
NO_NODES = (None, 5, 1.5, b"node", ["a", "list"])
no_nodes = pytest.mark.parametrize("given", NO_NODES, ids=str)


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@no_nodes
class TestWhatIsNoNode:
    @pytest.mark.parametrize("name", [*READERS, "bounding_sphere"])
    def test_is_refused_by_questions(self, scene, name, given):
        with pytest.raises(InvalidArgument, match="named by its NodeId"):
            getattr(scene, name)(given)

    def test_is_refused_by_searches(self, scene, given):
        given = [] if given is None else given  # None: everywhere
        with pytest.raises(InvalidArgument, match="named by its NodeId"):
            scene.find({}, under=given)
        with pytest.raises(InvalidArgument, match="named by its NodeId"):
            scene.overlapping(Sphere(1.0), in_frame="map", under=given)

    def test_is_refused_as_a_parent(self, scene, given):
        before = scene.digest()
        for add, more in ((scene.add_group, {}), (scene.add_transform, {"transform": Transform.identity()})):
            with pytest.raises(InvalidArgument, match="named by its NodeId"):
                add(parent=given, **more)
        assert (scene.digest(), scene.remote_roots) == (before, [])

    def test_is_no_id(self, given):
        with pytest.raises(InvalidArgument):
            NodeId(given)


class TestAUuid:
    def test_is_an_id(self):
        given = uuid.uuid4()
        assert NodeId(given) == given
        assert NodeId(NodeId(given)) == NodeId(str(given))

    def test_names_a_node(self, scene):
        node = scene.add_geometry(parent=scene.root, shape=Sphere(1.0), id=uuid.uuid4())
        given = uuid.UUID(str(node))
        assert scene.geometry(given) == Sphere(1.0)
        assert list(scene.overlapping(Sphere(1.0), in_frame="map", under=given)) == [node]


class TestATextNamesAFrame:
    def test_of_a_geometry_as_of_every_node(self, scene):
        node = scene.add_geometry(parent=scene.root, shape=Sphere(1.0))
        scene.add_parent(node, scene.add_group(parent=scene.root))
        assert scene.geometry(scene.frame(node)) == Sphere(1.0)

    def test_that_may_not_be_there(self, scene):
        assert "nobody" not in scene
        assert "map" in scene

    def test_and_an_id_names_the_frame_that_the_node_is_in(self, scene):
        node = scene.add_geometry(parent=scene.root, shape=Sphere(1.0))
        assert list(scene.overlapping(Sphere(1.0), in_frame=node)) == [node]

    def test_and_is_no_attribute(self, scene):
        node = scene.add_transform(parent=scene.root, transform=Transform.identity(), attributes={"name": "cup"})
        with pytest.raises(UnknownFrame, match=r"Known: map\. .*scene\.find\(\{'name': 'cup'\}\)") as refused:
            scene.children("cup")
        assert str(node) not in str(refused.value)


class TestANodeWithoutAFrameOfItsOwn:
    """It is where what contains it is: to place it would place that."""

    @pytest.fixture
    def tray(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1.0), at=None, frame="table")
        world.fix(of="hand", in_frame="map", transform=moved(2.0))
        return scene.add_group(parent=table, attributes={"name": "tray"})

    @pytest.mark.parametrize(
        "place",
        [
            lambda world, tray: world.set_pose(of=tray, in_frame="map", transform=moved(1.0), at=5),
            lambda world, tray: world.set_poses(of=tray, in_frame="map", transforms=[moved(1.0)], at=[5]),
            lambda world, tray: world.fix(of=tray, in_frame="map", transform=moved(1.0)),
            lambda world, tray: world.apply([Fix(of=tray, in_frame="map", transform=moved(1.0))]),
            lambda world, tray: world.attach(of=tray, to="hand"),
            lambda world, tray: world.attach(of=tray, to="hand", policy="latest"),
            lambda world, tray: world.detach(of=tray),
            lambda world, tray: world.end(of=tray),
            lambda world, tray: world.set_twist(
                of=tray, relative_to="map", expressed_in="map", linear=(0, 0, 0), angular=(0, 0, 0), at=5
            ),
        ],
    )
    def test_is_not_placed_by_its_id(self, world, tray, place):
        before = world.digest(), world.relations()
        assert world.pose(of=tray, in_frame="map").xyz.tolist() == [1.0, 0.0, 0.0]
        with pytest.raises(InvalidArgument, match=r"'tray.*is where 'table' is.*scene\.move"):
            place(world, tray)
        assert (world.digest(), world.relations()) == before

    def test_is_placed_once_it_has_one(self, world, scene, tray):
        scene.move(tray, to="hand")
        world.set_pose(of=tray, in_frame="map", transform=moved(1.0), at=5, source="camera")
        assert world.pose(of="table", in_frame="map", at=5).xyz.tolist() == [1.0, 0.0, 0.0]
