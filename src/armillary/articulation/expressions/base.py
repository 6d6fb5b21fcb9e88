"""Scalar expressions, and what they share with vectors, matrices, rotations, poses and points."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from armillary.articulation._terms import Atom, Term, casadi, term_of
from armillary.articulation.compiled import Compiled
from armillary.articulation.expressions._gradients import (
    Substitution,
    along_of,
    directions,
    gradient_of,
    jacobian_by_rows,
    velocity_of,
)
from armillary.articulation.expressions._tapes import casadi_function_of_term, evaluated, tape_of_term
from armillary.articulation.expressions._text import latex_text, plain_text
from armillary.articulation.variables import (
    ScalarOperators,
    Variable,
    as_direction,
    as_values,
    as_variables,
    by_name,
    scalar_term,
)
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from armillary._core import Tape
    from armillary.articulation.compiled import Backend
    from armillary.articulation.expressions.matrix import MatrixExpression
    from armillary.articulation.variables import ByVariable, Numbers, VariableLike

__all__ = ["Expression", "Symbolic"]

Value = TypeVar("Value")
_LONGEST_REPR = 200
_LONGEST_LATEX = 4000


class Symbolic(Generic[Value]):
    """An expression of typed variables. Immutable; `Value` is its type once all variables have numbers."""

    __slots__ = ("_term",)
    _term: Term

    _jacobian_kind: ClassVar[type[MatrixExpression]]
    """The class of Jacobians, `MatrixExpression`: it is one of these itself, and is defined above them."""

    def __init_subclass__(cls, *, is_jacobian_kind: bool = False, **other: Any) -> None:
        super().__init_subclass__(**other)
        if is_jacobian_kind:
            Symbolic._jacobian_kind = cls  # type: ignore[assignment]

    @classmethod
    def of_term(cls, term: Term) -> Self:
        """For the library itself: the expression around a term."""
        made = cls.__new__(cls)
        object.__setattr__(made, "_term", term)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array it evaluates to."""
        return self._term.shape

    @property
    def free_variables(self) -> frozenset[Variable]:
        """The variables its value depends on."""
        return self._term.variables

    @property
    def directions(self) -> frozenset[Variable]:
        """The variables, one order higher than those it depends on, along which it can change: keys of `gradient`."""
        return frozenset(directions(self._term))

    @property
    def is_grounded(self) -> bool:
        """Whether its value is known: no variable is left."""
        return not self._term.variables

    def value(self) -> Value:
        """Its value, once it is grounded; raises `NotGrounded` before."""
        return self.evaluate({})

    def evaluate(self, values: Numbers) -> Value:
        """Its value with these numbers, by variable or by name; variables that do not occur in it are ignored.

        Raises:
            NotGrounded: A variable that occurs in it has no number.
        """
        return self._from_array(evaluated(self._term, values).reshape(self.shape))

    def substitute(self, values: ByVariable) -> Self:
        """Replace variables by numbers, variables or expressions, all at once.

        Gradients follow by the chain rule: a variable that became a number does not change any more.
        """
        return self.of_term(Substitution(as_values(values)).of(self._term))

    def gradient(self) -> Mapping[Variable, Any]:
        """How it changes: by variable, one order higher than those it depends on, an expression of its own shape.

        >>> from armillary.articulation import position, sin
        >>> q = position("q")
        >>> str(sin(q).gradient()[q.velocity])
        'cos(q)'
        """
        kind = self._rate_kind()
        return MappingProxyType({key: kind.of_term(entry) for key, entry in gradient_of(self._term).items()})

    def with_gradient(self, entries: ByVariable, *, replace: bool = False) -> Self:
        """The same value with another gradient.

        Args:
            entries: By variable of higher order, the rate of change; added to the derivative of the value, in place
                of an entry of the same variable.
            replace: Use these alone; the derivative of the value is not computed.

        >>> from armillary.articulation import position, velocity
        >>> x, wheel = position("x"), velocity("wheel")
        >>> str((2.0 * x).with_gradient({wheel: 0.5}).velocity())
        "2 * x' + 0.5 * wheel'"
        """
        given = {as_direction(key): self._rate_term(as_direction(key), entry) for key, entry in entries.items()}
        rows, columns = self._term.shape
        atoms = [
            [self._atom(given, (row, column), replace=replace) for column in range(columns)] for row in range(rows)
        ]
        sx = casadi.vertcat(*(casadi.horzcat(*(atom.symbol for atom in row)) for row in atoms))
        return self.of_term(Term(sx, None, {atom: None for row in atoms for atom in row}))

    def velocity(self) -> Any:
        """Its change in time, as an expression: every key of the gradient times its entry."""
        return self._rate_kind().of_term(velocity_of(self._term))

    def jacobian(self, variables: Sequence[VariableLike]) -> MatrixExpression:
        """The Jacobian: one row for each entry, row after row, and one column for each variable.

        Each row is that of its entry alone, so that the Jacobian of a stack is the stack of the Jacobians: where the
        entry depends on a variable it is the derivative along that variable, and where it does not, as with the speed
        of a wheel or of a joint, it is the entry of its gradient.

        >>> from armillary.articulation import position, stack
        >>> q = position("q")
        >>> stack([3.0 * q, 2.0 * q.velocity]).jacobian([q.velocity]).value().tolist()
        [[3.0], [2.0]]
        """
        return self._jacobian_kind.of_term(jacobian_by_rows(self._term, as_variables(variables)))

    def tape(self, order: Sequence[VariableLike]) -> Tape:
        """Its value as a tape, the bytecode of an expression in files, on the wire and in the C++ core.

        Args:
            order: The inputs of the tape; all variables that occur, and others if wanted.

        Raises:
            NotGrounded: A variable that occurs is not among them.
        """
        return tape_of_term(self._term, as_variables(order))

    def compile(self, order: Sequence[VariableLike] | None = None, backend: Backend = "vm") -> Compiled:
        """Make a function of arrays, which takes the values of these variables in this order.

        Args:
            order: All variables that occur, and others if wanted. Left out, those that occur, by name; the compiled
                function has it as `order`.
            backend: "vm" runs the tape; "c" makes machine code of it as well, which takes a C compiler and some time.
                Until it is there the tape is run: `wait()` waits for it.

        Raises:
            NotGrounded: A variable that occurs is not in the order.
            CannotCompile: Machine code was asked, and there is no C compiler.
        """
        inputs = by_name(self.free_variables) if order is None else as_variables(order)
        return Compiled(self.tape(inputs), inputs, self.shape, backend)

    def to_casadi(self, order: Sequence[VariableLike] | None = None, *, name: str = "value") -> Any:
        """Make a `casadi.Function` of its value, for optimisers and code generators that take those.

        Its input is a column with the values of the variables, its output has the shape of the expression. casadi
        differentiates the value: entries that `with_gradient` added are not known to it.

        Args:
            order: All variables that occur, and others if wanted. Left out, those that occur, by name.
            name: Of the function: letters, digits and `_`.

        Raises:
            NotGrounded: A variable that occurs is not in the order.

        >>> from armillary.articulation import position, sin
        >>> q = position("q")
        >>> (2.0 * sin(q)).to_casadi(name="swing")
        Function(swing:(q)->(value) SXFunction)
        """
        inputs = by_name(self.free_variables) if order is None else as_variables(order)
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise InvalidArgument(f"name is that of a C function: letters, digits and '_', got {name!r}.", name)
        return casadi_function_of_term(self._term, inputs, name)

    def is_same(self, other: object) -> bool:
        """Whether the other is of the same kind, and its value and gradient are calculated in the same way."""
        if not isinstance(other, Symbolic) or type(other) is not type(self):
            return False
        mine, others = self._term, term_of(other)
        return _is_same(mine, others) and (not (mine.atoms or others.atoms) or _are_same_gradients(mine, others))

    def latex(self) -> str:
        """Its value in LaTeX, without dollar signs."""
        return latex_text(self._term, self.shape)

    def _repr_latex_(self) -> str | None:
        """None where it would fill pages: notebooks then show the beginning of its text."""
        text = self.latex()
        return f"${text}$" if len(text) <= _LONGEST_LATEX else None

    def __str__(self) -> str:
        """Its value as one would type it; velocities have a prime, accelerations two."""
        return plain_text(self._term, self.shape)

    def __repr__(self) -> str:
        text = str(self)
        return f"{type(self).__name__}({text if len(text) <= _LONGEST_REPR else text[:_LONGEST_REPR] + ' ...'})"

    @classmethod
    def _rate_kind(cls) -> type[Symbolic[Any]]:
        """Return the class of its derivatives: the derivative of a pose is a matrix."""
        return cls

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        """Return the term of an array or expression of this kind, or of its derivative."""
        raise NotImplementedError

    def _from_array(self, array: NDArray[np.float64]) -> Value:
        """Convert the numbers to the type that users have for this kind."""
        raise NotImplementedError

    def _along(self, variables: Sequence[VariableLike]) -> list[Variable]:
        return along_of(self._term, as_variables(variables))

    def _atom(self, given: Mapping[Variable, Term], index: tuple[int, int], *, replace: bool) -> Atom:
        value = self._term.with_sx(self._term.sx[index])
        own = {key: entry.with_sx(entry.sx[index]) for key, entry in given.items()}
        return Atom(value, lambda: own if replace else {**gradient_of(value), **own})

    def _rate_term(self, key: Variable, entry: Any) -> Term:
        term = self._coerced(entry)
        if term.shape != self._term.shape:
            raise InvalidArgument(f"The entry for {key!r} has shape {term.shape}, not {self._term.shape}.", entry)
        return term


