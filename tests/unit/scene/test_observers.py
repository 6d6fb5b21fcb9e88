"""Observers are notified of changes once, in order, in batches, after they were applied."""

import queue
import threading

import pytest

from armillary import Transform, World
from armillary.errors import InvalidArgument, ObserverBehind, PermanentNode
from armillary.scene import AddGroup, AddTransform, NodeId, Remove, SetAttributes
from unit.kit import WAIT_S, Mailbox


@pytest.fixture
def scene(world):
    return world.scene


@pytest.fixture
def notified(scene):
    """The batches that an observer was notified of."""
    batches = []
    scene.attach(batches.append)
    return batches


class Notebook:
    def __init__(self):
        self.batches = []

    def note(self, batch):
        self.batches.append(batch)


class TestAnObserver:
    def test_is_notified_of_each_change_once_in_order(self, scene, notified):
        table = scene.add_group(parent=scene.root, attributes={"name": "table"}, at=1)
        scene.set_attributes(table, {"name": None}, at=2)
        scene.remove(table, at=3)
        assert notified == [
            (AddGroup(parent=scene.root, attributes={"name": "table"}, at=1, id=table),),
            (SetAttributes(table, {"name": None}, 2),),
            (Remove(table, 3),),
        ]

    def test_is_notified_of_a_batch_at_once(self, world, scene, notified):
        ids = [NodeId.random(), NodeId.random()]
        world.apply([AddGroup(parent=scene.root, id=ids[0]), AddGroup(parent=ids[0], id=ids[1])])
        assert [[change.id for change in batch] for batch in notified] == [ids]

    def test_sees_the_scene_as_it_became(self, world, scene):
        seen = []
        scene.attach(lambda batch: seen.append([change.id in scene for change in batch]))
        world.apply([AddGroup(parent=scene.root), AddGroup(parent=scene.root)])
        assert seen == [[True, True]]

    def test_is_not_notified_of_what_was_refused(self, world, scene, notified):
        with pytest.raises(PermanentNode):
            world.apply([AddGroup(parent=scene.root), Remove(scene.root)])
        assert notified == []

    def test_is_notified_of_undo_and_redo(self, world, scene, notified):
        table = scene.add_group(parent=scene.root)
        world.undo()
        world.redo()
        assert [batch[0].id for batch in notified] == [table] * 3

    def test_is_notified_once_of_what_others_changed(self, world, scene, notified):
        with World("other") as other:
            cup = other.scene.add_group(parent=scene.root, attributes={"name": "cup"})
            world.merge(other.scene.changes())
            world.merge(other.scene.changes())
        assert [[change.id for change in batch] for batch in notified] == [[cup]]

    def test_can_keep_a_mirror_by_applying_its_notifications(self, world, scene):
        with World("copy") as copy:
            scene.attach(copy.apply)
            table = scene.add_transform(parent=scene.root, transform=Transform.identity(), attributes={"name": "table"})
            cup = scene.add_group(parent=table, attributes={"mass": 0.3})
            scene.add_parent(cup, scene.root)
            scene.remove_parent(cup, table)
            scene.set_attributes(cup, {"mass": None, "full": True})
            assert copy.scene.digest() == scene.digest()

    def test_that_is_a_method_can_be_detached(self, scene):
        notebook = Notebook()
        scene.attach(notebook.note)
        scene.detach(notebook.note)
        scene.add_group(parent=scene.root)
        assert notebook.batches == []

    def test_is_not_attached_twice(self, scene, notified):
        with pytest.raises(InvalidArgument, match="notified twice"):
            scene.attach(notified.append)
        scene.add_group(parent=scene.root)
        assert len(notified) == 1

    def test_that_is_detached_is_not_notified(self, scene):
        received = []
        observer = received.append
        scene.attach(observer)
        scene.detach(observer)
        scene.add_group(parent=scene.root)
        assert received == []

    def test_that_leaves_last_ends_the_notifications(self, world, scene, monkeypatch):
        posted = []
        monkeypatch.setattr(world.store.observers, "post", posted.append)
        scene.attach(print)
        scene.detach(print)
        world.fix(of="table", in_frame="map", transform=Transform.identity())
        assert posted == []


