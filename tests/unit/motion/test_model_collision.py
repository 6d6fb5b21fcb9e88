"""Distances between links of a model: their gradients against differences, which pairs count, and getting apart."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("casadi")
pytest.importorskip("coal")
pytest.importorskip("daqp")

from armillary import Transform
from armillary.articulation import (
    ArticulationModel,
    BallJoint,
    DifferentialDrive,
    FloatingJoint,
    Limits,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
)
from armillary.articulation.mechanisms import four_bar
from armillary.demos.models import mobile_manipulator
from armillary.errors import InvalidArgument, NotFinite, UnknownPath
from armillary.formats import BoxForm, ShapeDescription, SphereForm
from armillary.motion import Controller, ModelCollision
from randomness import rng, scaled

STEP_S = 1e-5
WALL = "scene/links/wall"


def ball(radius_m=0.1):
    return [
        ShapeDescription(form=SphereForm(radius_m=radius_m), link_T_shape=Transform.from_translation((0.3, 0.1, 0)))
    ]


def with_joint(joint):
    """A wall, and a ball that moves by a joint: its distance has a derivative everywhere."""
    model = ArticulationModel()
    wall = [ShapeDescription(form=SphereForm(radius_m=0.2), link_T_shape=Transform.from_translation((1.0, 0.5, 0.4)))]
    model.add("scene/links/root")
    model.add(WALL, None, "scene/links/root", collisions=wall)
    model.add("scene/links/part", joint, "scene/links/root", collisions=ball())
    return model


def planar_arm():
    """Two arms of two balls each; they start in each other."""
    model = ArticulationModel()
    model.add("arms/links/base")
    for name, y in (("left", 0.0), ("right", 0.3)):
        at = Transform.from_translation((0.0, y, 0.0))
        slide = PrismaticJoint(
            variable=f"arms/{name}", axis=(0, 1, 0), parent_T_joint=at, limits=Limits(lower=-1, upper=1, velocity=0.5)
        )
        form = ShapeDescription(form=SphereForm(radius_m=0.25))
        model.add(f"arms/links/{name}", slide, "arms/links/base", collisions=[form])
    return model


def differences(model, collision, configuration, pair):
    """The rate of the distance along each control, by central differences of the integrator."""
    rates = []
    for control in collision.controls:
        ends = []
        for sign in (1.0, -1.0):
            collision.update(model.integrate(configuration, {control: sign}, dt_s=STEP_S))
            ends.append(collision.distance(*pair).distance_m)
        rates.append((ends[0] - ends[1]) / (2.0 * STEP_S))
    collision.update(configuration)
    return np.array(rates)


JOINTS = [
    RevoluteJoint(variable="scene/q", axis=(0.3, -0.5, 0.8)),
    PrismaticJoint(variable="scene/q", axis=(0.3, -0.5, 0.8), multiplier=2.0, offset=0.1),
    ScrewJoint(variable="scene/q", axis=(0, 0, 1), pitch_m=0.3),
    BallJoint(variable="scene/q"),
    FloatingJoint(variable="scene/q"),
    DifferentialDrive(variable="scene/q", wheel_radius_m=0.1, wheel_distance_m=0.4),
]


class TestGradients:
    @pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
    def test_of_each_joint_are_the_differences(self, joint):
        model, random = with_joint(joint), rng(41)
        collision = ModelCollision(model)
        pair = (WALL, "scene/links/part")
        for _ in range(scaled(5, 50)):
            configuration = {name: float(random.uniform(-0.5, 0.5)) for name in _names(model)}
            if isinstance(joint, BallJoint | FloatingJoint):
                parts = [f"scene/q/{part}" for part in ("qw", "qx", "qy", "qz")]
                length = np.linalg.norm([configuration[part] for part in parts])
                configuration |= {part: configuration[part] / length for part in parts}
            collision.update(configuration)
            found = collision.gradient(collision.distance(*pair))
            assert found == pytest.approx(differences(model, collision, configuration, pair), abs=1e-5)

    def test_of_links_of_a_robot_are_the_differences(self):
        model, random = ArticulationModel(), rng(42)
        model.add_robot(mobile_manipulator())
        collision = ModelCollision(model)
        compared = 0
        for _ in range(scaled(2, 30)):
            configuration = {name: float(random.uniform(-0.5, 0.5)) for name in _names(model)}
            collision.update(configuration)
            for one in collision.distances()[10:60:10]:
                found = collision.gradient(one)
                numeric = differences(model, collision, configuration, (one.a, one.b))
                halved = _with_half_the_step(model, collision, configuration, (one.a, one.b))
                if abs(numeric - halved).max() > 1e-5:  # an edge or a corner: there is no derivative
                    continue
                assert found == pytest.approx(numeric, abs=1e-4)
                compared += 1
        assert compared >= 6

    def test_of_a_closed_loop_follow_its_driver(self):
        model = ArticulationModel()
        model.edit(four_bar("bars"))
        moving = [path for path in model.links() if model.pose(path).gradient() and model.links()[path].collisions]
        fixed = {"bars/links/target": ball(0.05)}
        for path, shapes in fixed.items():
            at = RevoluteJoint(variable="bars/unused", parent_T_joint=Transform.from_translation((1.5, 1.0, 1.0)))
            model.add(path, at, None, collisions=shapes)
        if not moving:
            pytest.fail("the bars have no collision shapes any more")
        drivers = [v for v in model.variables() if v not in model.loops.dependents]
        solved = model.solve(dict.fromkeys(drivers, 0.4))
        configuration = {v.name: x for v, x in solved.items()}
        collision = ModelCollision(model)
        collision.update(configuration)
        pair = (moving[-1], "bars/links/target")
        found = collision.gradient(collision.distance(*pair))
        assert found == pytest.approx(differences(model, collision, configuration, pair), abs=1e-4)


class TestWhichPairs:
    def test_leave_out_neighbours_and_what_is_rigid(self):
        model = with_joint(JOINTS[0])
        model.add("scene/links/tip", None, "scene/links/part", collisions=ball())
        model.add("scene/links/hand", PrismaticJoint(variable="scene/p"), "scene/links/tip", collisions=ball())
        collision = ModelCollision(model)
        assert collision.world.ignored == {
            frozenset(("scene/links/part", "scene/links/tip")),
            frozenset(("scene/links/part", "scene/links/hand")),
            frozenset(("scene/links/tip", "scene/links/hand")),
        }

    def test_leave_out_those_of_an_srdf(self, tmp_path):
        model = ArticulationModel()
        model.add_robot(mobile_manipulator())
        collision = ModelCollision(model)
        pair = frozenset(("mobile_manipulator/links/torso_lift", "mobile_manipulator/links/bellows"))
        text = (
            '<robot name="r"><!-- <disable_collisions link1="base_link" link2="wrist_roll"/> -->'
            '<disable_collisions link1="torso_lift" link2="bellows" reason="Adjacent"/>'
            "<disable_collisions link2='nowhere' link1='bellows'/></robot>"
        )
        assert pair not in collision.world.ignored
        assert collision.ignore_srdf(text) == 1
        assert pair in collision.world.ignored
        path = tmp_path / "r.srdf"
        path.write_text(text)
        assert ModelCollision(model).ignore_srdf(path) == 1

    def test_leave_out_what_always_overlaps_once_that_is_learned(self):
        model = planar_arm()
        cap = RevoluteJoint(variable="arms/cap")
        model.add("arms/links/cap", cap, "arms/links/left", collisions=ball(0.5))
        model.add("arms/links/lid", RevoluteJoint(variable="arms/lid"), "arms/links/cap", collisions=ball(0.5))
        collision = ModelCollision(model)
        before = collision.world.ignored
        assert collision.learn_ignored(50) == [("arms/links/left", "arms/links/lid")]
        assert len(collision.world.ignored) == len(before) + 1

    def test_of_a_subworld_are_those_that_its_variables_change(self):
        model = ArticulationModel()
        model.add_robot(mobile_manipulator())
        collision = ModelCollision(model)
        configuration = dict.fromkeys(_names(model), 0.1)
        collision.update(configuration)
        part = collision.subworld(["mobile_manipulator/head_pan_joint"])
        moved = set(model.affected_by(["mobile_manipulator/head_pan_joint"]).links)
        found = {(one.a, one.b): one.distance_m for one in part.distances()}
        every = {(one.a, one.b): one.distance_m for one in collision.distances()}
        assert found == pytest.approx({pair: every[pair] for pair in every if len(moved & set(pair)) == 1})
        with pytest.raises(InvalidArgument, match="changes no distance"):
            collision.subworld(["mobile_manipulator/nothing"])


class TestARobotInCollision:
    def test_gets_out(self):
        model = planar_arm()
        collision = ModelCollision(model)
        start = {"arms/left": 0.0, "arms/right": 0.0}
        collision.update(start)
        assert collision.distances()[0].distance_m == pytest.approx(-0.2)
        controller = Controller(model, controls=collision.controls, dt_s=0.05)
        controller.add(collision.avoid(at_least_m=0.05))
        collision.update(controller.run(start, max_steps=100))
        assert collision.distances()[0].distance_m >= 0.05 - 1e-3

    def test_keeps_a_distance_that_is_asked(self):
        model = planar_arm()
        collision = ModelCollision(model)
        controller = Controller(model, controls=collision.controls, dt_s=0.05)
        controller.add(collision.keep("arms/links/left", "arms/links/right", 0.4))
        end = controller.run({"arms/left": 0.0, "arms/right": 0.5}, max_steps=200)
        collision.update(end)
        assert collision.distance("arms/links/left", "arms/links/right").distance_m == pytest.approx(0.4, abs=1e-3)


class TestASentence:
    def test_for_a_model_without_shapes(self):
        model = ArticulationModel()
        model.add("a/links/b", RevoluteJoint(variable="a/q"))
        with pytest.raises(InvalidArgument, match="collision shape"):
            ModelCollision(model)

    def test_for_an_unknown_link(self):
        with pytest.raises(UnknownPath):
            ModelCollision(planar_arm(), links=["arms/links/middle"])

    def test_for_a_configuration_that_is_not_finite(self):
        collision = ModelCollision(planar_arm())
        with pytest.raises(NotFinite):
            collision.update({"arms/left": np.nan, "arms/right": 0.0})

    def test_for_a_box_is_the_distance_of_a_box(self):
        model = ArticulationModel()
        box = [ShapeDescription(form=BoxForm(size_m=(1.0, 1.0, 1.0)))]
        model.add("a/links/box", collisions=box)
        model.add("a/links/other", PrismaticJoint(variable="a/q", axis=(1, 0, 0)), collisions=box)
        collision = ModelCollision(model)
        collision.update({"a/q": 3.0})
        assert collision.distance("a/links/box", "a/links/other").distance_m == pytest.approx(2.0)
        assert [hit.body for hit in collision.raycast(origin=(-2, 0, 0), direction=(1, 0, 0))] == [
            "a/links/box",
            "a/links/other",
        ]


def _names(model):
    return [variable.name for variable in model.variables()]


def _with_half_the_step(model, collision, configuration, pair):
    rates = []
    for control in collision.controls:
        ends = []
        for sign in (0.5, -0.5):
            collision.update(model.integrate(configuration, {control: sign}, dt_s=STEP_S))
            ends.append(collision.distance(*pair).distance_m)
        rates.append((ends[0] - ends[1]) / STEP_S)
    collision.update(configuration)
    return np.array(rates)
