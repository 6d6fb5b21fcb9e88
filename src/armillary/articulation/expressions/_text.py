"""Expressions as people read them: plain text and LaTeX.

Both are written from the tape. What is used more than once and is long gets a name of its own, so that the text grows
with the expression and not faster.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from armillary._core import TAPE_OPS
from armillary.articulation.expressions._flattening import BINARY, flattened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["Formula", "Written", "formula_of"]

_NAMES = {number: name for name, number in TAPE_OPS.items()}
_LONG = 24

SUM, PRODUCT, SIGN, POWER, WHOLE = range(5)
"""How strongly the parts of a text hold together."""


class Written(NamedTuple):
    """Text and how strongly it holds together."""

    text: str
    strength: int = WHOLE


class Language(Protocol):
    """How things are written."""

    def number(self, value: float) -> Written:
        """A constant."""

    def variable(self, variable: Variable) -> Written:
        """A variable."""

    def shared(self, index: int) -> Written:
        """The name of a part that is used more than once."""

    def operation(self, name: str, arguments: Sequence[Written]) -> Written:
        """An operation of the tape."""


class Formula(NamedTuple):
    """The entries of an expression, row after row, and the parts they share, each after those it uses."""

    entries: list[str]
    shared: list[tuple[str, str]]


def formula_of(term: Term, language: Language) -> Formula:
    """The text of every entry."""
    order = sorted(term.variables, key=lambda variable: (variable.name, variable.order))
    tape = flattened(term, order)
    return _Writing(language, order, tape.constants.tolist(), _steps(tape.code.tolist())).formula()


class _Step(NamedTuple):
    """One instruction; its arguments are earlier steps, not registers."""

    name: str
    arguments: tuple[int, ...]
    place: int  # which constant, input or output


def _steps(code: Sequence[Sequence[int]]) -> list[_Step]:
    latest: dict[int, int] = {}
    steps = []
    for index, (number, target, a, b) in enumerate(code):
        name = _NAMES[number]
        registers = () if name in {"constant", "input"} else (a, b) if name in BINARY else (a,)
        steps.append(_Step(name, tuple(latest[register] for register in registers), target if name == "output" else a))
        if name != "output":
            latest[target] = index
    return steps


class _Writing:
    def __init__(
        self, language: Language, order: Sequence[Variable], constants: Sequence[float], steps: Sequence[_Step]
    ) -> None:
        self.language, self.order, self.constants, self.steps = language, order, constants, steps
        self.uses = Counter(argument for step in steps for argument in step.arguments)
        self.written: list[Written] = []
        self.shared: list[tuple[str, str]] = []

    def formula(self) -> Formula:
        entries: dict[int, str] = {}
        for index, step in enumerate(self.steps):
            if step.name == "output":
                entries[step.place] = self.written[step.arguments[0]].text
                self.written.append(Written(""))
            else:
                self.written.append(self._named(self._text(step), self.uses[index]))
        return Formula([entries[i] for i in range(len(entries))], self.shared)

    def _text(self, step: _Step) -> Written:
        if step.name == "constant":
            return self.language.number(self.constants[step.place])
        if step.name == "input":
            return self.language.variable(self.order[step.place])
        return self.language.operation(step.name, [self.written[argument] for argument in step.arguments])

    def _named(self, written: Written, uses: int) -> Written:
        if uses < 2 or len(written.text) < _LONG:  # noqa: PLR2004  (once is not shared)
            return written
        name = self.language.shared(len(self.shared) + 1)
        self.shared.append((name.text, written.text))
        return name
