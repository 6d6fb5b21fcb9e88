"""Rows I1 to I20 of the tf2 conformance table: what may be inserted, and what is kept of it."""

import math

import numpy as np
import pytest

from armillary import LATEST, Transform, World, errors, seconds
from conformance.scenes import CLOSE_M, IDENTITY, assert_close, set_along_x, shifted, stamps_of, x_of

NAN, INF = math.nan, math.inf


class TestANameThatIsInserted:
    def test_i1_cannot_be_left_empty(self, world):
        with pytest.raises(errors.InvalidName):
            world.set_pose(of="", in_frame="", transform=IDENTITY, at=0)
        assert world.frames() == ()

    def test_i2_is_taken_when_everything_is_valid(self, world):
        world.set_pose(of="child", in_frame="parent", transform=IDENTITY, at=seconds(1))
        assert set(world.frames()) == {"child", "parent"}

    def test_i3_cannot_be_its_own_parent(self, world):
        with pytest.raises(errors.InvalidArgument):
            world.set_pose(of="a", in_frame="a", transform=IDENTITY, at=seconds(1))
        assert world.frames() == ()

    def test_i3_cannot_be_its_own_parent_behind_a_slash(self, world):
        with pytest.raises(errors.InvalidName):
            world.set_pose(of="a", in_frame="/a", transform=IDENTITY, at=seconds(1))
        assert world.frames() == ()

    @pytest.mark.parametrize("name", ["", "/"])
    def test_i4_says_something_on_both_sides(self, world, name):
        with pytest.raises(errors.InvalidName):
            world.set_pose(of=name, in_frame="parent", transform=IDENTITY, at=0)
        with pytest.raises(errors.InvalidName):
            world.set_pose(of="child", in_frame=name, transform=IDENTITY, at=0)

    @pytest.mark.parametrize("name", ["/a", "//a"])
    def test_i10_is_refused_with_a_leading_slash_instead_of_stripped(self, world, name):
        with pytest.raises(errors.InvalidName, match="/"):
            world.set_pose(of=name, in_frame="parent", transform=IDENTITY, at=0)
        assert world.frames() == ()

    def test_i20_stays_unknown_when_the_insert_is_refused(self, world):
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="child", in_frame="parent", transforms=np.full((1, 7), NAN), at=np.array([0]))
        with pytest.raises(errors.UnknownFrame):
            world.pose(of="child", in_frame="parent")
        assert world.frames() == ()


def row(*, xyz=(0.0, 0.0, 0.0), wxyz=(1.0, 0.0, 0.0, 0.0)):
    return np.array([[*xyz, *wxyz]])


BROKEN_ROWS = [
    row(xyz=(NAN, 0.0, 0.0)),
    row(xyz=(0.0, 0.0, NAN)),
    row(wxyz=(NAN, 0.0, 0.0, 0.0)),
    row(wxyz=(1.0, 0.0, 0.0, NAN)),
]


class TestATransformThatIsInserted:
    @pytest.mark.parametrize("broken", BROKEN_ROWS)
    def test_i5_has_no_nan_in_a_batch(self, world, broken):
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="b", in_frame="a", transforms=broken, at=np.array([0]))

    @pytest.mark.parametrize("broken", BROKEN_ROWS)
    def test_i5_has_no_nan_one_by_one(self, world, broken):
        with pytest.raises(errors.InvalidTransform):
            Transform.from_xyz_wxyz(xyz=broken[0, :3], wxyz=broken[0, 3:])

    @pytest.mark.parametrize("broken", [row(xyz=(INF, 0.0, 0.0)), row(wxyz=(INF, 0.0, 0.0, 0.0))])
    def test_i6_has_no_infinity_either(self, world, broken):
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="b", in_frame="a", transforms=broken, at=np.array([0]))

    def test_i7_has_no_quaternion_of_zeros(self, world):
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="b", in_frame="a", transforms=row(wxyz=(0.0,) * 4), at=np.array([0]))

    @pytest.mark.parametrize("squared_norm", [0.9901, 1.0, 1.0099])
    def test_i8_may_have_a_quaternion_slightly_off_and_is_kept_normalised(self, world, squared_norm):
        off = row(xyz=(1.0, 0.0, 0.0), wxyz=(math.sqrt(squared_norm), 0.0, 0.0, 0.0))
        world.set_poses(of="b", in_frame="a", transforms=off, at=np.array([0]))
        kept = world.pose(of="b", in_frame="a", at=0).transform.rotation.wxyz
        assert np.abs(kept - [1.0, 0.0, 0.0, 0.0]).max() < CLOSE_M

    @pytest.mark.parametrize("squared_norm", [0.9899, 1.0101])
    def test_i8_is_refused_with_a_quaternion_further_off(self, world, squared_norm):
        off = row(wxyz=(math.sqrt(squared_norm), 0.0, 0.0, 0.0))
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="b", in_frame="a", transforms=off, at=np.array([0]))

    def test_i9_is_not_rescaled_from_a_quaternion_of_length_five(self, world):
        with pytest.raises(errors.InvalidTransform):
            world.set_poses(of="b", in_frame="a", transforms=row(wxyz=(5.0, 0.0, 0.0, 0.0)), at=np.array([0]))


