"""What was given by mistake is taken back: by undo, samples by forget, a relation by remove_relation."""

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import (
    AfterHistory,
    ArmillaryError,
    BeforeHistory,
    BuiltUpon,
    FrameLoop,
    InvalidArgument,
    InvalidStamp,
    NoOpposite,
    NoSamples,
    NoSuchRelation,
    NotConnected,
    NothingToUndo,
    SingleSample,
    UnknownFrame,
)
from armillary.scene import AddRelation, ChangeRecord, Fix, Forget, RemoveRelation, SetTransform
from unit.kit import moved

STILL = Transform.identity()


@pytest.fixture
def scene(world):
    return world.scene


def see(world, of, in_frame, x, at_s, *, source=None):
    world.set_pose(of=of, in_frame=in_frame, transform=moved(x), at=seconds(at_s), source=source)


def x_of(world, of, in_frame, at_s, **options):
    return world.pose(of=of, in_frame=in_frame, at=seconds(at_s), **options).xyz[0]


def relations(world):
    return {(info.of, info.in_frame, info.source, info.samples) for info in world.relations()}


class TestUndoOfWhatASampleMade:
    def test_takes_back_the_wrong_pose_and_not_what_was_fixed_before(self):
        """R2 of the first day."""
        with World("r") as w:
            w.fix(of="odom", in_frame="map", transform=STILL)
            w.set_pose(of="base", in_frame="odom", transform=STILL, at=0)
            before = w.digest()
            w.set_pose(of="base", in_frame="elsewhere", transform=STILL, at=seconds(1), source="typo")
            report = w.undo()
            assert "elsewhere" not in w.frames()
            assert w.pose(of="base", in_frame="map", at=0).xyz[0] == 0
            assert w.digest() == before
        assert report.samples_lost == 1
        (made,) = report.changes
        assert isinstance(made, AddRelation)
        assert (made.of, made.in_frame, made.source, made.at) == ("base", "elsewhere", "typo", seconds(1))
        assert str(report) == "Undone: AddRelation 'base' in 'elsewhere' by 'typo' from 1.000 s. 1 sample is lost."

    def test_of_many_poses_takes_back_all_of_them(self, world):
        rows = np.tile([0.0, 0, 0, 1, 0, 0, 0], (20, 1))
        world.set_poses(of="cup", in_frame="map", transforms=rows, at=np.arange(20))
        assert world.undo().samples_lost == 20
        assert "cup" not in world.frames()

    def test_of_a_twist_leaves_the_poses_of_its_source(self, world):
        see(world, "base", "odom", 1, 1)
        world.set_twist(of="base", relative_to="odom", expressed_in="base", linear=(1, 0, 0), angular=(0, 0, 0), at=5)
        assert world.undo().samples_lost == 1
        assert relations(world) == {("base", "odom", world.name, 1)}
        assert x_of(world, "base", "odom", 1) == 1

    def test_of_a_move_forgets_the_samples_there(self, world):
        see(world, "cup", "table", 1, 1)
        see(world, "cup", "hand", 2, 2)
        see(world, "cup", "table", 3, 3)
        see(world, "cup", "table", 4, 4)
        report = world.undo()  # back on the table: a move between known relations
        assert report.samples_lost == 2
        assert [type(change) for change in report.changes] == [AddRelation]
        assert relations(world) == {("cup", "table", world.name, 1), ("cup", "hand", world.name, 1)}

    def test_of_moves_to_and_fro_takes_them_back_together(self, world):
        see(world, "cup", "table", 1, 1)
        see(world, "cup", "hand", 2, 2)
        world.fix(of="shelf", in_frame="map", transform=STILL)
        for k in range(3, 9):
            see(world, "cup", ("table", "hand")[k % 2 == 0], k, k)
        assert world.undo().samples_lost == 6
        assert relations(world) >= {("cup", "table", world.name, 1), ("cup", "hand", world.name, 1)}
        assert isinstance(world.undo().changes[0], Fix)

    def test_leaves_the_redo_of_structure_without_samples(self, world):
        see(world, "cup", "table", 1, 1)
        world.undo()
        report = world.redo()
        assert report.is_redo
        assert relations(world) == {("cup", "table", world.name, 0)}
        with pytest.raises(NoSamples):
            world.pose(of="cup", in_frame="table")

    def test_is_a_quarter_of_all_at_most(self):
        with World("w", max_undo=8) as world:
            world.fix(of="odom", in_frame="map", transform=STILL)
            for k in range(20):
                see(world, f"cup{k}", "map", 1, 1)
            for expected in ("cup19", "cup18"):
                assert world.undo().changes[0].of == expected
            assert isinstance(world.undo().changes[0], Fix)
            with pytest.raises(NothingToUndo):
                world.undo()

    def test_of_a_refused_pose_is_none(self, world):
        see(world, "a", "b", 1, 1)
        with pytest.raises(InvalidArgument):
            see(world, "a", "a", 1, 2)
        assert world.undo().changes[0].in_frame == "b"
        with pytest.raises(NothingToUndo):
            world.undo()

    def test_reaches_the_other_replicas(self, world):
        with World("other") as other:
            see(world, "cup", "table", 1, 1)
            other.merge(world.scene.changes())
            see(other, "cup", "table", 2, 2, source=world.name)
            world.undo()
            other.merge(world.scene.changes())
            assert "cup" not in other.frames()
            assert other.digest() == world.digest()


