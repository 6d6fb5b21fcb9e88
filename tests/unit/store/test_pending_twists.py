"""Twists that wait for the poses which rotate them: stored by the call that sets the poses, bounded, and copied."""

from __future__ import annotations

import threading
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import (
    AmbiguousPath,
    ArmillaryError,
    BeforeHistory,
    ConstraintViolation,
    InvalidArgument,
    InvalidName,
    LimitReached,
    StampOutOfRange,
    UnknownFrame,
)
from unit.kit import STILL, Mailbox, drain, drive, error_of, everything_about, moved

ALONG_MAP = {"of": "robot", "relative_to": "map", "expressed_in": "map", "angular": (0.0, 0.0, 0.0)}
FORWARD = ALONG_MAP | {"linear": (1.0, 0.0, 0.0)}


@pytest.fixture
def world() -> World:
    return World()


def speed(world: World, at: int = 0, of: str = "robot") -> float:
    twist = world.twist(of=of, relative_to="map", at=at)
    assert twist.method == "measured"
    return float(twist.linear[0])


def waiting(world: World) -> list[int]:
    return [twist.at for twist in world.pending_twists()]


class TestIsStored:
    @pytest.mark.parametrize("round_", range(20))
    def test_by_the_very_call_that_brings_the_pose(self, world, round_):
        world.set_twist(**FORWARD, at=round_, pending=True)
        world.set_pose(of="robot", in_frame="map", transform=moved(1.0), at=round_)
        assert speed(world, round_) == 1.0
        assert world.pending_twists() == ()

    @pytest.mark.parametrize("bring", [
        lambda world: world.set_pose(of="robot", in_frame="map", transform=STILL, at=0),
        lambda world: world.set_poses(of="robot", in_frame="map", transforms=[[0, 0, 0, 1, 0, 0, 0]], at=[0]),
        lambda world: world.fix(of="robot", in_frame="map", transform=STILL, at=0),
        lambda world: world.attach(of="robot", to="map", at=0, outside="hold"),
        lambda world: world.detach(of="robot", to="map", at=0, outside="hold"),
    ], ids=["set_pose", "set_poses", "fix", "attach", "detach"])  # fmt: skip
    def test_by_whatever_brings_it(self, world, bring):
        world.set_pose(of="robot", in_frame="cart", transform=STILL, at=1)
        world.set_pose(of="cart", in_frame="map", transform=STILL, at=1)
        world.set_twist(**FORWARD, at=0, pending=True)
        bring(world)
        assert (speed(world), world.pending_twists()) == (1.0, ())

    def test_on_an_edge_that_is_known_already(self, world):
        drive(world, 0.0, 1.0)
        for t in (2.0, 3.0, 4.0):
            world.set_twist(**FORWARD, at=seconds(t), pending=True)
        drive(world, 3.0)
        assert waiting(world) == [seconds(4)]
        assert speed(world, seconds(2)) == speed(world, seconds(3)) == 1.0

    def test_by_a_twist_that_is_integrated(self, world):
        drive(world, 0.0)
        world.set_twist(**FORWARD, at=seconds(1), pending=True, source="other")
        own = FORWARD | {"expressed_in": "robot"}
        world.set_twist(**own, at=seconds(1))
        assert world.pending_twists() == ()

    def test_by_a_late_pose(self, world):
        drive(world, 1.0)
        world.set_twist(**FORWARD, at=seconds(0.5), pending=True)
        drive(world, 0.0)
        assert speed(world, seconds(0.5)) == 1.0

    def test_when_a_preference_decides_between_rival_poses(self, world):
        world.set_twist(**FORWARD, at=0, pending=True)
        world.set_pose(of="robot", in_frame="cart", transform=STILL, at=0, source="a")
        world.fix(of="cart", in_frame="lab", transform=STILL)
        world.set_pose(of="robot", in_frame="shelf", transform=STILL, at=0, source="b")
        world.fix(of="shelf", in_frame="map", transform=STILL)
        assert isinstance(error_of(world.pose, of="robot", in_frame="map", at=0), AmbiguousPath)
        assert waiting(world) == [0]
        world.prefer(of="robot", source="b")
        assert speed(world) == 1.0

    def test_with_its_source_and_its_covariance(self, world):
        world.set_twist(**FORWARD, at=0, pending=True, source="imu", covariance=np.diag(np.arange(1.0, 7.0)))
        world.fix(of="robot", in_frame="map", transform=STILL, at=0)
        twist = world.twist(of="robot", relative_to="map", at=0)
        assert ("robot", "map", "imu") in twist.relations
        np.testing.assert_allclose(twist.covariance, np.diag(np.arange(1.0, 7.0)))


