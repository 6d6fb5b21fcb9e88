"""Hostile input: whatever is passed where, the answer is an answer or a sentence, never a crash or a stray error."""

from __future__ import annotations

import asyncio
import inspect
import math
import random
import warnings
from typing import Any

import numpy as np
import pytest

import armillary
from armillary import LATEST, Pose, Rotation, Transform, World, seconds, stamp
from armillary.articulation import AddJoint, AddLink, AddObject, Apply, ArticulationModel, Connect, PrismaticJoint
from armillary.errors import ArmillaryError, SuspiciousName
from armillary.scene import AddJoints
from armillary.store import Store
from unit.kit import STILL, drive, error_of, moved, x_of


class EvilError(Exception):
    """Raised by evil objects; whoever calls them may let it through."""


class Evil:
    """Everything that could be asked of it fails."""

    def _fail(self, *_: object) -> Any:
        raise EvilError

    __index__ = __int__ = __float__ = __len__ = __iter__ = __array__ = __str__ = __call__ = __getitem__ = _fail
    __lt__ = __add__ = __radd__ = __sub__ = __bool__ = _fail


class Secretive(Evil):
    """Not even its repr."""

    def __repr__(self) -> str:
        raise EvilError


class Impostor:
    """Looks like the frame `robot` to a dictionary, and is no text."""

    def __hash__(self) -> int:
        return hash("robot")

    def __eq__(self, other: object) -> bool:
        return other == "robot"


class Name(str):
    __slots__ = ()


class Number(int):
    pass


HOSTILE: list[Any] = [
    *(None, True, 0, 5, -1, 10**400, -(10**400), 2**31, 2**62, 2**63, -(2**63), 2**64, Number(7)),
    *(0.0, 1.5, -0.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 1j),
    *("", "x", "robot", "é" * 40, "🦾" * 30, "\ud800", "a\0b", "/map", "a" * 3000, Name("robot"), b"map", b"\xff"),
    *([], {}, set(), (), [[1], [1, 2]], [None], ["a"], [1.5], [2**70], (1, 2, 3), {"a": 1}, range(3), iter([1])),
    *(object(), print, int, World, Evil(), Secretive(), Impostor(), ..., NotImplemented, warnings),
    *(np.int64(3), np.uint64(2**63), np.float16(1), np.bool_(True), np.str_("map"), np.datetime64(1, "ns")),
    *(
        np.array(3),
        np.array([]),
        np.array([1, 2]),
        np.array([1.5]),
        np.zeros((2, 2)),
        np.zeros((0, 7)),
        np.ones((2, 7)),
    ),
    *(
        np.array(["a"]),
        np.array([None]),
        np.array([2**63], dtype=np.uint64),
        np.array([-(2**63)]),
        np.eye(6),
        np.eye(4),
    ),
    *(np.ma.masked_array([1.0, 2.0], [0, 1]), np.array([(1, 2.0)], dtype="i4,f8"), np.zeros((1, 6, 6))),
    *(STILL, Rotation.identity(), Pose(of="a", in_frame="b", transform=STILL), LATEST),
]
ROWS = np.array([STILL.xyz_wxyz] * 2)
EDGE = {"of": "robot", "in_frame": "map"}
QUESTION = EDGE | {"at": LATEST, "of_at": None, "fixed_frame": None}
MOTION = {"of": "robot", "relative_to": "map", "expressed_in": None, "at": LATEST, "window": None}
MOTION_ALONE = {"of": "robot", "relative_to": "map", "at": seconds(1), "velocity": None, "expressed_in": "robot"}
MOTION_ALONE |= {"source": None, "covariance": None}
PUSH = {"of": "robot", "by": "table"}
MORE_MOTION = {"point": None, "measured": True}
CONTEXT = {"outside": "raise", "policy": "unique", "interpolation": None}

SLIDES = ArticulationModel()
SLIDES.edit([Apply("slides", AddObject(name="slides", root="slides/links/left"))])
for side in ("left", "right"):
    slide = PrismaticJoint(variable=f"slides/{side}")
    SLIDES.edit(
        [
            Apply(f"link {side}", AddLink(path=f"slides/links/{side}")),
            Apply(f"joint {side}", AddJoint(path=f"slides/joints/{side}", joint=slide)),
            Apply(f"on {side}", Connect(child=f"slides/links/{side}", joint=f"slides/joints/{side}")),
        ]
    )
