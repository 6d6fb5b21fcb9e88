"""`policy="filter"`: the vector of the specification, a plain oracle, honesty, late data, gating, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import randomness
from armillary import LATEST, Transform, World, seconds
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, UnknownCovariance
from armillary.fusion.filter import Filter, FilteredPose
from armillary.fusion.se3 import adjoints
from filter_reference import ReferenceFilter
from randomness import IS_USUAL
from se3_reference import exponentials
from unit.kit import moved

SURE = np.diag([1e-4] * 3 + [4e-4] * 3)
GYRO = np.diag([1e12] * 3 + [1e-4] * 3)
EDGE = {"of": "cup", "in_frame": "map"}


def add_pose(world, tangent, at_s, source="left", covariance=SURE, **edge):
    world.set_pose(
        **EDGE | edge, transform=Transform.exp(tangent), at=seconds(at_s), source=source, covariance=covariance
    )


def add_twist(world, twist, at_s, covariance, source="gyro"):
    linear, angular = np.split(np.asarray(twist, dtype=float), 2)
    given = {"linear": linear, "angular": angular, "covariance": covariance, "source": source}
    world.set_twist(of="cup", relative_to="map", expressed_in="cup", **given, at=seconds(at_s))


def drive(world, count=20, step_s=0.1, **more):
    """A cup that moves at one metre a second."""
    for k in range(count):
        add_pose(world, (k * step_s, 0, 0, 0, 0, 0), k * step_s, **more)


class Truth:
    """A body whose acceleration is white noise."""

    def __init__(self, rng, speed_change, dt_s=0.01):
        self.rng, self.dt, self.noise = rng, dt_s, np.repeat(speed_change, 3) * np.sqrt(dt_s)
        self.pose, self.velocity = Transform.identity(), np.array([0.6, -0.3, 0.1, 0.2, -0.1, 0.5])

    def step(self):
        change = self.noise * self.rng.normal(size=6)
        self.pose = self.pose @ Transform.exp((self.velocity + change / 2) * self.dt)
        self.velocity = self.velocity + change


def simulated(rng, *, truth_change=(0.5, 0.7), duration_s=3.0):
    """Poses at 10 Hz and 6.5 Hz by two cameras, and a gyro at 25 Hz; returns also the truth at the end."""
    world, truth = World(history=None), Truth(rng, truth_change)
    other = np.diag([4e-4] * 3 + [1e-4] * 3)
    for k in range(1, round(duration_s / 0.01) + 1):
        truth.step()
        at_s = k * 0.01
        if k % 10 == 0:
            look = truth.pose @ Transform.exp(np.sqrt(np.diag(SURE)) * rng.normal(size=6))
            add_pose(world, look.log(), at_s)
        if k % 15 == 7:
            look = truth.pose @ Transform.exp(np.sqrt(np.diag(other)) * rng.normal(size=6))
            add_pose(world, look.log(), at_s, source="right", covariance=other)
        if k % 4 == 1 and k > 20:
            add_twist(world, np.r_[0, 0, 0, truth.velocity[3:] + 1e-2 * rng.normal(size=3)], at_s, GYRO)
    return world, truth


def nees(error, covariance):
    return float(error @ np.linalg.solve(covariance, error))


class TestTheVectorOfTheSpecification:
    def test_is_met_to_its_digits(self):
        world = World(predict_up_to_s=1.0)
        add_pose(world, np.zeros(6), 0.0)
        add_pose(world, (0.1, 0.01, 0, 0, 0, 0.05), 0.1)
        add_twist(world, (0, 0, 0, 0, 0, 0.6), 0.15, GYRO)
        add_pose(world, (0.21, 0.01, 0, 0, 0.01, 0.11), 0.2, covariance=2 * SURE)
        policy = Filter(speed_change=(0.3**0.5, 0.5**0.5), first_speed=(2, 2))
        found = world.pose(**EDGE, at=seconds(0.5), policy=policy, outside="predict")
        np.testing.assert_allclose(found.xyz, [0.5153325792, 0.0984935064, -0.0032313229], atol=1e-9)
        np.testing.assert_allclose(found.transform.log()[3:], [2.54936e-4, 4.7195158e-3, 0.2909467505], atol=1e-9)
        velocity = [1.0598737800, 0.0391824718, -0.0037302457, 2.52177e-4, 0.0055336319, 0.5987042811]
        np.testing.assert_allclose(found.report.velocity, velocity, atol=1e-9)
        variances = [0.0059472757, 0.0060909036, 0.0061078378, 0.0072214845, 0.0072206296, 0.0072355653]
        np.testing.assert_allclose(np.diag(found.covariance), variances, rtol=1e-7)
        assert found.report.predicted_s == pytest.approx(0.3)


class TestAgainstAPlainFilter:
    @pytest.mark.parametrize("seed", range(6))
    def test_answers_are_the_same(self, seed):
        rng, world, policy = np.random.default_rng(seed), World(history=None), Filter(window_s=100.0)
        plain = ReferenceFilter(policy.speed_change, policy.first_speed, policy.gates[6])
        stamps = np.sort(rng.choice(4000, size=60, replace=False)) * 1e-3
        speed = rng.normal(size=6) * (0.5, 0.5, 0.5, 0.8, 0.8, 0.8)
        for k, at_s in enumerate(stamps):
            root = rng.normal(size=(6, 6)) * 0.02
            covariance = root @ root.T + 1e-5 * np.eye(6)
            if k % 3 == 2:
                twist = speed + root @ rng.normal(size=6)
                add_twist(world, twist, at_s, covariance)
                plain.add(round(at_s, 3), "twist", twist, covariance)
                continue
            tangent = (Transform.exp(speed * at_s) @ Transform.exp(root @ rng.normal(size=6))).log()
            add_pose(world, tangent, at_s, source="ab"[k % 2], covariance=covariance)
            plain.add(round(at_s, 3), "pose", exponentials(tangent), covariance)
        found = world.pose(**EDGE, policy=policy)
        expected, P = plain.predicted(found.stamp * 1e-9)
        np.testing.assert_allclose(found.transform.matrix[:3, 3], expected[:3], atol=1e-9)
        np.testing.assert_allclose(found.covariance, P[:6, :6], rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(found.report.velocity, plain.velocity, atol=1e-8)
        assert len(found.report.rejected) == len(plain.rejected)


class TestHonesty:
    def test_of_pose_and_velocity_and_prediction(self):
        rng, policy = randomness.rng(1), Filter()
        pose, velocity, ahead, innovation = [], [], [], []
        for _ in range(300 if IS_USUAL else 1500):
            world, truth = simulated(rng)
            now = world.pose(**EDGE, at=seconds(3.0), policy=policy)
            pose.append(nees((now.transform.inverse() @ truth.pose).log(), now.covariance))
            velocity.append(nees(truth.velocity - now.report.velocity, now.report.velocity_covariance))
            innovation.append(now.report.innovation)
            for _ in range(40):
                truth.step()
            later = world.pose(**EDGE, at=seconds(3.4), policy=policy, outside="predict")
            ahead.append(nees((later.transform.inverse() @ truth.pose).log(), later.covariance))
        for found in (pose, velocity, ahead):
            assert 5.0 < np.mean(found) < 7.0  # 6 plus or minus five deviations of the mean of 300
        assert 0.95 < np.mean(innovation) < 1.05

    def test_of_the_motion_noise_is_told_by_the_innovation(self):
        world, _ = simulated(np.random.default_rng(3), truth_change=(1.0, 1.4), duration_s=6.0)
        found = [
            world.pose(**EDGE, policy=Filter(speed_change=(0.5 * f, 0.7 * f), gate=1 - 1e-12)).report.innovation
            for f in (0.5, 1, 2, 4, 8)
        ]
        assert found == sorted(found, reverse=True)
        assert found[0] > 1.3
        assert found[-1] < 0.8


class TestTheOrderOfArrival:
    def test_does_not_matter_to_the_last_bit(self):
        rng = np.random.default_rng(5)
        steps = [(k, "ab"[k % 2], rng.normal(size=6) * 0.1) for k in range(30)]
        answers = set()
        for _ in range(5):
            world = World(history=None)
            for k in rng.permutation(len(steps)):
                at, source, tangent = steps[k]
                add_pose(world, tangent + np.array([0.1 * at, 0, 0, 0, 0, 0]), 0.1 * at, source=source)
                if rng.random() < 0.3:
                    world.pose(**EDGE, policy="filter")
            found = world.pose(**EDGE, policy="filter")
            answers.add((found.transform.xyz_wxyz.tobytes(), found.covariance.tobytes()))
        assert len(answers) == 1

    def test_lets_late_samples_change_what_comes_after_them(self):
        world, late = World(history=None), World(history=None)
        drive(world)
        drive(late)
        before = late.pose(**EDGE, policy="filter")
        for one in (world, late):
            add_pose(one, (0.97, 0.02, 0, 0, 0, 0), 0.95, source="right")
        after = late.pose(**EDGE, policy="filter")
        assert not np.array_equal(before.covariance, after.covariance)
        np.testing.assert_array_equal(after.covariance, world.pose(**EDGE, policy="filter").covariance)

    def test_lets_corrected_samples_count(self):
        world = World(history=None)
        drive(world)
        world.pose(**EDGE, policy="filter")
        add_pose(world, (1.0, 0.05, 0, 0, 0, 0), 1.0)
        fresh = World(history=None)
        drive(fresh)
        add_pose(fresh, (1.0, 0.05, 0, 0, 0, 0), 1.0)
        found, expected = (one.pose(**EDGE, policy="filter").transform.xyz_wxyz for one in (world, fresh))
        np.testing.assert_array_equal(found, expected)

    def test_of_questions_does_not_matter_either(self):
        world = World(history=None)
        drive(world, count=400)
        asked = [seconds(t) for t in (39.9, 5.0, 25.0, 5.0, 39.9, 0.0)]
        found = [world.pose(**EDGE, at=at, policy="filter").transform.xyz_wxyz.tobytes() for at in asked]
        assert (found[0], found[1]) == (found[4], found[3])


class TestAnAnswer:
    def test_uses_only_what_was_measured_until_then(self):
        world, shorter = World(history=None), World(history=None)
        drive(world, count=20)
        drive(shorter, count=11)
        then, last = world.pose(**EDGE, at=seconds(1.0), policy="filter"), shorter.pose(**EDGE, policy="filter")
        np.testing.assert_array_equal(then.covariance, last.covariance)
        assert last.stamp == seconds(1.0)

    def test_is_better_than_any_single_sample(self):
        world = World(history=None)
        drive(world)
        assert np.trace(world.pose(**EDGE, policy="filter").covariance) < 0.8 * np.trace(SURE)

    def test_is_not_pulled_back_by_a_source_that_fell_silent(self):
        world = World(history=None)
        drive(world, count=3, source="right")
        drive(world)
        found = world.pose(**EDGE, at=LATEST, policy="filter")
        assert found.stamp == seconds(1.9)
        assert found.report.sources == ("left", "right")

    def test_says_what_it_was_made_of(self):
        world = World(history=None)
        drive(world)
        found = world.pose(**EDGE, policy="filter")
        assert isinstance(found, FilteredPose)
        assert (found.method, found.report.used, found.report.predicted_s) == ("filtered", 20, 0.0)
        assert found.relations == (("cup", "map", "left"),)
        np.testing.assert_allclose(found.report.velocity, [1, 0, 0, 0, 0, 0], atol=0.05)
        assert type(found.inverse()).__name__ == "Pose"

    def test_beyond_the_last_measurement_is_predicted_held_or_refused(self):
        world = World(history=None, predict_up_to_s=0.5)
        drive(world)
        with pytest.raises(AfterHistory):
            world.pose(**EDGE, at=seconds(2.2), policy="filter")
        ahead = world.pose(**EDGE, at=seconds(2.2), policy="filter", outside="predict")
        assert ahead.predicted
        assert ahead.xyz[0] == pytest.approx(2.2, abs=0.05)
        held = world.pose(**EDGE, at=seconds(2.2), policy="filter", outside="hold")
        assert held.held
        np.testing.assert_array_equal(held.xyz, world.pose(**EDGE, policy="filter").xyz)
        assert held.held[0].age_s == pytest.approx(0.3)
        with pytest.raises(AfterHistory, match="hold_up_to_s"):
            world.pose(**EDGE, at=seconds(2.2), policy="filter", outside="hold", hold_up_to_s=0.1)
        with pytest.raises(AfterHistory, match="a prediction reaches"):
            world.pose(**EDGE, at=seconds(3.0), policy="filter", outside="predict")

    def test_before_the_first_pose_is_refused(self):
        world = World(history=None)
        drive(world)
        with pytest.raises(BeforeHistory):
            world.pose(**EDGE, at=seconds(-1), policy="filter")

    def test_goes_through_other_parents_and_fixed_frames(self):
        world, rng = World(history=None), np.random.default_rng(2)
        world.fix(of="handle", in_frame="cup", transform=moved(0.1))
        for k in range(20):
            camera = Transform.exp(rng.uniform(-0.3, 0.3, size=6))
            world.set_pose(of="camera", in_frame="map", transform=camera, at=seconds(0.1 * k), covariance=np.zeros(6))
            seen = camera.inverse() @ moved(0.1 * k)
            add_pose(world, seen.log(), 0.1 * k, in_frame="camera")
        straight = World(history=None)
        drive(straight)
        found, expected = (one.pose(of="cup", in_frame="map", policy="filter") for one in (world, straight))
        np.testing.assert_allclose(found.transform.matrix, expected.transform.matrix, atol=1e-9)
        np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6, atol=1e-12)
        handle = world.pose(of="handle", in_frame="map", policy="filter")
        np.testing.assert_allclose(handle.xyz, expected.xyz + np.array([0.1, 0, 0]), atol=1e-9)
        carry = adjoints(moved(0.1).inverse().xyz_wxyz)
        np.testing.assert_allclose(handle.covariance, carry @ found.covariance @ carry.T, rtol=1e-6, atol=1e-12)

    def test_is_given_to_every_kind_of_question(self):
        world = World(history=None)
        drive(world)
        stamps = np.array([seconds(0.5), seconds(1.0)])
        rows = world.transforms(**EDGE, at=stamps, policy="filter")
        np.testing.assert_array_equal(rows[1], world.pose(**EDGE, at=seconds(1.0), policy="filter").transform.matrix)
        assert world.can_pose(**EDGE, at=seconds(1.0), policy=Filter())
        assert not world.can_pose(**EDGE, at=seconds(9.0), policy="filter")
        points = world.map_points([[0, 0, 0]], from_frame="cup", to_frame="map", at=seconds(1.0), policy="filter")
        np.testing.assert_allclose(points[0], rows[1][:3, 3])
        assert "cup" in world.snapshot(in_frame="map", policy="filter")
        assert world.wait_for_pose(**EDGE, policy="filter", timeout_s=1.0).stamp == seconds(1.9)


class TestGating:
    def test_rejects_outliers_and_lists_them(self):
        world = World(history=None)
        drive(world)
        add_pose(world, (5, 0, 0, 0, 0, 0), 1.05, source="right")
        found = world.pose(**EDGE, policy="filter")
        (rejected,) = found.report.rejected
        assert (rejected.stamp, rejected.source) == (seconds(1.05), "right")
        assert rejected.distance > 20
        assert found.xyz[0] == pytest.approx(1.9, abs=0.02)

    def test_gives_in_after_five_in_a_row(self):
        world = World(history=None)
        drive(world, count=10)
        for k in range(10, 20):
            add_pose(world, (9 + 0.1 * k, 0, 0, 0, 0, 0), 0.1 * k)
        found = world.pose(**EDGE, policy="filter")
        assert found.report.restarted == (seconds(1.4),)
        assert found.xyz[0] == pytest.approx(10.9, abs=0.02)
        assert len(found.report.rejected) == 4

    def test_does_not_give_in_to_outliers_that_are_rare(self):
        world = World(history=None)
        drive(world, count=100)
        for k in range(8):
            add_pose(world, (50, 0, 0, 0, 0, 0), 1.05 + k, source="right")
        found = world.pose(**EDGE, policy="filter")
        assert (len(found.report.rejected), found.report.restarted) == (8, ())


class TestWhatIsUnknown:
    def test_is_left_out_and_named(self):
        world = World(history=None)
        drive(world)
        drive(world, source="webcam", covariance=None)
        found = world.pose(**EDGE, policy="filter")
        assert found.report.left_out == (("cup", "map", "webcam"),)
        assert found.report.sources == ("left",)

    def test_is_refused_where_nothing_else_is_there(self):
        world = World(history=None)
        drive(world, covariance=None)
        with pytest.raises(UnknownCovariance, match="How certain the pose of 'cup' in 'map' is, is unknown") as caught:
            world.pose(**EDGE, policy="filter")
        assert caught.value.relations == (("cup", "map", "left"),)

    def test_of_several_sources_names_them_all(self):
        world = World(history=None)
        drive(world, covariance=None)
        drive(world, source="webcam", covariance=None)
        with pytest.raises(UnknownCovariance, match="Which of 2 paths") as caught:
            world.pose(**EDGE, policy="filter")
        assert {source for *_, source in caught.value.relations} == {"left", "webcam"}


class TestTheWindow:
    def test_lets_the_far_past_go(self):
        world, short = World(history=None), World(history=None)
        drive(world, count=400)
        drive(short, count=400)
        short.clear()
        for k in range(250, 400):
            add_pose(short, (0.1 * k, 0, 0, 0, 0, 0), 0.1 * k)
        policy = Filter(window_s=5.0)
        found, expected = (one.pose(**EDGE, policy=policy) for one in (world, short))
        assert found.report.used <= 100
        np.testing.assert_allclose(found.xyz, expected.xyz, atol=1e-6)


class TestAFilter:
    @pytest.mark.parametrize(
        "given",
        [
            {"speed_change": 1},
            {"speed_change": (1, 2, 3)},
            {"speed_change": (0, 1)},
            {"first_speed": ("a", 1)},
            {"first_speed": (float("nan"), 1)},
            {"gate": 1.0},
            {"gate": "x"},
            {"window_s": 0},
            {"window_s": None},
        ],
    )
    def test_refuses_what_it_cannot_use(self, given):
        with pytest.raises(InvalidArgument):
            Filter(**given)

    def test_has_the_gates_of_the_distribution(self):
        gates = Filter(gate=0.9999).gates
        np.testing.assert_allclose([gates[1], gates[3], gates[6]], [15.1367, 21.1075, 27.8563], atol=1e-3)

    def test_answers_for_one_instant_only(self):
        world = World(history=None)
        drive(world)
        with pytest.raises(InvalidArgument, match="one instant"):
            world.pose(**EDGE, at=seconds(1), of_at=seconds(1), fixed_frame="map", policy="filter")


class TestWhatIsReadAnew:
    """The samples are read with every question, and the filter goes on from the first that differs."""

    @staticmethod
    def plain(policy, looks):
        plain = ReferenceFilter(policy.speed_change, policy.first_speed, policy.gates[6])
        for at_s, tangent, covariance in sorted(looks, key=lambda look: look[0]):
            plain.add(at_s, "pose", exponentials(np.asarray(tangent, dtype=float)), covariance)
        return plain

    @pytest.mark.parametrize("seed", range(4))
    def test_is_what_a_plain_filter_makes_of_all_samples(self, seed):
        rng, policy = np.random.default_rng(seed), Filter(window_s=100.0)
        world, looks = World(history=None), {}
        for at_s in rng.permutation(np.round(np.arange(40) * 0.05, 3)).tolist():
            error = 0.01 * rng.normal(size=6)
            for value in (error, error + 0.001) if rng.random() < 0.2 else (error,):  # some are corrected
                looks[at_s] = (at_s, np.r_[at_s, 0, 0, 0, 0, 0] + value, SURE)
                add_pose(world, looks[at_s][1], at_s)
            if len(looks) < 2 or rng.random() < 0.5:
                continue
            found = world.pose(**EDGE, policy=policy)
            plain = self.plain(policy, looks.values())
            expected, P = plain.predicted(found.stamp * 1e-9)
            np.testing.assert_allclose(found.transform.matrix[:3, 3], expected[:3], atol=1e-9)
            np.testing.assert_allclose(found.covariance, P[:6, :6], rtol=1e-6, atol=1e-12)
            assert found.report.used + len(found.report.rejected) == len(looks)
            assert len(found.report.rejected) == len(plain.rejected)
            if found.report.innovation is not None:
                assert found.report.innovation == pytest.approx(np.mean(plain.innovations) / 6, rel=1e-6)

    def test_has_the_errors_of_an_uncertain_mount_in_each_sample(self):
        world, policy = World(history=None), Filter(window_s=100.0)
        mount, mounted = np.diag([1e-6] * 3 + [4e-6] * 3), Transform.exp((0.3, -0.2, 0.5, 0.1, 0.2, -0.3))
        world.fix(of="camera", in_frame="map", transform=mounted, covariance=mount)
        looks = []
        for k in range(15):
            seen = Transform.exp((1 + 0.01 * k, 0, 0, 0, 0, 0.02 * k))
            add_pose(world, seen.log(), 0.1 * k, in_frame="camera")
            carry = adjoints(seen.inverse().xyz_wxyz)
            looks.append((0.1 * k, (mounted @ seen).log(), SURE + carry @ mount @ carry.T))
        found = world.pose(**EDGE, policy=policy)
        plain = self.plain(policy, looks)
        expected, P = plain.predicted(found.stamp * 1e-9)
        np.testing.assert_allclose(found.transform.matrix[:3, 3], expected[:3], atol=1e-9)
        np.testing.assert_allclose(found.covariance, P[:6, :6], rtol=1e-6, atol=1e-12)
        assert found.relations == (("cup", "camera", "left"),)

    def test_drops_what_was_forgotten_and_what_was_taken_out(self):
        world = World(history=None)
        drive(world)
        before = world.pose(**EDGE, policy="filter")
        add_pose(world, (5.0, 0, 0, 0, 0, 0), 1.95, source="wrong")
        assert world.pose(**EDGE, policy="filter").report.rejected
        world.forget(of="cup", source="wrong")
        after = world.pose(**EDGE, policy="filter")
        assert after == before
        assert after.report.rejected == ()
