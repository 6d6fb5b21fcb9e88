"""How much one store holds: what would be too much is refused with a sentence, and changes nothing."""

from __future__ import annotations

import pytest

from armillary import World
from armillary.errors import LimitReached
from armillary.scene import AddJoints, RemoveJoints
from armillary.store import limits


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