MODEL = ArticulationModel()
MODEL.edit([Apply("link", AddLink(path="thing/links/base"))])
# What takes or makes files, or meets other processes: their own tests refuse what is none.
WITH_FILES = {"draw", "draw_tree", "load", "load_extrinsics", "plot_history", "save", "save_extrinsics", "view"} | {
    "explain_lookup",
    "from_log",
    "leave",
    "peers",
    "record",
    "save_trajectory",
    "share",
    "to_log",
}

# Every other public method, with arguments that are right.
CALLS: dict[str, dict[str, Any]] = {
    "add_body": {"*": "cart", "frames": ["new"]},
    "add_frame": {"*": "new"},
    "angular_velocity": MOTION | CONTEXT,
    "apply": {"*": ()},
    "end": {"of": "cup", "source": None, "at": seconds(2)},
    "newest_stamp": {},
    "attach": {"of": "cup", "to": "robot", "at": seconds(2), "source": None, "outside": "raise"},
    "average": EDGE | {"start": None, "end": None, "source": None, "scale": False, "common_covariance": None} | CONTEXT,
    "bodies": {},
    "body_of": {"*": "robot"},
    "can_pose": QUESTION | CONTEXT,
    "can_twist": MOTION | MORE_MOTION | CONTEXT,
    "clear": {},
    "close": {},
    "close_loop": {"of": "slides/left", "on": "slides/right", "dependents": ["slides/right"], "at": seconds(1)},
    "connect_trees": {"of": "witness", "in_frame": "robot", "transform": STILL, "at": seconds(1), "covariance": None}
    | {"source": "meeting", "since": None, "update": False, "outside": "raise", "policy": "unique"},
    "detach": {"of": "cup", "to": "robot", "at": seconds(2), "source": None, "outside": "raise"},
    "express": {"*": [[1, 2, 3]], "kind": "points", "from_frame": "robot", "in_frame": "map", "at": LATEST}
    | {"covariances": None}
    | CONTEXT,
    "fix": {"of": "new", "in_frame": "map", "transform": STILL, "at": None, "covariance": None, "source": None}
    | {"recalibrate": False},
    "forget": EDGE | {"source": None, "start": None, "end": None},
    "frames": {},
    "keep_twists": {"of": "robot", "relative_to": "map", "source": None, "history": None, "max_samples": None},
    "add_relation": EDGE | {"source": None, "interpolation": "step", "at": 5},
    "keep": EDGE | {"source": None, "history": None, "max_samples": None, "thin_m": None, "thin_rad": None},
    "linear_velocity": MOTION | CONTEXT | {"point": None},
    "map_points": {"*": [[1, 2, 3]], "from_frame": "robot", "to_frame": "map", "at": LATEST} | CONTEXT,
    "now": {},
    "on_twist": {"*": bool} | MOTION | CONTEXT | MORE_MOTION | {"on_failure": bool, "timeout_s": 0.0},
    "on_pose": {"*": bool} | QUESTION | CONTEXT | {"on_failure": bool, "timeout_s": 0.0},
    "orientation": EDGE | {"expressed_in": None, "at": LATEST} | CONTEXT,
    "pending_twists": {},
    "pose": QUESTION | CONTEXT | {"point": None, "reference_point": None, "expressed_in": None},
    "pose_when_ready": QUESTION | CONTEXT | {"timeout_s": 0.0},
    "position": EDGE | {"expressed_in": None, "point": None, "reference_point": None, "at": LATEST} | CONTEXT,
    "prefer": {"of": "robot", "source": None},
    "relations": {},
    "remove_body": {"*": "gun", "frames": []},
    "remove_frame": {"*": "cup", "subtree": False},
    "remove_relation": {"of": "cup", "in_frame": "map", "source": None},
    "reset_time": {"to": None},
    "samples": EDGE | {"start": None, "end": None, "source": None},
    "set_pose": {"of": "new", "in_frame": "map", "transform": STILL, "at": 5, "source": None, "covariance": None},
    "set_poses": {
        "of": "new",
        "in_frame": "map",
        "transforms": ROWS,
        "at": [5, 6],
        "source": None,
        "covariances": None,
    },
    "set_twist": {
        "of": "robot",
        "relative_to": "map",
        "expressed_in": "robot",
        "linear": (1, 0, 0),
        "angular": (0, 0, 1),
    }
    | {"at": seconds(1), "source": None, "covariance": None, "pending": False, "twist": None},
    "set_angular_velocity": MOTION_ALONE | {"xyz": (0, 0, 1)},
    "set_linear_velocity": MOTION_ALONE | {"xyz": (1, 0, 0)},
    "set_twists": {"of": "robot", "relative_to": "map", "at": [seconds(1)], "twists": [[0, 0, 0, 0, 0, 1]]}
    | {"expressed_in": "robot", "source": None, "covariances": None},
    "set_wrench": PUSH
    | {"at": seconds(1), "force": (1, 0, 0), "torque": (0, 0, 1), "wrench": None}
    | {"expressed_in": "robot", "source": None, "covariance": None},
    "set_wrenches": PUSH | {"at": [seconds(1)], "wrenches": [[1, 0, 0, 0, 0, 0]], "source": None, "covariance": None},
    "snapshot": {"in_frame": "map", "at": LATEST} | CONTEXT,
    "stamped_queue": {
        "*": bool,
        "in_frames": ["map"],
        "size": 5,
        "tolerance_s": 0.0,
        "timeout_s": 0.0,
        "on_drop": bool,
    },
    "transforms": EDGE | {"at": [seconds(1)], "as_": "matrix"} | CONTEXT,
    "tree": {"at": LATEST},
    "twist_residual": MOTION | {"policy": "unique", "interpolation": None},
    "twist_samples": {"of": "robot", "relative_to": "map", "start": None, "end": None, "source": None},
    "twists": MOTION | CONTEXT | MORE_MOTION | {"at": [seconds(1)]},
    "twists_with_covariances": MOTION | CONTEXT | MORE_MOTION | {"at": [seconds(1)]},
    "twist": MOTION | CONTEXT | MORE_MOTION,
    "twist_when_ready": MOTION | CONTEXT | MORE_MOTION | {"timeout_s": 0.0},
    "wait_for_pose": QUESTION | CONTEXT | {"timeout_s": 0.0},
    "wait_for_twist": MOTION | CONTEXT | MORE_MOTION | {"timeout_s": 0.0},
    "wrench": PUSH | {"point": None, "expressed_in": None, "at": LATEST} | CONTEXT,
    "wrench_samples": PUSH | {"start": None, "end": None, "source": None},
    "wrenches": {},
    "prefer_wrench": PUSH | {"source": None, "start": None, "end": None},
    "of_store": {"store": Store()},
    "copy": {},
    "diagnose": EDGE | {"at": LATEST},
    "digest": {},
    "joint": {"*": "hinge", "at": LATEST, "outside": "raise"},
    "joint_samples": {"*": "hinge", "start": None, "end": None, "source": None},
    "joints": {},
    "mount": {"*": MODEL, "in_frame": "map", "prefix": None, "under": "", "at": None}
    | {"shapes": "visual", "strict": False, "skip_missing": False},
    "unmount": {"*": SLIDES, "subtree": True},
    "prefer_joint": {"*": "hinge", "source": None},
    "set_joint_series": {"*": ["hinge"], "positions": [[0.5]], "at": [seconds(2)], "velocities": None, "source": None}
    | {"covariance": None},
    "set_joints": {"*": {"hinge": 0.5}, "at": seconds(2), "velocities": None, "source": None, "covariance": None}
    | {"unknown": "raise", "limits": "ignore"},
    "violations": {"at": LATEST, "outside": "hold", "tolerance": 1e-9},
    "merge": {"*": (), "prefix": None, "shared": (), "root_frame": None},
    "redo": {},
    "undo": {},
}
SETTINGS: dict[str, Any] = {
    name: parameter.default
    for name, parameter in inspect.signature(World).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}
