"""A chain of 26 links that turn, as expressions and as a model of pinocchio."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armillary import Transform

LINKS = 26


@dataclass(frozen=True, slots=True)
class Chain:
    """The same robot here and there."""

    joints: list
    mountings: list[Transform]
    model: Any
    data: Any
    pinocchio: Any

    def links(self) -> list:
        from armillary.articulation import PoseExpression, rotation_about

        map_T_link, links = PoseExpression.identity(), []
        for i, (joint, mounting) in enumerate(zip(self.joints, self.mountings, strict=True)):
            map_T_link = map_T_link @ (PoseExpression.from_transform(mounting) @ rotation_about(_axis(i), joint))
            links.append(map_T_link)
        return links

    def poses(self) -> Any:
        """Of all links, one below the other."""
        from armillary.articulation import stack

        return stack(self.links())

    def jacobian(self) -> Any:
        """Of the last link, seen from itself."""
        return self.links()[-1].body_jacobian(self.joints)

    def last(self) -> Any:
        """The pose of the last link."""
        return self.links()[-1]

    def pinocchio_poses(self) -> Callable[[np.ndarray], None]:
        forward, model, data = self.pinocchio.forwardKinematics, self.model, self.data
        return lambda row: forward(model, data, row)

    def pinocchio_kept_poses(self) -> Callable[[np.ndarray], np.ndarray]:
        """As arrays of the caller's own: pinocchio's data is overwritten by the next configuration."""
        forward, data = self.pinocchio_poses(), self.data

        def kept(row: np.ndarray) -> np.ndarray:
            forward(row)
            return np.array([pose.homogeneous for pose in list(data.oMi)[1:]])

        return kept

    def pinocchio_last(self) -> Callable[[np.ndarray], np.ndarray]:
        forward, model, data = self.pinocchio.forwardKinematics, self.model, self.data

        def last(row: np.ndarray) -> np.ndarray:
            forward(model, data, row)
            return data.oMi[LINKS].homogeneous

        return last

    def questions(self, values: np.ndarray) -> Iterator[tuple[str, Any, Callable[[], object]]]:
        poses, model, data = self.pinocchio_poses(), self.model, self.data
        jacobian = self.pinocchio.computeJointJacobian
        yield "all poses", self.poses(), lambda: poses(values)
        yield "Jacobian of the last", self.jacobian(), lambda: jacobian(model, data, values, LINKS)

    def compared(self, values: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        poses, jacobian = (each.compile(order=self.joints)(values) for each in (self.poses(), self.jacobian()))
        theirs = self.pinocchio.computeJointJacobian(self.model, self.data, values, LINKS)
        self.pinocchio_poses()(values)
        yield "poses", poses.reshape(-1, 4, 4), np.array([pose.homogeneous for pose in list(self.data.oMi)[1:]])
        yield "Jacobian", jacobian, theirs

    def plain_call(self, expression: Any, values: np.ndarray) -> Callable[[], object]:
        """What one writes first with casadi."""
        function = _function(expression, self.joints)
        return lambda: function(values).full()

    def buffer_call(self, expression: Any, values: np.ndarray) -> Callable[[], object]:
        """Its fastest way in from Python, into memory that is ready."""
        function = _function(expression, self.joints)
        buffer, call = function.buffer()
        out = np.empty(function.nnz_out(0))
        buffer.set_arg(0, memoryview(values))
        buffer.set_res(0, memoryview(out))
        return lambda kept=(buffer, values, out): call()  # noqa: ARG005  (casadi does not keep them alive)


def chain(*, turned: bool) -> Chain | None:
    """With mountings that are turned arbitrarily, or only shifted; None where the peers are not installed."""
    try:
        import pinocchio

        from armillary.articulation import position
    except ImportError:
        return None
    chance = np.random.default_rng(5)
    mountings = [
        Transform.from_xyz_rpy(xyz=chance.uniform(-1.0, 1.0, 3), rpy=turned * chance.uniform(-3.0, 3.0, 3))
        for _ in range(LINKS)
    ]
    model = _model(pinocchio, mountings)
    joints = [position(f"joint_{i}") for i in range(LINKS)]
    return Chain(joints, mountings, model, model.createData(), pinocchio)


def _model(pinocchio: Any, mountings: list[Transform]) -> Any:
    model, parent = pinocchio.Model(), 0
    kinds = (pinocchio.JointModelRX, pinocchio.JointModelRY, pinocchio.JointModelRZ)
    for i, mounting in enumerate(mountings):
        placement = pinocchio.SE3(np.array(mounting.matrix))
        parent = model.addJoint(parent, kinds[i % 3](), placement, f"joint_{i}")
    return model


def _axis(i: int) -> tuple[int, ...]:
    return tuple(int(i % 3 == axis) for axis in range(3))


def _function(expression: Any, joints: list) -> Any:
    """The same calculation for casadi's own machine, rebuilt from the tape."""
    import casadi

    from armillary.articulation.expressions._tapes import sx_of_tape

    inputs = casadi.SX.sym("q", len(joints))
    outputs = sx_of_tape(expression.tape(joints), casadi.vertsplit(inputs))
    return casadi.Function("f", [inputs], [casadi.vertcat(*outputs)])
