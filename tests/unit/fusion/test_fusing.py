"""What is fused: worked examples with known answers, contradictions, unknown covariances, and many sources."""

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import UnknownCovariance
from armillary.fusion.policies import by_source

CLOSE = 2e-9
EXACT_TO_PRINT = 6e-11
SECOND_ORDER = 3e-8  # what the floor under nearly exact directions may add
AT = seconds(1)


def placed(x, y=0.0, z=0.0, *, roll=0.0, pitch=0.0, yaw=0.0):
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(roll, pitch, yaw))


def robot(apart=(0.0, 0.0), sightings=None):
    """A localised robot, two bolted cameras, and a cup that they see `apart` (scaled shift, yaw) from each other."""
    shift, yaw = apart
    world = World("robot")
    base = {"transform": placed(3, 4, yaw=0.7), "covariance": np.diag([0.0025] * 3 + [0.0004] * 3)}
    world.set_pose(of="base", in_frame="map", **base, at=AT)
    for camera, y, off in (
        ("l", 0.1, placed(0)),
        ("r", -0.1, placed(0.01 * shift, 0.02 * shift, 0.005 * shift, yaw=yaw)),
    ):
        mount = placed(0.2, y, 1.0, pitch=0.4)
        world.fix(of=camera, in_frame="base", transform=mount)
        seen = mount.inverse() @ placed(0.8, 0, 0.7) @ off
        if isinstance(sightings, str):
            world.fix(of="cup", in_frame=camera, transform=seen, source=camera)
        else:
            world.set_pose(of="cup", in_frame=camera, transform=seen, at=AT, source=camera, covariance=sightings)
    return world


def cup(world, in_frame="map"):
    return world.pose(of="cup", in_frame=in_frame, at=AT, policy="fuse")


def assert_is(pose, xyz, rotation_vector=None, diagonal=None, *, spread=CLOSE):
    close = EXACT_TO_PRINT
    assert pose.xyz == pytest.approx(xyz, abs=close)
    if rotation_vector is not None:
        assert pose.rotation.log() == pytest.approx(rotation_vector, abs=close)
    if diagonal is not None:
        assert np.diag(pose.covariance) == pytest.approx(diagonal, abs=spread)


class TestTwoCamerasOnARobot:
    """The answers are those of an independent least squares program."""

    XYZ = (3.6092557839, 4.5262436601, 0.7025)

    def test_without_covariances_is_unknown(self):
        with pytest.raises(UnknownCovariance, match="'cup' in 'l' by 'l', 'cup' in 'r' by 'r'") as caught:
            cup(robot((1, 0)))
        assert caught.value.paths == 2
        assert "default_covariance=" in str(caught.value)
        assert "policy='latest'" in str(caught.value)

    def test_that_contradict_each_other_is_their_mean_with_the_spread(self):
        pose = cup(robot((1, 0), "exact"))
        diagonal = (0.0027224425, 0.0030566125, 0.0027655, 0.0004, 0.0004, 0.0004)
        assert_is(pose, self.XYZ, (0, 0, 0.7), diagonal)
        assert pose.contradiction == pytest.approx(0.01)
        residuals = {relations[0][0]: residual for relations, residual in pose.judgement.residuals}
        assert len(residuals) == 2
        assert all(np.allclose(np.abs(residual[:3]), (0.005, 0.01, 0.0025)) for residual in residuals.values())

    def test_that_are_turned_against_each_other(self):
        diagonal = (0.0027234123, 0.0030556789, 0.0027655320, 0.0004, 0.0004, 0.0005)
        pose = cup(robot((1, 0.02), "exact"))
        assert_is(pose, (3.6093101319, 4.5262567500, 0.7025), (0, 0, 0.71), diagonal, spread=SECOND_ORDER)

    def test_in_the_frame_that_they_share(self):
        pose = cup(robot((1, 0), "exact"), in_frame="base")
        assert_is(pose, (0.805, 0.01, 0.7025), diagonal=(2.5e-5, 1e-4, 6.25e-6, 0, 0, 0))
        d = np.array([0.005, 0.01, 0.0025])
        assert pose.covariance[:3, :3] == pytest.approx(np.outer(d, d), abs=CLOSE)

    @pytest.mark.parametrize(
        ("variance", "diagonal"),
        [
            (1e-4, (0.0027474425, 0.0030066125, 0.00280925, 0.0004499987, 0.0004499996, 0.0004499984)),
            (1e-14, (0.0026974425, 0.0029566125, 0.00275925, 0.0004, 0.0004, 0.0004)),
        ],
    )
    def test_that_are_uncertain_contradict_nothing(self, variance, diagonal):
        pose = cup(robot((1, 0), variance * np.eye(6)))
        assert_is(pose, self.XYZ, (0, 0, 0.7), diagonal)
        assert pose.contradiction == 0.0


