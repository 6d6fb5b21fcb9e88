"""One row of the result, and the readable table."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

WIDTHS = {"what": 42, "ours": 8, "peer": 20, "ratio": 7, "asked": 6, "goal": 6, "ok": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A measured figure beside its peer and its target.

    `figure` is what the target speaks of: a speed-up ("x", more is better), or a cost
    (less is better). Rows without `asked` and `goal` inform only.
    """

    what: str
    ours: float | None = None
    peer: float | None = None
    peer_name: str = ""
    unit: str = "ns"
    figure: float | None = None
    figure_unit: str = "x"
    asked: float | None = None
    goal: float | None = None
    less_is_better: bool = False

    @classmethod
    def faster(
        cls,
        what: str,
        ours: float | None,
        peer: float | None,
        peer_name: str,
        *,
        asked: float | None = None,
        goal: float | None = None,
    ) -> "Row":
        """How many times cheaper ours is than the peer's."""
        figure = peer / ours if ours and peer else None
        return cls(what=what, ours=ours, peer=peer, peer_name=peer_name, figure=figure, asked=asked, goal=goal)

    @classmethod
    def at_most(
        cls,
        what: str,
        ours: float | None,
        unit: str,
        *,
        asked: float | None = None,
        goal: float | None = None,
        peer: float | None = None,
        peer_name: str = "",
    ) -> "Row":
        """A cost that has to stay under a bound, whatever the peer does."""
        return cls(
            what=what,
            ours=ours,
            peer=peer,
            peer_name=peer_name,
            unit=unit,
            figure=ours,
            figure_unit=unit,
            asked=asked,
            goal=goal,
            less_is_better=True,
        )

    @classmethod
    def at_least(cls, what: str, ours: float | None, unit: str, *, asked: float | None = None) -> "Row":
        """What has to be reached, by us alone."""
        return cls(what=what, ours=ours, unit=unit, figure=ours, figure_unit=unit, asked=asked)

    @property
    def ok(self) -> str:
        """`goal`, `yes`, `NO`, or nothing where there is no target or no figure."""
        if not self.judged:
            return ""
        if self.figure is None:
            return "?"
        if self._reaches(self.goal):
            return "goal"
        return "yes" if self._reaches(self.asked) else "NO"

    @property
    def judged(self) -> bool:
        return self.asked is not None or self.goal is not None

    def _reaches(self, bound: float | None) -> bool:
        if bound is None or self.figure is None:
            return False
        return self.figure <= bound if self.less_is_better else self.figure >= bound

    @property
    def ratio(self) -> float | None:
        """The figure where it is a ratio, otherwise peer over ours."""
        if self.figure_unit == "x":
            return self.figure
        return self.peer / self.ours if self.peer and self.ours else None

    def cells(self) -> list[str]:
        sign = "≤" if self.less_is_better else "≥"
        asked, goal = (
            f"{sign}{quantity(each, self.figure_unit)}" if each is not None else "" for each in (self.asked, self.goal)
        )
        peer = quantity(self.peer, self.unit)
        if self.peer_name:
            peer = f"{peer or 'absent'} {self.peer_name}"
        return [self.what, quantity(self.ours, self.unit), peer, quantity(self.ratio, "x"), asked, goal, self.ok]

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"ratio": self.ratio, "ok": self.ok}


def quantity(value: float | None, unit: str) -> str:
    """A number in three figures with its unit: `612ns`, `6.6µs`, `84.8B`, `10.6x`."""
    if value is None:
        return ""
    for limit, scaled in (("ns", "µs"), ("µs", "ms"), ("ms", "s"), ("k/s", "M/s")):
        if unit == limit and abs(value) >= 999.5:
            value, unit = value / 1000, scaled
    if unit == "":
        return f"{value:.0e}"
    digits = 0 if value >= 99.5 or value == int(value) else 1 if value >= 9.95 else 2
    return f"{value:.{digits}f}{unit}"


def heading() -> str:
    line = _line(list(WIDTHS))
    return f"{line}\n{'-' * len(line)}"


def row_text(row: Row) -> str:
    return _line(row.cells())


def summary(rows: Iterable[Row]) -> str:
    """How many targets were reached, and the names of those that were not."""
    judged = [row for row in rows if row.judged]
    missed = [row.what for row in judged if row.ok == "NO"]
    unknown = [row.what for row in judged if row.ok == "?"]
    reached = len(judged) - len(missed) - len(unknown)
    goals = sum(row.ok == "goal" for row in judged)
    lines = [f"{reached} of {len(judged)} targets reached, {goals} of them with the goal."]
    lines += [f"  not reached: {what}" for what in missed]
    lines += [f"  not measured: {what}" for what in unknown]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    parts = []
    for index, (cell, width) in enumerate(zip(cells, WIDTHS.values(), strict=True)):
        parts.append(cell.ljust(width) if index in (0, 2) else cell.rjust(width))
    return " ".join(parts)
