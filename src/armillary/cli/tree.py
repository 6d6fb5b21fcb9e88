"""`armillary tree`: which frame hangs under which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.cli._arguments import AsJson, At, Nodes, WorldHere, WorldOption, as_instant
from armillary.cli._nodes import left_out, shortened
from armillary.cli._output import say
from armillary.cli._source import opened
from armillary.scene.node_frames import is_of_a_node
from armillary.transforms import Tree

if TYPE_CHECKING:
    from armillary import World

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
    known = opened(world, here).world
    whole = known.tree(as_instant(at))
    found = without_nodes(whole, nodes=nodes)
    parents = {name: None if parent is None else parent[0] for name, parent in found.parents.items()}
    fields = [
        {"frame": name, "in_frame": parent, "note": found.notes.get(name, ""), **_called(found, name)}
        for name, parent in parents.items()
    ]
    hidden = "" if nodes else left_out(tuple(whole.parents))
    text = shortened(str(_without_the_only_source(known, found)))
    say(as_json=as_json, fields=fields, text="\n".join([text, *filter(None, [hidden])]))


def without_nodes(found: Tree, *, nodes: bool) -> Tree:
    """The frames that somebody named; with `nodes`, those of nodes too."""
    parents = {name: parent for name, parent in found.parents.items() if nodes or not is_of_a_node(name)}
    placed = {name: None if parent is None or parent[0] not in parents else parent for name, parent in parents.items()}
    return Tree(placed, found.notes, found.names)


def _without_the_only_source(world: World, found: Tree) -> Tree:
    """Where one alone says everything, it is not worth saying on each line."""
    told = {info.source for info in world.relations() if info.kind != "twist"}
    sources = {source for source in told if not is_of_a_node(source)}  # nodes speak of where they contain others
    if len(sources) != 1:
        return found
    said = f" by '{sources.pop()}'"
    return Tree(found.parents, {name: note.replace(said, "") for name, note in found.notes.items()}, found.names)


def _called(found: Tree, frame: str) -> dict[str, str]:
    return {"name": found.names[frame]} if frame in found.names else {}