class TestTheHistory:
    def insert(self, world, *stamps):
        for stamp in stamps:
            world.set_pose(of="b", in_frame="a", transform=shifted(x=float(stamp)), at=stamp)

    def test_i11_takes_a_late_sample_as_old_as_itself(self, world):
        self.insert(world, seconds(100), seconds(90))
        assert stamps_of(world, of="b", in_frame="a") == [seconds(90), seconds(100)]

    def test_i11_refuses_a_late_sample_one_nanosecond_older(self, world):
        self.insert(world, seconds(100))
        with pytest.raises(errors.BeforeHistory):
            self.insert(world, seconds(90) - 1)
        assert stamps_of(world, of="b", in_frame="a") == [seconds(100)]

    def test_i11_refuses_a_whole_batch_for_one_row_that_is_too_old(self, world):
        self.insert(world, seconds(100))
        rows = np.repeat(row(), 2, axis=0)
        with pytest.raises(errors.BeforeHistory):
            world.set_poses(of="b", in_frame="a", transforms=rows, at=np.array([seconds(101), seconds(89)]))
        assert stamps_of(world, of="b", in_frame="a") == [seconds(100)]

    def test_i12_forgets_at_once_and_not_with_the_next_insert(self, world):
        self.insert(world, seconds(90), seconds(100), seconds(105))
        assert stamps_of(world, of="b", in_frame="a") == [seconds(100), seconds(105)]
        with pytest.raises(errors.BeforeHistory):
            world.pose(of="b", in_frame="a", at=seconds(99))

    def test_i13_keeps_a_sample_exactly_as_old_as_the_history(self):
        with World(history=10) as world:
            self.insert(world, 0, 10)
            assert stamps_of(world, of="b", in_frame="a") == [0, 10]
            assert_close(world.pose(of="b", in_frame="a", at=0).transform, IDENTITY)

    @pytest.mark.parametrize("stamps", [range(1, 100), range(99, 0, -1)])
    def test_i17_does_not_depend_on_the_order_of_arrival(self, world, stamps):
        self.insert(world, *stamps)
        assert [x_of(world, of="b", in_frame="a", at=stamp) for stamp in range(1, 100)] == list(range(1, 100))

    def test_i18_may_begin_at_stamp_zero_which_is_no_magic_value(self, world):
        self.insert(world, 0)
        assert world.pose(of="b", in_frame="a", at=0).stamp == 0
        assert world.pose(of="b", in_frame="a", at=LATEST).stamp == 0
        with pytest.raises(errors.SingleSample):
            world.pose(of="b", in_frame="a", at=1)


class TestAMoveThatIsForgotten:
    @pytest.fixture
    def moved(self, world):
        """b: on the table at 3 s, in the hand at 3.5 s, on the table at 4 s; in the hand's time nothing is left."""
        set_along_x(world, of="b", in_frame="table", at_s=[3])
        set_along_x(world, of="b", in_frame="hand", at_s=[3.5])
        set_along_x(world, of="b", in_frame="table", at_s=[4])
        set_along_x(world, of="b", in_frame="hand", at_s=[20])
        assert stamps_of(world, of="b", in_frame="hand") == [seconds(20)]
        return world

    def test_i12_is_not_interpolated_across(self, moved):
        with pytest.raises(errors.StampOutOfRange):
            moved.pose(of="b", in_frame="table", at=seconds(3.25))
        assert x_of(moved, of="b", in_frame="table", at=seconds(3.25), outside="hold") == 3.0

    @pytest.mark.parametrize("outside", ["raise", "hold"])
    def test_i12_leaves_a_time_without_an_answer(self, moved, outside):
        with pytest.raises(errors.BeforeHistory):
            moved.pose(of="b", in_frame="hand", at=seconds(3.75), outside=outside)
        assert not moved.can_pose(of="b", in_frame="table", at=seconds(3.75), outside=outside)

    def test_i12_does_not_bring_back_what_it_ended(self, world):
        world.fix(of="b", in_frame="table", transform=IDENTITY)
        set_along_x(world, of="b", in_frame="hand", at_s=[5])
        set_along_x(world, of="b", in_frame="tray", at_s=[7])
        set_along_x(world, of="b", in_frame="hand", at_s=[20])
        assert world.can_pose(of="b", in_frame="table", at=seconds(4))
        assert not world.can_pose(of="b", in_frame="table", at=seconds(6))

    def test_i12_keeps_its_beginning_while_a_sample_of_it_is_left(self, world):
        set_along_x(world, of="b", in_frame="table", at_s=[1, 2])
        set_along_x(world, of="b", in_frame="hand", at_s=[3, 5, 14])
        with pytest.raises(errors.BeforeHistory):
            world.pose(of="b", in_frame="hand", at=seconds(4))
        assert x_of(world, of="b", in_frame="hand", at=seconds(4), outside="hold") == 5.0
        with pytest.raises(errors.AfterHistory):
            world.pose(of="b", in_frame="table", at=seconds(2.5))

    def test_i12_vanishes_when_nothing_is_remembered_before_it(self, world):
        set_along_x(world, of="b", in_frame="hand", at_s=[1])
        set_along_x(world, of="b", in_frame="table", at_s=[2, 3])
        set_along_x(world, of="b", in_frame="hand", at_s=[20])
        with pytest.raises(errors.BeforeHistory):
            world.pose(of="b", in_frame="table", at=seconds(1.5))
        assert x_of(world, of="b", in_frame="table", at=seconds(1.5), outside="hold") == 2.0


