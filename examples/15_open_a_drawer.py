"""Open a drawer: a robot holds the handle, and one controller moves the robot and the drawer together.

Nobody says how the hand has to go. The drawer is part of the model, its joint is one of the controls, and the hand is
required to stay where it is on the handle: so the drawer can move only as far as the robot moves it.
"""

import numpy as np

from armillary.demos.push.setting import ROBOTS, Setting
from armillary.motion import Controller, JointGoal, PointingGoal, PoseGoal, PositionGoal, PostureGoal

setting = Setting(ROBOTS["differential"])  # a kitchen, and a robot with two driven wheels and an arm
model, drawer = setting.model, "kitchen/sink_area_middle_drawer_joint"
tool, handle = "robot/links/tool", "kitchen/links/sink_area_middle_drawer_handle"

reach = Controller(model, controls=setting.controls, dt_s=0.1, efforts=1e-3)
reach.add(PositionGoal(tool, (0, 0, 0), in_frame=handle, speed_limit=0.5, tolerance=1e-3))
reach.add(PointingGoal(tool, along=(-1, 0, 0), axis=(1, 0, 0), in_frame=handle, weight=0.1, tolerance=1.0))
reach.add(PostureGoal(setting.ready, weight=1e-4))
holding = reach.run(setting.start, unmet="raise")
print("hand at the handle:", model.pose(tool, in_frame=handle).evaluate(holding).translation.round(3) + 0.0)

pull = Controller(model, controls=[*setting.controls, drawer], dt_s=0.1, efforts=1e-3)
pull.add(JointGoal(drawer, 0.35, speed_limit=0.2))
grip = model.pose(tool, in_frame=handle).evaluate(holding)
pull.require(PoseGoal(tool, grip, in_frame=handle, name="grip"))
now, worst_mm = holding, 0.0
while now[drawer] < 0.349:
    now = model.integrate(now, pull.step(now).velocities, dt_s=0.1)
    slip = (grip.inverse() @ model.pose(tool, in_frame=handle).evaluate(now)).translation
    worst_mm = max(worst_mm, 1e3 * float(np.linalg.norm(slip)))
print("drawer:", round(now[drawer], 3))
print("the hand stayed on the handle to 5 mm:", worst_mm < 5.0)
