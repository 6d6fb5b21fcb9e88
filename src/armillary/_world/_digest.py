"""What tells two worlds apart: their structure in one number."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary._core import WorldCore


def structure_digest(world: WorldCore, scene_digest: str) -> str:
    """64 digits over the scene, what was said of frames beside it, joints, and what they drive."""
    lines = [f"scene {scene_digest}", f"frames {world._frames_digest()}"]  # noqa: SLF001  (one world, two modules)
    lines += sorted(f"joint {name!r} {kind}" for name, kind in world._variables())  # noqa: SLF001
    lines += sorted(
        f"driven {of!r} in {in_frame!r} by {source!r} from {since}: {description}"
        for of, in_frame, source, since, description in world._driven_poses()  # noqa: SLF001
    )
    return sha256("\n".join(lines).encode()).hexdigest()
