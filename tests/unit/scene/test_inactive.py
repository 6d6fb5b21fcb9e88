"""Conflicting assertions of several replicas: the same ones are active everywhere."""

from __future__ import annotations

import itertools

import pytest

from armillary import Transform, World, seconds
from armillary.errors import ConstraintViolation, FrameLoop, NotConnected
from armillary.scene import AddBody, AddRelation, AddTwistRelation, Fix, Inactive, Unfix
from unit.kit import FakeClock, moved

STILL = Transform.identity()


@pytest.fixture
def replicas():
    """Three worlds whose assertions come one after the other, in this order."""
    clocks = [FakeClock(seconds(5 + i)) for i in range(3)]
    worlds = [World(name, clock=clock) for name, clock in zip("abc", clocks, strict=True)]
    for world in worlds:
        world.store.set_machine_time(world.now())
    return worlds


def exchange(replicas) -> None:
    for here, there in itertools.permutations(replicas, 2):
        here.merge(there.scene.changes())


def only(world) -> Inactive:
    (one,) = world.scene.inactive()
    return one


def receive(world, *, of, in_frame, x_m, at, source="b") -> bool:
    """Of a sample that another copy accepted."""
    rows = [moved(x_m).xyz_wxyz]
    return world.store.merge_poses(of=of, in_frame=in_frame, transforms=rows, at=[at], source=source)


LATER = seconds(9)


def x_of(world, of, in_frame, at=LATER):
    return world.pose(of=of, in_frame=in_frame, at=at).transform.translation[0]


class TestPosesThatCloseALoop:
    def test_are_active_in_the_order_in_which_they_were_asserted(self, replicas):
        for world, (of, in_frame) in zip(replicas, (("p", "q"), ("q", "r"), ("r", "p")), strict=True):
            world.fix(of=of, in_frame=in_frame, transform=moved(1))
        exchange(replicas)
        for world in replicas:
            assert (only(world).change.of, only(world).change.in_frame) == ("r", "p")
            assert isinstance(only(world).reason, FrameLoop)
            assert only(world).reason.path == ("r", "p", "q", "r")
            assert x_of(world, "p", "r") == 2

    def test_do_not_where_they_hold_at_different_times(self, replicas):
        one, two, _ = replicas
        one.fix(of="p", in_frame="q", transform=moved(1), at=seconds(1))
        one.fix(of="p", in_frame="map", transform=moved(2), at=seconds(3))
        two.fix(of="q", in_frame="p", transform=moved(4), at=seconds(3))
        exchange(replicas)
        for world in replicas:
            assert world.scene.inactive() == []
            assert x_of(world, "p", "q", seconds(2)) == 1
            assert x_of(world, "q", "map", seconds(4)) == 6

    def test_leave_the_frame_without_a_parent_meanwhile(self, replicas):
        one, two, _ = replicas
        two.fix(of="q", in_frame="map", transform=moved(7))
        two.fix(of="q", in_frame="p", transform=moved(4), at=seconds(3))
        one.fix(of="p", in_frame="q", transform=moved(1))
        exchange(replicas)
        for world in replicas:
            assert only(world).change.at == seconds(3)
            assert x_of(world, "p", "map", seconds(2)) == 8
            with pytest.raises(NotConnected):
                world.pose(of="p", in_frame="map", at=seconds(4))

    def test_are_in_force_when_what_was_in_the_way_is_gone(self, replicas):
        one, two, _ = replicas
        one.fix(of="p", in_frame="q", transform=moved(1))
        two.fix(of="q", in_frame="p", transform=moved(4))
        exchange(replicas)
        one.apply([Unfix(of="p", in_frame="q", source="a")])
        exchange(replicas)
        for world in replicas:
            assert (world.scene.inactive(), x_of(world, "q", "p")) == ([], 4)

    def test_are_asserted_by_samples_as_well(self, replicas):
        one, two, _ = replicas
        two.set_pose(of="q", in_frame="p", transform=moved(4), at=seconds(2))
        one.fix(of="p", in_frame="q", transform=moved(1))
        two.merge(one.scene.changes())
        assert isinstance(only(two).change, AddRelation)
        with pytest.raises(FrameLoop):
            two.set_pose(of="q", in_frame="p", transform=moved(4), at=seconds(3))
        one.apply([Unfix(of="p", in_frame="q", source="a")])
        two.merge(one.scene.changes())
        assert two.scene.inactive() == []
        assert x_of(two, "q", "p", seconds(2)) == 4

    def test_take_the_samples_of_others_in_and_use_them_when_they_are_in_force(self, replicas):
        one, two, _ = replicas
        one.fix(of="p", in_frame="q", transform=moved(1))
        two.set_pose(of="q", in_frame="p", transform=moved(4), at=seconds(2))
        assert not receive(one, of="q", in_frame="p", x_m=4, at=seconds(2))
        exchange(replicas)
        assert receive(one, of="q", in_frame="p", x_m=4, at=seconds(2))
        assert str(only(one).reason) == str(only(two).reason)
        one.undo()
        exchange(replicas)
        assert [x_of(world, "q", "p", seconds(2)) for world in (one, two)] == [4, 4]

    def test_are_ordered_by_their_relation_not_their_samples(self, replicas):
        one, two, _ = replicas
        one.apply([AddRelation(of="q", in_frame="p", at=seconds(2), source="b")])
        two.fix(of="p", in_frame="q", transform=moved(1))
        exchange(replicas)
        for world in (one, two):
            assert receive(world, of="q", in_frame="p", x_m=4, at=seconds(2))
            assert (only(world).change.of, x_of(world, "q", "p", seconds(2))) == ("p", 4)

    def test_yield_to_where_nodes_are(self, replicas):
        one, two, _ = replicas
        one.fix(of="p", in_frame="q", transform=moved(1))
        two.add_frame("p")
        tag = two.scene.add_transform(parent="p", transform=moved(2), at=None)
        two.merge(one.scene.changes())
        one.fix(of="q", in_frame=str(tag), transform=moved(4))
        exchange(replicas)
        for world in replicas:
            assert only(world).change.of == "q"
            assert x_of(world, str(tag), "q") == 3

    def test_are_kept_by_a_copy_of_the_world(self, replicas):
        one, two, _ = replicas
        one.fix(of="p", in_frame="q", transform=moved(1))
        two.fix(of="q", in_frame="p", transform=moved(4))
        exchange(replicas)
        with one.copy() as other:
            assert str(only(other).reason) == str(only(one).reason)
            other.undo()
            assert x_of(other, "q", "p") == 4
        assert only(one).change.of == "q"


