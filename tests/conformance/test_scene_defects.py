"""Defects of the paper's library: each is not here.

D1, D2 and D6 to D9, about paths and their uncertainty, are in test_scene_defects_uncertainty.py; the walk of D1 itself
is in test_scene_facts_traversal.py.
"""

import inspect
import itertools

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import SceneCycle, UnknownNode
from armillary.scene import Box, NodeId, PointCloud, Sphere
from conformance.scenes import IDENTITY, shifted
from conformance.things import CLOSE_M, RecordedChanges, covariance_of, fixed, kept_s, sampled, xyz

SURE = covariance_of(1, 2, 3, 4, 5, 6)


@pytest.fixture(params=["merged", "read from a file"])
def copied(request, scene, tmp_path):
    """Another world with the same scene, by either way a scene travels."""

    def copy():
        world = World("copy")
        if request.param == "merged":
            world.merge(scene.changes())
        else:
            scene.save(tmp_path / "scene.json")
            world.scene.load(tmp_path / "scene.json")
        return world

    return copy


class TestD3LongCyclesAreAccepted:
    @pytest.mark.parametrize("length", [1, 2, 3, 10, 500])
    def test_is_not_here(self, scene, length):
        chain = [scene.add_group(parent=scene.root)]
        for _ in range(length - 1):
            chain.append(scene.add_group(parent=chain[-1]))
        before = scene.digest()
        with pytest.raises(SceneCycle) as refused:
            scene.add_parent(chain[0], chain[-1])
        assert refused.value.path == tuple(reversed(chain))
        assert scene.digest() == before

    def test_is_not_here_among_replicas(self, house):
        """Each half of the cycle is allowed where it is made; together they are not."""
        x, y = (house.scene.add_group(parent=house.scene.root) for _ in range(2))
        copy = World("copy")
        copy.merge(house.scene.changes())
        house.scene.add_parent(x, y)
        copy.scene.add_parent(y, x)
        for here, there in ((house, copy), (copy, house)):
            here.merge(there.scene.changes())
        both = [world.scene for world in (house, copy)]
        assert both[0].digest() == both[1].digest()
        assert [x in scene.children(y) and y in scene.children(x) for scene in both] == [False, False]


class TestD4ConnectionsForgetTheirTimeAndDangle:
    def test_is_not_here_for_the_time(self, scene):
        ends = [scene.add_group(parent=scene.root) for _ in range(2)]
        tie = scene.add_connection(
            parent=scene.root, sources=ends[:1], targets=ends[1:], start=seconds(1), end=seconds(2)
        )
        connection = scene.connection(tie)
        assert (connection.start, connection.end) == (seconds(1), seconds(2))
        assert [connection.holds_at(seconds(at)) for at in (0.5, 1, 1.5, 2)] == [False, True, True, False]

    def test_is_not_here_for_ends_that_never_were(self, scene):
        with pytest.raises(UnknownNode):
            scene.add_connection(parent=scene.root, sources=[NodeId.random()], targets=[scene.root])
        assert len(scene) == 1

    def test_is_not_here_for_ends_that_are_gone(self, scene):
        end = scene.add_group(parent=scene.root)
        tie = scene.add_connection(parent=scene.root, sources=[end], targets=[scene.root])
        scene.remove(end)
        assert scene.connection(tie).sources == (end,)
        assert end not in scene


class TestD5EveryMovingThingLooksOutdated:
    def test_is_not_here(self, scene, clock):
        node = sampled(scene, 1000)
        clock.ns = seconds(1004)
        assert scene.expire(older_than=seconds(5)) == []
        assert node in scene

    def test_is_not_here_on_the_wall_clock(self):
        world = World()
        node = world.scene.add_transform(parent=world.scene.root, transform=IDENTITY)
        assert world.scene.expire(older_than=seconds(3600)) == []
        assert node in world.scene


class TestD10HalfTurnsBreakQuaternions:
    @pytest.mark.parametrize("axis", [axis for axis in itertools.product((-1, 0, 1), repeat=3) if any(axis)])
    @pytest.mark.parametrize("angle", [1e-9, 1.0, np.pi - 1e-9, np.pi])
    def test_is_not_here(self, axis, angle):
        unit = np.array(axis) / np.linalg.norm(axis)
        turn = Transform.exp([0.0, 0.0, 0.0, *(angle * unit)])
        w, *xyz_part = Transform.from_matrix(turn.matrix).rotation.wxyz
        assert abs(w) == pytest.approx(np.cos(angle / 2), abs=1e-12)
        assert np.abs(np.outer(xyz_part, xyz_part) - np.sin(angle / 2) ** 2 * np.outer(unit, unit)).max() < 1e-9


class TestD11StampsCloudsAndConnectionsAreLostOnTheWay:
    def test_is_not_here(self, scene, copied):
        cloud = scene.add_geometry(parent=scene.root, shape=PointCloud(np.eye(3)), at=seconds(7))
        tie = scene.add_connection(parent=scene.root, sources=[cloud], targets=[scene.root], start=1, end=2)
        there = copied().scene
        assert there.stamp(cloud) == seconds(7)
        assert there.geometry(cloud) == scene.geometry(cloud)
        assert there.connection(tie) == scene.connection(tie)


