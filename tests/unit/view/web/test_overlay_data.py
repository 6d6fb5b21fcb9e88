"""Content of the overlays: ellipsoids, trails, velocities and rival hypotheses."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, seconds
from armillary.view.web._frames import frame_poses
from armillary.view.web._overlay_data import DEVIATIONS, ellipsoids, motions, rivals, trails
from unit.kit import CLOSE_M, drive, moved

QUARTER = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, np.pi / 2))


def poses(world, at=LATEST):
    return frame_poses(world, world.frames(), in_frame="map", at=at)


class TestAnEllipsoid:
    def test_has_the_deviations_as_radii(self, world):
        drive(world, 1.0, covariance=np.diag([0.04, 0.01, 0.09, 1e-4, 1e-4, 1e-4]))
        (found,) = ellipsoids(world, ["robot"], poses(world))
        assert sorted(found.radii) == pytest.approx(DEVIATIONS * np.array([0.1, 0.2, 0.3]))
        assert found.centre == pytest.approx([1.0, 0.0, 0.0])

    def test_turns_with_its_frame(self, world):
        covariance = np.diag([0.04, 0.01, 0.01, 0, 0, 0])
        world.set_pose(of="robot", in_frame="map", transform=QUARTER, at=seconds(1.0), covariance=covariance)
        (found,) = ellipsoids(world, ["robot"], poses(world))
        axes = Transform.from_xyz_wxyz(xyz=(0, 0, 0), wxyz=found.wxyz).matrix[:3, :3]
        assert np.abs(axes[:, found.radii.argmax()]) == pytest.approx([0.0, 1.0, 0.0], abs=CLOSE_M)

    def test_is_not_drawn_of_what_is_exact_or_unknown(self, world):
        drive(world, 1.0)
        world.fix(of="camera", in_frame="map", transform=moved(1))
        assert ellipsoids(world, ["robot", "camera", "map"], poses(world)) == []


class TestATrail:
    def test_is_the_way_of_the_last_seconds(self, world):
        drive(world, *range(1, 9))
        way = trails(world, ["robot"], poses(world), at=LATEST, length_s=3.0)["robot"]
        assert (way[0, 0], way[-1, 0]) == pytest.approx((5.0, 8.0))

    def test_ends_at_the_instant_that_is_shown(self, world):
        drive(world, *range(1, 9))
        way = trails(world, ["robot"], poses(world), at=seconds(4.0), length_s=1.0)["robot"]
        assert (way[0, 0], way[-1, 0]) == pytest.approx((3.0, 4.0))

    def test_is_as_long_as_the_history_at_most(self, world):
        drive(world, 1.0, 2.0)
        way = trails(world, ["robot"], poses(world), at=LATEST, length_s=30.0)["robot"]
        assert (way[0, 0], way[-1, 0]) == pytest.approx((1.0, 2.0))

    def test_is_omitted_for_frames_at_rest(self, world):
        for t in (1.0, 2.0):
            world.set_pose(of="box", in_frame="map", transform=moved(1), at=seconds(t))
        world.fix(of="camera", in_frame="map", transform=moved(1))
        assert trails(world, world.frames(), poses(world), at=LATEST, length_s=3.0) == {}


class TestMotion:
    def test_is_seen_from_the_frame_of_the_picture(self, world):
        world.fix(of="camera", in_frame="robot", transform=moved(0, 1))
        drive(world, 1.0, 2.0)
        (found,) = motions(world, ["camera"], poses(world), at=seconds(1.5))
        assert found.linear == pytest.approx([1.0, 0.0, 0.0])
        assert found.origin == pytest.approx([2.0, 1.0, 0.0])

    def test_is_left_out_where_it_is_not_known(self, world):
        drive(world, 1.0)
        world.fix(of="elsewhere", in_frame="moon", transform=moved(1))
        assert motions(world, ["elsewhere", "map"], poses(world), at=LATEST) == []


class TestRivals:
    def test_are_shown_each_where_it_says(self, world):
        for source, x in (("left", 1.0), ("right", 2.0)):
            world.set_pose(of="cup", in_frame="map", transform=moved(x), at=seconds(1.0), source=source)
        world.fix(of="rim", in_frame="cup", transform=moved(0, 0, 1))
        found = rivals(world, world.frames(), poses(world))
        positions = {(rival.of, rival.source_label): rival.row[:3].tolist() for rival in found}
        assert positions == {
            ("cup", "left"): [1, 0, 0],
            ("cup", "right"): [2, 0, 0],
            ("rim", "left"): [1, 0, 1],
            ("rim", "right"): [2, 0, 1],
        }

    def test_report_how_sure_each_is(self, world):
        for source, sigma in (("left", 0.1), ("right", 0.2)):
            covariance = sigma**2 * np.eye(6)
            world.set_pose(
                of="cup", in_frame="map", transform=moved(1), at=seconds(1.0), source=source, covariance=covariance
            )
        radii = {rival.source_label: rival.ellipsoid.radii[0] for rival in rivals(world, ["cup"], poses(world))}
        assert radii == pytest.approx({"left": DEVIATIONS * 0.1, "right": DEVIATIONS * 0.2})

    def test_are_none_once_one_is_preferred(self, world):
        for source, x in (("left", 1.0), ("right", 2.0)):
            world.set_pose(of="cup", in_frame="map", transform=moved(x), at=seconds(1.0), source=source)
        world.prefer(of="cup", source="left")
        assert rivals(world, world.frames(), poses(world)) == []
