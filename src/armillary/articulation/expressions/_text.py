"""Expressions as text: plain and LaTeX.

Both are written from the tape. A part that is long and used more than once gets a name of its own, so that the length
of the text is proportional to the size of the expression.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from armillary._core import TAPE_OPS
from armillary.articulation.expressions._tapes import BINARY, tape_of_term
from armillary.articulation.variables import Variable, by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation._terms import Term

__all__ = ["latex_text", "plain_text"]

_NAMES = {number: name for name, number in TAPE_OPS.items()}
_LONG = 24

SUM, PRODUCT, SIGN, POWER, WHOLE = range(5)
"""Precedence of a text, from the weakest to the strongest binding."""


def plain_text(term: Term, shape: tuple[int, ...]) -> str:
    """Write an expression as one would type it; shared parts follow after `where`."""
    entries, shared = _Writer(term, _Plain()).formula()
    text = _as_lists(entries, shape)
    return f"{text} where " + ", ".join(f"{name} = {part}" for name, part in shared) if shared else text


def latex_text(term: Term, shape: tuple[int, ...]) -> str:
    """Write an expression in LaTeX; shared parts follow after a comma."""
    entries, shared = _Writer(term, _Latex()).formula()
    text = entries[0]
    if shape:
        width = shape[1] if len(shape) > 1 else 1
        rows = [" & ".join(entries[i : i + width]) for i in range(0, len(entries), width)]
        text = r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"
    return text + "".join(rf",\quad {name} = {part}" for name, part in shared)


def _as_lists(entries: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return f"[{', '.join(entries)}]"
    width = shape[1]
    return f"[{', '.join(_as_lists(entries[i : i + width], (width,)) for i in range(0, len(entries), width))}]"


class _Written(NamedTuple):
    """A text and its precedence."""

    text: str
    precedence: int = WHOLE


class _Notation:
    """How numbers, variables and the operations of a tape are written.

    An operation is looked up in `infix`, in `relations`, among the methods (`_sq` writes the operation `sq`), and is
    otherwise written as a call of a function.
    """

    infix: ClassVar[dict[str, tuple[str, int]]]
    relations: ClassVar[dict[str, str]]
    associative: ClassVar[set[str]]
    brackets: ClassVar[tuple[str, str]]

    def number(self, value: float) -> _Written:
        raise NotImplementedError

    def variable(self, variable: Variable) -> _Written:
        raise NotImplementedError

    def shared(self, index: int) -> _Written:
        raise NotImplementedError

    def function(self, name: str) -> str:
        return name

    def operation(self, name: str, arguments: Sequence[_Written]) -> _Written:
        if name in self.infix:
            return self.combined(name, *arguments)
        if name in self.relations:
            left, right = arguments
            return _Written(self.grouped(f"{left.text} {self.relations[name]} {right.text}"))
        method = getattr(self, f"_{name}", None)
        if method is not None:
            written: _Written = method(*arguments)
            return written
        return _Written(self.function(name) + self.grouped(", ".join(argument.text for argument in arguments)))

    def combined(self, name: str, left: _Written, right: _Written) -> _Written:
        """Write two operands around a sign; the base of a power is always unambiguous."""
        sign, precedence = self.infix[name]
        before = WHOLE if name == "pow" else precedence
        after = precedence if name in self.associative else precedence + 1
        return _Written(f"{self.inside(left, before)} {sign} {self.inside(right, after)}", precedence)

    def inside(self, written: _Written, precedence: int) -> str:
        return written.text if written.precedence >= precedence else self.grouped(written.text)

    def grouped(self, text: str) -> str:
        return self.brackets[0] + text + self.brackets[1]

    def _assign(self, a: _Written) -> _Written:
        return a

    def _twice(self, a: _Written) -> _Written:
        return self.combined("mul", _Written("2"), a)


class _Plain(_Notation):
    infix: ClassVar = {
        "add": ("+", SUM),
        "sub": ("-", SUM),
        "mul": ("*", PRODUCT),
        "div": ("/", PRODUCT),
        "pow": ("**", POWER),
    }
    relations: ClassVar = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "and": "and", "or": "or"}
    associative: ClassVar = {"add", "mul"}
    brackets = ("(", ")")

    def number(self, value: float) -> _Written:
        return _Written(f"{value:.12g}", SIGN if value < 0 else WHOLE)

    def variable(self, variable: Variable) -> _Written:
        return _Written(str(variable))

    def shared(self, index: int) -> _Written:
        return _Written(f"s{index}")

    def _neg(self, a: _Written) -> _Written:
        return _Written(f"-{self.inside(a, POWER)}", SIGN)

    def _sq(self, a: _Written) -> _Written:
        return self.combined("pow", a, _Written("2"))

    def _inv(self, a: _Written) -> _Written:
        return self.combined("div", _Written("1"), a)

    def _not(self, a: _Written) -> _Written:
        return _Written(f"(not {a.text})")

    def _if_else_zero(self, a: _Written, b: _Written) -> _Written:
        return _Written(f"({b.text} if {a.text} else 0)")


_FUNCTIONS = {
    **{name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "min", "max")},
    **{f"a{name}": rf"\arc{name}" for name in ("sin", "cos", "tan")},
    "log": r"\ln",
}
_DOTS = ("{}", r"\dot{{{}}}", r"\ddot{{{}}}", r"\dddot{{{}}}")
_ESCAPED = re.compile(r"([_#$%&{}])")
_COMMANDS = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


class _Latex(_Notation):
    infix: ClassVar = {"add": ("+", SUM), "sub": ("-", SUM), "mul": (r"\,", PRODUCT)}
    relations: ClassVar = {"lt": "<", "le": r"\le", "eq": "=", "ne": r"\ne", "and": r"\wedge", "or": r"\vee"}
    associative: ClassVar = {"add"}
    brackets = (r"\left(", r"\right)")

    def number(self, value: float) -> _Written:
        mantissa, _, exponent = f"{value:.6g}".replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}").partition("e")
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
        return _Written(text, SIGN if value < 0 else PRODUCT if exponent else WHOLE)

    def variable(self, variable: Variable) -> _Written:
        """Write a name of one letter in italics, a longer one upright; dots for derivatives."""
        name = variable.name
        if len(name) > 1 or not name.isalpha():
            escaped = "".join(_COMMANDS.get(letter, _ESCAPED.sub(r"\\\1", letter)) for letter in name)
            name = rf"\mathrm{{{escaped}}}" if name.isalpha() else rf"\text{{{escaped}}}"
        return _Written(_DOTS[variable.order].format(name))

    def shared(self, index: int) -> _Written:
        return _Written(f"s_{{{index}}}")

    def function(self, name: str) -> str:
        return _FUNCTIONS.get(name, rf"\operatorname{{{name}}}")

    def _neg(self, a: _Written) -> _Written:
        return _Written(f"-{self.inside(a, PRODUCT)}", SUM)

    def _pow(self, a: _Written, b: _Written) -> _Written:
        return _Written(f"{self.inside(a, WHOLE)}^{{{b.text}}}", POWER)

    def _sq(self, a: _Written) -> _Written:
        return self._pow(a, _Written("2"))

    def _div(self, a: _Written, b: _Written) -> _Written:
        return _Written(rf"\frac{{{a.text}}}{{{b.text}}}")

    def _inv(self, a: _Written) -> _Written:
        return self._div(_Written("1"), a)

    def _not(self, a: _Written) -> _Written:
        return _Written(rf"\neg {self.inside(a, WHOLE)}")

    def _if_else_zero(self, a: _Written, b: _Written) -> _Written:
        return _Written(rf"\left[{a.text}\right] {self.inside(b, PRODUCT)}", PRODUCT)

    def _sqrt(self, a: _Written) -> _Written:
        return _Written(rf"\sqrt{{{a.text}}}")

    def _abs(self, a: _Written) -> _Written:
        return _Written(rf"\left|{a.text}\right|")

    def _floor(self, a: _Written) -> _Written:
        return _Written(rf"\left\lfloor {a.text}\right\rfloor")

    def _ceil(self, a: _Written) -> _Written:
        return _Written(rf"\left\lceil {a.text}\right\rceil")


class _Writer:
    """Writes the instructions of a tape one after the other; long parts that are used twice are written once."""

    def __init__(self, term: Term, notation: _Notation) -> None:
        self._order = by_name(term.variables)
        self._tape = tape_of_term(term, self._order)
        self._notation = notation
        self._shared: list[tuple[str, str]] = []

    def formula(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the entries, row after row, and the shared parts, each after those it uses."""
        steps = list(self._steps())
        uses = Counter(argument for _, arguments, _ in steps for argument in arguments)
        written: list[_Written] = []
        entries: dict[int, str] = {}
        for index, (name, arguments, place) in enumerate(steps):
            if name == "output":
                entries[place] = written[arguments[0]].text
                written.append(_Written(""))
            else:
                text = self._text(name, [written[argument] for argument in arguments], place)
                written.append(self._share(text) if uses[index] > 1 and len(text.text) >= _LONG else text)
        return [entries[i] for i in range(len(entries))], self._shared

    def _steps(self) -> Sequence[tuple[str, tuple[int, ...], int]]:
        """Return name, arguments and index of each instruction; arguments are earlier instructions, not registers.

        The index is that of the constant, of the input or of the output.
        """
        latest: dict[int, int] = {}
        steps = []
        for index, (number, target, a, b) in enumerate(self._tape.code.tolist()):
            name = _NAMES[number]
            registers = () if name in {"constant", "input"} else (a, b) if name in BINARY else (a,)
            steps.append((name, tuple(latest[register] for register in registers), target if name == "output" else a))
            if name != "output":
                latest[target] = index
        return steps

    def _text(self, name: str, arguments: Sequence[_Written], place: int) -> _Written:
        if name == "constant":
            return self._notation.number(float(self._tape.constants[place]))
        if name == "input":
            return self._notation.variable(self._order[place])
        return self._notation.operation(name, arguments)

    def _share(self, written: _Written) -> _Written:
        name = self._notation.shared(len(self._shared) + 1)
        self._shared.append((name.text, written.text))
        return name