class TestD12UncertaintyIsLostOnTheWay:
    def test_is_not_here(self, scene, copied):
        node = scene.add_uncertain_transform(parent=scene.root, transform=shifted(1), covariance=SURE, at=None)
        copy = copied()
        pose = copy.pose(of=copy.scene.frame(node), in_frame="map")
        assert copy.scene.kind(node) == "uncertain_transform"
        assert np.array_equal(pose.covariance, SURE)
        assert pose.transform.translation.tolist() == [1, 0, 0]

    def test_is_not_here_for_the_history_in_a_file(self, house, scene, tmp_path):
        node = sampled(scene, 0, 1, 2)
        scene.save(tmp_path / "scene.json")
        copy = World("copy")
        copy.scene.load(tmp_path / "scene.json")
        assert kept_s(copy, node) == kept_s(house, node) == [0, 1, 2]


class TestD13ManyValuesOfOneKeyAreLostOnTheWay:
    def test_is_not_here(self, scene, copied):
        policies = ["send no Meshes", "send no PointClouds"]
        scene.set_attributes(scene.root, {"rsg:agent_policy": policies})
        assert copied().scene.attributes(scene.root) == {"rsg:agent_policy": policies}


class TestD14TheFastStarveTheSlow:
    def test_is_not_here_for_what_is_kept(self, house, scene):
        slow, fast = sampled(scene, 0, 1), sampled(scene, 0)
        for at_s in range(1, 100):
            scene.set_transform(fast, shifted(), at=seconds(at_s))
        assert kept_s(house, slow) == [0, 1]
        assert xyz(house, slow, at=seconds(0.5)) == [0.5, 0, 0]


class TestD15IdsPileUp:
    def test_is_not_here(self, clock):
        world = World(clock=clock, history=seconds(2))
        scene = world.scene
        for _ in range(1000):
            clock.ns += seconds(1)
            scene.remove(scene.add_group(parent=scene.root))
        assert len(scene) == 1
        assert len(scene.changes()) <= 600  # 256 are forgotten at once


class TestD16DeadIdsCannotBeUsedAgain:
    def test_is_not_here_after_a_cascade(self, scene):
        top = scene.add_group(parent=scene.root)
        below = [scene.add_group(parent=top, attributes={"name": "old"}) for _ in range(3)]
        scene.remove(top)
        for node in [top, *below]:
            assert node not in scene
            assert scene.add_group(parent=scene.root, id=node) == node
            assert scene.attributes(node) == {}

    def test_is_not_here_for_another_kind(self, scene):
        node = scene.add_group(parent=scene.root)
        scene.remove(node)
        scene.add_geometry(parent=scene.root, shape=Sphere(1.0), id=node)
        assert scene.kind(node) == "geometry"


class TestD17ObserversMakeIdsOfTheirOwn:
    def add_everything(self, scene):
        group = scene.add_group(parent=scene.root)
        ends = [
            scene.add_transform(parent=group, transform=shifted(1)),
            scene.add_uncertain_transform(parent=group, transform=shifted(2), covariance=SURE),
        ]
        scene.add_geometry(parent=ends[0], shape=Box((1, 2, 3)))
        scene.add_connection(parent=group, sources=ends[:1], targets=ends[1:])
        return scene.add_remote_root(NodeId.random())

    def test_is_not_here(self, scene):
        copy = World("copy")
        scene.attach(copy.apply)
        self.add_everything(scene)
        assert copy.scene.digest() == scene.digest()

    def test_is_not_here_for_a_graph_that_is_mounted(self, scene):
        copy = World("copy")
        scene.attach(copy.apply)
        scene.add_parent(self.add_everything(scene), scene.root)
        assert copy.scene.digest() == scene.digest()

    def test_is_not_here_for_any_kind(self, scene):
        recorded = RecordedChanges(scene)
        self.add_everything(scene)
        assert [change.id in scene for change in recorded] == [True] * 6


class TestD18TheDocumentedDefaultIsAnother:
    def test_is_not_here(self, house, scene):
        node = sampled(scene, 0, 1)
        assert "interpolated" in inspect.getdoc(World.pose)
        assert xyz(house, node, at=seconds(0.25))[0] == pytest.approx(0.25, abs=CLOSE_M)


class TestD19ThingsAreWhereTheyAreInTheirParent:
    def test_is_not_here(self, house, scene):
        table = fixed(scene, 1, 2, 3, parent=scene.root)
        cup = fixed(scene, 0, 0, 1, parent=table, attributes={"taskType": "sceneObject"})
        (found,) = scene.find({"taskType": "sceneObject"})
        assert found == cup
        assert xyz(house, found) == [1, 2, 4]
        assert xyz(house, found, seen_from=table) == [0, 0, 1]


class TestD20OneFailureIsToldTwice:
    def test_is_not_here(self, house, scene):
        reported = []
        house.on_error = reported.append
        with pytest.raises(UnknownNode) as refused:
            scene.set_attributes(NodeId.random(), {"a": 1}, at=seconds(1))
        assert refused.value.__cause__ is None
        assert reported == []
