"""Operations that close the kinematic loops of a description, and the choice of the variables that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from armillary.articulation._robots import initial_values, joint_of
from armillary.articulation.expressions import PoseExpression, VectorExpression
from armillary.articulation.geometry import stack
from armillary.articulation.history import Apply, Edit
from armillary.articulation.joints import QUATERNION, Joint
from armillary.articulation.operations import AddJoint, CloseLoop
from armillary.articulation.variables import Variable, position
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import JointDescription, RobotDescription

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["closing_edits"]

_RANK = 1e-4
"""Smaller singular values of a Jacobian whose columns have length one are zero: files have angles such as 1.5708, and
axes that are meant to be parallel are not quite."""
_ROUNDING = 1e-13

Between = Callable[[str, str], tuple[PoseExpression, PoseExpression]]


def closing_edits(robot: RobotDescription, name: str, poses: Between) -> list[Edit]:
    """Return the edits that close the loops of a robot whose links and joints are there already.

    Which variables follow is chosen where the file places the robot: as many as the loop determines there, first those
    that no motor drives, of balls, of joints without limits, and of joints far from the root.

    Args:
        robot: Its description.
        name: Its name in the model.
        poses: Returns the poses of two links, by path, in the nearest link that carries both.
    """
    choice = _Choice(robot, name)
    return [edit for closing in robot.closures for edit in choice.closed(closing, poses)]


class _Choice:
    """Chooses the dependents of one loop after another: a variable follows by one loop alone."""

    def __init__(self, robot: RobotDescription, name: str) -> None:
        self._name = name
        self._values = {position(one): value for one, value in initial_values(robot, name).items()}
        self._rank = {variable: i for i, variable in enumerate(_by_preference(robot, name))}
        self._taken: list[Variable] = []
        self._residuals: list[object] = []

    def closed(self, closing: JointDescription, poses: Between) -> Iterator[Edit]:
        path = f"{self._name}/joints/{closing.name}"
        loop, joint = _meeting(closing, self._name, path)
        left, right = poses(loop.left, loop.right)
        residual = loop.residual(left, right, joint)
        self._residuals.append(residual)
        moving = sorted(residual.free_variables, key=lambda variable: self._rank[variable])
        quaternions = _quaternions(moving)
        self._residuals += [_length(one) for one in quaternions]
        dependents = self._dependents(moving)
        if not dependents:
            raise InvalidArgument(f"'{closing.name}' closes no loop: nothing moves between its links.", closing)
        used = [one for one in quaternions if any(v.name.startswith(f"{one}/") for v in dependents)]
        held = [v for one in used for part in QUATERNION if (v := position(f"{one}/{part}")) not in dependents]
        self._taken += held
        if joint is not None:
            yield Apply(f"create {path}", AddJoint(path=path, joint=joint))
        whole = replace(
            loop,
            dependents=tuple(v.name for v in (*dependents, *held)),
            start=tuple(self._values[v] for v in (*dependents, *held)),
            quaternions=tuple(used),
            held=tuple(v.name for v in held),
            rows=self._rows(residual, moving),
        )
        yield Apply(f"close {whole.path}", whole)

    def _dependents(self, moving: Sequence[Variable]) -> list[Variable]:
        """Return as many variables as the loops determine, beyond those that follow already."""
        order = [*self._taken, *(variable for variable in moving if variable not in self._taken)]
        slope = self._slope(stack(self._residuals), order)
        chosen, rank = list(range(len(self._taken))), len(self._taken)
        for column in range(len(self._taken), len(order)):
            more = int(np.sum(np.linalg.svd(slope[:, [*chosen, column]], compute_uv=False) > _RANK))
            if more > rank:
                chosen.append(column)
                rank = more
        found = [order[column] for column in chosen[len(self._taken) :]]
        self._taken += found
        return found

    def _rows(self, residual: VectorExpression, moving: Sequence[Variable]) -> tuple[int, ...]:
        """Return the equations that determine something, where others only tell how exact the file is; else ()."""
        slope = self._slope(residual, moving)
        strengths = np.linalg.svd(slope, compute_uv=False)
        strong, any_at_all = int(np.sum(strengths > _RANK)), int(np.sum(strengths > _ROUNDING))
        return () if strong == any_at_all else _independent_rows(slope, strong)

    def _slope(self, residual: VectorExpression, order: Sequence[Variable]) -> NDArray[np.float64]:
        """Return the Jacobian where the file places the robot, with columns of length one, or zero."""
        slope = np.asarray(residual.jacobian(order).evaluate(self._values))
        lengths = np.linalg.norm(slope, axis=0)
        return slope / np.where(lengths > _ROUNDING, lengths, np.inf)


def _independent_rows(matrix: NDArray[np.float64], count: int) -> tuple[int, ...]:
    """Return so many rows, each time the one with the longest part that is independent of those before."""
    left, found = matrix.copy(), list[int]()
    for _ in range(count):
        best = int(np.argmax(np.linalg.norm(left, axis=1)))
        found.append(best)
        along = left[best] / np.linalg.norm(left[best])
        left -= np.outer(left @ along, along)
    return tuple(sorted(found))


def _meeting(closing: JointDescription, name: str, path: str) -> tuple[CloseLoop, Joint | None]:
    """Return the loop that a joint closes, still without dependents, and the joint where it is one of its own."""
    loop = CloseLoop(
        path=f"{name}/loops/{closing.name}",
        left=f"{name}/links/{closing.parent}",
        right=f"{name}/links/{closing.child}",
        dependents=(),
    )
    if closing.kind in {"ball", "fixed"}:
        meets: Literal["pose", "position"] = "position" if closing.kind == "ball" else "pose"
        ends = closing.parent_T_joint, closing.joint_T_child.inverse()
        return replace(loop, meets=meets, left_T_meeting=ends[0], right_T_meeting=ends[1]), None
    return replace(loop, joint=path), joint_of(closing, f"{name}/{closing.name}")


def _by_preference(robot: RobotDescription, name: str) -> list[Variable]:
    """Return all variables, those first that should rather follow than drive."""
    depth = {joint.name: i for i, joint in enumerate(robot.joints_from_root)}
    closing = {joint.name for joint in robot.closures}
    leaders = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}

    def cost(joint: JointDescription) -> tuple[bool, bool, bool, int]:
        bounded = joint.limits is not None and joint.limits.lower is not None
        several = joint.name in closing or joint.kind in {"ball", "floating"}
        return joint.is_driven or joint.name in leaders, not several, bounded, -depth.get(joint.name, 0)

    ordered = sorted((*robot.joints, *robot.closures), key=cost)
    return [v for joint in ordered for v in joint_of(joint, f"{name}/{joint.name}").variables]


def _quaternions(variables: Sequence[Variable]) -> list[str]:
    """Return the joints whose four components of a quaternion are among these variables."""
    names = {variable.name for variable in variables}
    first = f"/{QUATERNION[0]}"
    return [
        joint
        for name in sorted(names)
        if name.endswith(first) and all(f"{(joint := name.removesuffix(first))}/{part}" in names for part in QUATERNION)
    ]


def _length(joint: str) -> object:
    w, x, y, z = (position(f"{joint}/{part}") for part in QUATERNION)
    return w * w + x * x + y * y + z * z - 1.0