class CountingWorld(World):
    """Counts how often a twist that waits is tried."""

    def __init__(self) -> None:
        super().__init__()
        self.tried, write = 0, self.store.write_twist

        def counted(*, may_be_contested=False, **twist) -> bool:
            self.tried += may_be_contested  # as only one that waited may be
            return write(may_be_contested=may_be_contested, **twist)

        self.store.write_twist = counted


class TestIsTried:
    def test_only_when_what_it_waits_for_may_have_come(self):
        world = CountingWorld()
        drive(world, 0.0)
        world.set_twist(**FORWARD, at=0)
        for t in range(1, 41):
            world.set_twist(**FORWARD, at=seconds(t / 10), pending=True)
        for t in range(20):
            world.set_pose(of="cart", in_frame="map", transform=STILL, at=t)
        assert (world.tried, len(waiting(world))) == (0, 40)
        drive(world, 1.0)
        assert (world.tried, len(waiting(world))) == (10, 30)

    def test_when_a_way_to_its_axes_appears(self):
        world = CountingWorld()
        world.set_twist(**FORWARD, at=0, pending=True)
        world.add_frame("map", "elsewhere")
        world.fix(of="elsewhere", in_frame="map", transform=STILL)
        world.fix(of="robot", in_frame="elsewhere", transform=STILL, at=0)
        assert (speed(world), world.pending_twists(), world.store.waits_pending()) == (1.0, (), 0)

    def test_beside_the_waits_and_their_limit(self):
        small = World(max_waits=2)
        for at in (0, 1):
            small.set_twist(**FORWARD, at=at, pending=True)
        handle = small.on_pose(lambda _: None, of="cup", in_frame="map")
        drain(small)
        assert small.store.waits_pending() == 1
        handle.cancel()
        small.clear()
        assert (small.store.waits_pending(), small.pending_twists()) == (0, ())


class TestIsACopy:
    def test_of_the_arrays(self, world):
        linear, angular, covariance = np.array([1.0, 0, 0]), np.zeros(3), np.eye(6)
        numbers = {"linear": linear, "angular": angular, "covariance": covariance}
        world.set_twist(**ALONG_MAP | numbers, at=0, pending=True)
        for array in numbers.values():
            array[:] = 99.0
        world.fix(of="robot", in_frame="map", transform=STILL, at=0)
        twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=0)
        assert (twist.linear.tolist(), twist.angular.tolist()) == ([1, 0, 0], [0, 0, 0])
        np.testing.assert_array_equal(twist.covariance, np.eye(6))

    @pytest.mark.parametrize(("wrong", "error"), [
        ({"linear": (1, 2)}, ArmillaryError), ({"angular": (np.nan, 0, 0)}, ArmillaryError),
        ({"covariance": -np.eye(6)}, InvalidArgument), ({"at": 0.5}, ArmillaryError), ({"of": ""}, InvalidName),
        ({"expressed_in": ""}, InvalidName), ({"source": 5}, InvalidName),
        ({"relative_to": "robot"}, ConstraintViolation),
    ], ids=str)  # fmt: skip
    def test_that_was_checked_at_the_call(self, world, wrong, error):
        with pytest.raises(error):
            world.set_twist(**FORWARD | {"at": 0, "pending": True} | wrong)
        assert world.pending_twists() == ()


class TestIsReplaced:
    @pytest.mark.parametrize("pending", [False, True])
    def test_by_a_later_twist_of_its_instant(self, world, pending):
        world.set_twist(**FORWARD, at=0, pending=True)
        axes = "map" if pending else "robot"
        world.set_twist(**FORWARD | {"linear": (2, 0, 0), "expressed_in": axes}, at=0, pending=pending)
        assert waiting(world) == [0] * pending
        world.set_pose(of="robot", in_frame="map", transform=STILL, at=0)
        assert speed(world) == 2.0

    def test_by_no_other_twist(self, world):
        world.set_twist(**FORWARD, at=0, pending=True)
        own = FORWARD | {"expressed_in": "robot"}
        world.set_twist(**own, at=1)
        world.set_twist(**own, at=0, source="other")
        with pytest.raises(UnknownFrame):
            world.set_twist(**FORWARD | {"expressed_in": "moon"}, at=0)
        assert waiting(world) == [0]

    def test_within_the_bound(self):
        small = World(max_waits=2)
        for at in (0, 1):
            small.set_twist(**FORWARD, at=at, pending=True)
        with pytest.raises(LimitReached, match=r"At most 2 pending twists are kept.*clear"):
            small.set_twist(**FORWARD, at=2, pending=True)
        small.set_twist(**FORWARD | {"linear": (2, 0, 0)}, at=1, pending=True)
        assert waiting(small) == [0, 1]


