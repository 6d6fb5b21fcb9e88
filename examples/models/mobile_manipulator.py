"""A mobile manipulator, as URDF: `python examples/models/mobile_manipulator.py > robot.urdf`."""

from armillary.demos.models import mobile_manipulator
from armillary.formats import write_urdf

print(write_urdf(mobile_manipulator()))