CONSTRUCTORS: dict[Any, dict[str, Any]] = {
    World: SETTINGS,
    Pose: {"of": "a", "in_frame": "b", "transform": STILL, "stamp": 5, "covariance": None},
    Transform.from_matrix: {"*": np.eye(4)},
    Transform.from_xyz_wxyz: {"xyz": (1, 2, 3), "wxyz": (1, 0, 0, 0)},
    Transform.from_xyz_xyzw: {"xyz": (1, 2, 3), "xyzw": (0, 0, 0, 1)},
    Transform.from_xyz_rpy: {"xyz": (1, 2, 3), "rpy": (0, 0, 0)},
    Transform.from_rotation: {"*": Rotation.identity(), "xyz": (1, 2, 3)},
    Transform.from_translation: {"xyz": (1, 2, 3)},
    Transform.exp: {"*": np.zeros(6)},
    STILL.interpolate: {"other": STILL, "fraction": 0.5, "kind": "linear"},
    STILL.is_close: {"other": STILL, "m": 1e-9, "rad": 1e-9},
    STILL.__matmul__: {"*": STILL},
    STILL.__eq__: {"*": STILL},
    Rotation.from_wxyz: {"*": (1, 0, 0, 0)},
    Rotation.from_xyzw: {"*": (0, 0, 0, 1)},
    Rotation.from_matrix: {"*": np.eye(3)},
    Rotation.from_rpy: {"*": (0, 0, 0)},
    Rotation.exp: {"*": (0, 0, 0)},
    Rotation.identity().is_close: {"other": Rotation.identity(), "rad": 1e-9},
    Rotation.identity().__matmul__: {"*": Rotation.identity()},
    seconds: {"value": 1.5},
    stamp: {"sec": 1, "nanosec": 5},
}


