"""Goals: their values, and their Jacobians against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Transform, errors
from armillary.articulation import ArticulationModel, greater, position, sin
from armillary.motion import (
    Controller,
    ExpressionGoal,
    FunctionGoal,
    JointGoal,
    OrientationGoal,
    PointingGoal,
    PoseGoal,
    PositionGoal,
    PostureGoal,
)
from unit.motion.motion_kit import arm, bent, floating

TOOL = "arm/links/tool"
TARGET = Transform.from_xyz_rpy(xyz=(0.8, 0.3, 0.4), rpy=(0.5, -0.4, 1.0))
GOALS = {
    "pose": lambda: PoseGoal(TOOL, TARGET, angular_weight=0.5),
    "pose in a link": lambda: PoseGoal(TOOL, TARGET, in_frame="desk/links/drawer"),
    "position": lambda: PositionGoal(TOOL, (0.8, 0.3, 0.4), point=(0.1, 0.0, 0.2)),
    "position in a link": lambda: PositionGoal(TOOL, (0.1, 0.3, 0.4), in_frame="desk/links/drawer", axes="xz"),
    "orientation": lambda: OrientationGoal(TOOL, TARGET.rotation),
    "pointing at a place": lambda: PointingGoal(TOOL, at=(3.0, 1.0, 0.5)),
    "pointing at a link": lambda: PointingGoal(TOOL, at="desk/links/drawer", axis=(1.0, 0.5, 0.0)),
    "pointing along": lambda: PointingGoal(TOOL, along=(1.0, 0.0, 0.2), axis=(1.0, 0.0, 0.0)),
    "joint": lambda: JointGoal("arm/two", (0.1, 0.2)),
    "posture": lambda: PostureGoal({"arm/one": 0.3, "arm/four": 0.1}),
    "expression": lambda: ExpressionGoal(sin(position("arm/one")) * position("desk/drawer"), 0.3),
}
BY_TWIST = {"pose", "pose in a link", "orientation"}
BY_ANGLE = {kind for kind in GOALS if kind.startswith("pointing")}
"""Rows of both are angular velocities: they are the derivative of what is missing only where nothing is missing."""


def rows_at(goal, model: ArticulationModel, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """The value of a goal and its Jacobian along all controls."""
    controls = model.along_controls(model.controls())
    rows = goal.rows(model, controls)
    numbers = {**values, **{v.name: x for v, x in zip(goal.parameter_variables, goal.parameters, strict=True)}}
    jacobian = np.zeros((rows.count, len(controls)))
    if rows.jacobian is not None:
        jacobian[:, rows.columns] = rows.jacobian.evaluate(numbers)
    return rows.value.evaluate(numbers), jacobian


class TestTheJacobianOfAGoal:
    @pytest.mark.parametrize("on_wheels", [False, True])
    @pytest.mark.parametrize("kind", sorted(GOALS.keys() - BY_TWIST - BY_ANGLE))
    def test_is_the_derivative_of_its_value(self, kind, on_wheels):
        model, goal, step = arm(on_wheels=on_wheels), GOALS[kind](), 1e-6
        values = bent(model)
        _, jacobian = rows_at(goal, model, values)
        for column, control in enumerate(model.controls()):
            ahead, behind = (
                rows_at(goal, model, model.integrate(values, {control: s}, dt_s=step))[0] for s in (1.0, -1.0)
            )
            assert np.abs(jacobian[:, column] - (ahead - behind) / (2 * step)).max() < 1e-7

    @pytest.mark.parametrize("kind", sorted(BY_TWIST))
    def test_of_a_rotation_is_the_derivative_where_nothing_is_missing(self, kind):
        model, step = arm(on_wheels=True), 1e-6
        values = bent(model)
        goal = GOALS[kind]()
        here = model.pose(TOOL, in_frame=goal.in_frame).evaluate(values)
        goal.target = here if kind.startswith("pose") else here.rotation
        value, jacobian = rows_at(goal, model, values)
        assert np.abs(value).max() < 1e-12
        for column, control in enumerate(model.controls()):
            ahead, behind = (
                rows_at(goal, model, model.integrate(values, {control: s}, dt_s=step))[0] for s in (1.0, -1.0)
            )
            assert np.abs(jacobian[:, column] - (ahead - behind) / (2 * step)).max() < 1e-7

    @pytest.mark.parametrize("kind", sorted(BY_ANGLE))
    def test_of_pointing_makes_the_angle_smaller_by_what_it_says(self, kind):
        model, goal, step = arm(on_wheels=True), GOALS[kind](), 1e-6
        values = bent(model)
        value, jacobian = rows_at(goal, model, values)
        towards = value / np.linalg.norm(value)
        for column, control in enumerate(model.controls()):
            ahead, behind = (
                np.linalg.norm(rows_at(goal, model, model.integrate(values, {control: s}, dt_s=step))[0])
                for s in (1.0, -1.0)
            )
            assert towards @ jacobian[:, column] == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)

    def test_of_a_rotation_is_exact_for_the_whole_way(self):
        model, goal = floating(), PoseGoal("body/links/body", TARGET)
        values = {variable.name: 0.0 for variable in model.variables()} | {"body/free/qw": 1.0}
        value, jacobian = rows_at(goal, model, values)
        speeds = dict(zip(model.controls(), np.linalg.solve(jacobian, -value), strict=True))
        reached = model.pose("body/links/body").evaluate(model.integrate(values, speeds, dt_s=1.0))
        assert np.abs(np.asarray((TARGET.inverse() @ reached).log())).max() < 1e-12


class TestAGoal:
    @pytest.mark.parametrize("kind", sorted(GOALS))
    def test_is_met_by_a_controller_that_has_it_alone(self, kind):
        model, goal = arm(), GOALS[kind]()
        begin = bent(model) | {"desk/drawer": 0.2}
        if kind in BY_TWIST:  # a pose that can be reached
            there = model.pose(TOOL, in_frame=goal.in_frame).evaluate({n: v + 0.3 for n, v in begin.items()})
            goal.target = there if kind.startswith("pose") else there.rotation
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(goal)
        reached = controller.run(begin, unmet="raise", max_steps=300)
        assert controller.errors(reached)[goal.name] <= goal.tolerance

    def test_of_pointing_leaves_the_opposite_direction(self):
        model = floating()
        begin = {variable.name: 0.0 for variable in model.variables()} | {"body/free/qw": 1.0}
        controller = Controller(model, controls=model.controls()[3:], dt_s=0.1)
        controller.add(PointingGoal("body/links/body", along=(0.0, 0.0, -1.0)))
        reached = controller.run(begin, unmet="raise")
        axis = np.asarray(model.pose("body/links/body").evaluate(reached).rotation.matrix)[:, 2]
        assert axis[2] == pytest.approx(-1.0, abs=1e-5)

    def test_of_a_rotation_by_half_a_turn_is_met(self):
        model = floating()
        begin = {variable.name: 0.0 for variable in model.variables()} | {"body/free/qw": 1.0}
        half = Transform.from_xyz_rpy(xyz=(0.1, 0.2, 0.3), rpy=(math.pi, 0.0, 0.0))
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(PoseGoal("body/links/body", half, gain=0.5))
        reached = controller.run(begin, unmet="raise")
        assert model.pose("body/links/body").evaluate(reached).is_close(half, m=1e-3, rad=1e-3)

    def test_of_a_condition_follows_its_guidance(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(ExpressionGoal(greater(position("desk/drawer"), 0.3), (0.6, 1.0)))
        reached = controller.run(bent(model), unmet="raise")
        assert 0.3 < reached["desk/drawer"] < 0.36

    def test_is_not_faster_than_its_speed_limit(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.4, speed_limit=0.2))
        assert controller.step(bent(model)).velocities["desk/drawer"] == pytest.approx(0.2, rel=1e-3)

    def test_within_its_interval_asks_for_nothing(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", (0.1, 0.3)))
        assert controller.step(bent(model) | {"desk/drawer": 0.2}).velocities["desk/drawer"] == pytest.approx(0.0)

    def test_of_a_function_uses_what_it_measures(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer", "arm/one"], dt_s=0.1)

        def distance(values):
            return [1.0 - values["desk/drawer"]], [[-1.0, 0.0]]

        controller.add(FunctionGoal(distance, (0.7, 0.8), name="distance to the wall"))
        reached = controller.run(bent(model), unmet="raise")
        assert reached["desk/drawer"] == pytest.approx(0.2, abs=1e-3)

    def test_gets_another_target_without_being_compiled_again(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        goal = controller.add(PositionGoal(TOOL, (1.2, 0.1, 0.1)))
        first = controller.run(bent(model), unmet="raise")
        compiled = controller.constraints
        goal.target = (0.9, 0.4, 0.2)
        second = controller.run(first, unmet="raise")
        assert controller.constraints is compiled
        assert model.pose(TOOL).evaluate(second).translation == pytest.approx([0.9, 0.4, 0.2], abs=1e-3)


class TestAGoalThatCannotBe:
    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: PoseGoal(TOOL, (1, 2, 3)), "is a Transform"),
            (lambda: PositionGoal(TOOL, (1, 2)), "three finite numbers"),
            (lambda: PositionGoal(TOOL, (1, 2, math.nan)), "three finite numbers"),
            (lambda: PositionGoal(TOOL, (1, 2, 3), axes="xw"), "letters x, y and z"),
            (lambda: OrientationGoal(TOOL, (0, 0, 1)), "is a Rotation"),
            (lambda: PointingGoal(TOOL), "give one of them"),
            (lambda: PointingGoal(TOOL, at=(1, 0, 0), along=(1, 0, 0)), "give one of them"),
            (lambda: PointingGoal(TOOL, at=(1, 0, 0), axis=(0, 0, 0)), "has a direction"),
            (lambda: JointGoal("arm/one", (1.0, 0.0)), "an interval of two"),
            (lambda: JointGoal("arm/one", math.nan), "an interval of two"),
            (lambda: PostureGoal({}), "finite positions"),
            (lambda: JointGoal("arm/one", 0.0, weight=-1.0), "weight of a goal"),
            (lambda: JointGoal("arm/one", 0.0, gain=0.0), "gain of a goal is a number above 0 and at most 1"),
            (lambda: JointGoal("arm/one", 0.0, speed_limit=math.nan), "speed_limit of a goal"),
        ],
    )
    def test_is_refused_when_it_is_made(self, make, says):
        with pytest.raises(errors.InvalidArgument, match=says):
            make()

    def test_is_refused_by_a_controller_whose_model_does_not_have_it(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        with pytest.raises(errors.UnknownPath, match="arm/links/tool"):
            controller.add(PositionGoal("arm/links/tol", (0, 0, 0)))
        with pytest.raises(errors.InvalidArgument, match=r"depends on arm/won, which this model does not have"):
            controller.add(JointGoal("arm/won", 0.0))
        assert controller.goals == ()