class TestAStampThatIsRepeated:
    def test_i14_replaces_the_sample(self, world):
        for x in (1.0, 2.0):
            world.set_pose(of="b", in_frame="a", transform=shifted(x=x), at=seconds(5))
        assert x_of(world, of="b", in_frame="a", at=seconds(5)) == 2.0
        assert stamps_of(world, of="b", in_frame="a") == [seconds(5)]

    @pytest.mark.parametrize("around", [(), (4,), (6,), (4, 6)])
    def test_i15_replaces_it_whatever_its_neighbours_are(self, world, around):
        for stamp in around:
            world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=seconds(stamp))
        for x in (1.0, 2.0):
            world.set_pose(of="b", in_frame="a", transform=shifted(x=x), at=seconds(5))
        assert x_of(world, of="b", in_frame="a", at=seconds(5)) == 2.0

    def test_i15_is_stored_once_however_often_it_comes(self, world):
        for _ in range(100):
            world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=seconds(5))
        assert stamps_of(world, of="b", in_frame="a") == [seconds(5)]

    def test_i16_keeps_order_and_the_last_sample_in_a_worked_example(self):
        with World(history=10) as world:
            inserted = [(0, 0), (10, 1), (5, 2), (3, 3), (8, 4), (8, 5), (8, 6)]
            for stamp, x in inserted:
                world.set_pose(of="b", in_frame="a", transform=shifted(x=float(x)), at=stamp)
            kept = world.samples(of="b", in_frame="a")
            assert kept.stamps.tolist() == [0, 3, 5, 8, 10]
            assert kept.transforms[:, 0].tolist() == [0.0, 3.0, 2.0, 6.0, 1.0]

    def test_i16_lets_the_history_move_on_in_the_worked_example(self):
        with World(history=10) as world:
            for stamp, x in [(0, 0), (10, 1), (5, 2), (8, 6), (15, 7), (5, 9)]:
                world.set_pose(of="b", in_frame="a", transform=shifted(x=float(x)), at=stamp)
            with pytest.raises(errors.BeforeHistory):
                world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=0)
            kept = world.samples(of="b", in_frame="a")
            assert kept.stamps.tolist() == [5, 8, 10, 15]
            assert kept.transforms[:, 0].tolist() == [9.0, 6.0, 1.0, 7.0]


class TestTwoWhoDisagree:
    def test_i19_cannot_close_a_loop(self, world):
        world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=seconds(1))
        with pytest.raises(errors.FrameLoop):
            world.set_pose(of="a", in_frame="b", transform=IDENTITY, at=seconds(1))
        assert world.can_pose(of="b", in_frame="a", at=seconds(1))

    def test_i19_are_kept_apart_as_rivals(self, world):
        for source, x in (("left", 1.0), ("right", 2.0)):
            world.set_pose(of="b", in_frame="a", transform=shifted(x=x), at=seconds(1), source=source)
        with pytest.raises(errors.AmbiguousPath):
            world.pose(of="b", in_frame="a", at=seconds(1))

    def test_i19_are_resolved_by_a_preference(self, world):
        for source, x in (("left", 1.0), ("right", 2.0)):
            world.set_pose(of="b", in_frame="a", transform=shifted(x=x), at=seconds(1), source=source)
        world.prefer(of="b", source="right")
        assert x_of(world, of="b", in_frame="a", at=seconds(1)) == 2.0
