"""Several paths: which are used, what is fused, what the answer contains, and every question that takes a policy."""

import pickle

import numpy as np
import pytest

from armillary import LATEST, Pose, Transform, World, seconds
from armillary.errors import (
    AmbiguousPath,
    BeforeHistory,
    ContestedJoint,
    InvalidArgument,
    LimitReached,
    NoPathChosen,
    UnknownCovariance,
    WaitTimeout,
)
from armillary.fusion.policies import Candidate, PolicyPose, by_attribute, by_source, fuse
from armillary.scene import AddJoints, ClosedForm, Drive, less
from unit.kit import PROMPT_S, WAIT_S, Mailbox, moved, x_of

CLOSE = 1e-9
SURE, VAGUE = 0.01 * np.eye(6), 0.04 * np.eye(6)
CUP = {"of": "cup", "in_frame": "map"}


@pytest.fixture
def cameras(world):
    """The left camera sees the cup at 1 m and surely, the right one at 2 m, later and less surely."""
    for t in (1.0, 2.0, 3.0):
        world.set_pose(**CUP, transform=moved(1.0), at=seconds(t), covariance=SURE, source="left")
        world.set_pose(**CUP, transform=moved(2.0), at=seconds(t + 0.5), covariance=VAGUE, source="right")
    world.fix(of="rim", in_frame="cup", transform=moved(0.0, 0.0, 0.1))
    world.fix(of="base", in_frame="map", transform=moved(3.0))
    return world


class TestLatest:
    def test_takes_the_path_whose_data_are_newest(self, cameras):
        pose = cameras.pose(**CUP, policy="latest")
        assert (x_of(pose), pose.stamp) == (2.0, seconds(3.5))

    def test_looks_at_the_newest_datum_before_an_instant(self, cameras):
        assert x_of(cameras.pose(**CUP, at=seconds(2.2), policy="latest")) == 1.0
        assert x_of(cameras.pose(**CUP, at=seconds(2.7), policy="latest")) == 2.0

    def test_does_not_change_its_mind_about_the_past(self, cameras):
        before = cameras.pose(**CUP, at=seconds(2.2), policy="latest")
        cameras.set_pose(**CUP, transform=moved(9.0), at=seconds(9), source="right")
        assert cameras.pose(**CUP, at=seconds(2.2), policy="latest").relations == before.relations

    def test_takes_the_first_by_name_of_equals(self, world):
        for source in ("b", "a", "c"):
            world.set_pose(**CUP, transform=moved(ord(source)), at=seconds(1), source=source)
        assert x_of(world.pose(**CUP, policy="latest")) == ord("a")

    def test_counts_what_is_fixed_as_oldest(self, cameras):
        cameras.fix(**CUP, transform=moved(7.0), source="plan")
        assert x_of(cameras.pose(**CUP, policy="latest")) == 2.0


class TestMostCertain:
    def test_takes_the_smallest_trace(self, cameras):
        pose = cameras.pose(**CUP, policy="most_certain")
        assert x_of(pose) == 1.0
        assert pose.left_out == ()

    def test_leaves_out_what_is_unknown_and_names_it(self, cameras):
        cameras.set_pose(**CUP, transform=moved(5.0), at=seconds(3), source="somebody")
        pose = cameras.pose(**CUP, policy="most_certain")
        assert x_of(pose) == 1.0
        assert [path.relations for path in pose.left_out] == [(("cup", "map", "somebody"),)]
        assert [apart is None for apart in pose.disagreements] == [False, False, True]


