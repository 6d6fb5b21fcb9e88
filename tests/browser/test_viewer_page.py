"""The viewer in a real browser. One session serves all tests, which build on each other."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import numpy as np
import pytest

from armillary import World, seconds
from armillary.articulation import ArticulationModel
from armillary.articulation.mechanisms import four_bar, locking_compartment
from armillary.view.web import rest_joints
from browser.chromium import PATIENCE_S, SIZE, opened_page, pixels
from unit.kit import FakeClock, moved

pytest.importorskip("viser", reason="viser is not installed: pip install 'armillary[view]'")

ROBOT = """
<robot name="crane">
  <link name="base">
    <visual>
      <geometry><box size="0.5 0.5 0.3"/></geometry>
      <material name="orange"><color rgba="0.9 0.4 0.1 1"/></material>
    </visual>
  </link>
  <link name="boom">
    <visual>
      <origin xyz="0.4 0 0"/><geometry><box size="0.8 0.15 0.15"/></geometry>
      <material name="blue"><color rgba="0.1 0.4 0.9 1"/></material>
    </visual>
  </link>
  <joint name="lift" type="revolute">
    <parent link="base"/><child link="boom"/><origin xyz="0 0 0.3"/><axis xyz="0 -1 0"/>
    <limit lower="-0.2" upper="1.5" velocity="1" effort="1"/>
  </joint>
