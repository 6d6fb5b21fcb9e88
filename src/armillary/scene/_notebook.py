"""What notebooks show of a scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from armillary.notebook import card, listing

if TYPE_CHECKING:
    from armillary._core import NodeId, SceneView

__all__ = ["scene_html"]


def scene_html(view: SceneView, root: NodeId) -> str:
    """How many nodes there are, and the first of them under those they are in."""
    nodes = view.subtree(root)
    kinds = Counter(view.kind(node) for node in nodes)
    told = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(kinds.items()))
    return card(f"Scene of {len(nodes)} nodes: {told}", listing(_lines(view, root), len(nodes)))


def _lines(view: SceneView, root: NodeId) -> Iterator[str]:
    """Every node once, under the first of its parents that comes along."""
    stack, shown = [(root, 0)], set()
    while stack:
        node, depth = stack.pop()
        if node in shown:
            continue
        shown.add(node)
        yield "  " * depth + _told(view, node)
        stack.extend((child, depth + 1) for child in reversed(view.children(node)))


def _told(view: SceneView, node: NodeId) -> str:
    attributes, kind = view.attributes(node), view.kind(node).replace("_", " ")
    name = attributes.get("name")
    return f"{name}  [{kind}]" if isinstance(name, str) and name else f"{node!r}  [{kind}]"