class TestAnObserverThatMisbehaves:
    def test_by_raising_harms_nobody(self, world, scene):
        errors, received = [], []
        world.on_error = errors.append
        scene.attach(lambda batch: 1 / 0)
        scene.attach(received.append)
        table = scene.add_group(parent=scene.root)
        assert table in scene
        assert len(received) == 1
        assert [type(error) for error in errors] == [ZeroDivisionError]

    def test_by_not_emptying_its_queue_misses_what_came_meanwhile(self, world, scene):
        errors, full = [], queue.Queue(maxsize=1)
        world.on_error = errors.append
        scene.attach(full)
        ids = [scene.add_group(parent=scene.root) for _ in range(4)]
        assert [change.id for change in full.get_nowait()] == ids[:1]
        assert len(errors) == 1
        last = scene.add_group(parent=scene.root)
        assert [change.id for change in full.get_nowait()] == [last]

    def test_that_changes_the_scene_itself_is_notified_afterwards(self, scene):
        received = []

        def answer(batch):
            received.append(batch)
            if len(received) < 3:
                scene.add_group(parent=scene.root, attributes={"answer": len(received)})

        scene.attach(answer)
        scene.add_group(parent=scene.root)
        assert [batch[0].attributes for batch in received] == [{}, {"answer": 1}, {"answer": 2}]

    def test_by_changing_the_scene_reorders_nothing_for_others(self, scene):
        received = []
        scene.attach(lambda batch: batch[0].attributes or scene.add_group(parent=scene.root, attributes={"answer": 1}))
        scene.attach(lambda batch: received.append(batch[0].attributes))
        scene.add_group(parent=scene.root)
        assert received == [{}, {"answer": 1}]

    def test_by_detaching_itself_ends_its_own_part_only(self, scene):
        once, always = [], []

        def leave(batch):
            once.append(batch)
            scene.detach(leave)

        scene.attach(leave)
        scene.attach(always.append)
        scene.add_group(parent=scene.root)
        scene.add_group(parent=scene.root)
        assert (len(once), len(always)) == (1, 2)

    def test_by_being_none_is_refused(self, scene):
        with pytest.raises(InvalidArgument, match="callable that takes a batch"):
            scene.attach(5)

    def test_by_never_having_been_attached_is_refused(self, scene):
        with pytest.raises(InvalidArgument, match="Detach what was attached"):
            scene.detach(print)


class TestObserversAndThreads:
    def test_are_notified_in_the_order_of_the_changes(self, world, scene):
        received = []
        scene.attach(lambda batch: received.extend(change.id for change in batch))
        start = threading.Barrier(3)

        def add():
            start.wait(WAIT_S)
            for _ in range(200):
                scene.add_group(parent=scene.root)

        _run_all([add] * 3)
        assert received == [record.node for record in scene.changes()]

    def test_are_notified_of_everything_although_one_is_slow(self, scene, mailbox: Mailbox):
        begun, release = threading.Event(), threading.Event()
        scene.attach(lambda batch: (begun.set(), release.wait(WAIT_S)))
        scene.attach(mailbox)
        first = threading.Thread(target=scene.add_group, kwargs={"parent": scene.root})
        first.start()
        assert begun.wait(WAIT_S)
        scene.add_group(parent=scene.root)  # does not wait for the slow one
        assert mailbox.letters == []
        release.set()
        first.join(WAIT_S)
        assert len(mailbox.wait(2)) == 2

    def test_wait_in_a_line_that_has_an_end(self):
        begun, release, errors = threading.Event(), threading.Event(), []
        with World(max_waits=2) as world:
            world.on_error, received = errors.append, []
            world.scene.attach(lambda batch: (received.append(batch), begun.set(), release.wait(WAIT_S)))
            first = threading.Thread(target=world.scene.add_group, kwargs={"parent": world.scene.root})
            first.start()
            assert begun.wait(WAIT_S)
            for _ in range(5):
                world.scene.add_group(parent=world.scene.root)
            release.set()
            first.join(WAIT_S)
        assert (len(received), len(world.scene)) == (3, 7)
        assert [type(error) for error in errors] == [ObserverBehind]

    def test_with_a_queue_can_be_read_on_another_thread(self, world, scene):
        batches = queue.Queue()
        scene.attach(batches)
        cup = NodeId.random()
        world.apply(
            [
                AddTransform(parent=scene.root, transform=Transform.identity(), id=cup),
                SetAttributes(cup, {"full": True}),
            ]
        )
        received = []
        _run_all([lambda: received.extend(batches.get(timeout=WAIT_S))])
        assert [type(change) for change in received] == [AddTransform, SetAttributes]


def _run_all(todo):
    threads = [threading.Thread(target=call) for call in todo]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()
