"""Spray painting: how does the nozzle move over what it paints?

A camera on the robot's base follows a spray gun: where it is, and how it moves. An arm holds the panel to be painted,
and moves too. Nobody measures what the painter wants to know: how fast the *nozzle* goes over the *panel*, along the
axes of the panel.

A `RelationGraph` holds bodies with frames on them, poses from frame to frame and twists from body to frame, all of one
instant. It transforms every twist on the path to the point and to the axes of the query, lever arms included, and adds
them up. Contradictions are refused: one part shows the errors. The last part asks the same of a timed
`World`, whose poses and twists come one by one.

Scene and numbers are those of De Laet et al., "Rigid body pose and twist scene graph founded on geometric relations
semantics for robotic applications"; there the bodies are called B, C, O1, E, O2. docs/meaning.md
explains the terms.
"""

import numpy as np

from armillary import Rotation, Transform, World, errors, seconds
from armillary.relations import HOMOGENEOUS_MATRIX, NATIVE, Pose, RelationGraph, Twist

BODIES = {
    "base": ["base"],
    "camera": ["camera"],
    "gun": ["gun", "nozzle"],
    "arm": ["flange"],
    "panel": ["panel"],
}
TENTH_S = 0.1


def workshop(representation=NATIVE) -> RelationGraph:
    """Return a graph of the bodies and their frames, without poses."""
    empty = RelationGraph(representation=representation)
    for body, frames in BODIES.items():
        empty.add_body(body, frames=frames)
    return empty


def placed(of: str, in_frame: str, xyz: tuple[float, ...], turn: tuple[float, ...]) -> Pose:
    return Pose(of=of, in_frame=in_frame, transform=Transform.from_rotation(Rotation.exp(turn), xyz=xyz))


def why_not(call) -> None:
    try:
        call()
    except errors.ArmillaryError as error:
        print(f"  {type(error).__name__}: {error}")


graph = workshop()

# Poses first. A pose within a body is constant; a rigid pose between two bodies is constant as well.
graph.add_pose(placed("nozzle", "gun", (0.02, 0.0, 0.2), (0, 0, np.pi / 4)))
graph.add_pose(placed("camera", "base", (1.2, 0.0, 0.8), (np.pi, 0, 0)), rigid=True)
graph.add_pose(placed("gun", "camera", (0.1, -0.2, 0.7), (0, 0, np.pi / 6)))
graph.add_pose(placed("flange", "base", (0.9, 0.1, 0.5), (0, np.pi / 2, 0)))
graph.add_pose(placed("panel", "flange", (0.0, 0.0, 0.15), (0, 0, np.pi)), rigid=True)

# The camera measures along its own axes, the arm along those of its flange. Both are named.
gun_seen = Twist(
    point="gun", reference_body="camera", expressed_in="camera", linear=(0.2, 0.1, 0.1), angular=(0.05, 0.1, 0.2)
)
arm_moves = Twist(
    point="flange", reference_body="base", expressed_in="flange", linear=(0.1, -0.05, 0.02), angular=(0.1, 0.2, -0.1)
)
graph.add_twist(gun_seen)
graph.add_twist(arm_moves)

print("Where the nozzle is, seen from the panel:")
pose = graph.pose(of="nozzle", in_frame="panel")
print(f"  {pose}")

print("How it moves over the panel, along the panel's axes, and along its own:")
over_panel = graph.twist(of="nozzle", relative_to="panel", expressed_in="panel")
print(f"  {over_panel}")
print(f"  {graph.twist(of='nozzle', relative_to='panel', expressed_in='nozzle')}")

print("The other way round, at the same point, and at the panel's own origin:")
print(f"  {graph.twist(of='panel', point='nozzle', relative_to='gun', expressed_in='panel')}")
print(f"  {graph.twist(of='panel', relative_to='gun', expressed_in='panel')}")

print("How the gun turns relative to the arm, along the axes of the base; no point is needed for that:")
turning = graph.angular_velocity(of="gun", relative_to="arm", expressed_in="base")
print(f"  {turning}")

# By differences: let gun and arm move on for a millisecond, ask for the pose again, and take the difference.
moved = {}
for step_s in (-0.001, 0.001):
    later = workshop()
    motions = {(twist.point, twist.reference_body): twist for twist in graph.twists()}
    for edge in graph.poses():
        twist = motions.get((edge.of, edge.reference_body))
        later.add_pose(edge if twist is None else twist.integrate(edge, step_s))
    moved[step_s] = later.pose(of="nozzle", in_frame="panel")
difference = Twist.between(moved[-0.001], moved[0.001], duration_s=0.002).to_hybrid(pose)
print(f"The same from two poses, 2 ms apart:\n  {difference}")

print("A tenth of a second later the camera will see the gun at:")
gun = next(twist for twist in graph.twists() if twist.point == "gun")
print(f"  {gun.integrate(graph.pose(of='gun', in_frame='camera'), TENTH_S)}")

print("\nWhat it refuses, and why:")
why_not(lambda: graph.add_pose(placed("gun", "base", (1.3, 0.2, 0.1), (0, 0, 0))))  # the gun is placed already

why_not(lambda: workshop().add_twist(gun_seen))  # along the camera's axes, whose orientation is unknown

matrices = workshop(HOMOGENEOUS_MATRIX)
for edge in graph.poses():
    matrices.add_pose(edge.converted(HOMOGENEOUS_MATRIX))
why_not(lambda: matrices.pose(of="nozzle", in_frame="panel", point="gun"))  # a matrix cannot have another point

# The same in time. A world takes poses and twists with their stamps; camera and panel are mounted: they are fixed.
world = World()
for body, frames in BODIES.items():
    world.add_body(body, frames=frames)
START, END = seconds(2), seconds(3)
motions = {(twist.point, twist.reference_body): twist for twist in graph.twists()}
for edge in graph.poses():
    twist = motions[edge.of, edge.reference_body] if edge.of in {"gun", "flange"} else None
    if twist is None:
        world.fix(of=edge.of, in_frame=edge.in_frame, transform=edge.transform)
        continue
    for at, ago_s in ((START, -1.0), (END, 0.0)):
        moving = {"of": edge.of, "at": at}
        world.set_pose(**moving, in_frame=edge.in_frame, transform=twist.integrate(edge, ago_s).transform)
        measured = {"linear": twist.linear, "angular": twist.angular, "expressed_in": twist.expressed_in}
        world.set_twist(**moving, **measured, relative_to=twist.reference_body)

print("\nThe same in a world, a second ago and now; measured twists come first, as `.method` shows:")
for at in (START, END):
    moves = world.twist(of="nozzle", relative_to="panel", at=at)
    print(f"  at {at / 1e9:g} s, {moves.method}: {moves}")

print("How fast the nozzle goes over the panel, and half a second from now, if all keep moving as they do:")
print(f"  {world.linear_velocity(of='nozzle', relative_to='panel', at=END)}")
soon = world.pose(of="nozzle", in_frame="panel", at=END + seconds(0.5), outside="predict")
print(f"  {soon.method}: {soon.position}")
