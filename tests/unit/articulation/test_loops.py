"""Kinematic loops: what follows from parts that meet again, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform
from armillary.articulation import (
    PointExpression,
    PoseExpression,
    VectorExpression,
    cos,
    norm,
    pose,
    position,
    rotation_about,
    rotation_from_rpy,
    sin,
    translation,
)
from armillary.articulation.loops import Closure
from armillary.errors import InvalidArgument, NotGrounded, SingularLoop, UnreachableLoop

CLOSED_M = 1e-9
STEP = 1e-5
CLOSE_SLOPE = 1e-7
UP = (0.0, 0.0, 1.0)


class FourBar:
    """A crank, a coupler and a rocker between two pivots of the ground, in the plane."""

    crank, coupler, rocker = position("crank"), position("coupler"), position("rocker")

    def __init__(self, lengths_m=(0.1, 0.3, 0.25, 0.35)):
        a, b, c, ground = lengths_m
        self.lengths_m = lengths_m
        pin = rotation_about(UP, self.crank) @ translation(a, 0, 0) @ rotation_about(UP, self.coupler)
        self.from_left = pin @ translation(b, 0, 0)
        self.from_right = translation(ground, 0, 0) @ rotation_about(UP, self.rocker) @ translation(c, 0, 0)
        self.closure = Closure.of_points(
            self.from_left.translation,
            self.from_right.translation,
            dependents=[self.coupler, self.rocker],
            start={self.coupler: 0.5, self.rocker: 1.5},
        )

    def rocker_by_hand(self, angle):
        """The rocker's angle from two triangles that share the diagonal, elbow up."""
        a, b, c, ground = self.lengths_m
        pin = a * np.array([np.cos(angle), np.sin(angle)]) - (ground, 0.0)
        diagonal = np.linalg.norm(pin)
        inside = np.arccos((diagonal**2 + c**2 - b**2) / (2 * diagonal * c))
        return np.arctan2(pin[1], pin[0]) - inside

    def configuration(self, angle, solver):
        return {self.crank: angle, **solver.solve({self.crank: angle})}


def slope_of(value, at):
    return (np.asarray(value(at + STEP)) - np.asarray(value(at - STEP))) / (2 * STEP)


