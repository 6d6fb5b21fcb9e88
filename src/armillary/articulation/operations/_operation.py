"""What an operation is: something that reads some paths of a model and writes others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from armillary.articulation.expressions import PoseExpression

__all__ = ["Operation", "Reading"]


class Reading(Protocol):
    """What an operation sees of the model: what it declares, as the operations before it left that."""

    def __call__(self, path: str) -> Any:
        """The value at one of the declared paths."""

    def pose(self, path: str) -> PoseExpression:
        """Where a link is in the model: the product of all links below it, down to the root.

        The link is one of the declared paths. The operation runs again when one of those it hangs on moves.
        """


class Operation(ABC):
    """One step of the making of a model.

    A subclass is a frozen dataclass: its fields are what a file holds of it, under the name `kind`. What it reads and
    writes follows from these fields alone, and is checked before anything runs.
    """

    kind: ClassVar[str] = ""
    """The name in files. Operations without one cannot be saved."""

    @property
    def reads(self) -> Sequence[str]:
        """Paths that earlier operations have written."""
        return ()

    @property
    @abstractmethod
    def writes(self) -> Sequence[str]:
        """Paths whose value it sets."""

    @abstractmethod
    def run(self, read: Reading) -> Mapping[str, Any]:
        """A value for each path it writes.

        Called again whenever something that it read has changed, so the answer depends on its fields and on what it
        reads, and on nothing else.
        """