def fresh_world() -> World:
    world = World()
    world.on_error = bool
    drive(world, 1, 2, 3)
    world.fix(of="cup", in_frame="map", transform=moved(1))
    world.add_body("gun", frames=["grip"])
    drive(world, 1, 2, of="witness", in_frame="room")
    still = {"linear": (0, 0, 0), "angular": (0, 0, 0)}
    world.set_twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(2), **still)
    world.set_wrench(**PUSH, force=(1, 0, 0), torque=(0, 0, 0), at=seconds(2))
    world.apply([AddJoints({"hinge": "linear"})])
    world.mount(SLIDES, in_frame="map")
    world.set_joints({"hinge": 0.0, "slides/left": 0.1, "slides/right": 0.2}, at=seconds(1))
    for name in ("kept", "taken back"):
        world.scene.add_group(parent="map", attributes={"name": name})
    world.undo()
    return world


def called(function: Any, arguments: dict[str, Any]) -> object:
    """A call with `*` as the positional argument."""
    named = {name: value for name, value in arguments.items() if name != "*"}
    positional = [arguments["*"]] if "*" in arguments else []
    result = function(*positional, **named)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


NAMES = {"of", "in_frame", "relative_to", "to", "expressed_in", "source", "point", "fixed_frame", "reference_point"}
ASKS_WHETHER = {"can_pose"}  # of what is no name, it cannot


def is_taken_wrongly(function: Any, argument: str, value: object, answer: object) -> bool:
    """Whether something that is no text was taken for a name."""
    is_time = function.__name__ == "reset_time"  # its `to` is an instant
    is_asked = function.__name__ in ASKS_WHETHER and answer is False
    return argument in NAMES and not (value is None or isinstance(value, str) or is_time or is_asked)


