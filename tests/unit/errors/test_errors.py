"""Errors that teach: a type for each, evidence as attributes, and a sentence with the hint."""

from __future__ import annotations

import builtins
import copy
import inspect
import json
import pickle
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from armillary import Box, PointCloud, Rotation, Sphere, World, errors, seconds
from armillary._core import LoadedTape, Tape
from armillary.errors import ArmillaryError
from armillary.errors.format import list_names
from armillary.fusion.policies import by_source
from armillary.scene import AddJoints
from armillary.scene.blocks import _registry
from armillary.view import draw_tree
from unit.errors.kinds import EXPRESSIONS, FORMATS, LOOPS, MODELS, MOTION, NODES, RELATIONS
from unit.kit import PROMPT_S, STILL, WAIT_S, drain, drive, error_of

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__.startswith(errors.__name__)
]
ERRORS = [kind for kind in CLASSES if not issubclass(kind, Warning)]
JOINTS = {errors.JointsDisagree, errors.JointLimitsExceeded}
SHARING = {
    errors.ClocksDiffer,
    errors.InvalidMessage,
    errors.NoPeer,
    errors.NotReceived,
    errors.NotShared,
    errors.PeerBehind,
    errors.ShareFailed,
}
LOGS = {errors.InvalidLog, errors.NoSuchTopic, errors.RecordingFailed}
TESTED_ELSEWHERE = NODES | EXPRESSIONS | FORMATS | JOINTS | LOGS | LOOPS | MODELS | MOTION | RELATIONS | SHARING
NEVER_RAISED_THEMSELVES = {errors.ArmillaryError, errors.StampOutOfRange}


@dataclass(frozen=True)
class Case:
    """One real call that raises: its evidence, what its message contains, and its hint."""

    kind: type[ArmillaryError]
    call: Callable[[World], object]
    says: tuple[str, ...]
    hint: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def error(self) -> ArmillaryError:
        """In a world where the robot drove from 1 s to 3 s."""
        with World() as world:
            drive(world, 1, 2, 3)
            error = error_of(self.call, world)
        assert error is not None
        return error


def _with_hinge(world, *sources):
    world.apply([AddJoints({"hinge": "linear"})])
    for source in sources:
        world.set_joints({"hinge": 0.1}, at=0, source=source)
    return world


def _pushed(world, *sources):
    for source in sources:
        world.set_wrench(of="cup", by="hand", force=(1, 0, 0), torque=(0, 0, 0), at=0, source=source)
    return world


def _contested(world):
    for who in ("left", "right"):
        world.fix(of="cup", in_frame="map", transform=STILL, source=who)
    world.pose(of="cup", in_frame="map", at=seconds(2))


def _by_nobody(world):
    for who in ("left", "right"):
        world.fix(of="cup", in_frame="map", transform=STILL, source=who)
    world.pose(of="cup", in_frame="map", policy=by_source("nobody"))


def _fused_without_covariance(world):
    for who in ("left", "right"):
        world.set_pose(of="cup", in_frame="map", transform=STILL, at=seconds(1), source=who)
    world.pose(of="cup", in_frame="map", policy="fuse")


def _in_two_trees(world):
    world.add_frame("moon")
    world.pose(of="robot", in_frame="moon", at=seconds(2))


def _emptied(world):
    world.clear()
    world.pose(of="robot", in_frame="map")


def _closed(world):
    world.close()
    world.wait_for_pose(of="robot", in_frame="map", at=seconds(99))


def _seen_once(world):
    drive(world, 4, of="cup")
    world.pose(of="cup", in_frame="map", at=seconds(5))


def _too_many_waits(_):
    with World(max_waits=1) as busy:
        busy.on_pose(print, of="cup", in_frame="map")
        drain(busy)
        busy.wait_for_pose(of="pot", in_frame="map", timeout_s=WAIT_S)


def _without_matplotlib(world):
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        draw_tree(world, "tree.png")


class _EntryPoint:
    name, value = "strange", "json:loads"

    def load(self):
        return json.loads


def _strange_block(world):
    with mock.patch.object(_registry, "entry_points", return_value=[_EntryPoint()]):
        world.scene.load_block("strange")


def _crop(world, *nodes):
    block = world.scene.load_block("crop_to_box")
    block.set_data(nodes)
    block.execute()


def _wrong_port(world):
    _crop(world, world.scene.root, world.scene.root, world.scene.root)


