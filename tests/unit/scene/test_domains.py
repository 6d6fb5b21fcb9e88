"""What containment means, domain by domain."""

from __future__ import annotations

import re

import numpy as np
import pytest

from armillary import Box, PointCloud, Sphere, Transform, World, seconds
from armillary.errors import AfterHistory, InvalidArgument, UnknownFrame
from armillary.scene import (
    AttributeDomain,
    CollisionDomain,
    PathCollector,
    PointCloudAccumulator,
    SpatialDomain,
    SubgraphChecker,
    TemporalDomain,
    UncertainDomain,
    absent,
    between,
    contains,
    exists,
    greater,
    less_equal,
)
from unit.kit import CLOSE_M, FakeClock, moved
from unit.scene.scene_kit import SPREAD, two_ways


class TestPaths:
    def test_are_all_there(self):
        seen = two_ways()
        paths = seen.scene.traverse(PathCollector(), under=seen.n5).paths
        assert paths == [(seen.scene.root, seen.tf1, seen.utf3), (seen.scene.root, seen.utf2, seen.g4)]

    def test_to_the_root_are_one_and_empty(self):
        assert two_ways().scene.traverse(PathCollector()).paths == [()]

    def test_are_whole_where_ways_part_above_and_meet_before_the_node(self):
        scene = World().scene
        a, b = (scene.add_group(parent=scene.root) for _ in range(2))
        p = scene.add_group(parent=a)
        scene.add_parent(p, b)
        leaf = scene.add_group(parent=p)
        assert scene.traverse(PathCollector(), under=leaf).paths == [(scene.root, a, p), (scene.root, b, p)]

    def test_of_a_root_of_others_end_there(self):
        scene = World().scene
        remote = scene.add_remote_root(scene.add_group(parent=scene.root).__class__.random())
        inside = scene.add_group(parent=remote)
        assert scene.traverse(PathCollector(), under=inside).paths == [(remote,)]


class TestBeingContained:
    def test_is_counted_by_paths(self):
        seen = two_ways()
        counts = [
            seen.scene.traverse(SubgraphChecker(of), under=seen.n5).number_of_paths
            for of in (seen.scene.root, seen.tf1, seen.n5)
        ]
        assert counts == [2, 1, 1]

    def test_is_false_elsewhere(self):
        seen = two_ways()
        assert not seen.scene.traverse(SubgraphChecker(seen.tf1), under=seen.g4).is_contained

    def test_is_asked_of_a_frame_by_its_name(self):
        seen = two_ways()
        seen.world.add_frame("door")
        knob = seen.scene.add_geometry(parent="door", shape=Sphere(0.1))
        assert seen.scene.traverse(SubgraphChecker("door"), under=knob).number_of_paths == 1
        with pytest.raises(UnknownFrame, match="Did you mean 'door'"):
            seen.scene.traverse(SubgraphChecker("dor"), under=knob)


class TestTheSpatialDomain:
    def test_multiplies_along_each_path(self):
        seen = two_ways()
        paths = seen.scene.traverse(SpatialDomain(), under=seen.n5).paths
        assert [path.transform.translation.tolist() for path in paths] == [[8, 10, 12], [6, 5, 4]]
        assert [path.stamp for path in paths] == [seconds(1), seconds(2)]
        assert paths[0].nodes == (seen.scene.root, seen.tf1, seen.utf3, seen.n5)

    def test_takes_one_instant_for_a_whole_path(self):
        seen = two_ways()
        seen.scene.set_transform(seen.tf1, moved(3, 2, 3), at=seconds(3))
        (path, _) = seen.scene.traverse(SpatialDomain(), under=seen.n5).paths
        assert (path.transform.translation[0], path.stamp) == (8.0, seconds(1))

    def test_answers_for_an_instant(self):
        seen = two_ways()
        for node in (seen.tf1, seen.utf3):
            seen.scene.set_transform(node, moved(), at=seconds(3))
        (path,) = seen.scene.traverse(SpatialDomain(at=seconds(2)), under=seen.utf3).paths
        np.testing.assert_allclose(path.transform.translation, (4, 5, 6), atol=CLOSE_M)

    def test_agrees_with_the_world_where_there_is_one_path(self):
        seen = two_ways()
        (path,) = seen.scene.traverse(SpatialDomain(), under=seen.utf3).paths
        assert path.transform.is_close(seen.world.pose(of=seen.scene.frame(seen.utf3), in_frame="map").transform)

    def test_knows_frames_of_the_world(self):
        seen = two_ways()
        seen.world.fix(of="robot", in_frame="map", transform=moved(1))
        tool = seen.scene.add_transform(parent="robot", transform=moved(0, 2), at=None)
        (path,) = seen.scene.traverse(SpatialDomain(), under=tool).paths
        assert (path.transform.translation.tolist(), path.stamp) == ([1, 2, 0], None)


