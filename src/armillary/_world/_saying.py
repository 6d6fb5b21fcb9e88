"""What a mounted model says to its world: joints, frames and shapes, as changes of structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from armillary._core import NodeId
from armillary.articulation.drive import link_drive, loop_form
from armillary.articulation.expressions import PoseExpression, VectorExpression
from armillary.articulation.loops import Closure, Loops
from armillary.articulation.variables import position
from armillary.scene import AddFrame, AddGeometry, AddJoints, AddTransform, Change, Drive, Fix, SetAttributes
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.articulation.appearance import Appearance
    from armillary.articulation.drive import LinkDrive, Naming
    from armillary.articulation.links import Link

__all__ = ["Saying", "shapes_of"]

E = TypeVar("E", PoseExpression, VectorExpression)

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class Saying:
    """How things of a model are said in its world.

    Attributes:
        naming: What they are called there.
        in_frame: Where the links stand that nothing carries; None: nowhere.
    """

    naming: Naming
    in_frame: str | None

    def joints(self, interpolations: Mapping[str, str], known: Iterable[tuple[str, str]]) -> list[Change]:
        """Joints that are not there yet, by name in the model."""
        there = set(known)
        named = {self.naming.variable(name): kind for name, kind in interpolations.items()}
        new = {name: kind for name, kind in named.items() if (name, kind) not in there}
        return [AddJoints(new)] if new else []

    def link(self, part: LinkDrive, at: int | None) -> Change:
        """How a link hangs in its parent."""
        frame = self.naming.frame(part.link)
        parent = self.in_frame if part.parent is None else self.naming.frame(part.parent)
        if parent is None:
            return AddFrame(frame)
        if isinstance(part.form, Transform):
            return Fix(of=frame, in_frame=parent, transform=part.form, at=at)
        return Drive(of=frame, in_frame=parent, form=part.form.renamed(self.naming.variable), at=at)

    def link_in_loops(self, path: str, link: Link, loops: Loops, at: int) -> Change:
        """The same where these loops are closed, whose variables have the names of the world."""
        pose = self.renamed(link.parent_T_link)
        moved = pose.free_variables & loops.dependents
        part = link_drive(path, link, Loops(()))
        if not moved or isinstance(part.form, Transform):
            return self.link(part, at)
        parent = self.in_frame if part.parent is None else self.naming.frame(part.parent)
        return Drive(of=self.naming.frame(path), in_frame=parent or "", form=loop_form(pose, loops), at=at)

    def renamed(self, expression: E) -> E:
        """With the joints as the world names them."""
        names = {v: position(self.naming.variable(v.name)) for v in expression.free_variables}
        changed = {before: after for before, after in names.items() if before != after}
        return expression.substitute(changed) if changed else expression

    def closure(self, closure: Closure) -> Closure:
        """The same."""
        name = {v: position(self.naming.variable(v.name)) for v in closure.dependents}
        start = {name[v]: value for v, value in closure.start.items()}
        return Closure(self.renamed(closure.residual), dependents=[name[v] for v in closure.dependents], start=start)


def shapes_of(frame: str, path: str, looks: Iterable[Appearance]) -> tuple[list[Change], list[NodeId]]:
    """What a link looks like, and the nodes that are to be removed where it looks otherwise."""
    changes: list[Change] = [SetAttributes(frame, {"name": frame, "link": path})]
    nodes: list[NodeId] = []
    for look in looks:
        placed = NodeId.random()
        parent: NodeId | str = frame
        nodes.append(placed)
        if look.link_T_shape != _IDENTITY:
            changes.append(AddTransform(parent=frame, transform=look.link_T_shape, at=None, id=placed))
            parent, placed = placed, NodeId.random()
        changes.append(AddGeometry(parent=parent, shape=look.shape, attributes=look.attributes, id=placed, at=None))
    return changes, nodes
