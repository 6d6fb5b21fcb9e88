"""Errors about motion: controls, numbers that are not finite, constraints that contradict each other, unmet goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armillary.errors.base import ArmillaryError
from armillary.errors.format import list_names, nearest_name

__all__ = ["GoalsUnmet", "InfeasibleMotion", "NotFinite", "NotMet", "SolverFailed", "UnknownControl", "Unmovable"]


class UnknownControl(ArmillaryError, LookupError):
    """The model cannot be commanded by a velocity of this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        near = nearest_name(name, self.known)
        hint = f"Did you mean '{near}'?" if near is not None else f"Known: {list_names(self.known)}."
        super().__init__(
            f"'{name}' is no control of this model: joints that follow others have none. {hint} "
            "model.controls() returns all of them."
        )


class NotFinite(ArmillaryError, ValueError):
    """Numbers that have to be finite are not.

    Attributes:
        values: Those that are not, by name.
    """

    def __init__(self, what: str, values: Mapping[str, float]) -> None:
        self.values = dict(values)
        named = ", ".join(f"'{name}' is {value}" for name, value in list(self.values.items())[:5])
        more = "" if len(self.values) <= 5 else f" and {len(self.values) - 5} more"  # noqa: PLR2004
        super().__init__(f"{what}: {named}{more}. Give finite numbers; nothing was commanded.")


class InfeasibleMotion(ArmillaryError, RuntimeError):
    """No velocities satisfy all hard constraints.

    Attributes:
        rows: The names of constraints that contradict each other; without any one of them the others can be kept.
        bounds: By name of a row, the interval in which its rate has to be.
    """

    def __init__(self, bounds: Mapping[str, tuple[float, float]]) -> None:
        self.bounds, self.rows = dict(bounds), tuple(bounds)
        listed = "; ".join(f"{name} in [{low:.4g}, {high:.4g}]" for name, (low, high) in self.bounds.items())
        super().__init__(
            f"No velocities keep all hard constraints. These contradict each other: {listed}. Make one of them a goal "
            "with a weight, relax its limit, or start from another configuration; nothing was commanded."
        )


class SolverFailed(ArmillaryError, RuntimeError):
    """The QP solver returned no velocities; `exit_flag` is its own number."""

    def __init__(self, exit_flag: int) -> None:
        self.exit_flag = exit_flag
        super().__init__(
            f"The QP solver gave up (daqp exit flag {exit_flag}); nothing was commanded. Weights that are many orders "
            "of magnitude apart make a problem that has no accurate solution: bring them closer together."
        )


class Unmovable(ArmillaryError, RuntimeError):
    """A constraint cannot be met: nothing that could move is free, and no lock of it can be opened.

    Attributes:
        goals: The names of the goals that cannot be met.
    """

    def __init__(self, goals: Sequence[str]) -> None:
        self.goals = tuple(goals)
        super().__init__(
            f"Nothing can be moved towards {', '.join(self.goals)}: every variable on the way is held by a limit that "
            "depends on nothing, or by a lock that waits for itself. Change the goal or the constraint that holds it."
        )


def _unmet_sentence(errors: Mapping[str, float], steps: int) -> str:
    left = ", ".join(f"{name} ({error:.4g} left)" for name, error in errors.items())
    return (
        f"After {steps} steps these goals are not met: {left}. They are out of reach from here, contradict each "
        "other, or need more steps (max_steps=). The configuration that came closest is in `.configuration`."
    )


class NotMet(ArmillaryError, RuntimeError):
    """Goals were not met when nothing improved any more.

    Attributes:
        errors: By name of a goal, how far it is from being met.
        configuration: The last configuration.
        steps: How many steps were made.
    """

    def __init__(self, errors: Mapping[str, float], configuration: Mapping[str, float], steps: int) -> None:
        self.errors, self.configuration, self.steps = dict(errors), dict(configuration), steps
        super().__init__(_unmet_sentence(errors, steps))


class GoalsUnmet(UserWarning):
    """Goals were not met when nothing improved any more; the attributes are those of `NotMet`."""

    def __init__(self, errors: Mapping[str, float], configuration: Mapping[str, float], steps: int) -> None:
        self.errors, self.configuration, self.steps = dict(errors), dict(configuration), steps
        super().__init__(_unmet_sentence(errors, steps))
