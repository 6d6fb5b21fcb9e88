"""Files of robots and of their meshes: read into plain values, and written from them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Dynamics,
    Inertial,
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    MeshForm,
    Mimic,
    OtherForm,
    RobotDescription,
    ShapeDescription,
    SoftLimits,
    SphereForm,
)

if TYPE_CHECKING:
    from armillary.formats.meshes import (
        MeshArrays,
        MeshPart,
        MissingMesh,
        missing_meshes,
        read_mesh,
        read_mesh_parts,
        read_meshes,
    )
    from armillary.formats.mjcf import read_mjcf
    from armillary.formats.sdf import read_sdf
    from armillary.formats.urdf import read_urdf
    from armillary.formats.urdf_writing import urdf_losses, write_urdf

__all__ = [
    "BoxForm",
    "CapsuleForm",
    "CylinderForm",
    "Dynamics",
    "Inertial",
    "JointDescription",
    "Limits",
    "LinkDescription",
    "Material",
    "MeshArrays",
    "MeshForm",
    "MeshPart",
    "Mimic",
    "MissingMesh",
    "OtherForm",
    "RobotDescription",
    "ShapeDescription",
    "SoftLimits",
    "SphereForm",
    "missing_meshes",
    "read_mesh",
    "read_mesh_parts",
    "read_meshes",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "urdf_losses",
    "write_urdf",
]

_ON_DEMAND = {
    **dict.fromkeys(("MeshArrays", "MeshPart", "MissingMesh"), "meshes"),
    **dict.fromkeys(("missing_meshes", "read_mesh", "read_mesh_parts", "read_meshes"), "meshes"),
    "read_mjcf": "mjcf",
    "read_sdf": "sdf",
    "read_urdf": "urdf",
    "urdf_losses": "urdf_writing",
    "write_urdf": "urdf_writing",
}


def __getattr__(name: str) -> Any:
    """Import a reader when it is first used: saved worlds need the checked fields of this package alone."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'armillary.formats' has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