class TestUndoThatHadNoInverse:
    def test_of_a_body(self, world):
        world.fix(of="tip", in_frame="gun", transform=moved(1))
        before = world.digest()
        world.add_body("tool", frames=["tip", "gun", "lens"])
        world.undo()
        assert world.digest() == before
        assert (world.bodies(), world.body_of("tip"), "lens" in world.frames()) == ((), "tip", False)
        world.redo()
        assert world.body_of("lens") == "tool"

    def test_of_a_removed_frame_asserts_all_of_it_again(self, world):
        world.fix(of="gun", in_frame="map", transform=moved(1))
        world.fix(of="tip", in_frame="gun", transform=moved(2), at=seconds(1))
        world.add_body("tool", frames=["gun"])
        world.prefer(of="gun", source=world.name)
        see(world, "eye", "gun", 5, 1)
        before = world.digest()
        world.remove_frame("gun", subtree=True)
        report = world.undo()
        assert report.samples_lost == 1
        assert world.digest() == before
        assert x_of(world, "tip", "map", 2) == 3
        assert world.body_of("gun") == "tool"
        assert ("eye", "gun", world.name, 0) in relations(world)

    def test_of_a_removed_frame_brings_back_the_nodes_in_it(self, world, scene):
        world.fix(of="gun", in_frame="map", transform=moved(1))
        mark = scene.add_transform(parent="gun", transform=moved(2), at=None, attributes={"name": "mark"})
        before = world.digest()
        world.remove_frame("gun", subtree=True)
        assert mark not in scene
        world.undo()
        assert world.digest() == before
        assert world.pose(of=scene.frame(mark), in_frame="map").xyz[0] == 3

    def test_of_a_pose_for_always_over_others(self, world):
        world.fix(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        see(world, "cup", "hand", 2, 2)
        before = world.digest()
        world.fix(of="cup", in_frame="shelf", transform=moved(3))
        assert world.undo().samples_lost == 1
        assert world.digest() == before
        assert x_of(world, "cup", "table", 1.5) == 1

    def test_is_still_refused_for_a_new_time_epoch(self, world):
        world.reset_time(to=0)
        with pytest.raises(NoOpposite, match="reset_time"):
            world.undo()

    def test_of_a_removed_frame_is_refused_where_others_made_it_again(self, world):
        world.fix(of="gun", in_frame="map", transform=moved(1))
        world.remove_frame("gun")
        with World("other") as other:
            other.merge(world.scene.changes())
            other.fix(of="gun", in_frame="rack", transform=moved(2))
            world.merge(other.scene.changes())
            with pytest.raises(BuiltUpon, match="gun"):
                world.undo()

    def test_does_not_mind_what_was_changed_and_changed_back(self, world):
        world.fix(of="gun", in_frame="map", transform=moved(1))
        with World("other") as other:
            other.merge(world.scene.changes())
            other.fix(of="gun", in_frame="map", transform=moved(2), source=world.name)
            other.fix(of="gun", in_frame="map", transform=moved(1), source=world.name)
            world.merge(other.scene.changes())
            world.undo()
        assert "gun" not in world.frames()


class TestForget:
    def test_removes_what_a_source_gave_as_if_it_never_had(self, world):
        see(world, "base", "odom", 1, 1)
        before = world.digest()
        for at in (1, 2, 3):
            see(world, "base", "odom", 9, at, source="typo")
        assert world.forget(of="base", source="typo") == 3
        assert world.digest() == before
        assert x_of(world, "base", "odom", 1) == 1

    def test_of_an_interval_includes_both_ends(self, world):
        for at in range(1, 8):
            see(world, "base", "odom", at, at)
        assert world.forget(of="base", start=seconds(3), end=seconds(5)) == 3
        assert world.samples(of="base", in_frame="odom").stamps.tolist() == [seconds(k) for k in (1, 2, 6, 7)]
        assert x_of(world, "base", "odom", 4) == 4  # between what is left

    def test_of_a_visit_elsewhere_joins_the_runs_around_it(self, world):
        for at, parent in ((1, "table"), (2, "table"), (3, "hand"), (4, "table"), (5, "table")):
            see(world, "cup", parent, at, at)
        with pytest.raises(AfterHistory):
            x_of(world, "cup", "table", 2.5)
        assert world.forget(of="cup", in_frame="hand") == 1
        assert x_of(world, "cup", "table", 2.5) == 2.5
        assert "hand" not in world.frames()

    def test_of_poses_takes_what_was_integrated_from_them(self, world):
        see(world, "base", "odom", 1, 1)
        see(world, "base", "odom", 2, 2)
        for at in (1, 2, 3):
            world.set_twist(
                of="base", relative_to="odom", expressed_in="base", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(at)
            )
        assert x_of(world, "base", "odom", 3) == pytest.approx(3)
        assert world.forget(of="base", in_frame="odom", start=seconds(2), end=seconds(2)) == 2
        assert x_of(world, "base", "odom", 3) == pytest.approx(3)  # from the pose at 1 s, with the twists at 1 and 3 s
        assert world.samples(of="base", in_frame="odom").stamps[0] == seconds(1)
        assert world.twist_samples(of="base", relative_to="odom").stamps.tolist() == [seconds(1), seconds(3)]

    def test_of_twists_integrates_anew_from_those_that_are_left(self, world):
        see(world, "base", "odom", 0, 0)
        for at, speed in ((0, 1.0), (1, 1.0), (2, 99.0)):
            world.set_twist(
                of="base",
                relative_to="odom",
                expressed_in="base",
                linear=(speed, 0, 0),
                angular=(0, 0, 0),
                at=seconds(at),
            )
        assert x_of(world, "base", "odom", 2) == pytest.approx(51)
        world.apply([Forget(of="base", start=seconds(2), end=seconds(2), kind="twist")])
        with pytest.raises(AfterHistory):
            x_of(world, "base", "odom", 2)
        assert x_of(world, "base", "odom", 1) == pytest.approx(1)

    def test_drops_twists_that_wait_for_poses(self, world):
        world.add_frame("base", "odom", "eye")
        world.set_twist(
            of="base",
            relative_to="odom",
            expressed_in="eye",
            linear=(1, 0, 0),
            angular=(0, 0, 0),
            at=5,
            pending=True,
        )
        assert world.forget(of="base") == 1
        assert world.pending_twists() == ()

    def test_leaves_a_relation_that_was_announced(self, world):
        world.apply([AddRelation(of="cup", in_frame="table", at=5)])
        assert world.forget(of="cup") == 0
        assert relations(world) == {("cup", "table", world.name, 0)}

    def test_is_undone_for_the_relation_and_not_for_the_samples(self, world):
        see(world, "cup", "table", 1, 1)
        see(world, "cup", "table", 2, 2)
        before = world.digest()
        world.forget(of="cup")
        report = world.undo()
        assert (report.samples_lost, world.digest()) == (2, before)
        assert "2 samples are lost" in str(report)
        assert relations(world) == {("cup", "table", world.name, 0)}

    def test_lets_new_samples_in(self, world):
        see(world, "cup", "table", 1, 1)
        world.forget(of="cup")
        see(world, "cup", "table", 5, 1)
        assert x_of(world, "cup", "table", 1) == 5

    def test_leaves_the_pose_that_a_node_was_made_with(self, world, scene):
        cup = scene.add_transform(parent=scene.root, transform=moved(1), at=seconds(1))
        scene.set_transform(cup, moved(2), at=seconds(2))
        assert world.forget(of=scene.frame(cup)) == 1
        assert x_of(world, scene.frame(cup), "map", 1) == 1
        assert x_of(world, scene.frame(cup), "map", 2, outside="hold") == 1

    @pytest.mark.parametrize("wrong", [{"in_frame": "moon"}, {"source": "nobody"}])
    def test_of_what_nobody_gave_names_what_there_is(self, world, wrong):
        see(world, "cup", "table", 1, 1)
        with pytest.raises(NoSuchRelation, match=rf"There is: 'cup' in 'table' by '{world.name}'") as caught:
            world.forget(of="cup", **wrong)
        assert caught.value.known == (("table", world.name),)

    def test_of_an_unknown_frame_is_refused(self, world):
        with pytest.raises(UnknownFrame):
            world.forget(of="cup")

    def test_of_a_reversed_interval_is_refused(self, world):
        see(world, "cup", "table", 1, 1)
        with pytest.raises(InvalidArgument, match="before `start`"):
            world.forget(of="cup", start=5, end=4)

    def test_reaches_the_other_replicas(self, world):
        see(world, "cup", "table", 1, 1)
        see(world, "cup", "table", 2, 2)
        with World("other") as other:
            other.merge(world.scene.changes())
            for at in (1, 2, 3):
                see(other, "cup", "table", at, at, source=world.name)
            world.forget(of="cup", end=seconds(1))
            other.merge(world.scene.changes())
            assert other.samples(of="cup", in_frame="table").stamps.tolist() == [seconds(2), seconds(3)]

    def test_is_saved(self, world, tmp_path):
        see(world, "cup", "table", 1, 1)
        world.forget(of="cup", end=seconds(1))
        world.save(tmp_path / "world.json")
        with World.load(tmp_path / "world.json") as loaded:
            assert [r.type for r in loaded.scene.changes()] == [r.type for r in world.scene.changes()]
            assert loaded.digest() == world.digest()

    def test_travels_as_text(self, world):
        see(world, "cup", "table", 1, 1)
        world.forget(of="cup", end=seconds(1))
        records = world.scene.changes()
        assert [ChangeRecord.from_json(record.to_json()) for record in records] == records


class TestRemoveRelation:
    def test_leaves_what_others_say_of_the_frame(self, world):
        see(world, "base", "odom", 1, 1)
        before = world.digest()
        see(world, "base", "elsewhere", 9, 1, source="typo")
        assert world.remove_relation(of="base", in_frame="elsewhere", source="typo") == 1
        assert world.digest() == before

    def test_of_a_fixed_pose_lets_the_one_before_hold_on(self, world):
        world.fix(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        world.fix(of="cup", in_frame="hand", transform=moved(2), at=seconds(2))
        assert world.remove_relation(of="cup", in_frame="hand") == 0
        assert x_of(world, "cup", "table", 3) == 1

    def test_of_a_pose_for_always(self, world):
        world.fix(of="cup", in_frame="table", transform=moved(1))
        world.remove_relation(of="cup", in_frame="table")
        assert "cup" not in world.frames()

    def test_takes_the_measured_motion_along(self, world):
        world.set_twist(of="base", relative_to="odom", expressed_in="base", linear=(1, 0, 0), angular=(0, 0, 0), at=5)
        assert world.remove_relation(of="base", in_frame="odom") == 1
        with pytest.raises(UnknownFrame):
            world.twist(of="base", relative_to="odom")

    def test_before_time_was_reset(self, world):
        world.fix(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        world.fix(of="cup", in_frame="hand", transform=moved(2), at=seconds(2))
        world.reset_time(to=0)
        before = world.digest()
        world.remove_relation(of="cup", in_frame="hand")
        assert x_of(world, "cup", "table", 3) == 1
        world.undo()
        assert world.digest() == before
        assert x_of(world, "cup", "hand", 3) == 2

    def test_is_undone_without_the_samples(self, world):
        world.fix(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        see(world, "cup", "table", 2, 2)
        before = world.digest()
        world.remove_relation(of="cup", in_frame="table")
        report = world.undo()
        assert (report.samples_lost, world.digest()) == (1, before)
        assert x_of(world, "cup", "table", 3) == 1
        world.redo()
        assert "cup" not in world.frames()

    def test_reaches_the_other_replicas(self, world):
        see(world, "cup", "table", 1, 1)
        see(world, "cup", "hand", 2, 2, source="other")
        with World("other") as other:
            other.merge(world.scene.changes())
            see(other, "cup", "table", 1, 1, source=world.name)
            world.remove_relation(of="cup", in_frame="table")
            other.merge(world.scene.changes())
            assert other.digest() == world.digest()
            assert relations(other) == {("cup", "hand", "other", 0)}

    def test_of_what_is_not_there_names_what_is(self, world):
        see(world, "cup", "table", 1, 1, source="camera")
        with pytest.raises(NoSuchRelation, match=r"no relation of 'cup' in 'table' by 'typo'\. There is: 'cup' in"):
            world.remove_relation(of="cup", in_frame="table", source="typo")

    def test_takes_the_only_source_where_none_is_named(self, world):
        see(world, "cup", "table", 1, 1, source="camera")
        assert world.remove_relation(of="cup", in_frame="table") == 1

    def test_of_where_a_node_is_is_refused(self, world, scene):
        cup = scene.add_transform(parent=scene.root, transform=moved(1), at=seconds(1))
        with pytest.raises(InvalidArgument, match="follows from where a node is"):
            world.remove_relation(of=scene.frame(cup), in_frame="map")

    def test_notifies_observers_once_with_the_change(self, world, scene):
        see(world, "cup", "table", 1, 1)
        batches = []
        scene.attach(batches.append)
        world.remove_relation(of="cup", in_frame="table")
        ((change,),) = batches
        assert isinstance(change, RemoveRelation)
        assert (change.of, change.in_frame, change.source) == ("cup", "table", world.name)

    def test_leaves_two_trees(self, world):
        see(world, "base", "odom", 1, 1)
        world.fix(of="odom", in_frame="map", transform=STILL)
        world.remove_relation(of="odom", in_frame="map")
        world.add_frame("map")
        with pytest.raises(NotConnected):
            world.pose(of="base", in_frame="map")


class TestRemoveBody:
    def test_leaves_its_frames_to_themselves(self, world):
        world.add_frame("tip")
        world.add_body("tool", frames=["tip", "gun"])
        world.remove_body("tool")
        assert (world.bodies(), world.body_of("tip")) == ((), "tip")

    def test_takes_some_frames_off_it(self, world):
        world.add_body("tool", frames=["tip", "gun"])
        world.fix(of="tip", in_frame="gun", transform=moved(1))
        world.remove_body("tool", frames=["tip"])
        assert (world.body_of("tip"), world.body_of("gun")) == ("tip", "tool")
        world.undo()
        assert world.body_of("tip") == "tool"

    def test_that_was_never_declared_is_refused(self, world):
        with pytest.raises(InvalidArgument, match="Declared: none"):
            world.remove_body("tool")


class TestUndoOfAWrongAssociation:
    def test_takes_back_the_new_node_and_the_samples_of_the_known_ones(self, world, scene):
        known, seen = scene.add_group(parent=scene.root), scene.add_group(parent=scene.root)
        cup = scene.add_transform(parent=known, transform=moved(1), at=seconds(1))
        scene.add_transform(parent=seen, transform=moved(1.05), at=seconds(2))
        scene.add_transform(parent=seen, transform=moved(7), at=seconds(2))
        before = world.digest()
        block = scene.load_block("associate_nearest")
        block.configure(max_distance_m=0.1)
        block.set_data([seen, known])
        block.execute()
        assert x_of(world, scene.frame(cup), "map", 2) == 1.05
        report = world.undo()
        assert (world.digest(), scene.children(known)) == (before, [cup])
        assert x_of(world, scene.frame(cup), "map", 2, outside="hold") == 1
        assert report.samples_lost == 1
        assert any(isinstance(change, SetTransform) and change.id == cup for change in report.changes)
        assert report.tag == "block associate_nearest"

    def test_takes_back_samples_alone(self, world, scene):
        known, seen = scene.add_group(parent=scene.root), scene.add_group(parent=scene.root)
        cup = scene.add_transform(parent=known, transform=moved(1), at=seconds(1))
        scene.add_transform(parent=seen, transform=moved(1.05), at=seconds(2))
        block = scene.load_block("associate_nearest")
        block.configure(max_distance_m=0.1)
        block.set_data([seen, known])
        block.execute()
        assert world.undo().samples_lost == 1
        assert x_of(world, scene.frame(cup), "map", 2, outside="hold") == 1


class TestSamplesThatArriveLate:
    """Samples of others name what their author held when he gave them."""

    def arrive(self, world, at_s, base):
        edge = {"of": "cup", "in_frame": "table", "source": "camera"}
        return world.store.merge_poses(**edge, transforms=[moved(at_s).xyz_wxyz], at=[seconds(at_s)], base=base)

    def test_do_not_count_where_they_were_forgotten_since(self, world):
        see(world, "cup", "table", 1, 1, source="camera")
        early = world.store.sample_base()
        world.forget(of="cup", start=seconds(2))
        assert self.arrive(world, 3, early)
        assert self.arrive(world, 1.5, early)  # that was not forgotten
        assert self.arrive(world, 4, world.store.sample_base())
        stamps = world.samples(of="cup", in_frame="table").stamps.tolist()
        assert stamps == [seconds(1), seconds(1.5), seconds(4)]

    def test_that_were_given_on_top_of_a_forget_stay_when_it_arrives_after_them(self, world):
        see(world, "cup", "table", 1, 1, source="camera")
        with World("other") as other:
            other.merge(world.scene.changes())
            early = other.store.sample_base()
            other.forget(of="cup")
            other.apply([AddRelation(of="cup", in_frame="table", at=seconds(1), source="camera")])
            late = other.store.sample_base()
            for at, base in ((2, early), (3, late), (4, early), (5, late)):
                assert self.arrive(world, at, base)
            world.merge(other.scene.changes())
        assert world.samples(of="cup", in_frame="table").stamps.tolist() == [seconds(3), seconds(5)]

    def test_of_a_relation_that_was_removed_are_those_of_an_unknown_one(self, world):
        see(world, "cup", "table", 1, 1, source="camera")
        world.add_frame("cup", "table")
        early = world.store.sample_base()
        world.remove_relation(of="cup", in_frame="table")
        assert self.arrive(world, 2, early)  # dealt with: it does not count
        assert not self.arrive(world, 2, world.store.sample_base())
        assert relations(world) == set()


class TestTheGapAfterARunOfOneSample:
    """Core D9."""

    def test_is_after_the_history_of_the_run(self, world):
        see(world, "cup", "table", 1, 1)
        for at in (3, 4):
            see(world, "cup", "hand", at, at)
        with pytest.raises(AfterHistory):
            x_of(world, "cup", "table", 2)
        with pytest.raises(AfterHistory):
            world.transforms(of="cup", in_frame="table", at=np.array([seconds(2)]))

    def test_is_none_where_there_is_no_other_run(self, world):
        see(world, "cup", "table", 1, 1)
        with pytest.raises(SingleSample):
            x_of(world, "cup", "table", 2)


class TestAPoseWithoutAnInstant:
    """Core D10."""

    @pytest.mark.parametrize("given", [{}, {"at": None}])
    def test_is_refused_with_a_sentence(self, world, given):
        with pytest.raises(InvalidStamp, match=r"set_pose needs the instant of the pose, at=.*fix\(\)"):
            world.set_pose(of="cup", in_frame="table", transform=STILL, **given)
        assert world.frames() == ()


class TestASampleOfWhatIsFixed:
    """Under the same parent, by the same source: the relation is asserted twice, as fixed and as sampled."""

    @pytest.mark.parametrize("at", [None, seconds(1)])
    def test_keeps_its_frames_where_the_fixed_pose_is_replaced(self, at):
        world = World("r")
        world.fix(of="cup", in_frame="table", transform=STILL, at=at)
        see(world, "cup", "table", 1, 3)
        world.fix(of="cup", in_frame="shelf", transform=STILL, at=seconds(1))
        assert x_of(world, "cup", "table", 3) == 1
        other = World("other")
        other.merge(world.scene.changes())
        assert set(other.frames()) >= {"cup", "table", "shelf"}
        assert other.digest() == world.digest()

    def test_is_recorded_once_and_undone_alone(self):
        world = World("r")
        world.fix(of="cup", in_frame="table", transform=moved(5), at=seconds(1))
        fixed = world.digest()
        see(world, "cup", "table", 1, 3)
        see(world, "cup", "table", 1, 4)
        assert [record.type for record in world.scene.changes()] == ["assert", "assert"]
        assert "AddRelation 'cup' in 'table'" in str(world.undo())
        assert world.digest() == fixed
        assert x_of(world, "cup", "table", 3) == 5

    def test_is_asserted_again_after_a_pose_for_always(self):
        world = World("r")
        see(world, "cup", "table", 1, 3)
        world.fix(of="cup", in_frame="table", transform=STILL)
        see(world, "cup", "table", 2, 4)
        world.fix(of="cup", in_frame="shelf", transform=STILL, at=seconds(1))
        assert x_of(world, "cup", "table", 4) == 2


class TestARefusedSampleWithAnInterpolation:
    def test_leaves_no_relation(self):
        world = World("r", clock=lambda: 0, max_ahead_s=None)
        world.add_body("gun", ["a", "b"])
        before, frames = world.digest(), world.frames()
        for call in (world.set_pose, world.set_poses):
            transform = STILL if call == world.set_pose else [STILL.matrix] * 2
            key = "transform" if call == world.set_pose else "transforms"
            at = 5 if call == world.set_pose else [5, 6]
            with pytest.raises(ArmillaryError):
                call(of="a", in_frame="b", **{key: transform}, at=at, interpolation="step")
            assert (world.digest(), world.frames()) == (before, frames)

    def test_that_closes_a_cycle_leaves_no_relation(self):
        world = World("r")
        see(world, "a", "b", 1, 10)
        see(world, "a", "b", 1, 20)
        before, told = world.digest(), relations(world)
        with pytest.raises(FrameLoop):
            world.set_pose(of="b", in_frame="a", transform=STILL, at=seconds(1), interpolation="step")
        assert (world.digest(), relations(world)) == (before, told)

    def test_leaves_the_interpolation_as_it_was(self):
        world = World("r", history=seconds(10))
        see(world, "a", "b", 1, 100)
        before, told = world.digest(), relations(world)
        with pytest.raises(BeforeHistory):
            world.set_pose(of="a", in_frame="b", transform=STILL, at=seconds(1), interpolation="step")
        with pytest.raises(BeforeHistory):
            world.set_poses(
                of="a", in_frame="b", transforms=[STILL.matrix] * 2, at=[seconds(101), 1], interpolation="screw"
            )
        assert (world.digest(), relations(world)) == (before, told)
        assert {one.interpolation for one in world.relations()} == {"linear"}

    def test_is_undone_as_any_other_where_it_is_not_refused(self):
        world = World("r")
        empty = world.digest()
        world.set_pose(of="a", in_frame="b", transform=STILL, at=seconds(1), interpolation="step")
        assert {one.interpolation for one in world.relations()} == {"step"}
        world.undo()
        assert world.digest() == empty
        stamps = [seconds(3), seconds(2)]
        world.set_poses(
            of="a", in_frame="b", transforms=[moved(3).matrix, moved(2).matrix], at=stamps, interpolation="step"
        )
        assert [x_of(world, "a", "b", s) for s in (2, 2.5, 3, 9)] == [2, 2, 3, 3]
