"""Worlds in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, Self

from armillary._world._loops import LoopingWorld
from armillary._world._making import maker

_MAX_BYTES = 2**30


class SavingWorld(LoopingWorld):
    """A world that can be written to files, and made from them."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the structure of this world to a JSON file, and the arrays of its shapes to an `.npz` beside it.

        Settings, frames, fixed poses, bodies, who places what by samples, whom to believe and how much to keep, models
        where they stand with the last values of their joints, and the scene with the samples of its transforms. Other
        samples are not part of it, nor are the clock and preferences of joints. A file that is there is replaced whole,
        or stays. `docs/saved_world.schema.json` describes the format.

        Raises:
            UnsavableWorld: Joints drive a pose whose model is not mounted here, or models hold each other in a loop.
        """
        from armillary.record import write_world  # noqa: PLC0415  (most programs use no files)

        write_world(self, Path(path))

    @maker
    def load(
        cls,  # noqa: N805  (see `maker`)
        path: str | PathLike[str],
        *,
        clock: Callable[[], int] | None = None,
        kinds: Iterable[type[Any]] = (),
        max_bytes: int = _MAX_BYTES,
    ) -> Self:
        """A world from a file.

        Args:
            path: What `save` wrote. Nothing in it is executed, whoever wrote it.
            clock: Tells the time, as in `World(clock=)`.
            kinds: Operations and joints of your own that its models may name.
            max_bytes: Refuse files larger than this, the arrays included.

        Raises:
            InvalidWorldFile: It is no saved world; `field` leads to what is wrong.
        """
        from armillary.record import read_world, restore  # noqa: PLC0415  (see `save`)

        saved = read_world(Path(path), max_bytes=max_bytes, kinds=kinds)
        world: Self = restore(saved, lambda **settings: cls(clock=clock, **settings))
        return world

    def save_extrinsics(self, path: str | PathLike[str]) -> tuple[str, ...]:
        """Write fixed poses to a YAML file that can be edited by hand; the frames that are in it.

        What models and nodes of the scene bring is not part of it.
        """
        from armillary.record import save_extrinsics  # noqa: PLC0415  (see `save`)

        return save_extrinsics(self, Path(path))

    def load_extrinsics(self, path: str | PathLike[str], *, max_bytes: int = _MAX_BYTES) -> tuple[str, ...]:
        """Fix frames where a YAML file says they are, all or nothing; the frames that sit elsewhere now.

        What a frame was fixed at before is replaced, on declared bodies too (`recalibrate=True`). Frames that the file
        does not name stay.

        Raises:
            InvalidExtrinsicsFile: `field` leads to what is wrong; nothing has changed.
        """
        from armillary.record import load_extrinsics  # noqa: PLC0415  (see `save`)

        return load_extrinsics(self, Path(path), max_bytes=max_bytes)
