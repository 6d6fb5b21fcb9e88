"""World: one world model, as a user sees it."""

from armillary._world._world import World

__all__ = ["World"]