class TestFusing:
    def test_weighs_by_information(self, cameras):
        pose = cameras.pose(**CUP, at=seconds(2.5), policy="fuse")
        assert x_of(pose) == pytest.approx(1.2, abs=CLOSE)
        assert pose.covariance[0, 0] == pytest.approx(0.008, abs=CLOSE)
        assert pose.method == "fused"

    @pytest.mark.parametrize("unknown", [1e2, 1e6, 1e9, 1e12])
    def test_of_what_has_a_huge_variance_takes_nothing(self, world, unknown):
        """Drivers give what they do not measure a large variance; a satellite, a compass, wheels."""
        for source, x, yaw, position, turn in (
            ("satellite", 1.0, 0.6, 1e-4, unknown),
            ("compass", 50.0, 0.5, unknown, 1e-6),
            ("wheels", 1.1, 0.51, 1e-2, 1e-4),
        ):
            seen = Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, yaw))
            spread = np.diag([position] * 3 + [turn] * 3)
            world.set_pose(**CUP, transform=seen, at=seconds(1), covariance=spread, source=source)
        pose = world.pose(**CUP, policy="fuse")
        assert pose.xyz[0] == pytest.approx(1.00099, abs=2e-3)
        assert pose.transform.rotation.rpy[2] == pytest.approx(0.500099, abs=2e-5)
        assert np.diag(pose.covariance)[[0, 5]] == pytest.approx([0.99e-4, 0.99e-6], rel=0.05)

    def test_at_the_newest_instant_is_at_one_that_all_cover(self, cameras):
        assert cameras.pose(**CUP, policy="fuse").stamp == seconds(3)

    def test_reports_how_far_the_paths_disagree(self, cameras):
        pose = cameras.pose(**CUP, at=seconds(2.5), policy="fuse")
        assert pose.disagreement == pytest.approx(1.0 / np.sqrt(0.05), abs=1e-6)
        assert pose.disagreements == pytest.approx([pose.disagreement] * 2, abs=1e-6)

    def test_of_exact_paths_that_differ_disagrees_without_end(self, world):
        for source, x in (("a", 1.0), ("b", 2.0)):
            world.fix(**CUP, transform=moved(x), source=source)
        pose = world.pose(**CUP, policy="fuse")
        assert (x_of(pose), pose.disagreement, pose.stamp) == (1.5, float("inf"), None)

    def test_uses_what_it_has_and_reports_what_is_lost(self, cameras):
        pose = cameras.pose(**CUP, at=seconds(3.2), policy="fuse")
        (lost,) = pose.paths_lost
        assert x_of(pose) == 2.0
        assert lost.relations == (("cup", "map", "left"),)
        assert "3.000 s" in str(lost.error)

    def test_counts_a_shared_edge_once(self, cameras):
        cameras.fix(of="map", in_frame="earth", transform=moved(0.0), covariance=VAGUE)
        pose = cameras.pose(of="cup", in_frame="earth", at=seconds(2.5), policy="fuse")
        assert pose.covariance[0, 0] == pytest.approx(0.048, abs=CLOSE)

    def test_leaves_out_what_is_unknown_and_names_it(self, cameras):
        cameras.set_pose(**CUP, transform=moved(5.0), at=seconds(2.5), source="somebody")
        pose = cameras.pose(**CUP, at=seconds(2.5), policy="fuse")
        assert x_of(pose) == pytest.approx(1.2, abs=CLOSE)
        assert [path.sources for path in pose.left_out] == [{"somebody"}]
        assert [path.sources for path in pose.paths_used] == [{"left"}, {"right"}]

    def test_needs_a_path_whose_covariance_is_known(self, cameras):
        cameras.set_pose(of="map", in_frame="sun", transform=moved(0.0), at=seconds(2.5))
        with pytest.raises(UnknownCovariance, match="'map' in 'sun' by ''") as caught:
            cameras.pose(of="cup", in_frame="sun", at=seconds(2.5), policy="fuse")
        assert caught.value.relations == (("map", "sun", ""),)
        assert not cameras.can_pose(of="cup", in_frame="sun", at=seconds(2.5), policy="fuse")

    def test_of_one_path_alone_needs_no_covariance(self, world):
        world.set_pose(**CUP, transform=moved(5.0), at=seconds(1))
        assert world.pose(**CUP, policy="fuse").covariance is None

    def test_of_what_may_rest_on_the_same_motion_does_not_grow_surer(self, world):
        for source in ("left", "right"):
            for t in (1.0, 2.0):
                world.set_pose(**CUP, transform=moved(t), at=seconds(t), covariance=SURE, source=source)
        alone = world.pose(**CUP, at=seconds(2.5), outside="predict", policy=by_source("left"))
        pose = world.pose(**CUP, at=seconds(2.5), outside="predict", policy="fuse")
        assert pose.predicted
        assert np.abs(pose.covariance - alone.covariance).max() < 1e-6

    def test_at_two_instants_bounds_what_one_edge_does_twice(self, cameras):
        pose = cameras.pose(of="cup", of_at=seconds(2), in_frame="cup", at=seconds(3), fixed_frame="map", policy="fuse")
        assert len(pose.paths_used) == 2
        assert x_of(pose) == pytest.approx(0.0, abs=CLOSE)
        assert np.diag(pose.covariance).min() > 0.01


