"""What tells two worlds apart: their structure in one number."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary._core import WorldCore


def structure_digest(world: WorldCore, scene_digest: str) -> str:
    """64 digits over the scene, and what was said of frames and joints beside it."""
    lines = [f"scene {scene_digest}", f"frames {world._frames_digest()}"]  # noqa: SLF001  (one world, two modules)
    return sha256("\n".join(lines).encode()).hexdigest()
