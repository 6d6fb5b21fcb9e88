"""What a world needs of a model to move its links: constants, joints that the native core knows, and tapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary._core import Tape, Transform
from armillary.articulation.joints import ClosedForm, Interpolation, Joint, TapeForm
from armillary.articulation.links import Link
from armillary.articulation.loops import Closure

if TYPE_CHECKING:
    from armillary.articulation.model import ArticulationModel

__all__ = ["ClosureForm", "Drive", "LinkDrive", "closure_form", "drive_of", "interpolations_of", "link_drive"]


@dataclass(frozen=True, slots=True)
class LinkDrive:
    """How one link moves.

    Attributes:
        link: Its path.
        parent: The path of the link that carries it; None for the frame in which the model stands.
        form: A constant, a joint of the native core, or tapes.
    """

    link: str
    parent: str | None
    form: Transform | ClosedForm | TapeForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosureForm:
    """A loop, for the native core to solve.

    Attributes:
        residual: From the positions, drivers first, to what is zero.
        jacobian: From the same to its derivative, one row for each row of the residual.
        drivers: Their names.
        dependents: Their names.
        start: Where each dependent is looked for the first time.
    """

    residual: Tape
    jacobian: Tape
    drivers: tuple[str, ...]
    dependents: tuple[str, ...]
    start: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Drive:
    """How all links of a model, or of a part of it, move.

    Attributes:
        links: Each after the one that carries it.
        interpolations: By name of a variable, how it goes from one sample to the next.
        velocities: The names of those that have a velocity and no position, such as wheels.
        closures: The loops, each after those that its drivers follow from.
    """

    links: tuple[LinkDrive, ...]
    interpolations: Mapping[str, Interpolation]
    velocities: tuple[str, ...]
    closures: tuple[ClosureForm, ...] = ()


def drive_of(model: ArticulationModel, under: str = "") -> Drive:
    """The drive of the links at or under a path. What was compiled for a joint before is not compiled again."""
    links = model.links(under)
    joints = [link.joint for link in links.values() if link.joint is not None]
    positions = interpolations_of(joints)
    names = {variable.name for joint in joints for variable in joint.velocities}
    return Drive(
        tuple(link_drive(path, links[path]) for path in _carriers_first(links)),
        positions,
        tuple(sorted(names - positions.keys())),
        tuple(closure_form(system) for system in model.loop_systems(under)),
    )


def link_drive(path: str, link: Link) -> LinkDrive:
    """The drive of one link."""
    return LinkDrive(path, link.parent, Transform.identity() if link.joint is None else _form(link.joint))


def closure_form(closure: Closure) -> ClosureForm:
    """The form of one system of loops."""
    order = [*closure.drivers, *closure.dependents]
    return ClosureForm(
        residual=closure.residual.tape(order),
        jacobian=closure.residual.jacobian(order).tape(order),
        drivers=tuple(variable.name for variable in closure.drivers),
        dependents=tuple(variable.name for variable in closure.dependents),
        start=tuple(closure.start[variable] for variable in closure.dependents),
    )


def interpolations_of(joints: Iterable[Joint]) -> dict[str, Interpolation]:
    """By name of a variable.

    Where joints that share one disagree, it is linear: a whole turn of a wheel need not be one of what it drives.
    """
    found: dict[str, Interpolation] = {}
    for joint in joints:
        for name, kind in joint.interpolations.items():
            found[name] = kind if found.get(name, kind) == kind else "linear"
    return found


def _form(joint: Joint) -> Transform | ClosedForm | TapeForm:
    if not joint.variables and not joint.velocities:
        return joint.parent_T_child.value()
    return joint.closed_form or joint.tape_form


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
