"""Which sources of a frame count at an instant: open, contested, preferred."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from armillary import LATEST, World, seconds
from armillary.errors import AfterHistory, AmbiguousPath, ContestedJoint, InvalidArgument, UnknownFrame
from armillary.scene import AddJoints
from unit.kit import moved

CUP = {"of": "cup", "in_frame": "map"}


def see(world: World, source: str, x_m: float, *stamps_s: float, of: str = "cup", in_frame: str = "map") -> None:
    for t in stamps_s:
        world.set_pose(of=of, in_frame=in_frame, transform=moved(x_m), at=seconds(t), source=source)


def x_at(world: World, at_s: float | None, **how) -> float:
    at = LATEST if at_s is None else seconds(at_s)
    return float(world.pose(**CUP, at=at, **how).xyz[0])


@pytest.fixture
def world() -> World:
    return World("robot", history=seconds(1000), clock=lambda: seconds(100))


class TestASourceThatPlacedAFrameOnce:
    """A robot with odometry for a minute, and one sighting by another robot at 30 s."""

    @pytest.fixture
    def robot(self, world):
        for t in range(61):
            see(world, "B", 0.1 * t, t, of="B/base", in_frame="B/odom")
        see(world, "rendezvous", 9.0, 30, of="B/base", in_frame="A/base")
        return world

    @pytest.mark.parametrize(("at_s", "is_known"), [(29.9, True), (30, False), (31, False), (31.1, True), (59, True)])
    def test_contests_it_for_as_long_as_the_timeout(self, robot, at_s, is_known):
        asked = {"of": "B/base", "in_frame": "B/odom", "at": seconds(at_s)}
        assert robot.can_pose(**asked) is is_known
        batch = {**asked, "at": np.array([seconds(at_s)])}
        if is_known:
            assert robot.transforms(**batch).shape == (1, 4, 4)
        else:
            with pytest.raises(AmbiguousPath, match="'B' and 'rendezvous'"):
                robot.transforms(**batch)

    def test_does_not_hold_the_newest_instant_back(self, robot):
        assert robot.pose(of="B/base", in_frame="B/odom").stamp == seconds(60)
        assert robot.tree().parents["B/base"] == ("B/odom", "B")

    def test_can_be_ended_at_once(self, robot):
        robot.end(of="B/base", source="rendezvous", at=seconds(30.5))
        assert robot.can_pose(of="B/base", in_frame="B/odom", at=seconds(30.5))
        assert not robot.can_pose(of="B/base", in_frame="B/odom", at=seconds(30.4))

    def test_contests_for_ever_where_the_timeout_has_no_end(self):
        world = World(rival_timeout=None, history=None)
        see(world, "left", 1.0, 0)
        see(world, "right", 2.0, 1, 5000)
        assert not world.can_pose(**CUP, at=seconds(4000))


class TestSilentSources:
    def test_leave_the_answer_to_the_one_that_spoke_last(self, world):
        see(world, "left", 1.0, 0, 1)
        see(world, "right", 2.0, 0, 3)
        with pytest.raises(AfterHistory) as caught:
            x_at(world, 50)
        assert caught.value.edge == ("cup", "map", "right")
        assert x_at(world, 50, outside="hold") == 2.0

    def test_still_answer_about_their_time(self, world):
        see(world, "left", 1.0, 0, 1)
        see(world, "right", 2.0, 5, 9)
        assert (x_at(world, 0.5), x_at(world, 7), x_at(world, None)) == (1.0, 2.0, 2.0)


class TestAPreference:
    def test_lapses_when_its_source_falls_silent(self, world):
        see(world, "left", 1.0, *range(4))
        see(world, "right", 2.0, *range(10))
        world.prefer(of="cup", source="left")
        assert [x_at(world, t) for t in (2, 3)] == [1.0, 1.0]
        assert [x_at(world, t) for t in (4.1, 9)] == [2.0, 2.0]
        assert x_at(world, None) == 2.0

    def test_holds_in_its_interval(self, world):
        see(world, "left", 1.0, *range(10))
        see(world, "right", 2.0, *range(10))
        world.prefer(of="cup", source="left", start=seconds(2), end=seconds(4))
        world.prefer(of="cup", source="right", start=seconds(3))
        assert [x_at(world, t) for t in (2, 2.9, 3, 9)] == [1.0, 1.0, 2.0, 2.0]
        with pytest.raises(AmbiguousPath):
            x_at(world, 1.9)

    def test_in_an_interval_is_undone(self, world):
        see(world, "left", 1.0, *range(10))
        see(world, "right", 2.0, *range(10))
        world.prefer(of="cup", source="left")
        before = world.digest()
        world.prefer(of="cup", source="right", start=seconds(2), end=seconds(4))
        assert [x_at(world, t) for t in (1, 3, 5)] == [1.0, 2.0, 1.0]
        world.undo()
        assert ([x_at(world, t) for t in (1, 3, 5)], world.digest()) == ([1.0, 1.0, 1.0], before)

    def test_ends_after_it_begins(self, world):
        see(world, "left", 1.0, 0)
        with pytest.raises(InvalidArgument, match="end must be later than start"):
            world.prefer(of="cup", source="left", start=seconds(2), end=seconds(2))

    def test_reaches_files_and_replicas(self, world, tmp_path):
        see(world, "left", 1.0, *range(10))
        see(world, "right", 2.0, *range(10))
        world.prefer(of="cup", source="left", start=seconds(2), end=seconds(4))
        world.save(tmp_path / "world.json")
        other = World("other")
        other.merge(world.scene.changes())
        assert World.load(tmp_path / "world.json").digest() == world.digest() == other.digest()


class TestAGraspedCup:
    """The camera goes on to see the cup at 7 m while the hand carries it."""

    @pytest.fixture
    def grasped(self, world):
        for t in range(20):
            see(world, "robot", 0.1 * t, t, of="hand", in_frame="map")
        see(world, "camera", 1.0, 0, 1, 2, 3)
        see(world, "camera", 7.0, 4, 5, 6)
        world.attach(of="cup", to="hand", at=seconds(3))
        return world

    def test_follows_the_hand(self, grasped):
        assert [x_at(grasped, t) for t in (2, 3, 5, 6)] == pytest.approx([1.0, 1.0, 1.2, 1.3])
        assert grasped.pose(of="cup", in_frame="hand").xyz[0] == pytest.approx(0.7)

    def test_follows_the_camera_again_when_it_is_released(self, grasped):
        grasped.detach(of="cup", to="map", at=seconds(7.5))
        assert x_at(grasped, 8) == pytest.approx(1.45)  # nobody sees it
        see(grasped, "camera", 3.0, 9)
        assert (x_at(grasped, 9), x_at(grasped, None)) == (3.0, 3.0)
        assert [x_at(grasped, 9, policy=policy) for policy in ("latest",)] == [3.0]

    def test_is_nowhere_when_it_is_dropped(self, grasped):
        grasped.detach(of="cup", at=seconds(7.5))
        with pytest.raises(AfterHistory) as caught:
            x_at(grasped, 8)
        assert caught.value.edge == ("cup", "map", "camera")

    def test_is_contested_where_it_is_a_rival_like_any_other(self, world):
        see(world, "camera", 1.0, 0, 1, 2, 3, 4)
        see(world, "robot", 0.0, 0, 9, of="hand", in_frame="map")
        world.attach(of="cup", to="hand", at=seconds(3), prefer=False)
        with pytest.raises(AmbiguousPath):
            x_at(world, 4)

    def test_is_so_in_files_and_replicas_and_undone(self, grasped, tmp_path):
        grasped.detach(of="cup", to="map", at=seconds(7))
        grasped.save(tmp_path / "world.json")
        other = World("other")
        other.merge(grasped.scene.changes())
        loaded = World.load(tmp_path / "world.json")
        for one in (other, loaded):
            assert one.digest() == grasped.digest()
            see(one, "camera", 3.0, 7, 8)
            see(one, "robot", 0.0, 6, 8, of="hand", in_frame="map")
            assert [x_at(one, 8), x_at(one, 20)] == pytest.approx([3.0, 1.4])
        grasped.undo()
        assert x_at(grasped, 8) == pytest.approx(1.5)


class TestThePoseThatANodeWasMadeWith:
    @pytest.mark.parametrize("at", [None, 0])
    def test_does_not_contest_who_tracks_it(self, world, at):
        cup = world.scene.add_transform(parent=world.scene.root, transform=moved(1.0), at=at)
        frame = world.scene.frame(cup)
        assert world.pose(of=frame, in_frame="map", at=0).xyz[0] == 1.0
        see(world, "camera", 5.0, 0, 1, of=frame)
        assert [world.pose(of=frame, in_frame="map", at=seconds(t)).xyz[0] for t in (0, 0.5, 1)] == [5.0] * 3
        assert world.pose(of=frame, in_frame="map").stamp == seconds(1)

    def test_contests_once_it_is_given_another_one(self, world):
        cup = world.scene.add_transform(parent=world.scene.root, transform=moved(1.0), at=0)
        see(world, "camera", 5.0, 0, 1, of=world.scene.frame(cup))
        world.scene.set_transform(cup, moved(2.0), at=seconds(1))
        with pytest.raises(AmbiguousPath):
            world.pose(of=world.scene.frame(cup), in_frame="map", at=seconds(0.5))


class TestNodes:
    def test_are_attached_released_and_ended_by_their_ids(self, world):
        see(world, "robot", 0.0, 0, 9, of="hand", in_frame="map")
        cup = world.scene.add_transform(parent=world.scene.root, transform=moved(1.0), at=None, frame="cup")
        world.attach(of=cup, to="hand", at=seconds(1))
        world.detach(of=cup, to="map", at=seconds(2))
        world.end(of=cup, at=seconds(3))
        parents = [world.tree(at=seconds(t)).parents["cup"] for t in (1, 2)]
        assert parents == [("hand", "robot"), ("map", "robot")]


class TestEnding:
    def test_of_an_unknown_source_or_frame_is_refused(self, world):
        see(world, "left", 1.0, 0)
        with pytest.raises(InvalidArgument, match="'right'"):
            world.end(of="cup", source="right", at=seconds(1))
        with pytest.raises(UnknownFrame):
            world.end(of="cupp", source="left", at=seconds(1))

    def test_lasts_until_the_source_gives_something_newer(self, world):
        see(world, "left", 1.0, 0, 1)
        world.end(of="cup", source="left", at=seconds(2))
        assert not world.can_pose(**CUP, at=seconds(3), outside="hold")
        see(world, "left", 3.0, 4, 5)
        assert (x_at(world, 4.5), x_at(world, 0.5)) == (3.0, 1.0)
        assert not world.can_pose(**CUP, at=seconds(3), outside="hold")


class TestWaiting:
    def test_is_served_by_any_source_that_comes_to_be_the_only_one_open(self, world):
        see(world, "left", 1.0, 0, 1)
        see(world, "right", 2.0, 0, 1)
        found = []
        waiter = threading.Thread(
            target=lambda: found.append(world.wait_for_pose(**CUP, at=seconds(5), timeout_s=20).xyz[0])
        )
        waiter.start()
        while world.store.waits_pending() == 0:
            pass
        see(world, "right", 2.0, 3, 6)  # 'left' is silent
        waiter.join(20)
        assert found == [2.0]

    def test_for_the_newest_pose_ends_when_one_of_two_falls_silent(self, world):
        see(world, "left", 1.0, 0, 1)
        see(world, "right", 2.0, 0, 1)
        found = []
        world.on_pose(lambda pose: found.append(pose.xyz[0]), **CUP, at=seconds(4))
        see(world, "left", 1.0, 2, 3, 5)
        for _ in range(2000):
            if found:
                break
            threading.Event().wait(0.01)
        assert found == [1.0]


class TestSourcesOfAJoint:
    @pytest.fixture
    def hinge(self, world):
        world.apply([AddJoints({"hinge": "linear"})])
        for source, value, stamps in (("left", 1.0, (0, 1)), ("right", 2.0, (0, 1, 2, 3, 4))):
            for t in stamps:
                world.set_joints({"hinge": value}, at=seconds(t), source=source)
        return world

    def test_contest_it_while_both_are_open(self, hinge):
        with pytest.raises(ContestedJoint):
            hinge.joint("hinge", at=seconds(1.5))
        assert hinge.joint("hinge", at=seconds(2.5)).value == 2.0
        assert hinge.joint("hinge").value == 2.0

    def test_lose_their_preference_when_they_fall_silent(self, hinge):
        hinge.prefer_joint("hinge", source="left")
        assert hinge.joint("hinge", at=seconds(1)).value == 1.0
        assert hinge.joint("hinge", at=seconds(3)).value == 2.0
        assert hinge.joint("hinge").value == 2.0
