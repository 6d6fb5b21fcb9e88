"""Things in the world: what is known of them, by whom, and how surely."""

from armillary.scene import policies

__all__ = ["policies"]
