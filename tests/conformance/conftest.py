import pytest

from armillary import World, seconds
from conformance.peer import tf2_peer

__all__ = ["tf2_buffer", "tf2_peer", "world"]

HISTORY = seconds(10)


@pytest.fixture
def world():
    """As much memory as a tf2 buffer has when nothing else is said: ten seconds."""
    with World(history=HISTORY) as fresh:
        yield fresh


@pytest.fixture
def tf2_buffer(tf2_peer):
    """tf2 with the same ten seconds."""
    return tf2_peer.buffer(HISTORY)