class TestBodies:
    def test_that_claim_one_frame_do_so_in_the_order_of_assertion(self, replicas):
        one, two, _ = replicas
        one.add_body("gun", frames=["tip"])
        two.add_body("cart", frames=["tip", "wheel"])
        exchange(replicas)
        for world in replicas:
            assert (world.body_of("tip"), world.body_of("wheel")) == ("gun", "cart")
            assert only(world).change == AddBody("cart", ("tip",))
            assert isinstance(only(world).reason, ConstraintViolation)
        one.remove_frame("tip")
        exchange(replicas)
        two.add_body("cart", frames=["tip"])
        exchange(replicas)
        assert [world.body_of("tip") for world in replicas] == ["cart"] * 3

    @pytest.mark.parametrize("body_is_first", [True, False])
    def test_on_which_something_moves_depend_on_what_was_asserted_first(self, replicas, body_is_first):
        one, two, _ = replicas if body_is_first else reversed(replicas)
        one.add_body("gun", frames=["tip", "base"])
        two.set_pose(of="tip", in_frame="base", transform=moved(1), at=seconds(1))
        exchange(replicas)
        for world in replicas:
            assert type(only(world).change) is (AddRelation if body_is_first else AddBody)
            assert (world.body_of("tip") == "gun") is (body_is_first or only(world).change.frames != ("tip",))

    def test_leave_samples_out_also_where_another_parent_comes_between_them(self, replicas):
        one, two, _ = replicas
        one.add_body("gun", frames=["tip", "base"])
        for at in (1, 5):
            two.set_pose(of="tip", in_frame="base", transform=moved(at), at=seconds(at))
        exchange(replicas)
        two.set_pose(of="tip", in_frame="map", transform=moved(3), at=seconds(3))
        for at in (1, 5):
            with pytest.raises(NotConnected):
                two.pose(of="tip", in_frame="base", at=seconds(at))

    def test_hold_one_pose_between_two_frames(self, replicas):
        one, two, _ = replicas
        for world in (one, two):
            world.add_body("gun", frames=["tip", "base"])
        one.fix(of="tip", in_frame="base", transform=moved(1))
        two.fix(of="tip", in_frame="base", transform=moved(2), source="other")
        exchange(replicas)
        for world in replicas:
            assert isinstance(only(world).change, Fix)
            assert x_of(world, "tip", "base") == 1

    def test_do_not_move_relative_to_themselves(self, replicas):
        one, two, _ = replicas
        one.add_body("gun", frames=["tip", "base"])
        two.set_twist(
            of="tip", relative_to="base", expressed_in="tip", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(1)
        )
        exchange(replicas)
        assert [type(only(world).change) for world in replicas] == [AddTwistRelation] * 3


