"""Searches and spheres where fixed poses have a history, and where several sources place a thing."""

from __future__ import annotations

import pytest

from armillary import Sphere, seconds
from armillary.errors import AmbiguousPath, UnknownFrame
from armillary.scene import SetTransform
from unit.kit import FakeClock, moved

BALL = Sphere(0.1)


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


def met(scene, x, at, **asked):
    """Whether something is at x in the map at one instant."""
    ray = {"origin": (x, 5, 0), "direction": (0, -1, 0), "in_frame": "map", "at": at, **asked}
    return len(scene.raycast(**ray)) > 0


class TestAPoseThatWasFixedAgain:
    @pytest.fixture
    def tower(self, world, scene):
        """At 1 m, and from the fifth second on at 3 m."""
        world.fix(of="tower", in_frame="map", transform=moved(1.0))
        scene.add_geometry(parent="tower", shape=BALL)
        assert met(scene, 1.0, seconds(1))
        world.fix(of="tower", in_frame="map", transform=moved(3.0), at=seconds(5))

    @pytest.mark.parametrize("times", [(1, 9, 1), (9, 1, 9)])
    def test_is_searched_where_it_was_then(self, scene, tower, times):
        for t in times:
            where = 1.0 if t < 5 else 3.0
            assert met(scene, where, seconds(t))
            assert not met(scene, 4.0 - where, seconds(t))
            assert scene.bounding_sphere(scene.root, at=seconds(t)).center[0] == pytest.approx(where)

    def test_is_searched_where_it_was_attached_to(self, world, scene, tower):
        world.fix(of="crane", in_frame="map", transform=moved(7.0))
        world.attach(of="tower", to="crane", at=seconds(8))
        world.fix(of="crane", in_frame="map", transform=moved(8.0), at=seconds(20))
        assert met(scene, 3.0, seconds(9))
        assert met(scene, 4.0, seconds(21))


class TestAFixedPoseThatSamplesFollow:
    def test_is_searched_where_set_transform_says(self, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1.0), at=None)
        scene.add_geometry(parent=table, shape=BALL)
        assert met(scene, 1.0, seconds(5))
        scene.set_transform(table, moved(3.0), at=seconds(5))
        assert met(scene, 3.0, seconds(5))
        assert met(scene, 1.0, seconds(4))
        assert scene.bounding_sphere(scene.root, at=seconds(5)).center[0] == pytest.approx(3.0)

    def test_is_searched_where_a_batch_says(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1.0), at=None)
        scene.add_geometry(parent=table, shape=BALL)
        assert met(scene, 1.0, seconds(5))
        world.apply([SetTransform(table, moved(x), at=seconds(t)) for x, t in ((3.0, 5), (3.0, 6))])
        assert met(scene, 3.0, seconds(5.5))

    def test_is_searched_where_set_pose_says(self, world, scene):
        world.fix(of="tower", in_frame="map", transform=moved(1.0))
        scene.add_geometry(parent="tower", shape=BALL)
        assert met(scene, 1.0, seconds(5))
        world.set_pose(of="tower", in_frame="map", transform=moved(3.0), at=seconds(5))
        assert met(scene, 3.0, seconds(5))


class TestAThingOfSeveralParents:
    @pytest.fixture
    def ball(self, scene):
        """In the map itself, and on a tray at 3 m."""
        tray = scene.add_transform(parent=scene.root, transform=moved(3.0), at=None)
        ball = scene.add_geometry(parent=scene.root, shape=BALL)
        scene.add_parent(ball, tray)
        return ball

    def test_is_missing_in_the_frame_of_a_parent_as_in_every_other(self, world, scene, ball):
        with pytest.raises(AmbiguousPath):
            world.pose(of=scene.frame(ball), in_frame="map")
        found = scene.overlapping(Sphere(0.2), in_frame="map")
        assert (list(found), found.missing) == ([], (ball,))
        assert not met(scene, 0.0, seconds(1))

    def test_is_in_the_spheres_of_all_of_them(self, scene, ball):
        sphere = scene.bounding_sphere(scene.root)
        assert sphere.contains([(-0.1, 0.0, 0.0), (3.1, 0.0, 0.0)])

    def test_is_in_a_sphere_also_where_the_parent_between_has_no_place(self, world, scene):
        top = scene.add_transform(parent=scene.root, transform=moved(1.0), at=None)
        late = scene.add_transform(parent=top, transform=moved(), at=seconds(8))
        ball = scene.add_geometry(parent=late, shape=BALL)
        scene.add_parent(ball, scene.root)
        world.prefer(of=scene.frame(ball), source=str(scene.root))
        sphere = scene.bounding_sphere(top, at=seconds(2))
        assert sphere is not None
        assert sphere.contains((-1.0, 0.0, 0.0))


class TestAFrameThatIsNotThere:
    def test_is_refused_and_not_searched_from(self, scene):
        scene.add_geometry(parent=scene.root, shape=BALL)
        with pytest.raises(UnknownFrame, match="mapp"):
            scene.overlapping(BALL, in_frame="mapp")
        with pytest.raises(UnknownFrame, match="mapp"):
            scene.raycast(origin=(0, 0, 0), direction=(1, 0, 0), in_frame="mapp")
