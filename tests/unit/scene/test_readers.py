"""Reading a scene while it is changed: everything of a batch, or nothing of it."""

import sys
import threading

import pytest

from armillary import Transform, World
from armillary.scene import AddGroup, AddTransform, NodeId, Remove, SetAttributes
from unit.kit import WAIT_S, moved

PAIR = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12"]
BATCHES = 300
MOST_ROUNDS = 100


@pytest.fixture(autouse=True)
def hasty_threads():
    """Threads take turns as often as they can."""
    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual_s)


def watch(look, writing, *, until=frozenset()) -> set:
    """What two readers saw while one wrote, each kind of answer once; written again until both states were seen."""
    seen, done = set(), threading.Event()

    def read():
        while not done.is_set():
            seen.add(look())

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        writing()
        for _ in range(MOST_ROUNDS):
            if until <= seen:
                break
            writing()
    finally:
        done.set()
        for reader in readers:
            reader.join(WAIT_S)
    assert until <= seen, f"the readers never ran beside the writer: {seen}"
    return seen


class TestAReader:
    def test_sees_both_nodes_of_a_batch_or_none(self, world):
        scene = world.scene
        adding = [AddGroup(parent=scene.root, id=node, attributes={"pair": True}) for node in PAIR]

        def write():
            for _ in range(BATCHES):
                world.apply(adding)
                world.apply([Remove(node) for node in PAIR])

        assert watch(lambda: len(scene.find({"pair": True})), write, until={0, 2}) == {0, 2}
        assert watch(lambda: len(scene.children(scene.root)), write, until={0, 2}) == {0, 2}

    def test_sees_both_values_of_a_batch(self, world):
        scene = world.scene
        node = scene.add_group(parent=scene.root, attributes={"left": 0, "right": 0})

        def write():
            for i in range(BATCHES):
                world.apply([SetAttributes(node, {"left": i}), SetAttributes(node, {"right": i})])

        seen = set()
        for _ in range(50):  # until the reader ran beside the writer
            seen |= watch(lambda: tuple(scene.attributes(node).values()), write)
            if len(seen) > 1:
                break
        assert len(seen) > 1
        assert all(left == right for left, right in seen)

    def test_sees_the_frames_of_a_batch_together(self, world):
        scene = world.scene
        world.add_frame("map")
        adding = [AddTransform(parent=scene.root, transform=moved(1), at=None, id=node) for node in PAIR]

        def write():
            for _ in range(BATCHES):
                world.apply(adding)
                world.apply([Remove(node, at=0) for node in PAIR])

        assert watch(lambda: len(world.snapshot(in_frame="map")), write, until={1, 3}) == {1, 3}

    def test_sees_a_merged_batch_at_once(self, world):
        with World("other") as other:
            other.apply([AddGroup(parent=other.scene.root, id=node) for node in PAIR])
            records = other.scene.changes()
        merging = [world]

        def write():
            for _ in range(BATCHES):
                merging[0] = World()
                merging[0].merge(records)

        assert watch(lambda: len(merging[0].scene), write, until={1, 3}) == {1, 3}

    def test_of_a_past_scene_sees_one_version_for_ever(self, world):
        scene = world.scene
        scene.add_transform(parent=scene.root, transform=Transform.identity(), id=PAIR[0])
        past = scene.as_of(world.now())

        def write():
            for _ in range(BATCHES):
                scene.add_group(parent=PAIR[0])

        assert watch(lambda: (len(past), len(past.children(PAIR[0]))), write) == {(2, 0)}
