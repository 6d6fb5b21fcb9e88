"""What a force-torque sensor measures, about other points, along other axes, at any instant."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import (
    AfterHistory,
    BeforeHistory,
    ContestedWrench,
    InvalidArgument,
    InvalidName,
    NotConnected,
    UnknownFrame,
    UnknownWrench,
)
from armillary.relations import Wrench
from unit.kit import drive, moved

PUSH = {"of": "sensor", "by": "table"}
TURNED = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 1.0), rpy=(0.0, 0.0, np.pi / 2))


@pytest.fixture
def world() -> World:
    world = World(name="robot", history=None)
    world.fix(of="sensor", in_frame="map", transform=TURNED)
    world.set_wrench(**PUSH, force=(1, 0, 0), torque=(0, 0, 2), at=0, covariance=[1, 1, 1, 4, 4, 4])
    world.set_wrench(**PUSH, force=(3, 0, 0), torque=(0, 0, 2), at=seconds(1), covariance=[3, 3, 3, 4, 4, 4])
    return world


def six(wrench) -> np.ndarray:
    return np.concatenate([wrench.force, wrench.torque])


class TestAMeasuredWrench:
    def test_is_what_was_said_at_its_instant(self, world):
        wrench = world.wrench(**PUSH, at=0)
        assert six(wrench).tolist() == [1, 0, 0, 0, 0, 2]
        assert (wrench.point, wrench.body, wrench.reference_body) == ("sensor", "sensor", "table")
        assert (wrench.expressed_in, wrench.stamp, wrench.held, wrench.predicted) == ("sensor", 0, (), False)
        assert wrench.relations == (("sensor", "table", "robot"),)
        np.testing.assert_array_equal(wrench.covariance, np.diag([1, 1, 1, 4, 4, 4]))

    def test_is_linear_between_two(self, world):
        wrench = world.wrench(**PUSH, at=seconds(0.25))
        assert six(wrench).tolist() == [1.5, 0, 0, 0, 0, 2]
        np.testing.assert_allclose(wrench.covariance, np.diag([1.5, 1.5, 1.5, 4, 4, 4]))

    def test_has_a_lever_arm_and_other_axes(self, world):
        wrench = world.wrench(**PUSH, point="map", at=0)
        np.testing.assert_allclose(six(wrench), [0, 1, 0, -1, 0, 2], atol=1e-12)  # F along y at 1 m: -1 Nm about x
        assert (wrench.point, wrench.expressed_in, wrench.body) == ("map", "map", "sensor")
        along = world.wrench(**PUSH, point="map", expressed_in="sensor", at=0)
        np.testing.assert_allclose(six(along), [1, 0, 0, 0, 1, 2], atol=1e-12)
        np.testing.assert_allclose(
            six(world.express(world.wrench(**PUSH, at=0), in_frame="map")), six(wrench), atol=1e-12
        )

    def test_counts_the_errors_of_the_mount(self, world):
        world.fix(of="tool", in_frame="sensor", transform=moved(0.5), covariance=[0, 1e-4, 0, 0, 0, 0])
        wrench = world.wrench(**PUSH, point="tool", at=0)
        assert wrench.covariance[5, 5] == pytest.approx(
            4 + 0.25 * 1 + 1e-4
        )  # M, the arm times F, F times the arm's error
        world.set_pose(of="probe", in_frame="sensor", transform=moved(0.5), at=0)  # nobody says how well
        assert world.wrench(**PUSH, point="probe", at=0).covariance is None
        assert world.wrench(**PUSH, point="probe", at=0).force.tolist() == [1, 0, 0]

    def test_is_unknown_in_its_error_where_none_was_given(self, world):
        world.set_wrench(**PUSH, force=(0, 0, 0), torque=(0, 0, 0), at=seconds(2))
        assert world.wrench(**PUSH, at=seconds(2)).covariance is None
        assert world.wrench(**PUSH, at=seconds(1.5)).covariance is None

    def test_is_turned_from_the_axes_it_was_said_along(self, world):
        world.set_wrench(
            **PUSH, force=(0, 5, 0), torque=(0, 0, 0), expressed_in="map", at=seconds(2), covariance=np.eye(6)
        )
        np.testing.assert_allclose(world.wrench(**PUSH).force, [5, 0, 0], atol=1e-12)
        np.testing.assert_allclose(world.wrench(**PUSH).covariance, np.eye(6), atol=1e-12)

    def test_is_taken_as_a_relation(self, world):
        given = world.wrench(**PUSH, at=seconds(1))
        world.set_wrench(**PUSH, wrench=given, at=seconds(1))
        assert world.wrench(**PUSH, at=seconds(1)) == given
        far = Wrench(point="sensor", reference_body="table", expressed_in="map", force=(0, 5, 0), torque=(0, 0, 0))
        world.set_wrench(**PUSH, wrench=far, at=seconds(2))
        np.testing.assert_allclose(world.wrench(**PUSH).force, [5, 0, 0], atol=1e-12)

    def test_is_held_on_request_and_never_predicted(self, world):
        with pytest.raises(AfterHistory, match="4 s after its last sample"):
            world.wrench(**PUSH, at=seconds(5))
        (held,) = {sample.age_s for sample in world.wrench(**PUSH, at=seconds(5), outside="hold").held}
        assert held == 4.0
        with pytest.raises(AfterHistory, match="hold_up_to_s allows 1 s"):
            world.wrench(**PUSH, at=seconds(5), outside="hold", hold_up_to_s=1.0)
        with pytest.raises(InvalidArgument, match="not predicted"):
            world.wrench(**PUSH, at=seconds(5), outside="predict")

    def test_is_newest_where_the_poses_are_known_as_well(self, world):
        drive(world, 0, 0.5, of="hand", in_frame="sensor")
        assert world.wrench(**PUSH).stamp == seconds(1)
        assert world.wrench(**PUSH, point="hand").stamp == seconds(0.5)
        drive(world, 0.75, 2, of="hand", in_frame="sensor")
        assert world.wrench(**PUSH, point="hand", at=LATEST).stamp == seconds(1)

    def test_is_stored_in_many_at_once_in_any_order(self, world):
        rows = np.arange(18.0).reshape(3, 6)
        world.set_wrenches(**PUSH, wrenches=rows, at=[seconds(4), seconds(2), seconds(3)], covariance=np.ones(6))
        samples = world.wrench_samples(**PUSH, start=seconds(2))
        assert samples.stamps.tolist() == [seconds(2), seconds(3), seconds(4)]
        np.testing.assert_array_equal(samples.wrenches, rows[[1, 2, 0]])
        assert len(world.wrench_samples(**PUSH)) == 5


class TestRefusedWrenches:
    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"force": (1, 2)}, InvalidArgument),
            ({"force": None}, InvalidArgument),
            ({"torque": (0, 0, np.nan)}, InvalidArgument),
            (
                {"wrench": Wrench(point="sensor", reference_body="table", force=(1, 0, 0), torque=(0, 0, 0))},
                InvalidArgument,
            ),
            ({"covariance": -np.eye(6)}, InvalidArgument),
            ({"expressed_in": "nowhere"}, UnknownFrame),
            ({"by": ""}, InvalidName),
            ({"of": "a pushed by b"}, InvalidArgument),
        ],
    )
    def test_change_nothing(self, world, given, error):
        before = world.wrench_samples(**PUSH).wrenches
        with pytest.raises(error):
            world.set_wrench(**PUSH | {"force": (1, 0, 0), "torque": (0, 0, 0), "at": seconds(2)} | given)
        np.testing.assert_array_equal(world.wrench_samples(**PUSH).wrenches, before)
        assert world.wrenches() == (("sensor", "table"),)

    def test_are_those_of_other_names(self, world):
        other = Wrench(point="map", reference_body="table", force=(1, 0, 0), torque=(0, 0, 0))
        with pytest.raises(InvalidArgument, match=r"point of .* is 'map', and the call names sensor"):
            world.set_wrench(**PUSH, wrench=other, at=0)
        with pytest.raises(InvalidArgument, match="is of the instant 0 ns"):
            world.set_wrench(**PUSH, wrench=world.wrench(**PUSH, at=0), at=1)

    def test_are_those_before_the_history(self):
        world = World(history=seconds(1))
        world.set_wrench(**PUSH, force=(1, 0, 0), torque=(0, 0, 0), at=seconds(5))
        with pytest.raises(BeforeHistory):
            world.set_wrench(**PUSH, force=(1, 0, 0), torque=(0, 0, 0), at=seconds(3))

    def test_are_not_there_for_others(self, world):
        with pytest.raises(UnknownWrench, match="Known are those on 'sensor' by 'table'"):
            world.wrench(of="sensor", by="wind")
        with pytest.raises(UnknownWrench, match=r"world\.set_wrench"):
            World().wrench_samples(of="sensor", by="wind")
        world.add_frame("island")
        with pytest.raises(NotConnected):
            world.wrench(**PUSH, point="island", at=0)


class TestWrenchesAsData:
    def test_are_no_joints(self, world):
        assert world.joints() == ()
        assert world.wrenches() == (("sensor", "table"),)

    def test_are_taken_back_and_redone(self):
        world = World()
        world.set_wrench(**PUSH, force=(1, 0, 0), torque=(0, 0, 0), at=0)
        world.undo()
        assert world.wrenches() == ()
        world.set_wrench(**PUSH, force=(2, 0, 0), torque=(0, 0, 0), at=0)
        assert world.wrench(**PUSH).force.tolist() == [2, 0, 0]

    def test_are_copied_saved_and_merged(self, world, tmp_path):
        world.save(tmp_path / "world.json")
        for other in (world.copy(), World.load(tmp_path / "world.json")):
            assert six(other.wrench(**PUSH, point="map")).tolist() == six(world.wrench(**PUSH, point="map")).tolist()
            assert other.joints() == ()
        replica = World(name="other")
        replica.merge(world.scene.changes(), prefix="B/")
        assert replica.wrenches() == (("B/sensor", "B/table"),)
        replica.set_wrench(of="B/sensor", by="B/table", force=(1, 0, 0), torque=(0, 0, 0), at=0)
        np.testing.assert_allclose(
            replica.wrench(of="B/sensor", by="B/table", point="B/map").force, [0, 1, 0], atol=1e-12
        )

    def test_of_two_sources_contest_until_one_is_preferred(self, world):
        world.set_wrench(**PUSH, force=(9, 0, 0), torque=(0, 0, 0), at=seconds(1), source="simulator")
        with pytest.raises(ContestedWrench, match="'robot' and 'simulator'"):
            world.wrench(**PUSH)
        world.prefer_wrench(**PUSH, source="simulator")
        assert world.wrench(**PUSH).force.tolist() == [9, 0, 0]
        with pytest.raises(UnknownWrench):
            world.prefer_wrench(of="sensor", by="wind", source="simulator")
