"""Map and odometry: why a robot keeps its obstacles in the odometry frame.

A robot drives towards a door. For a while it has no absolute localisation, so its place on the map is off by the
odometry's drift. It sees a door post. Then localisation comes back, and its place on the map *jumps*.

Obstacles kept in `map` jump as well, relative to the robot: a post that was beside it is suddenly inside it,
although nothing moved. Obstacles kept in `odom` stay where they are relative to the robot, because `odom` is
continuous: it only drifts. That is why localisation publishes the *correction*, the pose of `odom` in `map`,
and not the pose of the robot. The goal is still given on the map; one question takes it into `odom` for planning.

The example is that of section V of the tf paper (Foote, 2013).
"""

import math

import numpy as np

from armillary import Transform, World, seconds

SPEED_M_PER_S = 0.5
DRIFT_RAD_PER_S = 0.01  # the odometry measures a small turn that does not happen
HALF_WIDTH_M = 0.33  # of the robot
SEEN_S, JUMP_S, END_S = 7.0, 8.0, 9.0


def pose_2d(x: float, y: float, yaw: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, 0.0), rpy=(0.0, 0.0, yaw))


def true_map_T_base(t_s: float) -> Transform:
    """The true pose: the robot drives straight ahead."""
    return pose_2d(SPEED_M_PER_S * t_s, 0.0, 0.0)


def odom_T_base(t_s: float) -> Transform:
    """The pose by its odometry: a large arc."""
    radius_m = SPEED_M_PER_S / DRIFT_RAD_PER_S
    yaw = DRIFT_RAD_PER_S * t_s
    return pose_2d(radius_m * math.sin(yaw), radius_m * (1.0 - math.cos(yaw)), yaw)


world = World(history=seconds(20))
for step in range(int(END_S * 50) + 1):
    t_s = step / 50
    world.set_pose(of="base", in_frame="odom", transform=odom_T_base(t_s), at=seconds(t_s), source="wheels")
    # Localisation publishes the drift's correction: none while it is lost, the right one from JUMP_S on.
    is_lost = t_s < JUMP_S
    map_T_odom = Transform.identity() if is_lost else true_map_T_base(t_s) @ odom_T_base(t_s).inverse()
    world.set_pose(of="odom", in_frame="map", transform=map_T_odom, at=seconds(t_s), source="localisation")

# The right door post, as the robot sees it at SEEN_S: 1.5 m ahead, 45 cm to the right.
base_T_post = pose_2d(1.5, -0.45, 0.0)
seen = seconds(SEEN_S)
for keeper in ("map", "odom"):
    keeper_T_post = world.pose(of="base", in_frame=keeper, at=seen).transform @ base_T_post
    world.fix(of=f"post kept in {keeper}", in_frame=keeper, transform=keeper_T_post)

world.fix(of="goal", in_frame="map", transform=pose_2d(8.0, 0.0, 0.0))

print(world.tree(), "\n")
print("The door post as the robot computes it: metres to its right, and the error.")
print("  t [s]   kept in map                kept in odom")
map_T_post = true_map_T_base(SEEN_S) @ base_T_post
for t_s in (7.0, 7.5, 7.98, 8.0, 8.5, 9.0):
    true_base_p_post = (true_map_T_base(t_s).inverse() @ map_T_post).translation
    cells = []
    for keeper in ("map", "odom"):
        base_p_post = world.pose(of=f"post kept in {keeper}", in_frame="base", at=seconds(t_s)).transform.translation
        wrong_m = np.linalg.norm(base_p_post - true_base_p_post)
        verdict = "HITS US" if abs(base_p_post[1]) < HALF_WIDTH_M else "free"
        cells.append(f"{-base_p_post[1]:4.2f}  ({wrong_m:4.2f} off) {verdict:7}")
    print(f"  {t_s:5.2f}   {'    '.join(cells)}")

before, after = (world.pose(of="base", in_frame="map", at=seconds(t)).transform for t in (JUMP_S - 0.02, JUMP_S))
jump_m = np.linalg.norm(after.translation - before.translation)
print(f"\nOn the map the robot jumped {jump_m:.2f} m in 20 ms; in odom it moved {SPEED_M_PER_S * 0.02 * 1000:.0f} mm.")

goal = world.pose(of="goal", in_frame="odom", at=seconds(END_S))
print(f"The goal, given on the map, where the planner wants it: {goal.transform.translation.round(2)} in odom")
