"""Several arrays of expressions that are evaluated together, in one compiled call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation._terms import build, casadi, flat, term_of
from armillary.articulation.controls import values_in_order
from armillary.articulation.expressions import VectorExpression
from armillary.articulation.variables import by_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.compiled import Backend
    from armillary.articulation.expressions.base import Symbolic
    from armillary.articulation.variables import Variable

    Array = NDArray[np.float64]

__all__ = ["Block", "CompiledArrays"]


class Block:
    """Expressions that fill some places of an array.

    Args:
        places: Flat indices, as many as the expression has entries.
        expression: Any expression; its entries are taken row after row.
    """

    __slots__ = ("expression", "places")

    def __init__(self, places: Sequence[int], expression: Symbolic[Any]) -> None:
        self.places = np.asarray(places, dtype=np.intp).reshape(-1)
        self.expression = expression


class CompiledArrays:
    """Arrays whose entries are numbers or expressions of positions.

    Attributes:
        order: The positions that are read.
        arrays: By name, the arrays; a call writes into them.
        changing: The names of those that a call writes into.

    Args:
        arrays: By name, an array with the numbers, and the blocks of expressions that replace some of them.
        order: Positions that come first in `order`.
        backend: "vm", or "c" for machine code.
    """

    def __init__(
        self,
        arrays: Mapping[str, tuple[Array, Sequence[Block]]],
        order: Sequence[Variable] = (),
        backend: Backend = "vm",
    ) -> None:
        self.arrays = {name: np.array(numbers, dtype=np.float64) for name, (numbers, _) in arrays.items()}
        blocks: list[Block] = []
        self._parts: list[tuple[Array, NDArray[np.intp], int, int]] = []
        begin = 0
        for name, (_, own) in arrays.items():
            fixed = [block for block in own if block.expression.is_grounded]
            if fixed:
                self.arrays[name].flat[np.concatenate([block.places for block in fixed])] = _entries(fixed).value()
            moving = [block for block in own if not block.expression.is_grounded]
            places = np.concatenate([block.places for block in moving]) if moving else np.zeros(0, dtype=np.intp)
            if moving:
                self._parts.append((self.arrays[name].reshape(-1), places, begin, begin + len(places)))
            begin += len(places)
            blocks += moving
        stacked = _entries(blocks) if blocks else None
        free = frozenset[Any]() if stacked is None else stacked.free_variables
        self.order = (*order, *by_name(free.difference(order)))
        self.names = tuple(str(variable) for variable in self.order)
        self._compiled = None if stacked is None else stacked.compile(order=self.order, backend=backend)
        self._out = np.empty(begin)
        self.changing = frozenset(
            name for name, (_, own) in arrays.items() if any(not b.expression.is_grounded for b in own)
        )

    def values(self, configuration: Mapping[Any, float]) -> Array:
        """Return the positions that are read as an array, in their order."""
        return values_in_order(configuration, self.names)

    def evaluate(self, values: Array) -> bool:
        """Write the arrays anew, from positions in their order; False where a number that was written is not finite."""
        if self._compiled is None:
            return True
        out = self._out
        self._compiled(values, out=out)
        for array, places, begin, end in self._parts:
            array[places] = out[begin:end]
        return math.isfinite(out.dot(out))


def _entries(blocks: Sequence[Block]) -> VectorExpression:
    """Stack the entries of all blocks; what several of them calculate is calculated once."""
    columns = [term_of(block.expression) for block in blocks]
    columns = [term.expanded.with_sx(flat(casadi.densify(term.expanded.sx))) for term in columns]
    whole = build(casadi.vertcat, *columns)
    return VectorExpression.of_term(whole.with_sx(casadi.cse(whole.sx)))