class TestSelecting:
    def test_by_source(self, cameras):
        assert x_of(cameras.pose(**CUP, policy=by_source("right"))) == 2.0

    def test_by_source_leaves_what_nobody_contests(self, cameras):
        assert x_of(cameras.pose(of="rim", in_frame="map", policy=by_source("right"))) == 2.0

    def test_by_several_sources_needs_then(self, cameras):
        with pytest.raises(AmbiguousPath):
            cameras.pose(**CUP, at=seconds(2), policy=by_source("left", "right"))
        pose = cameras.pose(**CUP, policy=by_source("left", "right", then="fuse"))
        assert pose.stamp == seconds(3)

    def test_by_a_source_without_a_pose_names_those_that_have_one(self, cameras):
        with pytest.raises(NoPathChosen, match=r"'cup' by 'left'; 'cup' by 'right'") as caught:
            cameras.pose(**CUP, policy=by_source("nobody"))
        assert caught.value.paths == ((("cup", "map", "left"),), (("cup", "map", "right"),))

    def test_by_attribute(self, cameras):
        tags = {"left": {"lens": "wide"}, "right": {"lens": "tele"}}
        policy = by_attribute(lambda relation: tags[relation[2]], {"lens": "tele"})
        assert x_of(cameras.pose(**CUP, policy=policy)) == 2.0

    def test_by_attribute_of_the_scene(self, cameras):
        for camera, lens, x in (("eye_l", "wide", 1.0), ("eye_r", "tele", 2.0)):
            cameras.fix(of=camera, in_frame="map", transform=moved(0.0))
            cameras.scene.set_attributes(camera, {"lens": lens, "zoom": x})
            cameras.set_pose(of="plate", in_frame=camera, transform=moved(x), at=seconds(1), source=camera)
        asked = {"of": "plate", "in_frame": "map"}
        assert x_of(cameras.pose(**asked, policy=by_attribute(cameras.scene, {"lens": "tele"}))) == 2.0
        assert x_of(cameras.pose(**asked, policy=by_attribute(cameras.scene, {"zoom": less(1.5)}))) == 1.0
        with pytest.raises(NoPathChosen, match="lens"):
            cameras.pose(**asked, policy=by_attribute(cameras.scene, {"lens": "fish eye"}))

    def test_by_attribute_of_parents(self, world):
        scene = world.scene
        trays = [
            scene.add_transform(parent=scene.root, transform=moved(x), at=None, attributes={"color": color})
            for x, color in ((1.0, "red"), (2.0, "blue"))
        ]
        spoon = scene.add_transform(parent=trays[0], transform=moved(0.0), at=None)
        scene.add_parent(spoon, trays[1])
        for color, x in (("red", 1.0), ("blue", 2.0)):
            policy = by_attribute(scene, {"color": color})
            assert x_of(world.pose(of=scene.frame(spoon), in_frame="map", policy=policy)) == x

    def test_by_preference_comes_before_every_policy(self, cameras):
        cameras.prefer(of="cup", source="left")
        for policy in ("latest", "fuse", by_source("right")):
            assert x_of(cameras.pose(**CUP, policy=policy)) == 1.0


