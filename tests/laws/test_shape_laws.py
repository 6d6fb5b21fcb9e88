"""What holds for every shape, and for every search among them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from armillary import Box, Cylinder, Sphere
from armillary.scene import Hierarchy, Shape
from strategies import axes, transforms, vectors
from unit.scene.kit import ROOT, SketchScene, at_xyz
from unit.scene.random_scenes import boxes, capsules, clouds, cylinders, scenes, shapes, solids

TOLD_APART_M = 1e-7  # nearer than this to touching, rounding may decide
INSTANTS = st.sampled_from([0, 1, 5])

near_transforms = st.builds(lambda shift, turn: at_xyz(*(shift / 4.0)) @ turn, vectors(), transforms())


def inner_points(shape: Shape, number: int = 200) -> np.ndarray:
    """Some points of a shape, found by trying."""
    box = shape.bounding_box()
    if box is None:
        return np.zeros((0, 3))
    points = np.random.default_rng(5).uniform(box.low, box.high, (number, 3))
    return points[shape.contains(points)]


def are_deep_in(shape: Shape, points: np.ndarray) -> np.ndarray:
    """Which points are in a shape, and so are those around them."""
    nudges = TOLD_APART_M * np.array([*np.eye(3), *-np.eye(3)])
    return np.all([shape.contains(points + nudge) for nudge in nudges], axis=0)


def largest_gap_m(a: Box, b: Box, a_T_b) -> float:
    """Between two boxes, along the axes that can separate them; below zero where none does."""
    turn, shift = a_T_b.rotation.matrix, a_T_b.translation
    sides = [*np.eye(3), *turn.T]
    crosses = [np.cross(x, y) for x in np.eye(3) for y in turn.T]
    ways = [*sides, *(way / np.linalg.norm(way) for way in crosses if np.linalg.norm(way) > 1e-6)]
    halves = np.array(a.size_m) / 2.0, np.array(b.size_m) / 2.0
    return max(float(abs(shift @ way) - halves[0] @ abs(way) - halves[1] @ abs(turn.T @ way)) for way in ways)


class TestEveryShape:
    @given(shapes)
    def test_is_known_by_its_digest(self, shape):
        again = Shape.of_kind(shape.kind, *shape.to_fields())
        assert again == shape
        assert again.digest() == shape.digest()

    @given(shapes, shapes)
    def test_has_the_digest_of_another_only_where_they_are_equal(self, a, b):
        assert (a == b) is (a.digest() == b.digest())

    @given(shapes)
    def test_is_within_its_bounds(self, shape):
        points = inner_points(shape)
        assert len(points) == 0 or shape.bounding_sphere().contains(points)
        assert len(points) == 0 or shape.bounding_box().contains(points)

    @given(solids, axes(), vectors(2.0))
    def test_is_entered_by_a_ray_on_its_surface(self, shape, direction, origin):
        distance_m = shape.ray_distance_m(origin, direction)
        assume(distance_m < math.inf)
        entry = origin + direction * distance_m
        assert shape.overlaps(Sphere(TOLD_APART_M), this_T_other=at_xyz(*entry))
        before = np.linspace(0.0, max(0.0, distance_m - TOLD_APART_M), 50, endpoint=False)[:, None]
        assert distance_m == 0.0 or not are_deep_in(shape, origin + before * direction).any()

    @given(solids, axes(), vectors(2.0))
    def test_is_missed_by_a_ray_that_never_meets_it(self, shape, direction, origin):
        assume(shape.ray_distance_m(origin, direction) == math.inf)
        along = origin + np.linspace(0.0, 20.0, 400)[:, None] * direction
        assert not are_deep_in(shape, along).any()


class TestOverlapping:
    @given(shapes, shapes, near_transforms)
    def test_is_mutual(self, a, b, a_T_b):
        meets = a.overlaps(b, this_T_other=a_T_b)
        if meets != b.overlaps(a, this_T_other=a_T_b.inverse()):
            assert TestOverlapping.is_a_matter_of_rounding(a, b, a_T_b)

    @staticmethod
    def is_a_matter_of_rounding(a, b, a_T_b) -> bool:
        """Whether a nudge changes the answer."""
        nudges = (at_xyz(*(TOLD_APART_M * way)) for way in (*np.eye(3), *-np.eye(3)))
        return len({a.overlaps(b, this_T_other=nudge @ a_T_b) for nudge in nudges}) == 2

    @given(shapes, solids, near_transforms)
    def test_is_seen_wherever_a_point_is_in_both(self, a, b, a_T_b):
        shared = b.contains(a_T_b.inverse() @ inner_points(a)).any()
        assert not shared or a.overlaps(b, this_T_other=a_T_b)

    @given(shapes, shapes, near_transforms)
    def test_is_impossible_where_their_spheres_do_not_meet(self, a, b, a_T_b):
        around_a, around_b = a.bounding_sphere(), b.bounding_sphere()
        assume(around_a is not None and around_b is not None)
        apart_m = np.linalg.norm(around_a.center - around_b.moved(a_T_b).center)
        is_apart = apart_m > around_a.radius_m + around_b.radius_m + TOLD_APART_M
        assert not (is_apart and a.overlaps(b, this_T_other=a_T_b))

    @given(boxes, boxes, near_transforms)
    def test_of_boxes_agrees_with_separating_axes(self, a, b, a_T_b):
        gap_m = largest_gap_m(a, b, a_T_b)
        assume(abs(gap_m) > TOLD_APART_M)
        assert a.overlaps(b, this_T_other=a_T_b) is (gap_m < 0.0)

    @given(st.floats(0.0, 2.0), boxes | cylinders | capsules, near_transforms)
    def test_of_a_ball_agrees_with_the_distance_of_its_centre(self, radius_m, other, other_T_ball):
        gap_m = distance_m(other, other_T_ball.translation) - radius_m
        assume(abs(gap_m) > TOLD_APART_M)
        assert other.overlaps(Sphere(radius_m), this_T_other=other_T_ball) is (gap_m < 0.0)

    @given(clouds, shapes, near_transforms)
    def test_of_a_cloud_agrees_with_its_points(self, cloud, other, other_T_cloud):
        inside = other.contains(other_T_cloud @ np.asarray(cloud.points, dtype=float)) if len(cloud.points) else []
        assert other.overlaps(cloud, this_T_other=other_T_cloud) is bool(np.any(inside))


def distance_m(shape: Shape, point: np.ndarray) -> float:
    """From a point to a solid, by the formula of its kind."""
    x, y, z = point
    if isinstance(shape, Box):
        return float(np.linalg.norm(np.maximum(np.abs(point) - np.array(shape.size_m) / 2.0, 0.0)))
    beyond = max(abs(z) - shape.length_m / 2.0, 0.0)
    if isinstance(shape, Cylinder):
        return math.hypot(max(math.hypot(x, y) - shape.radius_m, 0.0), beyond)
    return max(math.hypot(math.hypot(x, y), beyond) - shape.radius_m, 0.0)


def change(draw: st.DrawFn, scene: SketchScene) -> None:
    """Adds a thing; at times takes another away, and puts a third elsewhere."""
    nodes = list(scene.below(ROOT))
    fixed = [node for node in nodes if scene.is_fixed(node)]
    if fixed and draw(st.booleans()):
        scene.fix(draw(st.sampled_from(fixed)), draw(transforms()))
    place = scene.add(draw(st.sampled_from(nodes)), at=draw(transforms()))
    scene.add(place, shape=draw(shapes))
    parent = draw(st.sampled_from(nodes))
    if scene.children(parent) and draw(st.booleans()):
        scene.remove_parent(scene.children(parent)[0], parent)


class TestASearch:
    @given(scenes(), shapes, INSTANTS, st.data())
    def test_finds_what_looking_at_everything_finds(self, scene, shape, at, data):
        seen_from, under = (data.draw(st.sampled_from(list(scene.below(ROOT)))) for _ in range(2))
        assume(scene.transform(ROOT, seen_from, at) is not None)
        one_by_one = scene.overlapping_one_by_one(shape, seen_from=seen_from, at=at, under=under)
        answer = Hierarchy().overlapping(scene, shape, in_frame=scene.frame(seen_from), at=at, under=under)
        assert sorted(answer) == sorted(one_by_one)

    @given(scenes(), vectors(5.0), axes(), INSTANTS)
    def test_with_a_ray_finds_what_looking_at_everything_finds(self, scene, origin, direction, at):
        direction = direction / np.linalg.norm(direction)
        one_by_one = scene.hit_one_by_one(origin, direction, seen_from=ROOT, at=at, under=ROOT)
        ray = {"origin": origin, "direction": direction, "in_frame": scene.frame(ROOT)}
        hits = Hierarchy().raycast(scene, **ray, at=at, under=ROOT)
        assert {hit.id: hit.distance_m for hit in hits} == pytest.approx(one_by_one, abs=TOLD_APART_M)
        assert sorted(hit.distance_m for hit in hits) == [hit.distance_m for hit in hits]

    @given(scenes(), INSTANTS, st.data())
    def test_that_remembers_finds_the_same_after_each_change(self, scene, at, data):
        remembering, whole = Hierarchy(), Box((4.0, 4.0, 4.0))
        for _ in range(data.draw(st.integers(1, 5))):
            answers = [h.overlapping(scene, whole, in_frame="0", at=at, under=ROOT) for h in (remembering, Hierarchy())]
            assert list(answers[0]) == list(answers[1])
            spheres = [h.bounding_sphere(scene, ROOT, at=at) for h in (remembering, Hierarchy())]
            assert spheres[0] == spheres[1]
            change(data.draw, scene)

    @given(scenes(), INSTANTS)
    def test_rests_on_spheres_that_contain_those_below(self, scene, at):
        hierarchy = Hierarchy()
        for node in scene.below(ROOT):
            around = hierarchy.bounding_sphere(scene, node, at=at)
            for child in scene.children(node):
                within, place = hierarchy.bounding_sphere(scene, child, at=at), scene.transform(node, child, at)
                assert within is None or place is None or around.contains(within.moved(place), tolerance_m=1e-8)
