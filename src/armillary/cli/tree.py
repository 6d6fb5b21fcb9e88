"""`armillary tree`: which frame hangs under which."""

from __future__ import annotations

from armillary.cli._arguments import AsJson, At, Nodes, WorldHere, WorldOption, as_instant
from armillary.cli._output import say
from armillary.cli._source import opened
from armillary.scene.node_frames import is_of_a_node
from armillary.transforms import Tree

EXAMPLE = "armillary tree kitchen.json"


def tree(
    *,
    here: WorldHere = None,
    world: WorldOption = None,
    at: At = "latest",
    nodes: Nodes = False,
    as_json: AsJson = False,
) -> None:
    """Draw which frame hangs under which."""
    found = without_nodes(opened(world, here).world.tree(as_instant(at)), nodes=nodes)
    parents = {name: None if parent is None else parent[0] for name, parent in found.parents.items()}
    fields = [
        {"frame": name, "in_frame": parent, "note": found.notes.get(name, ""), **_called(found, name)}
        for name, parent in parents.items()
    ]
    say(as_json=as_json, fields=fields, text=str(found))


def without_nodes(found: Tree, *, nodes: bool) -> Tree:
    """The frames that somebody named; with `nodes`, those of nodes too."""
    parents = {name: parent for name, parent in found.parents.items() if nodes or not is_of_a_node(name)}
    placed = {name: None if parent is None or parent[0] not in parents else parent for name, parent in parents.items()}
    return Tree(placed, found.notes, found.names)


def _called(found: Tree, frame: str) -> dict[str, str]:
    return {"name": found.names[frame]} if frame in found.names else {}
