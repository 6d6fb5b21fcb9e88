"""What files are refused for."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["InvalidExtrinsicsFile", "InvalidSceneFile", "InvalidWorldFile", "UnsavableWorld"]


_MEND = "mend the file, or save it again"


class InvalidSceneFile(ArmillaryError, ValueError):
    """A file that is no scene; `field` leads to what is wrong in it, as in `nodes[3].attributes.mass`."""

    def __init__(self, path: str, field: str, reason: str, hint: str = _MEND) -> None:
        self.path, self.field, self.reason, self.hint = path, field, reason, hint
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {reason}. Nothing was loaded; {hint}.")


class InvalidWorldFile(ArmillaryError, ValueError):
    """A file that is no saved world; `field` leads to what is wrong in it, as in `fixed[3].wxyz`."""

    def __init__(self, path: str, field: str, reason: str, hint: str = _MEND) -> None:
        self.path, self.field, self.reason, self.hint = path, field, reason, hint
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is no saved world{where}: {reason}. Nothing was made; {hint}.")


class InvalidExtrinsicsFile(ArmillaryError, ValueError):
    """A file that does not say where fixed frames are; `field` leads to what is wrong, as in `extrinsics[2].xyz_m`."""

    def __init__(self, path: str, field: str, reason: str, hint: str = "mend the file") -> None:
        self.path, self.field, self.reason, self.hint = path, field, reason, hint
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {reason}. The world is as it was; {hint}.")


class UnsavableWorld(ArmillaryError, ValueError):
    """A world whose joints drive a pose that files do not tell; `edge` is the pose.

    Their model is not mounted in it, or the two frames hold each other in a loop between models.
    """

    def __init__(self, edge: tuple[str, str, str], *, is_held: bool = False) -> None:
        self.edge = edge
        of, in_frame, _ = edge
        orphaned = (
            f"joints drive '{of}' in '{in_frame}', and their model is not mounted here. Save the world that mounted it"
        )
        held = f"'{of}' and '{in_frame}' hold each other, which files do not tell. Open the loop first"
        super().__init__(f"The world cannot be saved: {held if is_held else orphaned}.")
