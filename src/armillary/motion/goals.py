"""Goals of a controller: where a link, a joint or any expression of a model shall be.

A goal has rows: a value, the interval that it shall be in, and how it changes along the controls. A controller moves
each value towards its interval by `gain` of what is missing in every step, and at `speed_limit` at most.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.articulation.compiled_arrays import Block
from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    VectorExpression,
)
from armillary.articulation.functions import atan2
from armillary.articulation.geometry import norm, pose, rotation_from_quaternion, stack
from armillary.articulation.logic import if_else, less
from armillary.articulation.variables import Variable, as_variable, position
from armillary.errors import InvalidArgument
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.controls import Controls
    from armillary.articulation.model import ArticulationModel
    from armillary.articulation.variables import VariableLike

    Array = NDArray[np.float64]

__all__ = [
    "ExpressionGoal",
    "FunctionGoal",
    "Goal",
    "GoalRows",
    "JointGoal",
    "OrientationGoal",
    "PointingGoal",
    "PoseGoal",
    "PositionGoal",
    "PostureGoal",
]

_BEHIND = -1.0 + 1e-10
_TINY = 1e-9


class GoalRows:
    """What a goal contributes, as expressions of the model.

    Args:
        value: (k,) what shall be between `lower` and `upper`.
        jacobian: (k, c) how it changes along some controls.
        columns: The numbers of these controls.
        lower: (k,) numbers or expressions.
        upper: (k,) likewise.
        parts: Entries that are one quantity: a translation, a rotation. Speed limits and tolerances are of its length.
    """

    def __init__(
        self,
        value: VectorExpression,
        jacobian: MatrixExpression | None,
        columns: Sequence[int],
        *,
        lower: VectorExpression | Array | None = None,
        upper: VectorExpression | Array | None = None,
        parts: Sequence[slice] = (),
    ) -> None:
        self.value, self.jacobian, self.columns = value, jacobian, list(columns)
        self.count = len(value)
        self.lower = np.zeros(self.count) if lower is None else lower
        self.upper = np.zeros(self.count) if upper is None else upper
        self.parts = tuple(parts) or (slice(0, self.count),)

    def blocks(self, first: int, width: int) -> dict[str, list[Block]]:
        """Return the entries of the arrays of all goals, for rows from `first` on and `width` controls."""
        rows = range(first, first + self.count)
        found = {"value": [Block(rows, self.value)], "jacobian": list[Block]()}
        if self.jacobian is not None:
            found["jacobian"].append(Block([row * width + j for row in rows for j in self.columns], self.jacobian))
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            found[name] = [Block(rows, bound)] if isinstance(bound, VectorExpression) else []
        return found


class Goal(ABC):
    """What a controller shall reach.

    Attributes:
        name: In reports and errors.
        weight: How much it counts against other goals: of the square of what is missed, in m/s or rad/s.
        gain: The part of what is missing that is made up for in one step, in (0, 1].
        speed_limit: At most so fast: m/s, rad/s, or the unit of the value per second.
        tolerance: It is met where no more is missing.
    """

    _usual_tolerance: ClassVar[float] = 1e-4

    def __init__(
        self,
        name: str,
        *,
        weight: float = 1.0,
        gain: float = 1.0,
        speed_limit: float = math.inf,
        tolerance: float | None = None,
    ) -> None:
        self.name = name
        self.weight = _number("weight", weight, low=0.0, is_open=False)
        self.gain = _number("gain", gain, low=0.0, high=1.0)
        self.speed_limit = _number("speed_limit", speed_limit, low=0.0, high=math.inf)
        usual = self._usual_tolerance
        self.tolerance = usual if tolerance is None else _number("tolerance", tolerance, low=0.0, high=math.inf)
        self.parameters = np.zeros(0)
        self.parameter_variables: tuple[Variable, ...] = ()

    @abstractmethod
    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """Return what it contributes for a model."""

    def measure(self, configuration: Mapping[Any, float]) -> tuple[Array, Array] | None:
        """Return value and Jacobian at a configuration where they are no expressions; None where they are."""
        del configuration
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, weight={self.weight:g})"


def _number(name: str, value: float, *, low: float, high: float | None = None, is_open: bool = True) -> float:
    given = float(value)
    limit = math.inf if high is None else high
    is_in = (low < given if is_open else low <= given) and (given <= limit if high is not None else given < limit)
    if not is_in:
        bounds = f"above {low:g}" if is_open else f"at least {low:g}"
        raise InvalidArgument(
            f"{name} of a goal is a number {bounds}{'' if math.isinf(limit) else f' and at most {limit:g}'}, "
            f"got {value!r}.",
            value,
        )
    return given


class _LinkGoal(Goal):
    """A goal for a link of the model, seen from the frame of the model or from another link.

    Args:
        link: Its path.
        in_frame: The path of the link that the target is seen from; None for the frame of the model.
    """

    def __init__(self, link: str, in_frame: str | None, name: str | None, **options: Any) -> None:
        self.link, self.in_frame = link, in_frame
        kind = type(self).__name__.removesuffix("Goal").lower()
        seen = "" if in_frame is None else f" in {in_frame}"
        super().__init__(name or f"{kind} of {link}{seen}", **options)

    def _pose(self, model: ArticulationModel, controls: Controls) -> PoseExpression:
        return controls.along(model.pose(self.link, in_frame=self.in_frame))

    def _jacobian(self, found: PoseExpression, controls: Controls) -> tuple[list[int], MatrixExpression | None]:
        columns = controls.columns(found)
        return columns, found.body_jacobian([controls[j] for j in columns]) if columns else None

    def _set_parameters(self, label: str, numbers: Any) -> tuple[Variable, ...]:
        self.parameters = np.array(numbers, dtype=np.float64).reshape(-1)
        self.parameter_variables = tuple(position(f"goal {id(self)} {label} {i}") for i in range(len(self.parameters)))
        return self.parameter_variables


def _linear(found: PoseExpression, body: MatrixExpression | None) -> MatrixExpression | None:
    return None if body is None else found.rotation.matrix @ body[0:3]


class PoseGoal(_LinkGoal):
    """A link shall have a pose.

    Args:
        link: The path of the link.
        target: Its pose in the frame of the model, or in that of the link `in_frame`. It can be set anew at any time.
        in_frame: The path of a link that the target is seen from; it may move, by controls or without.
        weight: Of both translation and rotation; a radian counts as much as a metre.
        angular_weight: How much more a radian counts.
        name: In reports; made of the paths, if left out.
        options: `gain`, `speed_limit` and `tolerance`, as for every goal; both in m and rad.
    """

    def __init__(
        self,
        link: str,
        target: Transform,
        *,
        in_frame: str | None = None,
        weight: float = 1.0,
        angular_weight: float = 1.0,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(link, in_frame, name, weight=weight, **options)
        self.angular_weight = _number("angular_weight", angular_weight, low=0.0)
        self._variables = self._set_parameters("target", np.zeros(7))
        self.target = target

    @property
    def target(self) -> Transform:
        """Where the link shall be."""
        return self._target

    @target.setter
    def target(self, target: Transform) -> None:
        self._target = _as_transform(target)
        self.parameters[:] = target.xyz_wxyz

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """Six rows: the translation that is missing, and the rotation."""
        found = self._pose(model, controls)
        wanted = _pose_of(self._variables)
        columns, body = self._jacobian(found, controls)
        away = found.translation - wanted.translation
        turned = -1.0 * (found.rotation.inverse() @ wanted.rotation).vector()
        jacobian = None
        if body is not None:
            linear = found.rotation.matrix @ body[0:3]
            jacobian = stack([linear, body[3:6] * self.angular_weight])
        value = stack([VectorExpression(away), VectorExpression(turned) * self.angular_weight])
        return GoalRows(value, jacobian, columns, parts=(slice(0, 3), slice(3, 6)))


class PositionGoal(_LinkGoal):
    """A point of a link shall be at a place.

    Args:
        link: The path of the link.
        target: (3,) where the point shall be, in the frame of the model or in that of the link `in_frame`.
        point: (3,) of the link, in its own frame; its origin, if left out.
        in_frame: The path of a link that the target is seen from.
        axes: Which of x, y and z of that frame count.
        name: In reports; made of the paths, if left out.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
    """

    def __init__(
        self,
        link: str,
        target: Any,
        *,
        point: Any = (0.0, 0.0, 0.0),
        in_frame: str | None = None,
        axes: str = "xyz",
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(link, in_frame, name, **options)
        self._point = _three(point, "The point")
        self._rows = [_axis_number(axis) for axis in axes]
        self._variables = self._set_parameters("target", np.zeros(3))
        self.target = target

    @property
    def target(self) -> Array:
        """Where the point shall be; it can be set anew at any time."""
        return self.parameters.copy()

    @target.setter
    def target(self, target: Any) -> None:
        self.parameters[:] = _three(target, "A target")

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """A row for each axis: how far it is away along it."""
        found = self._pose(model, controls) @ Transform.from_translation(self._point)
        columns, body = self._jacobian(found, controls)
        away = VectorExpression(found.translation - PointExpression(*self._variables))
        jacobian = None
        if body is not None:
            linear = found.rotation.matrix @ body[0:3]
            jacobian = stack([linear[i : i + 1] for i in self._rows])
        return GoalRows(stack([away[i] for i in self._rows]), jacobian, columns)


class OrientationGoal(_LinkGoal):
    """A link shall be turned as a target.

    Args:
        link: The path of the link.
        target: A rotation, in the frame of the model or in that of the link `in_frame`.
        in_frame: The path of a link that the target is seen from.
        name: In reports; made of the paths, if left out.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
    """

    _usual_tolerance = 1e-3

    def __init__(
        self, link: str, target: Any, *, in_frame: str | None = None, name: str | None = None, **options: Any
    ) -> None:
        super().__init__(link, in_frame, name, **options)
        self._variables = self._set_parameters("target", np.zeros(4))
        self.target = target

    @property
    def target(self) -> Any:
        """The rotation that is wanted; it can be set anew at any time."""
        return self._target

    @target.setter
    def target(self, target: Any) -> None:
        rotation = target.rotation if isinstance(target, Transform) else target
        if not isinstance(rotation, Rotation):
            raise InvalidArgument(f"The target of an orientation is a Rotation or a Transform, got {target!r}.", target)
        self._target = rotation
        self.parameters[:] = rotation.wxyz

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """Three rows: the rotation that is missing, seen from the link."""
        found = self._pose(model, controls)
        columns, body = self._jacobian(found, controls)
        wanted = rotation_from_quaternion(*self._variables)
        turned = -1.0 * (found.rotation.inverse() @ wanted).vector()
        return GoalRows(VectorExpression(turned), None if body is None else body[3:6], columns)


class PointingGoal(_LinkGoal):
    """An axis of a link shall point at a place: a camera looks at a thing, a finger along a direction.

    Args:
        link: The path of the link.
        at: (3,) a point, in the frame of the model or of the link `in_frame`; or the path of another link.
        along: (3,) a direction, in place of a point.
        axis: (3,) of the link, in its own frame: a camera's optical axis is z.
        in_frame: The path of a link that point or direction are seen from.
        name: In reports; made of the paths, if left out.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal; the value is an angle in rad.
    """

    _usual_tolerance = 1e-3

    def __init__(
        self,
        link: str,
        *,
        at: Any = None,
        along: Any = None,
        axis: Any = (0.0, 0.0, 1.0),
        in_frame: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(link, in_frame, name, **options)
        self._axis = _three(axis, "An axis")
        length = float(np.linalg.norm(self._axis))
        if length == 0.0:
            raise InvalidArgument("The axis of a pointing goal has a direction: three numbers, not all zero.", axis)
        self._axis /= length
        if (at is None) == (along is None):
            raise InvalidArgument("A pointing goal points at= a place or along= a direction: give one of them.", at)
        self._is_direction = at is None
        self._at_link = at if isinstance(at, str) else None
        self._variables = self._set_parameters("target", np.zeros(0 if self._at_link is not None else 3))
        if self._at_link is None:
            self.target = along if at is None else at

    @property
    def target(self) -> Array | str:
        """What it points at; a place can be set anew at any time."""
        return self.parameters.copy() if self._at_link is None else self._at_link

    @target.setter
    def target(self, target: Any) -> None:
        if self._at_link is not None:
            raise InvalidArgument(f"This goal points at the link '{self._at_link}'. Make another goal.", target)
        self.parameters[:] = _three(target, "A target")

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """Two rows across the axis: the angle that is missing, by its direction.

        They are those of e = 2 tan(angle / 2), whose derivative nowhere vanishes, divided by how fast e grows there.
        """
        found = self._pose(model, controls)
        if self._at_link is not None:
            place = controls.along(model.pose(self._at_link, in_frame=self.in_frame)).translation
        else:
            place = PointExpression(*self._variables)
        towards = DirectionExpression.of(place) if self._is_direction else place - found.translation
        seen = found.rotation.inverse() @ towards
        ahead = seen / seen.norm()
        first, second = _across(self._axis)
        cosine = ahead.dot(self._axis)
        half = (1.0 + _TINY + cosine) / 2.0
        grown = controls.along(stack([ahead.dot(first) / half, ahead.dot(second) / half]))
        columns = controls.columns(grown)
        jacobian = grown.jacobian([controls[j] for j in columns]) * half if columns else None
        # exactly behind, no side is nearer than another: one is chosen
        one = ahead.dot(first) + if_else(less(cosine, _BEHIND), 1e-3, 0.0)
        sine = norm(stack([one, ahead.dot(second), _TINY]))
        angle = atan2(sine, cosine) / sine
        return GoalRows(stack([one * angle, ahead.dot(second) * angle]), jacobian, columns)


class JointGoal(Goal):
    """One position of the model shall have a value, or be in an interval.

    Args:
        variable: Its name.
        target: A number, or two: the ends of the interval, which may be infinite.
        name: In reports.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
    """

    def __init__(self, variable: VariableLike, target: Any, *, name: str | None = None, **options: Any) -> None:
        self.variable = as_variable(variable)
        super().__init__(name or f"position of {self.variable}", **options)
        self.target = target

    @property
    def target(self) -> tuple[float, float]:
        """The ends of the interval that is wanted; it can be set anew at any time."""
        lower, upper = self.parameters.tolist()
        return lower, upper

    @target.setter
    def target(self, target: Any) -> None:
        ends = np.broadcast_to(np.asarray(target, dtype=np.float64), (2,)).copy()
        if np.isnan(ends).any() or ends[0] > ends[1] or ends[0] == math.inf or ends[1] == -math.inf:
            raise InvalidArgument(f"The target of a joint is a number, or an interval of two, got {target!r}.", target)
        self.parameters = ends

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """One row: the position."""
        del model
        value = controls.along(stack([self.variable.expression]))
        columns = controls.columns(value)
        jacobian = value.jacobian([controls[j] for j in columns]) if columns else None
        self.parameter_variables = (position(f"goal {id(self)} lower"), position(f"goal {id(self)} upper"))
        lower, upper = (stack([one.expression]) for one in self.parameter_variables)
        return GoalRows(value, jacobian, columns, lower=lower, upper=upper)


class PostureGoal(Goal):
    """Joints shall be where they usually are, as far as other goals let them: it is never in the way of `run`.

    Args:
        configuration: By name, the positions that are preferred.
        weight: Small against that of other goals.
        name: In reports.
        options: `gain` and `speed_limit`, as for every goal.
    """

    _usual_tolerance = math.inf

    def __init__(
        self, configuration: Mapping[Any, float], *, weight: float = 1e-2, name: str = "posture", **options: Any
    ) -> None:
        super().__init__(name, weight=weight, **options)
        self.configuration = {as_variable(key): float(value) for key, value in configuration.items()}
        if not self.configuration or not all(map(math.isfinite, self.configuration.values())):
            raise InvalidArgument("A posture is finite positions of joints, by name.", configuration)

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """A row for each joint."""
        del model
        value = controls.along(stack([one.expression for one in self.configuration]))
        columns = controls.columns(value)
        jacobian = value.jacobian([controls[j] for j in columns]) if columns else None
        wanted = np.array(list(self.configuration.values()))
        parts = [slice(i, i + 1) for i in range(len(wanted))]
        return GoalRows(value, jacobian, columns, lower=wanted, upper=wanted, parts=parts)


class ExpressionGoal(Goal):
    """Any expression of the model shall be in an interval: a distance, a flow, the value of a condition.

    Args:
        expression: Of positions of the model. Its gradient is followed, also where that is no derivative.
        target: A number, or the two ends of an interval; numbers, or expressions of positions.
        name: In reports.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
    """

    def __init__(self, expression: Any, target: Any, *, name: str | None = None, **options: Any) -> None:
        self.expression = expression if isinstance(expression, Expression) else Expression(expression)
        ends = target if isinstance(target, tuple) else (target, target)
        self.lower, self.upper = (end if isinstance(end, Expression) else Expression(end) for end in ends)
        text = str(self.expression)
        super().__init__(name or (text if len(text) <= 60 else text[:57] + "..."), **options)  # noqa: PLR2004

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """One row: the expression."""
        del model
        value = controls.along(stack([self.expression]))
        columns = controls.columns(value)
        jacobian = value.jacobian([controls[j] for j in columns]) if columns else None
        return GoalRows(value, jacobian, columns, lower=stack([self.lower]), upper=stack([self.upper]))


class FunctionGoal(Goal):
    """A quantity that is measured in every step shall be in an interval: distances between meshes, for example.

    Args:
        function: Called with the configuration; returns values (k,) and their gradients (k, n), a column for each
            control of the controller.
        count: k.
        target: A number, or the two ends of an interval.
        name: In reports.
        options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
    """

    def __init__(
        self,
        function: Callable[[Mapping[Any, float]], tuple[Any, Any]],
        target: Any,
        *,
        count: int = 1,
        name: str,
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self._function, self._count = function, count
        self._ends = np.broadcast_to(np.asarray(target, dtype=np.float64), (2,)).copy()

    def rows(self, model: ArticulationModel, controls: Controls) -> GoalRows:
        """Rows of zeros, which `measure` replaces."""
        del model, controls
        zeros = VectorExpression([0.0] * self._count)
        lower, upper = (np.full(self._count, end) for end in self._ends)
        return GoalRows(zeros, None, (), lower=lower, upper=upper, parts=[slice(i, i + 1) for i in range(self._count)])

    def measure(self, configuration: Mapping[Any, float]) -> tuple[Array, Array]:
        """Return what the function says."""
        values, gradients = self._function(configuration)
        found = np.asarray(values, dtype=np.float64).reshape(-1)
        if len(found) != self._count:
            raise InvalidArgument(
                f"The goal '{self.name}' has {self._count} values, and {len(found)} were given.", found
            )
        return found, np.asarray(gradients, dtype=np.float64).reshape(self._count, -1)


def _as_transform(target: Any) -> Transform:
    if not isinstance(target, Transform):
        raise InvalidArgument(f"The target of a pose is a Transform in the frame of the model, got {target!r}.", target)
    return target


def _three(value: Any, what: str) -> Array:
    found = np.array(value, dtype=np.float64)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InvalidArgument(f"{what} is three finite numbers, got {value!r}.", value)
    return found


def _axis_number(axis: str) -> int:
    if axis not in {"x", "y", "z"}:
        raise InvalidArgument(f"axes are named by the letters x, y and z, got {axis!r}.", axis)
    return "xyz".index(axis)


def _pose_of(variables: Sequence[Variable]) -> PoseExpression:
    return pose(rotation_from_quaternion(*variables[3:]), variables[:3])


def _across(axis: Array) -> tuple[Array, Array]:
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)
