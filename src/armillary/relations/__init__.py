"""Relations with geometric semantics: poses, velocities, forces and their algebra.

Poses and twists, the answers of a world, are imported with the package; the rest when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armillary._core import _use_types
from armillary.relations import representations
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations.representations import HOMOGENEOUS_MATRIX, NATIVE, POSITION_QUATERNION

if TYPE_CHECKING:
    from armillary.relations._acceleration import AngularAcceleration, LinearAcceleration
    from armillary.relations._checks import compose_any
    from armillary.relations._wrench import Force, Torque, Wrench
    from armillary.relations.graph import RelationGraph
    from armillary.relations.representations import position_euler

__all__ = [  # noqa: RUF022 - in plain order, as in every package
    "AngularAcceleration",
    "AngularVelocity",
    "Force",
    "HOMOGENEOUS_MATRIX",
    "LinearAcceleration",
    "LinearVelocity",
    "NATIVE",
    "Orientation",
    "POSITION_QUATERNION",
    "Pose",
    "Position",
    "RelationGraph",
    "Torque",
    "Twist",
    "Wrench",
    "compose_any",
    "position_euler",
    "representations",
]

_use_types(Pose=Pose, Twist=Twist)  # the classes of the answers of a world

_ON_DEMAND = {
    "AngularAcceleration": "_acceleration",
    "Force": "_wrench",
    "LinearAcceleration": "_acceleration",
    "RelationGraph": "graph",
    "Torque": "_wrench",
    "Wrench": "_wrench",
    "compose_any": "_checks",
    "position_euler": "representations",
}


def __getattr__(name: str) -> Any:
    """Import what most programs never use when it is first used."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'armillary.relations' has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
