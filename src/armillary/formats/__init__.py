"""Files of robots and of their meshes: read into plain values, and written from them."""

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
from armillary.formats.meshes import MeshArrays, MissingMesh, missing_meshes, read_mesh, read_meshes
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
    "Mimic",
    "MissingMesh",
    "OtherForm",
    "RobotDescription",
    "ShapeDescription",
    "SoftLimits",
    "SphereForm",
    "missing_meshes",
    "read_mesh",
    "read_meshes",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "urdf_losses",
    "write_urdf",
]
