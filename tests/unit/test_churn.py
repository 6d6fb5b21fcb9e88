"""Things that come and go: what is gone leaves nothing behind, and answers keep the names that they were given with."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from unit.kit import STILL, moved

MANY = 6_000
SOME_BYTES = 1_000_000


def track(world: World, i: int) -> None:
    """An object that is seen once, under a name of its own."""
    world.set_pose(of=f"track {i}", in_frame="map", transform=STILL, at=seconds(i))
    world.remove_frame(f"track {i}")


class TestFramesThatComeAndGo:
    @pytest.mark.parametrize("name", ["obj", "obj {}"], ids=["one name", "names of their own"])
    def test_leave_no_python_objects_behind(self, name):
        def churn(numbers):
            for i in numbers:
                world.set_pose(of=name.format(i), in_frame="map", transform=STILL, at=0)
                world.remove_frame(name.format(i))

        with World() as world:
            tracemalloc.start()
            churn(range(MANY))  # what is bounded fills up
            before = tracemalloc.get_traced_memory()[0]
            churn(range(MANY, 2 * MANY))
            grown = tracemalloc.get_traced_memory()[0] - before
            tracemalloc.stop()
        assert grown < SOME_BYTES

    def test_leave_few_ranges_of_dropped_records_behind(self):
        with World(max_changes=10) as world:
            for i in range(6_000):
                track(world, i)
            ranges = sum(len(each) for each in world.store.dropped().values())
            assert 0 < ranges < 2_500
            assert world.frames() == ("map",)
            assert world.relations() == ()

    def test_leave_answers_their_names(self):
        with World("robot") as world:
            world.set_pose(of="cup", in_frame="map", transform=STILL, at=0)
            world.set_pose(of="pot", in_frame="map", transform=STILL, at=0)
            kept, stays = world.pose(of="pot", in_frame="map", at=0), world.pose(of="cup", in_frame="map", at=0)
            world.remove_frame("pot")
            for i in range(MANY):
                track(world, i)
            assert kept.relations == (("pot", "map", "robot"),)
            assert stays.relations == (("cup", "map", "robot"),)
            assert world.pose(of="cup", in_frame="map", at=0).relations == stays.relations
            later = world.pose(of="cup", in_frame="map", at=0)
            assert (later.inverse() @ stays).transform.is_close(STILL)
            assert [info.of for info in world.relations()] == ["cup"]

    def test_do_not_disturb_copies_nor_undo(self):
        with World("robot") as world:
            world.fix(of="cup", in_frame="map", transform=moved(1))
            for i in range(1_000):
                track(world, i)
            twin = world.copy()
            for i in range(1_000):
                track(twin, i)
            world.fix(of="cup", in_frame="map", transform=moved(2))
            world.undo()
            assert world.pose(of="cup", in_frame="map").transform == moved(1)
            assert twin.pose(of="cup", in_frame="map").relations == (("cup", "map", "robot"),)
            assert world.digest() == twin.digest()


class TestReadingSamples:
    @pytest.fixture
    def world(self):
        with World(history=None) as made:
            yield made

    def rows(self, world, **interval):
        table = world.samples(of="cup", in_frame="map", **interval)
        return list(zip(table.stamps.tolist(), table.transforms[:, 0].tolist(), strict=True))

    def test_of_more_rows_than_are_read_in_one_go_gives_all_of_them(self, world):
        count = 40_000
        rows = np.tile([0.0, 0, 0, 1, 0, 0, 0], (count, 1))
        rows[:, 0] = np.arange(count)
        world.set_poses(of="cup", in_frame="map", transforms=rows, at=10 * np.arange(count))
        for start, end in [
            (0, count - 1),
            (5, 16_384),
            (5, 16_388),
            (5, 16_389),
            (5, 16_390),
            (7, 32_774),
            (7, 32_775),
        ]:
            table = world.samples(of="cup", in_frame="map", start=10 * start, end=10 * end)
            assert np.array_equal(table.stamps, 10 * np.arange(start, end + 1))
            assert np.array_equal(table.transforms, rows[start : end + 1])
        world.set_pose(of="cup", in_frame="hand", transform=STILL, at=10 * count)
        for t in range(count, 2 * count, 1000):
            world.set_pose(of="cup", in_frame="map", transform=moved(t), at=10 * t + 5)
        table = world.samples(of="cup", in_frame="map")
        assert len(table.stamps) == count + 40
        assert (np.diff(table.stamps) > 0).all()

    @pytest.mark.parametrize("seed", range(5))
    def test_gives_what_a_plain_table_gives(self, world, seed):
        """In order, late, replaced; from any instant to any other."""
        random, plain = np.random.default_rng(seed), {}
        for _ in range(600):
            at = int(random.integers(0, 2_000))
            world.set_pose(of="cup", in_frame="map", transform=moved(plain.setdefault(at, float(at))), at=at)
        for start, end in [(None, None), (0, 0), (500, 499), *random.integers(-10, 2_010, (40, 2)).tolist()]:
            low, high = -1 if start is None else start, 2_000 if end is None else end
            expected = sorted((at, x) for at, x in plain.items() if low <= at <= high)
            assert self.rows(world, start=start, end=end) == expected

    def test_of_a_relation_that_was_left_and_taken_up_again_is_sorted(self, world):
        for t in range(30):
            parent = "map" if t % 10 < 5 else "hand"
            world.set_pose(of="cup", in_frame=parent, transform=moved(t), at=t)
        expected = [(t, float(t)) for t in range(30) if t % 10 < 5]
        assert self.rows(world) == expected
        assert self.rows(world, start=3, end=21) == [row for row in expected if 3 <= row[0] <= 21]

    def test_gives_covariances_where_some_rows_have_one(self, world):
        for t in range(6):
            covariance = None if t in {0, 3} else np.eye(6) * t
            world.set_pose(of="cup", in_frame="map", transform=STILL, at=t, covariance=covariance)
        covariances = world.samples(of="cup", in_frame="map").covariances
        assert covariances.shape == (6, 6, 6)
        assert np.isnan(covariances[[0, 3]]).all()
        assert np.array_equal(covariances[5], 5 * np.eye(6))
        assert world.samples(of="cup", in_frame="map", end=0).covariances is None
        assert world.samples(of="cup", in_frame="map", start=100).transforms.shape == (0, 7)

    def test_goes_on_while_another_thread_writes(self, world):
        """Rows are whole and sorted, and what was there before is there."""
        rows = np.tile([0.0, 0, 0, 1, 0, 0, 0], (1_000, 1))
        world.set_poses(of="cup", in_frame="map", transforms=rows, at=np.arange(1_000) * 1_000)
        stop = threading.Event()

        def write():
            random, newest = np.random.default_rng(1), 1_000_000
            while not stop.is_set() and newest < 1_100_000:
                newest += 10
                world.set_pose(of="cup", in_frame="map", transform=STILL, at=newest)
                world.set_pose(of="cup", in_frame="map", transform=STILL, at=int(random.integers(0, newest)))

        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(100):
            table = world.samples(of="cup", in_frame="map")
            assert (np.diff(table.stamps) > 0).all()
            assert np.isin(np.arange(1_000) * 1_000, table.stamps).all()
            assert (table.transforms[:, 3] == 1.0).all()
        stop.set()
        writer.join()

    def test_of_a_frame_that_is_removed_meanwhile_is_whole_or_empty(self, world):
        rows = np.tile([0.0, 0, 0, 1, 0, 0, 0], (500, 1))
        world.add_frame("map")
        stop = threading.Event()

        def churn():
            while not stop.is_set():
                world.set_poses(of="cup", in_frame="map", transforms=rows, at=np.arange(500))
                world.remove_frame("cup")

        writer = threading.Thread(target=churn)
        writer.start()
        for _ in range(300):
            if world.can_pose(of="cup", in_frame="map", at=LATEST):
                try:
                    table = world.samples(of="cup", in_frame="map")
                except LookupError:
                    continue
                assert len(table.stamps) in {0, 500}
        stop.set()
        writer.join()


def test_a_late_sample_of_a_long_series_is_found():
    with World(history=None) as world:
        count = 40_000
        world.set_poses(
            of="cup",
            in_frame="map",
            transforms=np.tile([0.0, 0, 0, 1, 0, 0, 0], (count, 1)),
            at=np.arange(count) * 1000,
        )
        stamps = np.random.default_rng(3).integers(0, count * 1000, 2_000).tolist()
        for at in stamps:
            world.set_pose(of="cup", in_frame="map", transform=Transform.from_translation((at, 0, 0)), at=at)
        for at in stamps:
            assert world.pose(of="cup", in_frame="map", at=at).xyz[0] == at
        assert len(world.samples(of="cup", in_frame="map").stamps) == len({*range(0, count * 1000, 1000), *stamps})
