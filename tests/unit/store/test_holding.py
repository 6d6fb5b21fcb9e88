"""The nearest sample outside a history: how old it may be, and that every answer says which one was used."""

from __future__ import annotations

import asyncio
import html
import math
import pickle
import threading
import time

import numpy as np
import pytest

from armillary import LATEST, Pose, Transform, World, seconds
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, SingleSample, WaitTimeout
from armillary.scene import AddJoints, ClosedForm, Drive
from armillary.transforms import HeldSample
from unit.kit import drive, moved, x_of

ASK = {"of": "robot", "in_frame": "map", "outside": "hold"}
ODOM = ("odom", "map", "amcl")
CART = ("cart", "odom", "")


@pytest.fixture
def world() -> World:
    """A map correction that ended at 1 s, and an odometry that ends at 4 s."""
    world = World()
    for t in (0, 1):
        world.set_pose(of="odom", in_frame="map", transform=moved(10.0 + t), at=seconds(t), source="amcl")
    for t in (2, 3, 4):
        world.set_pose(of="cart", in_frame="odom", transform=moved(t), at=seconds(t))
    return world


def ages(value) -> dict:
    return {sample.relation: sample.age_s for sample in value.held}


class TestALimitOfHolding:
    def test_refuses_an_older_sample_with_the_usual_error(self, world):
        asked = {"of": "cart", "in_frame": "map", "at": seconds(3), "outside": "hold"}
        with pytest.raises(AfterHistory, match=r"2 s after its last sample.*hold_up_to_s allows 1\.5 s") as refusal:
            world.pose(**asked, hold_up_to_s=1.5)
        assert (refusal.value.edge, refusal.value.hold_up_to) == (ODOM, seconds(1.5))
        assert x_of(world.pose(**asked, hold_up_to_s=2.0)) == 14.0
        assert x_of(world.pose(**asked)) == 14.0

    def test_refuses_a_later_sample(self, world):
        with pytest.raises(BeforeHistory, match=r"500 ms before its first sample.*hold_up_to_s allows 100 ms"):
            world.pose(of="cart", in_frame="odom", at=seconds(1.5), outside="hold", hold_up_to_s=0.1)

    def test_refuses_a_single_sample(self):
        world = World()
        drive(world, 1.0)
        with pytest.raises(SingleSample, match="hold_up_to_s allows 1 s"):
            world.pose(**ASK, at=seconds(9), hold_up_to_s=1)

    def test_refuses_what_was_fixed_later(self):
        world = World()
        world.fix(of="robot", in_frame="map", transform=moved(1), at=seconds(5))
        with pytest.raises(BeforeHistory, match="hold_up_to_s allows 1 s"):
            world.pose(**ASK, at=seconds(3), hold_up_to_s=1)
        assert ages(world.pose(**ASK, at=seconds(4.5), hold_up_to_s=1)) == {("robot", "map", ""): -0.5}

    def test_of_nothing_allows_the_sample_itself(self):
        world = World()
        drive(world, 1.0, 2.0)
        assert world.pose(**ASK, at=seconds(2), hold_up_to_s=0).held == ()
        with pytest.raises(AfterHistory):
            world.pose(**ASK, at=seconds(2) + 1, hold_up_to_s=0)

    def test_of_the_world_holds_for_every_query_that_names_none(self, world):
        world = World(hold_up_to_s=1.0)
        drive(world, 1.0, 2.0)
        assert world.pose(**ASK, at=seconds(3)).held
        with pytest.raises(AfterHistory, match="hold_up_to_s allows 1 s"):
            world.pose(**ASK, at=seconds(3.5))
        assert world.pose(**ASK, at=seconds(3.5), hold_up_to_s=2).held
        assert world.pose(**ASK, at=seconds(9000), hold_up_to_s=math.inf).held

    @pytest.mark.parametrize("wrong", [-1, -0.1, math.nan, True, "1", [1]])
    def test_is_a_number_of_seconds(self, world, wrong):
        with pytest.raises(InvalidArgument, match="hold_up_to_s"):
            world.pose(**ASK | {"of": "cart"}, hold_up_to_s=wrong)
        with pytest.raises(InvalidArgument, match="hold_up_to_s"):
            World(hold_up_to_s=wrong)

    def test_goes_with_hold_alone(self, world):
        with pytest.raises(InvalidArgument, match="outside='hold'"):
            world.pose(of="cart", in_frame="odom", hold_up_to_s=1)

    def test_is_saved(self, tmp_path):
        World(hold_up_to_s=1.5).save(tmp_path / "world.json")
        assert World.load(tmp_path / "world.json").store.settings.hold_up_to_s == 1.5


