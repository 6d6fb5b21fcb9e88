"""A batch has the effect of its changes one after the other, samples of any instant included."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from armillary.scene import AddGroup, AddParent, AddTransform, Change, NodeId, Remove, RemoveParent, SetTransform
from unit.kit import FakeClock

NODES = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123"]
HALL = NodeId("40000000-0000-4000-8000-000000000000")
ROOT = World().scene.root

nodes = st.sampled_from(NODES)
parents = st.sampled_from([ROOT, HALL, *NODES])
places = st.integers(0, 9).map(lambda x: Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0)))
stamps = st.integers(0, 12).map(lambda halves: seconds(halves / 2))
samples = st.builds(SetTransform, nodes, places, at=stamps)

moves = st.one_of(
    st.builds(AddTransform, parent=parents, transform=places, id=nodes),
    st.builds(AddTransform, parent=parents, transform=places, id=nodes, at=st.none()),
    st.builds(AddParent, nodes, parents),
    st.builds(RemoveParent, nodes, parents),
    st.builds(Remove, nodes),
    samples,
)


@st.composite
def journeys(draw) -> list[Change]:
    """Steps that happen to one node, one second after the other: it goes elsewhere, or away and comes back."""
    node, elsewhere = draw(nodes), draw(parents)
    when = draw(st.sampled_from([{}, {"at": None}]))
    anew = AddTransform(parent=elsewhere, transform=draw(places), id=node, **when)
    away = [AddParent(node, elsewhere), *(RemoveParent(node, parent) for parent in (ROOT, HALL) if parent != elsewhere)]
    return draw(st.sampled_from([away, [Remove(node), anew], [draw(moves)]]))


def begin(world: World) -> None:
    """One node is there from the first instant on, one always was."""
    world.apply([AddGroup(parent=ROOT, id=HALL)])
    world.apply([AddTransform(parent=ROOT, transform=Transform.identity(), id=NODES[0])])
    world.apply([AddTransform(parent=HALL, transform=Transform.identity(), id=NODES[1], at=None)])


def is_accepted(world: World, change: Change) -> bool:
    try:
        world.apply([change])
    except ArmillaryError:
        return False
    return True


def where(world: World, node: NodeId, at: int) -> list[float] | str:
    try:
        pose = world.pose(of=world.scene.frame(node), in_frame="map", at=at, outside="hold")
    except ArmillaryError as error:
        return type(error).__name__
    return pose.xyz.tolist()


def everything(world: World) -> list[list[float] | str]:
    return [where(world, node, seconds(quarters / 4)) for node in NODES for quarters in range(32)]


@given(st.lists(journeys(), max_size=4), st.lists(st.one_of(samples, samples, moves), min_size=2, max_size=8))
def test_together_as_one_by_one(past: list[list[Change]], changes: list[Change]) -> None:
    clock = FakeClock(0)
    with World("singly", clock=clock) as singly:
        begin(singly)
        for change in itertools.chain.from_iterable(past):
            clock.ns += seconds(1)
            is_accepted(singly, change)
        with singly.copy() as together:
            batch = [change for change in changes if is_accepted(singly, change)]
            together.apply(batch)
            assert everything(together) == everything(singly)
            assert together.scene.find({}) == singly.scene.find({})