class TestACallable:
    def test_gets_candidates_and_chooses(self, cameras):
        seen = []

        def choose(paths):
            seen.extend(paths)
            return paths[1]

        pose = cameras.pose(**CUP, policy=choose)
        assert x_of(pose) == 2.0
        assert all(isinstance(path, Candidate) for path in seen)
        assert [path.sources for path in seen] == [{"left"}, {"right"}]
        assert (seen[0].newest, seen[0].oldest) == (seconds(3), seconds(3))
        assert seen[0].trace == pytest.approx(0.06)

    def test_may_return_a_pose_of_its_own(self, cameras):
        mine = Pose(**CUP, transform=moved(7.0))
        assert cameras.pose(**CUP, policy=lambda _: mine) is mine

    def test_must_return_one_of_these(self, cameras):
        with pytest.raises(InvalidArgument, match="returns one of the candidates, or a Pose; it returned 'left'"):
            cameras.pose(**CUP, policy=lambda _: "left")

    def test_must_return_what_was_asked_for(self, cameras):
        for ask in (cameras.pose, cameras.can_pose, cameras.wait_for_pose):
            with pytest.raises(InvalidArgument, match="asked for 'cup' in 'map', and returned 'map' in 'cup'"):
                ask(**CUP, policy=lambda paths: paths[0].pose.inverse())

    def test_may_raise(self, cameras):
        with pytest.raises(ZeroDivisionError):
            cameras.pose(**CUP, policy=lambda _: 1 / 0)

    @pytest.mark.parametrize("policy", ["newest", 3, b"fuse", None])
    def test_is_what_is_neither_name_nor_callable_not(self, cameras, policy):
        asked = {**CUP, "policy": policy}
        for ask in (
            lambda: cameras.pose(**asked),
            lambda: cameras.can_pose(**asked),
            lambda: cameras.wait_for_pose(**asked),
            lambda: cameras.transforms(**asked, at=[seconds(2)]),
            lambda: cameras.snapshot(in_frame="map", policy=policy),
            lambda: cameras.twists(of="cup", relative_to="map", at=[seconds(2)], policy=policy),
        ):
            with pytest.raises(InvalidArgument, match="policy must be one of 'unique', 'latest'"):
                ask()


class TestTheAnswer:
    def test_is_a_pose_that_travels_with_its_judgement(self, cameras):
        pose = cameras.pose(**CUP, at=seconds(2.5), policy="fuse")
        again = pickle.loads(pickle.dumps(pose))
        assert isinstance(again, PolicyPose)
        assert again == pose
        assert len(again.paths_used) == 2
        assert again.disagreement == pose.disagreement

    def test_makes_plain_poses(self, cameras):
        pose = cameras.pose(**CUP, at=seconds(2.5), policy="fuse")
        rim = cameras.pose(of="rim", in_frame="cup")
        for made in (pose.inverse(), pose @ rim, pose.inverse() @ pose, pose.stamped(None)):
            assert type(made) is Pose
        assert x_of(pose @ rim) == pytest.approx(1.2, abs=CLOSE)

    def test_of_a_single_path_is_that_of_unique(self, world):
        world.set_pose(**CUP, transform=moved(1.0), at=seconds(1), covariance=SURE)
        for policy in ("latest", "most_certain", "fuse", by_source("anybody")):
            pose = world.pose(**CUP, policy=policy)
            assert pose.is_close(world.pose(**CUP), m=0.0, rad=0.0)
            assert np.array_equal(pose.covariance, SURE)
            assert (pose.disagreement, pose.method) == (0.0, "sampled")

    def test_of_no_path_at_all_is_the_error_of_the_first(self, cameras):
        with pytest.raises(BeforeHistory):
            cameras.pose(**CUP, at=0, policy="fuse")


class TestManyPaths:
    def build(self, world, layers):
        for i in range(layers):
            for source in ("a", "b"):
                world.fix(of=f"f{i + 1}", in_frame=f"f{i}", transform=moved(1.0), source=source)
        return {"of": f"f{layers}", "in_frame": "f0"}

    def test_are_all_found(self, world):
        pose = world.pose(**self.build(world, 6), policy="fuse")
        assert len(pose.paths_used) == 64
        assert x_of(pose) == pytest.approx(6.0)

    def test_are_bounded(self, world):
        with pytest.raises(LimitReached, match="At most 64 paths from 'f7' to 'f0'") as caught:
            world.pose(**self.build(world, 7), policy="fuse")
        assert caught.value.limit == 64

    def test_beyond_all_bounds_are_refused_at_once(self, world):
        with pytest.raises(LimitReached):
            world.pose(**self.build(world, 300), policy="latest")

    def test_may_be_more_where_the_world_allows(self):
        with World(max_paths=128) as world:
            assert len(world.pose(**self.build(world, 7), policy="latest").judgement.paths) == 128