def _is_same(mine: Term, other: Term) -> bool:
    order = by_name(mine.variables)
    if mine.variables != other.variables or mine.shape != other.shape:
        return False
    return tape_of_term(_without_repetition(mine), order) == tape_of_term(_without_repetition(other), order)


def _without_repetition(term: Term) -> Term:
    """The value with common subexpressions unified: then it does not matter in how many pieces it was built."""
    return term.expanded.with_sx(casadi.cse(term.expanded.sx))


def _are_same_gradients(mine: Term, other: Term) -> bool:
    here, there = gradient_of(mine), gradient_of(other)
    return here.keys() == there.keys() and all(_is_same(entry, there[key]) for key, entry in here.items())


class Expression(ScalarOperators, Symbolic[float], is_result_kind=True):
    """A number that depends on variables.

    >>> from armillary.articulation import position, sin
    >>> q = position("door/hinge")
    >>> opening = 2.0 * sin(q) + 1.0
    >>> opening.free_variables == {q}
    True
    >>> float(opening.substitute({q: 0.0}))
    1.0
    """

    __slots__ = ()

    def __init__(self, value: Any) -> None:
        self._term = scalar_term(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a number, ()."""
        return ()

    def __float__(self) -> float:
        return self.value()

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return scalar_term(value)

    def _from_array(self, array: NDArray[np.float64]) -> float:
        return float(array)
