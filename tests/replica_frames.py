"""Conflicting assertions of replicas about frames in a simulation: loops, bodies, rivals, removals."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddBody,
    AddFrame,
    AddRelation,
    AddTransform,
    AddTwistRelation,
    Change,
    Fix,
    Forget,
    NodeId,
    Prefer,
    Remove,
    RemoveBody,
    RemoveFrame,
    RemoveRelation,
    ResetTime,
    Unfix,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TAG = NodeId("90000000-0000-4000-8000-000000000000")
FRAMES = ("p", "q", "r", "gun", str(TAG))
BODIES = ("gun", "cart")
SINCE_NS = (None, None, 800, 1200)
ASKED_NS = (500, 799, 800, 1000, 1200, 1900)
ASSERTED = ("fix", "fix", "fix", "fix", "move", "recalibrate", "await", "await_twists")
GRASPS = ("attach", "attach")
EDITS = (*ASSERTED, *GRASPS, "unfix", "body", "body", "prefer", "erase", "erase_all", "frame")
EDITS = (*EDITS, "forget", "remove_relation", "remove_relation", "unbody")
AMONG_NODES = (*EDITS, "tag", "tag", "untag", "grasp_tag")
ABOUT_NODES = ("tag", "tag", "untag", "grasp_tag", "grasp_tag", "fix", "unfix", "erase", "attach", "frame")
IN_NEW_TIMES = (*EDITS, "reset")

some_frame, frame_value = st.integers(0, len(FRAMES) - 1), st.integers(0, 7)


def edit_frame(world: World, kind: str, of: int, other: int, value: int) -> None:
    """Apply a `frame_change`, or a grasp: it is a change as well, but its pose depends on where the frame is."""
    if kind != "attach":
        world.apply([frame_change(world, kind, of, other, value)])
        return
    frame, above = FRAMES[of % (len(FRAMES) - 1)], FRAMES[other % len(FRAMES)]
    who = (None, None, "shared", f"{world.name}'s")[value // 2]
    world.attach(of=frame, to=above, at=(None, 900)[value % 2], source=who, outside="hold")


def frame_change(world: World, kind: str, of: int, other: int, value: int) -> Change:
    """Return a change by its numbers; `value` determines its instant and its source."""
    above = FRAMES[other % len(FRAMES)]
    frame = FRAMES[of % (len(FRAMES) - 1)]  # where the tag is, is a matter of the scene
    since, source = SINCE_NS[value % 4], "shared" if value >= 4 else f"{world.name}'s"
    edge: dict[str, Any] = {"of": frame, "in_frame": above, "source": source}
    here = Transform.from_xyz_rpy(xyz=(1 + of, value, 0), rpy=(0, 0, 0.5 * ord(world.name)))
    changes: dict[str, Callable[[], Change]] = {
        "fix": lambda: Fix(**edge, transform=here, at=since),
        "move": lambda: Fix(**edge, transform=here, at=since or 1600),
        "recalibrate": lambda: Fix(**edge, transform=here, at=since, recalibrate=True),
        "await": lambda: AddRelation(**edge, at=since or 400),
        "await_twists": lambda: AddTwistRelation(of=frame, relative_to=above, source=source),
        "unfix": lambda: _unfix(world, value),
        "body": lambda: AddBody(BODIES[value % 2], [frame, above]),
        "prefer": lambda: Prefer(of=frame, source=(None, "shared", "a's", "b's")[value % 4]),
        "erase": lambda: RemoveFrame(frame),
        "erase_all": lambda: RemoveFrame(frame, subtree=True),
        "frame": lambda: AddFrame(frame),
        "tag": lambda: AddTransform(parent=frame, id=TAG, transform=here, at=None),
        "grasp_tag": lambda: Fix(
            of=str(TAG),
            in_frame=frame,
            source=(world.name, "a", "shared", None)[value % 4],
            transform=here,
            at=since or 900,
        ),
        "forget": lambda: Forget(of=frame, source=(None, source)[value % 2], start=(None, 700)[of % 2]),
        "remove_relation": lambda: RemoveRelation(of=frame, in_frame=above, source=source),
        "unbody": lambda: RemoveBody(BODIES[value % 2], [frame] if value % 4 else []),
        "untag": lambda: Remove(TAG, at=world.now() - 100 * value),
        "reset": ResetTime,
    }
    return changes[kind]()


def _unfix(world: World, number: int) -> Change:
    """One of the poses that are fixed, as far as this copy knows."""
    asserted = [record for record in world.scene.changes() if record.type == "assert"]
    fixed = [record for record in asserted if record.value_type == "fixed"]
    if not fixed:
        return Unfix(of="p", in_frame="q", source="shared")
    record = fixed[number % len(fixed)]
    _, of, source = record.track
    return Unfix(of=of, in_frame=record.in_frame, source=source, at=record.since)


def inactive_assertions(world: World) -> list[str]:
    return [f"{one.change}: {one.reason}" for one in world.scene.inactive()]


def about_frames(world: World, asked_ns: Sequence[int] = ASKED_NS) -> dict[Any, Any]:
    """Return what replicas must agree on about frames."""
    facts: dict[Any, Any] = {"world": world.digest(), "epoch": world.time_epoch, "frames": sorted(world.frames())}
    facts |= {"inactive": inactive_assertions(world)}
    facts |= {("on", frame): world.body_of(frame) for frame in world.frames()}
    pairs = itertools.permutations(FRAMES, 2)
    return facts | {(of, above, at): _pose(world, of, above, at) for of, above in pairs for at in asked_ns}


def _pose(world: World, of: str, in_frame: str, at_ns: int) -> Any:
    """The answer, or what hinders it."""
    try:
        return tuple(world.pose(of=of, in_frame=in_frame, at=at_ns).transform.xyz_wxyz.round(9))
    except ArmillaryError as error:
        return type(error).__name__
