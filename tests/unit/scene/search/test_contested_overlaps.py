"""Shapes that several paths place: which of them a search uses."""

from __future__ import annotations

import pytest

from armillary import Sphere, seconds
from armillary.errors import InvalidArgument
from armillary.fusion.policies import by_source
from unit.kit import FakeClock, moved

BALL = Sphere(0.1)


@pytest.fixture
def clock():
    return FakeClock(seconds(5))


@pytest.fixture
def trays(scene):
    """Two of them, at 1 m and at 3 m, and one ball in both."""
    trays = [scene.add_transform(parent=scene.root, transform=moved(x), at=None) for x in (1.0, 3.0)]
    ball = scene.add_geometry(parent=trays[0], shape=BALL)
    scene.add_parent(ball, trays[1])
    return trays


class TestAContestedShape:
    def test_is_missing_where_no_path_is_chosen(self, world, scene, trays):
        world.fix(of="probe", in_frame="map", transform=moved(1.0))
        found = scene.overlapping(Sphere(0.2), in_frame="probe")
        assert (len(found), len(found.missing)) == (0, 1)

    def test_is_where_the_policy_says(self, world, scene, trays):
        for x, tray in ((1.0, trays[0]), (3.0, trays[1])):
            world.fix(of=f"probe_{x}", in_frame="map", transform=moved(x))
            for other in trays:
                found = scene.overlapping(Sphere(0.2), in_frame=f"probe_{x}", policy=by_source(str(other)))
                assert (len(found), len(found.missing)) == (int(other == tray), 0)

    def test_is_met_by_a_ray_where_the_policy_says(self, scene, trays):
        for tray, x in zip(trays, (1.0, 3.0), strict=True):
            ray = {"origin": (0, 0, 0), "direction": (1, 0, 0), "in_frame": "map"}
            (hit,) = scene.raycast(**ray, policy=by_source(str(tray)))
            assert hit.distance_m == pytest.approx(x - 0.1)

    def test_is_where_its_source_left_it_with_outside(self, scene):
        cup = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(1))
        scene.add_geometry(parent=cup, shape=BALL)
        asked = {"in_frame": "map", "at": seconds(9)}
        assert len(scene.overlapping(Sphere(1.0), **asked)) == 0
        assert len(scene.overlapping(Sphere(1.0), **asked, outside="hold")) == 1

    def test_is_not_asked_for_with_a_policy_that_is_none(self, scene, trays):
        with pytest.raises(InvalidArgument, match="policy must be"):
            scene.overlapping(BALL, in_frame="map", policy="newest")
        with pytest.raises(InvalidArgument, match="policy must be"):
            scene.raycast(origin=(0, 0, 0), direction=(1, 0, 0), in_frame="map", policy=3)
