"""MuJoCo beside a model of the same file: one configuration, and where both have each body, site and Jacobian."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

from armillary.articulation import ArticulationModel, position
from armillary.formats import RobotDescription, read_mjcf

WIDTHS = {int(mujoco.mjtJoint.mjJNT_FREE): 7, int(mujoco.mjtJoint.mjJNT_BALL): 4}


def mjcf_files(package: str) -> list[Path]:
    """The MJCF files that a package of PyPI brings."""
    (folder,) = find_spec(package).submodule_search_locations
    found = Path(folder).rglob("*.xml")
    return sorted(path for path in found if "<mujoco" in path.read_text(errors="replace"))


def peer_of(path_or_text: str | Path) -> mujoco.MjModel:
    if isinstance(path_or_text, Path):
        return mujoco.MjModel.from_xml_path(str(path_or_text))
    return mujoco.MjModel.from_xml_string(path_or_text)


class MujocoPair:
    """A file read by both, at one random configuration that joints which follow others agree with."""

    def __init__(self, path_or_text: str | Path, seed: int = 1) -> None:
        self.robot: RobotDescription = read_mjcf(path_or_text)
        self.peer = peer_of(path_or_text)
        self.data = mujoco.MjData(self.peer)
        self.model = ArticulationModel()
        self.model.add_robot(self.robot, name="robot")
        self._random = np.random.default_rng(seed)
        self.positions = self._drawn()
        for k in range(self.peer.njnt):
            at, value = self.peer.jnt_qposadr[k], self.positions[self._joint(k)]
            self.data.qpos[at : at + len(value)] = value
        mujoco.mj_kinematics(self.peer, self.data)
        mujoco.mj_comPos(self.peer, self.data)

    def _body(self, k: int) -> str:
        return self.peer.body(k).name or f"body{k}"

    def _joint(self, k: int) -> str:
        body = self.peer.jnt_bodyid[k]
        number = k - self.peer.body_jntadr[body]
        return self.peer.joint(k).name or f"{self._body(body)}_joint{number or ''}"

    def _drawn(self) -> dict[str, np.ndarray]:
        found = {}
        for k in range(self.peer.njnt):
            width = WIDTHS.get(int(self.peer.jnt_type[k]), 1)
            drawn = self._random.uniform(-1.0, 1.0, width)
            if width > 1:
                drawn[-4:] /= np.linalg.norm(drawn[-4:])
            at, name = self.peer.jnt_qposadr[k], self._joint(k)
            is_held = self.robot.joint_by_name[name].kind == "fixed"
            found[name] = self.peer.qpos0[at : at + width].copy() if is_held else drawn
        for _ in self.robot.joints:
            for joint in self.robot.joints:
                if joint.mimic is not None:
                    leader = found[joint.mimic.joint]
                    found[joint.name] = joint.mimic.multiplier * leader + joint.mimic.offset
        return found

    @property
    def values(self):
        """By variable, its value here; bodies that a motion capture moves are where the file has them."""
        found = {}
        for name, joint in self.model.joints().items():
            short = name.removeprefix("robot/joints/")
            if self.robot.joint_by_name.get(short) is None or self.robot.joint_by_name[short].mimic is not None:
                continue
            value = self.positions.get(short, np.array(self.robot.joint_by_name[short].initial))
            found.update(zip(joint.variables, map(float, value), strict=False))
        return found

    def differences(self) -> float:
        """The largest difference of a pose of a body or a site."""
        worst, values = 0.0, self.values
        for name, there in self._poses():
            here = self.model.pose(f"robot/links/{name}").evaluate(values)
            worst = max(worst, float(np.abs(here.matrix - there).max()))
        return worst

    def _poses(self):
        for k in range(1, self.peer.nbody):
            yield self._body(k), matrix(self.data.xpos[k], self.data.xmat[k])
        for k in range(self.peer.nsite):
            name = self.peer.site(k).name
            if name:
                shown = next(one for one in (f"{name}_site", name) if self._is_site(one))
                yield shown, matrix(self.data.site_xpos[k], self.data.site_xmat[k])

    def _is_site(self, link: str) -> bool:
        bodies = {self._body(k) for k in range(self.peer.nbody)}
        return link in self.robot.link_by_name and link not in bodies

    def jacobian_differences(self) -> float:
        """The largest difference of a Jacobian of a body along the hinges and slides that nothing leads."""
        leading = {joint.mimic.joint for joint in self.robot.joints if joint.mimic is not None}
        columns = {
            self.peer.jnt_dofadr[k]: position(f"robot/{self._joint(k)}")
            for k in range(self.peer.njnt)
            if int(self.peer.jnt_type[k]) not in WIDTHS
            and self._joint(k) not in leading
            and self.robot.joint_by_name[self._joint(k)].mimic is None
            and self.robot.joint_by_name[self._joint(k)].kind != "fixed"
        }
        worst, values = 0.0, self.values
        for k in range(1, self.peer.nbody):
            there = np.zeros((6, self.peer.nv))
            mujoco.mj_jacBody(self.peer, self.data, there[:3], there[3:], k)
            turned = self.data.xmat[k].reshape(3, 3).T
            expected = np.vstack([turned @ there[:3], turned @ there[3:]])[:, list(columns)]
            if expected.any():
                here = self.model.pose(f"robot/links/{self._body(k)}").body_jacobian(list(columns.values()))
                worst = max(worst, float(np.abs(here.evaluate(values) - expected).max()))
        return worst


def matrix(xyz: np.ndarray, turned: np.ndarray) -> np.ndarray:
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turned.reshape(3, 3), xyz
    return whole