class TestEveryQuestion:
    @pytest.mark.parametrize(("policy", "x"), [("latest", 2.0), ("most_certain", 1.0), ("fuse", 1.2)])
    def test_takes_a_policy(self, cameras, policy, x):
        rim = {"of": "rim", "in_frame": "map", "policy": policy}
        at = seconds(2.5)
        assert cameras.can_pose(**rim, at=at)
        assert x_of(cameras.pose(**rim, at=at)) == pytest.approx(x)
        assert cameras.position(**rim, at=at).xyz[0] == pytest.approx(x)
        assert cameras.position(**rim, expressed_in="base").xyz[2] == pytest.approx(0.1)
        assert cameras.orientation(**rim, at=at).rotation.is_close(Transform.identity().rotation)
        assert x_of(cameras.pose(**rim, at=at, of_at=at, fixed_frame="map")) == pytest.approx(x)
        assert cameras.pose(**rim, at=at, point="cup").xyz[2] == pytest.approx(0.0, abs=CLOSE)
        assert cameras.transforms(**rim, at=[at, at])[:, 0, 3] == pytest.approx([x, x])
        assert cameras.transforms(**rim, at=[at], as_="xyz_wxyz")[0, 0] == pytest.approx(x)
        assert cameras.snapshot(in_frame="map", at=at, policy=policy)["rim"].translation[0] == pytest.approx(x)
        assert x_of(cameras.wait_for_pose(**rim, at=at, timeout_s=WAIT_S)) == pytest.approx(x)

    @pytest.mark.parametrize(("policy", "x"), [("latest", 2.0), ("most_certain", 1.0), ("fuse", 1.2)])
    def test_about_points_takes_a_policy(self, cameras, policy, x):
        asked = {"from_frame": "rim", "to_frame": "map", "policy": policy}
        points, at = np.zeros((2, 3)), seconds(2.5)
        assert cameras.map_points(points, **asked, at=at)[:, 0] == pytest.approx([x, x])
        assert cameras.map_points(points, **asked, at=[at, at])[:, 0] == pytest.approx([x, x])
        with pytest.raises(InvalidArgument, match="one stamp per point"):
            cameras.map_points(points, **asked, at=[at])
        assert cameras.express(points, kind="points", from_frame="rim", in_frame="map", at=at, policy=policy)[
            :, 0
        ] == pytest.approx([x, x])

    def test_that_cannot_be_answered_is_false(self, cameras):
        assert not cameras.can_pose(**CUP, at=0, policy="fuse")
        assert not cameras.can_pose(of="nobody", in_frame="map", policy="fuse")
        assert not cameras.can_pose(**CUP, policy=by_source("nobody"))

    def test_of_a_batch_names_the_row(self, cameras):
        with pytest.raises(BeforeHistory, match="row 1 of the batch"):
            cameras.transforms(**CUP, at=[seconds(2), 0], policy="fuse")

    def test_about_all_frames_lists_what_is_missing(self, cameras):
        cameras.add_frame("nowhere")
        seen = cameras.snapshot(in_frame="map", policy="latest")
        assert (set(seen), set(seen.missing)) == ({"map", "cup", "rim", "base"}, {"nowhere"})
        assert seen.stamps["rim"] == seconds(3.5)


class TestMotion:
    @pytest.fixture
    def moving(self, world):
        for t in (1.0, 2.0, 3.0):
            world.set_pose(**CUP, transform=moved(t), at=seconds(t), covariance=SURE, source="left")
            world.set_pose(**CUP, transform=moved(3.0 * t), at=seconds(t), covariance=SURE, source="right")
        return world

    @pytest.mark.parametrize(("policy", "speed"), [(by_source("right"), 3.0), ("most_certain", 1.0), ("fuse", 2.0)])
    def test_is_that_of_the_chosen_path(self, moving, policy, speed):
        asked = {"of": "cup", "relative_to": "map", "at": seconds(2.5), "policy": policy}
        assert moving.twist(**asked).linear[0] == pytest.approx(speed)
        assert moving.linear_velocity(**asked).xyz[0] == pytest.approx(speed)
        assert moving.twists(**asked | {"at": [seconds(1.5), seconds(2.5)]})[:, 0] == pytest.approx([speed, speed])

    def test_is_fused_of_the_chosen_paths_alone(self, moving):
        for t in (1.0, 2.0, 3.0):
            moving.set_pose(**CUP, transform=moved(-9.0 * t), at=seconds(t), covariance=SURE, source="broken")
        asked = {"of": "cup", "relative_to": "map", "at": seconds(2.5)}
        twist = moving.twist(**asked, policy=by_source("left", "right", then="fuse"))
        assert twist.linear[0] == pytest.approx(2.0)

    @pytest.mark.parametrize("answer", ["left", Pose(**CUP, transform=moved(7.0))])
    def test_is_not_that_of_something_else(self, moving, answer):
        with pytest.raises(InvalidArgument, match="one of the candidates, or"):
            moving.twist(of="cup", relative_to="map", at=seconds(2.5), policy=lambda _: answer)

    def test_along_contested_axes_is_by_the_same_policy(self, moving):
        moving.fix(of="lens", in_frame="map", transform=moved(0.0), source="a")
        moving.fix(
            of="lens", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, np.pi)), source="b"
        )
        asked = {"of": "cup", "relative_to": "map", "expressed_in": "lens", "at": seconds(2.5)}
        assert moving.twist(**asked, policy=by_source("right", "b")).linear[0] == pytest.approx(-3.0)


