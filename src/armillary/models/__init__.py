"""Robots and furniture that this project made, as `RobotDescription`: to try things with, and to test against.

`armillary.formats.write_urdf` makes files of them.
"""

from armillary.models._kitchen import HANDLES, kitchen
from armillary.models._mobile_manipulator import TRACK_M, WHEEL_RADIUS_M, mobile_manipulator

__all__ = ["HANDLES", "TRACK_M", "WHEEL_RADIUS_M", "kitchen", "mobile_manipulator"]
