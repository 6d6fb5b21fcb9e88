"""The picture of a world in space."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, Transform, World, seconds
from armillary.errors import InvalidArgument, NotConnected, UnknownFrame
from armillary.view import world_svg
from armillary.view._faces import faces_of, normal_of

SVG = "{http://www.w3.org/2000/svg}"
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
ABOVE = (0.0, 0.0, 1.0)
TETRAHEDRON = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def at(x, y, z):
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0, 0, 0))


@pytest.fixture
def stacked():
    """A red box on the ground, a smaller blue one above it."""
    world = World()
    for name, height, size, color in (("ground", 0.0, 2.0, RED), ("lamp", 3.0, 1.0, BLUE)):
        world.fix(of=name, in_frame="map", transform=at(0, 0, height))
        world.scene.add_geometry(parent=name, shape=Box((size, size, size)), attributes={"color": color})
    return world


def drawn(world, **options):
    return ET.fromstring(world_svg(world, **options))


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def fills(root):
    """Red or blue, in the order of painting."""
    return ["red" if area.get("fill").endswith("0000") else "blue" for area in root.iter(f"{SVG}polygon")]


class TestTheFacesOfAShape:
    @pytest.mark.parametrize(
        "shape", [Box((1, 2, 3)), Sphere(0.5), Cylinder(0.5, 2.0), Capsule(0.5, 2.0), TETRAHEDRON], ids=repr
    )
    def test_look_outwards_and_close_it(self, shape):
        faces = list(faces_of(shape))
        middle = np.mean([face.mean(axis=0) for face in faces], axis=0)
        assert all(normal_of(face) @ (face.mean(axis=0) - middle) > 0.0 for face in faces)
        areas = [np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0) / 2 for face in faces]
        np.testing.assert_allclose(np.sum(areas, axis=0), 0.0, atol=1e-9)

    def test_of_points_are_none(self):
        assert list(faces_of(PointCloud(np.zeros((3, 3))))) == []


class TestTheStill:
    def test_paints_what_is_nearer_later(self, stacked):
        assert fills(drawn(stacked, from_=ABOVE))[-1] == "blue"
        assert fills(drawn(stacked, from_=(0, 0, -1)))[-1] == "red"

    def test_shows_no_side_that_looks_away(self, stacked):
        heights = {area.get("fill") for area in drawn(stacked, from_=ABOVE).iter(f"{SVG}polygon")}
        assert len(heights) == 2

    def test_names_frames_but_none_that_a_shape_is_placed_with(self, stacked):
        placed = stacked.scene.add_transform(parent="lamp", transform=at(0, 0, 1), at=None)
        assert {"map", "ground", "lamp"} <= set(texts(drawn(stacked)))
        assert stacked.scene.frame(placed) not in texts(drawn(stacked))

    def test_shows_the_frames_asked_for(self, stacked):
        assert "ground" not in texts(drawn(stacked, frames=["lamp"]))

    def test_shows_the_instant_asked_for(self, stacked):
        for second in (0, 1):
            stacked.set_pose(of="cup", in_frame="map", transform=at(5 * second, 0, 0), at=seconds(second))
        wide, narrow = (float(drawn(stacked, at=seconds(t), from_=ABOVE).get("height")) for t in (0, 1))
        assert wide > narrow

    def test_has_an_ellipse_as_wide_as_two_deviations(self):
        world = World()
        world.fix(of="wall", in_frame="map", transform=at(10, 0, 0))
        world.fix(of="cup", in_frame="map", transform=at(0, 0, 0), covariance=np.diag([1, 0.25, 0.04, 0, 0, 0]))
        (area,) = drawn(world, from_=ABOVE).iter(f"{SVG}polygon")
        corners = np.array([tuple(map(float, pair.split(","))) for pair in area.get("points").split()])
        width, height = np.ptp(corners, axis=0)
        assert width / height == pytest.approx(2.0, rel=0.01)

    def test_has_a_dot_for_every_point_of_a_cloud(self):
        world = World()
        world.scene.add_geometry(parent=world.scene.root, shape=PointCloud(np.eye(3)))
        assert len(list(drawn(world).iter(f"{SVG}circle"))) == 3

    def test_is_a_method_of_the_world_too(self, stacked, tmp_path):
        path = stacked.draw(tmp_path / "still.svg", from_=ABOVE, theme="dark")
        assert path.read_text(encoding="utf-8") == world_svg(stacked, from_=ABOVE, theme="dark")


class TestAStillThatCannotBe:
    @pytest.mark.parametrize("from_", [(0, 0, 0), (1, 2), (1, 2, float("nan"))])
    def test_is_refused_without_a_direction(self, stacked, from_):
        with pytest.raises(InvalidArgument, match="from_ must be a direction"):
            drawn(stacked, from_=from_)

    def test_is_refused_for_a_world_without_frames(self):
        with pytest.raises(UnknownFrame, match="set_pose or fix one first"):
            drawn(World())

    def test_reports_why_a_frame_cannot_be_seen(self, stacked):
        stacked.add_frame("lost")
        with pytest.raises(NotConnected):
            drawn(stacked, frames=["lost"])
