"""Operations: the steps by which a model is made."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_type_hints

from armillary._core import Transform
from armillary.articulation.expressions import Expression, VectorExpression
from armillary.articulation.geometry import stack
from armillary.articulation.joints import QUATERNION, AxisJoint, Joint
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.loops import Closure
from armillary.articulation.variables import Variable, position
from armillary.errors import InvalidOperation, WrongValue
from armillary.formats.descriptions import Inertial, ShapeDescription

if TYPE_CHECKING:
    from armillary.articulation.expressions import PoseExpression

__all__ = [
    "AddJoint",
    "AddLink",
    "AddMimicJoint",
    "AddObject",
    "CloseLoop",
    "Connect",
    "FunctionOperation",
    "Operation",
    "Reading",
    "SetClosure",
    "SetValue",
    "operation",
]

_IDENTITY = Transform.identity()


class Reading(Protocol):
    """Read access of an operation to the paths it declares, as the operations before it left them."""

    def __call__(self, path: str) -> Any:
        """Return the value at one of the declared paths."""

    def pose(self, path: str) -> PoseExpression:
        """Return the pose of a link in the model: the product of the poses of all links from the root to it.

        The link is one of the declared paths. The operation runs again when one of the links that carry it changes.
        """

    def poses_in_common(self, first: str, second: str) -> tuple[PoseExpression, PoseExpression]:
        """Return the poses of two links in the nearest link that carries both, or else in the model.

        Both are among the declared paths. The operation runs again when one of the links that carry them changes.
        """


class Operation(ABC):
    """One step by which a model is made.

    A subclass is a frozen dataclass: its fields are saved in files, under the name `kind`. What it reads and writes
    follows from these fields alone, and is checked before anything runs.
    """

    kind: ClassVar[str] = ""
    """The name in files. Operations without one cannot be saved."""

    @property
    def reads(self) -> Sequence[str]:
        """The paths it reads, which earlier operations have written."""
        return ()

    @property
    @abstractmethod
    def writes(self) -> Sequence[str]:
        """The paths whose values it sets."""

    @abstractmethod
    def run(self, read: Reading) -> Mapping[str, Any]:
        """Return a value for each path it writes.

        Called again whenever something that it read has changed, so the result depends on its fields and on what it
        reads, and on nothing else.
        """


@dataclass(frozen=True, slots=True)
class SetValue(Operation):
    """Put an expression, a constraint, a number, a text or a transform at a path."""

    kind: ClassVar[str] = "set_value"

    path: str
    value: Any

    @property
    def writes(self) -> Sequence[str]:
        """The path of the value."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """Return the value."""
        return {self.path: self.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddObject(Operation):
    """Declare that the links and joints under a path are one object, with this root link."""

    kind: ClassVar[str] = "add_object"

    name: str
    root: str

    @property
    def writes(self) -> Sequence[str]:
        """The path of the object."""
        return (self.name,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """Return the object, still without links."""
        return {self.name: ArticulatedObject(name=self.name, root=self.root)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLink(Operation):
    """Make a link without a parent."""

    kind: ClassVar[str] = "add_link"

    path: str
    visuals: tuple[ShapeDescription, ...] = ()
    collisions: tuple[ShapeDescription, ...] = ()
    inertial: Inertial | None = None

    @property
    def writes(self) -> Sequence[str]:
        """The path of the link."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """Return the link."""
        return {self.path: Link(visuals=self.visuals, collisions=self.collisions, inertial=self.inertial)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddJoint(Operation):
    """Make a joint that carries no link yet."""

    kind: ClassVar[str] = "add_joint"

    path: str
    joint: Joint

    @property
    def writes(self) -> Sequence[str]:
        """The path of the joint."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """Return the joint."""
        return {self.path: self.joint}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMimicJoint(Operation):
    """Make a joint that follows another: its position is multiplier * (that of the leader) + offset.

    Attributes:
        path: The path of the joint.
        joint: Its kind and fields; its variable is replaced by that of the leader.
        leader: The path of the joint it follows, which may itself follow one.
        multiplier: How far it moves when the leader moves by one.
        offset: Its position when the leader is at zero.
    """

    kind: ClassVar[str] = "add_mimic_joint"

    path: str
    joint: AxisJoint
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def reads(self) -> Sequence[str]:
        """The path of the leader."""
        return (self.leader,)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the joint."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """Return the joint, with the variable of the last leader."""
        leader = read(self.leader)
        if not isinstance(leader, AxisJoint):
            raise WrongValue(self.leader, "joint with one variable", type(leader).__name__)
        follower = replace(
            self.joint,
            variable=leader.variable,
            multiplier=self.multiplier * leader.multiplier,
            offset=self.multiplier * leader.offset + self.offset,
        )
        return {self.path: follower}


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect(Operation):
    """Connect a link to its parent, by a joint.

    Attributes:
        child: The path of the link that moves.
        joint: The path of the joint; None: it is fixed to its parent, with the same frame.
        parent: The path of the link that carries it; None for the frame of the whole model.
    """

    kind: ClassVar[str] = "connect"

    child: str
    joint: str | None = None
    parent: str | None = None

    @property
    def reads(self) -> Sequence[str]:
        """The paths of both links and of the joint."""
        return tuple(path for path in (self.child, self.joint, self.parent) if path is not None)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the link that moves."""
        return (self.child,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """Return the link, with its parent and joint."""
        child = _of_kind(read, self.child, Link)
        if self.parent is not None:
            if self.parent == self.child:
                raise InvalidOperation(f"'{self.child}' cannot carry itself. Name another parent.", self.parent)
            _of_kind(read, self.parent, Link)
        joint = None if self.joint is None else _of_kind(read, self.joint, Joint)
        connected = Link(
            visuals=child.visuals,
            collisions=child.collisions,
            inertial=child.inertial,
            parent=self.parent,
            joint=joint,
        )
        return {self.child: connected}


def _of_kind(read: Reading, path: str, kind: type[Any]) -> Any:
    value = read(path)
    if not isinstance(value, kind):
        raise WrongValue(path, kind.__name__, type(value).__name__)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseLoop(Operation):
    """Close a kinematic loop where two links meet: some variables then follow from the others.

    Attributes:
        path: The path of the closure.
        left: The path of one link.
        right: The path of the other.
        meets: "pose": the frames of both coincide, as where two hands hold a tray. "position": only their origins,
            as with a pin.
        joint: The path of a joint by which the right link moves in the left one where they meet; None: by none. Its
            variables are among those of the loop.
        left_T_meeting: The meeting point on the one link.
        right_T_meeting: The meeting point on the other.
        dependents: The names of the variables that follow.
        start: Where the first search for each of them begins; all zero, if left out.
        quaternions: The names of joints whose quaternion is among the dependents: it keeps the length one.
        held: The names of dependents that the loop leaves free, and that stay where their search begins: the turn of a
            rod between two balls about itself.
        rows: Which of the equations count, by number: x, y, z of the positions, then the nine entries of the rotations;
            all, if left out. A plane mechanism whose file is rounded closes in its plane alone.

    >>> CloseLoop(path="door/loops/strut", left="door/links/strut", right="door/links/lid", meets="position",
    ...     dependents=("door/strut", "door/lid")).reads
    ('door/links/strut', 'door/links/lid')
    """

    kind: ClassVar[str] = "close_loop"

    path: str
    left: str
    right: str
    dependents: tuple[str, ...]
    meets: Literal["pose", "position"] = "pose"
    left_T_meeting: Transform = _IDENTITY
    right_T_meeting: Transform = _IDENTITY
    start: tuple[float, ...] = ()
    joint: str | None = None
    quaternions: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()

    @property
    def reads(self) -> Sequence[str]:
        """The paths of both links, and of the joint."""
        return (self.left, self.right) if self.joint is None else (self.left, self.right, self.joint)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the closure."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """Return the closure; it runs again when one of the links that carry the two changes."""
        left, right = read.poses_in_common(self.left, self.right)
        joint = None if self.joint is None else _of_kind(read, self.joint, Joint)
        dependents, start = _dependents(self.dependents, self.start)
        meeting = self.residual(left, right, joint)
        if any(not 0 <= row < len(meeting) for row in self.rows):
            raise InvalidOperation(f"The loop has {len(meeting)} equations, and rows= names {self.rows}.", self.rows)
        counted = stack([meeting[row] for row in self.rows]) if self.rows else meeting
        residual = stack([counted, *self._extra(start)])
        return {self.path: Closure(residual, dependents=dependents, start=start)}

    def residual(self, left: PoseExpression, right: PoseExpression, joint: Joint | None) -> VectorExpression:
        """Return what is zero where two links with these poses meet."""
        first, second = left @ self.left_T_meeting, right @ self.right_T_meeting
        if joint is not None:
            first @= joint.parent_T_child
        if self.meets == "position":
            return VectorExpression(first.translation - second.translation)
        # All nine entries of the rotations: their antisymmetric part alone is zero at half a turn as well.
        turned = first.rotation.matrix - second.rotation.matrix
        entries = [turned[i, j] for i in range(3) for j in range(3)]
        return VectorExpression(stack([first.translation - second.translation, *entries]))

    def _extra(self, start: Mapping[Variable, float]) -> Iterator[Expression]:
        for name in self.quaternions:
            w, x, y, z = (position(f"{name}/{part}") for part in QUATERNION)
            yield w * w + x * x + y * y + z * z - 1.0
        for name in self.held:
            yield position(name).expression - start.get(position(name), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetClosure(Operation):
    """Close a kinematic loop where an expression is zero: some of its variables then follow from the others.

    Attributes:
        path: The path of the closure.
        residual: The expression that is zero.
        dependents: The names of the variables that follow.
        start: Where the first search for each of them begins; all zero, if left out.
    """

    kind: ClassVar[str] = "set_closure"

    path: str
    residual: VectorExpression
    dependents: tuple[str, ...]
    start: tuple[float, ...] = ()

    @property
    def writes(self) -> Sequence[str]:
        """The path of the closure."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """Return the closure."""
        dependents, start = _dependents(self.dependents, self.start)
        return {self.path: Closure(self.residual, dependents=dependents, start=start)}


def _dependents(names: Sequence[str], start: Sequence[float]) -> tuple[list[Variable], dict[Variable, float]]:
    if start and len(start) != len(names):
        raise InvalidOperation(f"{len(start)} numbers to start from were given for {len(names)} dependents.", start)
    dependents = [position(name) for name in names]
    return dependents, dict(zip(dependents, start, strict=False))


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
        """Return the result of the function: a mapping, or the value of the only path it writes."""
        answer = type(self).function(read, **vars(self))
        writes = self.writes
        if len(writes) == 1 and not isinstance(answer, Mapping):
            return {writes[0]: answer}
        return answer  # type: ignore[no-any-return]


def operation(
    *, writes: Sequence[str], reads: Sequence[str] = (), kind: str = ""
) -> Callable[[Callable[..., Any]], type[FunctionOperation]]:
    """Make an operation of a function.

    The function takes a `Reading` of the model and then its own arguments, by name; these are the arguments of the
    operation. `"{name}"` in a path is replaced by such an argument.

    Args:
        writes: Paths that it sets. The function returns a mapping from path to value, or, where there is only one, the
            value.
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
    """Return the fields of a dataclass with the arguments of the function, but for the first."""
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