def _failing_block(world):
    scene = world.scene
    moving = scene.add_transform(parent=scene.root, transform=STILL, at=seconds(9))
    cloud = scene.add_geometry(parent=moving, shape=PointCloud([(0, 0, 0)]), at=seconds(1))
    _crop(world, scene.root, cloud, scene.add_geometry(parent=scene.root, shape=Box((1, 1, 1))))


def _bad_file(world):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.json"
        world.scene.save(path)
        path.write_text(path.read_text().replace('"version": 1', '"version": 9'))
        world.scene.load(path)


def _no_world(_):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "world.json"
        World().save(path)
        path.write_text(path.read_text().replace("armillary.world", "armillary.word"))
        World.load(path)


def _no_extrinsics(world):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "extrinsics.yaml"
        path.write_text("{format: armillary.extrinsics, version: 1, extrinsics: 7}")
        world.load_extrinsics(path)


def _cut_tape(_):
    Tape.from_bytes(Tape([], [], inputs=0, outputs=0).to_bytes()[:31])


EDGE = {"edge": ("robot", "map", ""), "first": seconds(1), "last": seconds(3)}


def _connected_already(world: World) -> None:
    drive(world, 1)
    world.connect_trees(of="robot", in_frame="map", transform=STILL, at=seconds(1))


