"""spark_dsg (PyPI, C++), measured from Python. Protocol: peers/__init__.py.

Things are objects in a room, groups are rooms in a building: its containment is an edge between two layers, and an
edge within a layer is none. It has no index, so a search is a loop over its nodes in Python; no deletion of what is
below a node; no poses but one position a node, in one frame for all.
"""

import gc
import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from time import process_time_ns

from spark_dsg import DsgLayers, DynamicSceneGraph, NodeSymbol, SemanticNodeAttributes

ALIKE = 10  # of scene_scenario.py
TOP, ROOM = NodeSymbol("B", 0), NodeSymbol("R", 0)
OBJECTS, ROOMS, BUILDINGS = DsgLayers.OBJECTS, DsgLayers.ROOMS, DsgLayers.BUILDINGS


def said(index):
    made = SemanticNodeAttributes()
    made.name, made.semantic_label = f"thing_{index // ALIKE}", index
    return made


def things(count):
    return [(NodeSymbol("O", index), said(index)) for index in range(count)]


def with_room():
    graph = DynamicSceneGraph()
    graph.add_node(ROOMS, ROOM, SemanticNodeAttributes())
    return graph


def put(graph, ready):
    for symbol, attributes in ready:
        graph.add_node(OBJECTS, symbol, attributes)
        graph.insert_edge(ROOM, symbol)


@lru_cache
def filled(count):
    graph = with_room()
    put(graph, things(count))
    return graph


def timed(work, operations=1):
    started = process_time_ns()
    work()
    return {"ns": (process_time_ns() - started) / operations}


def add(count):
    """Per node: `add_node` of ready attributes and the edge to its room."""
    graph, ready = with_room(), things(int(count))
    return timed(lambda: put(graph, ready), len(ready))


def search(count, is_wanted):
    objects = filled(int(count)).get_layer(OBJECTS)
    return timed(lambda: [node.id for node in objects.nodes if is_wanted(node.attributes)])


def find_name(count, name):
    """One search for a name."""
    return search(count, lambda attributes: attributes.name == name)


def find_pattern(count, pattern):
    """One search for names that match."""
    matches = re.compile(pattern).fullmatch
    return search(count, lambda attributes: matches(attributes.name))


def find_between(count, low, high):
    """One search for numbers within bounds."""
    first, last = int(low), int(high)
    return search(count, lambda attributes: first <= attributes.semantic_label <= last)


def nested(groups, things_each):
    graph = DynamicSceneGraph()
    graph.add_node(BUILDINGS, TOP, SemanticNodeAttributes())
    for room in range(groups):
        above = NodeSymbol("R", room)
        graph.add_node(ROOMS, above, SemanticNodeAttributes())
        graph.insert_edge(TOP, above)
        for thing in range(things_each):
            symbol = NodeSymbol("O", room * things_each + thing)
            graph.add_node(OBJECTS, symbol, said(thing))
            graph.insert_edge(above, symbol)
    return graph


def remove_below(graph, node):
    for child in graph.get_node(node).children():
        remove_below(graph, child)
    graph.remove_node(node)


def remove_subtree(groups, things_each):
    """A node and everything below it, one by one."""
    graph = nested(int(groups), int(things_each))
    return timed(lambda: remove_below(graph, TOP))


def come_and_go(count, rounds):
    """Per node that is added, asked for its name, and removed."""
    graph, ready, times = filled(int(count)), (NodeSymbol("T", 0), said(0)), int(rounds)

    def work():
        for _ in range(times):
            put(graph, [ready])
            graph.get_node(ready[0]).attributes.name  # noqa: B018 - the question is what is timed
            graph.remove_node(ready[0])

    return timed(work, times)


def position(count, rounds):
    """Per difference of two positions: what it has instead of a relative pose."""
    graph, times = filled(int(count)), int(rounds)
    one, other = NodeSymbol("O", 1).value, NodeSymbol("O", 2).value

    def work():
        for _ in range(times):
            graph.get_position(one) - graph.get_position(other)

    return timed(work, times)


def resident_bytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def grown(count):
    """Bytes a node by which this process grows; each is made ready as it is added, and not kept."""
    filled(1)
    before = resident_bytes()
    graph = with_room()
    for index in range(int(count)):
        put(graph, [(NodeSymbol("O", index), said(index))])
    return {"bytes": (resident_bytes() - before) / int(count)}


def memory(count):
    """The same, in a process of its own."""
    command = [sys.executable, __file__, *sys.argv[1:]]
    done = subprocess.run(command, input=f"grown {count}\n", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


COMMANDS = {
    each.__name__: each
    for each in (add, find_name, find_pattern, find_between, remove_subtree, come_and_go, position, grown, memory)
}


def main():
    gc.disable()
    for line in sys.stdin:
        command, *words = line.split()
        print(json.dumps(COMMANDS[command](*words)), flush=True)


if __name__ == "__main__":
    main()
