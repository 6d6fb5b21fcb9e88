"""A kitchen of 60 links and 23 degrees of freedom, as URDF: `python examples/models/kitchen.py > kitchen.urdf`."""

from armillary.demos.models import kitchen
from armillary.formats import write_urdf

print(write_urdf(kitchen()))