class TestAFourBarLinkage:
    def test_is_where_two_triangles_say(self):
        bar, solver = FourBar(), FourBar().closure.solver()
        for angle in np.radians(np.arange(0, 720, 5)):
            found = solver.solve({bar.crank: angle})[bar.rocker]
            assert abs(np.sin(found - bar.rocker_by_hand(angle))) < CLOSED_M

    def test_stays_closed(self):
        bar, solver = FourBar(), FourBar().closure.solver()
        for angle in np.linspace(-7.0, 7.0, 50):
            assert np.abs(bar.closure.residual.evaluate(bar.configuration(angle, solver))).max() < CLOSED_M

    @given(angle=st.floats(-3.0, 3.0))
    def test_moves_as_its_crank_moves(self, angle):
        bar = FourBar()
        solver = bar.closure.solver()
        for target in np.linspace(0.0, angle, 20):
            solver.solve({bar.crank: target})
        tip = bar.closure.closed(bar.from_right.translation)
        exact = tip.jacobian([bar.crank]).evaluate(bar.configuration(angle, solver)).ravel()
        numeric = slope_of(lambda a: tip.evaluate(bar.configuration(a, solver)), angle)
        assert np.allclose(exact, numeric, atol=CLOSE_SLOPE)

    def test_has_a_second_derivative(self):
        bar = FourBar()
        solver, tip = bar.closure.solver(), bar.closure.closed(bar.from_right.translation)
        first = tip.jacobian([bar.crank])
        change = (
            tip.velocity().jacobian([bar.crank]).evaluate({**bar.configuration(0.7, solver), bar.crank.velocity: 1.0})
        )
        assert np.allclose(
            change.ravel(), slope_of(lambda a: first.evaluate(bar.configuration(a, solver)).ravel(), 0.7), atol=1e-5
        )

    def test_keeps_its_branch_and_takes_another_on_request(self):
        bar = FourBar()
        solver = bar.closure.solver()
        up = solver.solve({bar.crank: 0.5})
        down = solver.solve({bar.crank: 0.5}, start={bar.coupler: -1.0, bar.rocker: -1.5})
        assert abs(up[bar.rocker] - down[bar.rocker]) > 0.1
        assert solver.solve({bar.crank: 0.5}) == pytest.approx(down)

    def test_follows_many_cranks_as_one_after_the_other(self):
        bar, angles = FourBar(), np.linspace(0.0, 20.0, 300)
        solver, many = bar.closure.solver(), bar.closure.solver()
        expected = [[*solver.solve({bar.crank: angle}).values()] for angle in angles]
        np.testing.assert_allclose(many.solve_rows(angles[:, None]), expected, rtol=0, atol=1e-12)
        assert many.solve_rows(np.empty((0, 1))).shape == (0, 2)

    def test_follows_cranks_that_jump(self):
        bar, angles = FourBar(), np.random.default_rng(1).uniform(-3.0, 3.0, 200)
        solver, many = bar.closure.solver(), bar.closure.solver()
        expected = [[*solver.solve({bar.crank: angle}).values()] for angle in angles]
        np.testing.assert_allclose(many.solve_rows(angles[:, None]), expected, rtol=0, atol=1e-10)

    def test_names_the_first_of_many_cranks_that_it_cannot_follow(self):
        bar = FourBar((0.3, 0.1, 0.1, 0.35))
        with pytest.raises(UnreachableLoop, match=r"^In row 2: .* crank = 3\.14159") as caught:
            bar.closure.solver().solve_rows(np.array([[0.0], [0.05], [np.pi], [0.1]]))
        assert caught.value.row == 2
        flat = FourBar((0.1, 0.1, 0.1, 0.1))
        with pytest.raises(SingularLoop, match=r"^In row 0: "):
            flat.closure.solver().solve_rows(np.zeros((2, 1)), start={flat.coupler: 0.0, flat.rocker: 0.0})

    def test_knows_its_drivers_only(self):
        bar = FourBar()
        assert bar.closure.drivers == (bar.crank,)
        assert set(bar.closure.closed(bar.from_right.translation).gradient()) == {bar.crank.velocity}

    def test_says_where_it_does_not_reach(self):
        bar = FourBar((0.3, 0.1, 0.1, 0.35))
        with pytest.raises(UnreachableLoop, match="stays open by") as caught:
            bar.closure.solver().solve({bar.crank: np.pi})
        assert caught.value.drivers == {"crank": np.pi}
        assert caught.value.residual > 0.1

    def test_says_where_it_is_not_determined(self):
        bar = FourBar((0.1, 0.1, 0.1, 0.1))
        with pytest.raises(SingularLoop, match="determines 1 of its 2") as caught:
            bar.closure.solver().solve({bar.crank: 0.0}, start={bar.coupler: 0.0, bar.rocker: 0.0})
        assert caught.value.determined == 1

    def test_wants_a_number_for_every_driver(self):
        with pytest.raises(NotGrounded, match="crank"):
            FourBar().closure.solver().solve({})


class StewartPlatform:
    """Six legs between two hexagons; their lengths drive the six coordinates of the platform."""

    legs = tuple(position(f"leg_{i}") for i in range(6))
    place = tuple(position(name) for name in ("x", "y", "z", "roll", "pitch", "yaw"))

    def __init__(self):
        x, y, z, *turn = self.place
        self.base_T_platform = pose(rotation_from_rpy(*turn), [x, y, z])
        self.feet = self._hexagon(1.0, 0.2)
        self.heads = self._hexagon(0.6, 0.8)
        reaches = [self._reach(foot, head) for foot, head in zip(self.feet, self.heads, strict=True)]
        residual = VectorExpression([reach - leg for reach, leg in zip(reaches, self.legs, strict=True)])
        self.closure = Closure(residual, dependents=self.place, start={z: 1.0})

    @staticmethod
    def _hexagon(radius_m, spread_rad):
        middles = np.repeat(np.radians([0, 120, 240]), 2)
        angles = middles + np.tile([-spread_rad, spread_rad], 3)
        return np.stack([radius_m * np.cos(angles), radius_m * np.sin(angles), np.zeros(6)], axis=1)

    def _reach(self, foot, head):
        return norm(self.base_T_platform @ PointExpression(*head) - PointExpression(*foot))

    def lengths(self, transform):
        return np.linalg.norm(transform @ self.heads - self.feet, axis=1)


