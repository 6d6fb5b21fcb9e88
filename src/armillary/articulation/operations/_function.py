"""Operations that are written as a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, make_dataclass
from typing import Any, ClassVar, get_type_hints

from armillary.articulation.operations._operation import Operation, Reading
from armillary.errors import InvalidOperation

__all__ = ["FunctionOperation", "operation"]


class FunctionOperation(Operation):
    """An operation made by the decorator `operation`; its fields are the arguments of the function."""

    function: ClassVar[Callable[..., Any]]
    read_templates: ClassVar[tuple[str, ...]]
    write_templates: ClassVar[tuple[str, ...]]

    @property
    def reads(self) -> Sequence[str]:
        """The templates, filled with the arguments."""
        return [template.format(**vars(self)) for template in self.read_templates]

    @property
    def writes(self) -> Sequence[str]:
        """The templates, filled with the arguments."""
        return [template.format(**vars(self)) for template in self.write_templates]

    def run(self, read: Reading) -> Mapping[str, Any]:
        """What the function answers: a mapping, or the value of the only path it writes."""
        answer = type(self).function(read, **vars(self))
        writes = self.writes
        if len(writes) == 1 and not isinstance(answer, Mapping):
            return {writes[0]: answer}
        return answer  # type: ignore[no-any-return]


def operation(
    *, writes: Sequence[str], reads: Sequence[str] = (), kind: str = ""
) -> Callable[[Callable[..., Any]], type[FunctionOperation]]:
    """Make an operation of a function.

    The function gets what reads the model and then its own arguments, by name; these are what one gives to make the
    operation. `"{name}"` in a path stands for such an argument.

    Args:
        writes: Paths that it sets. The function answers with a mapping from path to value, or, where there is only
            one, with the value.
        reads: Paths that it reads.
        kind: Its name in files; the name of the function if left out.

    >>> @operation(reads=["{tap}/opening"], writes=["{tap}/flow"])
    ... def flow(read, *, tap: str, gain: float):
    ...     return gain * read(f"{tap}/opening")
    >>> flow(tap="sink", gain=2.0).writes
    ['sink/flow']
    """

    def decorated(function: Callable[..., Any]) -> type[FunctionOperation]:
        made: type[FunctionOperation] = make_dataclass(
            function.__name__, _fields(function), bases=(FunctionOperation,), frozen=True, kw_only=True
        )
        made.__doc__, made.__module__ = function.__doc__, function.__module__
        made.kind = kind or function.__name__
        made.function = staticmethod(function)
        made.read_templates, made.write_templates = tuple(reads), tuple(writes)
        return made

    return decorated


def _fields(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Of a dataclass with the function's arguments, but for the first."""
    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or any(p.kind in {p.VAR_POSITIONAL, p.VAR_KEYWORD} for p in parameters):
        raise InvalidOperation(
            f"'{function.__name__}' cannot be an operation: it takes what reads the model first, then named "
            "arguments, and neither *args nor **kwargs.",
            function,
        )
    return [
        (p.name, hints.get(p.name, Any), field(default=MISSING if p.default is p.empty else p.default))
        for p in parameters[1:]
    ]
