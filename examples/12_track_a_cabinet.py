"""Track a cabinet: where its drawer and its door are, from noisy poses of the parts that are in view.

A camera reports poses of the drawer front and of the door, each with its covariance, and loses the door for a second.
The model says how the parts can move, so that a pose of six numbers is worth one number that is surer than any of
them. The filter goes on from what it knew, and writes joints, velocities and their covariance into the world, where
everything that is mounted there follows.
"""

import numpy as np

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, Limits, PrismaticJoint, RevoluteJoint
from armillary.motion import TrackingFilter

model = ArticulationModel()
model.add("cabinet/links/body")
drawer = PrismaticJoint(variable="cabinet/drawer", axis=(1, 0, 0), limits=Limits(lower=0.0, upper=0.4))
model.add("cabinet/links/drawer", drawer, "cabinet/links/body")
hinge = Transform.from_translation((0.0, 0.4, 0.5))
door = RevoluteJoint(variable="cabinet/door", axis=(0, 0, 1), limits=Limits(lower=0.0, upper=1.6), parent_T_joint=hinge)
model.add("cabinet/links/door", door, "cabinet/links/body")

world = World()
world.mount(model, in_frame="map")
tracker = TrackingFilter(model)

random = np.random.default_rng(1)
sigma = np.array([0.03] * 3 + [0.05] * 3)  # of the camera [m] and [rad]
covariance = sigma**2
print("   t   drawer  estimate          door   estimate")
for step in range(121):
    t = step / 20
    truth = {"cabinet/drawer": 0.3 * min(t / 4, 1.0), "cabinet/door": 0.8 + 0.4 * np.sin(0.5 * t)}
    seen = {}
    for link in ("cabinet/links/drawer", "cabinet/links/door"):
        if link.endswith("door") and 3.0 < t < 4.0:
            continue  # the arm is in front of it
        seen[link] = model.pose(link).evaluate(truth) @ Transform.exp(sigma * random.normal(size=6))
    estimate = tracker.update(seen, covariances=covariance, at=seconds(t))
    estimate.write_to(world, at=seconds(t))
    if step % 20 == 0:
        row = (f"{truth[q]:6.3f}  {estimate.configuration[q]:6.3f} ± {estimate.deviation(q):.3f}" for q in truth)
        print(f"{t:4.1f}  " + "   ".join(row))

pose = world.pose(of="cabinet/door", in_frame="map", at=seconds(6))
print(
    "\nyaw of the door:", round(pose.transform.rotation.rpy[2], 3), "±", round(float(np.sqrt(pose.covariance[5, 5])), 3)
)
