"""What a world needs of a model to move its links: constants, joints that the native core knows, and tapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary._core import Tape, Transform
from armillary.articulation._closing import Loops
from armillary.articulation.joints import ClosedForm, FixedJoint, Interpolation, Joint, TapeForm
from armillary.articulation.links import Link

if TYPE_CHECKING:
    from armillary.articulation.model import ArticulationModel

__all__ = ["Drive", "LinkDrive", "LoopForm", "drive_of", "interpolations_of", "link_drive"]


@dataclass(frozen=True, slots=True)
class LinkDrive:
    """How one link moves.

    Attributes:
        link: Its path.
        parent: The path of the link that carries it; None for the frame in which the model stands.
        form: A constant, a joint of the native core, tapes, or tapes in a loop.
    """

    link: str
    parent: str | None
    form: Transform | ClosedForm | TapeForm | LoopForm


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopForm:
    """A link in a loop, for the native core to solve and run.

    Attributes:
        residual: From the positions to what is zero.
        slope: From the same to its derivative along the dependents, one row for each row of the residual.
        value: From the same to the first three rows of parent_T_child.
        jacobian: From the same to the 6 x m body Jacobian, along what drives the loop.
        positions: The names of the inputs, dependents last.
        velocities: The names of the columns of the Jacobian.
    """

    residual: Tape
    slope: Tape
    value: Tape
    jacobian: Tape
    positions: tuple[str, ...]
    velocities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drive:
    """How all links of a model, or of a part of it, move.

    Attributes:
        links: Each after the one that carries it.
        interpolations: By name of a variable, how it goes from one sample to the next.
        velocities: The names of those that have a velocity and no position, such as wheels.
    """

    links: tuple[LinkDrive, ...]
    interpolations: Mapping[str, Interpolation]
    velocities: tuple[str, ...]


def drive_of(model: ArticulationModel, under: str = "") -> Drive:
    """The drive of the links at or under a path. What was compiled for a joint before is not compiled again."""
    links = model.links(under)
    joints = [link.joint for link in links.values() if link.joint is not None]
    positions = interpolations_of(joints)
    names = {variable.name for joint in joints for variable in joint.velocities}
    return Drive(
        tuple(link_drive(path, links[path], model.loops) for path in _carriers_first(links)),
        positions,
        tuple(sorted(names - positions.keys())),
    )


def link_drive(path: str, link: Link, loops: Loops) -> LinkDrive:
    """The drive of one link."""
    return LinkDrive(path, link.parent, Transform.identity() if link.joint is None else _form(link.joint, loops))


def interpolations_of(joints: Iterable[Joint]) -> dict[str, Interpolation]:
    """By name of a variable.

    Where joints that share one disagree, it is linear: a whole turn of a wheel need not be one of what it drives.
    """
    found: dict[str, Interpolation] = {}
    for joint in joints:
        for name, kind in joint.interpolations.items():
            found[name] = kind if found.get(name, kind) == kind else "linear"
    return found


def _form(joint: Joint, loops: Loops) -> Transform | ClosedForm | TapeForm | LoopForm:
    if isinstance(joint, FixedJoint):
        return joint.closed_form.origin
    if not joint.variables and not joint.velocities:
        return joint.parent_T_child.value()
    if loops.dependents.intersection(joint.variables):
        return _loop_form(joint, loops)
    return joint.closed_form or joint.tape_form


def _loop_form(joint: Joint, loops: Loops) -> LoopForm:
    closure = loops.system_of(joint.variables)
    own = [variable for variable in joint.variables if variable not in closure.residual.free_variables]
    drivers = [*own, *closure.drivers]
    order = [*drivers, *closure.dependents]
    pose = closure.closed(joint.parent_T_child)
    velocities = [variable.velocity for variable in drivers]
    return LoopForm(
        residual=closure.residual.tape(order),
        slope=closure.residual.jacobian(closure.dependents).tape(order),
        value=pose.value_tape(order),
        jacobian=pose.jacobian_tape(order, velocities),
        positions=tuple(variable.name for variable in order),
        velocities=tuple(variable.name for variable in velocities),
    )


def _carriers_first(links: Mapping[str, Link]) -> list[str]:
    """A link whose carrier is not among these comes as if nothing carried it."""
    done: dict[str, None] = {}
    for path in links:
        waiting, above = [path], links[path].parent
        while above is not None and above in links and above not in done:
            waiting.append(above)
            above = links[above].parent
        done.update(dict.fromkeys(reversed(waiting)))
    return list(done)
