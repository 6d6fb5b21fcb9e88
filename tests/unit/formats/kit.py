"""Small robots, and where the robots of others are."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path

LINKS = '<link name="foot"/><link name="head"/>'


def robot(inside: str, name: str = "lamp") -> str:
    return f'<robot name="{name}">\n{inside}\n</robot>'


def lamp(joint: str = "", kind: str = "continuous") -> str:
    """Two links, and a joint in line 3 with this in it."""
    ends = '<parent link="foot"/><child link="head"/>'
    return robot(f'{LINKS}\n<joint name="neck" type="{kind}">{ends}{joint}</joint>')


def link(inside: str) -> str:
    """One link, with this in line 3."""
    return robot(f'<link name="foot">\n{inside}\n</link>')


def robot_files(suffix: str = ".urdf") -> list[Path]:
    """Of `example-robot-data`."""
    found = [entry for entry in files("example-robot-data") or () if entry.name.endswith(suffix)]
    return sorted(Path(str(entry.locate())).resolve() for entry in found)


def robot_file(name: str) -> Path:
    return next(path for path in robot_files(Path(name).suffix) if path.name == name)
