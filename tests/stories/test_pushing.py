"""Pushing a kitchen shut (thesis 4.2.3, 4.2.4): everything closes, and what moves is touched while it moves."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import coal
import numpy as np
import pytest
from rich.console import Console

from armillary import errors
from armillary.demos.push.report import close_all, run_push
from armillary.demos.push.screen import screen
from armillary.demos.push.setting import DT_S, ROBOTS, Setting
from armillary.demos.push.simulation import close
from armillary.demos.push.tidying import tidy
from armillary.motion.pushing import Handle, Push, Tool

PEER_MOST_STEPS = {"omni": 500, "differential": 500, "two-armed": 239}
"""Of the thesis' code for a Fetch on either base and a PR2."""


@pytest.fixture(scope="module", params=ROBOTS)
def pushed(request):
    """A robot, its setting, and what it did with each of the twelve handles."""
    setting = Setting(ROBOTS[request.param])
    return request.param, setting, close_all(setting)


def gap_by_coal(setting: Setting, handle: str, configuration: dict[str, float]) -> float:
    """The distance between the ball and the cylinder themselves, by another library."""
    rod = Handle.of(setting.model, handle)
    map_T_rod = setting.model.pose(handle).evaluate(configuration) @ rod.link_T_rod
    map_T_ball = setting.model.pose(setting.tool.link).evaluate(configuration)
    request, answer = coal.DistanceRequest(), coal.DistanceResult()
    shapes = coal.Sphere(setting.tool.radius_m), coal.Cylinder(rod.radius_m, rod.length_m)
    poses = [coal.Transform3s(np.array(t.rotation.matrix), np.array(t.translation)) for t in (map_T_ball, map_T_rod)]
    return coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, answer)


class TestARobotInFrontOfAKitchen:
    def test_closes_all_twelve(self, pushed):
        _, _, runs = pushed
        assert [run.handle for run in runs if not run.is_closed] == []
        assert len(runs) == 12

    def test_touches_whatever_it_moves_to_half_a_centimetre(self, pushed):
        _, _, runs = pushed
        assert max(run.worst_gap_m for run in runs) < 0.005

    def test_touches_it_by_the_measure_of_another_library(self, pushed):
        _, setting, runs = pushed
        for run in runs:
            joint = setting.joint(run.handle).name
            for before, after in pairwise(run.passed):
                if abs(after[joint] - before[joint]) > 1e-9:
                    gaps = [gap_by_coal(setting, run.handle, values) for values in (before, after)]
                    assert max(map(abs, gaps)) < 0.005

    def test_needs_no_more_steps_than_the_peer(self, pushed):
        name, _, runs = pushed
        assert max(run.steps for run in runs) <= PEER_MOST_STEPS[name]

    def test_keeps_every_limit_on_the_way(self, pushed):
        _, setting, runs = pushed
        model, names = setting.model, [control.name for control in setting.controls]
        joints = [name for name in names if not name.startswith("robot/drive")]
        for before, after in pairwise(runs[0].passed):
            speeds = {f"{name}'": (after[name] - before[name]) / DT_S for name in joints}
            assert not model.violations({**after, **speeds}, tolerance=1e-6)

    def test_moves_nothing_else(self, pushed):
        _, setting, runs = pushed
        for run in runs:
            first, last = run.passed[0], run.passed[-1]
            moved = {name for name in first if name.startswith("kitchen/") and first[name] != last[name]}
            assert moved == {setting.joint(run.handle).name}


class TestAPush:
    def test_of_what_is_shut_has_nothing_to_do(self):
        setting = Setting(ROBOTS["omni"])
        handle = setting.handles[0]
        push = setting.push(handle, setting.start)
        assert push.step(setting.start).phase == "done"
        assert close(setting, handle, setting.start).steps == 0

    def test_is_refused_where_it_makes_no_sense(self):
        setting = Setting(ROBOTS["omni"])
        with pytest.raises(errors.InvalidArgument, match="one cylinder to collide with"):
            Handle.of(setting.model, "kitchen/links/island_worktop")
        with pytest.raises(errors.InvalidArgument, match="one sphere to collide with"):
            Tool.of(setting.model, "robot/links/torso_lift")
        with pytest.raises(errors.InvalidArgument, match="does not move the handle"):
            Push(
                setting.model,
                controls=setting.controls,
                dt_s=DT_S,
                tool=setting.tool,
                handle=Handle.of(setting.model, setting.handles[0]),
                joint="kitchen/oven_door_joint",
                target=0.0,
                start=setting.start,
            )


class TestAKitchenThatIsKeptInOrder:
    @pytest.mark.parametrize("robot", ROBOTS)
    def test_is_shut_in_spite_of_noise(self, robot):
        found = tidy(Setting(ROBOTS[robot]), alpha=0.01, seed=1, most=4)
        assert len(found.opened) == 4
        assert found.closed == found.opened

    def test_is_shut_without_noise(self):
        found = tidy(Setting(ROBOTS["omni"]), alpha=0.0, seed=2, most=4)
        assert found.closed == found.opened

    def test_is_reported_step_by_step(self):
        moments = []
        found = tidy(Setting(ROBOTS["omni"]), most=1, show=moments.append)
        assert len(moments) == found.steps
        doing = [moment.doing for moment in moments]
        assert {"looking", found.opened[0]} <= set(doing)
        assert moments[-1].time_s == pytest.approx(found.steps * DT_S)
        assert all(math.isfinite(value) for value in moments[-1].estimate.values())


class TestTheDemonstration:
    def test_prints_what_was_promised(self, tmp_path, monkeypatch):
        monkeypatch.setattr("armillary.demos.push.report.ROBOTS", {"two-armed": ROBOTS["two-armed"]})
        report = run_push(2.0, tmp_path, live=False)
        robots = json.loads(report.json())["robots"]
        assert set(robots) == {"two-armed"}
        for figures in robots.values():
            assert (figures["closed"], figures["of"]) == (12, 12)
            assert 0.0 < figures["worst_gap_mm"] < 5.0
            assert figures["cpu_ms_per_step"] > 0.0
        assert (tmp_path / "push.svg").exists()
        assert "12 of 12" in report.text()

    def test_has_a_screen_for_80_columns(self):
        setting, moments = Setting(ROBOTS["omni"]), []
        tidy(setting, most=1, show=moments.append, max_steps=3)
        console = Console(width=80, record=True)
        with console.capture() as captured:
            console.print(screen(moments[-1], [setting.joint(handle).name for handle in setting.handles], "page"))
        lines = captured.get().splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 24
        assert any("oven door" in line for line in lines)
