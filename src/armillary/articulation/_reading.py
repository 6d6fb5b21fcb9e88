"""What an operation sees of the model while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation._overlay import Gone
from armillary.articulation._steps import Step
from armillary.articulation.links import Link, chain_of
from armillary.articulation.paths import as_path
from armillary.errors import LinkLoop, UndeclaredRead, UnknownPath, WrongValue

if TYPE_CHECKING:
    from armillary.articulation._draft import Draft
    from armillary.articulation.expressions import PoseExpression

__all__ = ["StepReading"]


class StepReading:
    """The model as the operations before a step left it; `seen` is what of it was looked at."""

    def __init__(self, draft: Draft, step: Step) -> None:
        self.seen: dict[str, Any] = {}
        self._draft, self._step = draft, step

    def __call__(self, path: str) -> Any:
        """The value at one of the declared paths."""
        return self._value(self._declared(path))

    def pose(self, path: str) -> PoseExpression:
        """Where a declared link is in the model."""
        chain = chain_of(self._declared(path), self._link)
        if chain[-1] in chain[:-1]:
            raise LinkLoop(chain[chain.index(chain[-1]) :])
        root_T_link = self._link(chain[-1]).parent_T_link
        for below in reversed(chain[:-1]):
            root_T_link = root_T_link @ self._link(below).parent_T_link
        return root_T_link

    def _declared(self, path: str) -> str:
        asked = as_path(path)
        if asked not in self._step.reads:
            raise UndeclaredRead(self._step.tag, asked, self._step.reads)
        return asked

    def _link(self, path: str) -> Link:
        value = self._value(path)
        if not isinstance(value, Link):
            raise WrongValue(path, "Link", type(value).__name__)
        return value

    def _value(self, path: str) -> Any:
        value = self._draft.value_before(path, self._step.place)
        if isinstance(value, Gone):
            raise UnknownPath(path, ())
        self.seen[path] = value
        return value
