"""Scenes that are loaded, copied and continued are as they were."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import NotItsParent
from armillary.scene import AddTransform, AddUncertainTransform
from armillary.store.records import change_of
from unit.kit import FakeClock, moved


@pytest.fixture
def clock():
    return FakeClock(seconds(5))


class TestARecordOfAFile:
    @pytest.fixture
    def loaded(self, tmp_path):
        """A plain transform whose oldest sample has a covariance, and an uncertain one whose oldest has none."""
        with World(history=seconds(2), clock=FakeClock(seconds(5))) as world:
            spread = {"covariance": 0.1 * np.eye(6)}
            plain = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=seconds(1))
            unsure = world.scene.add_uncertain_transform(
                parent=world.scene.root, transform=moved(1), at=seconds(1), **spread
            )
            world.scene.set_transform(plain, moved(2), **spread, at=seconds(5))
            world.scene.set_transform(unsure, moved(2), at=seconds(5))
            world.scene.save(tmp_path / "two.json")
        with World(clock=FakeClock(seconds(5))) as other:
            other.scene.load(tmp_path / "two.json")
            yield other, plain, unsure

    def test_keeps_the_kind_of_a_transform(self, loaded):
        world, plain, unsure = loaded
        changes = {change.id: change for change in map(change_of, world.scene.changes())}
        assert isinstance(changes[plain], AddTransform)
        assert isinstance(changes[unsure], AddUncertainTransform)
        with World(clock=FakeClock(seconds(5))) as again:
            again.apply(changes.values())
            assert again.scene.digest() == world.scene.digest()
            assert [again.scene.kind(node) for node in (plain, unsure)] == ["transform", "uncertain_transform"]


class TestACopy:
    def test_keeps_the_expiry_rules_and_ends_its_own(self, world, scene, clock):
        rule = scene.expire_always(older_than=seconds(2))
        scene.add_transform(parent=scene.root, transform=moved(1), at=seconds(5))
        twin = world.copy()
        rule.cancel()
        clock.ns = seconds(9)
        assert (len(scene.expire_now()), len(twin.scene.expire_now())) == (0, 1)


class TestContainedSince:
    def test_is_notified_of_each_parent(self, scene, clock):
        one, two = scene.add_group(parent=scene.root), scene.add_group(parent=scene.root)
        cup = scene.add_group(parent=one)
        clock.ns = seconds(8)
        scene.add_parent(cup, two, at=seconds(8))
        assert [scene.contained_since(cup, parent) for parent in (one, two)] == [seconds(5), seconds(8)]
        assert scene.as_of(seconds(6)).contained_since(cup, one) == seconds(5)
        with pytest.raises(NotItsParent):
            scene.as_of(seconds(6)).contained_since(cup, two)
        with pytest.raises(NotItsParent):
            scene.contained_since(cup, scene.root)


class TestASecondParentOfWhatIsMovedByTwists:
    def test_does_not_stop_its_motion(self, world, scene):
        cart = scene.add_transform(parent=scene.root, transform=moved(0), at=seconds(1))
        frame, still = scene.frame(cart), {"linear": (1, 0, 0), "angular": (0, 0, 0)}

        def drive(t):
            world.set_twist(of=frame, relative_to="map", expressed_in=frame, at=seconds(t), **still)

        drive(1)
        drive(2)
        scene.add_parent(cart, scene.add_transform(parent=scene.root, transform=moved(5), at=None), at=seconds(2))
        world.prefer(of=f"{frame}/mount", source=str(scene.root))
        drive(3)
        assert world.pose(of=frame, in_frame="map", at=seconds(3)).xyz == pytest.approx([2, 0, 0])
