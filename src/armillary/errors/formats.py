"""What files of robots and of meshes are refused for."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.errors._base import ArmillaryError
from armillary.errors.format import list_names, nearest_name

__all__ = ["CannotSayInUrdf", "InvalidMesh", "InvalidRobotFile", "MissingMeshes", "UnknownLink"]

_MANY = 12


def _lines(entries: Sequence[str]) -> str:
    more = [f"and {len(entries) - _MANY} more"] if len(entries) > _MANY else []
    return "".join(f"\n    {entry}" for entry in [*entries[:_MANY], *more])


class InvalidRobotFile(ArmillaryError, ValueError):
    """A file that describes no robot.

    Attributes:
        path: The file; 'the given text' where there was none.
        line: Where in it, from 1; None where no line is to blame.
        element: What is wrong, as in `<joint name="elbow">`.
        reason: Why.
    """

    def __init__(self, path: str, line: int | None, element: str, reason: str, hint: str = "Mend the file.") -> None:
        self.path, self.line, self.element, self.reason = path, line, element, reason
        where = "" if line is None else f", line {line}"
        what = f", {element}" if element else ""
        super().__init__(f"{path}{where}{what}: {reason}. Nothing was read. {hint}")


class UnknownLink(ArmillaryError, LookupError):
    """A link that the robot does not have."""

    def __init__(self, link: str, robot: str, known: Sequence[str]) -> None:
        self.link, self.robot, self.known = link, robot, tuple(known)
        near = nearest_name(link, self.known)
        hint = f"Did you mean '{near}'?" if near else f"Its links: {list_names(self.known)}."
        super().__init__(f"The robot '{robot}' has no link '{link}' here. {hint}")


class CannotSayInUrdf(ArmillaryError, ValueError):
    """A robot that URDF has no words for; `missing` says what, all of it."""

    def __init__(self, robot: str, missing: Sequence[str]) -> None:
        self.robot, self.missing = robot, tuple(missing)
        super().__init__(
            f"URDF cannot say all of the robot '{robot}':{_lines(self.missing)}\n"
            "Nothing was written. Pass lossy=True to write it without these."
        )


class MissingMeshes(ArmillaryError, FileNotFoundError):
    """Meshes that a robot names and nobody finds; `missing` says which, and why, all of them."""

    def __init__(self, robot: str, missing: Sequence[str]) -> None:
        self.robot, self.missing = robot, tuple(missing)
        super().__init__(
            f"Meshes of the robot '{robot}' are missing:{_lines(self.missing)}\n"
            "Pass packages={name: folder} or a list of folders that hold packages when reading it."
        )


class InvalidMesh(ArmillaryError, ValueError):
    """A file that holds no surface."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"The mesh '{path}' is refused: {reason}. Export it again as STL, OBJ, DAE or glTF.")
