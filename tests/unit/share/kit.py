"""What the tests of sharing have in common."""

from __future__ import annotations

import contextlib
import secrets
import time

from armillary import World

PATIENCE_S = 20.0


@contextlib.contextmanager
def shared_worlds(*names, **how):
    """Worlds that share one name and are in step."""
    name = f"test-{secrets.token_hex(6)}"
    with contextlib.ExitStack() as stack:
        worlds = [stack.enter_context(World(one)) for one in names]
        shares = [world.share(name, **how) for world in worlds]
        for share in shares:
            assert share.wait_for_peers(len(names) - 1, PATIENCE_S)
        yield worlds


def eventually(condition, patience_s=PATIENCE_S):
    """Whether a condition holds in time."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def in_step(worlds):
    """Whether all worlds have the same structure in time."""
    return eventually(lambda: len({world.digest() for world in worlds}) == 1)
