"""The picture of tracks."""

from __future__ import annotations

from itertools import combinations
from re import fullmatch
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, InvalidArgument, UnknownFrame
from armillary.view import draw_tracks, tracks_svg

SVG = "{http://www.w3.org/2000/svg}"
AT = np.arange(0, seconds(10) + 1, seconds(0.1))


@pytest.fixture
def street():
    """A car along x, a bike along y, both at one metre a second."""
    world = World(history=seconds(100))
    for at in AT.tolist():
        car = Transform.from_xyz_rpy(xyz=(at / 1e9, 0, 0), rpy=(0, 0, 0))
        bike = Transform.from_xyz_rpy(xyz=(5, at / 1e9, 0), rpy=(0, 0, np.pi / 2))
        world.set_pose(of="car", in_frame="road", transform=car, at=at)
        world.set_pose(of="bike", in_frame="road", transform=bike, at=at)
    return world


def picture(world, of=("car", "bike"), at=AT, in_frame="road"):
    return ET.fromstring(tracks_svg(world, of=of, in_frame=in_frame, at=at))


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def tracks(root):
    """The points of every long line, shape (N, 2) [px]."""
    lines = [line.get("points").split() for line in root.iter(f"{SVG}polyline")]
    return [np.array([pair.split(",") for pair in line], dtype=float) for line in lines if len(line) == len(AT)]


class TestTheTracksPicture:
    def test_draws_x_to_the_right_and_y_upwards_at_one_scale(self, street):
        car, bike = tracks(picture(street))
        assert np.ptp(car[:, 1]) == np.ptp(bike[:, 0]) == 0.0
        assert car[-1, 0] - car[0, 0] == pytest.approx(bike[0, 1] - bike[-1, 1], abs=0.05)
        assert car[-1, 0] > car[0, 0]

    def test_keeps_equal_times_at_equal_distances(self, street):
        car, _ = tracks(picture(street))
        np.testing.assert_allclose(np.diff(car[:, 0]), np.diff(car[:, 0]).mean(), atol=0.02)

    def test_explains_itself_in_a_legend(self, street):
        shown = texts(picture(street))
        for word in ("car", "bike", "start", "end", "every 2 s", "car, bike seen from road", "x [m]", "y [m]"):
            assert word in shown

    def test_marks_the_time_along_both_ways(self, street):
        shown = texts(picture(street))
        assert [shown.count(f"{time_s} s") for time_s in (2, 4, 6, 8, 10)] == [2, 2, 2, 2, 2]

    def test_marks_start_and_end_of_both(self, street):
        root = picture(street)
        rings = [disc for disc in root.iter(f"{SVG}circle") if disc.get("r") == "6"]
        assert len(rings) == len(list(root.iter(f"{SVG}polygon"))) == 2 + 1  # and one in the legend

    def test_puts_the_marks_where_the_frame_was(self, street):
        root = picture(street, of=("car",))
        dots = [float(disc.get("cx")) for disc in root.iter(f"{SVG}circle") if disc.get("r") == "3.2"]
        (car,) = tracks(root)
        np.testing.assert_allclose(dots, car[20::20, 0], atol=0.02)

    def test_points_the_end_along_the_x_axis_of_the_frame(self, street):
        *_, end = picture(street, of=("bike",)).iter(f"{SVG}polygon")
        tip, left, _, right = [[float(value) for value in pair.split(",")] for pair in end.get("points").split()]
        assert tip[1] < left[1] == right[1]

    def test_stays_on_its_paper(self, street):
        root = picture(street)
        points = np.concatenate(tracks(root))
        assert (points > 0).all()
        assert (points < [float(root.get("width")), float(root.get("height"))]).all()

    def test_reports_from_when_times_are_counted(self, street):
        assert "3 s of motion, counted from 2.000 s" in texts(picture(street, at=AT[20:51]))


class TestUnusualTracks:
    def test_of_a_frame_at_rest(self, street):
        street.fix(of="tree", in_frame="road", transform=Transform.identity())
        assert "tree seen from road" in texts(picture(street, of="tree"))

    def test_in_a_crowd_drop_labels_rather_than_pile_them(self, street):
        names = [f"tree_{i}" for i in range(20)]
        for name in names:
            street.fix(of=name, in_frame="road", transform=Transform.identity())
        labels = [text for text in picture(street, of=names).iter(f"{SVG}text") if fullmatch(r"\d+ s", text.text)]
        places = [(float(text.get("x")), float(text.get("y"))) for text in labels]
        assert 2 < len(labels) < 20
        assert all(abs(x - u) > 20 or abs(y - v) > 12 for (x, y), (u, v) in combinations(places, 2))

    def test_at_a_single_instant(self, street):
        assert "0 s of motion" in texts(picture(street, at=[0]))

    def test_far_from_the_origin(self, street):
        far = Transform.from_xyz_rpy(xyz=(4e6, -5e15, 0), rpy=(0, 0, 0))
        street.fix(of="road", in_frame="planet", transform=far)
        assert "car, bike seen from planet" in texts(picture(street, in_frame="planet"))

    def test_in_any_order_of_instants_are_the_same_picture(self, street):
        forwards = tracks_svg(street, of=("car",), in_frame="road", at=AT)
        assert tracks_svg(street, of=("car",), in_frame="road", at=AT[::-1]) == forwards


class TestTracksThatCannotBeDrawn:
    @pytest.mark.parametrize("at", [[], [0.5], [[0, 1]], ["now"]])
    def test_because_these_are_no_instants(self, street, at):
        with pytest.raises(InvalidArgument, match="integer nanoseconds"):
            picture(street, at=at)

    def test_because_nobody_is_named(self, street):
        with pytest.raises(InvalidArgument, match="at least one frame"):
            picture(street, of=())

    def test_because_the_frame_is_unknown(self, street, tmp_path):
        with pytest.raises(UnknownFrame):
            draw_tracks(street, tmp_path / "x.svg", of=("truck",), in_frame="road", at=AT)
        assert not list(tmp_path.iterdir())

    def test_because_nothing_is_known_then(self, street):
        with pytest.raises(AfterHistory):
            picture(street, at=[0, seconds(11)])