</robot>
"""
CHANGED = 30  # of 255, in one colour: more than what a shadow trembles by
MANY = 300  # pixels
STEP_S = 0.5
CENTRE = {
    "x": 320,
    "y": 190,
    "width": 290,
    "height": 310,
}  # the picture between the panels, below the first message of viser


@pytest.fixture(scope="module")
def session():
    """The robot drove half a metre in ten seconds; nothing moves any more."""
    with World("yard", history=seconds(100), clock=FakeClock(seconds(10.0))) as world:
        mount_models(world)
        for t in range(11):
            world.set_pose(of="crane/base", in_frame="map", transform=moved(0.05 * t - 0.25), at=seconds(t))
        rest_joints(world)
        world.set_joints({"safe/handle": 0.7}, at=seconds(10.5))
        with world.view(quiet=True) as viewer, opened_page() as page:
            yield Session(world, viewer, page)


def mount_models(world: World) -> None:
    """A crane that drives, a loop of four bars, and a safe whose handle holds its door."""
    crane, linkage, safe = (ArticulationModel() for _ in range(3))
    crane.load_urdf(ROBOT, name="crane")
    linkage.edit(four_bar("linkage"))
    safe.edit(locking_compartment("safe"))
    world.mount(crane)
    world.mount(linkage, in_frame="map")
    world.mount(safe, in_frame="map")


class Session:
    """A world, its viewer, and a page on which it is open."""

    def __init__(self, world: World, viewer, page) -> None:
        self.world, self.viewer, self.page = world, viewer, page
        self.asked: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("websocket", lambda socket: self.asked.append(socket.url))
        page.goto(viewer.url)
        page.get_by_text("crane/boom").first.wait_for()

    def picture(self) -> np.ndarray:
        return pixels(self.page.screenshot(clip=CENTRE))

    def stable_picture(self) -> np.ndarray:
        """Return a screenshot once two in a row are alike and show something."""
        pictures = [self.picture(), self.picture()]

        def is_stable() -> bool:
            pictures[:] = [pictures[1], self.picture()]
            return colorful(pictures[1]) and not differ(*pictures)

        assert wait_for(is_stable), "the picture never stopped changing"
        return pictures[1]

    def press(self, label: str, key: str) -> None:
        """Press a key on a slider once it does not move: while unfolding it takes no input."""
        slider = self.slider(label)
        slider.scroll_into_view_if_needed()
        slider.press(key)

    def slider(self, label: str):
        named = self.page.locator("label", has_text=label).first.get_attribute("for")
        return self.page.locator(f"[id='{named}'] [role=slider]")

    def unfold(self, label: str) -> None:
        self.page.get_by_text(label, exact=True).click()

    def joint(self, name: str) -> float:
        return self.world.joint(name).value


def differ(before: np.ndarray, after: np.ndarray) -> bool:
    return int((np.abs(before - after).max(axis=2) > CHANGED).sum()) > MANY


def colorful(picture: np.ndarray) -> bool:
    """Whether there is more than the grey of the floor."""
    return int((np.ptp(picture, axis=2) > CHANGED).sum()) > MANY


def wait_for(happens) -> bool:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        if happens():
            return True
        time.sleep(STEP_S)
    return False


class TestThePage:
    def test_shows_the_frames_beside_the_picture_and_in_it(self, session):
        for name in ("map", "crane/base", "crane/boom"):
            assert session.page.get_by_text(name, exact=True).first.is_visible()
        assert colorful(session.stable_picture())

    def test_asks_for_nothing_outside_this_computer(self, session):
        hosts = {urlsplit(url.removeprefix("blob:")).hostname for url in session.asked}
        assert hosts == {"127.0.0.1"}

    def test_shows_the_frame_that_is_searched_for(self, session):
        search = session.page.get_by_text("Search", exact=True).locator("xpath=following::input[1]")
        search.fill("boom")
        session.page.get_by_text("Placed in crane/base").wait_for()
        assert session.page.get_by_text("driven").first.is_visible()
        search.fill("")

    def test_selects_a_frame_that_is_clicked_in_the_tree(self, session):
        session.page.locator("[data-frame='crane/base']").click()
        session.page.get_by_text("Placed in map").wait_for()
        field = session.page.get_by_text("Of", exact=True).locator("xpath=following::input[1]")
        assert field.input_value() == "crane/base"


class TestTheTimeSlider:
    def test_goes_back_and_the_picture_is_another(self, session):
        now = session.stable_picture()
        session.press("Time [s]", "Home")
        session.page.get_by_text("paused").wait_for()
        assert wait_for(lambda: differ(now, session.picture()))

    def test_becomes_live_again(self, session):
        then = session.stable_picture()
        session.page.get_by_role("button", name="Live").click()
        session.page.get_by_text("live").first.wait_for()
        assert wait_for(lambda: differ(then, session.picture()))


class TestAJointSlider:
    def test_moves_the_link_to_its_limit(self, session):
        level = session.stable_picture()
        session.unfold("Joints of crane")
        session.press("lift", "End")
        assert wait_for(lambda: session.joint("crane/lift") == pytest.approx(1.5, abs=1e-6))
        pitch = session.world.pose(of="crane/boom", in_frame="crane/base").transform.rotation.rpy[1]
        assert pitch == pytest.approx(-1.5, abs=1e-6)
        assert wait_for(lambda: differ(level, session.picture()))

    def test_leads_a_loop_along(self, session):
        session.unfold("Joints of linkage")
        before = {name: session.joint(name) for name in ("linkage/coupler", "linkage/rocker")}
        session.press("crank", "End")
        assert wait_for(lambda: all(abs(session.joint(name) - value) > 1e-3 for name, value in before.items()))
        ends = {"coupler": 0.3, "rocker": 0.25}  # [m] along each bar: where the two are pinned together
        bars = {bar: session.world.pose(of=f"linkage/{bar}", in_frame="map").transform for bar in ends}
        pins = [bars[bar] @ (end, 0, 0) for bar, end in ends.items()]
        assert pins[0] == pytest.approx(pins[1], abs=1e-6)

    def test_does_not_move_what_is_locked_and_shows_why(self, session):
        session.unfold("Joints of safe")
        session.press("door", "End")
        session.page.get_by_text("cannot go to").wait_for()
        assert session.joint("safe/door") == 0.0
        assert wait_for(lambda: session.slider("door").get_attribute("aria-valuenow") == "0")

    def test_moves_it_once_it_is_unlocked(self, session):
        session.press("handle", "Home")
        assert wait_for(lambda: session.joint("safe/handle") < 0.1)
        session.press("door", "End")
        assert wait_for(lambda: session.joint("safe/door") > 1.0)
        assert not session.page.get_by_text("cannot go to").is_visible()


class TestASecondPage:
    """Somebody else opens the same viewer."""

    @pytest.fixture
    def second(self, session):
        page = session.page.context.browser.new_page(viewport=SIZE)
        page.set_default_timeout(1e3 * PATIENCE_S)
        page.goto(session.viewer.url)
        page.get_by_text("crane/boom").first.wait_for()
        yield page
        page.close()

    def test_has_a_time_of_its_own(self, session, second):
        session.page.get_by_role("button", name="Pause").click()
        session.page.get_by_text("paused").wait_for()
        assert not second.get_by_text("paused").is_visible()
        second.get_by_role("button", name="Pause").click()
        second.get_by_text("paused").wait_for()
        session.page.get_by_role("button", name="Live").click()
        session.page.get_by_text("● live").wait_for()
        assert second.get_by_text("paused").is_visible()


class TestAPausedPage:
    def test_stays_where_it_is_while_the_history_of_the_world_moves_on(self, session):
        clock = FakeClock(seconds(10.0))
        with World("yard", history=seconds(5), clock=clock) as world:

            def run(start_s: int, end_s: int) -> None:
                for t in range(start_s, end_s):
                    clock.ns = seconds(t)
                    world.set_pose(of="base", in_frame="map", transform=moved(float(t)), at=seconds(t))

            run(5, 11)
            with world.view(quiet=True) as viewer, session.page.context.browser.new_page(viewport=SIZE) as page:
                page.set_default_timeout(1e3 * PATIENCE_S)
                page.goto(viewer.url)
                page.locator("[data-frame='base']").click()
                page.get_by_text("10.000  0.000  0.000").wait_for()
                page.get_by_role("button", name="Pause").click()
                page.get_by_text("paused").wait_for()
                run(11, 40)
                page.get_by_text("29.00 s ago").wait_for()
                assert page.get_by_text("10.000  0.000  0.000").is_visible()
