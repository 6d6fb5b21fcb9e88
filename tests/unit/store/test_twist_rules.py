"""One source measures a motion once (C8): what is refused, what it conflicts with, and what another may measure."""

from __future__ import annotations

import threading

import pytest

from armillary import World
from armillary.errors import ConstraintViolation
from armillary.relations.rules import TwistEdge
from unit.kit import STILL, FakeClock, error_of, everything_about, moved


@pytest.fixture
def gun() -> World:
    """A body with two frames, one of which is placed."""
    world = World(clock=FakeClock())
    world.add_body("gun", frames=["g1", "g2"])
    world.fix(of="g2", in_frame="g1", transform=moved(1.0))
    world.set_pose(of="g1", in_frame="m", transform=STILL, at=0)
    return world


def say(world: World, of: str, relative_to: str, speed: float = 1.0, **more) -> None:
    numbers = {"linear": (speed, 0, 0), "angular": (0, 0, 0), "at": 0, "expressed_in": of}
    world.set_twist(of=of, relative_to=relative_to, **numbers | more)


def refused(world: World, constraint: str, call, *arguments, **named) -> ConstraintViolation:
    """The refusal; nothing is changed by it."""
    before = [everything_about(world), world.bodies(), world.pending_twists()]
    error = error_of(call, *arguments, **named)
    assert isinstance(error, ConstraintViolation), error
    assert error.constraint == constraint
    assert [everything_about(world), world.bodies(), world.pending_twists()] == before
    return error