class TestExactRelations:
    def test_two_calibrations_of_one_camera(self):
        world = World()
        base = {"transform": placed(3, 4, yaw=0.7), "covariance": np.diag([0.0025] * 3 + [0.0004] * 3)}
        world.set_pose(of="base", in_frame="map", **base, at=AT)
        mount = placed(0.2, 0.1, 1.0, pitch=0.4)
        for source, transform in (("a", mount), ("b", mount @ placed(0.02, 0.01, 0, roll=0.02, yaw=0.01))):
            world.fix(of="camera", in_frame="base", transform=transform, source=source)
        world.set_pose(of="cup", in_frame="camera", transform=placed(0.5, 0, 0.8), at=AT, covariance=1e-4 * np.eye(6))
        pose = cup(world)
        turned = (-0.1295906884, 0.3873593610, 0.6934095614)
        diagonal = (0.0039995208, 0.0039304301, 0.0026426671, 0.0005999983, 0.0005000025, 0.0005249983)
        assert_is(pose, (3.6864610125, 4.7082580673, 1.5381484905), turned, diagonal, spread=SECOND_ORDER)
        assert pose.contradiction == pytest.approx(0.01, abs=1e-4)

    def test_three_that_differ_have_a_mean_that_no_frame_prefers(self):
        poses = ((0.1, 0, 0, 0.3, 0, 0), (0, 0.2, 0, 0, 0.4, 0), (0, 0, 0.3, 0, 0.1, -0.5))
        there, back = World(), World()
        for name, tangent in zip("abc", poses, strict=True):
            there.fix(of="cup", in_frame="map", transform=Transform.exp(tangent), source=name)
            back.fix(of="map", in_frame="cup", transform=Transform.exp(tangent).inverse(), source=name)
        pose = there.pose(of="cup", in_frame="map", policy="fuse")
        assert_is(pose, (0.0467877616, 0.0578666985, 0.0991640523), (0.1011786039, 0.1680182025, -0.1676421009))
        assert pose.is_close(back.pose(of="cup", in_frame="map", policy="fuse"), m=1e-12, rad=1e-12)
        assert pose.is_close(there.pose(of="map", in_frame="cup", policy="fuse").inverse(), m=1e-12, rad=1e-12)

    def test_behind_two_uncertain_parents(self):
        world = World()
        for parent, transform, variance, below in (
            ("x", placed(1, 2, yaw=0.3), 1e-2, placed(1)),
            ("y", placed(1.5, 2, pitch=0.2, yaw=0.1), 1e-3, placed(0.6, 0.2, 0.1)),
        ):
            world.fix(of=parent, in_frame="map", transform=transform, covariance=variance * np.eye(6))
            world.fix(of="cup", in_frame=parent, transform=below, source=parent)
        diagonal = (9.453833e-4, 1.2786428e-3, 1.3025183e-3, 9.072617e-4, 8.93843e-4, 8.925033e-4)
        assert_is(cup(world), (2.0694273196, 2.2601383903, -0.0211003948), diagonal=diagonal)

    def test_planes_that_meet_ten_kilometres_away_count_as_uncertain_as_they_differ(self):
        pose = self.on_planes(1e-6)
        assert pose.judgement.quality == "relaxed"
        assert pose.xyz == pytest.approx((0, 0, 0.005), abs=1e-6)
        assert np.sqrt(pose.covariance[2, 2]) == pytest.approx(0.00707, abs=1e-5)

    def test_planes_that_meet_where_their_errors_reach_are_met(self):
        pose = self.on_planes(0.1)
        assert pose.judgement.quality == "plain"
        assert pose.xyz == pytest.approx((0.1994484498, 0, -0.0050875575), abs=EXACT_TO_PRINT)

    def on_planes(self, tilt):
        world, plane = World(), np.diag([0.01, 0.01, 0, 0.01, 0.01, 0.01])
        for source, transform in (("a", placed(0)), ("b", placed(0, 0, 0.01, pitch=tilt))):
            world.fix(of="cup", in_frame="map", transform=transform, covariance=plane, source=source)
        return cup(world)


