"""Merging with a prefix is merging a world that was built with prefixed names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddBody,
    AddFrame,
    AddGroup,
    AddJoints,
    AddParent,
    AddRelation,
    AddTransform,
    Fix,
    NodeId,
    Prefer,
    Remove,
    RemoveFrame,
    RemoveParent,
    SetAttributes,
)
from armillary.store.prefixes import Prefix

PREFIX = "B/"
FRAMES = ("base", "arm", "tool", "map")
NODES = tuple(NodeId(f"{k}0000000-0000-4000-8000-000000000000") for k in range(1, 5))
KINDS = ("fix", "relation", "body", "prefer", "frame", "erase", "joint")
KINDS += ("group", "transform", "say", "remove", "put", "take")
numbers = st.integers(0, 7)
steps = st.lists(st.tuples(st.sampled_from(KINDS), numbers, numbers, st.integers(0, 3)), max_size=12)


class Plain:
    """The names of the world that is merged with a prefix."""

    def frame(self, k: int) -> str:
        """A frame; also that of a node."""
        return FRAMES[k] if k < len(FRAMES) else str(self.node(k))

    def node(self, k: int) -> NodeId:
        return NODES[k % len(NODES)]

    def parent(self, k: int) -> NodeId | str:
        """A node, or a frame in place of one."""
        return self.frame(k) if k < len(FRAMES) else self.node(k)

    def joint(self, k: int) -> str:
        return f"joint {k}"


class Prefixed(Plain):
    """The names of the world that is built with the prefix."""

    naming = Prefix(PREFIX)

    def frame(self, k: int) -> str:
        return PREFIX + FRAMES[k] if k < len(FRAMES) else str(self.node(k))

    def node(self, k: int) -> NodeId:
        return self.naming.node(super().node(k))

    def joint(self, k: int) -> str:
        return self.naming.name(super().joint(k))


def change(names: Plain, kind: str, a: int, b: int, value: int):
    """One change by its numbers."""
    transform, at = Transform.exp((0.1 * value, 0, 0, 0, 0, 0.2 * value)), 100 * value
    source = ("", "left", "right", "x")[value]
    a = 0 if a == FRAMES.index("map") else a  # the root stays: what it was placed in could be removed with it
    edge = {"of": names.frame(a), "in_frame": names.frame(b), "source": source}
    made = {
        "fix": lambda: Fix(**edge, transform=transform, at=at if value % 2 else None),
        "relation": lambda: AddRelation(**edge, at=at),
        "body": lambda: AddBody(names.frame(a), [names.frame(b)]),
        "prefer": lambda: Prefer(of=names.frame(a), source=source),
        "frame": lambda: AddFrame([names.frame(a)]),
        "erase": lambda: RemoveFrame([names.frame(a % 3)], subtree=True),
        "group": lambda: AddGroup(parent=names.parent(b), id=names.node(a), attributes={"v": value}, at=at),
        "transform": lambda: AddTransform(parent=names.parent(b), transform=transform, id=names.node(a), at=at),
        "say": lambda: SetAttributes(names.node(a), {"v": value}, at),
        "remove": lambda: Remove(names.node(a), at, subtree=True),
        "put": lambda: AddParent(names.node(a), names.parent(b), at),
        "take": lambda: RemoveParent(names.node(a), names.parent(b), at),
        "joint": lambda: AddJoints({names.joint(a): "linear"}),
    }
    return made[kind]()


def built(names: Plain, script) -> tuple[World, list[str | None]]:
    world = World("robot", clock=lambda: 1000)
    world.apply([AddFrame([names.frame(FRAMES.index("map"))])])
    refused: list[str | None] = []
    for step in script:
        try:
            world.apply([change(names, *step)])
            refused.append(None)
        except ArmillaryError as error:
            refused.append(type(error).__name__)
    return world, refused


def merged(world: World, **how) -> World:
    into = World("fleet", clock=lambda: 1000)
    into.merge(world.scene.changes(), **how)
    return into


class TestMergingWithAPrefix:
    @given(steps)
    def test_is_merging_a_world_with_prefixed_names(self, script):
        (plain, first), (prefixed, second) = built(Plain(), script), built(Prefixed(), script)
        assert first == second
        with_prefix, direct = merged(plain, prefix=PREFIX), merged(prefixed)
        assert set(with_prefix.frames()) == set(direct.frames())
        assert with_prefix.digest() == direct.digest()

    @given(steps)
    def test_twice_changes_nothing(self, script):
        plain, _ = built(Plain(), script)
        world = merged(plain, prefix=PREFIX)
        before = world.digest()
        assert world.merge(plain.scene.changes(), prefix=PREFIX) == []
        assert world.digest() == before

    @given(steps, steps)
    def test_leaves_other_prefixes_alone(self, script, other):
        (one, _), (two, _) = built(Plain(), script), built(Plain(), other)
        both = merged(one, prefix="A/")
        both.merge(two.scene.changes(), prefix=PREFIX)
        back = merged(two, prefix=PREFIX)
        back.merge(one.scene.changes(), prefix="A/")
        assert both.digest() == back.digest()
        assert set(merged(one, prefix="A/").frames()) <= set(both.frames())
