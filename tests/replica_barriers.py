"""Nodes in frames that are removed, and times that start again, in a simulation of replicas."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddFrame,
    AddGroup,
    AddParent,
    AddTransform,
    Change,
    Fix,
    NodeId,
    RemoveFrame,
    RemoveParent,
    ResetTime,
    SetAttributes,
)
from replicas import IDS, LATER_NS, PAST_NS, Replicas, about_everything, on_the_way

if TYPE_CHECKING:
    from collections.abc import Callable

FRAMES = ("table", "shelf", "tray")
STAND_INS = [NodeId.of_name("frame", name) for name in FRAMES]
IN_FRAMES = (*["fixed_in", "sampled_in", "group_in", "into"] * 2, "out_of", "say_frame")
OF_FRAMES = ("fix", "fix", "fix_in_node", "frame", "erase", "erase_all", "erase_all")
OF_NODES = ("group", "fixed", "sampled", "say", "unsay", "add_parent", "remove_parent", "remove")
KINDS = (*IN_FRAMES, *OF_FRAMES, *OF_NODES, "reset", "reset_to")

edits = st.tuples(
    st.just("edit"), st.integers(0, 2), st.sampled_from(KINDS), st.integers(0, 4), st.integers(0, 5), st.integers(0, 2)
)
barrier_steps = st.sampled_from([edits] * 6 + on_the_way).flatmap(lambda kind: kind)


class BarrierReplicas(Replicas):
    """Replicas that put nodes into frames, remove frames and reset time."""

    def edit(self, replica: int, kind: str, node: int, parent: int, value: int) -> None:
        """What is refused was not meant."""
        if kind in OF_NODES:
            super().edit(replica, kind, node, parent, value)
            return
        with suppress(ArmillaryError):
            self._do(replica, lambda world: world.apply([barrier_change(world, kind, node, parent, value)]))


def barrier_change(world: World, kind: str, node: int, other: int, value: int) -> Change:
    """Return a change by its numbers."""
    this, frame, above = IDS[node], FRAMES[node % len(FRAMES)], FRAMES[other % len(FRAMES)]
    at, here = world.now() - 250 * value, Transform.from_xyz_rpy(xyz=(node, value, 0), rpy=(0, 0, 0.5 * other))
    named = {"name": f"{world.name}{value}"}
    changes: dict[str, Callable[[], Change]] = {
        "fixed_in": lambda: AddTransform(parent=above, id=this, transform=here, at=None),
        "sampled_in": lambda: AddTransform(parent=above, id=this, transform=here, at=at),
        "group_in": lambda: AddGroup(parent=above, id=this, attributes=named, at=at),
        "into": lambda: AddParent(this, above, at),
        "out_of": lambda: RemoveParent(this, STAND_INS[other % len(FRAMES)], at),
        "say_frame": lambda: SetAttributes(frame, named, at),
        "fix": lambda: Fix(of=frame, in_frame=(above, "map")[value > 0], transform=here, at=(None, None, at)[value]),
        "fix_in_node": lambda: Fix(of=frame, in_frame=str(IDS[other % len(IDS)]), transform=here, at=None),
        "frame": lambda: AddFrame(frame),
        "erase": lambda: RemoveFrame(frame),
        "erase_all": lambda: RemoveFrame(frame, subtree=True),
        "reset": ResetTime,
        "reset_to": lambda: ResetTime(1000 + 100 * value),
    }
    return changes[kind]()


def about_barriers(world: World) -> dict[Any, Any]:
    """Return what replicas must agree on."""
    facts = about_everything(world)
    facts |= {"frames": sorted(world.frames()), "epoch": world.time_epoch}
    relations = [(one.of, one.in_frame, one.source, str(one.kind)) for one in world.relations()]
    facts["relations"] = sorted(relations)
    for at in (None, *PAST_NS, LATER_NS):
        view = world.scene if at is None else world.scene.as_of(at)
        facts |= {
            (at, frame): (view.parents(one), view.children(one), view.attributes(one)) if one in view else None
            for frame, one in zip(FRAMES, STAND_INS, strict=True)
        }
        facts[at, "found"] = view.find({})
    for at in (*PAST_NS, LATER_NS):
        facts |= {(at, "pose", frame): _place(world, frame, at) for frame in FRAMES}
    return facts


def _place(world: World, frame: str, at_ns: int) -> Any:
    try:
        return tuple(world.pose(of=frame, in_frame="map", at=at_ns).transform.xyz_wxyz.round(9))
    except ArmillaryError as error:
        return type(error).__name__
