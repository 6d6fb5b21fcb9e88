"""Operations: the steps by which a model is made."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_type_hints

from armillary._core import Transform
from armillary.articulation.expressions import VectorExpression
from armillary.articulation.joints import AxisJoint, Joint
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
        return {self.child: replace(child, parent=self.parent, joint=joint)}


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
        left_T_meeting: The meeting point on the one link.
        right_T_meeting: The meeting point on the other.
        dependents: The names of the variables that follow.
        start: Where the first search for each of them begins; all zero, if left out.
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

    @property
    def reads(self) -> Sequence[str]:
        """The paths of both links."""
        return (self.left, self.right)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the closure."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """Return the closure; it runs again when one of the links that carry the two changes."""
        left = read.pose(self.left) @ self.left_T_meeting
        right = read.pose(self.right) @ self.right_T_meeting
        dependents, start = _dependents(self.dependents, self.start)
        if self.meets == "position":
            points = left.translation, right.translation
            return {self.path: Closure.of_points(*points, dependents=dependents, start=start)}
        return {self.path: Closure.of_poses(left, right, dependents=dependents, start=start)}


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