CASES = [
    Case(
        errors.NoSuchRelation,
        lambda world: (drive(world, 1), world.remove_relation(of="robot", in_frame="map", source="camera")),
        says=("'robot'", "'map'", "'camera'"),
        hint="There is: 'robot' in 'map' by ''",
        evidence={"of": "robot", "in_frame": "map", "source": "camera", "known": (("map", ""),)},
    ),
    Case(
        errors.UnknownCovariance,
        _fused_without_covariance,
        says=("'cup'", "'map'", "2 paths", "'cup' in 'map' by 'left', 'cup' in 'map' by 'right'"),
        hint="policy='latest'",
        evidence={
            "of": "cup",
            "in_frame": "map",
            "paths": 2,
            "relations": (("cup", "map", "left"), ("cup", "map", "right")),
        },
    ),
    Case(
        errors.AlreadyConnected,
        _connected_already,
        says=("'robot'", "'map'", "1 m and 0 rad", "1.000 s"),
        hint="update=True",
        evidence={"of": "robot", "in_frame": "map", "root": "map", "requested": seconds(1), "distance": None},
    ),
    Case(
        errors.NothingToAverage,
        lambda world: (drive(world, 1), world.average(of="robot", in_frame="map", source="camera")),
        says=("'robot'", "'map'", "'camera'"),
        hint="Leave out source=",
        evidence={"of": "robot", "in_frame": "map", "source": "camera", "sources": ("",)},
    ),
    Case(
        errors.NoPathChosen,
        _by_nobody,
        says=("'cup'", "'map'", "the source 'nobody'", "'cup' by 'left'; 'cup' by 'right'"),
        hint="policy='latest', 'most_certain' or 'fuse'",
        evidence={"of": "cup", "in_frame": "map", "wanted": "the source 'nobody'"},
    ),
    Case(
        errors.UnknownFrame,
        lambda world: world.pose(of="robott", in_frame="map"),
        ("'robott'",),
        "Did you mean 'robot'?",
        {"frame": "robott", "known": ("robot", "map")},
    ),
    Case(
        errors.NotConnected,
        _in_two_trees,
        ("'robot'", "'moon'", "2.000 s"),
        "Set the pose of 'map' in 'moon'",
        {"of": "robot", "in_frame": "moon", "of_root": "map", "in_frame_root": "moon", "requested": seconds(2)},
    ),
    Case(
        errors.BeforeHistory,
        lambda world: world.pose(of="robot", in_frame="map", at=seconds(0.25)),
        ("'robot' in 'map'", "750 ms before", "[1.000 s, 3.000 s]"),
        "keep a longer history",
        {**EDGE, "requested": seconds(0.25), "row": None},
    ),
    Case(
        errors.AfterHistory,
        lambda world: world.pose(of="robot", in_frame="map", at=seconds(3.5)),
        ("'robot' in 'map'", "500 ms after", "[1.000 s, 3.000 s]"),
        "Pass at=LATEST",
        {**EDGE, "requested": seconds(3.5), "row": None},
    ),
    Case(
        errors.SingleSample,
        _seen_once,
        ("'cup' in 'map'", "5.000 s", "4.000 s"),
        "Pass outside='hold'",
        {"edge": ("cup", "map", ""), "requested": seconds(5), "first": seconds(4), "last": seconds(4)},
    ),
    Case(
        errors.NoSamples,
        _emptied,
        ("'robot' in 'map'", "no samples"),
        "Set one",
        {"edge": ("robot", "map", ""), "first": None, "last": None},
    ),
    Case(errors.InvalidTransform, lambda _: Rotation.from_wxyz((0, 0, 0, 0)), ("squared norm 0",), "Normalise it"),
    Case(errors.InvalidName, lambda world: world.add_frame("/map"), ("'/map'",), "Drop it: 'map'"),
    Case(
        errors.InvalidShape,
        lambda _: Sphere(-1.0),
        ("Sphere", "-1.0 m"),
        "Give a length that is not below zero",
        {"value": -1.0},
    ),
    Case(
        errors.InvalidStamp,
        lambda world: world.pose(of="robot", in_frame="map", at=1.5),
        ("at", "1.5"),
        "Pass seconds(1.5)",
    ),
    Case(
        errors.InvalidArgument,
        lambda world: world.pose(of="robot", in_frame="map", outside="guess"),
        ("outside", "'guess'"),
        "must be 'raise', 'hold' or 'predict'",
    ),
    Case(
        errors.FrameLoop,
        lambda world: world.fix(of="map", in_frame="robot", transform=STILL),
        ("'map' in 'robot' in 'map'",),
        "Turn one of these relations round",
        {"path": ("map", "robot", "map")},
    ),
    Case(
        errors.AmbiguousPath,
        _contested,
        ("'cup'", "'left' and 'right'", "2.000 s"),
        "world.prefer(of='cup', source='left'), or with each question: policy='latest', 'most_certain' or 'fuse'.",
        {"frame": "cup", "sources": ("left", "right"), "requested": seconds(2)},
    ),
    Case(
        errors.WaitTimeout,
        lambda world: world.wait_for_pose(of="robot", in_frame="map", at=seconds(9), timeout_s=PROMPT_S),
        ("'robot' in 'map'", "0.05 s", "6 s after"),
        "Pass at=LATEST",
        {"of": "robot", "in_frame": "map", "timeout_s": PROMPT_S},
    ),
    Case(
        errors.FrameInUse,
        lambda world: world.remove_frame("map"),
        ("'map'", "robot"),
        "pass subtree=True",
        {"frame": "map", "frames": ("robot",)},
    ),
    Case(errors.WorldClosed, _closed, ("closed",), "Make a new World()"),
    Case(errors.LimitReached, _too_many_waits, ("At most 1",), "World(max_waits=)", {"limit": 1}),
    Case(
        errors.MissingExtra,
        _without_matplotlib,
        ("'matplotlib'",),
        "pip install 'armillary[view]'",
        {"extra": "view", "package": "matplotlib"},
    ),
    Case(
        errors.UnknownBlock,
        lambda world: world.scene.load_block("crop_to_bix"),
        ("'crop_to_bix'",),
        "Did you mean 'crop_to_box'?",
        {"block": "crop_to_bix"},
    ),
    Case(
        errors.UnusableBlock, _strange_block, ("'strange'", "json:loads"), "must name a subclass", {"block": "strange"}
    ),
    Case(
        errors.PortMismatch,
        _wrong_port,
        ("'cloud'", "'crop_to_box'", "is a group"),
        "Give a geometry",
        {"block": "crop_to_box", "port": "cloud"},
    ),
    Case(
        errors.BlockFailed,
        _failing_block,
        ("'crop_to_box'", "SingleSample"),
        "execute it again",
        {"block": "crop_to_box"},
    ),
    Case(errors.InvalidSceneFile, _bad_file, ("at version", "reads"), "mend the file", {"field": "version"}),
    Case(errors.InvalidWorldFile, _no_world, ("at format", "armillary.world"), "save it again", {"field": "format"}),
    Case(
        errors.InvalidExtrinsicsFile,
        _no_extrinsics,
        ("at extrinsics", "a list is expected"),
        "mend the file",
        {"field": "extrinsics"},
    ),
    Case(
        errors.InvalidTape, _cut_tape, ("there are 31 bytes of it",), "ask again for the bytes", {"instruction": None}
    ),
    Case(
        errors.UnloadableTape,
        lambda _: LoadedTape("/nowhere/tape.so", "f", 1, 1),
        ("'/nowhere/tape.so'", "'f'"),
        "Compile it again",
        {"path": "/nowhere/tape.so", "symbol": "f"},
    ),
    Case(
        errors.UnknownVariable,
        lambda world: _with_hinge(world).set_joints({"hinges": 0.1}, at=0),
        ("'hinges'",),
        "Did you mean 'hinge'?",
        {"joint": "hinges", "known": ("hinge",)},
    ),
    Case(
        errors.ContestedJoint,
        lambda world: _with_hinge(world, "left", "right").joint("hinge"),
        ("'hinge'", "'left' and 'right'"),
        "world.prefer_joint('hinge', source='left')",
        {"joint": "hinge", "sources": ("left", "right")},
    ),
    Case(
        errors.ContestedWrench,
        lambda world: _pushed(world, "left", "right").wrench(of="cup", by="hand"),
        ("'hand' exerts on 'cup'", "'left' and 'right'"),
        "world.prefer_wrench(of='cup', by='hand', source='left')",
        {"of": "cup", "by": "hand", "sources": ("left", "right")},
    ),
    Case(
        errors.UnknownWrench,
        lambda world: _pushed(world, "left").wrench(of="cup", by="wind"),
        ("on 'cup' by 'wind'",),
        "Known are those on 'cup' by 'hand'",
        {"of": "cup", "by": "wind", "known": (("cup", "hand"),)},
    ),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind.__name__)


