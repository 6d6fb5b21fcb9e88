"""A mobile manipulator, as URDF: `python examples/models/mobile_manipulator.py > robot.urdf`."""

from armillary.formats import write_urdf
from armillary.models import mobile_manipulator

print(write_urdf(mobile_manipulator()))
