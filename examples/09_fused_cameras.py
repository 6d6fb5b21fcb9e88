"""Two cameras, one answer: the latest, the most certain, or both fused.

Two cameras on one mast see a cup. Each measures its direction well, and its distance badly: the uncertainty is
a long thin ellipsoid along the line of sight. They look from two sides, so the ellipsoids cross.

`world.pose(..., policy=)` chooses how to combine them. "latest" and "most_certain" take one of them; "fuse" is the
best estimate from both, with a small covariance where they cross. Both are mounted on the same mast: its error is
common to the two, and fusing does not make it smaller. The answer has the paths it used, and how far they disagree.

With a file name the picture of docs/several_sources.md is drawn into it: `python 09_fused_cameras.py cameras.svg`.
"""

import math
import sys

import numpy as np

from armillary import Transform, World, seconds
from armillary.fusion.policies import by_source
from armillary.view import ellipses_svg


def placed(x: float, y: float, yaw_deg: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, 0.0), rpy=(0.0, 0.0, math.radians(yaw_deg)))


def seen(along_m: float, aside_m: float, camera_T_cup: Transform) -> np.ndarray:
    """Return the covariance of a camera that looks along its x axis, along the axes of the cup."""
    sigma = np.array([along_m, aside_m, aside_m, 0.05, 0.05, 0.05])
    cup_R_camera = camera_T_cup.inverse().rotation.matrix
    turn = np.kron(np.eye(2), cup_R_camera)
    return turn @ np.diag(sigma**2) @ turn.T


# The mast is at the origin, known to 4 cm and one degree; the cameras are bolted to a bar on it.
mast_sigma = np.array([0.04, 0.04, 0.005, 0.0, 0.0, math.radians(1.0)])
world = World()
world.fix(of="mast", in_frame="map", transform=Transform.identity(), covariance=np.diag(mast_sigma**2))
world.fix(of="left", in_frame="mast", transform=placed(0.4, 0.55, -42.5))
world.fix(of="right", in_frame="mast", transform=placed(0.4, -0.55, 42.5))

# The left camera reports at whole tenths of a second, the right one between them, with a larger covariance.
map_T_cup = placed(1.0, 0.0)
errors = {"left": placed(0.07, -0.01), "right": placed(-0.11, 0.015)}  # along and aside, in the axes of each camera
for camera, later_s, sigma_m in (("left", 0.0, (0.09, 0.02)), ("right", 0.05, (0.12, 0.03))):
    camera_T_map = world.pose(of="map", in_frame=camera).transform
    camera_T_cup = errors[camera] @ camera_T_map @ map_T_cup
    covariance = seen(*sigma_m, camera_T_cup)
    for tenth in range(11):
        at = seconds(tenth / 10 + later_s)
        world.set_pose(of="cup", in_frame=camera, transform=camera_T_cup, at=at, covariance=covariance, source=camera)


def print_answer(name: str, policy) -> None:
    pose = world.pose(of="cup", in_frame="map", policy=policy)
    # The covariance is along the axes of the cup: turned to those of the map, to be compared.
    R = pose.rotation.matrix
    sigma = np.sqrt(np.diag(R @ pose.covariance[:3, :3] @ R.T))
    x, y, _ = pose.transform.translation
    used = " and ".join(sorted(source for path in pose.paths_used for source in path.sources))
    where = f"x {x:5.3f} +- {sigma[0]:.3f}   y {y:6.3f} +- {sigma[1]:.3f}"
    print(f"  {name:14} {where}   at {pose.stamp / 1e9:.2f} s by {used}")


print("The cup is at x 1, y 0. Its pose by each policy [m]:")
for policy in ("latest", "most_certain", "fuse"):
    print_answer(policy, policy)
print_answer("by the right", by_source("right"))

fused = world.pose(of="cup", in_frame="map", policy="fuse")
print(f"\nThe cameras are {fused.disagreement:.1f} standard deviations apart: no reason to doubt either.")

# The result if the common mast were ignored: a covariance that is too small.
left, right = (path.covariance for path in fused.paths_used)
naive = np.linalg.inv(np.linalg.inv(left) + np.linalg.inv(right))
sure, too_sure = (100 * math.sqrt(np.trace(covariance[:3, :3])) for covariance in (fused.covariance, naive))
print(f"Uncertainty of the fused position: {sure:.1f} cm; counting the mast twice would give {too_sure:.1f} cm.")

# A policy of one's own is a function of the candidates.
nearest = world.pose(
    of="cup", in_frame="map", policy=lambda paths: min(paths, key=lambda path: np.linalg.norm(path.pose.xyz))
)
print(f"Whatever is nearest: {nearest.paths_used[0].chosen[0]}")

if len(sys.argv) > 1:
    poses = {camera: world.pose(of="cup", in_frame="map", policy=by_source(camera)) for camera in ("left", "right")}
    marks = {camera: world.pose(of=camera, in_frame="map").transform for camera in ("left", "right")}
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123  (a script)
        file.write(ellipses_svg(poses | {"fused": fused}, marks=marks, title="A cup, seen by two cameras"))
