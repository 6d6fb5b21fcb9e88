"""What files are refused for."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["InvalidSceneFile", "UnsavableScene"]


class InvalidSceneFile(ArmillaryError, ValueError):
    """A file that is no scene; `field` leads to what is wrong in it, as in `nodes[3].attributes.mass`."""

    def __init__(self, path: str, field: str, truth: str) -> None:
        self.path, self.field, self.truth = path, field, truth
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {truth}. Nothing was loaded; mend the file, or save it again.")


class UnsavableScene(ArmillaryError, ValueError):
    """A scene that holds something no file can; `node` is where."""

    def __init__(self, node: object, truth: str, cure: str) -> None:
        self.node = node
        super().__init__(f"The scene cannot be saved: node {node} {truth}. {cure}")


for _name in __all__:
    globals()[_name].__module__ = "armillary.errors"
