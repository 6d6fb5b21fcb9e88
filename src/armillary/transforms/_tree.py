"""The frames as a tree one can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from armillary.notebook import card, listing


@dataclass(frozen=True, slots=True)
class Tree:
    """Which frame hangs under which, at one time. Its text is the tree.

    Attributes:
        parents: Frame to (parent, source); None for a root and for a contested frame.
        notes: Frame to what is worth saying about its edge.
        names: Frame of a node to the node's attribute `name`: such frames go by their ids.
    """

    parents: Mapping[str, tuple[str, str] | None]
    notes: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[str, ...]:
        """Frames without a parent."""
        return tuple(name for name, parent in self.parents.items() if parent is None)

    def children(self, name: str) -> tuple[str, ...]:
        """Frames that hang directly under `name`."""
        return tuple(child for child, parent in self.parents.items() if parent is not None and parent[0] == name)

    def lines(self) -> Iterator[str]:
        """The lines of the text, from the top."""
        children: dict[str | None, list[str]] = {}
        for name, parent in self.parents.items():
            children.setdefault(None if parent is None else parent[0], []).append(name)
        # A stack of what is still to be drawn: a long chain must not exhaust Python's own.
        stack = [(name, "", "") for name in reversed(children.get(None, []))]
        while stack:
            name, lead, below = stack.pop()
            called = [f"'{self.names[name]}'"] if name in self.names else []
            note = " ".join([*called, *filter(None, [self.notes.get(name)])])
            yield f"{lead}{name}" + (f"  {note}" if note else "")
            stack.extend(_branches(children.get(name, []), below))

    def __str__(self) -> str:
        return "\n".join(self.lines()) or "(no frames)"

    def _repr_html_(self) -> str:
        total = len(self.parents)
        return card(f"{total} frame{'' if total == 1 else 's'}", listing(self.lines(), total))


def _branches(names: Sequence[str], below: str) -> list[tuple[str, str, str]]:
    last = len(names) - 1
    drawn = [
        (name, below + ("└── " if i == last else "├── "), below + ("    " if i == last else "│   "))
        for i, name in enumerate(names)
    ]
    return drawn[::-1]
