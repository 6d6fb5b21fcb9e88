"""What the unit tests have in common."""

from __future__ import annotations

import pytest

import randomness  # chooses the seed and the profile of hypothesis, also for a file that is run alone
import requirements
from armillary import World
from unit.kit import FakeClock, Mailbox


def pytest_report_header():
    required = f"; required: {', '.join(requirements.REQUIRED)}" if requirements.REQUIRED else ""
    again = "the usual one; ARMILLARY_SEED=fresh takes others"
    if not randomness.IS_USUAL:
        again = f"ARMILLARY_SEED={randomness.SEED} takes the random inputs of this run again"
    return f"seed: {again}{required}"


def pytest_terminal_summary(terminalreporter):
    is_red = terminalreporter.stats.get("failed") or terminalreporter.stats.get("error")
    if is_red and not randomness.IS_USUAL:
        terminalreporter.write_line(f"Run it again with the same random inputs: ARMILLARY_SEED={randomness.SEED}")


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
