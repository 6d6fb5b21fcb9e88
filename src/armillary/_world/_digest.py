"""What tells two worlds apart: their structure in one number."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from armillary._core import WorldCore


def structure_digest(world: WorldCore, scene_digest: str) -> str:
    """64 digits over frames, bodies, relations, fixed poses, joints, what they drive, and the digest of the scene.

    What hangs together because nodes do is told by the scene alone.
    """
    lines = [f"scene {scene_digest}"]
    lines += sorted(f"frame {name}" for name in world.frames() if not _is_of_a_node(name))
    lines += [f"body {name}: {sorted(world._frames_of(name))}" for name in sorted(world.bodies())]  # noqa: SLF001
    lines += sorted(
        f"{'twist' if kind == 'twist' else 'pose'} {of!r} in {in_frame!r} by {source!r}"
        for of, in_frame, source, kind, *_ in world._relations()  # noqa: SLF001
        if not _is_of_a_node(of)
    )
    lines += sorted(_fixed_lines(world))
    lines += sorted(f"joint {name!r} {kind}" for name, kind in world._variables())  # noqa: SLF001
    lines += sorted(
        f"driven {of!r} in {in_frame!r} by {source!r} from {since}: {description}"
        for of, in_frame, source, since, description in world._driven_poses()  # noqa: SLF001
    )
    return sha256("\n".join(lines).encode()).hexdigest()


def _fixed_lines(world: WorldCore) -> list[str]:
    return [
        f"fixed {of!r} in {in_frame!r} by {source!r} from {since}: {transform.matrix.tobytes().hex()}"
        + ("" if covariance is None else covariance.tobytes().hex())
        for of, in_frame, source, since, transform, covariance in world._fixed_poses()  # noqa: SLF001
        if not _is_of_a_node(of)
    ]


def _is_of_a_node(frame: str) -> bool:
    try:
        UUID(frame.removesuffix("/mount"))
    except ValueError:
        return False
    return True
