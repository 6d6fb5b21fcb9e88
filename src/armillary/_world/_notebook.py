"""What notebooks show of a world."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from armillary.notebook import card, facts, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from armillary._world._drawing import DrawingWorld
    from armillary.transforms import RelationInfo

__all__ = ["world_html"]


def world_html(world: DrawingWorld) -> str:
    """How much there is in it, and the first of its frames under those they hang under."""
    relations, tree = world.relations(), world.tree()
    title = f"World '{world.name}'" if world.name else "World"
    total = len(tree.parents)
    return card(title, facts(_rows(relations, total)), listing(tree._lines(), total))  # noqa: SLF001  (its own text)


def _rows(relations: Sequence[RelationInfo], frames: int) -> Iterator[tuple[str, object]]:
    yield "frames", frames
    kinds = Counter(info.kind for info in relations)
    yield "relations", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    sources = sorted({info.source for info in relations if info.source})
    if sources:
        yield "sources", ", ".join(sources[:8]) + (" ..." if len(sources) > 8 else "")  # noqa: PLR2004  (a line of them)
    firsts = [info.first for info in relations if info.first is not None]
    lasts = [info.last for info in relations if info.last is not None]
    if firsts and lasts:
        yield "samples", f"from {min(firsts) / 1e9:.9g} s to {max(lasts) / 1e9:.9g} s"
