"""The pushing demonstration in a terminal and a browser, in real time: what is open, and what is done about it."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from armillary.demos.push.world import RecordedWorld, shown_in_browser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from armillary.demos.push.setting import Setting
    from armillary.demos.push.tidying import Moment, Tidying

__all__ = ["screen", "waiting", "watch"]

_EVERY = 2  # steps
_LENGTH = 24


def watch(setting: Setting, recorded: RecordedWorld, run: Callable[[Callable[[Moment], object]], Tidying]) -> Tidying:
    """Run in real time with a live screen and, where it is installed, the viewer; Ctrl-C ends it."""
    begin = monotonic()
    joints = [setting.joint(handle).name for handle in setting.handles]
    with shown_in_browser(recorded.world) as page, Live(Text(page), auto_refresh=False) as live:

        def show(moment: Moment) -> bool:
            recorded.record(moment)
            try:
                sleep(max(0.0, begin + moment.time_s - monotonic()))
            except KeyboardInterrupt:
                return True
            if round(moment.time_s * 10) % _EVERY == 0:
                live.update(screen(moment, joints, page), refresh=True)
            return False

        return run(show)


@contextmanager
def waiting(robot: str) -> Iterator[None]:
    """Say in the terminal which robot is pushing, for as long as it takes."""
    with Console().status(f"The {robot} robot pushes twelve drawers and doors shut ..."):
        yield


def screen(moment: Moment, joints: Sequence[str], page: str) -> RenderableType:
    """Return the screen, for 80 columns and 24 lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, width=78)
    for heading, justify in (("", "left"), ("open", "left"), ("is", "right"), ("seems", "right")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for joint in joints:
        true, seems = moment.configuration[joint], moment.estimate[joint]
        bar = "#" * round(_LENGTH * min(true, 0.5) / 0.5)
        style = "bold blue" if joint == moment.doing else ""
        table.add_row(_short(joint), bar.ljust(_LENGTH), f"{true:.3f}", f"{seems:.3f}", style=style)
    doing = "looks around" if moment.doing == "looking" else f"pushes the {_short(moment.doing)}"
    title = Text.assemble(
        f"{moment.time_s:6.1f} s  the robot ", (doing, "bold blue"), f", sees {moment.in_view} things"
    )
    return Group(title, table, Text(page, style="dim"))


def _short(joint: str) -> str:
    return joint.removeprefix("kitchen/").removesuffix("_joint").replace("_", " ")