class TestAnUnknownCovariance:
    def world(self):
        world = World()
        seen = {"of": "cup", "in_frame": "map", "at": AT}
        world.set_pose(**seen, transform=placed(1.0), source="tracker", covariance=1e-6 * np.eye(6))
        world.set_pose(**seen, transform=placed(5.0), source="webcam")
        return world

    @pytest.mark.parametrize("policy", ["most_certain", "fuse"])
    def test_does_not_beat_a_tracker(self, policy):
        pose = self.world().pose(of="cup", in_frame="map", at=AT, policy=policy)
        assert pose.xyz[0] == 1.0
        assert [path.sources for path in pose.left_out] == [{"webcam"}]
        assert [path.sources for path in pose.paths_used] == [{"tracker"}]
        assert pose.disagreements == (0.0, None)

    def test_is_not_chosen_by_a_filter_either(self):
        pose = self.world().pose(of="cup", in_frame="map", at=AT, policy=by_source("tracker", "webcam", then="fuse"))
        assert (pose.xyz[0], len(pose.left_out)) == (1.0, 1)

    @pytest.mark.parametrize("policy", ["most_certain", "fuse"])
    def test_of_all_is_an_error_for_every_question(self, policy):
        world = self.world()
        world.set_pose(of="cup", in_frame="map", at=AT, transform=placed(1.0), source="tracker")
        asked = {"of": "cup", "in_frame": "map", "at": AT, "policy": policy}
        for ask in (world.pose, world.position, lambda **q: world.transforms(**q | {"at": [AT]})):
            with pytest.raises(UnknownCovariance):
                ask(**asked)
        assert not world.can_pose(**asked)
        assert "cup" in world.snapshot(in_frame="map", at=AT, policy=policy).missing
        assert world.pose(**asked | {"policy": "latest"}).covariance is None

    def test_is_replaced_by_the_default_of_the_world(self):
        world = World(default_covariance=0.01 * np.eye(6))
        for source, x in (("a", 1.0), ("b", 2.0)):
            world.set_pose(of="cup", in_frame="map", at=AT, transform=placed(x), source=source)
        assert cup(world).xyz[0] == pytest.approx(1.5)


class TestManySources:
    def test_at_one_frame_are_weighed_by_their_information(self):
        rng, world = np.random.default_rng(seed=1), World()
        xs, variances = rng.normal(1.0, 0.01, 64), rng.uniform(1e-5, 1e-3, 64)
        for k in range(64):
            seen = {"transform": placed(xs[k]), "covariance": variances[k] * np.eye(6)}
            world.set_pose(of="cup", in_frame="map", at=AT, source=f"camera {k:02}", **seen)
        pose = cup(world)
        assert pose.xyz[0] == pytest.approx(np.sum(xs / variances) / np.sum(1 / variances), abs=1e-12)
        assert pose.covariance[0, 0] == pytest.approx(1 / np.sum(1 / variances), rel=1e-9)


class TestABatch:
    def world(self, samples=200):
        rng, world = np.random.default_rng(seed=2), World(history=None)
        stamps = AT + 10_000_000 * np.arange(samples)
        for source in ("a", "b"):
            rows = np.tile([1.0, 0, 0, 1, 0, 0, 0], (samples, 1))
            rows[:, :3] += rng.normal(0, 0.01, (samples, 3))
            covariances = rng.uniform(1e-5, 1e-3, (samples, 6))
            world.set_poses(
                of="cup", in_frame="base", transforms=rows, at=stamps, covariances=covariances, source=source
            )
        world.set_poses(of="base", in_frame="map", transforms=rows, at=stamps)
        world.fix(of="rim", in_frame="cup", transform=placed(0, 0, 0.1))
        return world, stamps

    @pytest.mark.parametrize("policy", ["latest", "fuse", "most_certain"])
    def test_is_what_single_questions_give(self, policy):
        world, stamps = self.world()
        at = stamps[0] + np.sort(np.random.default_rng(seed=3).integers(0, stamps[-1] - stamps[0], 150))
        asked = {"of": "rim", "in_frame": "base", "policy": policy}
        batch = world.transforms(**asked, at=at)
        single = np.array([world.pose(**asked, at=int(t)).transform.matrix for t in at])
        assert np.abs(batch - single).max() < 1e-12
        points = world.map_points(np.ones((150, 3)), from_frame="rim", to_frame="base", at=at, policy=policy)
        assert np.abs(points - (single[:, :3, :3].sum(axis=2) + single[:, :3, 3])).max() < 1e-12

    def test_goes_on_where_a_contest_begins_and_ends(self):
        world, stamps = self.world(20)
        late = stamps[5] + 1
        world.fix(of="cup", in_frame="base", transform=placed(9.0), at=late, source="c")
        world.prefer(of="cup", source="c")
        xs = world.transforms(of="cup", in_frame="base", at=stamps, policy="fuse")[:, 0, 3]
        expected = [world.pose(of="cup", in_frame="base", at=int(t), policy="fuse").xyz[0] for t in stamps]
        assert xs == pytest.approx(expected, abs=1e-12)
        assert set(xs[6:]) == {9.0}


class TestACovariance:
    def test_is_not_computed_where_it_is_not_wanted(self):
        world = robot((1, 0), 1e-4 * np.eye(6))
        base = {"of": "base", "in_frame": "map", "at": AT}
        assert world.pose(**base, covariance=False).covariance is None
        assert world.pose(**base, covariance=False).is_close(world.pose(**base))
        fused = {"of": "cup", "in_frame": "map", "at": AT, "policy": "fuse"}
        assert world.pose(**fused, covariance=False).covariance is None
        assert world.pose(**fused, covariance=False).is_close(world.pose(**fused), m=0.0, rad=0.0)
        assert world.pose(**base, point="l", covariance=False).covariance is None