class TestTheTreeOfErrors:
    def test_promises_every_class_it_has(self):
        assert sorted(kind.__name__ for kind in CLASSES) == errors.__all__

    @pytest.mark.parametrize("kind", ERRORS)
    def test_has_one_root_and_leans_on_builtins(self, kind):
        assert issubclass(kind, ArmillaryError)
        near = [
            base for base in kind.__mro__ if base.__name__ in vars(builtins) and not issubclass(ArmillaryError, base)
        ]
        assert near or kind is ArmillaryError

    def test_warns_with_a_user_warning(self):
        warnings = [kind for kind in CLASSES if issubclass(kind, Warning)]
        assert sorted(kind.__name__ for kind in warnings) == [
            "GoalsUnmet",
            "JointLimitsWarning",
            "LoopBranchUncertain",
            "MachineCodeFailed",
            "MeshesSkipped",
            "SamplesDropped",
            "SuspiciousName",
            "UnknownJointsSkipped",
        ]
        assert all(issubclass(kind, UserWarning) for kind in warnings)

    def test_is_raised_by_real_calls_all_over(self):
        assert {case.kind for case in CASES} == set(ERRORS) - TESTED_ELSEWHERE - NEVER_RAISED_THEMSELVES


@each_case
class TestEachError:
    def test_is_raised_by_a_real_call(self, case):
        assert type(case.error()) is case.kind

    def test_says_what_was_asked_and_what_is_true(self, case):
        assert [part for part in case.says if part not in str(case.error())] == []

    def test_offers_a_hint(self, case):
        assert case.hint in str(case.error())

    def test_keeps_its_evidence(self, case):
        error = case.error()
        assert {name: getattr(error, name) for name in case.evidence} == case.evidence

    @pytest.mark.parametrize(
        "again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"]
    )
    def test_survives_a_copy_with_its_evidence(self, case, again):
        error = case.error()
        twin = again(error)
        assert (type(twin), str(twin)) == (type(error), str(error))
        assert {name: getattr(twin, name) for name in case.evidence} == case.evidence


class TestUnknownFrame:
    def test_lists_what_is_known_when_nothing_is_near(self, world):
        world.add_frame("table", "kitchen")
        with pytest.raises(errors.UnknownFrame, match="Known: table, kitchen"):
            world.pose(of="quux", in_frame="table")

    def test_shortens_a_long_list(self, world):
        world.add_frame(*(f"shelf_{i}" for i in range(50)))
        with pytest.raises(errors.UnknownFrame, match="and 38 more"):
            world.pose(of="quux", in_frame="shelf_1")

    def test_says_so_when_there_are_no_frames(self, world):
        with pytest.raises(errors.UnknownFrame, match="no frames yet"):
            world.pose(of="cup", in_frame="table")


class TestNotConnected:
    def test_says_of_a_frame_that_it_has_no_parent(self, world):
        world.add_frame("camera")
        world.fix(of="cup", in_frame="table", transform=STILL)
        with pytest.raises(
            errors.NotConnected, match=r": 'camera' has no parent, and 'cup' is in the tree of 'table'\. Set"
        ):
            world.pose(of="camera", in_frame="cup")

    def test_names_the_frame_that_ended_and_since_when(self):
        error = errors.NotConnected("lid", "map", "cup", "map", seconds(8), ended="cup", ended_at=seconds(5))
        assert "at 8.000 s: 'cup' has no parent since 5.000 s" in str(error)
        assert (error.ended, error.ended_at) == ("cup", seconds(5))
        assert str(copy.copy(error)) == str(error)


