"""What the unit tests have in common."""

from __future__ import annotations

import pytest

import strategies  # noqa: F401  chooses the profile of hypothesis, also for a file that is run alone
from armillary import World
from unit.kit import FakeClock, Mailbox


@pytest.fixture
def world():
    """An empty world, closed when the test is over."""
    with World() as fresh:
        yield fresh


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def mailbox():
    return Mailbox()
