"""What a run of the tests may not do without: `ARMILLARY_REQUIRE=tf2,chromium` turns those skips into failures."""

from __future__ import annotations

import os

import pytest

KNOWN = ("tf2", "chromium", "rosbag")
REQUIRED = tuple(name for name in os.environ.get("ARMILLARY_REQUIRE", "").replace(" ", "").split(",") if name)

if unknown := sorted(set(REQUIRED) - set(KNOWN)):
    raise pytest.UsageError(f"ARMILLARY_REQUIRE names {', '.join(unknown)}; it knows {', '.join(KNOWN)}.")


def skip_without(name: str, reason: str) -> None:
    """Skips the test, or fails it where `name` is required."""
    if name in REQUIRED:
        pytest.fail(f"{reason} (ARMILLARY_REQUIRE={','.join(REQUIRED)})", pytrace=False)
    pytest.skip(reason)
