"""The scene as it was."""

import pytest

from armillary import World, seconds
from armillary.errors import InvalidStamp, SceneCycle, UnknownNode
from armillary.scene import NodeId, Sphere
from unit.kit import FakeClock, moved

ONE, TWO = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12")


@pytest.fixture
def clock():
    return FakeClock(0)


class TestTheSceneAsItWas:
    def test_holds_what_was_there_from_the_first_instant_to_before_the_last(self, scene):
        table = scene.add_group(parent=scene.root, at=10)
        scene.remove(table, at=20)
        assert [table in scene.as_of(stamp) for stamp in (9, 10, 19, 20)] == [False, True, True, False]

    def test_holds_the_attributes_of_then(self, scene):
        table = scene.add_group(parent=scene.root, attributes={"state": "clean"}, at=10)
        scene.set_attributes(table, {"state": "dirty"}, at=20)
        scene.set_attributes(table, {"state": None}, at=30)
        seen = [scene.as_of(stamp).attributes(table) for stamp in (10, 19, 20, 30)]
        assert seen == [{"state": "clean"}, {"state": "clean"}, {"state": "dirty"}, {}]

    def test_holds_what_is_there_always(self, scene, clock):
        clock.ns = 100
        table = scene.add_transform(parent=scene.root, transform=moved(1), at=None, attributes={"name": "table"})
        cup = scene.add_geometry(parent=table, shape=Sphere(0.1), at=50)
        assert [[node in scene.as_of(stamp) for node in (table, cup)] for stamp in (-100, 49, 50)] == [
            [True, False],
            [True, False],
            [True, True],
        ]
        assert scene.as_of(0).find({"name": "table"}) == [table]

    def test_holds_the_attributes_of_frames_of_then(self, world, scene, clock):
        world.fix(of="camera", in_frame="map", transform=moved(1))
        clock.ns = 100
        lens = scene.add_geometry(parent="camera", shape=Sphere(0.1), at=50)
        scene.set_attributes("camera", {"lens": "wide"}, at=30)
        assert [lens in scene.as_of(stamp) for stamp in (49, 50)] == [False, True]
        assert [len(scene.as_of(stamp).find({"lens": "wide"})) for stamp in (29, 30)] == [0, 1]

    def test_holds_the_past_incarnation_of_what_is_there_always(self, scene, clock):
        scene.add_transform(parent=scene.root, transform=moved(1), at=None, id=ONE, attributes={"name": "first"})
        clock.ns = 10
        scene.remove(ONE)
        clock.ns = 20
        scene.add_transform(parent=scene.root, transform=moved(2), at=None, id=ONE, attributes={"name": "second"})
        names = [scene.as_of(stamp).attributes(ONE)["name"] for stamp in (9, 20)]
        assert (names, ONE in scene.as_of(15)) == (["first", "second"], False)

    def test_is_searched_by_the_attributes_of_then(self, scene):
        table = scene.add_group(parent=scene.root, attributes={"state": "clean"}, at=10)
        scene.set_attributes(table, {"state": "dirty"}, at=20)
        assert scene.as_of(15).find({"state": "clean"}) == [table]
        assert scene.as_of(15).find({"state": "dirty"}) == []

    def test_uses_the_last_assertion_about_an_instant(self, scene):
        table = scene.add_group(parent=scene.root, attributes={"legs": 3}, at=10)
        scene.set_attributes(table, {"legs": 4}, at=5)  # a correction: it never had three
        assert scene.attributes(table) == scene.as_of(10).attributes(table) == {"legs": 4}

    def test_holds_who_was_in_whom(self, scene):
        table, shelf = (scene.add_group(parent=scene.root, at=0) for _ in range(2))
        cup = scene.add_group(parent=table, at=10)
        scene.add_parent(cup, shelf, at=20)
        scene.remove_parent(cup, table, at=20)
        assert [scene.as_of(stamp).parents(cup) for stamp in (10, 19, 20)] == [[table], [table], [shelf]]
        assert scene.as_of(19).children(table) == [cup]
        assert scene.as_of(20).children(table) == []

    def test_ends_for_all_below_with_what_was_above(self, scene):
        table = scene.add_group(parent=scene.root, at=0)
        cup = scene.add_group(parent=table, at=0)
        scene.remove(table, at=10)
        assert [cup in scene.as_of(stamp) for stamp in (9, 10)] == [True, False]

    def test_keeps_the_incarnations_of_one_id_apart(self, scene):
        scene.add_group(parent=scene.root, id=ONE, attributes={"name": "first"}, at=10)
        scene.add_group(parent=ONE, id=TWO, at=10)
        scene.remove(ONE, at=20)
        scene.add_group(parent=scene.root, id=ONE, attributes={"name": "second"}, at=30)
        names = [scene.as_of(stamp).attributes(ONE)["name"] for stamp in (15, 35)]
        assert names == ["first", "second"]
        assert [scene.as_of(stamp).children(ONE) for stamp in (15, 35)] == [[TWO], []]
        assert ONE not in scene.as_of(25)

    def test_does_not_change_any_more_with_what_happens_later(self, scene, clock):
        table = scene.add_group(parent=scene.root, at=0)
        past = scene.as_of(5)
        clock.ns = 100
        scene.remove(table, at=3)  # that it was gone by then comes to be known only now
        assert table in past
        assert table not in scene.as_of(5)

    def test_is_where_it_was(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1), at=10)
        scene.set_transform(table, moved(3), at=30)
        scene.remove(table, at=31)
        frame = scene.as_of(20).frame(table)
        assert world.pose(of=frame, in_frame="map", at=20).transform.is_close(moved(2))

    def test_is_searched_for_shapes_that_were_there_then(self, scene, clock):
        cups = [scene.add_transform(parent=scene.root, transform=moved(x), at=0) for x in (2, 4)]
        shapes = [scene.add_geometry(parent=cup, shape=Sphere(0.1), at=0) for cup in cups]
        scene.set_transform(cups[0], moved(3), at=10)
        clock.ns = 20
        scene.remove(cups[0], at=15)
        down = {"direction": (0, 0, -1), "in_frame": "map"}
        for stamp, x in ((0, 2), (10, 3)):
            then = scene.as_of(stamp)
            assert [hit.id for hit in then.raycast(origin=(x, 0, 1), **down)] == [shapes[0]]
            assert set(then.overlapping(Sphere(9.0), in_frame="map", outside="hold")) == set(shapes)
            assert then.bounding_sphere(cups[0]) == scene.as_of(0).bounding_sphere(cups[0])
        assert [hit.id for hit in scene.as_of(5).raycast(origin=(3, 0, 1), at=10, **down)] == [shapes[0]]
        assert list(scene.as_of(15).overlapping(Sphere(9.0), in_frame="map", outside="hold")) == [shapes[1]]
        assert list(scene.overlapping(Sphere(9.0), in_frame="map", at=0)) == [shapes[1]]

    def test_has_no_cycles_either(self, scene):
        scene.add_group(parent=scene.root, id=ONE, at=0)
        scene.add_group(parent=ONE, id=TWO, at=0)
        scene.add_parent(TWO, scene.root, at=10)
        scene.remove_parent(TWO, ONE, at=10)
        with pytest.raises(SceneCycle):
            scene.add_parent(ONE, TWO, at=5)
        scene.add_parent(ONE, TWO, at=10)  # from then on there is none


class TestThePastIsRefused:
    def test_about_who_was_not_there(self, scene):
        table = scene.add_group(parent=scene.root, at=10)
        with pytest.raises(UnknownNode, match="it never existed"):
            scene.as_of(5).attributes(table)

    @pytest.mark.parametrize("stamp", [None, 1.5, "now"])
    def test_at_what_is_no_stamp(self, scene, stamp):
        with pytest.raises(InvalidStamp, match="integer nanoseconds"):
            scene.as_of(stamp)

    def test_where_it_is_forgotten(self, clock):
        with World("forgetful", clock=clock, history=seconds(1)) as world:
            for _ in range(1000):
                world.scene.remove(world.scene.add_group(parent=world.scene.root))
                clock.ns += seconds(0.01)
            with pytest.raises(InvalidStamp, match="longer history"):
                world.scene.as_of(0)
            assert len(world.scene.as_of(clock.ns)) == 1
