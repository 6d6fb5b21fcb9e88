"""A mounted model is changes: a replica has its joints and poses, in whatever order, and without the model."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, FixedJoint, PrismaticJoint, RevoluteJoint
from armillary.articulation.mechanisms import Parts, four_bar
from armillary.errors import ArmillaryError
from armillary.scene import Change
from armillary.store.records import change_of
from laws.taking_back import assert_is_taken_back_and_done_again

MANY = settings(max_examples=settings.default.max_examples)

names = st.sampled_from(["one", "two"])
stamps = st.integers(1, 12).map(seconds)
shifts = st.integers(0, 3).map(lambda x: Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0.3 * x)))
links = st.sampled_from(["one/hand", "two/hand", "one/base", "cup"])

calls = st.one_of(
    st.tuples(st.just("mount"), names, st.none() | stamps),
    st.tuples(st.just("mount_bars"), st.just("bars")),
    st.tuples(st.just("tool"), names),
    st.tuples(st.just("other_joint"), names),
    st.tuples(st.just("undo_edit"), names),
    st.tuples(st.just("fix"), links, links, st.none() | stamps, shifts),
    st.tuples(st.just("remove_frame"), links),
    st.tuples(st.just("reset_time")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)

programs = st.lists(calls, max_size=16)


def new_world(name: str = "robot") -> World:
    ticks = count(seconds(1), 1000)
    return World(name, clock=lambda: next(ticks))


def arm(name: str) -> ArticulationModel:
    parts, model = Parts(name, "base"), ArticulationModel(on_error=_raised)
    parts.link("base")
    parts.link("hand")
    parts.joint("turn", RevoluteJoint(variable=f"{name}/turn", axis=(0, 0, 1)), child="hand", parent="base")
    model.edit(parts.edits)
    return model


def _raised(error: BaseException) -> None:
    assert isinstance(error, ArmillaryError), error


class Program:
    """A world, and the models that are mounted in it by name."""

    def __init__(self) -> None:
        self.world = new_world()
        self.models: dict[str, ArticulationModel] = {}

    def run(self, call: tuple[Any, ...]) -> None:
        """What is refused has not happened."""
        before = self.world.digest()
        try:
            self._do(*call)
        except ArmillaryError:
            assert self.world.digest() == before

    def _do(self, kind: str, *arguments: Any) -> None:
        match kind, arguments:
            case "mount", [name, at]:
                model = arm(name)
                self.world.mount(model, in_frame="map", at=at)
                self.models[name] = model
            case "mount_bars", [name]:
                model = ArticulationModel(on_error=_raised)
                model.edit(four_bar(name))
                self.world.mount(model, in_frame="map", shapes="none")
            case "tool", [name] if name in self.models:
                parts = Parts(name, "base")
                parts.link("tool")
                parts.joint("grip", FixedJoint(), child="tool", parent="hand")
                self.models[name].edit(parts.edits[1:])
            case "other_joint", [name] if name in self.models:
                parts = Parts(name, "base")
                parts.joint("turn", PrismaticJoint(variable=f"{name}/slide"), child="hand", parent="base")
                self.models[name].edit(parts.edits[1:])
            case "undo_edit", [name] if name in self.models and len(self.models[name].tags) > 5:
                self.models[name].undo()
            case "fix", [of, in_frame, at, transform]:
                self.world.fix(of=of, in_frame=in_frame, transform=transform, at=at)
            case "remove_frame" | "undo" | "redo" | "reset_time", _:
                getattr(self.world, kind)(*arguments)


def ran(program: list[Any]) -> World:
    made = Program()
    for call in program:
        made.run(call)
    return made.world


@MANY
@given(programs)
def test_merging_the_changes_into_an_empty_world_gives_an_equal_one(program: list[Any]) -> None:
    world, other = ran(program), new_world("other")
    other.merge(world.scene.changes())
    assert other.digest() == world.digest()
    assert set(other.joints()) == set(world.joints())
    assert set(other.frames()) == set(world.frames()) | {"map"}


@MANY
@given(programs, st.integers(0, 100))
def test_the_order_in_which_they_arrive_does_not_matter(program: list[Any], seed: int) -> None:
    world = ran(program)
    changes, others = world.scene.changes(), [new_world("a"), new_world("b")]
    for other in others:
        random.Random(seed).shuffle(changes)
        for some in (changes[::2], changes[1::2]):
            other.merge(some)
        assert other.digest() == world.digest()
        assert set(other.joints()) == set(world.joints())


@MANY
@given(programs)
def test_applying_the_notified_changes_gives_an_equal_world(program: list[Any]) -> None:
    made, other = Program(), new_world()
    notified: list[Change] = []
    made.world.scene.attach(notified.extend)
    for call in program:
        made.run(call)
    for change in notified:
        other.apply([change])
    assert {type(change_of(record)) for record in made.world.scene.changes()} <= {type(change) for change in notified}
    assert other.digest() == made.world.digest()


@MANY
@given(programs)
def test_undone_changes_leave_no_trace(program: list[Any]) -> None:
    made = Program()
    world = made.world
    for call in program:
        before, depth = world.digest(), len(world.scene.changes())
        made.run(call)
        has_changes = len(world.scene.changes()) > depth
        if not has_changes or call[0] not in {"mount", "mount_bars", "fix"}:
            continue
        assert_is_taken_back_and_done_again(world, before)


@MANY
@given(programs, st.floats(-1, 1))
def test_a_replica_answers_the_same(program: list[Any], q: float) -> None:
    world, other = ran(program), new_world("other")
    other.merge(world.scene.changes())
    for one in (world, other):
        for t in (1, 12):
            one.set_joint_series(list(world.joints()), positions=np.full((1, len(world.joints())), q), at=[seconds(t)])
    for frame in world.frames():
        for t in (1, 7, 12):
            assert _answer(world, frame, seconds(t)) == _answer(other, frame, seconds(t))


def _answer(world: World, frame: str, at: int) -> Any:
    try:
        return world.pose(of=frame, in_frame="map", at=at).transform.matrix.round(9).tolist()
    except ArmillaryError as error:
        return type(error)
