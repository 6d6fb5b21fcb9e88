"""The kitchen and the robot in a world: recorded step by step, shown in a browser, drawn afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from armillary.demos._common import Pictures, draw_svg_and_png
from armillary.demos.push.setting import Setting
from armillary.demos.push.tidying import Moment
from armillary.errors import MissingExtra
from armillary.stamps import seconds
from armillary.view import draw_tracks
from armillary.world import World

__all__ = ["RecordedWorld", "shown_in_browser"]

_VIEW = {"at": (0.9, 0.8, 0.6), "from_": (3.4, -2.2, 2.8)}
_STEP = seconds(0.2)


class RecordedWorld:
    """A world in which the model of a setting is mounted, and that takes its configurations.

    Attributes:
        world: With the frames of all links.

    Args:
        setting: The kitchen and the robot.
    """

    def __init__(self, setting: Setting) -> None:
        self.world = World(history=None)
        self._mount = self.world.mount(setting.model, in_frame="map")
        self._newest = 0
        self._set(setting.start, 0)

    def record(self, moment: Moment) -> None:
        """Take the configuration of a moment."""
        self._newest = seconds(moment.time_s)
        self._set(dict(moment.configuration), self._newest)

    def draw(self, folder: Path) -> Pictures:
        """Draw where the base and the tool went."""
        at = np.append(np.arange(0, self._newest, _STEP), self._newest)

        def tracks(kind: str) -> tuple[str, ...]:
            frames = ("robot/base_link", "robot/pad")
            return (draw_tracks(self.world, folder / f"push.{kind}", of=frames, in_frame="map", at=at).name,)

        return draw_svg_and_png(folder, tracks)

    def _set(self, configuration: dict[str, float], at: int) -> None:
        joints = self._mount.joints
        self.world.set_joints({joints[name]: value for name, value in configuration.items()}, at=at)


@contextmanager
def shown_in_browser(world: World) -> Iterator[str]:
    """Open a viewer if viser is installed; yield a line with its address, or what to install."""
    try:
        viewer = world.view(quiet=True)
    except MissingExtra as missing:
        yield f"In a browser: {missing}"
        return
    with viewer:
        viewer.look(**_VIEW)
        yield str(viewer)
