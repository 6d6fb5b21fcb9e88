"""What kinematic loops refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LoopError", "OpenLoop", "SingularLoop", "UnreachableLoop"]


class LoopError(ArmillaryError, ValueError):
    """A loop that cannot be closed where it was asked; `drivers` are the values it was asked for.

    `row` is where they stand, if they came with others.
    """

    row: int | None = None

    def __init__(self, drivers: Mapping[str, float], sentence: str) -> None:
        self.drivers = dict(drivers)
        super().__init__(sentence)

    def __str__(self) -> str:
        sentence = super().__str__()
        return sentence if self.row is None else f"In row {self.row}: {sentence}"


class UnreachableLoop(LoopError):
    """No values of the dependent variables close the loop; `residual` is how far it stays open."""

    def __init__(self, drivers: Mapping[str, float], residual: float, tolerance: float) -> None:
        self.residual, self.tolerance = residual, tolerance
        super().__init__(
            drivers,
            f"The loop was to be closed for {_listed(drivers)}, and it stays open by {residual:.3g} (allowed: "
            f"{tolerance:.3g}). Drive it to where its parts reach each other, or begin nearer with start=.",
        )


class SingularLoop(LoopError):
    """The dependent variables are not determined by the drivers there; `determined` of `dependents` are."""

    def __init__(self, drivers: Mapping[str, float], determined: int, dependents: int) -> None:
        self.determined, self.dependents = determined, dependents
        super().__init__(
            drivers,
            f"The loop was to be closed for {_listed(drivers)}, and there it determines {determined} of its "
            f"{dependents} dependent variables. Keep away from this configuration, or make another variable a driver.",
        )


class OpenLoop(ArmillaryError, LookupError):
    """Joints do not close a loop at an instant; `edge` is the relation asked for, `requested` the instant."""

    def __init__(self, edge: tuple[str, str, str], requested: int | None) -> None:
        self.edge, self.requested = edge, requested
        when = "" if requested is None else f" at {requested * 1e-9:.3f} s"
        super().__init__(
            f"The pose of '{edge[0]}' in '{edge[1]}' was asked{when}, and the joints there do not close its loop: "
            "between two samples its parts do not reach each other. Say the joints more often, or keep within reach."
        )


def _listed(drivers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in drivers.items()) or "no driver"
