"""Which joint a part moves by, found from poses of it, against mechanisms whose truth is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("casadi")

from armillary import Transform
from armillary.articulation import ArticulationModel, RevoluteJoint
from armillary.errors import InvalidArgument
from armillary.motion import ArticulationEstimator, estimate_articulation
from randomness import rng, scaled
from unit.motion.mechanisms_kit import KINDS, axis_error_deg, mechanism, point_error_m, rows, turned, unit

Z = np.array([0.0, 0.0, 1.0])
LEAST_RIGHT = 0.97


def door(angles):
    """A part half a metre from a vertical axis through (1, 0, 0)."""
    hinge, lever = Transform.from_translation((1.0, 0.0, 0.0)), Transform.from_translation((0.0, 0.5, 0.0))
    return [hinge @ turned(Z, angle) @ lever for angle in angles]


class TestRandomMechanisms:
    """A fifth of the poses is anywhere; the others are off by 5 mm and 0.01 rad along and about each axis."""

    @pytest.mark.parametrize("noise", [{}, {"noise_m": 0.005, "noise_rad": 0.01}], ids=["found", "known"])
    def test_are_recognised(self, noise):
        random, found = rng(20 + len(noise)), Counter()
        axes, points, pitches, values = [], [], [], []
        count = scaled(25, 1000)
        for number in range(count):
            truth = mechanism(random, KINDS[number % len(KINDS)])
            guess = estimate_articulation(truth.poses, **noise)
            found[truth.kind, guess.kind] += 1
            if guess.kind != truth.kind or guess.kind in {"fixed", "unknown"}:
                continue
            axes.append(axis_error_deg(guess, truth))
            if guess.kind != "prismatic":
                points.append(point_error_m(guess, truth))
            if guess.kind == "screw":
                pitches.append(abs(guess.pitch_m - truth.pitch_m))
            off = np.sign(guess.axis @ truth.axis) * guess.values - truth.values
            values.append(np.abs(off - np.median(off))[guess.inliers & ~truth.is_wrong].mean())
        assert sum(found[kind, kind] for kind in KINDS) >= LEAST_RIGHT * count, found
        assert (np.median(axes), np.percentile(axes, 95)) < (0.5, 2.0)
        assert (np.median(points), np.percentile(points, 95)) < (0.005, 0.02)
        assert np.median(pitches) < 0.02
        assert np.median(values) < 0.012

    def test_have_parameters_with_honest_covariances(self):
        """The squared error of an axis over its covariance is 2 on average: a direction has two degrees of freedom."""
        random, count = rng(22), scaled(24, 400)
        axes, points, pitches = [], [], []
        for number in range(count):
            truth = mechanism(random, KINDS[1 + number % 3], wrong=0.0)
            guess = estimate_articulation(truth.poses, noise_m=0.005, noise_rad=0.01)
            if guess.kind != truth.kind:
                continue
            axis = np.sign(guess.axis @ truth.axis) * truth.axis
            axes.append(_squared(guess.axis - axis, guess.axis_covariance))
            if guess.point is not None:
                off = guess.point - truth.point
                points.append(_squared(off - axis * (off @ axis), guess.point_covariance))
            if guess.kind == "screw":
                pitches.append(((guess.pitch_m - truth.pitch_m) / guess.pitch_deviation_m) ** 2)
        for squares, degrees in ((axes, 2.0), (points, 2.0), (pitches, 1.0)):
            assert np.mean(squares) == pytest.approx(degrees, abs=4.0 * np.sqrt(2.0 * degrees / len(squares)))

    def test_without_noise_are_found_exactly(self):
        random = rng(23)
        for number in range(scaled(10, 100)):
            truth = mechanism(random, KINDS[number % len(KINDS)], noise_m=0.0, noise_rad=0.0, wrong=0.2)
            guess = estimate_articulation(truth.poses)
            assert guess.kind == truth.kind
            if guess.axis is not None:
                assert axis_error_deg(guess, truth) < 1e-4
                assert not (guess.inliers & truth.is_wrong).any()


class TestTheValues:
    def test_begin_at_the_first_pose_and_grow_along_the_axis(self):
        guess = estimate_articulation(rows(door([0.3, 0.5, 0.8, 1.4])))
        assert guess.values == pytest.approx([0.0, 0.2, 0.5, 1.1])
        assert guess.axis == pytest.approx(Z)
        assert guess.point == pytest.approx([1.0, 0.0, 0.0])
        assert guess.range == pytest.approx((0.0, 1.1))

    def test_are_those_of_all_poses_and_the_outliers_are_marked(self):
        poses = [*door(np.linspace(0, 1, 12)), Transform.from_translation((5.0, 5.0, 5.0))]
        guess = estimate_articulation(rows(poses))
        assert guess.inliers.tolist() == [True] * 12 + [False]
        assert len(guess.values) == 13

    def test_go_on_past_half_a_turn(self):
        guess = estimate_articulation(rows(door(np.linspace(0, 6, 30))))
        assert np.abs(guess.values) == pytest.approx(np.linspace(0, 6, 30))

    @pytest.mark.parametrize("angles", [[0.0, np.pi], [0.0, np.pi / 2, np.pi], np.linspace(0.0, np.pi, 9)])
    def test_may_be_half_a_turn_apart(self, angles):
        guess = estimate_articulation(rows(door(angles)))
        assert guess.kind == "revolute"
        assert np.abs(guess.axis) == pytest.approx(Z, abs=1e-9)
        assert guess.point == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
        assert np.abs(guess.values) == pytest.approx(np.asarray(angles))

    def test_may_be_tiny_where_the_noise_is(self):
        guess = estimate_articulation(rows(door(np.linspace(0.0, 1e-3, 30))), noise_m=1e-6, noise_rad=1e-6)
        assert (guess.kind, guess.point) == ("revolute", pytest.approx([1.0, 0.0, 0.0], abs=1e-3))

    def test_below_the_noise_are_no_motion(self):
        guess = estimate_articulation(rows(door(np.linspace(0.0, 1e-3, 30))), noise_m=0.01, noise_rad=0.01)
        assert (guess.kind, guess.range) == ("fixed", (0.0, 0.0))


class TestTooLittle:
    def test_is_one_pose(self):
        assert estimate_articulation(rows([Transform.identity()])).reason == "one pose says nothing of a motion."

    def test_is_none(self):
        guess = estimate_articulation(np.zeros((0, 7)))
        assert (guess.kind, len(guess.values)) == ("unknown", 0)

    @pytest.mark.parametrize("count", [2, 3, 50])
    def test_is_not_the_same_pose_again(self, count):
        guess = estimate_articulation(rows([Transform.from_translation((1.0, 2.0, 3.0))] * count))
        assert guess.kind == "fixed"
        assert guess.base_T_part.translation == pytest.approx([1.0, 2.0, 3.0])

    def test_is_poses_that_are_all_wrong(self):
        random = rng(24)
        poses = np.array([[*random.uniform(-1, 1, 3), *unit(random, 4)] for _ in range(40)])
        guess = estimate_articulation(poses)
        assert (guess.kind, guess.reason) == ("unknown", "no joint explains half of the poses.")
        assert np.isnan(guess.values).all()
        with pytest.raises(InvalidArgument, match="Watch it move some more"):
            guess.joint("q")


class TestInAModel:
    def test_is_a_link_with_a_joint_made_by_operations(self):
        model, poses = ArticulationModel(), door([0.3, 0.6, 1.0])
        model.add("room/links/wall")
        estimate_articulation(rows(poses)).add_to(model, "room/links/door", "room/links/wall", margin=0.1)
        assert model.tags[-3:] == (
            "create room/links/door",
            "create room/joints/door",
            "connect room/links/wall room/links/door",
        )
        for value, pose in zip([0.0, 0.3, 0.7], poses, strict=True):
            found = model.pose("room/links/door").evaluate({"room/door": value})
            assert (found.inverse() @ pose).log() == pytest.approx(np.zeros(6), abs=1e-9)
        limits = model.value("room/joints/door").limits
        assert (limits.lower, limits.upper) == pytest.approx((-0.1, 0.8))

    @pytest.mark.parametrize("kind", ["fixed", "prismatic", "screw"])
    def test_has_the_poses_that_were_seen(self, kind):
        truth = mechanism(rng(25), kind, count=8, noise_m=0.0, noise_rad=0.0, wrong=0.0)
        model, guess = ArticulationModel(), estimate_articulation(truth.poses)
        guess.add_to(model, "part")
        for value, row in zip(guess.values, truth.poses, strict=True):
            found = model.pose("part").evaluate({} if kind == "fixed" else {"part/position": value})
            seen = Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:])
            assert (found.inverse() @ seen).log() == pytest.approx(np.zeros(6), abs=1e-8)

    def test_is_replaced_by_a_newer_guess_and_can_be_undone(self):
        model, watching = ArticulationModel(), ArticulationEstimator(noise_m=0.002, noise_rad=0.004)
        model.add("room/links/wall")
        kinds = []
        for angle in [*[0.0] * 5, *np.linspace(0.0, 1.2, 40)]:
            watching.add(door([angle])[0])
            if len(watching) in {5, 45}:
                kinds.append(watching.guess.kind)
                watching.guess.add_to(model, "room/links/door", "room/links/wall")
        assert kinds == ["fixed", "revolute"]
        assert isinstance(model.value("room/joints/door"), RevoluteJoint)
        assert [variable.name for variable in model.variables()] == ["room/door"]
        model.undo()
        assert model.variables() == ()


class TestWatching:
    def test_comes_to_what_all_poses_at_once_say(self):
        truth = mechanism(rng(26), "revolute", wrong=0.1)
        watching = ArticulationEstimator(noise_m=0.005, noise_rad=0.01)
        for number, row in enumerate(truth.poses):
            watching.add(Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]))
            if number % 10 == 9:
                watching.guess  # noqa: B018  (each begins with the one before)
        at_once = estimate_articulation(truth.poses, noise_m=0.005, noise_rad=0.01)
        assert watching.guess.kind == at_once.kind == "revolute"
        assert watching.guess.axis == pytest.approx(at_once.axis, abs=1e-5)
        assert watching.guess.point == pytest.approx(at_once.point, abs=1e-5)

    def test_keeps_so_many_poses(self):
        watching = ArticulationEstimator(max_poses=10)
        for pose in door(np.linspace(0.0, 1.0, 101)):
            watching.add(pose)
        assert len(watching) <= 10
        assert watching.guess.kind == "revolute"
        assert watching.guess.range[1] > 0.8


class TestASentence:
    @pytest.mark.parametrize(
        ("poses", "words"),
        [
            ([[np.nan] * 7], "Pose 0 is not finite"),
            ([[0, 0, 0, 0, 0, 0, 0]], "quaternion of pose 0 has the length 0"),
            (np.zeros((3, 6)), r"have the shape \(3, 6\)"),
            ("poses", "no array of numbers"),
        ],
    )
    def test_for_poses_that_are_none(self, poses, words):
        with pytest.raises(InvalidArgument, match=words):
            estimate_articulation(poses)

    @pytest.mark.parametrize(
        "wrong",
        [{"noise_m": 0.0}, {"noise_rad": np.nan}, {"covariances": np.eye(3)}, {"noise_m": 1, "covariances": np.eye(6)}],
    )
    def test_for_noise_that_is_none(self, wrong):
        with pytest.raises(InvalidArgument):
            estimate_articulation(rows(door([0.0, 1.0])), **wrong)

    def test_for_what_is_no_pose(self):
        with pytest.raises(InvalidArgument, match="base_T_part"):
            ArticulationEstimator().add(np.eye(4))


def _squared(off, covariance):
    """The squared Mahalanobis length in the directions that have a variance."""
    values, vectors = np.linalg.eigh(covariance)
    is_free = values > 1e-9 * values[-1]
    return float((((vectors.T @ off)[is_free]) ** 2 / values[is_free]).sum())
