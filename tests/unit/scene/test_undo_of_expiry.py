"""What a standing rule removes is nobody's last change."""

from armillary import Transform, World, seconds


class TestUndoAfterARuleRemovedSomething:
    def test_takes_back_what_was_asked_for(self):
        clock = [seconds(1)]
        with World(clock=lambda: clock[0]) as world:
            scene = world.scene
            scene.expire_always(older_than=seconds(5))
            old = scene.add_transform(parent=scene.root, transform=Transform.identity())
            clock[0] = seconds(20)
            new = scene.add_group(parent=scene.root)
            assert old not in scene
            world.undo()
            assert (old in scene, new in scene) == (False, False)