class TestTheUncertainDomain:
    def test_gives_paths_that_can_be_compared(self):
        seen = two_ways()
        (one, two), (same, _), (other, _) = (
            seen.scene.traverse(UncertainDomain(default_covariance=spread), under=seen.n5).paths
            for spread in (SPREAD, SPREAD, 2 * SPREAD)
        )
        assert (one == same, one == other, one == two) == (True, False, False)
        assert hash(one) == hash(same)

    @pytest.mark.parametrize("given", ["wide", [[1]], [[1], [1, 2]], {}], ids=str)
    def test_refuses_a_covariance_that_is_none(self, given):
        with pytest.raises(InvalidArgument, match=r"\(6, 6\)"):
            UncertainDomain(default_covariance=given)

    def test_compounds_as_the_core_does(self):
        seen = two_ways()
        turned = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.3, -0.2, 0.5))
        inner = seen.scene.add_uncertain_transform(parent=seen.utf2, transform=turned, covariance=SPREAD, at=seconds(2))
        (path,) = seen.scene.traverse(UncertainDomain(), under=inner).paths
        pose = seen.world.pose(of=seen.scene.frame(inner), in_frame="map", at=seconds(2))
        np.testing.assert_allclose(path.covariance, pose.covariance, atol=1e-12)

    def test_does_not_know_what_was_not_asserted(self):
        seen = two_ways()
        unknown, known = seen.scene.traverse(UncertainDomain(), under=seen.n5).paths
        assert unknown.covariance is None
        np.testing.assert_allclose(known.covariance, SPREAD)

    def test_takes_a_default_for_it(self):
        seen = two_ways()
        path, _ = seen.scene.traverse(UncertainDomain(default_covariance=SPREAD), under=seen.n5).paths
        lever = moved(7, 8, 9).inverse().adjoint
        np.testing.assert_allclose(path.covariance, lever @ SPREAD @ lever.T + SPREAD)

    def test_counts_what_is_fixed_as_exact(self):
        scene = World().scene
        node = scene.add_transform(parent=scene.root, transform=moved(1), at=None)
        (path,) = scene.traverse(UncertainDomain(default_covariance=SPREAD), under=node).paths
        assert not path.covariance.any()

    def test_refuses_a_default_of_another_shape(self):
        with pytest.raises(InvalidArgument, match=r"\(6, 6\)"):
            UncertainDomain(default_covariance=np.eye(3))


QUERIES = [
    {"name": "cup"},
    {"name": re.compile("c.*")},
    {"mass": 2},
    {"mass": 2.0},
    {"full": True},
    {"mass": True},
    {"mass": between(1, 2)},
    {"mass": greater(2)},
    {"mass": less_equal(2)},
    {"name": exists(), "mass": absent()},
    {"list": [1, ["a", 2.0]]},
    {"list": contains(1)},
    {"list": contains(1.0)},
    {"list": contains(True)},
    {"list": contains(["a", 2])},
    {"list": contains(("a",))},
    {"name": contains("c")},
    {},
]


class TestTheDomainOfAttributes:
    @pytest.mark.parametrize("query", QUERIES, ids=str)
    def test_finds_what_the_index_finds(self, query):
        scene = World().scene
        for each in (
            {"name": "cup", "mass": 2},
            {"name": "can", "mass": 2.5},
            {"full": True, "mass": 1},
            {"name": "c"},
        ):
            scene.add_group(parent=scene.root, attributes=each)
        scene.add_group(parent=scene.root, attributes={"list": [1, ["a", 2]], "mass": "2"})
        assert sorted(scene.traverse(AttributeDomain(query)).found) == sorted(scene.find(query))