class TestOneSourceSaysAMotionOnce:
    @pytest.mark.parametrize(("first", "second"), [("g1", "g2"), ("g2", "g1")])
    def test_at_one_frame_of_a_body(self, gun, first, second):
        say(gun, first, "m")
        error = refused(gun, "C8b", say, gun, second, "m")
        assert error.existing == (TwistEdge(first, "m"),)
        assert f"In the way: the twist of '{first}' relative to 'm'. Set it with another source=" in str(error)
        assert "measured twice by one source" in str(error)

    @pytest.mark.parametrize("again", [("m", "g1"), ("m", "g2"), ("m", "gun")])
    def test_in_one_direction(self, gun, again):
        say(gun, "g1", "m")
        assert refused(gun, "C8b", say, gun, *again).existing == (TwistEdge("g1", "m"),)

    def test_without_a_circle(self):
        world = World(clock=FakeClock())
        for name in "abc":
            world.fix(of=name, in_frame="m", transform=STILL, at=0)
        say(world, "b", "a")
        say(world, "c", "b")
        error = refused(world, "C8b", say, world, "a", "c")
        assert set(error.existing) == {TwistEdge("b", "a"), TwistEdge("c", "b")}

    def test_in_each_tree_of_poses(self):
        """As in a RelationGraph: what no pose joins is not measured twice, until a pose joins it."""
        world = World(clock=FakeClock())
        for of, relative_to in (("b", "a"), ("c", "b"), ("a", "c")):
            say(world, of, relative_to)
        world.fix(of="b", in_frame="a", transform=STILL)
        error = refused(world, "C8b", world.fix, of="c", in_frame="a", transform=STILL)
        assert "Set one of these twists with another source=" in str(error)
        world.set_pose(of="d", in_frame="c", transform=STILL, at=0)

    def test_of_a_body_whose_frames_are_apart(self):
        world = World(clock=FakeClock())
        world.add_body("crate", frames=["c1", "c2"])
        for of in ("c1", "c2"):
            say(world, of, "m")
        error = refused(world, "C8b", world.fix, of="c2", in_frame="c1", transform=STILL)
        assert set(error.existing) <= {TwistEdge("c1", "m"), TwistEdge("c2", "m")}

    def test_only_while_the_trees_are_one(self):
        world = World(clock=FakeClock())
        world.set_pose(of="b", in_frame="a", transform=STILL, at=0)
        world.set_pose(of="b", in_frame="elsewhere", transform=STILL, at=10)
        say(world, "b", "a", at=20)
        say(world, "a", "b", at=20)
        refused(world, "C8b", world.set_pose, of="a", in_frame="b", transform=STILL, at=30)
        world.set_pose(of="a", in_frame="x", transform=STILL, at=30)

    def test_relative_to_one_body(self):
        world = World(clock=FakeClock())
        say(world, "x", "p")
        error = refused(world, "C8a", say, world, "x", "q")
        assert error.existing == (TwistEdge("x", "p"),)

    def test_and_again_and_again(self, gun):
        for at in range(3):
            say(gun, "g1", "m", at=at)
        assert [info.samples for info in gun.relations() if info.kind == "twist"] == [3]

    def test_by_any_frame_of_the_other_body(self, gun):
        for relative_to in ("gun", "g1", "g2"):
            say(gun, "x", relative_to)
        assert [info.samples for info in gun.relations() if info.kind == "twist"] == [1]

    def test_until_that_frame_is_removed(self, gun):
        say(gun, "g2", "m")
        gun.remove_frame("g2")
        say(gun, "g1", "m")

    def test_even_while_it_waits(self, gun):
        say(gun, "g1", "m", expressed_in="lens", pending=True)
        refused(gun, "C8b", say, gun, "g2", "m")
        refused(gun, "C8b", say, gun, "g2", "m", expressed_in="lens", pending=True)
        say(gun, "g1", "m", at=1)
        say(gun, "g2", "m", source="other")

    def test_whoever_is_first(self):
        """Two threads that contradict each other: one is refused."""
        for _ in range(50):
            world, errors = World(clock=FakeClock()), []
            world.fix(of="a", in_frame="b", transform=STILL, at=0)
            both = threading.Barrier(2)

            def contradict(of: str, relative_to: str, world=world, errors=errors, both=both) -> None:
                both.wait()
                errors.append(error_of(say, world, of, relative_to))

            threads = [threading.Thread(target=contradict, args=edge) for edge in (("a", "b"), ("b", "a"))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(type(error).__name__ for error in errors) == ["ConstraintViolation", "NoneType"]


class TestAnotherSource:
    def test_is_a_rival(self, gun):
        say(gun, "g1", "m", 1.0, source="imu")
        say(gun, "g2", "m", 2.0, source="camera")
        say(gun, "m", "g1", 3.0, source="third")
        assert len([info for info in gun.relations() if info.kind == "twist"]) == 3


class TestABodyOfFramesThatMove:
    def test_does_not_take_in_what_moves_relative_to_it(self):
        world = World(clock=FakeClock())
        world.add_body("gun", frames=["grip"])
        say(world, "x", "gun")
        error = refused(world, "C8b", world.add_body, "gun", frames=["x"])
        assert "the twist of 'x' relative to 'gun' would be relative to its own body" in str(error)
        assert world.body_of("x") == "x"

    def test_does_not_take_in_what_it_moves_relative_to(self):
        world = World(clock=FakeClock())
        world.add_body("gun", frames=["grip"])
        say(world, "grip", "x")
        refused(world, "C8b", world.add_body, "gun", frames=["x"])

    @pytest.mark.parametrize("more", [{}, {"expressed_in": "lens", "pending": True}], ids=["stored", "pending"])
    def test_does_not_make_two_motions_one(self, more):
        world = World(clock=FakeClock())
        world.fix(of="y", in_frame="x", transform=STILL)
        for of in ("x", "y"):
            say(world, of, "p", **more)
        error = refused(world, "C8b", world.add_body, "xy", frames=["x", "y"])
        assert "would be known twice" in str(error)
        assert "Leave one of them out of 'xy'" in str(error)

    def test_does_not_close_a_circle(self):
        world = World(clock=FakeClock())
        for of in ("q", "x"):
            world.fix(of=of, in_frame="p", transform=STILL, at=0)
        say(world, "x", "p")
        say(world, "q", "x")
        refused(world, "C8b", world.add_body, "pq", frames=["p", "q"])

    def test_may_be_measured_by_two_sources(self):
        world = World(clock=FakeClock())
        world.fix(of="q", in_frame="p", transform=STILL)
        say(world, "x", "p", source="a")
        say(world, "x", "q", source="b")
        world.add_body("pq", frames=["p", "q"])
        assert {(info.in_frame, info.source) for info in world.relations() if info.kind == "twist"} == {
            ("pq", "a"),
            ("pq", "b"),
        }


class TestABodyThatIsReachedTwice:
    @pytest.fixture
    def world(self) -> World:
        """A crate with two frames that no pose joins; one of them stood on a table until it was put elsewhere at 10."""
        world = World(clock=FakeClock())
        world.add_body("crate", frames=["c1", "c2"])
        world.set_pose(of="c1", in_frame="table", transform=STILL, at=0)
        world.set_pose(of="c1", in_frame="shelf", transform=STILL, at=10)
        return world

    @pytest.mark.parametrize("at", [0, 5, 9])
    def test_is_refused_for_the_instants_at_which_it_would_be(self, world, at):
        refused(world, "C6b", world.set_pose, of="c2", in_frame="table", transform=STILL, at=at)

    def test_is_refused_where_the_frame_comes_back(self, world):
        world.set_pose(of="c1", in_frame="table", transform=STILL, at=20)
        refused(world, "C6b", world.set_pose, of="c2", in_frame="table", transform=STILL, at=12)

    def test_is_not_at_others(self, world):
        world.set_pose(of="c2", in_frame="table", transform=STILL, at=12)
        assert world.can_pose(of="c2", in_frame="table", at=12)

    def test_is_not_once_the_new_one_has_moved_on(self, world):
        world.set_pose(of="c2", in_frame="cart", transform=STILL, at=12)
        refused(world, "C6b", world.set_pose, of="c2", in_frame="shelf", transform=STILL, at=11)
        world.set_pose(of="c2", in_frame="attic", transform=STILL, at=11)
