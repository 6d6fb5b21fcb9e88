"""Arguments that searches, attributes and changes cannot take: refused where they are given, in one short sentence."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from armillary import Box, Sphere, World, seconds
from armillary.articulation import ArticulationModel
from armillary.errors import ArmillaryError, InvalidArgument, InvalidAttribute, InvalidShape, InvalidStamp
from armillary.scene import (
    AddFrameNode,
    AddJoints,
    BoundingSphere,
    Levels,
    Prefer,
    RemoveFrame,
    absent,
    contains,
    exists,
    greater,
    less,
)
from unit.kit import FakeClock, moved

RAY = {"origin": (0, 0, 0), "direction": (1, 0, 0), "in_frame": "map"}
LONGEST = 240


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture
def ball(scene):
    node = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(1))
    return scene.add_geometry(parent=node, shape=Sphere(0.1))


class TestAnInstantThatIsNone:
    @pytest.mark.parametrize("at", [1.0, None, "now", True, 2**70], ids=str)
    def test_is_refused_and_finds_not_nothing(self, scene, ball, at):
        for ask in (
            lambda: scene.overlapping(Sphere(2.0), in_frame="map", at=at),
            lambda: scene.raycast(**RAY, at=at),
            lambda: scene.bounding_sphere(scene.root, at=at),
        ):
            with pytest.raises(InvalidStamp):
                ask()

    def test_may_be_an_integer_of_numpy(self, scene, ball):
        assert list(scene.overlapping(Sphere(2.0), in_frame="map", at=np.int64(seconds(1)))) == [ball]


class TestWhatSearchesTake:
    @pytest.mark.parametrize("shape", [None, Sphere, "ball", Levels((Sphere(1.0),))], ids=str)
    def test_is_a_shape(self, scene, shape):
        with pytest.raises(InvalidShape, match=r"is no shape\. Give one"):
            scene.overlapping(shape, in_frame="map")

    @pytest.mark.parametrize("name", ["origin", "direction"])
    @pytest.mark.parametrize("given", ["north", None, (1, 2), object(), [(1, 2, 3)]])
    def test_is_a_vector(self, scene, name, given):
        with pytest.raises(InvalidArgument, match=f"The {name} of a ray is .* Give three finite numbers"):
            scene.raycast(**RAY | {name: given})

    @pytest.mark.parametrize("outside", ["extrapolate", None, 3], ids=str)
    def test_is_checked_even_where_nothing_moves(self, scene, outside):
        for ask in (
            lambda: scene.overlapping(Sphere(2.0), in_frame="map", outside=outside),
            lambda: scene.raycast(**RAY, outside=outside),
        ):
            with pytest.raises(InvalidArgument, match="outside must be 'raise', 'hold' or 'predict'"):
                ask()

    @pytest.mark.parametrize("max_m", ["far", None, -1, math.nan], ids=str)
    def test_is_a_length(self, scene, max_m):
        with pytest.raises(InvalidArgument, match="Give max_m that is not below zero"):
            scene.raycast(**RAY, max_m=max_m)

    @pytest.mark.parametrize("given", [("a", 1.0), ((0, 0, 0), "wide"), ((0, 0, 0), None)])
    def test_are_spheres_of_numbers(self, given):
        with pytest.raises(InvalidShape):
            BoundingSphere(*given)


class TestWhatAttributesAreComparedWith:
    def test_may_be_numbers_of_numpy(self, scene):
        heavy = scene.add_group(parent=scene.root, attributes={"mass_kg": 3})
        for bound in (np.int64(2), np.float32(2.0), np.uint8(2)):
            assert scene.find({"mass_kg": greater(bound)}) == [heavy]
            assert scene.find({"mass_kg": less(bound)}) == []

    @pytest.mark.parametrize("maker", [exists, absent, greater, contains])
    def test_is_made_by_a_call(self, scene, maker):
        with pytest.raises(InvalidArgument, match=rf"^{maker.__name__} makes a condition\. Call it, as in exists\(\)"):
            scene.find({"name": maker})

    def test_is_not_none(self, scene):
        with pytest.raises(InvalidArgument, match=r"there must be no 'name', ask for absent\(\)"):
            scene.find({"name": None})

    @pytest.mark.parametrize("item", [None, {"a": 1}, b"red", re.compile("red")], ids=type)
    def test_is_no_item_that_no_list_has(self, item):
        with pytest.raises(InvalidArgument, match=r"never contains .* Give a text or a number"):
            contains(item)

    def test_is_no_pattern_of_bytes(self, scene):
        with pytest.raises(InvalidArgument, match="a pattern of bytes"):
            scene.find({"name": re.compile(b"cup")})


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


class TestASentence:
    @pytest.mark.parametrize("value", [b"x" * 10**6, 10**400, 10**5000, _nested(5000), {"a": "b" * 999}], ids=type)
    def test_about_an_attribute_is_short(self, scene, value):
        with pytest.raises(InvalidAttribute) as caught:
            scene.set_attributes(scene.root, {"key": value})
        assert len(str(caught.value)) < LONGEST

    @pytest.mark.parametrize("size_m", [list(range(10**5)), np.zeros((50, 50)), "x" * 10**5], ids=type)
    def test_about_a_size_is_short_and_of_one_line(self, size_m):
        with pytest.raises(InvalidShape) as caught:
            Box(size_m)
        assert len(str(caught.value)) < LONGEST
        assert "\n" not in str(caught.value)


CALLS = {
    "levels": lambda scene: scene.add_geometry(parent=scene.root, shape=Sphere(1.0), levels=Sphere(1.0)),
    "sources": lambda scene: scene.add_connection(parent=scene.root, sources=scene.root, targets=[]),
    "targets": lambda scene: scene.add_connection(parent=scene.root, sources=[], targets=None),
    "changes": lambda scene: scene.apply(None),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_thing_in_place_of_a_list_is_refused(name):
    with World() as world, pytest.raises(ArmillaryError, match=f"{name} must be a list, got"):
        CALLS[name](world.scene)


class TestTheSpanOfAConnection:
    @pytest.mark.parametrize("name", ["start", "end"])
    @pytest.mark.parametrize("stamp", [10**30, -(2**62), 1.5, True, "now"])
    def test_is_of_stamps(self, scene, name, stamp):
        with pytest.raises(InvalidStamp, match=f"{name} must be integer nanoseconds"):
            scene.add_connection(parent=scene.root, sources=[], targets=[], **{name: stamp})
        assert len(scene) == 1

    def test_may_be_of_numbers_of_numpy(self, scene):
        tie = scene.add_connection(parent=scene.root, sources=[], targets=[], start=np.int64(3))
        assert type(scene.connection(tie).start) is int


class TestAVersionVector:
    @pytest.mark.parametrize(
        "beyond",
        ["abc", 5, {1: 5}, {1: "ab"}, {"a": [(1, 1)]}, {1: (1, 2)}, {1: [(-1, 1)]}, {1: [(2, 1)]}, {1: [(1, 2**64)]}],
    )
    def test_is_what_a_replica_returned(self, scene, beyond):
        with pytest.raises(InvalidArgument, match=r"what `scene.version_vector\(\)` of another replica returns"):
            scene.changes(since=beyond)

    def test_may_have_come_as_lists(self, scene):
        node = scene.add_group(parent=scene.root)
        held = {author: [list(part) for part in ranges] for author, ranges in scene.version_vector().items()}
        scene.add_group(parent=node)
        assert len(scene.changes(since=held)) == 1


@pytest.mark.parametrize("name", [[], {}, 5, None], ids=repr)
@pytest.mark.parametrize("change", [AddFrameNode, RemoveFrame, lambda name: Prefer(of=name, source=None)])
def test_what_is_no_name_of_a_frame_is_refused(change, name):
    """A list of no frames is removed without a word."""
    with World() as world, pytest.raises(ArmillaryError):
        world.apply([change([name] if change is RemoveFrame else name)])


ROWS = np.zeros((3, 3))


@pytest.mark.parametrize(
    "call",
    {
        "node": lambda scene: scene.node(ROWS),
        "once": lambda scene: scene.traverse(scene.root, once=ROWS),
        "remote root": lambda scene: scene.add_remote_root(ROWS),
        "joints": lambda scene: scene.store.apply([AddJoints(None)]),
        "ray": lambda scene: scene.raycast(origin=(10**400, 0, 0), direction=(1, 0, 0), in_frame="map"),
        "values": lambda _: ArticulationModel().values(ROWS),
        "on_path": lambda _: ArticulationModel().on_path(print, ROWS),
        "solve": lambda _: ArticulationModel().solve(None),
    }.items(),
    ids=lambda case: case[0],
)
def test_arrays_and_nothing_where_names_belong_are_refused_in_words(call):
    with pytest.raises(ArmillaryError):
        call[1](World().scene)
