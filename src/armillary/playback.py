"""Playing recordings into worlds."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument
from armillary.record import Replay, recorded_settings
from armillary.world import World

if TYPE_CHECKING:
    from armillary.stamps import StampLike

__all__ = ["replay"]


def replay(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    into: World | None = None,
    *,
    speed: float = 1.0,
    start: StampLike | None = None,
    wait: bool = True,
) -> Replay:
    """Play a recording into a world, and drive its clock.

    The world gets the same change records and the same samples, each when it came, so that it gives the same answers as
    the one that was recorded, at every instant. Other modules may ask it and write into it while it plays.

    Args:
        path: A file that `World.record` wrote, with the parts that follow it; or a list of parts.
        into: The world; a new one with the settings of the recorded one if not given, `Replay.world`.
        speed: Seconds of the recording in one second; `float("inf")`: as fast as possible; 0: nothing plays until
            `step`, `seek` or `play_until` is called.
        start: Give all until this instant at once, and play from there.
        wait: Return when it is over. False: it plays in a thread of its own.

    Raises:
        InvalidLog: It is no recording of Armillary.
    """
    if into is None:
        into = World(**recorded_settings(path))
    elif not isinstance(into, World):
        raise InvalidArgument(f"A recording is played into a World, got {type(into).__name__}.", into)
    playing = Replay(path, into, speed)
    if start is not None:
        playing.seek(start)
    if speed == 0.0:
        return playing
    if wait:
        playing.run()
        playing.close()
    else:
        playing.start()
    return playing
