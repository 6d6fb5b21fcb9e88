"""What files are refused for."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["InvalidExtrinsicsFile", "InvalidSceneFile", "InvalidWorldFile", "UnsavableWorld"]


class InvalidSceneFile(ArmillaryError, ValueError):
    """A file that is no scene; `field` leads to what is wrong in it, as in `nodes[3].attributes.mass`."""

    def __init__(self, path: str, field: str, truth: str) -> None:
        self.path, self.field, self.truth = path, field, truth
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {truth}. Nothing was loaded; mend the file, or save it again.")


class InvalidWorldFile(ArmillaryError, ValueError):
    """A file that is no saved world; `field` leads to what is wrong in it, as in `fixed[3].wxyz`."""

    def __init__(self, path: str, field: str, truth: str) -> None:
        self.path, self.field, self.truth = path, field, truth
        where = f" at {field}" if field else ""
        super().__init__(
            f"'{path}' is no saved world{where}: {truth}. Nothing was made; mend the file, or save it again."
        )


class InvalidExtrinsicsFile(ArmillaryError, ValueError):
    """A file that does not say where fixed frames are; `field` leads to what is wrong, as in `extrinsics[2].xyz_m`."""

    def __init__(self, path: str, field: str, truth: str) -> None:
        self.path, self.field, self.truth = path, field, truth
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {truth}. The world is as it was; mend the file.")


class UnsavableWorld(ArmillaryError, ValueError):
    """A world whose joints drive a pose, and whose model is not mounted in it; `edge` is the pose."""

    def __init__(self, edge: tuple[str, str, str]) -> None:
        self.edge = edge
        of, in_frame, _ = edge
        super().__init__(
            f"The world cannot be saved: joints drive '{of}' in '{in_frame}', and their model is not mounted here. "
            "Save the world that mounted it."
        )


for _name in __all__:
    globals()[_name].__module__ = "armillary.errors"
