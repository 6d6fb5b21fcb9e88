"""The tracker: a configuration from poses of links, as accurate as the thesis asks for, with covariance."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("casadi")
pytest.importorskip("daqp")

from armillary import Transform, World, seconds
from armillary.articulation import (
    ArticulationModel,
    Constraint,
    DifferentialDrive,
    FloatingJoint,
    Limits,
    PrismaticJoint,
    RevoluteJoint,
    SetValue,
    position,
)
from armillary.articulation.mechanisms import four_bar
from armillary.errors import InvalidArgument, UnknownPath
from armillary.motion import Tracker
from randomness import rng, scaled
from unit.motion.tracking_kit import (
    LEVELS,
    MOST_ITERATIONS,
    ObservedModel,
    directions,
    drawer_and_door,
    noisy,
    thesis_directions,
    values_of,
    variances,
    whole_kitchen,
)

DRAWER, DOOR, LEVER = "cabinet/links/drawer", "cabinet/links/door", "cabinet/links/lever"
FAR = 1e-6


@pytest.fixture(scope="module")
def furniture():
    return whole_kitchen()


@pytest.fixture
def cabinet():
    return drawer_and_door()


def along_x(x):
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


class TestTheKitchenOfTheThesis:
    """Spec 2.3: 60 poses, 23 joints, 200 samples, each search from the estimate before."""

    @pytest.mark.parametrize("level", LEVELS)
    def test_is_tracked_closer_than_by_the_thesis_code_at_each_level_of_noise(self, furniture, level):
        linear, angular = level[0], np.deg2rad(level[1])
        random, tracker = rng(int(1e4 * linear)), Tracker(furniture.model, furniture.links)
        errors, iterations = [], []
        for _ in range(scaled(60, 200)):
            truth = furniture.sampled(random)
            seen = noisy(random, furniture.poses(truth), linear, angular, thesis_directions)
            estimate = tracker.update(seen, covariances=variances(linear, angular))
            errors.append(np.abs(values_of(estimate, furniture.names) - truth).mean())
            iterations.append(estimate.iterations)
        assert len(furniture.links) == 60
        assert len(furniture.names) == 23
        assert np.mean(errors) < LEVELS[level]
        assert max(iterations) < MOST_ITERATIONS

    def test_is_found_exactly_where_nothing_is_noisy(self, furniture):
        random, tracker = rng(3), Tracker(furniture.model, furniture.links)
        for _ in range(scaled(20, 200)):
            truth = furniture.sampled(random)
            estimate = tracker.update(furniture.poses(truth))
            assert values_of(estimate, furniture.names) == pytest.approx(truth, abs=1e-6)

    def test_keeps_every_limit_however_large_the_noise(self, furniture):
        random, tracker = rng(4), Tracker(furniture.model, furniture.links)
        for _ in range(scaled(20, 200)):
            seen = noisy(random, furniture.poses(furniture.lower), 0.3, 0.4)
            assert furniture.model.is_valid(tracker.update(seen).configuration, tolerance=1e-9)


class TestWhatIsInView:
    def test_alone_is_estimated_and_the_rest_stays(self, cabinet):
        tracker = Tracker(cabinet, configuration={"cabinet/door": 0.7})
        estimate = tracker.update({DRAWER: along_x(0.2)})
        assert estimate.configuration == {
            "cabinet/door": 0.7,
            "cabinet/drawer": pytest.approx(0.2),
            "cabinet/lever": 0.0,
        }
        assert estimate.known == ("cabinet/drawer",)
        assert estimate.deviation("cabinet/door") == np.inf

    def test_may_be_the_last_link_of_a_chain(self, cabinet):
        observed = ObservedModel(cabinet, [LEVER])
        truth = {"cabinet/door": 1.1, "cabinet/lever": -0.4}
        estimate = Tracker(cabinet).update(observed.poses([truth[name] for name in observed.names]))
        assert {name: estimate.configuration[name] for name in truth} == pytest.approx(truth)
        assert estimate.known == ("cabinet/door", "cabinet/lever")

    def test_may_be_nothing(self, cabinet):
        estimate = Tracker(cabinet).update({})
        assert (estimate.known, estimate.iterations, estimate.converged) == ((), 0, True)

    def test_may_be_a_link_that_does_not_move(self, cabinet):
        tracker = Tracker(cabinet, [DRAWER, "cabinet/links/body"])
        assert tracker.update({"cabinet/links/body": Transform.identity()}).known == ()

    def test_weighs_as_much_as_it_is_sure(self, cabinet):
        cabinet.add("cabinet/links/front", None, DRAWER)
        tracker = Tracker(cabinet, [DRAWER, "cabinet/links/front"])
        seen = {DRAWER: along_x(0.1), "cabinet/links/front": along_x(0.2)}
        covariances = {DRAWER: (1e-4,) * 6, "cabinet/links/front": (3e-4,) * 6}
        estimate = tracker.update(seen, covariances=covariances)
        assert estimate.configuration["cabinet/drawer"] == pytest.approx(0.125)
        assert estimate.deviation("cabinet/drawer") == pytest.approx(np.sqrt(0.75e-4))

    def test_has_a_large_distance_where_it_is_no_such_link(self, cabinet):
        seen = Transform.from_xyz_rpy(xyz=(0.1, 1.0, 0.0), rpy=(0.0, 0.0, 0.0))
        assert Tracker(cabinet).update({DRAWER: seen}).distances[DRAWER] == pytest.approx(1e4)


class TestCovariance:
    def test_is_that_of_the_errors(self, cabinet):
        """The normalised squared error of n joints is n on average (NEES)."""
        observed, random, tracker = ObservedModel(cabinet, [DRAWER, DOOR, LEVER]), rng(5), Tracker(cabinet)
        truth, count = np.array([0.9, 0.2, 0.1]), scaled(400, 4000)
        assert observed.names == ["cabinet/door", "cabinet/drawer", "cabinet/lever"]
        squares = []
        for _ in range(count):
            seen = noisy(random, observed.poses(truth), 0.02, 0.03, directions)
            estimate = tracker.update(seen, covariances=variances(0.02, 0.03))
            error = values_of(estimate, observed.names) - truth
            squares.append(error @ np.linalg.solve(estimate.covariance, error))
        spread = 3.0 * np.std(squares) / np.sqrt(count)
        assert np.mean(squares) == pytest.approx(3.0, abs=spread)

    def test_is_infinite_where_poses_do_not_tell_two_joints_apart(self):
        model = ArticulationModel()
        model.add("rail/links/base")
        model.add("rail/links/inner", PrismaticJoint(variable="rail/inner"), "rail/links/base")
        model.add("rail/links/outer", PrismaticJoint(variable="rail/outer"), "rail/links/inner")
        estimate = Tracker(model, ["rail/links/outer"]).update({"rail/links/outer": along_x(0.4)})
        assert sum(estimate.configuration.values()) == pytest.approx(0.4)
        assert estimate.known == ()

    def test_comes_with_the_pose_of_a_world(self, cabinet):
        world = World()
        world.set_pose(of="marker", in_frame="map", transform=along_x(0.3), at=seconds(1), covariance=np.eye(6) * 4e-4)
        estimate = Tracker(cabinet).update({DRAWER: world.pose(of="marker", in_frame="map", at=seconds(1))})
        assert estimate.deviation("cabinet/drawer") == pytest.approx(0.02)

    def test_is_written_into_a_world_with_the_joints(self, cabinet):
        world = World()
        world.mount(cabinet, in_frame="map")
        tracker = Tracker(cabinet, configuration={"cabinet/door": 0.7})
        tracker.update({DRAWER: along_x(0.2)}).write_to(world, at=seconds(1))
        pose = world.pose(of="cabinet/drawer", in_frame="map", at=seconds(1))
        assert pose.transform.translation == pytest.approx([0.2, 0.0, 0.0])
        assert pose.covariance[0, 0] == pytest.approx(1e-4)
        assert not world.can_pose(of="cabinet/door", in_frame="map", at=seconds(1))

    def test_of_nothing_writes_nothing(self, cabinet):
        world = World()
        world.mount(cabinet, in_frame="map")
        Tracker(cabinet).update({}).write_to(world, at=seconds(1))
        assert not world.can_pose(of="cabinet/drawer", in_frame="map", at=seconds(1))


class TestConstraints:
    def test_of_several_joints_are_kept(self, cabinet):
        """The drawer opens as far as the door is open."""
        drawer, door = position("cabinet/drawer"), position("cabinet/door")
        cabinet.apply(SetValue("cabinet/lock", Constraint(0.0, np.inf, 0.5 * door - drawer)), tag="lock")
        observed = ObservedModel(cabinet, [DRAWER, DOOR])
        seen = observed.poses([0.2, 0.35])  # door, drawer
        estimate = Tracker(cabinet).update(seen)
        assert cabinet.is_valid(estimate.configuration, tolerance=1e-6)
        assert estimate.configuration["cabinet/door"] > 0.2
        assert estimate.configuration["cabinet/drawer"] < 0.35
        assert estimate.converged

    def test_that_contradict_one_another_leave_the_limits(self, cabinet):
        drawer, door = position("cabinet/drawer"), position("cabinet/door")
        cabinet.apply(SetValue("cabinet/one", Constraint(0.1, 0.1, drawer + door)), tag="one")
        cabinet.apply(SetValue("cabinet/other", Constraint(0.3, 0.3, drawer + door)), tag="other")
        estimate = Tracker(cabinet).update({DRAWER: along_x(0.9)})
        assert 0.0 <= estimate.configuration["cabinet/drawer"] <= 0.4

    def test_of_kinematic_loops_are_kept_and_the_followers_have_covariance(self):
        model = ArticulationModel()
        model.edit(four_bar("bars"))
        drivers = [v for v in model.variables() if v not in model.loops.dependents]
        truth = model.solve({drivers[0]: 0.4})
        followers = [path for path in model.links() if model.pose(path).gradient()]
        seen = {path: model.pose(path).evaluate(truth) for path in followers}
        estimate = Tracker(model, followers).update(seen)
        assert estimate.configuration == pytest.approx({v.name: value for v, value in truth.items()}, abs=1e-6)
        assert np.isfinite(estimate.covariance).all()
        assert model.is_valid(estimate.configuration, tolerance=1e-6)

    def test_let_an_angle_go_the_other_way_round(self):
        """From 4.2 rad to 0.3 rad the short way leads through the end of the range."""
        model = ArticulationModel()
        model.add("stove/links/body")
        knob = RevoluteJoint(variable="stove/knob", limits=Limits(lower=0.0, upper=4.5))
        model.add("stove/links/knob", knob, "stove/links/body")
        seen = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.0), rpy=(0.3, 0.0, 0.0))
        estimate = Tracker(model, configuration={"stove/knob": 4.2}).update({"stove/links/knob": seen})
        assert estimate.configuration["stove/knob"] == pytest.approx(0.3, abs=FAR)

    @pytest.mark.parametrize("turn", [np.pi, -np.pi, np.pi - 1e-9])
    def test_half_a_turn_is_found(self, turn):
        model = ArticulationModel()
        model.add("wheel/links/body")
        model.add("wheel/links/rim", RevoluteJoint(variable="wheel/turn"), "wheel/links/body")
        seen = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.0), rpy=(turn, 0.0, 0.0))
        estimate = Tracker(model).update({"wheel/links/rim": seen})
        found = model.pose("wheel/links/rim").evaluate(estimate.configuration)
        assert (found.inverse() @ seen).log() == pytest.approx(np.zeros(6), abs=1e-6)


class TestASentence:
    def test_for_an_unknown_link(self, cabinet):
        with pytest.raises(UnknownPath, match=r"cabinet/links/drawr.*Did you mean 'cabinet/links/drawer'"):
            Tracker(cabinet).update({"cabinet/links/drawr": along_x(0.1)})

    def test_for_links_that_do_not_move(self, cabinet):
        with pytest.raises(InvalidArgument, match="None of these links moves"):
            Tracker(cabinet, ["cabinet/links/body"])

    @pytest.mark.parametrize(
        ("covariance", "cure"),
        [
            (np.eye(3), "has shape"),
            ((0.0,) * 6, "no observation is exact"),
            ((np.nan,) * 6, "not finite"),
            (np.eye(6) + np.eye(6, k=1), "not symmetric"),
        ],
    )
    def test_for_a_covariance_that_is_none(self, cabinet, covariance, cure):
        tracker = Tracker(cabinet)
        before = tracker.configuration
        with pytest.raises(InvalidArgument, match=cure):
            tracker.update({DRAWER: along_x(0.3)}, covariances=covariance)
        assert tracker.configuration == before

    def test_for_a_start_that_is_no_number(self, cabinet):
        with pytest.raises(InvalidArgument, match="cannot begin at cabinet/door = nan"):
            Tracker(cabinet, configuration={"cabinet/door": np.nan})

    def test_for_an_observation_that_is_no_pose(self, cabinet):
        with pytest.raises(InvalidArgument, match="was observed at a Transform or a Pose"):
            Tracker(cabinet).update({DRAWER: np.eye(4)})

    @pytest.mark.parametrize(
        ("joint", "why"),
        [
            (FloatingJoint(variable="r/base"), "part of a rotation in space"),
            (
                DifferentialDrive(variable="r/base", wheel_radius_m=0.1, wheel_distance_m=0.4),
                "a speed without a position",
            ),
        ],
    )
    def test_for_links_that_move_otherwise_than_by_joints(self, joint, why):
        model = ArticulationModel()
        model.add("r/links/world")
        model.add("r/links/base", joint, "r/links/world")
        with pytest.raises(InvalidArgument, match=why):
            Tracker(model)

    @pytest.mark.parametrize("wrong", [{"tolerance": 0.0}, {"max_iterations": 0}, {"links": "cabinet/links/door"}])
    def test_for_a_parameter_out_of_range(self, cabinet, wrong):
        with pytest.raises(InvalidArgument):
            Tracker(cabinet, **wrong)
