"""What holds of whatever is taken back, and done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError

if TYPE_CHECKING:
    from armillary import World


def assert_is_taken_back_and_done_again(world: World, before: str) -> None:
    """The last change: undo leads back to the digest `before` or is refused and changes nothing, redo leads forward."""
    after = world.digest()
    try:
        world.undo()
    except ArmillaryError:
        assert world.digest() == after
        return
    assert world.digest() == before
    world.redo()
    assert world.digest() == after