class TestAWorldByItself:
    def test_refuses_a_second_pose_on_a_body_also_in_a_frame_that_is_new(self):
        world = World()
        world.fix(of="tip", in_frame="base", transform=moved(1))
        world.add_body("gun", frames=["tip", "base"])
        with pytest.raises(ConstraintViolation):
            world.fix(of="tip", in_frame="gun", transform=moved(2), at=seconds(1))

    def test_has_nothing_inactive(self, world):
        world.fix(of="p", in_frame="q", transform=moved(1))
        with pytest.raises(FrameLoop):
            world.fix(of="q", in_frame="p", transform=STILL)
        assert world.scene.inactive() == []


class TestWhoHasMoreAuthority:
    @pytest.fixture
    def replicas(self):
        """Three worlds of which the last to assert has the highest authority."""
        return [World(name, clock=FakeClock(seconds(5 + i)), authority=i) for i, name in enumerate("abc")]

    def test_is_right_about_loops(self, replicas):
        for world, (of, in_frame) in zip(replicas, (("p", "q"), ("q", "r"), ("r", "p")), strict=True):
            world.fix(of=of, in_frame=in_frame, transform=moved(1))
        exchange(replicas)
        assert [(only(world).change.of, only(world).change.in_frame) for world in replicas] == [("p", "q")] * 3

    def test_is_right_about_bodies(self, replicas):
        one, two, _ = replicas
        one.add_body("arm", frames=["tip"])
        two.add_body("gun", frames=["tip"])
        exchange(replicas)
        assert [world.body_of("tip") for world in replicas] == ["gun"] * 3

    def test_adds_to_a_body_that_others_declared(self, replicas):
        one, _, three = replicas
        one.add_body("gun", frames=["tip"])
        three.add_body("gun", frames=["base"])
        exchange(replicas)
        assert [(world.body_of("tip"), world.body_of("base")) for world in replicas] == [("gun", "gun")] * 3
        assert [world.scene.inactive() for world in replicas] == [[], [], []]

    def test_is_right_about_cycles(self, replicas):
        one, _, three = replicas
        table, tray = (one.scene.add_group(parent=one.scene.root) for _ in range(2))
        exchange(replicas)
        one.scene.add_parent(tray, table)
        three.scene.add_parent(table, tray)
        exchange(replicas)
        assert [(only(world).change.id, only(world).change.parent) for world in replicas] == [(tray, table)] * 3
        assert all(world.scene.as_of(LATER).parents(table) == [one.scene.root, tray] for world in replicas)

    def test_may_not_contradict_what_counts_where_it_is(self, replicas):
        one, _, three = replicas
        one.fix(of="p", in_frame="q", transform=STILL)
        exchange(replicas)
        with pytest.raises(FrameLoop):
            three.fix(of="q", in_frame="p", transform=STILL)

    def test_does_not_outlast_a_later_assertion_about_the_same(self, replicas):
        one, _, three = replicas
        three.fix(of="p", in_frame="q", transform=moved(1), source="both")
        exchange(replicas)
        one.fix(of="p", in_frame="q", transform=moved(2), source="both")
        exchange(replicas)
        assert [x_of(world, "p", "q") for world in replicas] == [2, 2, 2]

    def test_is_in_its_changes_and_its_replicas(self, replicas):
        three = replicas[2]
        three.add_frame("p")
        assert {record.authority for record in three.scene.changes()} == {2}
        twin = three.copy()
        twin.add_frame("q")
        assert twin.scene.changes()[-1].authority == 2


class TestARelationWithoutSamples:
    def test_takes_nothing_from_the_samples_of_another_that_come_later(self, replicas):
        one, two, _ = replicas
        for at in (1, 5):
            one.set_pose(of="tip", in_frame="base", transform=moved(at), at=seconds(at), source="eyes")
        two.apply([AddRelation(of="tip", in_frame="map", at=seconds(3), source="eyes")])
        exchange(replicas)
        assert x_of(one, "tip", "base", seconds(5)) == 5


class TestWhatIsTooMuch:
    @pytest.mark.parametrize("most", [1, 2, 1000])
    def test_is_forgotten_alike_in_whatever_order_it_is_merged(self, most):
        clock = FakeClock(seconds(1))
        authors = [World(name, clock=clock) for name in "abcd"]
        assertions = [self.asserted_by(author, clock, is_removal=author is authors[2]) for author in authors]
        outcomes = set()
        for order in itertools.permutations(assertions):
            with World("x", clock=clock, max_runs=most) as world:
                for records in order:
                    world.merge(records)
                outcomes.add((world.digest(), tuple(world.relations())))
        assert len(outcomes) == 1

    def asserted_by(self, author, clock, *, is_removal):
        """That there are samples of one frame in another, or that the frame is no more."""
        clock.ns += 1
        if is_removal:
            author.add_frame("p")
            author.remove_frame("p")
        else:
            author.set_pose(of="p", in_frame="q", transform=STILL, at=seconds(1), source="all")
        return author.scene.changes()
