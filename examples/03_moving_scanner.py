"""A moving scanner: one stamp per point.

A laser scanner needs 100 ms for one turn. A car that drives meanwhile sees a straight wall as a bent one, if the whole
sweep is mapped with one pose. Every point has its own stamp, so give them all: `map_points` takes one stamp per
point and straightens the cloud in one call.
"""

import math
import time

import numpy as np

from armillary import Transform, World, seconds

SPEED_M_PER_S, TURN_RAD_PER_S = 8.0, 0.8
WALL_Y_M = 6.0
POINTS = 10_000


def map_T_car(t_s: float) -> Transform:
    """A left turn on a circle."""
    radius_m, yaw = SPEED_M_PER_S / TURN_RAD_PER_S, TURN_RAD_PER_S * t_s
    xyz = (radius_m * math.sin(yaw), radius_m * (1.0 - math.cos(yaw)), 0.0)
    return Transform.from_xyz_rpy(xyz=xyz, rpy=(0.0, 0.0, yaw))


world = World()
car_T_scanner = Transform.from_xyz_rpy(xyz=(1.2, 0.0, 1.6), rpy=(0.0, 0.0, 0.0))
world.fix(of="scanner", in_frame="car", transform=car_T_scanner)
for step in range(41):  # 200 Hz
    world.set_pose(of="car", in_frame="map", transform=map_T_car(step / 200), at=seconds(step / 200))

# One sweep over the left side. Each beam ends on the wall y = 6 m, from where the scanner is at that moment.
at = np.linspace(seconds(0.05), seconds(0.15), POINTS).astype(np.int64)
bearings = np.linspace(math.radians(30), math.radians(150), POINTS)
scanner_points = np.zeros((POINTS, 3))
for i, (stamp, bearing) in enumerate(zip(at, bearings, strict=True)):
    map_T_scanner = map_T_car(stamp / 1e9) @ car_T_scanner
    heading = bearing + map_T_scanner.rotation.rpy[2]
    range_m = (WALL_Y_M - map_T_scanner.translation[1]) / math.sin(heading)
    scanner_points[i, :2] = range_m * math.cos(bearing), range_m * math.sin(bearing)

bent = world.map_points(scanner_points, from_frame="scanner", to_frame="map", at=int(at[POINTS // 2]))
began = time.perf_counter()
straight = world.map_points(scanner_points, from_frame="scanner", to_frame="map", at=at)
elapsed_ms = 1000 * (time.perf_counter() - began)

for name, points in (("one stamp for all", bent), ("one stamp per point", straight)):
    off_m = np.abs(points[:, 1] - WALL_Y_M)
    mean_mm, worst_mm = 1000 * off_m.mean(), 1000 * off_m.max()
    print(f"{name:20}  the wall is off by {mean_mm:8.3f} mm on average, {worst_mm:8.3f} mm at worst")
print(f"{POINTS} points, each at its own instant, mapped in {elapsed_ms:.1f} ms")

# The poses themselves, if you want them: one native call as well.
poses = world.transforms(of="scanner", in_frame="map", at=at, as_="xyz_wxyz")
print(f"transforms(...) gives them as an array of shape {poses.shape}: x, y, z, then the quaternion w, x, y, z")
