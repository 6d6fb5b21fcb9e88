"""Articulation models: loading robots, editing one robot beside a kitchen, and reading models from bytes.

pinocchio and yourdfpy read the same files; they have no expressions, constraints or history to make. Kineverse's own
figures on its machine stand in `asked`: a quarter of its 329 ms for PR2.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from itertools import count

from armillary import Transform, World
from armillary.articulation import (
    AddJoint,
    AddLink,
    Apply,
    ArticulationModel,
    Connect,
    FixedJoint,
    InsertAfter,
    InsertBefore,
    OmniBase,
    SetValue,
)
from armillary.articulation._order import OrderedList
from context import OURS, Bench, cpu_ns
from model_scenario import LINKS, chain_text, example_texts, loaded, pr2_file
from table import Row

PINOCCHIO, YOURDFPY = "pinocchio", "yourdfpy"
MS = 1e6
EDITS, INSERTIONS = 100, 1_000_000


def rows(bench: Bench) -> Iterator[Row]:
    yield from _loading(bench, f"a URDF of {LINKS} links", chain_text(), 60.0)
    if pr2_file() is not None:
        yield from _loading(bench, "PR2", str(pr2_file()), 329.0 / 4)
    yield from _wire(bench)
    yield from _edits(bench)
    yield from _mounted(bench)
    yield from _insertions(bench)


def _loading(bench: Bench, what: str, source: str, asked_ms: float) -> Iterator[Row]:
    readers = {OURS: lambda: loaded(robot=source), **_peers(source)}
    best = bench.race({name: _once(read) for name, read in readers.items()}, repeats=min(bench.repeats, 10))
    yield Row.at_most(f"model: load {what}", best[OURS] / MS, "ms", asked=asked_ms, goal=asked_ms / 2)
    for name in [name for name in best if name != OURS]:
        yield Row(
            what=f"  {name}, without a model", ours=best[OURS] / MS, peer=best[name] / MS, peer_name=name, unit="ms"
        )


def _peers(source: str) -> dict[str, Callable[[], object]]:
    """Those that are installed."""
    found: dict[str, Callable[[], object]] = {}
    try:
        import pinocchio

        is_text = source.startswith("<")
        build = pinocchio.buildModelFromXML if is_text else pinocchio.buildModelFromUrdf
        found[PINOCCHIO] = lambda: build(source)
        import yourdfpy

        plain = {"build_scene_graph": False, "load_meshes": False, "load_collision_meshes": False}
        found[YOURDFPY] = lambda: yourdfpy.URDF.load(StringIO(source) if is_text else source, **plain)
    except ImportError:
        pass
    return found


def _wire(bench: Bench) -> Iterator[Row]:
    model = loaded(robot=example_texts()["robot"])
    data = model.to_bytes()
    best = bench.race(
        {"read": _once(lambda: ArticulationModel.from_bytes(data)), "write": _once(model.to_bytes)},
        repeats=min(bench.repeats, 10),
    )
    links = len(model.links())
    yield Row.at_most(
        f"model of {links} links, read from {len(data)} B", best["read"] / MS, "ms", asked=20.0, goal=10.0
    )
    yield Row(what="  written", ours=best["write"] / MS, unit="ms")


def _edits(bench: Bench) -> Iterator[Row]:
    """In a model of a kitchen and a robot, against making all of it anew."""
    texts, numbers = example_texts(), count()
    model, first = loaded(**texts), "create kitchen"
    root, size = model.value("robot").root, len(model.tags)
    leaf = [tag for tag in model.tags if tag.startswith("create robot/joints")][-1]
    operation = model.operation(leaf)

    def replace_leaf() -> None:
        origin = Transform.from_xyz_rpy(xyz=(next(numbers) * 1e-3, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
        model.apply(replace(operation, joint=replace(operation.joint, parent_T_joint=origin)), tag=leaf)

    def insert_in_front() -> None:
        model.insert_before(first, SetValue("front", float(next(numbers))), tag=f"front {next(numbers)}")

    def insert_base() -> None:
        base = AddJoint(path="robot/joints/base", joint=OmniBase(variable="robot/base"))
        connect = Connect(child=root, joint="robot/joints/base")
        model.edit(
            [InsertBefore("base", base, first), InsertAfter("connect world", connect, f"create {root}")],
        )
        model.undo()

    costs = {
        "replace a leaf joint": replace_leaf,
        "insert in front of all": insert_in_front,
        "insert a base, undo": insert_base,
    }
    best = bench.race(
        {name: _repeated(edit) for name, edit in costs.items()} | {"anew": _once(lambda: loaded(**texts))}
    )
    for name in costs:
        yield Row.faster(f"model of {size} operations: {name}", best[name], best["anew"], "all of it anew")


def _mounted(bench: Bench) -> Iterator[Row]:
    """A tool comes to the end of a robot that stands in a world, and goes; a pose over all of it is asked each time."""
    model, world = loaded(robot=chain_text()), World()
    mount = world.mount(model, in_frame="map")
    world.set_joints(dict.fromkeys(mount.joints.values(), 0.1), at=0)
    last, tool = list(model.links())[-1], "robot/links/tool"
    grip = FixedJoint(parent_T_joint=Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.2), rpy=(0.0, 0.0, 0.0)))
    edits = [
        Apply("tool", AddLink(path=tool)),
        Apply("grip", AddJoint(path="robot/joints/grip", joint=grip)),
        Apply("hold", Connect(child=tool, joint="robot/joints/grip", parent=last)),
    ]

    def add_and_remove() -> None:
        model.edit(edits)
        world.pose(of="robot/tool", in_frame="map", at=world.now(), outside="hold")
        model.remove("hold", "grip", "tool")
        world.pose(of=mount.frames[last], in_frame="map", at=world.now(), outside="hold")

    best = bench.race({OURS: _repeated(add_and_remove)}, repeats=min(bench.repeats, 10))
    yield Row.at_most(
        f"mounted robot of {LINKS} links: add one, a pose, remove it, a pose", best[OURS] / MS, "ms", asked=1.0
    )


def _insertions(bench: Bench) -> Iterator[Row]:
    def insert(_: int) -> float:
        places: OrderedList[int] = OrderedList()
        first = places.append(0)
        total = INSERTIONS // 10 if bench.quick else INSERTIONS
        return cpu_ns(lambda: [places.insert_after(first, i) for i in range(total)], total)

    best = bench.race(insert, repeats=2)
    yield Row(what=f"  a place after one tag, of {INSERTIONS}", ours=best[OURS])


def _once(work: Callable[[], object]) -> Callable[[int], float]:
    return lambda _: cpu_ns(work)


def _repeated(work: Callable[[], object]) -> Callable[[int], float]:
    return lambda _: cpu_ns(lambda: [work() for _ in range(EDITS)], EDITS)
