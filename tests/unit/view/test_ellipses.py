"""Pictures of error ellipses."""

import numpy as np
import pytest

from armillary import Pose, Transform
from armillary.errors import InvalidArgument
from armillary.view import draw_ellipses, ellipses_svg
from armillary.view._ellipses import ellipse

CLOSE = 1e-12


def cup(covariance, yaw=0.0, in_frame="map"):
    transform = Transform.from_xyz_rpy(xyz=(1.0, 2.0, 0.0), rpy=(0.0, 0.0, yaw))
    return Pose(of="cup", in_frame=in_frame, transform=transform, covariance=covariance)


class TestAnEllipse:
    @pytest.mark.parametrize(("yaw", "reach"), [(0.0, (0.6, 0.2)), (np.pi / 2, (0.2, 0.6))])
    def test_reaches_so_many_deviations_along_the_axes_of_the_thing(self, yaw, reach):
        """The position's own block decides: rotational variances, however large, have no part in it."""
        variances = np.diag([0.09, 0.01, 0.25, 9.0, 9.0, 9.0])
        outline = ellipse(cup(variances, yaw), 2.0) - (1.0, 2.0)
        assert np.abs(outline).max(axis=0) == pytest.approx(reach, abs=CLOSE)

    def test_of_what_is_exact_is_a_point(self):
        assert np.abs(ellipse(cup(np.zeros((6, 6))), 2.0) - (1.0, 2.0)).max() < CLOSE

    def test_ends_where_it_began(self):
        outline = ellipse(cup(np.eye(6)), 1.0)
        assert outline[0] == pytest.approx(outline[-1])


class TestThePicture:
    def test_names_what_it_shows(self, tmp_path):
        marks = {"camera": Transform.identity()}
        svg = ellipses_svg({"seen": cup(0.01 * np.eye(6))}, marks=marks, deviations=3.0)
        assert all(word in svg for word in ("seen seen from map", "1 and 3 standard deviations", ">camera<"))
        assert draw_ellipses(
            {"seen": cup(0.01 * np.eye(6))}, tmp_path / "cup.svg", marks=marks, deviations=3.0
        ).exists()

    def test_needs_to_know_how_sure(self):
        with pytest.raises(InvalidArgument, match="The uncertainty of guessed is not known"):
            ellipses_svg({"guessed": cup(None)})

    def test_needs_one_frame_to_be_seen_from(self):
        with pytest.raises(InvalidArgument, match=r"seen from \['map', 'odom'\]"):
            ellipses_svg({"a": cup(np.eye(6)), "b": cup(np.eye(6), in_frame="odom")})
        with pytest.raises(InvalidArgument, match="at least one pose"):
            ellipses_svg({})
