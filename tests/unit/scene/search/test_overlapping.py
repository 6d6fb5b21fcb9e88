"""What meets a shape or a ray, found without testing everything."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest

from armillary import Box, PointCloud, Sphere, Transform
from armillary.errors import InvalidArgument
from armillary.scene import BoundingSphere, Hierarchy
from unit.scene.kit import ROOT, SketchScene, any_transform, at_xyz

BALL = Sphere(0.5)


def found(scene, shape=BALL, *, hierarchy=None, seen_from=ROOT, at=0, under=ROOT):
    hierarchy = hierarchy or Hierarchy()
    return hierarchy.overlapping(scene, shape, in_frame=scene.frame(seen_from), at=at, under=under)


def shot(scene, *, hierarchy=None, at=0, under=ROOT, direction=(1, 0, 0), **options):
    hierarchy = hierarchy or Hierarchy()
    given = {"origin": (0, 0, 0), "in_frame": "0", **options}
    return hierarchy.raycast(scene, direction=direction, at=at, under=under, **given)


def sphere_of(scene, node, *, hierarchy=None, at=0):
    return (hierarchy or Hierarchy()).bounding_sphere(scene, node, at=at)


@pytest.fixture
def scene():
    return SketchScene()


@pytest.fixture
def subgraphs(scene):
    """A hundred groups far apart, a hundred things in each."""
    generator = np.random.default_rng(7)
    groups = [scene.add(at=at_xyz(100.0 * row)) for row in range(100)]
    for group in groups:
        for _ in range(100):
            scene.add(scene.add(group, at=any_transform(generator, 5.0)), shape=Box(generator.uniform(0.1, 1.0, 3)))
    return groups


class TestOverlapping:
    def test_finds_what_is_there(self, scene):
        here, there = (scene.add(scene.add(at=at_xyz(x)), shape=BALL) for x in (0.9, 1.1))
        assert list(found(scene)) == [here]
        assert here in found(scene)
        assert there not in found(scene)

    def test_finds_nothing_in_an_empty_scene(self, scene):
        assert list(found(scene)) == []
        assert found(scene).visited == 0

    def test_finds_nothing_by_an_empty_shape(self, scene):
        scene.add(shape=BALL)
        assert list(found(scene, PointCloud([]))) == []

    def test_asks_in_any_frame(self, scene):
        turned = scene.add(at=Transform.from_xyz_rpy(xyz=(5, 0, 0), rpy=(0, 0, math.pi / 2)))
        ball = scene.add(scene.add(turned, at=at_xyz(y=5.0)), shape=BALL)
        assert list(found(scene)) == [ball]
        assert list(found(scene, seen_from=turned)) == []

    def test_stays_under_a_node(self, scene):
        group, other = scene.add(), scene.add()
        inside, _ = scene.add(group, shape=BALL), scene.add(other, shape=BALL)
        assert list(found(scene, under=group)) == [inside]
        assert list(found(scene, under=inside)) == [inside]

    def test_finds_a_node_of_several_parents_once(self, scene):
        one, two = scene.add(), scene.add()
        shared = scene.add(scene.add(one, at=at_xyz()), shape=BALL)
        scene.add_parent(scene.children(one)[0], two)
        assert list(found(scene)) == [shared]
        assert list(found(scene, under=two)) == [shared]

    def test_lists_what_has_no_pose(self, scene):
        lost = scene.add(lost=True)
        scene.add(lost, shape=BALL)
        ball = scene.add(shape=BALL)
        answer = found(scene)
        assert list(answer) == [ball]
        assert answer.missing == (lost,)
        assert "1 missing" in repr(answer)

    def test_goes_down_ten_thousand_levels(self, scene):
        node = ROOT
        for _ in range(10_000):
            node = scene.add(node)
        ball = scene.add(node, shape=BALL)
        assert list(found(scene)) == [ball]

    def test_is_as_exact_as_the_shapes(self, scene):
        scene.add(scene.add(at=at_xyz(1.0, 1.0)), shape=Box((1.2, 1.2, 1.2)))
        assert list(found(scene)) == []
        assert len(found(scene, Sphere(0.6))) == 1


class TestThingsThatMove:
    def test_are_where_they_are_at_the_instant_asked(self, scene):
        mover = scene.add(at=lambda at: at_xyz(float(at)))
        ball, hierarchy = scene.add(mover, shape=BALL), Hierarchy()
        assert [list(found(scene, hierarchy=hierarchy, at=at)) for at in (0, 1, 2)] == [[ball], [ball], []]

    def test_move_what_is_on_them(self, scene):
        mover = scene.add(scene.add(), at=lambda at: at_xyz(float(at)))
        cup = scene.add(scene.add(mover, at=at_xyz(-5.0)), shape=BALL)
        assert list(found(scene, at=5)) == [cup]
        assert list(found(scene, at=0)) == []

    def test_carry_what_moves_on_them(self, scene):
        mover = scene.add(at=lambda at: at_xyz(float(at)))
        rider = scene.add(mover, at=lambda at: at_xyz(y=float(at)))
        ball = scene.add(scene.add(rider, at=at_xyz(-3.0, -3.0)), shape=BALL)
        assert list(found(scene, at=3)) == [ball]

    def test_are_searched_without_asking_for_what_is_static(self, scene):
        for _ in range(50):
            scene.add(scene.add(at=at_xyz(9.0)), shape=BALL)
        scene.add(scene.add(at=lambda at: at_xyz(float(at))), shape=BALL)
        hierarchy = Hierarchy()
        found(scene, hierarchy=hierarchy)
        scene.asked = 0
        found(scene, hierarchy=hierarchy, at=1)
        assert scene.asked == 2

    def test_are_listed_once_however_many_carry_each_other(self, scene):
        node, hierarchy = ROOT, Hierarchy()
        for _ in range(5):
            node = scene.add(node, at=lambda at: at_xyz(float(at)))
        found(scene, hierarchy=hierarchy)
        top = hierarchy._branches.of(ROOT, scene, 0)
        assert len(top.moving_branches) == 5
        assert [branch.node for branch in top.moving_branches if "moving_branches" in vars(branch)] == []

    def test_may_be_pruned_by_what_is_fixed_to_them(self, scene):
        mover = scene.add(at=lambda at: at_xyz(float(at)))
        for _ in range(100):
            scene.add(scene.add(mover, at=at_xyz(y=1.0)), shape=BALL)
        assert found(scene, at=100).visited == 1


class TestVisiting:
    def test_is_confined_to_the_subgraph_that_is_touched(self, scene, subgraphs):
        answer = found(scene, Sphere(6.0), seen_from=subgraphs[42])
        under = set(scene.below(subgraphs[42]))
        assert answer
        assert set(answer) <= under
        assert answer.visited < 0.1 * len(list(scene.below(ROOT)))

    def test_of_a_ray_is_confined_too(self, scene, subgraphs):
        answer = shot(scene, origin=(4200.0, 0.0, 50.0), direction=(0, 0, -1))
        assert answer.visited < 0.1 * len(list(scene.below(ROOT)))

    def test_of_nothing_ends_at_the_top(self, scene, subgraphs):
        assert found(scene, Sphere(1.0), seen_from=scene.add(at=at_xyz(z=1e6))).visited == 1

    def test_is_short_among_many_children_of_one_group(self, scene):
        generator = np.random.default_rng(3)
        for _ in range(2000):
            scene.add(scene.add(at=any_transform(generator, 20.0)), shape=Box((0.2, 0.3, 0.4)))
        assert found(scene, Box((1.0, 1.0, 1.0))).visited < 200


class TestAfterAChange:
    def test_new_things_are_found(self, scene):
        hierarchy, group = Hierarchy(), scene.add(at=at_xyz())
        assert list(found(scene, hierarchy=hierarchy)) == []
        ball = scene.add(group, shape=BALL)
        assert list(found(scene, hierarchy=hierarchy)) == [ball]

    def test_removed_things_are_not(self, scene):
        group = scene.add(at=at_xyz())
        ball, hierarchy = scene.add(group, shape=BALL), Hierarchy()
        assert list(found(scene, hierarchy=hierarchy)) == [ball]
        scene.remove_parent(ball, group)
        assert list(found(scene, hierarchy=hierarchy)) == []
        assert sphere_of(scene, ROOT, hierarchy=hierarchy) is None

    def test_things_fixed_elsewhere_are_found_there(self, scene):
        place, hierarchy = scene.add(at=at_xyz()), Hierarchy()
        ball = scene.add(place, shape=BALL)
        assert list(found(scene, hierarchy=hierarchy)) == [ball]
        scene.fix(place, at_xyz(9.0))
        assert list(found(scene, hierarchy=hierarchy)) == []
        assert sphere_of(scene, ROOT, hierarchy=hierarchy).contains((9.0, 0.0, 0.0))

    def test_things_of_several_parents_move_with_each(self, scene):
        one, two, hierarchy = scene.add(at=at_xyz()), scene.add(at=at_xyz()), Hierarchy()
        shared = scene.add(one, at=at_xyz())
        scene.add(shared, shape=BALL)
        scene.add_parent(shared, two)
        assert sphere_of(scene, two, hierarchy=hierarchy) == BoundingSphere((0, 0, 0), 0.5)
        scene.fix(one, at_xyz(9.0))
        assert sphere_of(scene, two, hierarchy=hierarchy) == BoundingSphere((9, 0, 0), 0.5)

    def test_only_what_changed_is_asked_for_again(self, scene):
        group, hierarchy = scene.add(), Hierarchy()
        for _ in range(50):
            scene.add(scene.add(group, at=at_xyz(1.0)), shape=BALL)
        found(scene, hierarchy=hierarchy)
        scene.asked = 0
        scene.add(scene.add(group, at=at_xyz(1.0)), shape=BALL)
        assert len(found(scene, hierarchy=hierarchy)) == 51
        assert scene.asked == 1

    def test_what_left_the_scene_is_forgotten(self, scene):
        group, hierarchy = scene.add(), Hierarchy()
        ball = scene.add(group, shape=Sphere(0.25))
        shape = weakref.ref(scene.shape(ball))
        found(scene, hierarchy=hierarchy)
        scene.remove_parent(ball, group)
        scene.forget_shape(ball)
        for _ in range(2):
            found(scene, hierarchy=hierarchy)
            scene.add()
        found(scene, hierarchy=hierarchy)
        gc.collect()
        assert shape() is None

    def test_a_scene_that_does_not_know_what_changed_is_looked_at_anew(self, scene):
        hierarchy = Hierarchy()
        found(scene, hierarchy=hierarchy)
        for _ in range(20):
            scene.add(shape=BALL)
        assert len(found(scene, hierarchy=hierarchy)) == 20


class TestABoundingSphere:
    def test_is_in_the_frame_of_its_node(self, scene):
        place = scene.add(at=at_xyz(7.0))
        scene.add(scene.add(place, at=at_xyz(y=2.0)), shape=BALL)
        assert sphere_of(scene, place) == BoundingSphere((0, 2, 0), 0.5)
        assert sphere_of(scene, ROOT) == BoundingSphere((7, 2, 0), 0.5)

    def test_is_none_where_there_is_no_shape(self, scene):
        assert sphere_of(scene, scene.add()) is None

    def test_follows_what_moves(self, scene):
        scene.add(scene.add(at=lambda at: at_xyz(float(at))), shape=BALL)
        scene.add(shape=BALL)
        hierarchy = Hierarchy()
        spheres = [sphere_of(scene, ROOT, hierarchy=hierarchy, at=at) for at in (0, 4)]
        assert spheres == [BoundingSphere((0, 0, 0), 0.5), BoundingSphere((2, 0, 0), 2.5)]

    def test_of_several_parents_is_kept_once(self, scene):
        one, two = scene.add(), scene.add(at=at_xyz(3.0))
        shared = scene.add(one, at=at_xyz(y=1.0))
        scene.add(shared, shape=BALL)
        scene.add_parent(shared, two)
        hierarchy = Hierarchy()
        assert sphere_of(scene, two, hierarchy=hierarchy) == BoundingSphere((-3, 1, 0), 0.5)
        assert sphere_of(scene, one, hierarchy=hierarchy) == BoundingSphere((0, 1, 0), 0.5)


class TestARay:
    def test_meets_the_nearest_first(self, scene):
        far, near = (scene.add(scene.add(at=at_xyz(x)), shape=BALL) for x in (5.0, 3.0))
        hits = shot(scene)
        assert [hit.id for hit in hits] == [near, far]
        assert [hit.distance_m for hit in hits] == pytest.approx([2.5, 4.5])
        assert hits[0].point == pytest.approx([2.5, 0.0, 0.0])

    def test_has_a_direction_of_any_length(self, scene):
        scene.add(scene.add(at=at_xyz(3.0, 3.0)), shape=BALL)
        assert shot(scene, direction=(7, 7, 0))[0].distance_m == pytest.approx(math.sqrt(18.0) - 0.5)

    def test_ends_at_its_range(self, scene):
        scene.add(scene.add(at=at_xyz(3.0)), shape=BALL)
        assert len(shot(scene, max_m=2.4)) == 0
        assert len(shot(scene, max_m=2.6)) == 1

    def test_meets_what_moves_where_it_is(self, scene):
        ball = scene.add(scene.add(at=lambda at: at_xyz(3.0, float(at))), shape=BALL)
        assert [[hit.id for hit in shot(scene, at=at)] for at in (0, 1)] == [[ball], []]

    def test_passes_along_the_axes_of_many_boxes(self, scene):
        for row in range(30):
            scene.add(scene.add(at=at_xyz(float(row + 1))), shape=Box((0.5, 1.0, 1.0)))
        assert len(shot(scene)) == 30
        assert len(shot(scene, origin=(0.0, 0.5, 0.5))) == 30
        assert len(shot(scene, direction=(-1, 0, 0))) == 0

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"direction": (0, 0, 0)}, "goes nowhere"),
            ({"direction": (0, 0)}, "The direction of a ray is"),
            ({"origin": (0, 0, math.nan)}, "The origin of a ray is"),
            ({"max_m": -1.0}, "not below zero"),
        ],
    )
    def test_that_goes_nowhere_is_refused(self, scene, given, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            shot(scene, **given)
