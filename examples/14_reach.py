"""Reach with a Panda: its hand goes to a pose, within all limits of joints and velocities.

A model, a controller, a goal. `step` gives the velocities of one control cycle; `run` steps until the hand is there.
The robot comes from example-robot-data (`pip install example-robot-data`); any URDF does.
"""

from importlib.metadata import files

from armillary import Transform
from armillary.articulation import ArticulationModel
from armillary.motion import Controller, PoseGoal, PostureGoal

urdf = next(entry for entry in files("example-robot-data") or () if entry.name == "panda.urdf").locate()
model = ArticulationModel()
model.load_urdf(str(urdf), name="panda")
home = {f"panda/panda_joint{i}": q for i, q in enumerate((0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.5), 1)}
home["panda/panda_finger_joint1"] = 0.02

controller = Controller(model, controls=model.controls("panda"), dt_s=0.02)
target = Transform.from_xyz_rpy(xyz=(0.5, 0.3, 0.4), rpy=(3.1, 0.0, 0.5))
controller.add(PoseGoal("panda/links/panda_hand", target))
controller.add(PostureGoal(home, weight=1e-5))

first = controller.step(home)
print("first velocities:", [round(first.velocities[f"panda/panda_joint{i}"], 2) for i in range(1, 8)])
reached = controller.run(home, unmet="raise")
print("hand:", model.pose("panda/links/panda_hand").evaluate(reached).translation.round(3))
print("within all limits:", model.is_valid(reached))
