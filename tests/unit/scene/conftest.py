"""A world with a clock that the tests turn, and its scene. Each file says with `clock` when its time begins."""

import pytest

from armillary import World


@pytest.fixture
def world(clock):
    with World("tester", clock=clock) as world:
        yield world


@pytest.fixture
def scene(world):
    return world.scene
