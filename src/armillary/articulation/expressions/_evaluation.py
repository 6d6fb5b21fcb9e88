"""The numbers behind a term."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armillary.articulation.expressions._checks import as_numbers
from armillary.articulation.expressions._flattening import flattened
from armillary.errors import NotGrounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["evaluated"]


def evaluated(term: Term, values: Mapping[Variable, float]) -> NDArray[np.float64]:
    """Its entries, row after row. The tape is made once, so that asking again is cheap."""
    numbers = as_numbers(values)
    if term.tape is None:
        order = tuple(term.variables)
        term.tape = order, flattened(term, order)
    order, tape = term.tape
    missing = [repr(variable) for variable in order if variable not in numbers]
    if missing:
        raise NotGrounded(sorted(missing))
    return tape.run(np.array([numbers[variable] for variable in order]))
