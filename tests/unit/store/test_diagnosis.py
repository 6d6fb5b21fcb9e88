"""Why one frame cannot be seen from another: broken worlds, and the true cause each time."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, Any

import pytest

from armillary import LATEST, World, seconds
from armillary.scene import AddJoints, ClosedForm, Drive
from unit.kit import STILL, FakeClock, drive, moved

if TYPE_CHECKING:
    from collections.abc import Callable


def new_world() -> World:
    return World("robot", clock=FakeClock(seconds(20)), history=seconds(10))


def nobody_places_the_camera(world):
    world.add_frame("camera")
    drive(world, 1, 2, of="base")


def samples_are_forgotten(world):
    drive(world, 1, 2, of="camera")
    world.clear()


def a_joint_nobody_sets(world):
    form = ClosedForm(kind="revolute", origin=STILL, axes=((0, 0, 1),), variables=("neck",))
    world.apply([AddJoints({"neck": "linear"}), Drive(of="camera", in_frame="map", form=form)])


def the_driver_stopped(world):
    drive(world, *(15 + 0.1 * i for i in range(11)), of="base", source="odometry")
    world.fix(of="camera", in_frame="base", transform=moved(1))


def two_detectors(world):
    for source in ("left", "right"):
        drive(world, 1, 2, of="base", source=source)
    world.fix(of="camera", in_frame="base", transform=moved(1))


def handed_over(world):
    drive(world, 4, 5, of="camera", in_frame="table")
    drive(world, 7, 8, of="camera", in_frame="gripper")
    for parent in ("table", "gripper"):
        world.fix(of=parent, in_frame="map", transform=moved(1))


def began_late(world):
    drive(world, 5, 6, of="camera")


def began_long_ago(world):
    drive(world, *range(1, 20), of="camera")


def bolted_on_later(world):
    world.fix(of="camera", in_frame="map", transform=moved(1), at=seconds(5))


def two_trees(world):
    world.fix(of="camera", in_frame="base", transform=moved(1))
    world.fix(of="shelf", in_frame="map", transform=moved(1))


def never_at_the_same_time(world):
    drive(world, 1, 2, of="camera", in_frame="base")
    drive(world, 3, 4, of="base")


def misspelt(world):
    drive(world, 1, 2, of="camera_left")


def removed_by_somebody(world):
    drive(world, 1, 2, of="camera")
    world.remove_frame("camera")


def unmounted(world):
    from armillary.articulation import AddLink, AddObject, ArticulationModel  # noqa: PLC0415  (casadi is optional)

    model = ArticulationModel()
    model.apply(AddObject(name="head", root="head/links/camera"), tag="the head")
    model.apply(AddLink(path="head/links/camera"), tag="the camera")
    world.mount(model, in_frame="map", prefix="")
    model.remove("the camera")


def a_body(world):
    drive(world, 1, 2)
    world.add_body("camera", frames=["lens"])


@dataclass(frozen=True)
class Broken:
    make: Callable[[World], Any]
    at: Any
    cause: str
    reason: str
    hint: str
    links: tuple[str, ...]


BROKEN = [
    Broken(
        nobody_places_the_camera,
        LATEST,
        "missing link",
        "No source places 'camera'",
        "fix 'camera' in 'map'",
        ("missing link", "missing link"),
    ),
    Broken(samples_are_forgotten, LATEST, "missing link", "and no sample of it", "wait_for_pose", ("missing link",)),
    Broken(a_joint_nobody_sets, LATEST, "missing link", "joint 'neck'", "set_joints({'neck': ...}", ("missing link",)),
    Broken(the_driver_stopped, seconds(18), "late", "2 s older", "whether 'odometry' still sends", ("none", "late")),
    Broken(two_detectors, seconds(1), "contested", "'left' and 'right'", "prefer(of='base'", ("none", "contested")),
    Broken(
        handed_over,
        seconds(6),
        "between runs",
        "last seen in 'table' at 5.000 s",
        "before or after",
        ("between runs", "none"),
    ),
    Broken(
        began_late, seconds(2), "before history", "from 5.000 s on", "It was not placed before", ("before history",)
    ),
    Broken(began_long_ago, seconds(2), "before history", "from 9.000 s on", "kept for 10 s", ("before history",)),
    Broken(
        bolted_on_later,
        seconds(2),
        "before history",
        "from 5.000 s on, 3 s after",
        "5.000 s or later",
        ("before history",),
    ),
    Broken(
        two_trees,
        LATEST,
        "separate trees",
        "that of 'base', 'map' in that of 'map'",
        "'base' in 'map'",
        ("none", "missing link", "missing link"),
    ),
    Broken(never_at_the_same_time, LATEST, "no common time", "begins at 3.000 s", "longer history", ("none", "none")),
    Broken(misspelt, LATEST, "unknown name", "There is no frame 'camera'", "mean 'camera_left'?", ()),
    Broken(removed_by_somebody, LATEST, "removed", "There was a frame 'camera'", "Place it again", ()),
    Broken(unmounted, LATEST, "ended", "'camera' has no parent since 20.000 s", "before 20.000 s", ("ended",)),
    Broken(a_body, LATEST, "unknown name", "'camera' is a body", "'lens'", ()),
]
each = pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.make.__name__)


class TestABrokenWorld:
    @each
    def test_has_the_true_cause_and_a_hint(self, broken):
        world = new_world()
        broken.make(world)
        found = world.diagnose(of="camera", in_frame="map", at=broken.at)
        assert (found.cause, found.is_visible) == (broken.cause, False)
        assert broken.reason in found.reason
        assert broken.hint in found.hint

    @each
    def test_names_the_link(self, broken):
        world = new_world()
        broken.make(world)
        found = world.diagnose(of="camera", in_frame="map", at=broken.at)
        assert tuple(link.cause for link in found.links) == broken.links

    @each
    def test_is_not_changed_by_the_question(self, broken):
        world = new_world()
        broken.make(world)
        before = world.digest(), world.frames(), world.relations()
        world.diagnose(of="camera", in_frame="map", at=broken.at)
        assert (world.digest(), world.frames(), world.relations()) == before


class TestAContestedFrame:
    @pytest.fixture
    def found(self):
        world = new_world()
        for source in ("robot", "left", "right"):
            drive(world, 1, 2, of="ball", source=source)
        return world.diagnose(of="ball", in_frame="map")

    def test_names_all_sources(self, found):
        assert found.reason == "'left', 'right' and 'robot' all place 'ball'."
        assert str(found).splitlines()[-1] == "    ball placed by 'left', 'right' and 'robot': contested"

    def test_has_its_sources_one_by_one(self, found):
        (link,) = found.links
        assert (link.sources, link.source, link.kind) == (("left", "right", "robot"), "", "sampled")
        assert (link.in_frame, link.cause) == (None, "contested")

    def test_of_sources_that_know_it_differently(self):
        world = new_world()
        drive(world, 1, 2, of="ball", source="camera")
        world.fix(of="ball", in_frame="map", transform=STILL, source="plan")
        assert [link.kind for link in world.diagnose(of="ball", in_frame="map").links] == ["mixed"]

    def test_differs_from_one_whose_relations_ended(self):
        world = new_world()
        shelves = [world.scene.add_transform(parent=world.scene.root, transform=STILL, at=None) for _ in range(2)]
        cup = world.scene.add_group(parent=shelves[0], at=seconds(1))
        world.scene.add_parent(cup, shelves[1], at=seconds(1))
        frame = world.scene.frame(cup)
        assert world.diagnose(of=frame, in_frame="map", at=seconds(2)).links[0].cause == "contested"
        world.scene.remove(cup, at=seconds(4))
        (link,) = world.diagnose(of=frame, in_frame="map", at=seconds(5)).links
        assert (link.cause, len(link.sources)) == ("ended", 2)
        assert str(link).startswith(f"{frame} once placed by '")


class TestARemovedNode:
    @pytest.fixture
    def seen(self):
        world = new_world()
        node = world.scene.add_transform(parent=world.scene.root, transform=STILL, at=seconds(1))
        world.scene.set_transform(node, moved(1), at=seconds(3))
        world.scene.remove(node, at=seconds(4))
        return world, world.scene.frame(node) if node in world.scene else str(node)

    def test_was_removed(self, seen):
        world, frame = seen
        found = world.diagnose(of=frame, in_frame="map", at=seconds(5))
        assert (found.cause, "since 4.000 s" in found.reason) == ("removed", True)
        assert [link.cause for link in found.links] == ["ended"]

    def test_can_be_seen_before_that(self, seen):
        world, frame = seen
        assert world.diagnose(of=frame, in_frame="map", at=seconds(2)).is_visible


class TestAWorldWithoutFault:
    def test_lists_the_known_links(self):
        world = new_world()
        the_driver_stopped(world)
        found = world.diagnose(of="camera", in_frame="map")
        assert str(found).splitlines() == [
            "'camera' can be seen from 'map' at 16.000 s.",
            "    camera in base [fixed by 'robot']: known",
            "    base in map [sampled by 'odometry']: known",
        ]

    def test_gives_a_frozen_value(self):
        world = new_world()
        two_trees(world)
        with pytest.raises(FrozenInstanceError):
            world.diagnose(of="camera", in_frame="map").cause = "none"

    def test_names_a_leading_slash(self):
        found = new_world().diagnose(of="/camera", in_frame="map")
        assert (found.cause, "Drop it: 'camera'" in found.reason) == ("unknown name", True)

    def test_finds_a_node_by_its_name(self):
        world = new_world()
        cup = world.scene.add_transform(parent=world.scene.root, transform=STILL, attributes={"name": "cup"})
        found = world.diagnose(of="cup", in_frame="map")
        assert (found.cause, f"ask for its frame, '{cup}'" in found.hint) == ("unknown name", True)
