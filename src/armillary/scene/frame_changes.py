"""Changes of frames beside the nodes of a scene: frozen, typed, named after the methods of `World` that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.scene.changes import Change

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary.scene._context import ChangeContext
    from armillary.transforms import Transform

__all__ = [
    "AddBody",
    "AddFrame",
    "AddRelation",
    "AddTwistRelation",
    "Fix",
    "Prefer",
    "RemoveFrame",
    "ResetTime",
    "Unfix",
]


@dataclass(frozen=True, slots=True)
class AddFrame(Change):
    """Frames that are known before anything is said of them."""

    names: str | Sequence[str]

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("add_frame", frames=[context.declared(name) for name in _listed(self.names)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Fix(Change):
    """Where a frame is and stays: always, or from `at` on. `world.attach` and `world.detach` say this, too.

    `is_unsure`: without a covariance, how sure it is is not known; otherwise it is exact.
    """

    of: str
    in_frame: str
    transform: Transform
    at: int | None = None
    covariance: ArrayLike | None = None
    source: str | None = None
    recalibrate: bool = False
    is_unsure: bool = False

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        pose = (context.transform(self.transform), self.covariance, self.is_unsure)
        names = context.edge(self.of, self.in_frame, self.source, self.at)
        return context.of_frames("fix", **names, since=self.at, pose=pose, recalibrate=self.recalibrate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfix(Change):
    """A fixed pose is taken back, as `undo` does it: what this source fixed from `at` on, or always."""

    of: str
    in_frame: str
    at: int | None = None
    source: str | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, in_frame = context.known(self.of), context.known(self.in_frame)
        return context.of_frames("unfix", of=of, in_frame=in_frame, source=context.source(self.source), since=self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRelation(Change):
    """A source begins to place a frame in another, by samples from `at` on. The first of them says so by itself."""

    of: str
    in_frame: str
    at: int
    source: str | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames(
            "add_relation", **context.edge(self.of, self.in_frame, self.source, self.at), since=self.at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTwistRelation(Change):
    """A source begins to measure how a frame moves relative to a body. The first twist says so by itself."""

    of: str
    relative_to: str
    source: str | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, still = context.admitted(self.of), context.admitted(self.relative_to)
        frames = [of] if context.is_only_a_body(still) else [of, still]
        source = context.source(self.source)
        return context.of_frames("add_twist_relation", of=of, in_frame=still, source=source, frames=frames)


@dataclass(frozen=True, slots=True)
class AddBody(Change):
    """Frames that are one rigid body from now on; said again, it adds frames."""

    name: str
    frames: Sequence[str] = ()

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        body, frames = context.body(self.name, _listed(self.frames))
        return context.of_frames("add_body", of=body, frames=frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefer(Change):
    """Which of several sources every query believes about a frame; None takes it back."""

    of: str
    source: str | None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("prefer", of=context.known(self.of), source=self.source)


@dataclass(frozen=True, slots=True)
class RemoveFrame(Change):
    """Frames go, their past included. What hangs under them refuses, unless `subtree=True` removes it too."""

    names: str | Sequence[str]
    subtree: bool = False

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        names = [context.known(name) for name in _listed(self.names)]
        return context.of_frames("remove_frame", frames=context.removed(names, subtree=self.subtree))


@dataclass(frozen=True, slots=True)
class ResetTime(Change):
    """A new time: samples are forgotten, fixed poses stay. With `to`, clocks go on from there."""

    to: int | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("reset_time", clock=self.to)


def _listed(names: str | Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    try:
        return list(names)
    except TypeError:
        raise InvalidArgument(f"A name of a frame is expected, or a list of them, got {names!r}.", names) from None
