"""Learn a door: nobody modelled it, a robot watches it being opened, and then it is a joint like any other.

A camera reports the pose of a handle while somebody opens the door; now and then it reports something else altogether.
From the first poses nothing can be said, then it is fixed, and once it has turned by a few degrees it is revolute, with
an axis, a point on it and their uncertainty. The guess goes into the model as operations, and is replaced by a better
one as more is seen. Then the door is opened by its joint.
"""

import numpy as np

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.motion import ArticulationEstimator

random = np.random.default_rng(3)
room_T_hinge = Transform.from_xyz_rpy(xyz=(2.0, 1.0, 0.0), rpy=(0.0, 0.0, 0.4))
hinge_T_handle = Transform.from_translation((0.75, 0.05, 1.05))
SIGMA = np.array([0.004] * 3 + [0.01] * 3)  # of the camera [m] and [rad]


def seen(angle: float) -> Transform:
    """Return where the camera says the handle is."""
    if random.uniform() < 0.1:
        return Transform.from_translation(random.uniform(-2.0, 2.0, 3))  # somebody else's handle
    room_T_handle = room_T_hinge @ Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, angle)) @ hinge_T_handle
    return room_T_handle @ Transform.exp(SIGMA * random.normal(size=6))


model = ArticulationModel()
model.add("room/links/wall")
watching = ArticulationEstimator(noise_m=0.004, noise_rad=0.01)
for step, angle in enumerate(np.concatenate([np.zeros(10), np.linspace(0.0, 1.3, 71)])):
    watching.add(seen(angle))
    if step in {0, 9, 20, 40, 80}:
        guess = watching.guess
        print(f"after {step + 1:2} poses: {guess}")
        if guess.kind != "unknown":
            guess.add_to(model, "room/links/door", "room/links/wall", margin=0.05)

deviation_mm = 1e3 * np.sqrt(np.trace(guess.point_covariance))
off = guess.point[:2] - room_T_hinge.translation[:2]
print(f"\nthe hinge is off by {1e3 * np.linalg.norm(off):.1f} mm; expected are {deviation_mm:.1f} mm")
print("operations:", ", ".join(model.tags[-3:]))

world = World()
world.mount(model, in_frame="map")
low, high = guess.range
world.set_joints({"room/door": 0.5 * (low + high)}, at=seconds(1.0), limits="raise")
map_T_handle = world.pose(of="room/door", in_frame="map", at=seconds(1.0)).transform
print("half open, the handle is at", map_T_handle.translation.round(2))
