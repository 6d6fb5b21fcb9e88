"""A motion between two bodies counts wherever a path crosses between them, whichever frame it was measured at."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AmbiguousPath
from unit.kit import moved

AT = seconds(0.5)
MOUNT = Transform.from_xyz_rpy(xyz=(0.3, -0.2, 0.1), rpy=(0.4, -0.5, 0.6))
V = np.array([1.0, -2.0, 0.5, 0.3, 0.7, -0.4])


def placed(t: float, sign: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(t, 2.0 * sign, 0.5 * t), rpy=(0.2 * sign, t, -0.3 * t * sign))


@pytest.fixture
def world() -> World:
    """A car with an imu on it drives in a hall that turns in a town; the hall has a camera."""
    world = World()
    world.add_body("car", frames=["base", "imu"])
    world.add_body("hall", frames=["floor", "camera"])
    world.fix(of="imu", in_frame="base", transform=MOUNT)
    world.fix(of="floor", in_frame="camera", transform=MOUNT)
    for t in (0, 1):
        world.set_pose(of="base", in_frame="floor", transform=placed(t, 1.0), at=seconds(t))
        world.set_pose(of="camera", in_frame="town", transform=placed(t, -1.0), at=seconds(t))
    return world


def measure(world: World, of: str, relative_to: str, v=V, source: str = "", **more) -> None:
    for t in (0, 1):
        named = {"of": of, "relative_to": relative_to, "expressed_in": of, "at": seconds(t), "source": source}
        world.set_twist(**named, linear=v[:3], angular=v[3:], **more)


def six(twist) -> np.ndarray:
    return np.r_[twist.linear, twist.angular]


EDGES = [("base", "hall"), ("imu", "floor"), ("camera", "base"), ("floor", "imu")]


class TestAMeasuredMotion:
    @pytest.mark.parametrize(("of", "relative_to"), EDGES)
    @pytest.mark.parametrize("end", ["base", "imu"])
    def test_telescopes(self, world, of, relative_to, end):
        measure(world, of, relative_to)
        ask = {"expressed_in": "town", "at": AT}
        near = world.twist(of=end, relative_to="hall", **ask)
        far = world.twist(of="floor", relative_to="town", point=end, **ask)
        whole = world.twist(of=end, relative_to="town", **ask)
        assert (near.method, far.method, whole.method) == ("measured", "differentiated", "mixed")
        np.testing.assert_allclose(six(whole), six(near) + six(far), atol=1e-9)
        assert of in {head for head, *_ in whole.relations}

    @pytest.mark.parametrize(("of", "relative_to"), EDGES)
    def test_continues_in_a_prediction(self, world, of, relative_to):
        measure(world, of, relative_to)
        body_form = six(world.twist(of="base", relative_to="floor", expressed_in="base", at=seconds(1)))
        ahead = world.pose(of="base", in_frame="floor", at=seconds(1.25), outside="predict")
        expected = placed(1.0, 1.0) @ Transform.exp(0.25 * body_form)
        np.testing.assert_allclose(ahead.transform.matrix, expected.matrix, atol=1e-9)
        rows = world.transforms(of="base", in_frame="floor", at=np.array([seconds(1.25)]), outside="predict")
        np.testing.assert_allclose(rows[0], expected.matrix, atol=1e-9)
        seen = world.snapshot(in_frame="floor", at=seconds(1.25), outside="predict")["base"]
        np.testing.assert_allclose(seen.matrix, expected.matrix, atol=1e-9)

    def test_propagates_its_covariance_to_the_edge(self, world):
        for of, in_frame in (("base", "floor"), ("camera", "town")):
            for t in (0, 1):
                transform = placed(t, 1.0 if of == "base" else -1.0)
                world.set_pose(
                    of=of, in_frame=in_frame, transform=transform, at=seconds(t), covariance=1e-12 * np.eye(6)
                )
        measure(world, "imu", "hall", covariance=0.01 * np.eye(6))
        near = world.twist(of="base", relative_to="floor", expressed_in="base", at=AT).covariance
        whole = world.twist(of="base", relative_to="town", expressed_in="base", at=AT).covariance
        np.testing.assert_allclose(whole, near, atol=1e-9)

    def test_of_a_frame_that_no_pose_connects_is_not_used(self, world):
        world.add_body("car", frames=["lamp"])
        measure(world, "lamp", "hall")
        assert world.twist(of="base", relative_to="town", at=AT).method == "differentiated"


class TestRivals:
    """Two who measure the motion between two bodies, wherever on them and whichever way round."""

    @pytest.mark.parametrize("other", EDGES[1:])
    @pytest.mark.parametrize("relative_to", ["floor", "town"])
    def test_are_not_chosen_from(self, world, other, relative_to):
        measure(world, "base", "hall", source="wheels")
        measure(world, *other, 2.0 * V, source="radar")
        with pytest.raises(AmbiguousPath, match=r"'wheels' and 'radar'.*prefer"):
            world.twist(of="base", relative_to=relative_to, at=AT)

    @pytest.mark.parametrize("frame", ["base", "imu", "floor"])
    def test_are_decided_by_a_preference_for_any_of_their_frames(self, world, frame):
        measure(world, "base", "hall", source="wheels")
        measure(world, "imu", "floor", 2.0 * V, source="radar")
        world.prefer(of=frame, source="radar")
        twist = world.twist(of="imu", relative_to="floor", expressed_in="imu", at=AT)
        np.testing.assert_allclose(six(twist), 2.0 * V, atol=1e-9)
        assert world.twist(of="base", relative_to="town", at=AT).method == "mixed"

    def test_that_are_preferred_against_each_other_still_are(self, world):
        for of, source in (("base", "wheels"), ("imu", "radar")):
            measure(world, of, "hall", source=source)
            world.prefer(of=of, source=source)
        with pytest.raises(AmbiguousPath):
            world.twist(of="base", relative_to="town", at=AT)

    def test_are_none_where_no_pose_joins_them(self, world):
        world.add_body("car", frames=["lamp"])
        measure(world, "base", "hall", source="wheels")
        measure(world, "lamp", "hall", 2.0 * V, source="radar")
        assert world.twist(of="base", relative_to="floor", at=AT).method == "measured"
        world.fix(of="lamp", in_frame="base", transform=moved(1.0))
        with pytest.raises(AmbiguousPath):
            world.twist(of="base", relative_to="floor", at=AT)