class TestIsRemoved:
    @pytest.mark.parametrize("forget", ["clear", "reset_time"])
    def test_with_the_samples(self, world, forget):
        world.set_twist(**FORWARD, at=0, pending=True)
        getattr(world, forget)()
        assert world.pending_twists() == ()
        world.set_pose(of="robot", in_frame="map", transform=STILL, at=0)
        assert "twist" not in {info.kind for info in world.relations()}

    @pytest.mark.parametrize("name", ["robot", "map", "lens", "other"])
    def test_with_the_frames_it_names(self, world, name):
        world.add_frame("robot", "map", "lens", "other")
        world.set_twist(**FORWARD | {"expressed_in": "lens"}, at=0, pending=True)
        world.remove_frame(name)
        assert waiting(world) == [0] * (name == "other")

    def test_with_a_whole_subtree(self, world):
        world.fix(of="robot", in_frame="map", transform=STILL, at=0)
        world.set_twist(**FORWARD | {"expressed_in": "lens"}, at=0, pending=True)
        error_of(world.remove_frame, "map")
        assert waiting(world) == [0]
        world.remove_frame("map", subtree=True)
        assert world.pending_twists() == ()

    def test_not_when_the_new_time_is_refused(self, world):
        world.set_twist(**FORWARD, at=0, pending=True)
        assert isinstance(error_of(world.reset_time, to=0.5), ArmillaryError)
        assert waiting(world) == [0]

    def test_and_reported_when_it_can_never_be_rotated(self, world):
        complaints = Mailbox()
        world.on_error = complaints
        drive(world, 0.0)
        world.set_twist(**FORWARD, at=seconds(1), pending=True)
        drive(world, 100.0)
        assert world.pending_twists() == ()
        assert isinstance(complaints.wait()[0], StampOutOfRange)
        assert complaints.threads == {"armillary-dispatcher"}

    def test_and_reported_when_the_twists_are_further(self, world):
        complaints = Mailbox()
        world.on_error = complaints
        world.set_twist(**FORWARD, at=0, pending=True, source="imu")
        world.set_twist(**FORWARD | {"expressed_in": "robot"}, at=seconds(100), source="imu")
        drive(world, 0.0)
        assert isinstance(complaints.wait()[0], BeforeHistory)
        drain(world)
        assert (len(complaints.letters), world.pending_twists()) == (1, ())

    def test_without_a_report_once_the_world_is_closed(self, world):
        complaints = Mailbox()
        world.on_error = complaints
        drive(world, 0.0)
        world.set_twist(**FORWARD, at=seconds(1), pending=True)
        world.close()
        drive(world, 100.0)
        assert (world.pending_twists(), complaints.letters) == ((), [])


class TestIsListed:
    def test_as_a_value(self, world):
        world.set_twist(**FORWARD | {"expressed_in": "lens"}, at=7, pending=True, source="imu")
        (twist,) = world.pending_twists()
        assert (twist.of, twist.relative_to, twist.expressed_in) == ("robot", "map", "lens")
        assert (twist.at, twist.source) == (7, "imu")
        assert len({twist, *world.pending_twists()}) == 1
        with pytest.raises(FrozenInstanceError):
            twist.at = 8

    def test_and_changes_nothing_else(self, world):
        world.fix(of="robot", in_frame="cart", transform=STILL, at=0)
        before = everything_about(world)
        world.set_twist(**FORWARD, at=0, pending=True)
        assert everything_about(world) == before

    def test_not_at_all_where_nothing_is_missing(self, world):
        world.fix(of="robot", in_frame="map", transform=STILL, at=0)
        world.set_twist(**FORWARD, at=0, pending=True)
        assert (speed(world), world.pending_twists()) == (1.0, ())


class TestOfAWorldThatWasNotInitialised:
    @pytest.mark.parametrize(("name", "given"), [("clear", ()), ("reset_time", ()), ("remove_frame", ("a",)),
                                                 ("pending_twists", ()), ("add_body", ("a",))])  # fmt: skip
    def test_is_refused_with_a_sentence(self, name, given):
        class Careless(World):
            def __init__(self) -> None:
                """Without that of the World."""

        with pytest.raises(InvalidArgument, match="super"):
            getattr(Careless(), name)(*given)


class TestFromManyThreads:
    def test_none_is_lost(self, world):
        """Poses and twists of the same instants, set at the same time: each twist is stored by the later call."""
        count = 300
        world.set_pose(of="robot", in_frame="map", transform=STILL, at=-1)

        def say_twists() -> None:
            for at in range(count):
                world.set_twist(**FORWARD, at=at, pending=True)

        def say_poses() -> None:
            for at in range(count):
                world.set_pose(of="robot", in_frame="map", transform=STILL, at=at)

        threads = [threading.Thread(target=work) for work in (say_twists, say_poses, say_twists)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert world.pending_twists() == ()
        assert [info.samples for info in world.relations() if info.kind == "twist"] == [count]
