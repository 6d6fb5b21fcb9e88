"""Take the screenshots of the viewer in docs/images again: `.venv/bin/python tools/screenshots/shoot.py [NAME ...]`.

It needs chromium and playwright, and takes a minute a picture: the graphics are computed without a graphics card.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary import World, seconds
from armillary.articulation import ArticulationModel
from armillary.demos.kitchen.names import CUP, MAP
from armillary.demos.kitchen.report import CUP_VIEW
from armillary.demos.kitchen.simulation import Kitchen
from armillary.view.web import rest_joints

if TYPE_CHECKING:
    from armillary.view.web import Viewer

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
PATIENCE_MS = 180_000.0
CONTESTED_S, GRASP_S = 4.4, 5.4
NEAR_M = (0.32, 0.42, 0.22)
SETTLED_S = 25.0  # the scene fades in, and software draws few pictures a second
ARM = """
<robot name="arm">
  <link name="base"><visual><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.12" length="0.1"/></geometry>
    <material name="dark"><color rgba="0.25 0.28 0.33 1"/></material></visual></link>
  <link name="column"><visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.07" length="0.4"/></geometry>
    <material name="orange"><color rgba="0.93 0.45 0.1 1"/></material></visual></link>
  <link name="boom"><visual><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.09 0.09"/></geometry>
    <material name="orange"/></visual></link>
  <link name="wrist"><visual><origin xyz="0.08 0 0"/><geometry><cylinder radius="0.05" length="0.16"/></geometry>
    <material name="dark"/></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="column"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 0 1"/><limit lower="-3.1" upper="3.1" velocity="1" effort="1"/></joint>
  <joint name="lift" type="revolute"><parent link="column"/><child link="boom"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 -1 0"/><limit lower="-0.6" upper="1.2" velocity="1" effort="1"/></joint>
  <joint name="bend" type="revolute"><parent link="boom"/><child link="wrist"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 -1 0"/><limit lower="-1.6" upper="1.6" velocity="1" effort="1"/></joint>
</robot>
"""


@dataclass(frozen=True)
class Shot:
    """A picture: what is shown, and what is done on the page before."""

    show: Callable[[], Any]
    prepare: Callable[[Any], None] = lambda _: None
    size: tuple[int, int] = (1280, 760)
    clip: tuple[int, int, int, int] | None = None


@contextmanager
def kitchen(until_s: float, *, near: bool = False) -> Iterator[Viewer]:
    """The demo, stopped while the gripper is at the cup; `near` looks at the cup alone."""
    scene = Kitchen(history=seconds(until_s + 1.0))
    scene.advance(to=seconds(until_s))
    with scene.world.view(quiet=True) as viewer:
        if near:
            cup = scene.world.pose(of=CUP, in_frame=MAP, policy="fuse").xyz
            viewer.look(at=cup, from_=cup + NEAR_M)
        else:
            viewer.look(**CUP_VIEW)
        yield viewer


@contextmanager
def arm() -> Iterator[Viewer]:
    """A robot that was read from a file, and moved."""
    with World("arm") as world:
        model = ArticulationModel()
        model.load_urdf(ARM, name="arm")
        world.mount(model, in_frame="map")
        rest_joints(world)
        start = world.now()
        for i in range(60):
            part = i / 59
            joints = {"arm/turn": 1.2 * part - 0.4, "arm/lift": 0.6 * part, "arm/bend": -0.9 * part}
            world.set_joints(joints, at=start + seconds(3.0 * part))
        with world.view(quiet=True) as viewer:
            yield viewer


def close_message(page: Any) -> None:
    """Close the message about the missing graphics card."""
    button = page.locator(".mantine-Notification-closeButton")
    if button.count():
        button.first.click()


def back(page: Any) -> None:
    """Go back in time, and select the cup."""
    named = page.locator("label", has_text="Time [s]").first.get_attribute("for")
    slider = page.locator(f"[id='{named}'] [role=slider]")
    slider.press("Home")
    for _ in range(5):
        slider.press("PageUp")


SHOTS = {
    "kitchen_cup": Shot(lambda: kitchen(CONTESTED_S, near=True), size=(1280, 600), clip=(304, 0, 640, 600)),
    "viewer_kitchen": Shot(lambda: kitchen(GRASP_S)),
    "viewer_past": Shot(lambda: kitchen(10.0), back),
    "viewer_robot": Shot(arm),
}


def shoot(name: str, folder: Path) -> Path:
    """Take one picture."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    shot, file = SHOTS[name], folder / f"{name}.png"
    with shot.show() as viewer, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        page = browser.new_page(viewport={"width": shot.size[0], "height": shot.size[1]})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(viewer.url)
        page.locator("[data-frame]").first.wait_for(state="attached")
        shot.prepare(page)
        time.sleep(SETTLED_S)
        close_message(page)
        x, y, width, height = shot.clip or (0, 0, *shot.size)
        page.screenshot(path=str(file), clip={"x": x, "y": y, "width": width, "height": height})
        browser.close()
    return file


def main() -> None:
    """Take the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SHOTS), metavar="NAME", help=", ".join(SHOTS))
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where to write them; docs/images by default")
    wanted = parser.parse_args()
    for name in wanted.names:
        sys.stdout.write(f"{shoot(name, wanted.folder)}\n")


if __name__ == "__main__":
    main()
