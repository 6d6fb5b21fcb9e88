"""Every structural call is a change: a world follows from its changes, in whatever order a replica receives them."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from armillary.scene import Change, NodeId
from armillary.store.records import change_of
from laws.taking_back import assert_is_taken_back_and_done_again

MANY = settings(max_examples=4 * settings.default.max_examples)

names = st.sampled_from(["a", "b", "c", "d", "e"])
sources = st.sampled_from([None, "left", "right"])
stamps = st.integers(1, 12).map(seconds)
shifts = st.integers(0, 3).map(lambda x: Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0.3 * x)))

calls = st.one_of(
    st.tuples(st.just("fix"), names, names, sources, st.none() | stamps, shifts),
    st.tuples(st.just("set_pose"), names, names, sources, stamps, shifts),
    st.tuples(st.just("set_twist"), names, names, sources, stamps),
    st.tuples(st.just("attach"), names, names, stamps),
    st.tuples(st.just("prefer"), names, sources),
    st.tuples(st.just("add_body"), st.sampled_from(["gun", "a"]), st.lists(names, max_size=2, unique=True)),
    st.tuples(st.just("add_frame"), names),
    st.tuples(st.just("remove_frame"), names, st.booleans()),
    st.tuples(st.just("reset_time"), st.none() | stamps),
    st.tuples(st.just("group"), names),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)

programs = st.lists(calls, max_size=25)
NODES = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123"]
node_calls = st.one_of(
    st.tuples(st.sampled_from(["add", "add", "place", "add_parent"]), st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.sampled_from(["remove", "say"]), st.integers(0, 2)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)
of_frames = st.lists(calls.filter(lambda call: call[0] != "group"), max_size=25)


def new_world(name: str = "robot") -> World:
    ticks = count(seconds(1), 1000)
    return World(name, clock=lambda: next(ticks))


def run(world: World, call: tuple[Any, ...]) -> None:
    """One call; what is refused has not happened."""
    kind, *arguments = call
    before = world.digest()
    try:
        _do(world, kind, arguments)
    except ArmillaryError:
        assert world.digest() == before


def _do(world: World, kind: str, arguments: list[Any]) -> None:
    match kind, arguments:
        case "fix", [of, in_frame, source, at, transform]:
            world.fix(of=of, in_frame=in_frame, transform=transform, at=at, source=source)
        case "set_pose", [of, in_frame, source, at, transform]:
            world.set_pose(of=of, in_frame=in_frame, transform=transform, at=at, source=source)
        case "set_twist", [of, still, source, at]:
            moves: dict[str, Any] = {"linear": (1, 0, 0), "angular": (0, 0, 0)}
            world.set_twist(of=of, relative_to=still, expressed_in=of, at=at, source=source, **moves)
        case "attach", [of, to, at]:
            world.attach(of=of, to=to, at=at)
        case "prefer", [of, source]:
            world.prefer(of=of, source=source)
        case "remove_frame", [name, subtree]:
            world.remove_frame(name, subtree=subtree)
        case "reset_time", [to]:
            world.reset_time(to=to)
        case "group", [frame]:
            world.scene.add_group(parent=frame)
        case _:
            getattr(world, kind)(*arguments)


@MANY
@given(programs)
def test_merging_the_changes_into_an_empty_world_gives_an_equal_one(program: list[Any]) -> None:
    world, other = new_world(), new_world("other")
    for call in program:
        run(world, call)
    other.merge(world.scene.changes())
    assert other.digest() == world.digest()
    assert other.time_epoch == world.time_epoch
    assert set(other.frames()) == set(world.frames()) | {"map"}


@MANY
@given(of_frames)
def test_applying_the_notified_changes_gives_an_equal_world(program: list[Any]) -> None:
    world, other = new_world(), new_world()
    notified: list[Change] = []
    world.scene.attach(notified.extend)
    for call in program:
        run(world, call)
    for change in notified:
        other.apply([change])
    assert {type(change_of(record)) for record in world.scene.changes()} <= {type(change) for change in notified}
    assert other.digest() == world.digest()


def _do_to_node(world: World, kind: str, arguments: list[Any]) -> None:
    scene, places = world.scene, [world.scene.root, *NODES]
    match kind, arguments:
        case "add", [node, parent]:
            scene.add_group(parent=places[parent], id=NODES[node])
        case "place", [node, parent]:
            scene.add_transform(parent=places[parent], transform=Transform.identity(), at=None, id=NODES[node])
        case "add_parent", [node, parent]:
            scene.add_parent(NODES[node], places[parent])
        case "remove", [node]:
            scene.remove(NODES[node])
        case "say", [node]:
            scene.set_attributes(NODES[node], {"seen": world.now()})
        case _:
            getattr(world, kind)()


@MANY
@given(st.lists(node_calls, max_size=25))
def test_applying_the_notified_changes_of_nodes_gives_an_equal_scene(program: list[Any]) -> None:
    world, other = new_world(), new_world()
    notified: list[Change] = []
    world.scene.attach(notified.extend)
    for kind, *arguments in program:
        with suppress(ArmillaryError):
            _do_to_node(world, kind, arguments)
    for change in notified:
        other.apply([change])
    assert other.digest() == world.digest()


@MANY
@given(programs, programs, st.integers(0, 100))
def test_replicas_with_the_same_changes_are_equal(mine: list[Any], yours: list[Any], seed: int) -> None:
    worlds = [new_world("one"), new_world("two")]
    for world, program in zip(worlds, (mine, yours), strict=True):
        for call in program:
            run(world, call)
    changes = [record for world in worlds for record in world.scene.changes()]
    worlds.append(new_world("three"))
    for world in worlds:
        random.Random(seed).shuffle(changes)
        for some in (changes[::2], changes[1::2], changes):
            world.merge(some)
    assert len({world.digest() for world in worlds}) == 1
    assert len({world.time_epoch for world in worlds}) == 1


@MANY
@given(programs)
def test_undone_changes_leave_no_trace(program: list[Any]) -> None:
    world = new_world()
    for call in program:
        before = world.digest()
        depth = len(world.scene.changes())
        run(world, call)
        if len(world.scene.changes()) == depth or call[0] in {"set_pose", "set_twist", "undo", "redo"}:
            continue
        assert_is_taken_back_and_done_again(world, before)
