"""The history of a transform, held against the facts of the paper's library about its temporal cache.

Row ids are those of docs/scene_graph_differences.md; facts without one are the same in both.
"""

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, NoSamples
from armillary.scene import SetTransform
from conformance.scenes import shifted
from conformance.things import CLOSE_M, MICROSECOND, RecordedChanges, covariance_of, kept_s, sampled, samples_of, xyz

STAMPS_S = (-2, 0, 10, 15)


@pytest.fixture
def long(clock):
    with World(history=seconds(20), clock=clock) as world:
        yield world


@pytest.fixture
def node(long):
    """0, 1, 2, 3 metres at -2, 0, 10, 15 seconds, of which twenty are kept."""
    return sampled(long.scene, *STAMPS_S)


class TestAHistory:
    def test_keeps_what_is_within_its_window(self, long, node):
        assert kept_s(long, node) == [-2, 0, 10, 15]

    @pytest.mark.parametrize(("at_s", "metres"), [(-2, 0), (0, 1), (10, 2), (15, 3)])
    def test_answers_a_sample_at_its_stamp(self, long, node, at_s, metres):
        assert xyz(long, node, at=seconds(at_s))[0] == metres

    def test_drops_what_is_older_than_the_window_and_keeps_what_is_just_as_old(self, long, node):
        long.scene.set_transform(node, shifted(4.0), at=seconds(20))
        assert kept_s(long, node) == [0, 10, 15, 20]

    def test_keeps_one_sample_at_least(self, long, node):
        long.scene.set_transform(node, shifted(5.0), at=seconds(100))
        assert kept_s(long, node) == [100]

    def test_sorts_what_comes_unordered(self, long):
        assert kept_s(long, sampled(long.scene, 2, 1, 4, 5, 3)) == [1, 2, 3, 4, 5]

    def test_keeps_samples_a_microsecond_apart(self, long, node):
        long.scene.set_transform(node, shifted(9.0), at=seconds(15) + MICROSECOND)
        assert kept_s(long, node) == [-2, 0, 10, 15, 15.000001]

    def test_is_ten_seconds_by_default(self, clock):
        world = World(clock=clock)
        assert kept_s(world, sampled(world.scene, 0, 10)) == [0, 10]
        assert kept_s(world, sampled(world.scene, 0, 10.000001)) == [10.000001]

    def test_that_was_copied_does_not_change_with_the_original(self, long, node):
        read, copy = samples_of(long, node), long.copy()
        long.scene.set_transform(node, shifted(5.0), at=seconds(100))
        assert read.stamps.tolist() == [seconds(at) for at in STAMPS_S]
        assert kept_s(copy, node) == list(STAMPS_S)


