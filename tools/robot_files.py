"""Writes docs/robot_files_checked.md: every robot file of packages on PyPI, read, and compared with its peer.

.venv/bin/python tools/robot_files.py [--mjx FOLDER]   # FOLDER: where the wheel of mujoco-mjx was unpacked

URDF beside pinocchio, MJCF beside MuJoCo: the poses of all links, and their Jacobians, at random configurations.
SDFormat has no peer in Python: there the loops are closed at random drivers.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio

from armillary.articulation import ArticulationModel
from armillary.errors import ArmillaryError
from armillary.formats import read_mjcf

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from unit.formats.kit import robot_files  # noqa: E402
from unit.formats.mujoco_peer import MujocoPair, mjcf_files, peer_of  # noqa: E402

PAGE = ROOT / "docs/robot_files_checked.md"
SEEDS = (1, 2, 3)
LONGEST_REASON = 160


class Row(NamedTuple):
    """One file: its name in its package, and what came of it."""

    file: str
    size: str
    result: str


class UrdfPair:
    """A URDF in a model and in pinocchio, whose joints that follow others are moved by hand."""

    def __init__(self, path: Path) -> None:
        self.model, self.peer = ArticulationModel(), pinocchio.buildModelFromUrdf(str(path))
        self.model.load_urdf(path, name="robot")
        self.data = self.peer.createData()
        self.order = self.model.variables()

    def differences(self, seed: int) -> tuple[float, float]:
        """The largest difference of a pose and of a Jacobian."""
        draw = np.random.default_rng(seed)
        values = {variable: float(draw.uniform(-1.5, 1.5)) for variable in self.order}
        q, columns = self._configuration(values)
        if self.peer.nv:
            pinocchio.computeJointJacobians(self.peer, self.data, q)
        pinocchio.framesForwardKinematics(self.peer, self.data, q)
        worst = [0.0, 0.0]
        for path in self.model.links():
            pose = self.model.pose(path)
            frame = self.peer.getFrameId(path.removeprefix("robot/links/"), pinocchio.FrameType.BODY)
            there = self.data.oMf[frame].homogeneous
            worst[0] = max(worst[0], float(np.abs(pose.evaluate(values).matrix - there).max()))
            if self.order:
                whole = pinocchio.getFrameJacobian(self.peer, self.data, frame, pinocchio.LOCAL)
                here = pose.body_jacobian(self.order).evaluate(values)
                worst[1] = max(worst[1], float(np.abs(here - whole @ columns).max()))
        return worst[0], worst[1]

    def _configuration(self, values: dict) -> tuple[np.ndarray, np.ndarray]:
        """Return q, and by how much each of pinocchio's joints moves for each variable."""
        q, columns = pinocchio.neutral(self.peer), np.zeros((self.peer.nv, len(self.order)))
        for path, joint in self.model.joints().items():
            if not joint.variables:
                continue
            (variable,) = joint.variables
            theirs = self.peer.joints[self.peer.getJointId(path.removeprefix("robot/joints/"))]
            at = joint.position.evaluate(values)
            q[theirs.idx_q : theirs.idx_q + theirs.nq] = [at] if theirs.nq == 1 else [np.cos(at), np.sin(at)]
            columns[theirs.idx_v, self.order.index(variable)] = joint.multiplier
        return q, columns


def urdf_row(path: Path, name: str) -> Row:
    """Load a URDF and compare it."""
    try:
        pair = UrdfPair(path)
    except ArmillaryError as error:
        return Row(name, "", refused(error, path))
    except ValueError as error:
        model = ArticulationModel()
        try:
            model.load_urdf(path)
        except ArmillaryError as refusal:
            return Row(name, "", refused(refusal, path))
        return Row(name, size_of(model), f"loaded; pinocchio refuses it: {error}")
    worst = np.max([pair.differences(seed) for seed in SEEDS], axis=0)
    return Row(name, size_of(pair.model), compared(*worst))


