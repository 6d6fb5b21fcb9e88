"""Every error about motion, raised by a real call, with its evidence."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

from armillary import errors
from armillary.demos.lockbox import CLOSED, lockbox
from armillary.motion import Controller, JointGoal, Unlocking
from armillary.motion.qp import VelocityProgram
from unit.errors.kinds import MOTION
from unit.kit import error_of
from unit.motion.motion_kit import arm, bent


def _controller(target: float = 0.4, *, is_required: bool = False) -> Controller:
    controller = Controller(arm(), controls=["desk/drawer"], dt_s=0.1)
    goal = JointGoal("desk/drawer", target, name="open")
    (controller.require if is_required else controller.add)(goal)
    return controller


def _nailed() -> Unlocking:
    model = lockbox({"f": 0.0})
    controller = Controller(model, controls=model.controls(), dt_s=0.1)
    controller.add(JointGoal("box/a", 1.2, name="open"))
    return Unlocking(controller)


def _without_number() -> VelocityProgram:
    program = VelocityProgram(["one", "two"], ["row"])
    program.hessian[0, 0] = math.nan
    return program


CALLS = {
    errors.UnknownControl: lambda: Controller(arm(), controls=["arm/on"], dt_s=0.1),
    errors.NotFinite: lambda: _controller().step(bent(arm()) | {"desk/drawer": math.nan}),
    errors.InfeasibleMotion: lambda: _controller(is_required=True).step(bent(arm())),
    errors.SolverFailed: lambda: _without_number().solve(),
    errors.Unmovable: lambda: _nailed().run(CLOSED),
    errors.NotMet: lambda: _controller(0.9).run(bent(arm()), unmet="raise"),
}


class TestTheErrorsOfMotion:
    def test_are_all_raised_here(self):
        assert set(CALLS) == MOTION

    @pytest.mark.parametrize("kind", CALLS)
    def test_are_raised_by_real_calls_and_say_what_to_do(self, kind):
        error = error_of(CALLS[kind])
        assert type(error) is kind
        assert any(
            word in str(error) for word in ("Did you mean", "nothing was commanded", "Change the goal", "need more")
        )

    @pytest.mark.parametrize("kind", CALLS)
    def test_can_be_copied_and_pickled(self, kind):
        error = error_of(CALLS[kind])
        for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (str(twin), repr(vars(twin))) == (str(error), repr(vars(error)))
