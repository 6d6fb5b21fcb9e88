"""Errors about files: what the system refuses, saved scenes and worlds, extrinsics, robot descriptions, meshes."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.errors.base import ArmillaryError
from armillary.errors.format import list_names, nearest_name

__all__ = [
    "CannotDescribe",
    "CannotSayInUrdf",
    "InvalidExtrinsicsFile",
    "InvalidMesh",
    "InvalidModelFile",
    "InvalidRobotFile",
    "InvalidSceneFile",
    "InvalidWorldFile",
    "MeshesSkipped",
    "MissingFile",
    "MissingMeshes",
    "UnknownLink",
    "UnreadableFile",
    "UnsavableModel",
    "UnwritableFile",
]


_MAX_LINES = 12


class UnreadableFile(ArmillaryError, OSError):
    """A file cannot be read, because the system refuses to."""

    def __init__(self, path: str, reason: str, hint: str = "Give the path of a file that you may read.") -> None:
        self.path, self.reason = path, reason
        super().__init__(f"Cannot read '{path}': {reason}. {hint}")


class MissingFile(UnreadableFile, FileNotFoundError):
    """A file is to be read and does not exist."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "there is no such file", "Give the path of a file that exists.")


class UnwritableFile(ArmillaryError, OSError):
    """A file cannot be written; what was there before is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"Cannot write '{path}': {reason}. Nothing was changed; give the path of a file you may write."
        )


class _InvalidFile(ArmillaryError, ValueError):
    """A file cannot be read; `field` leads to the fault, as in `nodes[3].attributes.mass`."""

    _verdict = "is refused"
    _outcome = "Nothing was loaded"

    def __init__(self, path: str, field: str, reason: str, hint: str = "mend the file, or save it again") -> None:
        self.path, self.field, self.reason, self.hint = path, field, reason, hint
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' {self._verdict}{where}: {reason}. {self._outcome}; {hint}.")


class InvalidSceneFile(_InvalidFile):
    """A file is not a saved scene; `field` leads to the fault, as in `nodes[3].attributes.mass`."""


class InvalidModelFile(_InvalidFile):
    """A file is not a saved model; `field` leads to the fault, as in `operations[3].joint.axis`."""


class InvalidWorldFile(_InvalidFile):
    """A file is not a saved world; `field` leads to the fault, as in `fixed[3].wxyz`."""

    _verdict = "is no saved world"
    _outcome = "Nothing was made"


class InvalidExtrinsicsFile(_InvalidFile):
    """A file does not list fixed poses; `field` leads to the fault, as in `extrinsics[2].xyz_m`."""

    _outcome = "The world is as it was"

    def __init__(self, path: str, field: str, reason: str, hint: str = "mend the file") -> None:
        super().__init__(path, field, reason, hint)


class UnsavableModel(ArmillaryError, ValueError):
    """A model cannot be saved because of one operation, whose tag is `tag`."""

    def __init__(self, tag: str, reason: str, hint: str) -> None:
        self.tag = tag
        super().__init__(f"The model cannot be saved: operation '{tag}' {reason}. {hint}")


def _lines(entries: Sequence[str]) -> str:
    more = [f"and {len(entries) - _MAX_LINES} more"] if len(entries) > _MAX_LINES else []
    return "".join(f"\n    {entry}" for entry in [*entries[:_MAX_LINES], *more])


class InvalidRobotFile(ArmillaryError, ValueError):
    """A file does not describe a robot.

    Attributes:
        path: The file; 'the given text' where there was none.
        line: The line of the fault, counted from 1, or None.
        element: The faulty element, as in `<joint name="elbow">`.
        reason: What is wrong with it.
    """

    def __init__(self, path: str, line: int | None, element: str, reason: str, hint: str = "Mend the file.") -> None:
        self.path, self.line, self.element, self.reason = path, line, element, reason
        where = "" if line is None else f", line {line}"
        what = f", {element}" if element else ""
        super().__init__(f"{path}{where}{what}: {reason}. Nothing was read. {hint}")


class UnknownLink(ArmillaryError, LookupError):
    """The robot has no link of this name."""

    def __init__(self, link: str, robot: str, known: Sequence[str]) -> None:
        self.link, self.robot, self.known = link, robot, tuple(known)
        near = nearest_name(link, self.known)
        hint = f"Did you mean '{near}'?" if near else f"Its links: {list_names(self.known)}."
        super().__init__(f"The robot '{robot}' has no link '{link}' here. {hint}")


class CannotSayInUrdf(ArmillaryError, ValueError):
    """URDF cannot express the robot; `missing` lists everything that it cannot express."""

    def __init__(self, robot: str, missing: Sequence[str]) -> None:
        self.robot, self.missing = robot, tuple(missing)
        super().__init__(
            f"URDF cannot express all of the robot '{robot}':{_lines(self.missing)}\n"
            "Nothing was written. Pass lossy=True to write it without these."
        )


class CannotDescribe(ArmillaryError, ValueError):
    """A description of links and joints cannot express part of a model; `missing` lists everything that it cannot."""

    def __init__(self, robot: str, missing: Sequence[str]) -> None:
        self.robot, self.missing = robot, tuple(missing)
        super().__init__(
            f"Links and joints alone are not all of '{robot}':{_lines(self.missing)}\n"
            "Nothing was made. Remove these from a copy of the model (model.copy()), or save the model itself."
        )


class MissingMeshes(ArmillaryError, FileNotFoundError):
    """Mesh files of a robot are not found; `missing` lists all of them, each with the reason."""

    def __init__(self, robot: str, missing: Sequence[str]) -> None:
        self.robot, self.missing = robot, tuple(missing)
        super().__init__(
            f"Meshes of the robot '{robot}' are missing:{_lines(self.missing)}\n"
            "Pass packages={name: folder} or a list of folders that hold packages when reading it."
        )


class MeshesSkipped(UserWarning):
    """Meshes of a mounted model are missing or cannot be read; `meshes` lists them, each with the reason."""

    def __init__(self, robot: str, meshes: Sequence[str]) -> None:
        self.robot, self.meshes = robot, tuple(meshes)
        super().__init__(robot, self.meshes)

    def __str__(self) -> str:
        return (
            f"'{self.robot}' is mounted without {len(self.meshes)} of its meshes:{_lines(self.meshes)}\n"
            "Frames and joints do not need them. Pass packages= when reading the robot, shapes='none' to have no "
            "shapes, or strict=True to refuse such a model."
        )


class InvalidMesh(ArmillaryError, ValueError):
    """A file does not hold a mesh."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"The mesh '{path}' is refused: {reason}. Export it again as STL, OBJ, DAE or glTF.")
