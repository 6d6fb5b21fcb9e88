"""`armillary tree`: the frame tree as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.cli._arguments import AsJson, At, Nodes, WorldArgument, WorldOption, as_instant
from armillary.cli._nodes import abbreviate_ids, hidden_nodes_line
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.store.nodes import is_containment, is_of_a_node
from armillary.transforms import Tree

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary tree kitchen.json"


def tree(
    *,
    here: WorldArgument = None,
    world: WorldOption = None,
    at: At = "latest",
    nodes: Nodes = False,
    as_json: AsJson = False,
) -> None:
    """Draw the frame tree: every frame below its parent."""
    known = open_world(world, here).world
    whole = known.tree(as_instant(at))
    found = without_nodes(whole, nodes=nodes)
    parents = {name: None if parent is None else parent[0] for name, parent in found.parents.items()}
    fields = [
        {"frame": name, "in_frame": parent, "note": found.notes.get(name, "")}
        | ({"name": found.names[name]} if name in found.names else {})
        for name, parent in parents.items()
    ]
    hidden = "" if nodes else hidden_nodes_line(tuple(whole.parents))
    text = abbreviate_ids(str(_without_single_source(known, found)))
    print_result(as_json=as_json, fields=fields, text="\n".join([text, *filter(None, [hidden])]))


def without_nodes(found: Tree, *, nodes: bool) -> Tree:
    """Return the tree without frames of scene nodes, unless `nodes` is set."""
    parents = {name: parent for name, parent in found.parents.items() if nodes or not is_of_a_node(name)}
    placed = {name: None if parent is None or parent[0] not in parents else parent for name, parent in parents.items()}
    return Tree(placed, found.notes, found.names)


def _without_single_source(world: World, found: Tree) -> Tree:
    """Remove the source from all notes if there is only one."""
    infos = (info for info in world.relations() if info.kind != "twist")
    sources = {info.source for info in infos if not is_containment(world.store, info)}
    if len(sources) != 1:
        return found
    suffix = f" by '{sources.pop()}'"
    return Tree(found.parents, {name: note.replace(suffix, "") for name, note in found.notes.items()}, found.names)
