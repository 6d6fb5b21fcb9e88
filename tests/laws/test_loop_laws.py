"""Laws of kinematic loops: a loop stays on its branch, and the samples of its drivers alone decide where it is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from armillary import Transform, World, seconds
from armillary.articulation import (
    ArticulationModel,
    PrismaticJoint,
    RevoluteJoint,
    SetClosure,
    VectorExpression,
    cos,
    position,
    sin,
)
from armillary.articulation.loops import Closure
from armillary.articulation.mechanisms import four_bar, stewart_platform
from unit.articulation.test_loops import FourBar, StewartPlatform

SAME_RAD = 1e-9
BARS_M = (0.1, 0.3, 0.25, 0.35)


def unwrapped(angles):
    return np.unwrap(np.asarray(angles))


def rocker_in_closed_form(crank_rad):
    """The rocker of the default four-bar for an angle of its crank: two triangles that share the diagonal."""
    return FourBar(BARS_M).rocker_by_hand(crank_rad)


def rockers_along(cranks_rad):
    """The same for many angles, each on the turn of the one before; the first is the model's own."""
    fine = [np.linspace(a, b, 2 + int(50 * abs(b - a))) for a, b in itertools.pairwise([0.0, *cranks_rad])]
    branch = unwrapped([rocker_in_closed_form(angle) for part in fine for angle in part])
    ends = np.cumsum([len(part) for part in fine]) - 1
    return branch[ends]


def driven(cranks_rad, order=None):
    """A world whose four-bar was driven to these angles, ten times a second."""
    world, model = World(history=None), ArticulationModel()
    model.edit(four_bar("bar"))
    world.mount(model, in_frame="map")
    for k in range(len(cranks_rad)) if order is None else order:
        world.set_joints({"bar/crank": float(cranks_rad[k])}, at=seconds(0.1 * k))
    return world


def rockers_of(world, stamps_s):
    return np.array([world.joint("bar/rocker", at=seconds(float(t))).value for t in stamps_s])


class TestAFourBar:
    def test_does_not_flip_at_twelve_radians_a_second_and_ten_samples(self):
        cranks = 1.2 * np.arange(200)
        found = rockers_of(driven(cranks), 0.1 * np.arange(200))
        np.testing.assert_allclose(np.sin(found - rockers_along(cranks)), 0.0, atol=SAME_RAD)
        np.testing.assert_allclose(found[:4], [1.8545904360, 1.7902360361, 2.2310428474, 2.5333898043], atol=1e-9)

    def test_is_on_its_branch_between_samples(self):
        cranks = 1.2 * np.arange(30)
        world, stamps = driven(cranks), np.arange(0, 2900, 10) / 1000  # whole milliseconds: stamps are exact
        expected = [rocker_in_closed_form(12.0 * t) for t in stamps]
        np.testing.assert_allclose(np.sin(rockers_of(world, stamps) - expected), 0.0, atol=SAME_RAD)
        for t in stamps[::9]:
            yaw = world.pose(of="bar/rocker", in_frame="map", at=seconds(float(t))).transform.rotation.rpy[2]
            assert abs(np.sin(yaw - rocker_in_closed_form(12.0 * t))) < SAME_RAD

    @given(data=st.data(), jumps=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=12))
    def test_is_decided_by_the_samples_in_whatever_order_they_come(self, data, jumps):
        cranks = np.cumsum(jumps)
        order = data.draw(st.permutations(range(len(cranks))))
        found = rockers_of(driven(cranks, order), 0.1 * np.arange(len(cranks)))
        in_order = rockers_of(driven(cranks), 0.1 * np.arange(len(cranks)))
        np.testing.assert_allclose(found, in_order, rtol=0, atol=SAME_RAD)
        expected = [rocker_in_closed_form(angle) for angle in cranks]
        np.testing.assert_allclose(np.sin(found - expected), 0.0, atol=1e-8)

    @given(data=st.data(), jumps=st.lists(st.floats(-2.0, 2.0), min_size=4, max_size=12))
    def test_is_the_same_by_series_that_come_late(self, data, jumps):
        cranks, stamps = np.cumsum(jumps), [seconds(0.1 * k) for k in range(len(jumps))]
        first = sorted(data.draw(st.sets(st.integers(0, len(jumps) - 1), min_size=1, max_size=len(jumps) - 1)))
        second = [k for k in range(len(jumps)) if k not in first]
        world = driven(cranks, order=())
        for rows in (first, second):
            world.set_joint_series(names=["bar/crank"], positions=cranks[rows][:, None], at=np.array(stamps)[rows])
        expected = rockers_of(driven(cranks), 0.1 * np.arange(len(cranks)))
        np.testing.assert_allclose(rockers_of(world, 0.1 * np.arange(len(cranks))), expected, rtol=0, atol=SAME_RAD)

    @given(angles=st.lists(st.floats(-9.0, 9.0), min_size=1, max_size=6))
    def test_of_a_model_is_where_its_crank_is_however_it_got_there(self, angles):
        model, crank, rocker = ArticulationModel(), position("bar/crank"), position("bar/rocker")
        model.edit(four_bar("bar"))
        for angle in (*angles, 0.0):
            found = model.solve({crank: angle})[rocker]
            assert abs(np.sin(found - rocker_in_closed_form(angle))) < SAME_RAD
        assert found == pytest.approx(1.8545904360, abs=1e-9)


CRANK_M, ROD_M = 0.05, 0.15