class TestEveryEntryPoint:
    """Asked at an instant that is 2 s after the last sample of the correction: allowed, and not."""

    AT = seconds(3)

    def calls(self, world: World, limit: float):
        how = {"outside": "hold", "hold_up_to_s": limit}
        frames = {"of": "cart", "in_frame": "map"}
        many = np.array([self.AT])
        yield lambda: world.pose(**frames, at=self.AT, **how)
        yield lambda: world.pose(**frames, at=self.AT, expressed_in="odom", **how)
        yield lambda: world.pose(**frames, at=self.AT, policy="latest", **how)
        yield lambda: world.position(**frames, at=self.AT, **how)
        yield lambda: world.orientation(**frames, at=self.AT, **how)
        yield lambda: world.transforms(**frames, at=many, **how)
        yield lambda: world.transforms(**frames, at=many, interpolation="screw", **how)
        yield lambda: world.map_points(np.zeros((1, 3)), from_frame="cart", to_frame="map", at=many, **how)
        yield lambda: world.map_points(np.zeros((1, 3)), from_frame="cart", to_frame="map", at=self.AT, **how)
        yield lambda: world.snapshot(in_frame="map", at=self.AT, **how)["cart"]
        yield lambda: world.twist(of="cart", relative_to="map", at=self.AT, **how)
        yield lambda: world.twists(of="cart", relative_to="map", at=many, **how)
        yield lambda: world.linear_velocity(of="cart", relative_to="map", at=self.AT, **how)
        yield lambda: world.angular_velocity(of="cart", relative_to="map", at=self.AT, **how)
        yield lambda: world.express(world.pose(of="cart", in_frame="odom", at=self.AT), in_frame="map", **how)
        yield lambda: world.wait_for_pose(**frames, at=self.AT, timeout_s=0, **how)
        yield lambda: world.wait_for_twist(of="cart", relative_to="map", at=self.AT, timeout_s=0, **how)
        yield lambda: asyncio.run(world.pose_when_ready(**frames, at=self.AT, timeout_s=0, **how))
        yield lambda: world.copy().attach(of="cart", to="map", at=self.AT, **how)

    def test_answers_within_the_limit(self, world):
        for call in self.calls(world, 2.0):
            call()
        assert world.can_pose(of="cart", in_frame="map", at=self.AT, outside="hold", hold_up_to_s=2.0)

    def test_refuses_beyond_it(self, world):
        for call in self.calls(world, 1.999):
            with pytest.raises((AfterHistory, WaitTimeout, KeyError)):
                call()
        asked = {"of": "cart", "in_frame": "map", "at": self.AT, "outside": "hold", "hold_up_to_s": 1.999}
        assert not world.can_pose(**asked)
        assert not world.can_pose(**asked, policy="latest")

    def test_names_the_limit_in_a_batch_with_its_row(self, world):
        with pytest.raises(AfterHistory, match=r"hold_up_to_s allows 2 s.*row 1 of the batch"):
            world.transforms(of="cart", in_frame="map", at=[seconds(3), seconds(4)], outside="hold", hold_up_to_s=2)


class TestAWaitWithALimit:
    def test_ends_with_a_sample_that_is_near_enough(self, world):
        asked = {"of": "cart", "in_frame": "map", "at": seconds(4), "outside": "hold", "hold_up_to_s": 0.5}
        got: list = []
        waiter = threading.Thread(target=lambda: got.append(world.wait_for_pose(**asked, timeout_s=20)))
        waiter.start()
        while world.store.waits_pending() == 0:
            time.sleep(0.001)
        world.set_pose(of="odom", in_frame="map", transform=moved(12), at=seconds(2), source="amcl")
        world.set_pose(of="odom", in_frame="map", transform=moved(13), at=seconds(3.6), source="amcl")
        waiter.join()
        assert (x_of(got[0]), ages(got[0])) == (17.0, {ODOM: pytest.approx(0.4)})

    def test_ends_with_a_later_sample_that_is_near_enough(self):
        world = World()
        world.set_pose(of="robot", in_frame="map", transform=moved(9), at=seconds(9))
        got: list = []
        world.on_pose(got.append, **ASK, at=seconds(5), hold_up_to_s=1.0)
        world.set_pose(of="robot", in_frame="map", transform=moved(6), at=seconds(6))
        while not got:
            time.sleep(0.001)
        assert ages(got[0]) == {("robot", "map", ""): -1.0}


