import pytest

from armillary import World, seconds
from conformance.peer import tf2_peer

__all__ = ["house", "scene", "tf2_buffer", "tf2_peer", "world"]

HISTORY = seconds(10)


@pytest.fixture
def world():
    """A world with the default history of a tf2 buffer: ten seconds."""
    with World(history=HISTORY) as fresh:
        yield fresh


@pytest.fixture
def tf2_buffer(tf2_peer):
    """tf2 with the same ten seconds."""
    return tf2_peer.buffer(HISTORY)


@pytest.fixture
def house(clock):
    """A world of things, whose clock is zero until it is set; its history is ten seconds."""
    with World("house", history=HISTORY, clock=clock) as fresh:
        yield fresh


@pytest.fixture
def scene(house):
    return house.scene
