"""Kinematic loops in a world: dependents are solved when their drivers are set, and again when they are queried."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.articulation import ArticulationModel, position
from armillary.articulation.mechanisms import four_bar, stewart_platform, tilting_platform
from armillary.errors import InvalidArgument, LoopBranchUncertain, OpenLoop, UnreachableLoop

CLOSED_M = 1e-9
STEP_NS = seconds(1e-5)


def mounted(world, edits):
    model = ArticulationModel()
    model.edit(edits)
    world.mount(model, in_frame="map")
    return model


def gap_m(world, at):
    """How far the ends of coupler and rocker are apart."""
    ends = [
        world.map_points(np.array([[length_m, 0.0, 0.0]]), from_frame=f"bar/{link}", to_frame="map", at=at)[0]
        for link, length_m in (("coupler", 0.3), ("rocker", 0.25))
    ]
    return float(np.linalg.norm(ends[0] - ends[1]))


class TestAMountedFourBar:
    def test_is_closed_at_samples_and_between_them(self, world):
        mounted(world, four_bar("bar"))
        for t in range(5):
            world.set_joints({"bar/crank": 0.8 * t}, at=seconds(t))
        for t in np.linspace(0.0, 4.0, 33):
            assert gap_m(world, seconds(float(t))) < CLOSED_M

    def test_has_joints_that_close_it_between_samples(self, world):
        model = mounted(world, four_bar("bar"))
        for t in (0, 1):
            world.set_joints({"bar/crank": 0.5 + 0.8 * t}, at=seconds(t))
        for t in (0.0, 0.3, 0.7, 1.0):
            full = model.solve({position("bar/crank"): 0.5 + 0.8 * t})
            for name in ("bar/coupler", "bar/rocker"):
                found = world.joint(name, at=seconds(t)).value
                assert found == pytest.approx(full[position(name)], abs=1e-12)

    def test_has_joints_that_move_with_its_crank(self, world):
        mounted(world, four_bar("bar"))
        for t in (0, 1):
            world.set_joints({"bar/crank": 0.5 + 0.8 * t}, at=seconds(t))
        for name in ("bar/coupler", "bar/rocker"):
            ahead, behind = (world.joint(name, at=seconds(0.6) + sign * STEP_NS).value for sign in (1, -1))
            slope = (ahead - behind) / (2e-9 * STEP_NS)
            assert world.joint(name, at=seconds(0.6)).velocity == pytest.approx(slope, abs=1e-5)

    def test_stores_dependents_with_their_drivers(self, world):
        model = mounted(world, four_bar("bar"))
        world.set_joints({"bar/crank": 0.7}, at=seconds(1))
        expected = model.solve({position("bar/crank"): 0.7})
        assert world.joint("bar/rocker").value == pytest.approx(expected[position("bar/rocker")], abs=1e-12)

    def test_agrees_with_the_expressions_of_the_model(self, world):
        model = mounted(world, four_bar("bar"))
        for t in (0, 1):
            world.set_joints({"bar/crank": 0.5 + 0.5 * t}, at=seconds(t))
        full = model.solve({position("bar/crank"): 0.8})
        expected = model.pose("bar/links/coupler").evaluate(full).matrix
        found = world.pose(of="bar/coupler", in_frame="map", at=seconds(0.6)).transform.matrix
        assert np.abs(found - expected).max() < CLOSED_M

    def test_moves_as_its_crank_moves(self, world):
        mounted(world, four_bar("bar"))
        for t in (0, 1):
            world.set_joints({"bar/crank": 0.5 + 0.5 * t}, at=seconds(t))
        at = seconds(0.6)
        twist = world.twist(of="bar/rocker", relative_to="map", expressed_in="map", at=at)
        ahead, behind = (
            world.pose(of="bar/rocker", in_frame="map", at=at + sign * STEP_NS).transform.rotation.rpy[2]
            for sign in (1, -1)
        )
        assert twist.method == "joints"
        assert twist.angular[2] == pytest.approx((ahead - behind) / 2e-5, abs=1e-6)

    def test_takes_many_samples_at_once(self, world):
        mounted(world, four_bar("bar"))
        stamps = np.arange(0, 21) * seconds(0.1)
        world.set_joint_series(["bar/crank"], positions=2.0 * stamps[:, None] * 1e-9, at=stamps)
        assert max(gap_m(world, int(at)) for at in np.arange(0, 40) * seconds(0.05)) < CLOSED_M

    def test_takes_many_samples_as_it_takes_one_after_the_other(self, world):
        mounted(world, four_bar("bar"))
        stamps, other = np.arange(0, 60) * seconds(0.1), World("other")
        mounted(other, four_bar("bar"))
        angles = 3.0 * np.sin(stamps * 1e-9)
        shuffled = np.random.default_rng(3).permutation(len(stamps))
        world.set_joint_series(["bar/crank"], positions=angles[shuffled, None], at=stamps[shuffled])
        for at, angle in zip(stamps.tolist(), angles.tolist(), strict=True):
            other.set_joints({"bar/crank": angle}, at=at)
        for joint in world.joints():
            found, expected = (each.joint_samples(joint).positions for each in (world, other))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    def test_names_the_first_row_that_it_cannot_reach_and_stores_none(self, world):
        mounted(world, four_bar("bar", crank_m=0.3, coupler_m=0.15, rocker_m=0.15, ground_m=0.35))
        rows = {"positions": [[0.3], [3.0], [0.31], [3.1]], "at": [0, seconds(3), seconds(1), seconds(4)]}
        with pytest.raises(UnreachableLoop, match=r"In row 1: .* bar/crank = 3, and it stays open by") as refused:
            world.set_joint_series(["bar/crank"], **rows)
        assert refused.value.row == 1
        assert not world.joint_samples("bar/crank").stamps.size

    @pytest.mark.parametrize("positions", [[[np.nan]], [[0.1, 0.2]], [0.1], [["x"]], [[0.1], [0.2, 0.3]], 10**400])
    def test_leaves_it_to_the_core_to_refuse_what_is_no_sample(self, world, positions):
        mounted(world, four_bar("bar"))
        with pytest.raises(InvalidArgument):
            world.set_joint_series(["bar/crank"], positions=positions, at=[0])

    def test_refuses_a_crank_that_is_nowhere(self, world):
        mounted(world, four_bar("bar"))
        with pytest.raises(InvalidArgument, match="has no finite numbers"):
            world.set_joints({"bar/crank": np.nan}, at=0)

    def test_refuses_what_it_cannot_reach_and_stores_nothing(self, world):
        mounted(world, four_bar("bar", crank_m=0.3, coupler_m=0.15, rocker_m=0.15, ground_m=0.35))
        world.set_joints({"bar/crank": 0.3}, at=seconds(0))
        with pytest.raises(UnreachableLoop, match="stays open by"):
            world.set_joints({"bar/crank": 3.0}, at=seconds(1))
        assert world.joint_samples("bar/crank").stamps.tolist() == [0]

    def test_raises_where_it_is_open_between_two_samples(self, world):
        mounted(world, four_bar("bar", crank_m=0.3, coupler_m=0.3, rocker_m=0.1, ground_m=0.35))
        world.set_joints({"bar/crank": 0.7}, at=seconds(0))
        with pytest.warns(LoopBranchUncertain, match="its parts do not reach each other"):
            world.set_joints({"bar/crank": -0.7}, at=seconds(1))
        with pytest.raises(OpenLoop, match="do not close its loop"):
            world.pose(of="bar/rocker", in_frame="map", at=seconds(0.5))

    def test_is_sure_as_its_crank_is_sure(self, world):
        model = mounted(world, four_bar("bar"))
        world.set_joints({"bar/crank": 0.7}, at=seconds(0), covariance=[0.01**2])
        pose = world.pose(of="bar/rocker", in_frame="map", at=seconds(0))
        crank = position("bar/crank")
        slope = model.pose("bar/links/rocker").body_jacobian([crank]).evaluate(model.solve({crank: 0.7}))[5, 0]
        assert np.sqrt(pose.covariance[5, 5]) == pytest.approx(abs(slope) * 0.01)


class TestPlatforms:
    def test_that_tilt_keep_their_rods_at_the_platform(self, world):
        mounted(world, tilting_platform("tilt"))
        for t, (left, right) in enumerate(((0.12, 0.13), (0.14, 0.11))):
            world.set_joints({"tilt/left": left, "tilt/right": right}, at=seconds(t))
        for t in np.linspace(0.0, 1.0, 11):
            snapshot = world.snapshot(in_frame="map", at=seconds(float(t)))
            for side, y in (("left", 0.07), ("right", -0.07)):
                head = snapshot["tilt/platform"] @ np.array([-0.1, y, 0.0])
                assert np.allclose(snapshot[f"tilt/{side}_rod"].translation, head, atol=CLOSED_M)

    def test_on_six_legs_are_where_the_legs_reach(self, world):
        mounted(world, stewart_platform("hexapod"))
        legs = {f"hexapod/leg_{i}": 0.585 + 0.01 * i for i in range(6)}
        world.set_joints(legs, at=seconds(0))
        world.set_joints({name: length - 0.02 for name, length in legs.items()}, at=seconds(1))
        for t in (0.0, 0.3, 0.7, 1.0):
            for i, (name, length_m) in enumerate(legs.items()):
                rod = world.pose(of=f"hexapod/leg_{i}_rod", in_frame=f"hexapod/leg_{i}_barrel", at=seconds(t)).transform
                assert np.linalg.norm(rod.translation) == pytest.approx(length_m - 0.02 * t, abs=CLOSED_M), name


class TestALoopThatIsClosedForAWhile:
    def test_is_open_before_and_after(self, world, clock):
        model = ArticulationModel()
        *bars, pin = four_bar("bar")
        model.edit(bars)
        world.mount(model, in_frame="map")
        for t in (0, 2):
            world.set_joints({"bar/crank": 0.7, "bar/coupler": 0.0, "bar/rocker": 1.0}, at=seconds(t))
        clock.ns = seconds(2)
        model.edit([pin])
        for t in (3, 4):
            world.set_joints({"bar/crank": 0.2 * t}, at=seconds(t))
        clock.ns = seconds(5)
        model.undo()
        for t in (5, 6):
            world.set_joints({"bar/crank": 0.7, "bar/coupler": 0.0, "bar/rocker": 1.0}, at=seconds(t))
        assert gap_m(world, seconds(1)) > 0.01
        assert gap_m(world, seconds(3.5)) < CLOSED_M
        assert gap_m(world, seconds(5.5)) > 0.01
