"""What is random in the tests, and how much of it: a seed that is printed, and taken again on request.

    ARMILLARY_SEED=fresh .venv/bin/python -m pytest tests/laws     # another one, as `make soak` and `make nightly` take
    ARMILLARY_SEED=1234567 .venv/bin/python -m pytest tests/laws   # the very run that printed it
    ARMILLARY_HYPOTHESIS=soak .venv/bin/python -m pytest tests/laws  # hours; ARMILLARY_EXAMPLES=300: less

Hypothesis keeps no database: a run depends on its seed alone, on every machine.
"""

from __future__ import annotations

import os
import random
import secrets

import hypothesis.core
import numpy as np
from hypothesis import HealthCheck, settings

USUAL_EXAMPLES, SOAK_EXAMPLES = 40, int(os.environ.get("ARMILLARY_EXAMPLES", "3000"))
USUAL_SEED = "1"
IS_USUAL = "ARMILLARY_SEED" not in os.environ  # then every law has the examples that follow from its own text
# The first process chooses; the workers that it starts find the choice in their environment.
if os.environ.get("ARMILLARY_SEED") == "fresh":
    os.environ["ARMILLARY_SEED"] = str(secrets.randbelow(2**32))
SEED = int(os.environ.get("ARMILLARY_SEED", USUAL_SEED))
IS_SOAK = os.environ.get("ARMILLARY_HYPOTHESIS", "default") == "soak"

_COMMON = {
    "deadline": None,
    "database": None,
    "derandomize": IS_USUAL,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
settings.register_profile("default", max_examples=USUAL_EXAMPLES, stateful_step_count=25, **_COMMON)
settings.register_profile("soak", max_examples=SOAK_EXAMPLES, stateful_step_count=60, **_COMMON)
settings.load_profile(os.environ.get("ARMILLARY_HYPOTHESIS", "default"))
hypothesis.core.global_force_seed = None if IS_USUAL else SEED


def examples(number: int) -> settings:
    """As many examples in a usual run, and more in soak, in the same proportion."""
    return settings(max_examples=max(1, number * settings.default.max_examples // USUAL_EXAMPLES))


def scaled(usual: int, soak: int) -> int:
    """So many in a usual run; in soak as many as given, where each law has 3 000 examples, and else in proportion."""
    return max(usual, soak * SOAK_EXAMPLES // 3000) if IS_SOAK else usual


def rng(number: int = 0) -> np.random.Generator:
    """The generator of this number in this run."""
    return np.random.default_rng((SEED, number))


def chance(number: int = 0) -> random.Random:
    """The same with the methods of the standard library."""
    return random.Random(f"{SEED} {number}")
