"""A world that applies the notified changes of another one stays equal to it, whatever happens there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    Change,
    NodeId,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
)
from unit.kit import FakeClock

NODES = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123"]
ROOT = World().scene.root

with World("kitchen") as kitchen:
    kitchen.fix(of="shelf", in_frame="map", transform=Transform.identity())
    SHELF = kitchen.scene.changes()

nodes = st.sampled_from(NODES)
parents = st.sampled_from([ROOT, *NODES, "shelf"])
places = st.integers(0, 3).map(lambda x: Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0)))

changes = st.one_of(
    st.builds(AddGroup, parent=parents, id=nodes),
    st.builds(AddTransform, parent=parents, transform=places, id=nodes),
    st.builds(AddTransform, parent=parents, transform=places, id=nodes, at=st.none()),
    st.builds(AddRemoteRoot, nodes),
    st.builds(AddParent, nodes, parents),
    st.builds(RemoveParent, nodes, parents),
    st.builds(Remove, nodes, subtree=st.booleans()),
    st.builds(SetAttributes, st.sampled_from([*NODES, "shelf"]), st.just({"seen": True})),
    st.builds(SetTransform, nodes, places),
)
steps = st.one_of(st.lists(changes, min_size=1, max_size=4), st.sampled_from(["undo", "redo"]))


def step(world: World, what: list[Change] | str) -> None:
    try:
        world.apply(what) if isinstance(what, list) else getattr(world, what)()
    except ArmillaryError:
        return


def where(world: World, node: NodeId) -> Any:
    try:
        pose = world.pose(of=world.scene.frame(node), in_frame="map", at=world.now(), outside="hold")
    except ArmillaryError as error:
        return type(error)
    return pose.xyz.tolist()


@given(st.lists(steps, max_size=12))
def test_a_mirror_stays_equal(program: list[Any]) -> None:
    clock, refused = FakeClock(seconds(1)), []
    with World("here", clock=clock) as world, World("mirror", clock=clock) as mirror:
        for one in (world, mirror):
            one.merge(SHELF)
        world.on_error = refused.append
        world.scene.attach(mirror.apply)
        for what in program:
            clock.ns += seconds(1)
            step(world, what)
            assert refused == []
        assert mirror.scene.digest() == world.scene.digest()
        assert [where(mirror, node) for node in NODES] == [where(world, node) for node in NODES]
