"""What of a model can be commanded, where that leads in a step, and the constraints as arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Transform, errors
from armillary.articulation import (
    ArticulationModel,
    BallJoint,
    Constraint,
    ContinuousJoint,
    CylindricalJoint,
    DifferentialDrive,
    ExpressionJoint,
    FloatingJoint,
    Limits,
    OmniBase,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    SetValue,
    UniversalJoint,
    acceleration,
    greater,
    logical_and,
    position,
    rotation_about,
    sin,
    translation,
    velocity,
)
from armillary.articulation.mechanisms import four_bar
from unit.articulation.model_kit import door, moved

KINDS = {
    "revolute": RevoluteJoint(variable="t/q", axis=(0.3, 0.4, -0.5)),
    "continuous": ContinuousJoint(variable="t/q", axis=(0.0, 1.0, 0.0)),
    "prismatic": PrismaticJoint(variable="t/q", axis=(0.3, 0.4, -0.5)),
    "screw": ScrewJoint(variable="t/q", axis=(0.0, 0.0, 1.0), pitch_m=0.2),
    "follower": RevoluteJoint(variable="t/q", axis=(1.0, 0.0, 0.0), multiplier=-2.0, offset=0.3),
    "cylindrical": CylindricalJoint(variable="t/c", axis=(1.0, 1.0, 0.0)),
    "universal": UniversalJoint(variable="t/u"),
    "planar": PlanarJoint(variable="t/p", axis=(1.0, 0.0, 1.0)),
    "omni": OmniBase(variable="t/o"),
    "wheels": DifferentialDrive(variable="t/d", wheel_radius_m=0.1, wheel_distance_m=0.5),
    "ball": BallJoint(variable="t/b"),
    "floating": FloatingJoint(variable="t/f"),
    "expression": ExpressionJoint(
        expression=translation(sin(position("t/e")), 0.0, position("t/e") * position("t/e"))
        @ rotation_about((0, 0, 1), position("t/e"))
    ),
}


def one_joint(joint) -> ArticulationModel:
    """A link on a joint, between two fixed offsets."""
    model = ArticulationModel()
    model.add("t/links/base")
    model.add("t/links/moved", joint, parent="t/links/base")
    model.add("t/links/tip", None, parent="t/links/moved")
    return model


def somewhere(model: ArticulationModel, seed: int = 0) -> dict[str, float]:
    """Random positions, quaternions of length one."""
    rng = np.random.default_rng(seed)
    names = [variable.name for variable in model.variables()]
    found = dict(zip(names, rng.uniform(-0.8, 0.8, len(names)).tolist(), strict=True))
    parts = [name for name in names if name.rsplit("/")[-1] in {"qw", "qx", "qy", "qz"}]
    length = math.hypot(*(found[name] for name in parts)) if parts else 1.0
    return found | {name: found[name] / length for name in parts}


def twist_by_differences(model: ArticulationModel, link: str, values: dict[str, float], control: str, step=1e-6):
    """The body twist for one metre or radian a second, by moving a little forwards and backwards."""
    ahead, behind = (model.pose(link).evaluate(model.integrate(values, {control: s}, dt_s=step)) for s in (1.0, -1.0))
    return np.asarray((behind.inverse() @ ahead).log()) / (2.0 * step)


class TestTheControlsOfAModel:
    def test_are_the_velocities_of_joints_that_follow_nothing(self):
        assert [str(one) for one in door().controls()] == ["door/hinge'", "door/latch'"]

    def test_are_wheels_in_place_of_the_pose_of_the_base(self):
        names = [one.name for one in one_joint(KINDS["wheels"]).controls()]
        assert names == ["t/d/left_wheel", "t/d/right_wheel"]

    def test_are_six_of_a_floating_joint(self):
        names = [one.name for one in one_joint(KINDS["floating"]).controls()]
        assert names == ["t/f/x", "t/f/y", "t/f/z", "t/f/turn_x", "t/f/turn_y", "t/f/turn_z"]

    def test_are_none_that_follow_from_a_kinematic_loop(self):
        model = ArticulationModel()
        model.edit(four_bar("bars"))
        assert [one.name for one in model.controls()] == ["bars/crank"]

    def test_are_those_of_one_object_by_its_name(self):
        model = door("one")
        model.load_urdf("<robot name='two'><link name='a'/></robot>", name="two")
        assert [one.name for one in model.controls("one")] == ["one/hinge", "one/latch"]
        assert model.controls("two") == ()

    def test_contain_velocities_that_only_a_constraint_bounds(self):
        model = ArticulationModel()
        model.apply(SetValue("lock/b", Constraint(-1.0, 1.0, velocity("lock/b"))), tag="b")
        assert model.controls() == (velocity("lock/b"),)


class TestAStep:
    @pytest.mark.parametrize("kind", KINDS)
    def test_moves_every_joint_as_its_jacobian_says(self, kind):
        model = one_joint(KINDS[kind])
        controls = model.along_controls(model.controls())
        for seed in range(5):
            values = somewhere(model, seed)
            jacobian = controls.along(model.pose("t/links/tip")).body_jacobian(list(controls)).evaluate(values)
            for column, control in enumerate(controls):
                twist = twist_by_differences(model, "t/links/tip", values, control.name)
                assert np.abs(jacobian[:, column] - twist).max() < 1e-8

    def test_keeps_the_length_of_quaternions_and_their_sign(self):
        model = one_joint(KINDS["ball"])
        values = {"t/b/qw": -1.0, "t/b/qx": 0.0, "t/b/qy": 0.0, "t/b/qz": 0.0}
        for _ in range(100):
            values = model.integrate(values, {"t/b/turn_x": 1.0, "t/b/turn_y": 2.0}, dt_s=0.01)
        assert math.hypot(*values.values()) == pytest.approx(1.0, abs=1e-12)
        assert values["t/b/qw"] < 0.0

    def test_of_wheels_is_an_exact_arc(self):
        model = one_joint(KINDS["wheels"])
        begin = {"t/d/x": 0.0, "t/d/y": 0.0, "t/d/yaw": 0.0}
        speeds = {"t/d/left_wheel": 9.0, "t/d/right_wheel": 11.0}  # a circle of radius 2.5 m, at 1 m/s
        values = model.integrate(begin, speeds, dt_s=3.0)
        assert values["t/d/x"] == pytest.approx(2.5 * math.sin(1.2), abs=1e-12)
        assert values["t/d/y"] == pytest.approx(2.5 * (1.0 - math.cos(1.2)), abs=1e-12)

    def test_closes_kinematic_loops(self):
        model = ArticulationModel()
        model.edit(four_bar("bars"))
        begin = {variable.name: value for variable, value in model.solve({position("bars/crank"): 0.5}).items()}
        values = model.integrate(begin, {"bars/crank": 1.0}, dt_s=0.1)
        assert values["bars/crank"] == pytest.approx(0.6)
        assert not model.violations(values, tolerance=1e-9)

    def test_leaves_what_is_not_commanded(self):
        assert door().integrate({"door/hinge": 0.1, "door/latch": 0.2}, {}, dt_s=1.0) == {
            "door/hinge": 0.1,
            "door/latch": 0.2,
        }

    def test_takes_variables_as_it_takes_names(self):
        hinge, latch = position("door/hinge"), position("door/latch")
        values = door().integrate({hinge: 0.1, latch: 0.2}, {hinge.velocity: 1.0}, dt_s=0.5)
        assert values["door/hinge"] == pytest.approx(0.6)

    def test_refuses_what_it_cannot_do(self):
        model, here = door(), {"door/hinge": 0.1, "door/latch": 0.2}
        with pytest.raises(errors.UnknownControl, match="Did you mean 'door/hinge'"):
            model.integrate(here, {"door/hing": 1.0}, dt_s=0.1)
        with pytest.raises(errors.UnknownControl, match="joints that follow others"):
            model.integrate(here, {"door/push": 1.0}, dt_s=0.1)
        with pytest.raises(errors.NotFinite, match="'door/latch' is nan"):
            model.integrate(here | {"door/latch": math.nan}, {}, dt_s=0.1)
        with pytest.raises(errors.NotFinite, match="The speeds: 'door/hinge' is inf"):
            model.integrate(here, {"door/hinge": math.inf}, dt_s=0.1)
        with pytest.raises(errors.NotGrounded, match="door/latch"):
            model.integrate({"door/hinge": 0.1}, {}, dt_s=0.1)
        with pytest.raises(errors.InvalidArgument, match="positive number of seconds"):
            model.integrate(here, {}, dt_s=0.0)

    def test_follows_an_edit_of_the_model(self):
        model = one_joint(KINDS["prismatic"])
        model.integrate({"t/q": 0.0}, {"t/q": 1.0}, dt_s=1.0)
        model.add("t/links/more", PrismaticJoint(variable="t/more"), parent="t/links/tip")
        assert model.integrate({"t/q": 0.0, "t/more": 0.0}, {"t/more": 1.0}, dt_s=1.0) == {"t/q": 0.0, "t/more": 1.0}


class TestAConstraintSet:
    def test_has_position_limits_as_rates_until_the_next_step(self):
        rows = door().constraint_set(["door/hinge"], dt_s=0.1).evaluate({"door/hinge": 1.0, "door/latch": 0.0})
        lower, row, upper = rows.row("door/joints/hinge/constraints/position")
        assert (lower, row.tolist(), upper) == (pytest.approx(-10.0), [1.0], pytest.approx(5.0))
        assert rows.row("door/joints/hinge/constraints/velocity")[2] == 2.0

    def test_has_the_limits_of_followers_along_their_leader(self):
        rows = door().constraint_set(["door/latch"], dt_s=0.1).evaluate({"door/hinge": 0.0, "door/latch": 0.0})
        lower, row, upper = rows.row("door/joints/push/constraints/position")
        assert (lower, row.tolist(), upper) == (pytest.approx(-1.2), [-0.1], pytest.approx(0.8))

    def test_says_the_same_as_the_velocity_form_of_each_constraint(self):
        model = door()
        controls, here = model.controls(), {"door/hinge": 0.7, "door/latch": 0.3}
        rows = model.constraint_set(controls, dt_s=0.05).evaluate(here)
        for name, one in model.constraints().items():
            form = one.velocity_form(0.05)
            lower, row, upper = rows.row(name)
            assert lower == pytest.approx(form.lower.evaluate(here))
            assert upper == pytest.approx(form.upper.evaluate(here))
            assert form.expression.evaluate({**here, "door/hinge'": 2.0, "door/latch'": -3.0}) == pytest.approx(
                row @ [2.0, -3.0]
            )

    def test_keeps_infinite_bounds(self):
        model = one_joint(KINDS["prismatic"])
        model.apply(SetValue("t/above", Constraint(0.0, math.inf, position("t/q"))), tag="above")
        rows = model.constraint_set(model.controls(), dt_s=0.1).evaluate({"t/q": 0.5})
        assert rows.upper.tolist() == [math.inf]

    def test_has_conditions_with_their_guidance(self):
        model = one_joint(KINDS["prismatic"])
        key, bolt = position("t/key"), velocity("t/q")
        for name in ("key", "other"):
            model.apply(SetValue(f"t/{name}_speed", Constraint(-1.0, 1.0, velocity(f"t/{name}"))), tag=name)
        free = logical_and(greater(key, 0.4), greater(position("t/other"), 0.2))
        model.apply(SetValue("t/lock", Constraint(-0.1, 0.1 * free, bolt)), tag="lock")
        rows = model.constraint_set(model.controls(), dt_s=0.1).evaluate({"t/q": 0.0, "t/key": 0.0, "t/other": 0.3})
        place = rows.names.index("t/lock")
        assert rows.conditional == (place,)
        assert (rows.lower[place], rows.upper[place]) == (-0.1, 0.0)
        assert rows.upper_guidance.tolist() == [[0.0, 0.1, 0.1]]
        assert not rows.lower_guidance.any()

    def test_leads_walls_to_the_wheels_and_to_the_drivers_of_loops(self):
        model = one_joint(KINDS["wheels"])
        model.apply(SetValue("t/wall", Constraint(-math.inf, 1.0, position("t/d/x"))), tag="wall")
        model.apply(SetValue("t/turning", Constraint(-1.0, 1.0, velocity("t/d/yaw"))), tag="turning")
        rows = model.constraint_set(model.controls(), dt_s=0.1).evaluate({"t/d/x": 0.0, "t/d/y": 0.0, "t/d/yaw": 0.0})
        assert rows.row("t/wall")[1].tolist() == pytest.approx([0.05, 0.05])
        assert rows.row("t/turning")[1].tolist() == pytest.approx([-0.2, 0.2])
        bars = ArticulationModel()
        bars.edit(four_bar("bars"))
        bars.apply(SetValue("bars/slow", Constraint(-1.0, 1.0, velocity("bars/rocker"))), tag="slow")
        here = bars.solve({position("bars/crank"): 1.0})
        row = bars.constraint_set(bars.controls(), dt_s=0.1).evaluate(here).row("bars/slow")[1]
        after = bars.integrate(here, {"bars/crank": 1.0}, dt_s=1e-6)["bars/rocker"]
        assert row[0] == pytest.approx((after - here[position("bars/rocker")]) / 1e-6, abs=1e-5)

    def test_has_a_polygon_inside_a_circle_of_speeds(self):
        model = one_joint(OmniBase(variable="t/o", speed_limit_m_s=0.5, turn_limit_rad_s=1.0))
        rows = model.constraint_set(model.controls(), dt_s=0.1).evaluate(somewhere(model))
        reach = []
        for angle in np.linspace(0.0, math.tau, 720):
            rates = np.abs(rows.matrix @ [math.cos(angle), math.sin(angle), 0.0])
            reach.append(np.min(rows.upper[rates > 1e-12] / rates[rates > 1e-12]))
        assert 0.48 < min(reach) < max(reach) <= 0.5 + 1e-12

    def test_names_what_it_cannot_keep(self):
        model = one_joint(KINDS["prismatic"])
        model.apply(SetValue("t/jolt", Constraint(-1.0, 1.0, acceleration("t/q"))), tag="jolt")
        q, v = position("t/q"), velocity("t/q")
        model.apply(SetValue("t/strange", Constraint(-1.0, 1.0, q * v * v)), tag="strange")
        ignored = model.constraint_set(model.controls(), dt_s=0.1).ignored
        assert set(ignored) == {"t/jolt", "t/strange"}
        assert "acceleration" in ignored["t/jolt"]

    def test_refuses_numbers_and_controls_that_are_none(self):
        model = door()
        with pytest.raises(errors.UnknownControl, match="Did you mean"):
            model.constraint_set(["door/hinges"], dt_s=0.1)
        with pytest.raises(errors.InvalidArgument, match="given twice"):
            model.constraint_set(["door/hinge", "door/hinge"], dt_s=0.1)
        with pytest.raises(errors.InvalidArgument, match="No controls"):
            model.constraint_set([], dt_s=0.1)
        made = model.constraint_set(model.controls(), dt_s=0.1)
        with pytest.raises(errors.NotFinite, match="'door/hinge' is nan"):
            made.evaluate({"door/hinge": math.nan, "door/latch": 0.0})
        with pytest.raises(errors.NotGrounded):
            made.evaluate({"door/hinge": 0.0})


class TestWhatFollows:
    def test_of_a_link_on_a_moved_base_is_differentiated_as_a_whole(self):
        model = one_joint(KINDS["wheels"])
        arm = RevoluteJoint(variable="t/arm", axis=(0.0, 0.0, 1.0), limits=Limits(lower=-1.0, upper=1.0))
        model.add("t/links/arm", arm, parent="t/links/tip")
        held = FloatingJoint(variable="t/held", parent_T_joint=moved(x=0.5))
        model.add("t/links/held", held, parent="t/links/arm")
        controls = model.along_controls(model.controls())
        values = somewhere(model, 3)
        jacobian = controls.along(model.pose("t/links/held")).body_jacobian(list(controls)).evaluate(values)
        for column, control in enumerate(controls):
            twist = twist_by_differences(model, "t/links/held", values, control.name)
            assert np.abs(jacobian[:, column] - twist).max() < 1e-8
        assert isinstance(model.pose("t/links/held").evaluate(values), Transform)
