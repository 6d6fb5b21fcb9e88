"""The picture of a world in space."""

from __future__ import annotations

import base64
import io
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, Transform, World, seconds
from armillary.errors import InvalidArgument, NotConnected, UnknownFrame
from armillary.view import world_svg
from armillary.view._faces import faces_of, triangles_of

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


def image(root):
    """The picture of the shapes, (height, width, 4) from 0 to 255."""
    (element,) = root.iter(f"{SVG}image")
    png = base64.b64decode(element.get("href").partition(",")[2])
    return np.round(255 * pytest.importorskip("matplotlib.image").imread(io.BytesIO(png)))


def middle(root) -> str:
    """What is in the middle of the drawn part."""
    pixels = image(root)
    rows, columns = np.nonzero(pixels[..., 3])
    red, _, blue, _ = pixels[(rows.min() + rows.max()) // 2, (columns.min() + columns.max()) // 2]
    return "red" if red > blue else "blue"


class TestTheFacesOfAShape:
    @pytest.mark.parametrize(
        "shape", [Box((1, 2, 3)), Sphere(0.5), Cylinder(0.5, 2.0), Capsule(0.5, 2.0), TETRAHEDRON], ids=repr
    )
    def test_look_outwards_and_close_it(self, shape):
        triangles = triangles_of(shape)
        centres = triangles.mean(axis=1)
        areas = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2
        assert (np.einsum("ij,ij->i", areas, centres - triangles.reshape(-1, 3).mean(axis=0)) > -1e-12).all()
        np.testing.assert_allclose(areas.sum(axis=0), 0.0, atol=1e-9)

    def test_of_points_are_none(self):
        assert list(faces_of(PointCloud(np.zeros((3, 3))))) == []


class TestTheStill:
    def test_shows_what_is_nearer(self, stacked):
        assert middle(drawn(stacked, from_=ABOVE)) == "blue"
        assert middle(drawn(stacked, from_=(0, 0, -1))) == "red"

    def test_is_seen_from_the_root_that_most_hangs_under(self):
        world = World()
        world.add_frame("map")
        world.fix(of="tip", in_frame="base", transform=at(1, 0, 0))
        assert "seen from base" in texts(drawn(world))
        assert {"base", "tip"} <= set(texts(drawn(world)))

    def test_of_many_frames_names_those_that_are_reported(self):
        world = World()
        for i in range(80):
            world.fix(of=f"hook {i}", in_frame="map", transform=at(i, 0, 0))
        world.set_pose(of="cup", in_frame="map", transform=at(0, 1, 0), at=seconds(1))
        assert {"map", "cup"} <= set(texts(drawn(world)))
        assert "hook 7" not in texts(drawn(world))

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

    def test_has_a_square_for_every_point_of_a_cloud(self):
        world = World()
        world.scene.add_geometry(parent=world.scene.root, shape=PointCloud(np.eye(3)))
        assert np.count_nonzero(image(drawn(world))[..., 3]) == 3 * 25

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
