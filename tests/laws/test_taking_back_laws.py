"""Every structural call, mixed at random, is taken back and done again without a trace."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, RevoluteJoint
from armillary.articulation.mechanisms import Parts
from armillary.errors import ArmillaryError, NothingToUndo
from armillary.scene import Fix, NodeId, Prefer, RemoveFrame
from laws.taking_back import NAMED, answers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary.store.undo_report import UndoReport

MANY = settings(max_examples=3 * settings.default.max_examples)

FRAMES = ["a", "b", "c"]
NODES = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123"]
frames = st.sampled_from(FRAMES)
nodes = st.integers(0, 2)
places = st.sampled_from([0, 1, 2, "map", *FRAMES])
sources = st.sampled_from([None, None, "left"])
stamps = st.integers(1, 12).map(seconds)
maybe = st.none() | stamps
shifts = st.integers(0, 3).map(lambda x: Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0.3 * x)))
kinds = st.sampled_from(["linear", "screw", "step"])

common = st.one_of(
    st.tuples(st.just("fix"), frames, frames, sources, maybe, shifts),
    st.tuples(st.just("set_pose"), frames, frames, sources, stamps, shifts),
    st.tuples(st.just("thing"), nodes, places, shifts, st.booleans()),
)
of_frames = st.one_of(
    st.tuples(st.just("fix"), frames, frames, sources, maybe, shifts),
    st.tuples(st.just("set_pose"), frames, frames, sources, stamps, shifts),
    st.tuples(st.just("set_twist"), frames, frames, sources, stamps),
    st.tuples(st.just("attach"), frames, frames, sources, maybe),
    st.tuples(st.just("detach"), frames, st.none() | frames, maybe),
    st.tuples(st.just("end"), frames, sources, maybe),
    st.tuples(st.just("prefer"), frames, sources, maybe, maybe),
    st.tuples(st.just("add_body"), st.sampled_from(["gun", "a"]), st.lists(frames, max_size=2, unique=True)),
    st.tuples(st.just("remove_body"), st.sampled_from(["gun", "a"]), st.lists(frames, max_size=1)),
    st.tuples(st.just("add_frame"), frames),
    st.tuples(st.just("remove_frame"), frames, st.booleans()),
    st.tuples(st.just("remove_relation"), frames, frames, sources),
    st.tuples(st.just("forget"), frames, st.none() | frames, sources, maybe, maybe),
    st.tuples(st.just("add_relation"), frames, frames, sources, kinds, maybe),
    st.tuples(st.just("keep"), frames, frames, sources),
    st.tuples(st.just("mount"), st.sampled_from(["map", "a"]), maybe),
    st.tuples(st.just("several"), frames, frames, frames, maybe, shifts),
    st.tuples(st.just("reset_time"), maybe),
)
of_nodes = st.one_of(
    st.tuples(st.just("group"), nodes, places),
    st.tuples(st.just("thing"), nodes, places, shifts, st.booleans()),
    st.tuples(st.just("add_parent"), nodes, places),
    st.tuples(st.just("remove_parent"), nodes, places),
    st.tuples(st.just("remove"), nodes, st.booleans()),
    st.tuples(st.just("move"), nodes, places, st.none() | stamps.map(lambda stamp: stamp + 1)),
    st.tuples(st.just("set_attributes"), nodes, st.integers(0, 2)),
    st.tuples(st.just("set_transform"), nodes, shifts, stamps),
)
again = st.sampled_from([("undo",), ("redo",)])
BEGINNINGS: list[list[tuple[Any, ...]]] = [
    [],
    [("thing", 0, "map", Transform.identity(), True), ("thing", 1, 0, Transform.identity(), False), ("group", 2, "a")],
    [
        ("fix", "a", "map", None, None, Transform.identity()),
        ("set_pose", "b", "a", "left", seconds(2), Transform.identity()),
    ],
    [("set_twist", "a", "b", None, seconds(3)), ("set_pose", "c", "b", None, seconds(1), Transform.identity())],
]
anything = common | of_frames | of_frames | of_nodes | of_nodes | again
programs = st.tuples(st.sampled_from(BEGINNINGS), st.lists(anything, min_size=6, max_size=24)).map(
    lambda two: two[0] + two[1]
)


def new_world() -> World:
    ticks = count(seconds(1), 1000)
    world = World("robot", clock=lambda: next(ticks))
    assert world.scene.frame(world.scene.root) in world.frames()  # from now on
    return world


def arm() -> ArticulationModel:
    parts, model = Parts("arm", "base"), ArticulationModel()
    parts.link("base")
    parts.link("hand")
    parts.joint("turn", RevoluteJoint(variable="arm/turn", axis=(0, 0, 1)), child="hand", parent="base")
    model.edit(parts.edits)
    return model


MOVES: dict[str, Any] = {"linear": (1, 0, 0), "angular": (0, 0, 0)}
ARGUMENTS: dict[str, tuple[str, ...]] = {  # of the methods of a world that take keywords
    "fix": ("of", "in_frame", "source", "at", "transform"),
    "set_pose": ("of", "in_frame", "source", "at", "transform"),
    "attach": ("of", "to", "source", "at"),
    "detach": ("of", "to", "at"),
    "end": ("of", "source", "at"),
    "prefer": ("of", "source", "start", "end"),
    "remove_relation": ("of", "in_frame", "source"),
    "forget": ("of", "in_frame", "source", "start", "end"),
    "add_relation": ("of", "in_frame", "source", "interpolation", "at"),
    "reset_time": ("to",),
}


def do(world: World, kind: str, *arguments: Any) -> None:
    match kind, arguments:
        case "set_twist", [of, still, source, at]:
            world.set_twist(of=of, relative_to=still, expressed_in=of, at=at, source=source, **MOVES)
        case "remove_frame", [name, subtree]:
            world.remove_frame(name, subtree=subtree)
        case "keep", [of, in_frame, source]:
            world.keep(of=of, in_frame=in_frame, source=source, max_samples=100)
        case "mount", [in_frame, at]:
            world.mount(arm(), in_frame=in_frame, at=at)
        case "several", [of, in_frame, other, at, transform]:
            fix = Fix(of=of, in_frame=in_frame, transform=transform, at=at)
            world.apply([fix, Prefer(of=of, source="left"), RemoveFrame([other], subtree=True)])
        case _ if kind in ARGUMENTS:
            getattr(world, kind)(**dict(zip(ARGUMENTS[kind], arguments, strict=True)))
        case _ if kind in OF_NODES:
            do_to_node(world, kind, *arguments)
        case _:
            getattr(world, kind)(*arguments)


OF_NODES = {"group", "thing", "add_parent", "remove_parent", "remove", "move", "set_attributes", "set_transform"}


def do_to_node(world: World, kind: str, node: int, *arguments: Any) -> None:
    scene, id_ = world.scene, NODES[node]
    match kind, arguments:
        case "group", [place]:
            scene.add_group(parent=_place(world, place), id=id_)
        case "thing", [place, transform, is_named]:
            name = f"{NAMED} {node}" if is_named else None
            scene.add_transform(parent=_place(world, place), transform=transform, id=id_, frame=name)
        case "remove", [subtree]:
            scene.remove(id_, subtree=subtree)
        case "move", [place, at]:
            scene.move(id_, to=_place(world, place), **({} if at is None else {"at": at}))
        case "set_attributes", [value]:
            scene.set_attributes(id_, {"seen": value or None})
        case "set_transform", [transform, at]:
            scene.set_transform(id_, transform, at=at)
        case _, [place]:
            getattr(scene, kind)(id_, _place(world, place))


def _place(world: World, place: int | str) -> NodeId | str:
    if place == "map":
        return world.scene.root
    return NODES[place] if isinstance(place, int) else place


def is_done(world: World, call: tuple[Any, ...]) -> bool:
    """Whether it was not refused: what is refused has not happened."""
    before = answers_of(world)
    try:
        do(world, *call)
    except ArmillaryError:
        answers_of(world).assert_are(before, samples_are_lost=False)
        return False
    return True


def steps(world: World) -> int:
    """How many changes were ever made here."""
    return sum(last for ranges in world.scene.version_vector().values() for _, last in ranges)


def assert_is_undone_and_done_again(world: World, before: Any) -> None:
    after = answers_of(world)
    try:
        report = world.undo()
    except ArmillaryError:
        answers_of(world).assert_are(after, samples_are_lost=False)
        return
    is_lost = report.samples_lost > 0
    answers_of(world).assert_are(before, samples_are_lost=is_lost)
    for _ in range(2):
        try:
            world.redo()
        except NothingToUndo:  # samples moved it, and do not come back
            return
        answers_of(world).assert_are(after, samples_are_lost=is_lost)
        world.undo()
        answers_of(world).assert_are(before, samples_are_lost=is_lost)
    world.redo()


@MANY
@given(programs)
def test_a_change_is_taken_back_and_done_again(program: list[Any]) -> None:
    world = new_world()
    for call in program:
        before, made = answers_of(world), steps(world)
        if is_done(world, call) and call[0] not in {"undo", "redo"} and steps(world) > made:
            assert_is_undone_and_done_again(world, before)


@MANY
@given(programs)
def test_all_changes_are_taken_back_one_by_one(program: list[Any]) -> None:
    """Each `undo` leads to what was there before, down to what cannot be undone, and each `redo` up again."""
    world = new_world()
    found = [world.digest()]
    for call in program:
        if call[0] not in {"undo", "redo"} and is_done(world, call):
            _note(found, world)
    down, is_lost = _repeated(world, world.undo)
    bottom = len(found) - len(down)
    assert down == found[bottom:][::-1]
    up, _ = _repeated(world, world.redo)
    assert up == found[bottom : bottom + len(up)]
    assert is_lost or len(up) == len(down)  # what rests on samples that are lost may be refused


def _repeated(world: World, act: Callable[[], UndoReport]) -> tuple[list[str], bool]:
    """The digests that it leads to, the present one first, until it is refused; and whether samples were lost."""
    found, is_lost = [world.digest()], False
    with suppress(ArmillaryError):
        while report := act():
            is_lost = is_lost or report.samples_lost > 0
            _note(found, world)
    return found, is_lost


def _note(found: list[str], world: World) -> None:
    """What restates something, and moves by samples, change no digest."""
    if world.digest() != found[-1]:
        found.append(world.digest())
