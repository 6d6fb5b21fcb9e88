"""Changes that a mounted model makes: joints, and the poses that they drive. They travel without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.scene.changes import NOW, Change, Now
from armillary.scene.driven_forms import ClosedForm, DrivenForm, TapeForm

if TYPE_CHECKING:
    from armillary.scene._context import ChangeContext

__all__ = ["AddJoints", "Drive", "Release", "RemoveJoints"]


@dataclass(frozen=True, slots=True)
class AddJoints(Change):
    """Joints by name, with how each goes from one sample to the next: linear, wrap, hold, unit_quaternion, velocity.

    A rotation is four in a row, w x y z. Said again nothing happens; another kind is refused.
    """

    joints: Mapping[str, str]

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("add_joints", joints=context.new_joints(self.joints))


@dataclass(frozen=True, slots=True)
class RemoveJoints(Change):
    """Joints that nobody is to find any more, as `undo` does it. Their samples stay, for those who add them again."""

    names: Sequence[str]

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("remove_joints", joints=tuple((name, "linear") for name in self.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive(Change):
    """Joints say where a frame is: always, or from `at` on. `world.mount` says it of every link that moves."""

    of: str
    in_frame: str
    form: DrivenForm
    at: int | None = None
    source: str | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if not isinstance(self.form, ClosedForm | TapeForm):
            raise InvalidArgument(
                f"A pose is driven by a ClosedForm, a TapeForm or a LoopForm, got {self.form!r}.", self.form
            )
        context.know_joints(self.form.names)
        names = context.edge(self.of, self.in_frame, self.source, self.at)
        return context.of_frames("drive", **names, since=self.at, form=self.form.plain())


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Change):
    """From `at` on a frame hangs nowhere, as far as `source` says; earlier questions still answer."""

    of: str
    at: int | Now = NOW
    source: str | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, source = context.known(self.of), context.source(self.source)
        return context.of_frames("release", of=of, source=source, since=context.at(self.at))
