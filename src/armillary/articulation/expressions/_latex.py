"""LaTeX, for notebooks and papers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from armillary.articulation.expressions._text import POWER, PRODUCT, SIGN, SUM, WHOLE, Written, formula_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["latex_text"]

_FUNCTIONS = {
    **{name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "min", "max")},
    **{f"a{name}": rf"\arc{name}" for name in ("sin", "cos", "tan")},
    "log": r"\ln",
}
_INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": (r"\,", PRODUCT)}
_COMPARED = {"lt": "<", "le": r"\le", "eq": "=", "ne": r"\ne", "and": r"\wedge", "or": r"\vee"}
_AROUND = {
    "sqrt": (r"\sqrt{", "}"),
    "abs": (r"\left|", r"\right|"),
    "floor": (r"\left\lfloor ", r"\right\rfloor"),
    "ceil": (r"\left\lceil ", r"\right\rceil"),
}
_DOTS = ("{}", r"\dot{{{}}}", r"\ddot{{{}}}", r"\dddot{{{}}}")
_ESCAPED = re.compile(r"([_#$%&{}])")
_BEYOND_TEXT = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


def latex_text(term: Term, shape: tuple[int, ...]) -> str:
    """The whole expression; what is shared stands behind it."""
    entries, shared = formula_of(term, _Latex())
    text = _arranged(entries, shape)
    return text + "".join(rf",\quad {name} = {part}" for name, part in shared)


def _arranged(entries: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return entries[0]
    width = shape[1] if len(shape) > 1 else 1
    rows = [" & ".join(entries[i : i + width]) for i in range(0, len(entries), width)]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _inside(written: Written, strength: int) -> str:
    return written.text if written.strength >= strength else rf"\left({written.text}\right)"


def _name(name: str) -> str:
    """One letter is written as in mathematics, a word upright."""
    if len(name) == 1 and name.isalpha():
        return name
    escaped = "".join(_BEYOND_TEXT.get(letter, _ESCAPED.sub(r"\\\1", letter)) for letter in name)
    return rf"\mathrm{{{escaped}}}" if name.isalpha() else rf"\text{{{escaped}}}"


def _infix(name: str, left: Written, right: Written) -> Written:
    sign, strength = _INFIX[name]
    behind = strength if name == "add" else strength + 1
    return Written(f"{_inside(left, strength)} {sign} {_inside(right, behind)}", strength)


def _power(base: Written, exponent: str) -> Written:
    return Written(f"{_inside(base, WHOLE)}^{{{exponent}}}", POWER)


_SPECIAL: dict[str, Callable[..., Written]] = {
    "assign": lambda a: a,
    "neg": lambda a: Written(f"-{_inside(a, PRODUCT)}", SUM),
    "sq": lambda a: _power(a, "2"),
    "pow": lambda a, b: _power(a, b.text),
    "twice": lambda a: _infix("mul", Written("2"), a),
    "inv": lambda a: Written(rf"\frac{{1}}{{{a.text}}}"),
    "div": lambda a, b: Written(rf"\frac{{{a.text}}}{{{b.text}}}"),
    "not": lambda a: Written(rf"\neg {_inside(a, WHOLE)}"),
    "if_else_zero": lambda a, b: Written(rf"\left[{a.text}\right] {_inside(b, PRODUCT)}", PRODUCT),
}


class _Latex:
    def number(self, value: float) -> Written:
        mantissa, _, exponent = f"{value:.6g}".replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}").partition("e")
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
        return Written(text, SIGN if value < 0 else PRODUCT if exponent else WHOLE)

    def variable(self, variable: Variable) -> Written:
        return Written(_DOTS[variable.order].format(_name(variable.name)))

    def shared(self, index: int) -> Written:
        return Written(f"s_{{{index}}}")

    def operation(self, name: str, arguments: Sequence[Written]) -> Written:
        if name in _INFIX:
            return _infix(name, *arguments)
        if name in _COMPARED:
            return Written(rf"\left({arguments[0].text} {_COMPARED[name]} {arguments[1].text}\right)")
        if name in _AROUND:
            before, after = _AROUND[name]
            return Written(f"{before}{arguments[0].text}{after}")
        if name in _SPECIAL:
            return _SPECIAL[name](*arguments)
        function = _FUNCTIONS.get(name, rf"\operatorname{{{name}}}")
        return Written(rf"{function}\left({', '.join(argument.text for argument in arguments)}\right)")
