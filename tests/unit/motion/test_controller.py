"""A controller: limits kept, goals weighed, contradictions named, nothing but finite numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, errors, seconds
from armillary.articulation import (
    ArticulationModel,
    Constraint,
    Limits,
    OmniBase,
    PrismaticJoint,
    RevoluteJoint,
    SetValue,
    norm,
    position,
    velocity,
)
from armillary.articulation.mechanisms import four_bar
from armillary.motion import (
    Controller,
    ExpressionGoal,
    FunctionGoal,
    JointGoal,
    OrientationGoal,
    PoseGoal,
    PositionGoal,
    PostureGoal,
)
from unit.motion.motion_kit import arm, bent

TOOL = "arm/links/tool"


def reaching(model: ArticulationModel, **options) -> Controller:
    controller = Controller(model, controls=model.controls("arm"), dt_s=0.05, **options)
    controller.add(PositionGoal(TOOL, (0.9, 0.5, 0.4)))
    return controller


class TestAStep:
    def test_keeps_every_constraint_of_the_model(self):
        model = arm()
        controller, now = reaching(model), bent(model)
        for _ in range(60):
            step = controller.step(now)
            after = model.integrate(now, step.velocities, dt_s=0.05)
            speeds = {f"{name}'": value for name, value in step.velocities.items()}
            assert not model.violations({**after, **speeds}, tolerance=1e-7)
            now = after
        assert controller.is_met(now)

    @given(seed=st.integers(0, 10_000))
    def test_keeps_them_from_anywhere_towards_anywhere(self, seed):
        rng = np.random.default_rng(seed)
        model = MODEL
        now = dict(zip(bent(model), rng.uniform(-2.0, 2.0, len(bent(model))).tolist(), strict=True)) | {
            "desk/drawer": 0.1
        }
        GOAL.target = rng.uniform(-2.0, 2.0, 3)
        after = model.integrate(now, CONTROLLER.step(now).velocities, dt_s=0.05)
        assert not model.violations(after, tolerance=1e-7)

    def test_reports_what_it_misses_as_slack(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.4, name="open"))
        step = controller.step(bent(model))
        assert step.slack["open"] == pytest.approx([4.0 - 0.5])  # wanted 0.4 m in 0.1 s, 0.5 m/s allowed
        assert step.errors == {"open": pytest.approx(0.4)}

    def test_moves_the_base_and_the_arm_and_the_object_together(self):
        model = arm(on_wheels=True)
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(PositionGoal(TOOL, (0.0, 0.0, 0.2), in_frame="desk/links/drawer"))
        controller.add(JointGoal("desk/drawer", 0.3))
        reached = controller.run(bent(model), unmet="raise")
        tool, drawer = (model.pose(path).evaluate(reached) for path in (TOOL, "desk/links/drawer"))
        assert np.abs(tool.translation - drawer.translation - [0.0, 0.0, 0.2]).max() < 1e-3
        assert reached["desk/drawer"] == pytest.approx(0.3, abs=1e-3)

    def test_prefers_what_costs_less_effort(self):
        model = ArticulationModel()
        for name, parent in (("one", None), ("two", "t/links/one")):
            model.add(f"t/links/{name}", PrismaticJoint(variable=f"t/{name}"), parent=parent)
        controller = Controller(model, controls=model.controls(), dt_s=0.1, efforts={"t/one": 1.0, "t/two": 0.01})
        controller.add(PositionGoal("t/links/two", (0.1, 0.0, 0.0)))
        chosen = controller.step({"t/one": 0.0, "t/two": 0.0}).velocities
        assert chosen["t/two"] == pytest.approx(100.0 * chosen["t/one"], rel=1e-6)

    def test_weighs_goals_against_each_other(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1, efforts=1e-9)
        controller.add(JointGoal("desk/drawer", 0.04, weight=3.0, name="out"))
        controller.add(JointGoal("desk/drawer", 0.0, weight=1.0, name="in"))
        assert controller.step(bent(model)).velocities["desk/drawer"] == pytest.approx(0.3, rel=1e-6)

    def test_keeps_what_is_required_exactly(self):
        model = arm()
        controller = reaching(model)
        level = controller.require(OrientationGoal(TOOL, model.pose(TOOL).evaluate(bent(model)), name="level"))
        now = bent(model)
        for _ in range(20):
            step = controller.step(now)
            assert np.abs(step.slack["level"]).max() < 1e-6
            now = model.integrate(now, step.velocities, dt_s=0.05)
        assert controller.errors(now)[level.name] < 1e-2

    def test_keeps_required_intervals_and_moves_freely_within(self):
        model = arm()
        away = norm(model.pose(TOOL).translation - model.pose("desk/links/drawer").translation)
        controller = Controller(model, controls=model.controls("arm"), dt_s=0.05)
        controller.add(PositionGoal(TOOL, (0.7, 0.2, 0.1)))  # into the drawer
        controller.require(ExpressionGoal(away, (0.3, math.inf), name="distance to the drawer"))
        now = bent(model)
        least = math.inf
        for _ in range(100):
            now = model.integrate(now, controller.step(now).velocities, dt_s=0.05)
            least = min(least, away.evaluate(now))
        assert 0.29 < least < 0.31

    def test_leads_a_broken_interval_back(self):
        model = arm()
        away = norm(model.pose(TOOL).translation - model.pose("desk/links/drawer").translation)
        model.apply(SetValue("keep_off", Constraint(0.5, math.inf, away)), tag="keep off")
        controller = Controller(model, controls=model.controls("arm"), dt_s=0.05)
        near = Controller(arm(), controls=arm().controls("arm"), dt_s=0.05)
        near.add(PositionGoal(TOOL, (0.8, 0.2, 0.2)))
        now = near.run(bent(model), unmet="ignore")
        assert away.evaluate(now) < 0.3
        assert controller.step(now).recovering == ("keep_off",)
        for _ in range(60):
            now = model.integrate(now, controller.step(now).velocities, dt_s=0.05)
        assert away.evaluate(now) > 0.49

    def test_brings_a_joint_beyond_its_limits_back(self):
        model = arm()
        controller = reaching(model)
        now = bent(model) | {"arm/one": 2.4}
        for _ in range(10):
            now = model.integrate(now, controller.step(now).velocities, dt_s=0.05)
        assert now["arm/one"] <= 2.0 + 1e-9

    def test_keeps_the_speed_of_a_base(self):
        model = ArticulationModel()
        model.add("t/links/base", OmniBase(variable="t/base", speed_limit_m_s=0.5, turn_limit_rad_s=1.0))
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        goal = controller.add(PositionGoal("t/links/base", (0.0, 0.0, 0.0)))
        for angle in np.linspace(0.0, math.tau, 40):
            goal.target = (math.cos(angle), math.sin(angle), 0.0)
            chosen = controller.step({"t/base/x": 0.0, "t/base/y": 0.0, "t/base/yaw": 0.0}).velocities
            assert 0.48 < math.hypot(chosen["t/base/x"], chosen["t/base/y"]) <= 0.5 + 1e-9

    def test_turns_the_driver_of_a_kinematic_loop(self):
        model = ArticulationModel()
        model.edit(four_bar("bars"))
        controller = Controller(model, controls=model.controls(), dt_s=0.05)
        controller.add(JointGoal("bars/rocker", 1.8, gain=0.5))
        begin = {variable.name: value for variable, value in model.solve({position("bars/crank"): 1.0}).items()}
        assert controller.run(begin, unmet="raise")["bars/rocker"] == pytest.approx(1.8, abs=1e-3)

    def test_follows_an_edit_of_the_model(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.4))
        controller.step(bent(model))
        model.apply(SetValue("slow", Constraint(-0.1, 0.1, velocity("desk/drawer"))), tag="slow")
        assert controller.step(bent(model)).velocities["desk/drawer"] == pytest.approx(0.1)


class TestARun:
    def test_returns_a_configuration_that_meets_the_goals(self):
        model = arm()
        reached = reaching(model).run(bent(model), unmet="raise")
        assert model.pose(TOOL).evaluate(reached).translation == pytest.approx([0.9, 0.5, 0.4], abs=1e-3)

    def test_of_goals_that_are_met_does_not_move(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.0))
        assert controller.run(bent(model)) == bent(model)

    def test_warns_of_what_is_out_of_reach_and_returns_what_is_closest(self):
        model = arm()
        controller = Controller(model, controls=model.controls("arm"), dt_s=0.1)
        controller.add(PositionGoal(TOOL, (5.0, 0.0, 0.0), name="far"))
        with pytest.warns(errors.GoalsUnmet, match=r"far \(3\.\d+ left\).* out of reach"):
            reached = controller.run(bent(model))
        assert controller.errors(reached)["far"] == pytest.approx(3.4, abs=0.05)  # the arm is 1.6 m long

    def test_raises_instead_where_that_is_wanted(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.6, name="too far"))
        with pytest.raises(errors.NotMet) as refused:
            controller.run(bent(model), unmet="raise")
        assert refused.value.errors == {"too far": pytest.approx(0.2)}
        assert refused.value.configuration["desk/drawer"] == pytest.approx(0.4)

    def test_ends_where_it_may_not_go_on(self):
        model = arm()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reaching(model).run(bent(model), max_steps=2)
        assert [one.category for one in caught] == [errors.GoalsUnmet]
        assert caught[0].message.steps == 2

    def test_is_not_held_up_by_a_posture(self):
        model = arm()
        controller = reaching(model)
        controller.add(PostureGoal({f"arm/{name}": 0.0 for name in ("one", "two", "three")}, weight=1e-4))
        assert controller.is_met(controller.run(bent(model), unmet="raise"))


class TestAMountedWorld:
    def test_is_read_at_its_newest_joints(self):
        model, world = arm(), World()
        mount = world.mount(model, in_frame="map")
        world.set_joints({mount.joints[name]: value for name, value in bent(model).items()}, at=seconds(1.0))
        world.set_joints({"desk/drawer": 0.2}, at=seconds(2.0))
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(JointGoal("desk/drawer", 0.21))
        assert controller.step(world).velocities["desk/drawer"] == pytest.approx(0.1, rel=1e-3)
        assert controller.run(world)["desk/drawer"] == pytest.approx(0.21, abs=1e-4)

    def test_without_the_model_is_refused(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        with pytest.raises(errors.InvalidArgument, match=r"not mounted in this world\. world\.mount"):
            controller.step(World())


class TestBadInput:
    def test_names_hard_goals_that_contradict_each_other(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.require(JointGoal("desk/drawer", 0.02, name="out"))
        controller.require(JointGoal("desk/drawer", 0.0, name="in"))
        controller.add(PositionGoal(TOOL, (0.9, 0.5, 0.4)))
        with pytest.raises(errors.InfeasibleMotion, match="contradict each other") as refused:
            controller.step(bent(model))
        assert set(refused.value.rows) == {"'out'", "'in'"}

    def test_names_a_hard_goal_and_the_limit_that_it_breaks(self):
        model = arm()
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        hurry = controller.require(JointGoal("desk/drawer", 0.4, name="at once"))
        with pytest.raises(errors.InfeasibleMotion) as refused:
            controller.step(bent(model))
        assert refused.value.bounds == {
            "the limits of 'desk/drawer'": (0.0, 0.5),
            "'at once'": (pytest.approx(4.0), pytest.approx(4.0)),
        }
        controller.remove(hurry)
        controller.step(bent(model))  # and goes on afterwards

    def test_names_constraints_of_the_model_that_contradict_each_other(self):
        model = arm()
        model.apply(SetValue("hurry", Constraint(0.7, 1.0, velocity("desk/drawer"))), tag="hurry")
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        with pytest.raises(errors.InfeasibleMotion, match=r"the limits of 'desk/drawer' in \[0\.7, 0\.5\]"):
            controller.step(bent(model))

    @pytest.mark.parametrize("wrong", [math.nan, math.inf])
    def test_that_is_not_finite_is_named_and_nothing_is_commanded(self, wrong):
        model = arm()
        controller = reaching(model)
        with pytest.raises(errors.NotFinite, match=r"'arm/two' is .*nothing was commanded"):
            controller.step(bent(model) | {"arm/two": wrong})
        assert all(map(math.isfinite, controller.step(bent(model)).velocities.values()))

    def test_names_a_goal_without_a_finite_derivative(self):
        model = ArticulationModel()
        model.add("t/links/one", OmniBase(variable="t/one"))
        controller = Controller(model, controls=model.controls(), dt_s=0.1)
        controller.add(ExpressionGoal(norm(model.pose("t/links/one").translation), 0.3, name="distance"))
        with pytest.raises(errors.NotFinite, match="'distance' is nan"):
            controller.step({"t/one/x": 0.0, "t/one/y": 0.0, "t/one/yaw": 0.0})

    def test_of_a_function_that_measures_nonsense_is_named(self):
        model = arm()
        controller = Controller(model, controls=["desk/drawer"], dt_s=0.1)
        controller.add(FunctionGoal(lambda _: ([math.nan], [[0.0]]), 0.0, name="distance"))
        with pytest.raises(errors.NotFinite, match="distance"):
            controller.step(bent(model))

    def test_is_refused_when_a_controller_is_made(self):
        model = arm()
        with pytest.raises(errors.UnknownControl, match="Did you mean 'arm/one'"):
            Controller(model, controls=["arm/on"], dt_s=0.1)
        with pytest.raises(errors.InvalidArgument, match="positive number of seconds"):
            Controller(model, controls=model.controls(), dt_s=-0.1)
        with pytest.raises(errors.InvalidArgument, match="costs nothing is not determined"):
            Controller(model, controls=model.controls(), dt_s=0.1, efforts=0.0)
        with pytest.raises(errors.UnknownControl):
            Controller(model, controls=model.controls(), dt_s=0.1, efforts={"arm/seven": 1.0})

    def test_is_refused_when_a_goal_is_given(self):
        controller = reaching(arm())
        with pytest.raises(errors.InvalidArgument, match="A goal is wanted"):
            controller.add(Transform.identity())
        with pytest.raises(errors.InvalidArgument, match="Give this one another name="):
            controller.add(PositionGoal(TOOL, (0.0, 0.0, 0.0)))
        with pytest.raises(errors.InvalidArgument, match="is no goal of this controller"):
            controller.remove(JointGoal("arm/one", 0.0))
        with pytest.raises(errors.InvalidArgument, match="unmet must be"):
            controller.run(bent(arm()), unmet="shrug")

    def test_of_a_configuration_that_lacks_a_position_names_it(self):
        model = arm()
        now = bent(model)
        del now["arm/three"]
        with pytest.raises(errors.NotGrounded, match="arm/three"):
            reaching(model).step(now)


class TestSingularConfigurations:
    def test_of_a_stretched_arm_give_finite_velocities_within_limits(self):
        model = arm()
        controller = Controller(model, controls=model.controls("arm"), dt_s=0.05)
        controller.add(PoseGoal(TOOL, Transform.from_translation((2.5, 0.0, 0.0))))
        chosen = controller.step(bent(model, 0.0)).velocities
        assert all(abs(value) <= 1.5 + 1e-9 for value in chosen.values())

    def test_of_two_parallel_axes_are_left(self):
        model = ArticulationModel()
        limits = Limits(lower=-3.0, upper=3.0, velocity=2.0, effort=1.0)
        for name, parent in (("one", None), ("two", "t/links/one")):
            place = Transform.from_translation((0.0 if parent is None else 1.0, 0.0, 0.0))
            joint = RevoluteJoint(variable=f"t/{name}", axis=(0.0, 0.0, 1.0), parent_T_joint=place, limits=limits)
            model.add(f"t/links/{name}", joint, parent=parent)
        controller = Controller(model, controls=model.controls(), dt_s=0.05)
        controller.add(PositionGoal("t/links/two", (0.6, 0.8, 0.0), point=(1.0, 0.0, 0.0)))
        assert controller.is_met(controller.run({"t/one": 0.0, "t/two": 0.01}, unmet="raise"))


MODEL = arm()
CONTROLLER = Controller(MODEL, controls=MODEL.controls(), dt_s=0.05)
GOAL = CONTROLLER.add(PositionGoal(TOOL, (0.9, 0.5, 0.4)))
