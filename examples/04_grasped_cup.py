"""The grasped cup: frames change their parent, and the past stays as it was.

A robot takes a cup from the table, puts it on its own tray and drives away. `attach` makes the cup a child of the
gripper from one instant on, and keeps where it is: no jump, no arithmetic. `detach` releases it.

The tree has a history. A query about an instant is answered with the tree of that instant: at 1 s the cup is on the
table, at 4 s it moves with the gripper, at 9 s it is on the tray.

`at=` is the instant of the grasp. Without it the cup is attached from now on, where it was last seen.

The last part is about a camera that keeps publishing what the gripper holds. `attach` is a statement of knowledge: it
is preferred while it lasts, and after `detach` the camera is believed again.
"""

from armillary import Transform, World, seconds


def offset(x: float, y: float = 0.0, z: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, 0.0))


def blend(start: float, end: float, t_s: float, *, between: tuple[float, float]) -> float:
    """Interpolate from start to end while t_s runs through an interval."""
    begin, stop = between
    return start + (end - start) * min(1.0, max(0.0, (t_s - begin) / (stop - begin)))


GRASP, PLACE = seconds(3.0), seconds(6.0)

world = World(history=seconds(30))
world.fix(of="table", in_frame="map", transform=offset(2.0, 0.0, 0.7))
world.fix(of="cup", in_frame="table", transform=offset(-0.2, 0.1))
world.fix(of="tray", in_frame="base", transform=offset(0.2, 0.0, 0.5))
for tenth in range(101):
    t_s = tenth / 10
    # The robot waits at x = 1 m until 7 s, then drives backwards at half a metre a second.
    map_x_base = 1.0 - 0.5 * max(0.0, t_s - 7.0)
    world.set_pose(of="base", in_frame="map", transform=offset(map_x_base), at=seconds(t_s))
    # The gripper reaches for the cup, then swings to the tray.
    reach_m = blend(0.4, 0.8, t_s, between=(1.0, 3.0)) + blend(0.0, -0.6, t_s, between=(4.0, 6.0))
    height_m = blend(0.7, 0.5, t_s, between=(4.0, 6.0))
    world.set_pose(of="gripper", in_frame="base", transform=offset(reach_m, 0.1, height_m), at=seconds(t_s))

world.attach(of="cup", to="gripper", at=GRASP)
world.detach(of="cup", to="tray", at=PLACE)

for t_s in (1.0, 4.0, 9.0):
    print(f"The tree at {t_s} s:")
    print("  " + str(world.tree(at=seconds(t_s))).replace("\n", "\n  "))

print("\n  t [s]   cup in map              cup in gripper")
for t_s in (1.0, 2.9, 3.0, 3.1, 5.0, 5.9, 6.0, 8.0, 10.0):
    map_p_cup = world.pose(of="cup", in_frame="map", at=seconds(t_s)).transform.translation
    gripper_p_cup = world.pose(of="cup", in_frame="gripper", at=seconds(t_s)).transform.translation
    print(f"  {t_s:5.1f}   {map_p_cup.round(3)!s:22}  {gripper_p_cup.round(3)!s:22}")

# Two instants in one question: the place where the cup was at 1 s, seen from the robot at 10 s.
spot = world.pose(of="cup", of_at=seconds(1.0), in_frame="base", at=seconds(10.0), fixed_frame="map")
print(f"\nThe cup's old place on the table, seen from the robot now: {spot.transform.translation.round(3)}")

# A camera that keeps publishing. The gripper takes a fork and hides it; the camera goes on to report where it saw the
# fork last, until it sees it on the floor, at 8 s.
for tenth in range(101):
    seen_at = offset(-0.2) if tenth < 80 else offset(0.0, 0.5, -0.7)
    world.set_pose(of="fork", in_frame="table", transform=seen_at, at=seconds(tenth / 10), source="camera")
world.attach(of="fork", to="gripper", at=GRASP)
world.detach(of="fork", to="tray", at=PLACE)

print("\nThe camera keeps publishing:")
for t_s in (2.0, 5.0, 7.0, 9.0, 30.0):
    fork = world.pose(of="fork", in_frame="table", at=seconds(t_s), outside="hold")
    _, in_frame, source = fork.relations[0]
    print(f"  {t_s:4.1f} s: the fork is in the frame {in_frame}, by the source {source or 'of this world'!r}")