def complaint(function: Any, arguments: dict[str, Any], changed: str = "") -> str | None:
    """What is wrong with how a call ended, in which one argument was changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers: list[object] = []
        error = error_of(lambda: answers.append(called(function, arguments)))
    if error is None and changed and is_taken_wrongly(function, changed, arguments[changed], answers[0]):
        return "taken for a name"
    if error is None or isinstance(error, (ArmillaryError, EvilError)):
        return None
    return f"{type(error).__name__}: {str(error)[:100]}"


def short(value: object) -> str:
    try:
        return repr(value)[:50]
    except Exception as error:  # noqa: BLE001
        return f"{type(value).__name__} ({type(error).__name__})"


def complaints(function: Any, arguments: dict[str, Any]) -> list[str]:
    """Each argument in turn is replaced by each hostile value."""
    tried = [(name, value) for name in arguments for value in HOSTILE]
    found = [(name, value, complaint(function, arguments | {name: value}, name)) for name, value in tried]
    return [f"{name}={short(value)}: {what}" for name, value, what in found if what is not None]


class TestEveryMethodOfTheWorld:
    def test_is_tried_here(self):
        public = {name for name in dir(World) if not name.startswith("_") and callable(getattr(World, name))}
        assert public - WITH_FILES == set(CALLS), "A method of World has an entry in CALLS: arguments that are right."

    @pytest.mark.parametrize("name", CALLS)
    def test_answers_when_it_is_used_rightly(self, name):
        with fresh_world() as world:
            called(getattr(world, name), CALLS[name])

    @pytest.mark.parametrize("name", CALLS)
    def test_answers_hostile_arguments_with_a_sentence(self, name):
        with fresh_world() as world:
            assert complaints(getattr(world, name), CALLS[name]) == []
            if name not in {"clear", "reset_time"}:
                assert x_of(world.pose(of="witness", in_frame="room", at=seconds(1.5))) == 1.5

    def test_survives_hostile_arguments_all_at_once(self):
        choose = random.Random(2).choice
        names = sorted(set(CALLS) - {"close", "pose_when_ready", "wait_for_pose"})  # a wait might have no end
        with fresh_world() as world:
            for _ in range(3000):
                name = choose(names)
                arguments = {key: choose([right, right, choose(HOSTILE)]) for key, right in CALLS[name].items()}
                what = complaint(getattr(world, name), arguments)
                assert what is None, f"{name}({', '.join(f'{k}={short(v)}' for k, v in arguments.items())}): {what}"
            world.clear()
            drive(world, 1, of="last", in_frame="first")
            assert x_of(world.pose(of="last", in_frame="first")) == 1.0

    @pytest.mark.parametrize("name", sorted(set(CALLS) - {"add_frame", "pose_when_ready"}))
    def test_refuses_arguments_it_does_not_know(self, name):
        with fresh_world() as world, pytest.raises(TypeError):
            called(getattr(world, name), CALLS[name] | {"offf": 1})


class TestEveryValue:
    @pytest.mark.parametrize("make", CONSTRUCTORS, ids=lambda make: getattr(make, "__qualname__", repr(make)))
    def test_answers_hostile_arguments_with_a_sentence(self, make):
        assert complaints(make, CONSTRUCTORS[make]) == []

    def test_refuses_to_be_read_where_it_is_not(self):
        for value in (STILL, Rotation.identity(), Pose(of="a", in_frame="b", transform=STILL)):
            with pytest.raises(AttributeError):
                value.nonsense  # noqa: B018


class TestAListenerThatIsHostile:
    @pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
    def test_does_not_stop_the_callbacks(self, mailbox, value, capfd):
        with fresh_world() as world:
            world.on_error = value
            world.on_pose(lambda _: 1 / 0, of="robot", in_frame="map")
            world.on_pose(mailbox, of="robot", in_frame="map")
            mailbox.wait()


class TestNames:
    def test_of_another_type_are_not_taken_for_frames(self):
        with fresh_world() as world, pytest.raises(ArmillaryError):
            world.pose(of=Impostor(), in_frame="map")

    def test_that_are_huge_are_refused_quickly_and_shortly(self):
        with fresh_world() as world, pytest.raises(ArmillaryError) as caught:
            world.pose(of="robot" * 2000, in_frame="map")
        assert len(str(caught.value)) < 100_000

    def test_that_resemble_nothing_are_not_warned_of(self):
        with fresh_world() as world, warnings.catch_warnings():
            warnings.simplefilter("error", SuspiciousName)
            world.fix(of="ŗőбот", in_frame="map", transform=STILL)


class TestTheSentence:
    @pytest.mark.parametrize(
        "value", ["é" * 40, "🦾" * 30, "a" * 10_000, 10**5000, Secretive], ids=lambda it: type(it).__name__
    )
    def test_about_a_long_value_is_short(self, value):
        with fresh_world() as world, pytest.raises(armillary.errors.InvalidArgument) as caught:
            world.pose(of="robot", in_frame="map", outside=value)
        assert len(str(caught.value)) < 300