class TestAHistoryDiffers:
    @pytest.mark.parametrize(
        ("at_s", "metres"), [(-1.00001, 0.499995), (-1, 0.5), (4, 1.4), (5, 1.5), (12, 2.4), (12.5, 2.5)]
    )
    def test_by_interpolating_c1(self, long, node, at_s, metres):
        assert xyz(long, node, at=seconds(at_s))[0] == pytest.approx(metres, abs=CLOSE_M)

    @pytest.mark.parametrize(
        ("at_s", "metres"), [(0.1, 1.1), (0.5, 1.5), (0.9, 1.9), (1.4, 2.4), (1.5, 2.5), (2.3, 3.3)]
    )
    def test_by_interpolating_every_axis_c1(self, house, scene, at_s, metres):
        node = scene.add_transform(parent=scene.root, transform=shifted(1, 2, 3), at=0)
        for n in range(2, 6):
            scene.set_transform(node, shifted(n, n + 1, n + 2), at=seconds(n - 1))
        assert xyz(house, node, at=seconds(at_s)) == pytest.approx([metres, metres + 1, metres + 2], abs=CLOSE_M)

    @pytest.mark.parametrize(("at_s", "metres"), [(-1, 0), (-0.999, 0), (5, 1), (12.5, 2), (15, 3), (-20, 0)])
    def test_by_handing_out_the_samples_for_other_policies_c2(self, long, node, at_s, metres):
        kept = samples_of(long, node)
        preceding = np.searchsorted(kept.stamps, seconds(at_s), side="right") - 1
        assert kept.transforms[max(preceding, 0)][0] == metres

    @pytest.mark.parametrize(
        ("at_s", "metres", "error"), [(-20, 0, BeforeHistory), (20, 3, AfterHistory), (86_400, 3, AfterHistory)]
    )
    def test_by_refusing_what_is_outside_unless_it_may_hold_c3(self, long, node, at_s, metres, error):
        frame = long.scene.frame(node)
        with pytest.raises(error, match="outside='hold'"):
            long.pose(of=frame, in_frame="map", at=seconds(at_s))
        held = long.pose(of=frame, in_frame="map", at=seconds(at_s), outside="hold")
        assert (held.transform.translation[0], bool(held.held)) == (metres, True)

    def test_by_not_looking_at_the_clock_c4(self, long, clock, node):
        clock.ns = seconds(15) + seconds(20) + MICROSECOND
        assert kept_s(long, node) == [-2, 0, 10, 15]

    def test_by_leaving_old_nodes_to_windows_with_the_same_border_c4(self, long, clock, node):
        clock.ns = seconds(15) + seconds(20)
        assert long.scene.expire(older_than=seconds(20)) == []
        clock.ns += MICROSECOND
        assert long.scene.expire(older_than=seconds(20)) == [node]
        assert node not in long.scene

    def test_by_saying_that_it_is_empty_c5(self, long, node):
        long.clear()
        with pytest.raises(NoSamples, match="holds no samples"):
            xyz(long, node, at=seconds(15), outside="hold")

    def test_by_replacing_a_sample_of_the_same_stamp_c6(self, long, node):
        long.scene.set_transform(node, shifted(9.0), at=seconds(15))
        assert kept_s(long, node) == [-2, 0, 10, 15]
        assert xyz(long, node, at=seconds(15))[0] == 9.0

    @pytest.mark.parametrize("late_ns", [0, MICROSECOND])
    def test_by_raising_for_a_sample_that_is_too_old_c7(self, house, scene, late_ns):
        node = sampled(scene, 10, 15)
        with pytest.raises(BeforeHistory):
            scene.set_transform(node, shifted(), at=late_ns)
        scene.set_transform(node, shifted(), at=seconds(12))
        assert kept_s(house, node) == [10, 12, 15]

    def test_by_refusing_a_window_that_is_none_c8(self, long, node):
        with pytest.raises(InvalidArgument, match="history must be above zero"):
            World(history=seconds(-20))
        with pytest.raises(InvalidArgument, match="history must be above zero"):
            long.keep(of=long.scene.frame(node), in_frame="map", history=seconds(-1))

    def test_by_giving_the_oldest_first_c9(self, long, node):
        assert samples_of(long, node).stamps[::-1].tolist() == [seconds(at) for at in (15, 10, 0, -2)]


class TestATransform:
    def test_counts_as_the_window_slides(self, house, scene):
        node, counts = sampled(scene, 0, 5, 10), []
        for at_s in (15, 20, 50, 49, 48, 47, 58.999, 59, 59, 59.001):
            scene.set_transform(node, shifted(), at=seconds(at_s))
            counts.append(len(kept_s(house, node)))
        assert counts == [3, 3, 1, 2, 3, 4, 3, 4, 4, 4]
        assert kept_s(house, node) == [50, 58.999, 59, 59.001]

    def test_refuses_what_is_before_its_window_and_stays(self, house, scene):
        node = sampled(scene, 50)
        with pytest.raises(BeforeHistory):
            scene.set_transform(node, shifted(), at=0)
        assert kept_s(house, node) == [50]

    def test_keeps_its_newest_when_older_samples_come(self, house, scene):
        node = sampled(scene, 50, 49, 48, 47)
        assert kept_s(house, node)[-1] == 50

    def test_has_no_counter_and_observers_count_what_was_accepted_t1(self, scene):
        node = sampled(scene, 50)
        recorded = RecordedChanges(scene)
        scene.set_transform(node, shifted(), at=seconds(51))
        with pytest.raises(BeforeHistory):
            scene.set_transform(node, shifted(), at=0)
        assert recorded.counts() == {SetTransform.__name__: 1}

    @pytest.mark.parametrize("text", ["120s", "0s", "-120s", "120", "s", "garbage"])
    def test_takes_no_setting_from_its_attributes_t2(self, house, scene, text):
        tagged = {"tf:max_duration": text}
        node = scene.add_transform(parent=scene.root, transform=shifted(), at=0, attributes=tagged)
        assert scene.attributes(node) == tagged
        scene.set_transform(node, shifted(), at=seconds(100))
        assert kept_s(house, node) == [100]

    def test_gets_a_window_of_its_own_by_keep_t2(self, house, scene):
        node = sampled(scene, 0)
        house.keep(of=scene.frame(node), in_frame="map", history=seconds(120))
        scene.set_transform(node, shifted(), at=seconds(100))
        assert kept_s(house, node) == [0, 100]