class TestErrorsOfABatch:
    def test_name_the_row_of_a_question(self, world):
        drive(world, 1, 2)
        with pytest.raises(errors.AfterHistory, match="row 1 of the batch") as caught:
            world.transforms(of="robot", in_frame="map", at=[seconds(1), seconds(5), seconds(9)])
        assert caught.value.row == 1

    def test_distinguish_a_late_sample_from_an_early_question(self):
        world = World(history=seconds(2))
        drive(world, 10)
        with pytest.raises(errors.BeforeHistory, match=r"older than its history, which reaches back to 8\.000 s"):
            drive(world, 5)


class TestSingularCases:
    def test_before_a_fixing_the_sentence_says_when_it_was_fixed(self, world):
        world.fix(of="cup", in_frame="map", transform=STILL, at=seconds(5))
        with pytest.raises(errors.BeforeHistory, match=r"1 s before it was fixed, from 5\.000 s on"):
            world.pose(of="cup", in_frame="map", at=seconds(4))

    def test_histories_that_do_not_overlap_are_reported(self, world):
        drive(world, 1, 2, of="a", in_frame="map")
        drive(world, 5, 6, of="b", in_frame="a")
        with pytest.raises(errors.BeforeHistory, match="do not overlap"):
            world.pose(of="b", in_frame="map")

    def test_instants_before_zero_are_written_with_their_sign(self, world):
        drive(world, -3, -2)
        with pytest.raises(errors.AfterHistory, match=r"\[-3\.000 s, -2\.000 s\]"):
            world.pose(of="robot", in_frame="map", at=0)

    def test_the_reason_of_a_timeout_is_an_error_of_its_own(self, world):
        with pytest.raises(errors.WaitTimeout) as caught:
            world.wait_for_pose(of="cup", in_frame="map", timeout_s=0)
        assert isinstance(caught.value.reason, errors.UnknownFrame)
        assert caught.value.reason.frame == "cup"


class TestWhatCannotBeTaken:
    @pytest.mark.parametrize(
        ("kind", "call", "value"),
        [
            (errors.InvalidTransform, lambda _: Rotation.from_wxyz((0, 0, 0, 0)), (0, 0, 0, 0)),
            (errors.InvalidName, lambda world: world.add_frame("/map"), "/map"),
            (errors.InvalidName, lambda world: world.pose(of=5, in_frame="map"), 5),
            (errors.InvalidStamp, lambda world: world.pose(of="a", in_frame="a", at=1.5), 1.5),
            (errors.InvalidStamp, lambda _: seconds("1"), "1"),
            (errors.InvalidArgument, lambda world: world.pose(of="a", in_frame="a", outside="guess"), "guess"),
            (errors.InvalidArgument, lambda world: world.fix(of="a", in_frame="b", transform=7), 7),
            (errors.InvalidArgument, lambda world: world.wait_for_pose(of="a", in_frame="b", timeout_s="1"), "1"),
            (errors.InvalidArgument, lambda _: World(max_waits=0), 0),
        ],
    )
    def test_is_kept_as_it_was_given(self, world, kind, call, value):
        world.add_frame("a")
        with pytest.raises(kind) as caught:
            call(world)
        assert caught.value.value == value

    def test_is_pickled_as_text_where_it_cannot_be_pickled(self, world):
        with pytest.raises(errors.InvalidArgument) as caught:
            world.fix(of="a", in_frame="b", transform=lambda: None)
        assert callable(caught.value.value)
        assert "<function" in pickle.loads(pickle.dumps(caught.value)).value


class TestLists:
    def test_name_the_first_of_many_and_say_how_many_more_there_are(self):
        assert list_names(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
        assert list_names(range(14)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 2 more"
        assert "p11, and 1 more." in str(errors.NoTwistPath("a", "b", (), [f"p{i}" for i in range(13)]))

    @pytest.mark.parametrize("kind", [errors.UnknownFrame, errors.UnknownVariable])
    def test_look_for_a_name_like_it_among_the_first_of_very_many(self, kind):
        strangers = ["..."] * 4999
        assert "Did you mean 'table'?" in str(kind("tabel", [*strangers, "table"]))
        assert "Known: ..., ..." in str(kind("tabel", [*strangers, "...", "table"]))
