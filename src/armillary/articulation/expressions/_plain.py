"""Plain text, close to what one would type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.articulation.expressions._text import POWER, PRODUCT, SIGN, SUM, WHOLE, Written, formula_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["plain_text"]

_INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT), "pow": ("**", POWER)}
_COMPARED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "and": "and", "or": "or"}


def plain_text(term: Term, shape: tuple[int, ...]) -> str:
    """The whole expression; what is shared stands behind it."""
    entries, shared = formula_of(term, _Plain())
    text = _arranged(entries, shape)
    return f"{text} where " + ", ".join(f"{name} = {part}" for name, part in shared) if shared else text


def _arranged(entries: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return f"[{', '.join(entries)}]"
    width = shape[1]
    return f"[{', '.join(_arranged(entries[i : i + width], (width,)) for i in range(0, len(entries), width))}]"


def _inside(written: Written, strength: int) -> str:
    return written.text if written.strength >= strength else f"({written.text})"


def _infix(sign: str, strength: int, left: Written, right: Written) -> Written:
    """What stands behind a minus or a fraction bar holds together; powers are always clear."""
    behind = strength if sign in "+*" else strength + 1
    before = WHOLE if sign == "**" else strength
    return Written(f"{_inside(left, before)} {sign} {_inside(right, behind)}", strength)


_SPECIAL: dict[str, Callable[..., Written]] = {
    "assign": lambda a: a,
    "neg": lambda a: Written(f"-{_inside(a, POWER)}", SIGN),
    "sq": lambda a: _infix("**", POWER, a, Written("2")),
    "twice": lambda a: _infix("*", PRODUCT, Written("2"), a),
    "inv": lambda a: _infix("/", PRODUCT, Written("1"), a),
    "not": lambda a: Written(f"(not {a.text})"),
    "if_else_zero": lambda a, b: Written(f"({b.text} if {a.text} else 0)"),
}


class _Plain:
    def number(self, value: float) -> Written:
        return Written(f"{value:.12g}", SIGN if value < 0 else WHOLE)

    def variable(self, variable: Variable) -> Written:
        return Written(str(variable))

    def shared(self, index: int) -> Written:
        return Written(f"s{index}")

    def operation(self, name: str, arguments: Sequence[Written]) -> Written:
        if name in _INFIX:
            sign, strength = _INFIX[name]
            return _infix(sign, strength, *arguments)
        if name in _COMPARED:
            return Written(f"({arguments[0].text} {_COMPARED[name]} {arguments[1].text})")
        if name in _SPECIAL:
            return _SPECIAL[name](*arguments)
        return Written(f"{name}({', '.join(argument.text for argument in arguments)})")
