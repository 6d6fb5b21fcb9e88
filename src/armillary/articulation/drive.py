"""What a world needs of a model to move its links: names, constants, joints that the C++ core knows, and tapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary._core import Transform
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.joints import AxisJoint, FixedJoint, Interpolation, Joint
from armillary.articulation.links import Link
from armillary.articulation.loops import Loops
from armillary.errors import InvalidArgument
from armillary.store.driven_forms import DrivenForm, LoopForm

if TYPE_CHECKING:
    from armillary.articulation.model import ArticulationModel

__all__ = ["Drive", "LinkDrive", "Naming", "drive_of", "interpolations_of", "link_drive", "loop_form"]


class Naming:
    """The names of links and variables in a world: `robot/links/gripper` is the frame `robot/gripper`.

    Args:
        objects: The paths of the articulated objects of the model.
        prefix: Replaces the name of the object and its slash; None: the name of the object.
        outer: Put before all of that: the prefix with which a world was loaded.
    """

    def __init__(self, objects: Sequence[str], prefix: str | None, outer: str = "") -> None:
        if prefix is not None and len(objects) > 1:
            named = ", ".join(f"'{name}'" for name in objects)
            raise InvalidArgument(
                f"One prefix was given for a model of several things ({named}), whose links would share names. Leave "
                "it out, or mount them one by one with under=.",
                prefix,
            )
        self._prefix, self._outer = prefix, outer
        self.objects = tuple(objects)
        self._names = sorted(objects, key=len, reverse=True)

    def frame(self, link: str) -> str:
        """Return the frame of a link, by its path."""
        for name in self._names:
            if link.startswith(f"{name}/links/"):
                return self._before(name) + link.removeprefix(f"{name}/links/")
        return self._outer + link

    def variable(self, variable: str) -> str:
        """Return the name of a variable in the world, by its name in the model."""
        for name in self._names:
            if variable.startswith(f"{name}/"):
                return self._before(name) + variable.removeprefix(f"{name}/")
        return self._outer + variable

    def _before(self, name: str) -> str:
        return self._outer + (f"{name}/" if self._prefix is None else self._prefix)


@dataclass(frozen=True, slots=True)
class LinkDrive:
    """How one link moves.

    Attributes:
        link: Its path.
        parent: The path of the link that carries it; None for the frame of the model.
        form: A constant, a joint of the C++ core, tapes, or tapes with a kinematic loop.
    """

    link: str
    parent: str | None
    form: Transform | DrivenForm


@dataclass(frozen=True, slots=True)
class Drive:
    """How all links of a model, or of a part of it, move.

    Attributes:
        links: Each after the one that carries it.
        interpolations: By name of a variable, how it is interpolated between two samples.
        velocities: The names of those that have a velocity and no position, such as wheels.
    """

    links: tuple[LinkDrive, ...]
    interpolations: Mapping[str, Interpolation]
    velocities: tuple[str, ...]


def drive_of(model: ArticulationModel, under: str = "") -> Drive:
    """Return the drive of the links at or under a path. Tapes that a joint has already are not made again."""
    links = model.links(under)
    joints = [link.joint for link in links.values() if link.joint is not None]
    positions = interpolations_of(joints)
    names = {variable.name for joint in joints for variable in joint.velocities}
    return Drive(
        tuple(link_drive(path, links[path], model.loops) for path in _parents_first(links)),
        positions,
        tuple(sorted(names - positions.keys())),
    )


def link_drive(path: str, link: Link, loops: Loops) -> LinkDrive:
    """Return the drive of one link."""
    return LinkDrive(path, link.parent, Transform.identity() if link.joint is None else _form(link.joint, loops))


def interpolations_of(joints: Iterable[Joint]) -> dict[str, Interpolation]:
    """Return the interpolation of each variable, by name.

    What was chosen for a joint counts for all that follow it. Where joints that share a variable disagree otherwise, it
    is linear: a whole turn of a wheel need not be one of what it drives.
    """
    found: dict[str, Interpolation] = {}
    chosen: dict[str, Interpolation] = {}
    for joint in joints:
        for name, kind in joint.interpolations.items():
            found[name] = kind if found.get(name, kind) == kind else "linear"
        if isinstance(joint, AxisJoint) and joint.interpolation is not None:
            chosen[joint.variable] = joint.interpolation
    return found | chosen


def _form(joint: Joint, loops: Loops) -> Transform | DrivenForm:
    if isinstance(joint, FixedJoint):
        return joint.closed_form.origin
    if not joint.variables and not joint.velocities:
        return joint.parent_T_child.value()
    if loops.dependents.intersection(joint.variables):
        return loop_form(joint.parent_T_child, loops)
    return joint.closed_form or joint.tape_form


def loop_form(pose: PoseExpression, loops: Loops) -> LoopForm:
    """Return the form of a pose that contains dependents of kinematic loops."""
    closure = loops.system_of(pose.free_variables)
    own = sorted(pose.free_variables - closure.residual.free_variables, key=lambda variable: variable.name)
    drivers = [*own, *closure.drivers]
    order = [*drivers, *closure.dependents]
    closed = closure.closed(pose)
    velocities = [variable.velocity for variable in drivers]
    return LoopForm(
        residual=closure.residual.tape(order),
        slope=closure.residual.jacobian(closure.dependents).tape(order),
        value=closed.value_tape(order),
        jacobian=closed.jacobian_tape(order, velocities),
        positions=tuple(variable.name for variable in order),
        velocities=tuple(variable.name for variable in velocities),
    )


def _parents_first(links: Mapping[str, Link]) -> list[str]:
    """Sort links after their parents; a parent that is not among them is ignored."""
    done: dict[str, None] = {}
    for path in links:
        waiting, above = [path], links[path].parent
        while above is not None and above in links and above not in done:
            waiting.append(above)
            above = links[above].parent
        done.update(dict.fromkeys(reversed(waiting)))
    return list(done)