class TestAStewartPlatform:
    def test_is_where_its_legs_put_it(self):
        platform = StewartPlatform()
        solver = platform.closure.solver()
        wanted = Transform.from_xyz_rpy(xyz=(0.1, -0.05, 1.1), rpy=(0.1, -0.15, 0.2))
        found = solver.solve(dict(zip(platform.legs, platform.lengths(wanted), strict=True)))
        reached = platform.base_T_platform.evaluate(found)
        assert np.abs(reached.matrix - wanted.matrix).max() < CLOSED_M

    def test_has_the_jacobian_of_its_legs(self):
        platform = StewartPlatform()
        solver = platform.closure.solver()
        lengths = platform.lengths(Transform.from_xyz_rpy(xyz=(0.1, 0.0, 1.0), rpy=(0.1, 0.1, 0.0)))
        closed = platform.closure.closed(platform.base_T_platform.translation)

        def place(first):
            drivers = dict(zip(platform.legs, [first, *lengths[1:]], strict=True))
            return {**drivers, **solver.solve(drivers)}

        exact = closed.jacobian(platform.legs).evaluate(place(lengths[0]))[:, 0]
        assert np.allclose(exact, slope_of(lambda first: closed.evaluate(place(first)), lengths[0]), atol=CLOSE_SLOPE)


class TestTwoArmsThatHoldOneTray:
    """Two planar arms of three joints each: the right one follows the left one."""

    left = tuple(position(f"left/{i}") for i in range(3))
    right = tuple(position(f"right/{i}") for i in range(3))

    def arm(self, base, joints):
        tip = PoseExpression.from_transform(base)
        for joint in joints:
            tip = tip @ rotation_about(UP, joint) @ translation(0.4, 0.0, 0.0)
        return tip

    def closure(self):
        identity = Transform.identity()
        left = self.arm(identity, self.left)
        right = self.arm(Transform.from_xyz_rpy(xyz=(1.0, 0.0, 0.0), rpy=(0, 0, 0)), self.right)
        right_hand_in_left_hand = Transform.from_xyz_rpy(xyz=(0.2, 0.0, 0.0), rpy=(0, 0, np.pi))
        start = dict(zip(self.right, (0.8, 1.2, 1.1), strict=True))
        return left, right, Closure.of_poses(left @ right_hand_in_left_hand, right, dependents=self.right, start=start)

    def test_the_follower_keeps_its_hand_at_the_tray(self):
        left, right, closure = self.closure()
        solver = closure.solver()
        for share in np.linspace(0.0, 1.0, 20):
            drivers = dict(zip(self.left, (2.0 - 0.1 * share, -1.2, -0.8 - 0.1 * share), strict=True))
            found = solver.solve(drivers)
            gap = left.evaluate(drivers).inverse() @ right.evaluate(found)
            assert np.allclose(gap.translation, (0.2, 0.0, 0.0), atol=CLOSED_M)

    def test_more_equations_than_joints_are_fine(self):
        assert len(self.closure()[2].residual) == 12


class TestRefusals:
    q, d = position("q"), position("d")

    @pytest.mark.parametrize(
        ("dependents", "sentence"),
        [
            ([], "A loop has dependents"),
            ([d, d], "each once"),
            ([d.velocity], "are positions"),
            ([position("e")], "does not occur"),
        ],
    )
    def test_of_dependents(self, dependents, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            Closure([sin(self.q) - self.d], dependents=dependents)

    def test_of_too_few_equations(self):
        with pytest.raises(InvalidArgument, match="2 dependents were given for 1 equations"):
            Closure([cos(self.q) - self.d], dependents=[self.q, self.d])

    def test_of_a_start_for_a_driver(self):
        with pytest.raises(InvalidArgument, match="does not determine"):
            Closure([sin(self.q) - self.d], dependents=[self.d], start={self.q: 1.0})