class TestTheDomainOfCollisions:
    def test_has_spheres_that_contain_those_of_everything_below(self):
        seen = two_ways()
        domain = seen.scene.traverse(CollisionDomain())
        for steps, node in (((seen.tf1, seen.utf3), seen.n5), ((seen.utf2,), seen.g4)):
            sphere = domain.spheres[node]
            for above in reversed(steps):
                pose = seen.world.pose(
                    of=seen.scene.frame(above), in_frame=seen.scene.frame(seen.scene.parents(above)[0])
                )
                sphere = sphere.moved(pose.transform)
            assert domain.contains(seen.scene.root, sphere)

    def test_agrees_with_the_scene(self):
        seen = two_ways()
        spheres = seen.scene.traverse(CollisionDomain()).spheres
        assert spheres[seen.utf3] == seen.scene.bounding_sphere(seen.utf3)
        assert spheres[seen.tf1] == seen.scene.bounding_sphere(seen.tf1)

    def test_has_none_around_nothing(self):
        scene = World().scene
        assert scene.traverse(CollisionDomain()).spheres == {scene.root: None}

    def test_answers_for_the_past(self):
        clock = FakeClock(seconds(1))
        scene = World(clock=clock).scene
        ball = scene.add_geometry(parent=scene.root, shape=Sphere(2.0))
        clock.ns = seconds(3)
        scene.remove(ball)
        assert scene.as_of(seconds(2)).traverse(CollisionDomain()).spheres[scene.root].radius_m == 2.0


class TestTheTemporalDomain:
    def test_finds_the_oldest_and_the_newest_datum(self):
        seen = two_ways()
        seen.scene.set_transform(seen.utf2, moved(), at=seconds(4))
        stamps = seen.scene.traverse(TemporalDomain())
        assert (stamps.oldest.stamp, stamps.newest.node, stamps.newest.stamp) == (seconds(1), seen.utf2, seconds(4))

    def test_has_none_of_what_is_fixed_or_a_group(self):
        scene = World().scene
        scene.add_transform(parent=scene.root, transform=moved(), at=None)
        stamps = scene.traverse(TemporalDomain())
        assert (stamps.oldest, stamps.newest) == (None, None)


class TestAccumulatingClouds:
    @staticmethod
    def moving_scanner():
        scene = World(clock=FakeClock(seconds(5))).scene
        scanner = scene.add_transform(parent=scene.root, transform=moved(0), at=seconds(0))
        scene.set_transform(scanner, moved(4), at=seconds(4))
        for s in (1, 3):
            scene.add_geometry(parent=scanner, shape=PointCloud([(0, 0, 1)]), at=seconds(s))
        scene.add_geometry(parent=scanner, shape=Box((1, 1, 1)), at=seconds(1))
        return scene, scanner

    def test_maps_each_with_the_pose_at_its_own_stamp(self):
        scene, _ = self.moving_scanner()
        found = scene.traverse(PointCloudAccumulator(in_frame="map"))
        np.testing.assert_allclose(found.points, [(1, 0, 1), (3, 0, 1)], atol=CLOSE_M)
        assert [cloud.stamp for cloud in found.clouds] == [seconds(1), seconds(3)]

    def test_raises_where_a_stamp_is_not_covered(self):
        scene, scanner = self.moving_scanner()
        scene.add_geometry(parent=scanner, shape=PointCloud([(0, 0, 1)]), at=seconds(5))
        with pytest.raises(AfterHistory):
            scene.traverse(PointCloudAccumulator(in_frame="map"))
        assert len(scene.traverse(PointCloudAccumulator(in_frame="map", outside="hold")).points) == 3

    def test_of_nothing_is_empty(self):
        assert World().scene.traverse(PointCloudAccumulator(in_frame="map")).points.shape == (0, 3)
