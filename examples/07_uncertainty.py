"""Uncertainty: the covariance of an answer.

Give samples a 6x6 covariance and answers have one too. A small error in where the robot *looks* becomes a large
error in where a distant thing *is*: the lever arm is taken into account, at any instant, along any path.

The order is (translation, rotation), in the tangent of the frame asked for: `T = mean Exp(xi)`. So the first three
entries are metres along the axes of `of`, the last three are radians about them.

The last part checks the numbers by sampling: 20 000 noisy robots, and the spread of their answers.
"""

import math

import numpy as np

from armillary import Transform, World, seconds


def in_cm_and_degrees(covariance: np.ndarray) -> str:
    sigma = np.sqrt(np.diag(covariance))
    return f"x {100 * sigma[0]:5.2f} cm   y {100 * sigma[1]:5.2f} cm   yaw {math.degrees(sigma[5]):4.2f} deg"


# The robot knows its place to 2 cm and its heading to 1 degree.
sigma = np.array([0.02, 0.02, 0.0, 0.0, 0.0, math.radians(1.0)])
base_covariance = np.diag(sigma**2)

world = World()
for t_s in (0.0, 1.0):
    map_T_base = Transform.from_xyz_rpy(xyz=(t_s, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
    world.set_pose(of="base", in_frame="map", transform=map_T_base, at=seconds(t_s), covariance=base_covariance)
base_T_lamp = Transform.from_xyz_rpy(xyz=(10.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
world.fix(of="lamp", in_frame="base", transform=base_T_lamp)

print("One standard deviation of ...")
for of, in_frame in (("base", "map"), ("lamp", "map"), ("lamp", "base"), ("map", "lamp")):
    pose = world.pose(of=of, in_frame=in_frame, at=seconds(1.0))
    print(f"  {of:5} in {in_frame:4}   {in_cm_and_degrees(pose.covariance)}")
print("The lamp is 10 m ahead: one degree is 17 cm there. In the robot's own frame it is exact.")

# By sampling: draw robots, ask each for the lamp, look at the spread in the tangent of the mean.
rng = np.random.default_rng(seed=7)
map_T_base = world.pose(of="base", in_frame="map", at=seconds(1.0)).transform
lamp_T_map = (map_T_base @ base_T_lamp).inverse()
drawn = np.array(
    [(lamp_T_map @ map_T_base @ Transform.exp(xi) @ base_T_lamp).log() for xi in rng.normal(size=(20_000, 6)) * sigma]
)
print("\nlamp in map, predicted and drawn:")
print(f"  predicted     {in_cm_and_degrees(world.pose(of='lamp', in_frame='map', at=seconds(1.0)).covariance)}")
print(f"  20 000 robots {in_cm_and_degrees(np.cov(drawn.T))}")

# Unknown is not zero: one sample without a covariance, and the answer has none.
world.set_pose(of="base", in_frame="map", transform=Transform.identity(), at=seconds(2.0))
pose = world.pose(of="lamp", in_frame="map", at=seconds(2.0))
print(f"\nAt 2 s the sample came without a covariance: {pose.covariance}")
