"""Two cameras: two sources place one frame.

Every pose has a `source`: who asserts it. When one source gives a frame a new parent, the frame moves there. When a
*second* source places the same frame, it is a rival: both tracks are kept, and a query that needs them raises
`AmbiguousPath` until you choose one. Answers never alternate between the two.

`world.prefer` chooses a source for every query, those about the past included. It can be changed and removed.
"""

import numpy as np

from armillary import Transform, World, errors, seconds


def offset(x: float, y: float, z: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, 0.0))


rng = np.random.default_rng(seed=5)
world = World()
world.fix(of="camera_left", in_frame="map", transform=offset(0.0, 0.5, 1.0))
world.fix(of="camera_right", in_frame="map", transform=offset(0.0, -0.5, 1.0))

# The cup does not move on the map. The left camera's calibration is off by 3 cm; both are noisy.
map_p_cup = np.array([1.5, 0.0, 0.8])
for tenth in range(11):
    for camera, map_p_camera, bias_m in (
        ("camera_left", (0.0, 0.5, 1.0), (0.03, 0.0, 0.0)),
        ("camera_right", (0.0, -0.5, 1.0), (0.0, 0.0, 0.0)),
    ):
        camera_p_cup = map_p_cup - map_p_camera + bias_m + rng.normal(0.0, 0.001, 3)
        camera_T_cup = offset(*camera_p_cup)
        world.set_pose(of="cup", in_frame=camera, transform=camera_T_cup, at=seconds(tenth / 10), source=camera)

print("No source is preferred:")
try:
    world.pose(of="cup", in_frame="map")
except errors.AmbiguousPath as error:
    print(f"  AmbiguousPath: {error}")
print(f"  can_pose: {world.can_pose(of='cup', in_frame='map')}")

for camera in ("camera_left", "camera_right"):
    world.prefer(of="cup", source=camera)
    pose = world.pose(of="cup", in_frame="map", at=seconds(0.55))
    x, y, z = pose.transform.translation
    print(f"Preferring {camera:12}: the cup is at {x:.3f}, {y:.3f}, {z:.3f}; computed from {pose.relations[0]}")

print("\nThe tree, with the right camera preferred:")
print(world.tree())

# Both histories can be read, whichever is preferred: how far apart are the two cameras?
left, right = (world.samples(of="cup", in_frame=camera) for camera in ("camera_left", "camera_right"))
apart_m = (left.transforms[:, :3] + (0.0, 0.5, 1.0)) - (right.transforms[:, :3] + (0.0, -0.5, 1.0))
mean_cm = 100 * apart_m[:, 0].mean()
print(f"\nLeft minus right, mean of {len(left)}: {mean_cm:.1f} cm along x. One of them needs calibration.")

world.prefer(of="cup", source=None)
print(f"Preference removed; can_pose: {world.can_pose(of='cup', in_frame='map')}")