class TestTheEvidence:
    def test_names_the_relation_and_its_age(self, world):
        pose = world.pose(of="cart", in_frame="map", at=seconds(3), outside="hold")
        assert pose.held == (HeldSample(relation=ODOM, age_s=2.0),)
        assert "held: 'odom' in 'map' by 'amcl' for 2 s" in repr(pose)
        assert "'odom' in 'map' by 'amcl' for 2 s" in html.unescape(pose._repr_html_())
        assert pose.position.held == pose.held == pose.orientation.held

    def test_is_empty_where_nothing_was_held(self, world):
        assert world.pose(of="cart", in_frame="odom", at=seconds(3), outside="hold").held == ()
        assert not world.pose(of="cart", in_frame="odom").held

    def test_lists_each_relation_with_its_own_age(self, world):
        assert ages(world.pose(of="cart", in_frame="map", at=seconds(5), outside="hold")) == {ODOM: 4.0, CART: 1.0}
        assert ages(world.pose(of="cart", in_frame="map", at=seconds(1.5), outside="hold")) == {ODOM: 0.5, CART: -0.5}

    def test_lists_both_instants_of_a_question_about_two(self, world):
        asked = {"of": "cart", "of_at": seconds(2), "fixed_frame": "map", "in_frame": "odom", "at": seconds(3)}
        pose = world.pose(**asked, outside="hold")
        assert sorted((sample.relation, sample.age_s) for sample in pose.held) == [(ODOM, 1.0), (ODOM, 2.0)]

    def test_is_pickled_composed_and_inverted_with_the_pose(self, world):
        pose = world.pose(of="odom", in_frame="map", at=seconds(3), outside="hold")
        assert pickle.loads(pickle.dumps(pose)).held == pose.held
        assert pose.inverse().held == pose.held
        assert (pose @ world.pose(of="cart", in_frame="odom", at=seconds(3))).held == pose.held

    def test_is_given_for_twists_and_policies(self, world):
        asked = {"at": seconds(3), "outside": "hold"}
        assert ages(world.twist(of="cart", relative_to="map", **asked)) == {ODOM: 2.0}
        assert pickle.loads(pickle.dumps(world.twist(of="cart", relative_to="map", **asked))).held
        for policy in ("latest", "most_certain", "fuse"):
            assert ages(world.pose(of="cart", in_frame="map", policy=policy, **asked)) == {ODOM: 2.0}

    def test_names_a_measured_twist(self):
        world = World()
        drive(world, 1.0, 2.0)
        moving = {"expressed_in": "robot", "linear": (1, 0, 0), "angular": (0, 0, 0)}
        world.set_twist(of="robot", relative_to="map", **moving, at=seconds(2))
        twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(2.5), outside="hold")
        assert (twist.method, [sample.age_s for sample in twist.held]) == ("measured", [0.5])

    def test_of_a_snapshot_has_every_relation_once(self, world):
        world.set_pose(of="moon", in_frame="space", transform=moved(), at=seconds(0))
        seen = world.snapshot(in_frame="map", at=seconds(5), outside="hold")
        assert seen.held == {"odom", "cart"}
        assert {sample.relation: sample.age_s for sample in seen.held_samples} == {ODOM: 4.0, CART: 1.0}
        assert world.snapshot(in_frame="map", at=seconds(1), outside="raise").held_samples == ()
        latest = world.snapshot(in_frame="map", at=seconds(5), outside="hold", policy="latest")
        assert {sample.relation: sample.age_s for sample in latest.held_samples} == {ODOM: 4.0, CART: 1.0}

    def test_is_refused_where_it_is_none(self):
        with pytest.raises(InvalidArgument, match="tuple of HeldSample"):
            Pose(of="a", in_frame="b", transform=Transform.identity(), held=True)


class TestJoints:
    @pytest.fixture
    def drawer(self) -> World:
        world = World()
        world.apply([AddJoints({"slide": "linear", "latch": "hold"})])
        for of, joint in (("tray", "slide"), ("lock", "latch")):
            form = ClosedForm(kind="prismatic", origin=Transform.identity(), axes=((1, 0, 0),), variables=(joint,))
            world.apply([Drive(of=of, in_frame="box", form=form)])
        world.set_joints({"slide": 0.1, "latch": 0.1}, at=seconds(1))
        world.set_joints({"slide": 0.2, "latch": 0.2}, at=seconds(2))
        return world

    def test_names_the_joint_and_its_age(self, drawer):
        pose = drawer.pose(of="tray", in_frame="box", at=seconds(5), outside="hold")
        assert pose.held == (HeldSample(relation=("tray", "box", ""), age_s=3.0, joint="slide"),)
        assert "held: joint 'slide' of 'tray' in 'box' for 3 s" in repr(pose)

    def test_is_limited_as_a_pose_is(self, drawer):
        asked = {"of": "tray", "in_frame": "box", "at": seconds(5), "outside": "hold"}
        with pytest.raises(AfterHistory, match=r"joint 'slide'.*hold_up_to_s allows 2 s") as refusal:
            drawer.pose(**asked, hold_up_to_s=2)
        assert refusal.value.joint == "slide"
        with pytest.raises(AfterHistory, match=r"joint 'slide'.*hold_up_to_s allows 2 s"):
            drawer.joint("slide", at=seconds(5), outside="hold", hold_up_to_s=2)
        state = drawer.joint("slide", at=seconds(5), outside="hold", hold_up_to_s=3)
        assert state.held == (HeldSample(relation=None, age_s=3.0, joint="slide"),)

    def test_of_kind_hold_stays_where_it_was_left_without_a_limit(self, drawer):
        asked = {"of": "lock", "in_frame": "box", "at": seconds(500)}
        for how in ({}, {"outside": "hold", "hold_up_to_s": 0.0}):
            pose = drawer.pose(**asked, **how)
            assert [(sample.joint, sample.age_s) for sample in pose.held] == [("latch", 498.0)]
        assert drawer.joint("latch", at=seconds(1.5)).held == (HeldSample(relation=None, age_s=0.5, joint="latch"),)
        assert drawer.pose(of="lock", in_frame="box", at=seconds(2)).held == ()
        assert drawer.pose(of="lock", in_frame="box", at=LATEST).transform.translation[0] == 0.2
