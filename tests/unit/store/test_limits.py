"""How much one store holds: what would be too much is refused with a sentence, and changes nothing."""

from __future__ import annotations

import pytest

from armillary import World
from armillary.errors import LimitReached
from armillary.scene import AddJoints, RemoveJoints
from armillary.store import limits
from unit.kit import moved


class TestLimits:
    def test_of_bodies_are_kept_until_some_are_taken_back(self, monkeypatch):
        monkeypatch.setattr(limits, "MOST_BODIES", 3)
        world = World()
        for i in range(3):
            world.add_body(f"body {i}", frames=[f"frame {i}"])
        before = world.digest()
        with pytest.raises(LimitReached, match=r"At most 3 bodies are kept\. Take back"):
            world.add_body("one more")
        assert world.digest() == before
        world.add_body("body 1", frames=["hand"])
        world.remove_body("body 0")
        world.add_body("one more")

    def test_of_joints_are_kept_until_some_are_removed(self, monkeypatch):
        monkeypatch.setattr(limits, "MOST_JOINTS", 3)
        world = World()
        world.apply([AddJoints({"a": "linear", "b": "linear", "c": "wrap"})])
        for batch in ([AddJoints({"d": "linear"})], [AddJoints({f"n{i}": "linear"}) for i in range(4)]):
            with pytest.raises(LimitReached, match="At most 3 joints"):
                world.apply(batch)
        assert world.joints() == ("a", "b", "c")
        world.apply([RemoveJoints(["a"])])
        world.apply([AddJoints({"d": "linear"})])


class TestTheSourcesOfOneFrame:
    @pytest.fixture
    def world(self):
        world = World(max_sources=3)
        for source in "abc":
            world.set_pose(of="cup", in_frame="map", transform=moved(1), at=0, source=source)
        return world

    @pytest.mark.parametrize("call", ["set_pose", "fix"])
    def test_are_at_most_so_many(self, world, call):
        before, at = world.digest(), {"at": 1} if call == "set_pose" else {}
        with pytest.raises(LimitReached, match=r"At most 3 sources that place 'cup'.*max_sources"):
            getattr(world, call)(of="cup", in_frame="map", transform=moved(2), source="d", **at)
        assert world.digest() == before

    def test_may_say_more_and_others_may_place_other_frames(self, world):
        world.set_pose(of="cup", in_frame="map", transform=moved(2), at=1, source="c")
        world.set_pose(of="cup", in_frame="hand", transform=moved(2), at=2, source="c")
        world.set_pose(of="mug", in_frame="map", transform=moved(2), at=1, source="d")

    def test_leave_room_where_one_is_removed(self, world):
        world.remove_relation(of="cup", in_frame="map", source="b")
        world.set_pose(of="cup", in_frame="map", transform=moved(2), at=1, source="d")
        assert world.pose(of="cup", in_frame="map", at=1, policy="latest").relations

    def test_come_from_other_replicas_without_a_limit(self, world):
        other = World("other")
        other.set_pose(of="cup", in_frame="map", transform=moved(1), at=0, source="z")
        world.merge(other.scene.changes())
        assert len(world.relations()) == 4

    def test_come_back_with_a_file(self, world, tmp_path):
        world.save(tmp_path / "world.json")
        assert World.load(tmp_path / "world.json").store.settings.max_sources == 3
