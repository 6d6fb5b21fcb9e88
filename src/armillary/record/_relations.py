"""What a saved world says of relations beside fixed poses: that they are there, what they keep, who is believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armillary.record._fields import name_in
from armillary.record._format import EDGE, KINDS
from armillary.scene import AddBody, AddParent, AddRelation, AddTwistRelation, Change, Prefer
from armillary.scene.files import Field

__all__ = ["Keeping", "Saying", "body_in", "contained_in", "kept_in", "measured_in", "preference_in", "sampled_in"]


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that a file says of a world, where it stands, and how it is said."""

    field: Field
    change: Change
    say: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much a relation remembers, and where the file says so."""

    field: Field
    say: Callable[[Any], Any]


def sampled_in(field: Field) -> Saying:
    """Somebody places a frame by samples."""
    parts = field.members((*EDGE, "since_ns"))
    change = AddRelation(**_edge(parts), at=parts["since_ns"].stamp())
    return Saying(field, change, lambda world: world.apply([change]))


def measured_in(field: Field) -> Saying:
    """Somebody measures how a frame moves."""
    parts = field.members(("of", "relative_to", "source"))
    of, relative_to = name_in(parts["of"]), name_in(parts["relative_to"])
    change = AddTwistRelation(of=of, relative_to=relative_to, source=parts["source"].text())
    return Saying(field, change, lambda world: world.apply([change]))


def preference_in(field: Field) -> Saying:
    """Whom everybody believes about a frame."""
    parts = field.members(("of", "source"))
    of, source = name_in(parts["of"]), parts["source"].text()
    return Saying(field, Prefer(of=of, source=source), lambda world: world.prefer(of=of, source=source))


def body_in(field: Field) -> Saying:
    """Frames that are one rigid body."""
    parts = field.members(("name", "frames"))
    name, frames = name_in(parts["name"]), tuple(name_in(frame) for frame in parts["frames"].items())
    return Saying(field, AddBody(name, frames), lambda world: world.add_body(name, frames=frames))


def contained_in(field: Field) -> Saying:
    """A node is in another one."""
    parts = field.members(("node", "parent", "since_ns"))
    change = AddParent(parts["node"].node(), parts["parent"].node(), parts["since_ns"].stamp())
    return Saying(field, change, lambda world: world.apply([change]))


def kept_in(field: Field) -> Keeping:
    """How much a relation remembers."""
    parts = field.members((*EDGE, "kind", "history_ns", "max_samples", "thin_m", "thin_rad"))
    if parts["kind"].value not in KINDS:
        raise parts["kind"].refused(f"one of {', '.join(KINDS)} is expected")
    edge, bounds = _edge(parts), {"history": parts["history_ns"].integer(), "max_samples": _count(parts["max_samples"])}
    thinning = {"thin_m": parts["thin_m"].number(), "thin_rad": parts["thin_rad"].number()}
    if parts["kind"].value == "pose":
        return Keeping(field, lambda world: world.keep(**edge, **bounds, **thinning))
    edge["relative_to"] = edge.pop("in_frame")
    return Keeping(field, lambda world: world.keep_twists(**edge, **bounds))


def _edge(parts: dict[str, Field]) -> dict[str, str]:
    return {"of": name_in(parts["of"]), "in_frame": name_in(parts["in_frame"]), "source": parts["source"].text()}


def _count(field: Field) -> int | None:
    return None if field.integer() == 0 else field.integer()
