"""The operations that robots, kitchens and doors are made by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from armillary.articulation.joints import AxisJoint, Joint
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.operations._operation import Operation, Reading
from armillary.errors import InvalidOperation, WrongValue
from armillary.formats.descriptions import Inertial, ShapeDescription

__all__ = ["AddJoint", "AddLink", "AddMimicJoint", "AddObject", "Connect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddObject(Operation):
    """Say that the links and joints under a path are one thing, whose root link is this one."""

    kind: ClassVar[str] = "add_object"

    name: str
    root: str

    @property
    def writes(self) -> Sequence[str]:
        """The path of the thing."""
        return (self.name,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """The thing, still without links."""
        return {self.name: ArticulatedObject(name=self.name, root=self.root)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLink(Operation):
    """Make a link that hangs nowhere yet."""

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
        """The link."""
        return {self.path: Link(visuals=self.visuals, collisions=self.collisions, inertial=self.inertial)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddJoint(Operation):
    """Make a joint that carries nothing yet."""

    kind: ClassVar[str] = "add_joint"

    path: str
    joint: Joint

    @property
    def writes(self) -> Sequence[str]:
        """The path of the joint."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """The joint."""
        return {self.path: self.joint}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMimicJoint(Operation):
    """Make a joint that follows another: its position is multiplier * (that of the leader) + offset.

    Attributes:
        path: Of the joint.
        joint: What it is; its variable gives way to the leader's.
        leader: The path of the joint it follows, which may itself follow one.
        multiplier: How far it moves when the leader moves by one.
        offset: Where it is when the leader is at zero.
    """

    kind: ClassVar[str] = "add_mimic_joint"

    path: str
    joint: AxisJoint
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def reads(self) -> Sequence[str]:
        """The leader."""
        return (self.leader,)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the joint."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """The joint, by the variable of the one that leads in the end."""
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
    """Hang a link under another, by a joint.

    Attributes:
        child: The path of the link that moves.
        joint: The path of the joint; None: it stands still on its parent, with the same frame.
        parent: The path of the link that carries it; None for the frame in which the whole model stands.
    """

    kind: ClassVar[str] = "connect"

    child: str
    joint: str | None = None
    parent: str | None = None

    @property
    def reads(self) -> Sequence[str]:
        """Both links and the joint."""
        return tuple(path for path in (self.child, self.joint, self.parent) if path is not None)

    @property
    def writes(self) -> Sequence[str]:
        """The link that moves."""
        return (self.child,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """The link, with what carries it."""
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
