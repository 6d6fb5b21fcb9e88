"""What every kind of expression can do: scalars, vectors, matrices, rotations, poses, points."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from armillary.articulation.compiled import Compiled
from armillary.articulation.expressions._atoms import Atom
from armillary.articulation.expressions._casadi import casadi
from armillary.articulation.expressions._checks import as_direction, as_values, as_variables
from armillary.articulation.expressions._evaluation import evaluated
from armillary.articulation.expressions._flattening import flattened
from armillary.articulation.expressions._gradients import directions, gradient_of, jacobian_of, velocity_of
from armillary.articulation.expressions._latex import latex_text
from armillary.articulation.expressions._plain import plain_text
from armillary.articulation.expressions._substitution import Substitution
from armillary.articulation.expressions._terms import Term, term_of
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from armillary._core import Tape
    from armillary.articulation.compiled import Backend
    from armillary.articulation.expressions.matrix import MatrixExpression
    from armillary.articulation.variables import Variable

__all__ = ["Symbolic"]

Value = TypeVar("Value")
_LONGEST_REPR = 200
_LONGEST_LATEX = 4000


class Symbolic(Generic[Value]):
    """An expression of typed variables. Frozen; `Value` is what it becomes when all of them have numbers."""

    __slots__ = ("_term",)
    _term: Term

    _rate_kind: ClassVar[type[Symbolic[Any]]]
    """What its derivatives are: the derivative of a pose is a matrix."""

    @classmethod
    def of_term(cls, term: Term) -> Self:
        """For the library itself: the expression around a term."""
        made = cls.__new__(cls)
        made._term = term  # noqa: SLF001
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
    def is_grounded(self) -> bool:
        """Whether its value is known: no variable is left."""
        return not self._term.variables

    def value(self) -> Value:
        """What it is, once it is grounded; raises `NotGrounded` before."""
        return self.evaluate({})

    def evaluate(self, values: Mapping[Variable, float]) -> Value:
        """Its value with these numbers; variables that do not occur in it are not looked at.

        Raises:
            NotGrounded: A variable that occurs in it has no number.
        """
        return self._from_array(evaluated(self._term, values).reshape(self.shape))

    def substitute(self, values: Mapping[Variable, Any]) -> Self:
        """With numbers, variables or expressions in place of some variables, all at once.

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
        kind = self._rate_kind
        return MappingProxyType({key: kind.of_term(entry) for key, entry in gradient_of(self._term).items()})

    def with_gradient(self, entries: Mapping[Variable, Any], *, replace: bool = False) -> Self:
        """The same value with another gradient.

        Args:
            entries: By variable of higher order, what it changes by; added to the derivative of the value, in place
                of an entry of the same variable.
            replace: These alone; the derivative of the value is not asked.

        >>> from armillary.articulation import position, velocity
        >>> x, wheel = position("x"), velocity("wheel")
        >>> str((2.0 * x).with_gradient({wheel: 0.5}).velocity())
        "2 * x' + 0.5 * wheel'"
        """
        given = {as_direction(key): self._rate_term(key, entry) for key, entry in entries.items()}
        rows, columns = self._term.shape
        atoms = [
            [self._atom(given, (row, column), replace=replace) for column in range(columns)] for row in range(rows)
        ]
        sx = casadi.vertcat(*(casadi.horzcat(*(atom.symbol for atom in row)) for row in atoms))
        return self.of_term(Term(sx, None, {atom: None for row in atoms for atom in row}))

    def velocity(self) -> Any:
        """Its change in time, as an expression: every key of the gradient times its entry."""
        return self._rate_kind.of_term(velocity_of(self._term))

    def jacobian(self, variables: Sequence[Variable]) -> MatrixExpression:
        """One row for each entry, row after row, and one column for each variable.

        A variable that it depends on stands for itself. One that it does not depend on, such as the speed of a
        wheel, stands for the entry of the gradient.
        """
        from armillary.articulation.expressions.matrix import MatrixExpression  # noqa: PLC0415  (a matrix is one of us)

        return MatrixExpression.of_term(jacobian_of(self._term, self._along(variables)))

    def tape(self, order: Sequence[Variable]) -> Tape:
        """Its value as a list of instructions: the form in files, on the wire and in the native core.

        Args:
            order: The inputs of the tape; all variables that occur, and others if wanted.

        Raises:
            NotGrounded: A variable that occurs is not among them.
        """
        return flattened(self._term, as_variables(order))

    def compile(self, order: Sequence[Variable] | None = None, backend: Backend = "vm") -> Compiled:
        """A function of arrays: the values of these variables go in, in this order.

        Args:
            order: All variables that occur, and others if wanted. Left out, those that occur, by name; the compiled
                function tells its `order`.
            backend: "vm" runs the tape at once; "c" makes machine code of it, which takes a C compiler and some time.

        Raises:
            NotGrounded: A variable that occurs is not in the order.
            CannotCompile: Machine code was asked, and there is no compiler.
        """
        inputs = _by_name(self.free_variables) if order is None else as_variables(order)
        return Compiled(self.tape(inputs), inputs, self.shape, backend)

    def is_same(self, other: object) -> bool:
        """Whether the other is of the same kind, and its value and gradient are calculated in the same way."""
        if type(other) is not type(self):
            return False
        mine, others = self._term, term_of(other)
        return _is_same(mine, others) and (not (mine.atoms or others.atoms) or _are_same_gradients(mine, others))

    def __reduce__(self) -> tuple[Any, ...]:
        from armillary.articulation import documents  # noqa: PLC0415  (which know all kinds)

        return documents.expression_from_document, (documents.expression_to_document(self),)

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
    def _coerced(cls, value: Any) -> Term:
        """The term of what is taken for one of this kind."""
        raise NotImplementedError

    def _from_array(self, array: NDArray[np.float64]) -> Value:
        """What people use for the numbers of this kind."""
        raise NotImplementedError

    def _along(self, variables: Sequence[Variable]) -> list[Variable]:
        free, known = self._term.variables, set(directions(self._term))
        asked = as_variables(variables)
        return [variable if variable in known and variable not in free else variable.derivative for variable in asked]

    def _atom(self, given: Mapping[Variable, Term], place: tuple[int, int], *, replace: bool) -> Atom:
        value = self._term.with_sx(self._term.sx[place])
        own = {key: entry.with_sx(entry.sx[place]) for key, entry in given.items()}
        return Atom(value, lambda: own if replace else {**gradient_of(value), **own})

    def _rate_term(self, key: Variable, entry: Any) -> Term:
        term = self._rate_kind._coerced(entry)  # noqa: SLF001
        if term.shape != self._term.shape:
            raise InvalidArgument(f"The entry for {key!r} has shape {term.shape}, not {self._term.shape}.", entry)
        return term


def _by_name(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(variables, key=lambda variable: (variable.name, variable.order))


def _is_same(mine: Term, other: Term) -> bool:
    order = _by_name(mine.variables)
    if mine.variables != other.variables or mine.shape != other.shape:
        return False
    return flattened(_lean(mine), order) == flattened(_lean(other), order)


def _lean(term: Term) -> Term:
    """Its value, in which nothing is calculated twice: then it does not matter in how many pieces it was built."""
    return term.expanded.with_sx(casadi.cse(term.expanded.sx))


def _are_same_gradients(mine: Term, other: Term) -> bool:
    here, there = gradient_of(mine), gradient_of(other)
    return here.keys() == there.keys() and all(_is_same(entry, there[key]) for key, entry in here.items())
