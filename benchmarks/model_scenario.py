"""What the rows about models have in common: robots as files, and a world of several of them."""

from functools import cache
from importlib.metadata import files
from pathlib import Path

from armillary.articulation import ArticulationModel
from armillary.demos.models import kitchen, mobile_manipulator
from armillary.formats import write_urdf

LINKS = 50


@cache
def pr2_file() -> Path | None:
    """Of example-robot-data; None where that is not installed."""
    try:
        found = [entry for entry in files("example-robot-data") or () if entry.name == "pr2.urdf"]
    except ImportError:
        return None
    return Path(str(found[0].locate())).resolve() if found else None


@cache
def chain_text() -> str:
    """A URDF of fifty links, each with a shape to see, one to touch, and a mass."""
    shape = '<origin xyz="0 0 0.1"/><geometry><cylinder radius="0.05" length="0.2"/></geometry>'
    inertia = '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    body = f"<visual>{shape}</visual><collision>{shape}</collision><inertial>{inertia}</inertial>"
    links = [f'<link name="link{i}">{body}</link>' for i in range(LINKS)]
    joints = [
        f'<joint name="joint{i}" type="revolute"><parent link="link{i - 1}"/><child link="link{i}"/>'
        f'<origin xyz="0 0 0.2" rpy="0.1 0 0"/><axis xyz="0 {i % 2} {1 - i % 2}"/>'
        '<limit lower="-2" upper="2" velocity="3" effort="10"/></joint>'
        for i in range(1, LINKS)
    ]
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


@cache
def example_texts() -> dict[str, str]:
    """The kitchen and the robot of this project, as URDF."""
    return {"kitchen": write_urdf(kitchen()), "robot": write_urdf(mobile_manipulator())}


def loaded(**texts: str | Path) -> ArticulationModel:
    """A model of these, by name."""
    model = ArticulationModel()
    for name, text in texts.items():
        model.load_urdf(text, name=name)
    return model
