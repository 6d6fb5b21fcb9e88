"""Opening locks: the lockbox of the thesis with its numbers, and boxes that its algorithm cannot open."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from armillary import errors
from armillary.articulation import Constraint, SetValue, greater, less, logical_and, logical_or, position, velocity
from armillary.demos.lockbox import CLOSED, lockbox
from armillary.motion import Controller, JointGoal, PostureGoal, Unlocking

D = position("box/d")
TWICE = {"b": less(D, 0.2), "c": greater(D, 0.4)}
"""`d` in two places, one after the other: b moves while d is below 0.2, and c while it is above 0.4."""


def opened(model, *, dt_s: float, begin=CLOSED, unmet="raise") -> list[dict[str, float]]:
    controller = Controller(model, controls=model.controls(), dt_s=dt_s)
    controller.add(JointGoal("box/a", 1.2, tolerance=1e-3, name="open"))
    return Unlocking(controller).run(begin, unmet=unmet)


def limits_break(model, passed: list[dict[str, float]], dt_s: float) -> bool:
    """Whether a limit of position or speed, or a lock, was broken by any step."""
    for before, after in pairwise(passed):
        speeds = {f"{name}'": (after[name] - before[name]) / dt_s for name in before}
        if model.violations({**before, **speeds}, tolerance=1e-6):
            return True
    return bool(model.violations(passed[-1], tolerance=1e-6))


class TestTheLockboxOfTheThesis:
    """Velocity limits alone need 145 steps of 0.19 s, and 270 of 0.1 s."""

    def test_opens_to_a_millimetre_in_150_steps_of_019_s(self):
        passed = opened(lockbox(), dt_s=0.19)
        assert len(passed) - 1 <= 150
        assert abs(passed[-1]["box/a"] - 1.2) <= 0.001

    def test_opens_in_12_tenths_of_the_bound_at_01_s(self):
        assert len(opened(lockbox(), dt_s=0.1)) - 1 <= 1.2 * 270

    def test_leaves_a_part_of_a_condition_that_holds_where_it_is(self):
        assert max(values["box/c"] for values in opened(lockbox(), dt_s=0.19)) <= 0.62

    @pytest.mark.parametrize("dt_s", [0.19, 0.1, 0.05])
    def test_breaks_no_lock_on_the_way(self, dt_s):
        model = lockbox()
        assert not limits_break(model, opened(model, dt_s=dt_s), dt_s)

    def test_begins_with_what_is_free(self):
        controller = Controller(lockbox(), controls=lockbox().controls(), dt_s=0.1)
        controller.add(JointGoal("box/a", 1.2))
        (first,) = Unlocking(controller).explore(CLOSED)
        assert (first.variable, first.direction, first.opens) == ("box/f", 1.0, "box/e_speed")
        assert first.threshold == pytest.approx(1.2, abs=1e-6)


class TestABoxThatNeedsAVariableInTwoPlaces:
    """The thesis says that its algorithm fails there."""

    @pytest.mark.parametrize("begin", [0.0, 0.3, 0.9])
    @pytest.mark.parametrize("dt_s", [0.19, 0.1])
    def test_is_opened(self, dt_s, begin):
        model = lockbox(TWICE)
        passed = opened(model, dt_s=dt_s, begin=CLOSED | {"box/d": begin})
        assert passed[-1]["box/a"] == pytest.approx(1.2, abs=1e-3)
        assert not limits_break(model, passed, dt_s)

    def test_is_opened_whatever_the_order_of_the_conditions(self):
        b, c = position("box/b"), position("box/c")
        model = lockbox(TWICE | {"a": logical_and(greater(c, 0.6), greater(b, 0.4))})
        assert opened(model, dt_s=0.19)[-1]["box/a"] == pytest.approx(1.2, abs=1e-3)


class TestALock:
    def test_with_a_soft_condition_is_opened_until_it_lets_go(self):
        model = lockbox({"e": greater(position("box/f"), 1.2, steepness=50.0)})
        assert opened(model, dt_s=0.19)[-1]["box/a"] == pytest.approx(1.2, abs=1e-3)

    def test_that_another_way_opens_is_opened_by_what_can_move(self):
        model = lockbox({"a": logical_or(greater(position("box/a"), 0.05), greater(position("box/f"), 0.4))})
        passed = opened(model, dt_s=0.1)
        assert len(passed) - 1 <= 45

    def test_in_the_other_direction_is_opened_likewise(self):
        model = lockbox()
        passed = opened(model, dt_s=0.19, unmet="raise")
        controller = Controller(model, controls=model.controls(), dt_s=0.19)
        controller.add(JointGoal("box/a", 0.0, name="shut"))
        shut = Unlocking(controller).run(passed[-1] | {"box/b": 0.0}, unmet="raise")
        assert shut[-1]["box/a"] == pytest.approx(0.0, abs=1e-3)

    def test_that_waits_for_itself_is_said_to_be_unmovable(self):
        a = position("box/a")
        with pytest.raises(errors.Unmovable, match=r"towards open: .* waits for itself"):
            opened(lockbox({"a": greater(a, 0.5)}), dt_s=0.1)

    def test_that_depends_on_nothing_is_said_to_be_unmovable(self):
        model = lockbox()
        model.apply(SetValue("box/nailed", Constraint(0.0, 0.0, velocity("box/f"))), tag="nail")
        with pytest.raises(errors.Unmovable) as refused:
            opened(model, dt_s=0.1)
        assert refused.value.goals == ("open",)

    def test_that_needs_the_impossible_is_said_to_be_unmovable(self):
        model = lockbox({"a": logical_and(greater(D, 0.4), less(D, 0.2))})
        with pytest.raises(errors.Unmovable, match="open"):
            opened(model, dt_s=0.19)

    def test_leaves_other_goals_to_the_controller(self):
        model = lockbox()
        controller = Controller(model, controls=model.controls(), dt_s=0.19)
        controller.add(JointGoal("box/f", 0.5, name="free"))
        controller.add(PostureGoal({"box/b": 0.0}))
        unlocking = Unlocking(controller)
        assert unlocking.run(CLOSED, unmet="raise")[-1]["box/f"] == pytest.approx(0.5, abs=1e-3)
        with pytest.raises(errors.InvalidArgument, match="unmet must be"):
            unlocking.run(CLOSED, unmet="no")
        with pytest.raises(errors.NotFinite):
            unlocking.step(CLOSED | {"box/f": math.nan})
