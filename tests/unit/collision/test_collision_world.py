"""Bodies at poses: distances against closed forms, overlaps, contacts, rays, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("coal")

from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, Transform
from armillary.collision import CollisionWorld
from armillary.errors import InvalidArgument, InvalidShape
from randomness import rng

EXACT_M = 1e-8


def along(x=0.0, y=0.0, z=0.0):
    return Transform.from_translation((x, y, z))


def anywhere(random, reach_m=1.0):
    turn = random.normal(size=3)
    return Transform.exp((0.0, 0.0, 0.0, *turn)) @ along(*random.uniform(-reach_m, reach_m, 3))


def box_mesh(size, at=(0.0, 0.0, 0.0), *, closed=True):
    """The twelve triangles of a box; ten, if it is not closed."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(size) / 2.0
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    return corners + np.array(at), np.array(triangles if closed else triangles[:-2])


def bowl_mesh():
    """A closed solid that is not convex: an L of two boxes in one shell, extruded along y."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
    front = np.column_stack([outline[:, 0], np.zeros(6), outline[:, 1]])
    back = front + np.array([0.0, 1.0, 0.0])
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    triangles = [*caps, *((a + 6, c + 6, b + 6) for a, b, c in caps)]
    for i in range(6):
        j = (i + 1) % 6
        triangles += [(j, i, i + 6), (j, i + 6, j + 6)]
    return np.vstack([front, back]), np.array(triangles)


def world_of(a, b, pose=None):
    world = CollisionWorld()
    world.add("a", a)
    world.add("b", b, pose=pose)
    return world


class TestDistance:
    @pytest.mark.parametrize(
        ("a", "b", "at", "distance_m"),
        [
            (Sphere(0.2), Sphere(0.3), (1.0, 0.0, 0.0), 0.5),
            (Sphere(0.2), Sphere(0.3), (0.4, 0.0, 0.0), -0.1),
            (Box((1.0, 1.0, 1.0)), Sphere(0.1), (2.0, 0.0, 0.0), 1.4),
            (Box((1.0, 1.0, 1.0)), Sphere(0.1), (0.0, 0.0, 0.3), -0.3),
            (Box((1.0, 1.0, 1.0)), Box((1.0, 1.0, 1.0)), (0.9, 0.0, 0.0), -0.1),
            (Capsule(radius_m=0.1, length_m=1.0), Sphere(0.1), (0.5, 0.0, 0.0), 0.3),
            (Cylinder(radius_m=0.2, length_m=1.0), Sphere(0.1), (0.0, 0.0, 1.0), 0.4),
            (Mesh(*box_mesh((1.0, 1.0, 1.0))), Sphere(0.1), (0.0, 0.0, 0.3), -0.3),
        ],
    )
    def test_is_that_of_the_closed_form(self, a, b, at, distance_m):
        found = world_of(a, b, along(*at)).distance("a", "b")
        assert found.distance_m == pytest.approx(distance_m, abs=EXACT_M)
        assert found.normal @ (found.point_b - found.point_a) == pytest.approx(distance_m, abs=EXACT_M)
        assert not found.is_bound

    def test_does_not_depend_on_where_both_are(self):
        random = rng(31)
        for _ in range(20):
            b, both = anywhere(random), anywhere(random)
            world = world_of(Box((0.5, 0.4, 0.3)), Capsule(radius_m=0.1, length_m=0.4), b)
            before = world.distance("a", "b")
            world.set_poses({"a": both, "b": both @ b})
            after = world.distance("a", "b")
            assert after.distance_m == pytest.approx(before.distance_m, abs=1e-7)

    def test_is_the_same_the_other_way_round(self):
        world = world_of(Box((0.5, 0.4, 0.3)), Sphere(0.1), along(1.0, 0.2, 0.3))
        there, back = world.distance("a", "b"), world.distance("b", "a")
        assert there.distance_m == pytest.approx(back.distance_m)
        assert there.normal == pytest.approx(-back.normal)
        assert there.point_a == pytest.approx(back.point_b)

    def test_keeps_its_numbers_when_others_are_asked(self):
        world = world_of(Sphere(0.1), Sphere(0.1), along(1.0))
        found = world.distance("a", "b")
        kept = found.normal.copy()
        world.set_poses({"b": along(0.0, 1.0)})
        world.distance("a", "b")
        assert found.normal == pytest.approx(kept)

    def test_of_bodies_of_several_shapes_is_that_of_the_nearest(self):
        world = CollisionWorld()
        world.add("dumbbell", [(Sphere(0.1), along(-1.0)), (Sphere(0.2), along(1.0))])
        world.add("wall", Box((0.1, 2.0, 2.0)), pose=along(2.0))
        assert world.distance("dumbbell", "wall").distance_m == pytest.approx(0.75)
        assert [one.distance_m for one in world.distances()] == pytest.approx([0.75])

    def test_of_a_mesh_of_two_shells_knows_the_gap_between_them(self):
        left, triangles = box_mesh((1.0, 1.0, 1.0), (-2.0, 0.0, 0.0))
        right, _ = box_mesh((1.0, 1.0, 1.0), (2.0, 0.0, 0.0))
        both = Mesh(np.vstack([left, right]), np.vstack([triangles, triangles + 8]))
        assert world_of(both, Sphere(0.1)).distance("a", "b").distance_m == pytest.approx(1.4)


class TestASolidThatIsNotConvex:
    def test_is_not_its_hull(self):
        vertices, triangles = bowl_mesh()
        world = world_of(Mesh(vertices, triangles), Sphere(0.1), along(1.4, 0.5, 1.4))
        found = world.distance("a", "b")
        assert (found.distance_m, found.is_bound) == (pytest.approx(0.3), False)

    def test_has_an_inside(self):
        vertices, triangles = bowl_mesh()
        found = world_of(Mesh(vertices, triangles), Sphere(0.1), along(0.5, 0.5, 0.5)).distance("a", "b")
        assert found.distance_m < 0.0
        assert found.is_bound


class TestManyBodies:
    @pytest.fixture
    def world(self):
        world, random = CollisionWorld(), rng(32)
        for number in range(40):
            shape = (Sphere(0.05), Box((0.1, 0.1, 0.1)), Capsule(radius_m=0.03, length_m=0.2))[number % 3]
            world.add(number, shape, pose=anywhere(random, 0.5))
        return world

    @pytest.mark.parametrize("within_m", [0.0, 0.02, 0.2])
    def test_are_compared_as_one_by_one(self, world, within_m):
        every = {(a, b): world.distance(a, b).distance_m for a in range(40) for b in range(a + 1, 40)}
        near = {pair: distance for pair, distance in every.items() if distance <= within_m}
        found = {(one.a, one.b): one.distance_m for one in world.distances(within_m=within_m)}
        assert found == pytest.approx(near)
        assert len(world.distances()) == len(every)

    def test_that_overlap_have_contacts(self, world):
        overlapping = {frozenset(pair) for pair in world.overlaps()}
        contacts = world.contacts()
        assert overlapping == {frozenset((one.a, one.b)) for one in contacts}
        depths = [one.depth_m for one in contacts]
        assert depths == sorted(depths, reverse=True)

    def test_that_are_ignored_are_left_out_until_they_are_heeded(self, world):
        pair = world.overlaps()[0]
        world.ignore(*pair)
        assert pair not in world.overlaps()
        assert frozenset(pair) in world.ignored
        assert world.distance(*pair).distance_m <= 0.0
        world.heed(*pair)
        assert pair in world.overlaps()

    def test_may_be_asked_for_one_of_them(self, world):
        assert {one.b if one.a == 3 else one.a for one in world.distances(of=[3])} == set(range(40)) - {3}

    def test_are_placed_by_arrays(self, world):
        before = {(one.a, one.b): one.distance_m for one in world.distances()}
        poses = [world.pose(body) for body in world.bodies]
        world.set_poses([(*pose.translation, *pose.rotation.wxyz) for pose in poses])
        assert {(one.a, one.b): one.distance_m for one in world.distances()} == pytest.approx(before)
        world.set_poses(np.array([pose.matrix[:3] for pose in poses]))
        assert {(one.a, one.b): one.distance_m for one in world.distances()} == pytest.approx(before)

    def test_in_part_are_where_they_were(self, world):
        part = world.part(range(10))
        assert len(part) == 10
        assert part.distance(2, 7).distance_m == pytest.approx(world.distance(2, 7).distance_m)


class TestContact:
    def test_is_in_the_middle_of_the_overlap(self):
        (contact,) = world_of(Sphere(0.5), Sphere(0.5), along(0.8)).contacts()
        assert contact.point == pytest.approx([0.4, 0.0, 0.0])
        assert contact.normal == pytest.approx([1.0, 0.0, 0.0])
        assert contact.depth_m == pytest.approx(0.2)

    def test_is_none_where_bodies_are_apart(self):
        assert world_of(Sphere(0.5), Sphere(0.5), along(1.1)).contacts() == []


class TestARay:
    def test_meets_what_is_in_its_way_the_nearest_first(self):
        world = world_of(Box((1.0, 1.0, 1.0)), Sphere(0.5), along(3.0))
        hits = world.raycast(origin=(-2.0, 0.0, 0.0), direction=(2.0, 0.0, 0.0))
        assert [(hit.body, hit.distance_m) for hit in hits] == [("a", pytest.approx(1.5)), ("b", pytest.approx(4.5))]
        assert hits[1].point == pytest.approx([2.5, 0.0, 0.0])

    def test_begins_inside(self):
        (hit,) = world_of(Sphere(0.5), Sphere(0.1), along(9.0)).raycast(origin=(0, 0, 0), direction=(0, 1, 0))
        assert (hit.body, hit.distance_m) == ("a", 0.0)

    def test_goes_so_far(self):
        world = world_of(Sphere(0.5), Sphere(0.5), along(3.0))
        assert [hit.body for hit in world.raycast(origin=(-2, 0, 0), direction=(1, 0, 0), max_m=3.0)] == ["a"]

    @pytest.mark.parametrize("direction", [(0, 0, 0), (1, 0), (np.nan, 0, 0), "x"])
    def test_has_a_direction(self, direction):
        with pytest.raises(InvalidArgument, match="direction"):
            world_of(Sphere(0.1), Sphere(0.1)).raycast(origin=(0, 0, 0), direction=direction)


class TestASentence:
    def test_for_a_mesh_that_is_not_closed_names_the_cures(self):
        world = CollisionWorld()
        with pytest.raises(InvalidShape, match=r"10 triangles is not closed.*meshes='hull'.*meshes='surface'"):
            world.add("open", Mesh(*box_mesh((1, 1, 1), closed=False)))
        assert len(world) == 0

    @pytest.mark.parametrize(("meshes", "distance_m"), [("hull", -0.3), ("surface", 0.1)])
    def test_is_spared_by_either_cure(self, meshes, distance_m):
        world = CollisionWorld(meshes=meshes)
        world.add("open", Mesh(*box_mesh((1, 1, 1), closed=False)))
        world.add("ball", Sphere(0.1), pose=along(0.0, 0.3, 0.0))
        assert world.distance("open", "ball").distance_m == pytest.approx(distance_m)

    def test_for_what_has_no_surface(self):
        with pytest.raises(InvalidShape, match="PointCloud has no surface"):
            CollisionWorld().add("cloud", PointCloud(np.ones((3, 3))))

    def test_for_a_mesh_of_nothing(self):
        with pytest.raises(InvalidShape, match="has no triangles"):
            CollisionWorld().add("mesh", Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)))

    def test_for_a_name_that_is_taken_or_unknown(self):
        world = world_of(Sphere(0.1), Sphere(0.1))
        with pytest.raises(InvalidArgument, match="already"):
            world.add("a", Sphere(0.1))
        with pytest.raises(InvalidArgument, match=r"There is no body 'c'\. There are: 'a', 'b'"):
            world.distance("a", "c")
        with pytest.raises(InvalidArgument, match="no distance from itself"):
            world.distance("a", "a")

    @pytest.mark.parametrize("poses", [np.zeros((3, 7)), np.full((2, 4, 4), np.nan), "poses", {"a": np.eye(4)}])
    def test_for_poses_that_are_none_and_nothing_is_moved(self, poses):
        world = world_of(Sphere(0.1), Sphere(0.1), along(1.0))
        with pytest.raises(InvalidArgument):
            world.set_poses(poses)
        assert world.distance("a", "b").distance_m == pytest.approx(0.8)

    @pytest.mark.parametrize("shapes", [[], "box", [1.0], None])
    def test_for_a_body_of_nothing(self, shapes):
        with pytest.raises(InvalidArgument):
            CollisionWorld().add("a", shapes)
