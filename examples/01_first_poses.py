"""First poses: a robot, its camera and a cup.

Place frames with two calls: `fix` for what never moves, `set_pose` for what does. Then ask where
anything was, seen from anything else, at any time in between. You never multiply the chain yourself.

A transform is named after the two frames it joins: `map_T_base` is the pose of `base` in `map`, and maps
coordinates of `base` into `map`. In a call the same thing reads as a sentence: the pose *of* base *in frame* map.
"""

from armillary import LATEST, Transform, World, errors, seconds

world = World(history=seconds(10))

# The camera is bolted to the robot: 10 cm forward, 40 cm up, looking 0.3 rad down.
base_T_camera = Transform.from_xyz_rpy(xyz=(0.10, 0.0, 0.40), rpy=(0.0, 0.3, 0.0))
world.fix(of="camera", in_frame="base", transform=base_T_camera)

# The robot drives two metres in two seconds; its odometry reports ten times a second.
for tenth in range(21):
    map_T_base = Transform.from_xyz_rpy(xyz=(0.1 * tenth, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
    world.set_pose(of="base", in_frame="map", transform=map_T_base, at=seconds(tenth / 10))

# The camera sees a cup, once, while the robot drives: 80 cm ahead of the lens.
seen = seconds(1.23)
camera_T_cup = Transform.from_xyz_rpy(xyz=(0.80, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
world.set_pose(of="cup", in_frame="camera", transform=camera_T_cup, at=seen)

print("The tree of frames:")
print(world.tree())

cup = world.pose(of="cup", in_frame="map", at=seen)
print("\nThe cup on the map, between two odometry samples:")
print(f"  {cup}")
print("  computed from " + ", ".join(f"{of} in {in_frame}" for of, in_frame, _ in cup.relations))

base = world.pose(of="base", in_frame="map", at=LATEST)
print(f"\nThe newest pose of the base is of t = {base.stamp / 1e9} s: x = {base.transform.translation[0]:.2f} m")

# The other way round: nothing has to be inverted.
map_in_camera = world.pose(of="map", in_frame="camera", at=seen)
print(f"The map's origin seen from the camera: {map_in_camera.transform.translation.round(3)}")

print("\nThe error of a query without an answer has the reason and a hint:")
for question in (
    {"of": "cup", "in_frame": "map", "at": seconds(1.5)},
    {"of": "base", "in_frame": "map", "at": seconds(2.5)},
    {"of": "camra", "in_frame": "map", "at": LATEST},
):
    try:
        world.pose(**question)
    except errors.ArmillaryError as error:
        print(f"  {type(error).__name__}: {error}")

held = world.pose(of="base", in_frame="map", at=seconds(2.5), outside="hold")
print(f"\nWith outside='hold' the nearest sample is taken, and the answer says which:\n  {held.held[0]}")