class TestWaiting:
    def test_ends_with_the_first_path_that_answers(self, cameras, mailbox):
        cameras.on_pose(mailbox, **CUP, at=seconds(4), policy="latest")
        cameras.set_pose(**CUP, transform=moved(8.0), at=seconds(4), covariance=SURE, source="right")
        (pose,) = mailbox.wait()
        assert x_of(pose) == 8.0

    def test_is_woken_by_a_new_rival(self, cameras, mailbox):
        cameras.on_pose(mailbox, **CUP, policy=by_source("third"))
        cameras.set_pose(**CUP, transform=moved(8.0), at=seconds(4), source="third")
        (pose,) = mailbox.wait()
        assert x_of(pose) == 8.0

    def test_begins_before_the_frames_exist(self, world, mailbox):
        world.on_pose(mailbox, **CUP, policy="fuse")
        world.set_pose(**CUP, transform=moved(8.0), at=seconds(4), source="third")
        assert x_of(mailbox.wait()[0]) == 8.0

    def test_ends_when_the_time_is_over(self, cameras):
        with pytest.raises(WaitTimeout, match="asked 1 s after its last sample"):
            cameras.wait_for_pose(**CUP, at=seconds(4), policy="fuse", timeout_s=PROMPT_S)
        assert cameras.store.waits_pending() == 0

    def test_ends_at_once_where_nothing_can_come(self, cameras):
        with pytest.raises(BeforeHistory):
            cameras.wait_for_pose(**CUP, at=-seconds(100), policy="fuse", timeout_s=WAIT_S)

    def test_leaves_nothing_behind(self, cameras):
        done = Mailbox()
        cameras.on_pose(done, **CUP, policy="fuse", at=LATEST)
        done.wait()
        assert cameras.store.waits_pending() == 0

    def test_for_a_motion_is_for_a_unique_one(self, cameras):
        with pytest.raises(InvalidArgument, match="Wait for the pose with that policy"):
            cameras.wait_for_twist(of="cup", relative_to="map", at=seconds(4), policy="latest", timeout_s=PROMPT_S)


class TestThePolicyItself:
    def test_can_be_passed_in_place_of_its_name(self, cameras):
        assert cameras.pose(**CUP, policy=fuse).stamp == cameras.pose(**CUP, policy="fuse").stamp


class TestAContestedJoint:
    @pytest.mark.parametrize("policy", ["latest", "most_certain", "fuse"])
    def test_is_named_by_every_policy(self, policy):
        world = World("robot")
        hinge = ClosedForm(kind="revolute", origin=Transform.identity(), axes=((0, 0, 1),), variables=("hinge",))
        world.apply([AddJoints({"hinge": "linear"}), Drive(of="panel", in_frame="frame", form=hinge)])
        world.set_joints({"hinge": 0.1}, at=1900, source="encoder")
        world.set_joints({"hinge": 0.2}, at=1200)
        with pytest.raises(ContestedJoint, match="'hinge'"):
            world.pose(of="panel", in_frame="frame", at=1900, outside="hold", policy=policy)
        assert not world.can_pose(of="panel", in_frame="frame", at=1900, outside="hold", policy=policy)
        world.prefer_joint("hinge", source="encoder")
        assert world.pose(of="panel", in_frame="frame", at=1900, policy=policy).rotation.rpy[2] == pytest.approx(0.1)
