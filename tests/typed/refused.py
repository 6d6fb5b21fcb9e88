"""Mistakes that a type checker must find, one a line: see tests/test_typing.py. It is never run."""

from armillary import Transform, World

world = World()
still = Transform.identity()
world.pose(of="cup", in_frame="map", outside="extrapolate")
world.pose(of="cup", in_frame="map", policy="newest")
world.pose(of="cup", in_frame="map", at=1.5)
world.set_pose(of="cup", in_frame="map", transform=still, at=1.5)
world.snapshot(in_frame="map", outside="extrapolate")
world.wait_for_pose(of="cup", in_frame="map", policy="newest")
print(world.pose(of="cup", in_frame="map").disagreement)
print(world.wait_for_pose(of="cup", in_frame="map").disagreement)
world.wait_for_pose(of="cup", in_frame="map", until=1)