def engine():
    """A crank, a rod and a slide, in a world that keeps everything."""
    model, world = ArticulationModel(), World(history=None)
    crank, rod, slide = (position(f"engine/{name}") for name in ("crank", "rod", "slide"))
    model.add("engine/links/block")
    model.add("engine/links/crank", RevoluteJoint(variable=crank.name, axis=(0, 0, 1)), parent="engine/links/block")
    model.add("engine/links/rod", RevoluteJoint(variable=rod.name, axis=(0, 0, 1)), parent="engine/links/block")
    model.add("engine/links/head", PrismaticJoint(variable=slide.name, axis=(1, 0, 0)), parent="engine/links/block")
    along = CRANK_M * cos(crank) + ROD_M * cos(rod) - slide
    across = CRANK_M * sin(crank) + ROD_M * sin(rod)
    closing = SetClosure(
        path="engine/loop",
        residual=VectorExpression([along, across]),
        dependents=(rod.name, slide.name),
        start=(0.0, CRANK_M + ROD_M),
    )
    model.apply(closing, tag="close")
    world.mount(model, in_frame="map")
    return world


class TestASliderCrank:
    @given(data=st.data(), speeds=st.lists(st.floats(-60.0, 60.0), min_size=2, max_size=10))
    def test_is_where_the_closed_form_has_it_at_any_speed_rate_and_order(self, data, speeds):
        pauses = data.draw(st.lists(st.floats(0.001, 0.1), min_size=len(speeds), max_size=len(speeds)))
        stamps = [seconds(round(t, 6)) for t in np.cumsum(pauses)]
        cranks, world = np.cumsum(np.multiply(speeds, pauses)), engine()
        for k in data.draw(st.permutations(range(len(speeds)))):
            world.set_joints({"engine/crank": float(cranks[k])}, at=stamps[k])
        found = [world.joint("engine/slide", at=stamp).value for stamp in stamps]
        expected = CRANK_M * np.cos(cranks) + np.sqrt(ROD_M**2 - (CRANK_M * np.sin(cranks)) ** 2)
        np.testing.assert_allclose(found, expected, rtol=0, atol=SAME_RAD)


class TestNearlyTouchingAssemblies:
    @pytest.mark.parametrize("gap_m", [1e-1, 1e-2, 1e-3, 1e-4])
    def test_are_told_apart(self, gap_m):
        """A crank that is a little too short to reach the point where the assemblies of the linkage meet."""
        bar = FourBar((0.5 - gap_m, 1.0, 0.5, 1.0))
        solver = Closure.of_points(
            bar.from_left.translation,
            bar.from_right.translation,
            dependents=[bar.coupler, bar.rocker],
            start={bar.coupler: 1.0, bar.rocker: 1.8},
        ).solver()
        signs = []
        for angle in np.linspace(0.0, 2 * np.pi, 13):
            found = solver.solve({bar.crank: float(angle)})
            knee = float(np.sin(found[bar.coupler] + angle - found[bar.rocker]))
            signs.append(np.sign(knee))
        assert len(set(signs)) == 1


class TestAStewartPlatform:
    @pytest.mark.parametrize(("reach_m", "turn_rad"), [(0.1, 0.3), (0.15, 0.45), (0.2, 0.6)])
    def test_finds_every_pose_of_a_jump(self, reach_m, turn_rad):
        draw, platform = np.random.default_rng(7), StewartPlatform()
        solver = platform.closure.solver()
        home = Transform.from_xyz_rpy(xyz=(0, 0, 1.0), rpy=(0, 0, 0))
        begin = dict(zip(platform.place, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), strict=True))
        for _ in range(60):
            moved, turned = draw.uniform(-reach_m, reach_m, 3), draw.uniform(-turn_rad, turn_rad, 3)
            wanted = Transform.from_xyz_rpy(xyz=moved + np.array([0.0, 0.0, 1.0]), rpy=turned)
            found = solver.follow((self.legs(platform, home), begin), self.legs(platform, wanted))
            reached = platform.base_T_platform.evaluate(found)
            np.testing.assert_allclose(reached.matrix, wanted.matrix, atol=1e-8)

    def legs(self, platform, transform):
        return dict(zip(platform.legs, platform.lengths(transform), strict=True))


class TestAMountedStewartPlatform:
    PLACE = ("x", "y", "z", "roll", "pitch", "yaw")

    @settings(max_examples=25)
    @given(data=st.data(), seed=st.integers(0, 2**32 - 1), count=st.integers(2, 6))
    def test_is_in_the_poses_its_legs_are_made_for_in_any_order(self, data, seed, count):
        model, world, draw = ArticulationModel(), World(history=None), np.random.default_rng(seed)
        model.edit(stewart_platform("it"))
        world.mount(model, in_frame="map")
        (closure,) = model.closures().values()
        reach = np.array([0.05, 0.05, 0.05, 0.2, 0.2, 0.2])
        places = [np.array([0, 0, 0.5, 0, 0, 0]) + draw.uniform(-reach, reach) for _ in range(count)]
        stamps = np.cumsum(draw.uniform(0.01, 1.0, count)).round(6)
        legs = [self.legs(closure, place) for place in places]
        for k in data.draw(st.permutations(range(count))):
            world.set_joints(legs[k], at=seconds(float(stamps[k])))
        for place, stamp in zip(places, stamps, strict=True):
            found = [world.joint(f"it/{part}", at=seconds(float(stamp))).value for part in self.PLACE]
            np.testing.assert_allclose(found, place, rtol=0, atol=1e-7)

    def legs(self, closure, place):
        """The lengths with which the platform is at a place: roots of the equations, each of which has one leg."""
        given = dict(zip((f"it/{part}" for part in self.PLACE), place, strict=True))
        found = {}
        for k in range(6):
            row = closure.residual[k].substitute(given)
            found[f"it/leg_{k}"] = float(
                brentq(lambda length, row=row, k=k: row.evaluate({f"it/leg_{k}": length}), 0.1, 2.0)
            )
        return found