def mjcf_row(path: Path, name: str) -> Row:
    """Load an MJCF file and compare it."""
    try:
        read_mjcf(path)
    except ArmillaryError as error:
        return Row(name, "", refused(error, path))
    try:
        peer_of(path)
    except ValueError as error:
        model = ArticulationModel()
        model.load_mjcf(path)
        why = str(error).strip().splitlines()[0].replace(f"{path.parent}/", "")
        return Row(name, size_of(model), f"loaded; MuJoCo refuses it: {why}")
    pairs = [MujocoPair(path, seed) for seed in SEEDS]
    worst = [max(pair.differences() for pair in pairs), max(pair.jacobian_differences() for pair in pairs)]
    return Row(name, size_of(pairs[0].model), compared(*worst))


def sdf_row(path: Path, name: str) -> Row:
    """Load an SDFormat file, and close its loops."""
    model = ArticulationModel()
    try:
        model.load_sdf(path)
    except ArmillaryError as error:
        return Row(name, "", refused(error, path))
    drivers = {v for one in model.closures().values() for v in one.drivers} - model.loops.dependents
    worst = 0.0
    for seed in SEEDS:
        draw = np.random.default_rng(seed)
        solved = model.solve({v: float(draw.uniform(0.0, 0.02)) for v in sorted(drivers, key=str)})
        worst = max([worst, *(np.abs(one.residual.evaluate(solved)).max() for one in model.closures().values())])
    return Row(name, size_of(model), f"loaded; {len(model.closures())} loops, open by {worst:.0e} at most")


def size_of(model: ArticulationModel) -> str:
    """Return how many links and variables it has."""
    return f"{len(model.links())} / {len(model.variables())}"


def compared(poses: float, jacobians: float) -> str:
    """Return the differences in words."""
    sound = max(poses, jacobians) < 1e-9
    return f"{'' if sound else '**differs**: '}poses {poses:.0e}, Jacobians {jacobians:.0e}"


def refused(error: ArmillaryError, path: Path) -> str:
    """Return the reason, without the folders of this machine."""
    text = str(error).replace(f"{path.parent}/", "").replace(str(path.parent), "its folder").replace("|", "\\|")
    reason = text.partition(" Nothing was read.")[0].removeprefix(f"{path.name}, ")
    return f"refused: {reason}"[:LONGEST_REASON]


def table(title: str, rows: Iterator[Row]) -> str:
    """Return the section of one package."""
    lines = [f"| `{row.file}` | {row.size} | {row.result.replace('<', '&lt;')} |" for row in rows]
    good = sum("refused: " not in line for line in lines)
    head = f"## {title}\n\n{good} of {len(lines)} files are loaded.\n\n| file | links / variables | |\n|---|---|---|\n"
    return head + "\n".join(lines) + "\n"


def shortened(paths: list[Path]) -> list[tuple[Path, str]]:
    """Return the paths with names that tell them apart: of the file, with its folder where two have the same."""
    names = [path.name for path in paths]
    return [(path, path.name if names.count(path.name) == 1 else "/".join(path.parts[-3:])) for path in paths]


def main() -> None:
    """Write the page."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--mjx", type=Path)
    mjx = parser.parse_args().mjx
    robots = f"example-robot-data {version('example-robot-data')}"
    parts = [
        table(
            f"{robots}: URDF, beside pinocchio {pinocchio.__version__}",
            (urdf_row(path, name) for path, name in shortened(robot_files(".urdf"))),
        ),
        table(f"{robots}: SDFormat", (sdf_row(path, name) for path, name in shortened(robot_files(".sdf")))),
    ]
    found = {"mujoco": mjcf_files("mujoco"), "dm_control": mjcf_files("dm_control")}
    if mjx is not None:
        files = sorted(path for path in mjx.rglob("*.xml") if "<mujoco" in path.read_text(errors="replace"))
        found["mujoco-mjx (test data of its wheel)"] = files
    for package, paths in found.items():
        title = f"{package}: MJCF, beside MuJoCo {mujoco.__version__}"
        parts.append(table(title, (mjcf_row(path, name) for path, name in shortened(paths))))
    PAGE.write_text(HEAD + "\n".join(parts))


HEAD = """\
# Robot files that were checked

Every robot file of some packages on PyPI, as `tools/robot_files.py` finds it: loaded into a model, at three random
configurations, with the largest difference of the pose of a link, and of its Jacobian, from what the peer has; or
refused, with the reason. A peer refuses files, too.

"""

if __name__ == "__main__":
    main()
