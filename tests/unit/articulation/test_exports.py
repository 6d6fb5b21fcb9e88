"""Models and expressions in the forms of others: URDF, pinocchio, casadi, C; and in other processes."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import casadi
import numpy as np
import pinocchio
import pytest

from armillary import Transform, errors
from armillary.articulation import (
    ArticulationModel,
    BallJoint,
    Constraint,
    ContinuousJoint,
    CylindricalJoint,
    DifferentialDrive,
    FloatingJoint,
    OmniBase,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    SetValue,
    UniversalJoint,
    position,
    stack,
)
from armillary.articulation.mechanisms import four_bar
from armillary.formats import read_urdf, write_urdf
from unit.articulation.model_kit import DOOR_URDF, door
from unit.formats.kit import robot_file

CLOSE = 1e-9
ROBOTS = ["panda.urdf", "baxter.urdf", "kinova.urdf", "romeo.urdf", "talos_full_v2.urdf", "icub.urdf", "pr2.urdf"]
each_robot = pytest.mark.parametrize("name", ROBOTS)


def loaded(name: str) -> ArticulationModel:
    model = ArticulationModel()
    model.load_urdf(robot_file(name), name="robot")
    return model


def drawn(model: ArticulationModel, seed: int = 1) -> dict:
    draw = np.random.default_rng(seed)
    return {variable: float(draw.uniform(-1.5, 1.5)) for variable in model.variables()}


class Peer:
    """A model as pinocchio has it, at a configuration of ours."""

    def __init__(self, model: ArticulationModel, values: dict) -> None:
        self.peer = model.to_pinocchio()
        self.data, self.columns = self.peer.createData(), {}
        q = pinocchio.neutral(self.peer)
        for variable, value in values.items():
            joint = self.peer.joints[self.peer.getJointId(variable.name.removeprefix("robot/"))]
            q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            self.columns[variable] = joint.idx_v
        pinocchio.computeJointJacobians(self.peer, self.data, q)
        pinocchio.framesForwardKinematics(self.peer, self.data, q)

    def frame(self, path: str) -> int:
        return self.peer.getFrameId(path.removeprefix("robot/links/"), pinocchio.FrameType.BODY)

    def pose(self, path: str) -> np.ndarray:
        return self.data.oMf[self.frame(path)].homogeneous

    def jacobian(self, path: str) -> np.ndarray:
        whole = pinocchio.getFrameJacobian(self.peer, self.data, self.frame(path), pinocchio.LOCAL)
        return whole[:, list(self.columns.values())]


class TestAModelAsUrdf:
    @each_robot
    def test_is_the_same_robot(self, name):
        model, again = loaded(name), ArticulationModel()
        again.load_urdf(model.to_urdf(), name="robot")
        assert again.variables() == model.variables()
        values = drawn(model)
        here, there = (stack([m.pose(path) for path in m.links()]).evaluate(values) for m in (model, again))
        np.testing.assert_allclose(there, here, atol=CLOSE)
        for path, joint in model.joints().items():
            assert getattr(again.value(path), "limits", None) == getattr(joint, "limits", None)

    def test_is_the_description_it_was_made_of(self):
        robot = read_urdf(DOOR_URDF)
        assert door().description() == robot
        assert door("house/door").description().joints == robot.joints

    def test_goes_into_a_file(self, tmp_path):
        text = door().to_urdf(tmp_path / "door.urdf")
        assert read_urdf(tmp_path / "door.urdf") == read_urdf(text)

    def test_of_links_that_were_added_is_what_they_are(self):
        model = ArticulationModel()
        model.add("cart/links/body", OmniBase(variable="cart/base"))
        model.add("cart/links/mast", parent="cart/links/body")
        robot = model.description()
        assert [(j.name, j.kind, j.parent, j.child) for j in robot.joints] == [
            ("body", "planar", "world", "body"),
            ("mast_fixed", "fixed", "body", "mast"),
        ]

    def test_names_what_urdf_cannot_express(self):
        model = door()
        model.edit(four_bar("bars"))
        model.apply(SetValue("door/lock", Constraint(0.0, 1.0, position("door/hinge"))), tag="lock")
        with pytest.raises(errors.CannotSayInUrdf, match="'door/lock' is neither a link nor a joint"):
            model.to_urdf(name="door")
        with pytest.raises(errors.CannotSayInUrdf, match="a kinematic loop is closed at"):
            model.to_urdf(name="bars")
        assert model.to_urdf(name="door", lossy=True) == door().to_urdf()

    def test_fixes_wheels_only_on_request(self):
        model = ArticulationModel()
        drive = DifferentialDrive(variable="cart/base", wheel_radius_m=0.1, wheel_distance_m=0.5)
        model.add("cart/links/body", drive)
        with pytest.raises(errors.CannotDescribe, match="'body' is of the kind 'differential_drive'"):
            model.description()
        assert read_urdf(model.to_urdf(lossy=True)).joint_by_name["body"].kind == "fixed"

    def test_needs_a_name_where_there_are_several_objects(self):
        model = door()
        model.load_urdf(DOOR_URDF, name="gate")
        with pytest.raises(errors.InvalidArgument, match="Give the name= of one"):
            model.to_urdf()
        with pytest.raises(errors.UnknownPath):
            model.to_urdf(name="dor")

    def test_is_what_write_urdf_names_for_a_model(self):
        with pytest.raises(errors.InvalidArgument, match=r"model\.to_urdf\(\)"):
            write_urdf(door())


class TestAModelAsPinocchioHasIt:
    @each_robot
    def test_has_its_poses_and_jacobians(self, name):
        model = loaded(name)
        values = drawn(model)
        peer = Peer(model, values)
        for path in model.links():
            np.testing.assert_allclose(model.pose(path).evaluate(values).matrix, peer.pose(path), atol=CLOSE)
        for path in list(model.links())[::5]:
            found = model.pose(path).body_jacobian(list(values)).evaluate(values)
            np.testing.assert_allclose(found, peer.jacobian(path), atol=CLOSE)

    @pytest.mark.parametrize("name", ["panda.urdf", "kinova.urdf", "solo12.urdf"])
    def test_has_the_inertias_and_limits_of_the_file(self, name):
        ours, theirs = loaded(name).to_pinocchio(), pinocchio.buildModelFromUrdf(str(robot_file(name)), mimic=True)
        q = pinocchio.neutral(theirs)
        masses = [pinocchio.computeTotalMass(peer) for peer in (ours, theirs)]
        centres = [pinocchio.centerOfMass(peer, peer.createData(), q) for peer in (ours, theirs)]
        assert masses[0] == pytest.approx(masses[1])
        np.testing.assert_allclose(centres[0], centres[1], atol=CLOSE)
        for joint in list(theirs.names)[1:]:
            here, there = (peer.joints[peer.getJointId(joint)] for peer in (ours, theirs))
            assert (here.nq, here.nv) == (there.nq, there.nv)
            if there.nq == 1:
                assert ours.lowerPositionLimit[here.idx_q] == theirs.lowerPositionLimit[there.idx_q]
                assert ours.effortLimit[here.idx_v] == theirs.effortLimit[there.idx_v]

    @pytest.mark.parametrize(
        ("joint", "q", "values"),
        [
            (ScrewJoint(variable="r/j", axis=(0, 1, 0), pitch_m=0.2), [0.7], [0.7]),
            (UniversalJoint(variable="r/j"), [0.3, -0.4], [0.3, -0.4]),
            (BallJoint(variable="r/j"), [0.5, 0.1, 0.1, 0.73**0.5], [0.73**0.5, 0.5, 0.1, 0.1]),
            (FloatingJoint(variable="r/j"), [1, 2, 3, 0.6, 0, 0, 0.8], [1, 2, 3, 0.8, 0.6, 0, 0]),
            (OmniBase(variable="r/j"), [1, 2, np.cos(0.3), np.sin(0.3)], [1, 2, 0.3]),
            (ContinuousJoint(variable="r/j", axis=(0, 0, -1)), [np.cos(2.0), np.sin(2.0)], [2.0]),
        ],
        ids=lambda value: getattr(value, "kind", ""),
    )
    def test_has_joints_of_every_kind(self, joint, q, values):
        model = ArticulationModel()
        model.add("r/links/base")
        model.add("r/links/tip", joint, parent="r/links/base")
        peer, given = model.to_pinocchio(), dict(zip(joint.variables, values, strict=True))
        data = peer.createData()
        pinocchio.framesForwardKinematics(peer, data, np.array(q, dtype=float))
        found = model.pose("r/links/tip").evaluate(given).matrix
        np.testing.assert_allclose(
            data.oMf[peer.getFrameId("tip", pinocchio.FrameType.BODY)].homogeneous, found, atol=CLOSE
        )

    def test_names_the_joint_that_it_cannot_have(self):
        model = ArticulationModel()
        model.add("r/links/base")
        model.add("r/links/tip", CylindricalJoint(variable="r/tip"), parent="r/links/base")
        with pytest.raises(errors.InvalidArgument, match="no joint like 'tip', which is of the kind 'cylindrical'"):
            model.to_pinocchio()


class TestAnExpressionAsCasadiHasIt:
    def test_has_its_values_and_its_derivative(self):
        model = loaded("panda.urdf")
        hand, order = model.pose("robot/links/panda_hand"), model.variables()
        function = hand.to_casadi(order, name="hand")
        q = np.random.default_rng(2).uniform(-1, 1, len(order))
        np.testing.assert_allclose(np.array(function(q)), hand.compile(order)(q), atol=1e-14)
        symbol = casadi.SX.sym("q", len(order))
        slope = casadi.Function("slope", [symbol], [casadi.jacobian(function(symbol)[:3, 3], symbol)])
        expected = hand.translation.jacobian(order).compile(order)(q)
        np.testing.assert_allclose(np.array(slope(q)), expected, atol=1e-12)

    def test_is_refused_with_what_is_missing(self):
        with pytest.raises(errors.NotGrounded, match="'a'"):
            (2.0 * position("a")).to_casadi([position("b")])
        with pytest.raises(errors.InvalidArgument, match="letters, digits"):
            (2.0 * position("a")).to_casadi(name="a b")


class TestAnExpressionAsC:
    def test_is_what_a_compiler_makes_of_it(self, tmp_path):
        model = loaded("panda.urdf")
        hand = model.pose("robot/links/panda_hand").compile()
        (tmp_path / "hand.c").write_text(hand.c_source())
        command = ["cc", "-O1", "-shared", "-fPIC", str(tmp_path / "hand.c"), "-o", str(tmp_path / "hand.so"), "-lm"]
        subprocess.run(command, check=True)
        q, out = np.linspace(-1.0, 1.0, len(hand.order)), np.empty((4, 4))
        pointer = ctypes.POINTER(ctypes.c_double)
        ctypes.CDLL(str(tmp_path / "hand.so")).armillary_tape(q.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
        np.testing.assert_allclose(out, hand(q), atol=1e-14)


def reach_of(model: ArticulationModel) -> list[float]:
    return model.pose("door/links/bolt").evaluate({"door/hinge": 0.3, "door/latch": 0.2}).translation.tolist()


def called(function, values):
    return function(values).tolist()


class TestOtherProcesses:
    def test_take_models_and_functions(self):
        model = door()
        function = model.pose("door/links/bolt").compile()
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
            assert other.submit(reach_of, model).result(60) == reach_of(model)
            assert other.submit(called, function, [0.3, 0.2]).result(60) == called(function, [0.3, 0.2])


class TestPickling:
    def test_keeps_the_operations_of_a_model(self):
        model = door()
        model.edit(four_bar("bars"))
        model.pose("bars/links/rocker")
        again = pickle.loads(pickle.dumps(model))
        assert (again.tags, again.digest()) == (model.tags, model.digest())
        again.remove(*again.tags_of("bars"))
        assert len(model.closures()) == 1
        with pytest.raises(errors.NothingToUndo):
            pickle.loads(pickle.dumps(model)).undo()

    def test_keeps_joints_without_what_was_built_of_them(self):
        joint = RevoluteJoint(variable="a", axis=(0, 0, 1), parent_T_joint=Transform.from_translation((1, 0, 0)))
        before = len(pickle.dumps(joint))
        assert joint.parent_T_child.free_variables
        assert len(pickle.dumps(joint)) == before
        assert pickle.loads(pickle.dumps(joint)) == joint

    @pytest.mark.parametrize("backend", ["vm", "c"])
    def test_keeps_what_a_function_calculates(self, backend):
        slide = PrismaticJoint(variable="a", axis=(1, 0, 0))
        function = slide.parent_T_child.compile(backend=backend).wait(60)
        again = pickle.loads(pickle.dumps(function)).wait(60)
        assert (again.order, again.shape, again.is_machine_code) == (function.order, (4, 4), backend == "c")
        np.testing.assert_array_equal(again([0.5]), function([0.5]))
