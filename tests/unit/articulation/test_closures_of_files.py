"""Loops of files: the robot is loaded with them closed, and some joints follow."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.articulation import ArticulationModel, CloseLoop, position
from unit.formats.kit import robot_file

CLOSE = 1e-9
CASSIE = ["cassie.sdf", "cassie_reduced.sdf", "cassie_simple.sdf", "cassie_v2.sdf", "cassie_wo_gearbox_spring.sdf"]


def loaded(name: str) -> ArticulationModel:
    model = ArticulationModel()
    model.load_sdf(robot_file(name))
    return model


@pytest.mark.parametrize("name", CASSIE)
class TestCassie:
    def test_is_loaded_with_its_loops(self, name):
        model = loaded(name)
        assert len(model.closures()) == (6 if name == "cassie.sdf" else 4)
        assert model.loops.dependents

    def test_stays_closed_where_its_drivers_move(self, name):
        model = loaded(name)
        drivers = {v for one in model.closures().values() for v in one.drivers} - model.loops.dependents
        draw = np.random.default_rng(4)
        for _ in range(5):
            # The right crank of the file is a hair's breadth from a dead centre, on the other side of zero.
            solved = model.solve({v: float(draw.uniform(0.0, 0.02)) for v in sorted(drivers, key=str)})
            gaps = [np.abs(one.residual.evaluate(solved)).max() for one in model.closures().values()]
            assert max(gaps) < CLOSE


class TestAMountedCassie:
    def test_moves_its_rods_with_its_knees(self):
        model, world = loaded("cassie_wo_gearbox_spring.sdf"), World()
        mount = world.mount(model, in_frame="map", shapes="none", prefix="")
        free = set(mount.joints.values()) - mount.dependents
        for t in (0.0, 1.0):
            world.set_joints({name: 0.05 * t if "knee" in name else 0.0 for name in free}, at=seconds(t))
        parts = [
            world.joint(f"left-pitch-rod-joint/{part}", at=seconds(0.5)).value for part in ("qw", "qx", "qy", "qz")
        ]
        assert np.linalg.norm(parts) == pytest.approx(1.0)
        assert parts[0] < 0.9999

    def test_is_the_same_when_it_is_saved_and_loaded(self):
        model = loaded("cassie_wo_gearbox_spring.sdf")
        assert ArticulationModel.from_bytes(model.to_bytes()).digest() == model.digest()


class TestARodBetweenTwoBalls:
    TEXT = """<sdf version="1.9"><model name="m"><link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>
    <link name="rod"><pose>1 0 0 0 0 0</pose></link>
    <joint name="turn" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
    <joint name="foot" type="ball"><parent>a</parent><child>rod</child></joint>
    <joint name="slide" type="prismatic"><parent>b</parent><child>head</child><axis><xyz>1 0 0</xyz></axis></joint>
    <link name="head"><pose>1 0 1 0 0 0</pose></link>
    <joint name="top" type="ball"><parent>rod</parent><child>head</child></joint></model></sdf>"""

    def test_does_not_turn_about_itself(self):
        model = ArticulationModel()
        model.load_sdf(self.TEXT)
        operation = model.operation("close m/loops/top")
        assert isinstance(operation, CloseLoop)
        assert operation.held == ("m/foot/qz",)
        solved = model.solve({position("m/slide"): 0.1})
        assert solved[position("m/foot/qz")] == pytest.approx(0.0)
