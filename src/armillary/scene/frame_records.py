"""Records of changes of frames, as observers are told them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.scene.driven_forms import driven_form
from armillary.scene.frame_changes import (
    AddBody,
    AddFrame,
    AddRelation,
    AddTwistRelation,
    Fix,
    Prefer,
    RemoveFrame,
    ResetTime,
    Unfix,
)
from armillary.scene.mount_changes import AddJoints, Drive, Release, RemoveJoints

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary._core import ChangeRecord
    from armillary.scene.changes import Change

__all__ = ["frame_change_of"]

_FACT = 13
"""Where in the state of a record it is."""


def frame_change_of(record: ChangeRecord) -> Change | None:
    """What a record says of frames, as a change that could be applied elsewhere; None: it is about nodes."""
    make = _MAKERS.get(record.kind)
    if make is None:
        return None
    of, in_frame, source, since, pose, recalibrate, frames, clock, form, joints = record.state()[_FACT]
    return make(
        {
            "of": of,
            "in_frame": in_frame,
            "source": source,
            "since": since,
            "pose": pose,
            "recalibrate": recalibrate,
            "frames": frames,
            "clock": clock,
            "form": form,
            "joints": dict(joints),
        }
    )


def _fix(fact: dict[str, Any]) -> Change:
    transform, covariance, is_unsure = fact["pose"]
    return Fix(
        **_edge(fact),
        at=fact["since"],
        transform=transform,
        covariance=covariance,
        recalibrate=fact["recalibrate"],
        is_unsure=is_unsure,
    )


def _edge(fact: dict[str, Any]) -> dict[str, Any]:
    return {key: fact[key] for key in ("of", "in_frame", "source")}


_MAKERS: dict[str, Callable[[dict[str, Any]], Change]] = {
    "add_frame": lambda fact: AddFrame(fact["frames"]),
    "fix": _fix,
    "unfix": lambda fact: Unfix(**_edge(fact), at=fact["since"]),
    "add_relation": lambda fact: AddRelation(**_edge(fact), at=fact["since"]),
    "add_twist_relation": lambda fact: AddTwistRelation(
        of=fact["of"], relative_to=fact["in_frame"], source=fact["source"]
    ),
    "add_body": lambda fact: AddBody(fact["of"], fact["frames"]),
    "prefer": lambda fact: Prefer(of=fact["of"], source=fact["source"]),
    "remove_frame": lambda fact: RemoveFrame(fact["frames"]),
    "reset_time": lambda fact: ResetTime(fact["clock"]),
    "add_joints": lambda fact: AddJoints(fact["joints"]),
    "remove_joints": lambda fact: RemoveJoints(tuple(fact["joints"])),
    "drive": lambda fact: Drive(**_edge(fact), at=fact["since"], form=driven_form(fact["form"])),
    "release": lambda fact: Release(of=fact["of"], at=fact["since"], source=fact["source"]),
}
