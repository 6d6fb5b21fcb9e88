"""Small worlds and measures that the row tests share."""

import math
from collections.abc import Iterable

import numpy as np

from armillary import Transform, World, seconds

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9
IDENTITY = Transform.identity()


def shifted(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, 0.0))


def turned(yaw: float, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, yaw))


def about_z(yaw: float) -> tuple[float, float, float, float]:
    """The quaternion (w, x, y, z) of a turn about z."""
    return math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0)


def assert_close(found: Transform, expected: Transform) -> None:
    assert found.is_close(expected, m=CLOSE_M, rad=CLOSE_RAD), f"{found} is not {expected}"


def set_along_x(world: World, *, of: str, in_frame: str, at_s: Iterable[float]) -> None:
    """A frame that is at x metres at x seconds."""
    for instant in at_s:
        world.set_pose(of=of, in_frame=in_frame, transform=shifted(x=float(instant)), at=seconds(instant))


def x_of(world: World, **asked) -> float:
    return float(world.pose(**asked).transform.translation[0])


def stamps_of(world: World, *, of: str, in_frame: str) -> list[int]:
    return world.samples(of=of, in_frame=in_frame).stamps.tolist()


def pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    names = list(names)
    return [(of, in_frame) for of in names for in_frame in names]


def matrix(xyz: Iterable[float], ypr: Iterable[float]) -> np.ndarray:
    """Yaw about z, then pitch about y, then roll about x, written out without the library."""
    (cy, cp, cr), (sy, sp, sr) = np.cos(list(ypr)), np.sin(list(ypr))
    turn_z = [[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]]
    turn_y = [[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]]
    turn_x = [[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]]
    result = np.eye(4)
    result[:3, :3] = np.array(turn_z) @ np.array(turn_y) @ np.array(turn_x)
    result[:3, 3] = list(xyz)
    return result
