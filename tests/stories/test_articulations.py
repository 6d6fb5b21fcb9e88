"""Mechanisms of table 4.1 of the Kineverse thesis, with numbers; and the loops, which it could not do.

Its chains, trees and linear dependences are robots of others, in unit/articulation/test_robots.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary.articulation import ArticulationModel, DifferentialDrive, PointExpression, position
from armillary.articulation.mechanisms import (
    faucet,
    four_bar,
    locking_compartment,
    piston,
    stewart_platform,
    tilting_platform,
)

CLOSE = 1e-9
angles = st.floats(-math.pi, math.pi)


def made(*edits):
    model = ArticulationModel()
    for edit in edits:
        model.edit(edit)
    return model


class TestAPiston:
    """Not linear: the rod leans as the crank turns (eq. 4.1, with the lengths of the thesis' code)."""

    crank, crank_m, rod_m = position("engine/crank"), 0.05, 0.15

    @given(angle=angles)
    def test_its_head_moves_on_a_line_and_never_turns(self, angle):
        head = made(piston("engine")).pose("engine/links/piston").evaluate({self.crank: angle})
        height_m = self.crank_m * np.cos(angle) + np.sqrt(self.rod_m**2 - (self.crank_m * np.sin(angle)) ** 2)
        assert np.allclose(head.translation, (0.0, 0.0, height_m), atol=CLOSE)
        assert np.allclose(head.rotation.matrix, np.eye(3), atol=CLOSE)

    @given(angle=angles)
    def test_its_rod_keeps_its_length(self, angle):
        model = made(piston("engine"))
        ends = [model.pose(f"engine/links/{link}").evaluate({self.crank: angle}) for link in ("rod", "piston")]
        assert math.isclose(np.linalg.norm(ends[1].translation - ends[0].translation), self.rod_m, abs_tol=CLOSE)

    def test_its_head_is_fastest_between_the_ends(self):
        head = made(piston("engine")).pose("engine/links/piston").translation
        speed = head.jacobian([self.crank])
        assert np.allclose([speed.evaluate({self.crank: end})[2, 0] for end in (0.0, math.pi)], 0.0, atol=CLOSE)
        assert math.isclose(speed.evaluate({self.crank: math.pi / 2})[2, 0], -self.crank_m, abs_tol=CLOSE)


class TestALockingCompartment:
    """Conditional: the door is free while it is ajar or its handle is pushed (eq. 4.6)."""

    door, handle = position("box/door"), position("box/handle")

    @pytest.mark.parametrize(
        ("door", "handle", "is_free"), [(0.0, 0.7, False), (0.0, 0.1, True), (0.2, 0.7, True), (0.2, 0.1, True)]
    )
    def test_opens_when_it_is_free(self, door, handle, is_free):
        model = made(locking_compartment("box"))
        here = {self.door: door, self.handle: handle}
        assert model.value("box/is_unlocked").evaluate(here) == float(is_free)
        assert model.is_valid({**here, self.door.velocity: 0.5}) is is_free
        assert model.is_valid({**here, self.door.velocity: -0.5})

    @pytest.mark.parametrize(("door", "handle", "is_kept"), [(0.0, 0.0, True), (1.6, 0.0, False), (0.0, 0.8, False)])
    def test_has_ends(self, door, handle, is_kept):
        model = made(locking_compartment("box"))
        assert model.is_valid({self.door: door, self.handle: handle}) is is_kept

    def test_knows_which_way_it_becomes_free(self):
        gradient = made(locking_compartment("box")).value("box/is_unlocked").gradient()
        here = {self.door: 0.0, self.handle: 0.7}
        assert gradient[self.handle.velocity].evaluate(here) == -1.0
        assert gradient[self.door.velocity].evaluate(here) == 1.0


class TestADifferentialDrive:
    """It has no position variable; its wheels determine how it moves (eq. 4.8), left and right not exchanged."""

    base = DifferentialDrive(variable="base", wheel_radius_m=0.06, wheel_distance_m=0.3748)

    def rates(self, x, y, yaw, wheels):
        state = dict(zip(self.base.variables, (x, y, yaw), strict=True))
        still = {variable.velocity: 0.0 for variable in self.base.variables}
        moving = dict(zip(self.base.wheels, wheels, strict=True))
        pose = self.base.motion
        change = pose.velocity().evaluate({**state, **still, **moving})
        turn = change[1, 0] * np.cos(yaw) - change[0, 0] * np.sin(yaw)
        return np.array([change[0, 3], change[1, 3], turn])

    def driven(self, wheels, duration_s, steps=40):
        state, step_s = np.zeros(3), duration_s / steps
        for _ in range(steps):
            k1 = self.rates(*state, wheels)
            k2 = self.rates(*(state + step_s / 2 * k1), wheels)
            k3 = self.rates(*(state + step_s / 2 * k2), wheels)
            k4 = self.rates(*(state + step_s * k3), wheels)
            state = state + step_s / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state

    def arc(self, wheels, duration_s):
        left, right = wheels
        speed, turn = 0.06 / 2 * (left + right), 0.06 / 0.3748 * (right - left)
        if turn == 0.0:
            return np.array([speed * duration_s, 0.0, 0.0])
        angle, radius_m = turn * duration_s, speed / turn
        return np.array([radius_m * np.sin(angle), radius_m * (1 - np.cos(angle)), angle])

    @pytest.mark.parametrize("wheels", [(3.0, 3.0), (0.0, 3.0), (3.0, 0.0), (-3.0, -3.0), (0.0, -3.0), (-3.0, 0.0)])
    def test_drives_exact_arcs(self, wheels):
        assert np.allclose(self.driven(wheels, 1.0), self.arc(wheels, 1.0), atol=CLOSE)

    def test_turns_left_when_the_right_wheel_is_faster(self):
        assert self.driven((0.0, 3.0), 1.0)[2] > 0.0
        assert self.driven((0.0, 3.0), 1.0)[1] > 0.0


class TestAFaucet:
    """Not only poses: what the handle does to the water, and what has to be moved to change it (4.1.10)."""

    turn, lift = position("tap/turn"), position("tap/lift")

    def test_finds_the_variables_that_make_water(self):
        model = made(faucet("tap"))
        assert model.value("tap/flow").free_variables == {self.lift}
        assert model.value("tap/temperature").free_variables == {self.turn}

    def test_finds_what_has_to_be_moved_for_it(self):
        affected = made(faucet("tap")).affected_by(made(faucet("tap")).value("tap/flow").free_variables)
        assert affected.links == ("tap/links/handle",)
        assert "tap/flow" in affected.expressions
        assert "tap/temperature" not in affected.expressions

    def test_lifting_the_handle_gives_water(self):
        model = made(faucet("tap"))
        tip = model.pose("tap/links/handle") @ PointExpression(0.1, 0.0, 0.0)
        flow = model.value("tap/flow").gradient()[self.lift.velocity]
        height = tip.jacobian([self.lift]).evaluate({self.turn: 0.3, self.lift: -0.2})[2, 0]
        assert height * float(flow) > 0.0  # what moves the tip up lets water flow


def by_hand(function, values, variable, step=1e-6):
    ahead, behind = ({**values, variable: values[variable] + sign * step} for sign in (1, -1))
    return (function(ahead) - function(behind)) / (2 * step)


class TestATiltingPlatform:
    """Multidependent: two actuators together make pitch and roll (4.1.6, with the lengths of the thesis' code)."""

    left, right = position("tilt/left"), position("tilt/right")
    lengths = st.floats(0.1, 0.15)

    @given(left_m=lengths, right_m=lengths)
    def test_both_rods_reach_it(self, left_m, right_m):
        model = made(tilting_platform("tilt"))
        full = model.solve({self.left: left_m, self.right: right_m})
        base_T_platform = model.pose("tilt/links/platform").evaluate(full)
        for side, y in (("left", 0.07), ("right", -0.07)):
            rod = model.pose(f"tilt/links/{side}_rod").evaluate(full)
            assert np.allclose(rod.translation, base_T_platform @ np.array([-0.1, y, 0.0]), atol=CLOSE)
        assert model.is_valid(full)

    def test_pitches_when_both_push_and_rolls_when_they_differ(self):
        model = made(tilting_platform("tilt"))
        both = model.solve({self.left: 0.13, self.right: 0.13})
        assert both[position("tilt/pitch")] > 0.01
        assert abs(both[position("tilt/roll")]) < CLOSE
        assert model.solve({self.left: 0.13, self.right: 0.12})[position("tilt/roll")] > 0.01

    def test_its_jacobian_is_along_the_actuators(self):
        model = made(tilting_platform("tilt"))
        corner = model.pose("tilt/links/platform") @ PointExpression(0.1, 0.0, 0.0)
        drivers = {self.left: 0.13, self.right: 0.12}
        exact = corner.jacobian([self.left, self.right]).evaluate(model.solve(drivers))
        for column, actuator in enumerate(drivers):
            numeric = by_hand(lambda values: corner.evaluate(model.solve(values)), drivers, actuator)
            assert np.allclose(exact[:, column], numeric, atol=1e-7)


class TestLoops:
    """What the thesis could not do (4.1.3)."""

    def test_a_four_bar_stays_closed_all_the_way_round(self):
        model, crank = made(four_bar("bar")), position("bar/crank")
        ends = [
            model.pose(f"bar/links/{link}") @ PointExpression(length_m, 0.0, 0.0)
            for link, length_m in (("coupler", 0.3), ("rocker", 0.25))
        ]
        for angle in np.linspace(0.0, 4 * math.pi, 100):
            full = model.solve({crank: angle})
            assert np.allclose(ends[0].evaluate(full), ends[1].evaluate(full), atol=CLOSE)

    def test_a_four_bar_has_the_velocity_of_its_crank(self):
        model, crank = made(four_bar("bar")), position("bar/crank")
        rocker = model.pose("bar/links/rocker").rotation.matrix
        exact = rocker.velocity().evaluate({**model.solve({crank: 0.7}), crank.velocity: 1.0})
        numeric = by_hand(lambda values: rocker.evaluate(model.solve(values)), {crank: 0.7}, crank)
        assert np.allclose(exact, numeric, atol=1e-7)

    def test_a_stewart_platform_is_where_its_legs_reach(self):
        model = made(stewart_platform("hexapod"))
        legs = [position(f"hexapod/leg_{i}") for i in range(6)]
        limits = model.joints()["hexapod/joints/leg_0"].limits
        full = model.solve({leg: (limits.lower + limits.upper) / 2 + 0.01 * i for i, leg in enumerate(legs)})
        assert model.is_valid(full)
        for i, leg in enumerate(legs):
            pose = model.pose(f"hexapod/links/leg_{i}_rod", in_frame=f"hexapod/links/leg_{i}_barrel")
            assert math.isclose(np.linalg.norm(pose.evaluate(full).translation), full[leg], abs_tol=CLOSE)

    def test_a_loop_survives_a_file(self, tmp_path):
        model = made(four_bar("bar"))
        model.save(tmp_path / "bar.json")
        loaded = ArticulationModel.load(tmp_path / "bar.json")
        assert loaded.solve({position("bar/crank"): 0.7}) == model.solve({position("bar/crank"): 0.7})

    def test_taking_a_loop_out_frees_its_variables(self):
        model = made(four_bar("bar"))
        model.remove("close bar/loops/pin")
        assert position("bar/rocker").velocity in model.pose("bar/links/rocker").gradient()
