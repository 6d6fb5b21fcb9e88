"""A world whose clock is set by hand."""

from __future__ import annotations

import pytest

from armillary import World
from unit.kit import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def world(clock):
    with World("tester", clock=clock) as world:
        yield world
