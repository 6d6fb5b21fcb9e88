"""The picture of a pose history."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument, UnknownFrame
from armillary.view import history_svg
from armillary.view._trajectory import ANGLES, POSITION, SPEED, TURNING, sample_trajectory

SVG = "{http://www.w3.org/2000/svg}"
SPEED_M_S, TURNING_RAD_S = 0.5, 1.0
CLOSE = 1e-6


@pytest.fixture
def driving():
    """A robot that goes along x and turns about z, seen ten times a second from 2 s to 8 s."""
    world = World()
    for i in range(61):
        map_T_robot = Transform.from_xyz_rpy(xyz=(SPEED_M_S * i / 10, 0, 0), rpy=(0, 0, TURNING_RAD_S * i / 10))
        world.set_pose(of="robot", in_frame="map", transform=map_T_robot, at=seconds(2.0) + seconds(0.1) * i)
    return world


def robot(world, start=None, end=None):
    return sample_trajectory(world, "robot", "map", start, end)


def drawn(world, **options):
    return ET.fromstring(history_svg(world, **{"of": "robot", "in_frame": "map", **options}))


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


class TestTheCourseOfAPose:
    def test_covers_all_that_can_be_answered(self, driving):
        assert robot(driving).stamps[[0, -1]].tolist() == [seconds(2), seconds(8)]

    def test_begins_where_the_last_edge_of_the_path_begins(self, driving):
        for i in range(5):
            driving.set_pose(of="hand", in_frame="robot", transform=Transform.identity(), at=seconds(5 + i))
        assert sample_trajectory(driving, "hand", "map", None, None).stamps[[0, -1]].tolist() == [
            seconds(5),
            seconds(8),
        ]

    def test_is_as_the_world_says(self, driving):
        trajectory = robot(driving)
        t_s = (trajectory.stamps - seconds(2)) / 1e9
        np.testing.assert_allclose(trajectory.values[:, POSITION][:, 0], SPEED_M_S * t_s, atol=CLOSE)
        np.testing.assert_allclose(trajectory.values[:, SPEED][:, 0], SPEED_M_S, atol=CLOSE)
        np.testing.assert_allclose(trajectory.values[:, TURNING][:, 0], TURNING_RAD_S, atol=CLOSE)

    def test_has_angles_that_go_on_beyond_half_a_turn(self, driving):
        trajectory = robot(driving)
        np.testing.assert_allclose(trajectory.values[-1, ANGLES], (0.0, 0.0, 6.0 * TURNING_RAD_S), atol=CLOSE)

    def test_has_gaps_where_nobody_knows(self, driving):
        trajectory = robot(driving, start=seconds(1), end=seconds(9))
        outside = (trajectory.stamps < seconds(2)) | (trajectory.stamps > seconds(8))
        assert np.array_equal(np.isnan(trajectory.values).all(axis=1), outside)


class TestTheDeviationsOfACourse:
    def test_are_along_the_axes_of_the_frame_it_is_seen_from(self):
        world, rotate = World(), Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, np.pi / 2))
        for at in (0, 1):
            world.set_pose(
                of="robot", in_frame="map", transform=rotate, at=at, covariance=np.diag([4, 1, 9, 0, 0, 0.25])
            )
        np.testing.assert_allclose(robot(world).deviations[0, :6], (1, 2, 3, 0, 0, 0.5), atol=CLOSE)

    def test_of_angles_are_those_of_many_drawn_turns(self):
        covariance = np.diag([0.0, 0.0, 0.0, 1e-4, 4e-4, 9e-4])
        tilted = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0.4, 0.8, -0.3))
        world = World()
        for at in (0, 1):
            world.set_pose(of="robot", in_frame="map", transform=tilted, at=at, covariance=covariance)
        noise = np.random.default_rng(1).normal(size=(4000, 6)) * np.sqrt(np.diagonal(covariance))
        turns = np.array([(tilted @ Transform.exp(step)).rotation.rpy for step in noise])
        np.testing.assert_allclose(robot(world).deviations[0, 3:6], turns.std(axis=0), rtol=0.05)

    def test_are_at_most_half_a_turn_where_the_pitch_is_upright(self):
        upright = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, np.pi / 2, 0))
        world = World()
        for at in (0, 1):
            world.set_pose(of="robot", in_frame="map", transform=upright, at=at, covariance=np.eye(6) * 1e-2)
        assert robot(world).deviations[0, 3:6].max() <= np.pi

    def test_are_unknown_without_a_covariance(self, driving):
        assert np.isnan(robot(driving).deviations).all()


class TestTheHistoryPicture:
    def test_has_a_panel_for_each_quantity(self, driving):
        assert {"position [m]", "angles [rad]", "speed [m/s]", "turning [rad/s]"} <= set(texts(drawn(driving)))

    def test_reports_which_time_it_shows_and_what_is_not_known(self, driving):
        assert "6 s, counted from 2.000 s; no covariance is known" in texts(drawn(driving))

    def test_has_bands_where_a_covariance_is_known(self):
        world = World(default_covariance=np.eye(6) * 1e-4)
        for i in range(3):
            world.set_pose(of="robot", in_frame="map", transform=Transform.identity(), at=seconds(i))
        root = drawn(world)
        assert len([area for area in root.iter(f"{SVG}polygon") if area.get("opacity")]) >= 6
        assert any("bands of 2 standard deviations" in text for text in texts(root))

    def test_of_one_sample_is_drawn(self):
        world = World()
        world.set_pose(of="robot", in_frame="map", transform=Transform.identity(), at=5)
        assert "not known" in texts(drawn(world))

    def test_is_a_method_of_the_world_too(self, driving, tmp_path):
        path = driving.plot_history(tmp_path / "robot.svg", of="robot", in_frame="map", theme="dark")
        expected = history_svg(driving, of="robot", in_frame="map", theme="dark")
        assert path.read_text(encoding="utf-8") == expected


class TestAHistoryThatIsNone:
    def test_is_refused_for_a_fixed_pose(self, driving):
        driving.fix(of="camera", in_frame="robot", transform=Transform.identity())
        with pytest.raises(InvalidArgument, match="fixed in 'robot': its pose has no history"):
            drawn(driving, of="camera", in_frame="robot")

    def test_is_refused_for_an_end_before_its_start(self, driving):
        with pytest.raises(InvalidArgument, match="Give start= before end="):
            drawn(driving, start=seconds(5), end=seconds(4))

    def test_is_refused_for_a_frame_nobody_knows(self, driving):
        with pytest.raises(UnknownFrame):
            drawn(driving, of="robbot")