class TestAnUncertainTransform:
    @pytest.fixture
    def node(self, scene):
        return scene.add_uncertain_transform(
            parent=scene.root, transform=shifted(), covariance=covariance_of(1, 2, 3, 4, 5, 6), at=seconds(100)
        )

    def add(self, scene, node, at_s, *, scale=None):
        covariance = None if scale is None else scale * np.eye(6)
        scene.set_transform(node, shifted(), at=seconds(at_s), covariance=covariance)

    def test_has_36_numbers_in_the_order_of_the_axes(self, house, scene, node):
        found = house.pose(of=scene.frame(node), in_frame="map").covariance
        assert found.shape == (6, 6)
        assert np.diag(found).tolist() == [1, 2, 3, 4, 5, 6]

    def test_drops_poses_and_covariances_together(self, house, scene, node):
        self.add(scene, node, 105, scale=5.0)
        self.add(scene, node, 111, scale=11.0)
        kept = samples_of(house, node)
        assert [kept.stamps.size, kept.covariances[:, 0, 0].tolist()] == [2, [5.0, 11.0]]

    def test_takes_covariances_in_any_order(self, house, scene, node):
        for at_s in (103, 101, 102):
            self.add(scene, node, at_s, scale=at_s)
        assert samples_of(house, node).covariances[:, 0, 0].tolist() == [1, 101, 102, 103]

    def test_takes_a_matrix_or_its_diagonal_and_no_other_shape_u1(self, house, scene):
        node = scene.add_uncertain_transform(parent=scene.root, transform=shifted(), covariance=np.ones(6))
        assert np.array_equal(samples_of(house, node).covariances[0], np.eye(6))
        with pytest.raises(InvalidArgument, match="must have shape"):
            scene.add_uncertain_transform(parent=scene.root, transform=shifted(), covariance=np.ones(7))

    def test_pairs_no_sample_with_the_covariance_of_another_u2(self, house, scene, node):
        for at_s, scale in ((102, None), (105, 5.0)):
            self.add(scene, node, at_s, scale=scale)
        asked = {"of": scene.frame(node), "in_frame": "map"}
        known = [house.pose(at=seconds(at_s), **asked).covariance is not None for at_s in (100, 102, 105)]
        assert known == [True, False, True]

    def test_never_has_more_covariances_than_poses_u2(self, house, scene, node):
        """The library's caches held 2 and 1, 3 and 2, 1 and 2, 1 and 1."""
        sizes = []
        for at_s, scale in ((102, None), (105, 5.0), (120, None), (150, 50.0)):
            self.add(scene, node, at_s, scale=scale)
            kept = samples_of(house, node)
            known = 0 if kept.covariances is None else int(np.isfinite(kept.covariances[:, 0, 0]).sum())
            sizes.append((kept.stamps.size, known))
        assert sizes == [(2, 1), (3, 2), (1, 0), (1, 1)]

    def test_takes_the_second_covariance_of_a_stamp_c6(self, house, scene, node):
        self.add(scene, node, 100, scale=7.0)
        assert house.pose(of=scene.frame(node), in_frame="map").covariance[0, 0] == 7.0
