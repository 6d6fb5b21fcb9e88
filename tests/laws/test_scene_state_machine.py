"""Anything done to a scene in any order, compared with a plain model of it at every step."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import (
    NOW,
    AddConnection,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Box,
    NodeId,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
    Sphere,
)
from scene_model import Refused, SceneModel
from scene_model_view import Unclear
from strategies import CLOSE_M
from unit.kit import FakeClock

ROOT = World().scene.root
IDS = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123456"]
TICK_NS = 1000
SHAPES = [Sphere(1.0), Sphere(2.0), Box((1.0, 2.0, 3.0))]
TURNS = [Transform.from_xyz_rpy(xyz=xyz, rpy=(0, 0, np.pi / 2)) for xyz in [(1, 0, 0), (0, 2, 0), (3, 0, 1)]]

values = st.sampled_from([True, 1, 2.5, "cup", [1, "a", False]])
keys = st.sampled_from(["name", "mass"])
attributes = st.dictionaries(keys, values, max_size=2)
stamps = st.sampled_from([NOW, NOW, NOW, 0, 1, 500, 1500, 2500, 2501, 4000, 50_000])
past_stamps = st.sampled_from([NOW, NOW, 0, 1, 500, 1500])
transforms = st.sampled_from(TURNS)
EXPIRING = [("transform", "geometry"), ("transform",), ("geometry",)]


def new_nodes(living):
    """Nodes to add: mostly where they can be, with ids that are free or taken."""
    ids = st.sampled_from(IDS)
    more = {"parent": st.sampled_from([*living, *living, *IDS]), "id": ids}
    placed = more | {"transform": transforms, "attributes": attributes}
    ends = st.lists(st.sampled_from(living) | ids, max_size=2)
    return st.one_of(
        st.builds(AddGroup, **more),  # twice, for what is in them
        st.builds(AddGroup, attributes=attributes, at=stamps, **more),
        st.builds(AddTransform, at=past_stamps | st.none(), **placed),
        st.builds(AddUncertainTransform, covariance=st.just(np.eye(6)), at=past_stamps, **placed),
        st.builds(AddGeometry, shape=st.sampled_from(SHAPES), at=stamps | st.none(), **more),
        st.builds(AddConnection, sources=ends, targets=ends, **more),
        st.builds(AddRemoteRoot, ids, attributes, stamps),
    )


def changes(living):
    """Anything, mostly of nodes that are there."""
    nodes = st.sampled_from([*living, *living, *IDS])
    return st.one_of(
        new_nodes(living),
        st.builds(SetAttributes, nodes, st.dictionaries(keys, st.none() | values, max_size=2), stamps),
        st.builds(SetTransform, nodes, transforms, at=past_stamps),
        st.builds(AddParent, nodes, nodes, stamps),
        st.builds(RemoveParent, nodes, nodes, stamps),
        st.builds(Remove, nodes, stamps),
    )


def everything(scene) -> dict:
    """What can be asked of every node of a scene, as the model answers it."""
    nodes = scene.find({}) + [node for node in IDS if node in scene]
    return {node: answers(scene, node) for node in nodes}


def answers(scene, node) -> tuple:
    kind = scene.kind(node)
    payload = scene.geometry(node) if kind == "geometry" else None
    if kind == "connection":
        tie = scene.connection(node)
        payload = (tie.sources, tie.targets, tie.start, tie.end)
    return kind, scene.parents(node), scene.children(node), scene.attributes(node), payload


def places(world) -> dict:
    """Where every frame is now."""
    seen = world.snapshot(in_frame="map", at=world.now(), outside="hold")
    return {frame: tuple(transform.xyz_wxyz) for frame, transform in seen.items()}


def state_of(world) -> tuple:
    scene = world.scene
    return (
        scene.digest(),
        everything(scene),
        world.frames(),
        places(world),
        scene.version_vector(),
        len(scene.changes()),
    )


class ASceneAndItsModel(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.clock = FakeClock(0)
        self.world = World("tester", clock=self.clock)
        self.scene, self.model = self.world.scene, SceneModel(ROOT)
        self.world.add_frame("map")
        self.digests: dict[str, str] = {}

    def do(self, batch) -> None:
        """By both, or by neither: then nothing at all has changed."""
        self.by_both(lambda: self.model.apply(batch, self.clock.ns), lambda: self.world.apply(batch))

    def by_both(self, by_the_model, by_the_world) -> None:
        self.clock.ns += TICK_NS
        before = state_of(self.world)
        try:
            by_the_model()
        except Refused:
            with pytest.raises(ArmillaryError):
                by_the_world()
            assert state_of(self.world) == before
        else:
            by_the_world()

    @property
    def living(self) -> list:
        return sorted(self.model.view().things, key=str)

    @rule(data=st.data())
    def add(self, data):
        self.do([data.draw(new_nodes(self.living))])

    @rule(data=st.data())
    def change(self, data):
        self.do([data.draw(changes(self.living))])

    @rule(data=st.data())
    def take_out(self, data):
        """Where there is something to take out."""
        now = self.model.view()
        ways = [(node, up.id) for node in self.living for up in now.parents(now.things[node]) if up.kind != "detached"]
        if ways:
            self.do([RemoveParent(*data.draw(st.sampled_from(ways)), data.draw(stamps))])

    @rule(data=st.data())
    def change_several_things_at_once(self, data):
        self.do(data.draw(st.lists(changes(self.living), min_size=2, max_size=5)))

    @rule(data=st.data(), times=st.integers(1, 3))
    def change_few_things_and_take_it_back(self, data, times):
        """Much about the same nodes, with their ids used again."""
        few = data.draw(st.lists(st.sampled_from([*self.living, *IDS]), min_size=1, max_size=2))
        for _ in range(times):
            self.do(data.draw(st.lists(changes(few), min_size=1, max_size=4)))
        for _ in range(times):
            self.undo()
        self.redo()

    @rule(data=st.data())
    def put_several_things_elsewhere_at_once(self, data):
        nodes = st.sampled_from(self.living)
        self.do(data.draw(st.lists(st.builds(AddParent, nodes, nodes), min_size=2, max_size=3)))

    @rule(data=st.data())
    def fail_in_the_middle(self, data):
        several = st.lists(changes(self.living), max_size=3)
        self.do([*data.draw(several), Remove(ROOT), *data.draw(several)])

    @rule(data=st.data())
    def try_something_in_a_copy(self, data):
        before = state_of(self.world)
        with self.world.copy() as copy:
            assert state_of(copy)[:2] == before[:2]
            with contextlib.suppress(ArmillaryError):
                copy.apply(data.draw(st.lists(changes(self.living), max_size=3)))
        assert state_of(self.world) == before

    @rule(older_than=st.sampled_from([0, 1000, 3000, 8000, 10**6]), kinds=st.sampled_from(EXPIRING))
    def expire(self, older_than, kinds):
        self.by_both(
            lambda: self.model.expire(older_than, kinds, self.clock.ns),
            lambda: self.scene.expire(older_than=older_than, kinds=kinds),
        )

    @rule()
    def undo(self):
        self.by_both(lambda: self.model.undo(self.clock.ns), self.world.undo)

    @rule()
    def redo(self):
        self.by_both(lambda: self.model.redo(self.clock.ns), self.world.redo)

    @rule(stamp=st.sampled_from([0, 1, 499, 500, 1500, 2500, 2501, 3000, 4000, 49_999, 50_000, 10**6]))
    def look_back(self, stamp):
        past = self.scene.as_of(stamp)
        with contextlib.suppress(Unclear):
            model = self.model.view(stamp)
            assert everything(past) == model.content()
            assert set(past.find({})) == model.found({})
            assert set(past.find({"name": "cup"})) == model.found({"name": "cup"})
            self.places_are_those_of(model, past)

    def places_are_those_of(self, model, scene) -> None:
        for node, thing in model.things.items():
            map_T_thing = model.map_T_thing(thing)
            if map_T_thing is not None:
                pose = self.world.pose(of=scene.frame(node), in_frame="map", at=model.stamp, outside="hold")
                np.testing.assert_allclose(pose.transform.matrix, map_T_thing.matrix, atol=CLOSE_M)

    @rule(node=st.sampled_from(IDS))
    def look_under(self, node):
        thing = self.model.view().things.get(node)
        if thing is not None:
            for query in ({}, {"name": "cup"}, {"mass": 1}):
                assert set(self.scene.find(query, under=node)) == self.model.view().found(query, thing)

    @invariant()
    def it_is_what_the_model_is(self):
        model = self.model.view()
        assert everything(self.scene) == model.content()
        assert set(self.scene.find({})) == model.found({})
        assert set(self.scene.find({"name": "cup"})) == model.found({"name": "cup"})
        assert len(self.scene) == len(model.things)

    @invariant()
    def equal_scenes_have_equal_digests_and_no_others(self):
        unmounted = sorted(str(node) for node in self.scene.remote_roots)
        described = repr((unmounted, sorted((str(node), str(answer)) for node, answer in self.comparable().items())))
        assert self.digests.setdefault(described, self.scene.digest()) == self.scene.digest()
        assert len(set(self.digests.values())) == len(self.digests)

    def comparable(self) -> dict:
        """The content without orders, which are no part of the digest."""
        content = self.model.view().content()
        return {
            node: (kind, sorted(map(str, up)), described, what)
            for node, (kind, up, _, described, what) in content.items()
        }

    @invariant()
    def a_replay_gives_the_same(self):
        with World("replay", clock=self.clock) as replay:
            replay.merge(self.scene.changes())
            assert replay.scene.digest() == self.scene.digest()
            assert everything(replay.scene) == everything(self.scene)
            assert {n: replay.scene.frame(n) for n in everything(self.scene)} == self.frames_of_nodes()

    def frames_of_nodes(self) -> dict:
        return {node: self.scene.frame(node) for node in everything(self.scene)}

    @invariant()
    def nodes_are_where_the_transforms_above_them_say(self):
        with contextlib.suppress(Unclear):
            self.places_are_those_of(self.model.view(self.clock.ns), self.scene.as_of(self.clock.ns))

    def teardown(self):
        self.world.close()


TestASceneAndItsModel = ASceneAndItsModel.TestCase
