"""The order in which faces are painted."""

from __future__ import annotations

import numpy as np
import pytest

from armillary.view._faces import Piece, back_to_front, normal_of

EYE = np.array([0.0, -1.0, 1.0]) / np.sqrt(2.0)


def flat(low, high, z, color="floor"):
    """A rectangle that looks upwards."""
    (x0, y0), (x1, y1) = low, high
    return Piece(np.array([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], dtype=float), color, 1.0)


def upright(x0, x1, y, height, color="wall"):
    """A rectangle that looks along -y."""
    return Piece(np.array([(x0, y, 0), (x1, y, 0), (x1, y, height), (x0, y, height)], dtype=float), color, 1.0)


def colors(*pieces, small_m=0.1):
    return [piece.color for piece in back_to_front(pieces, EYE, small_m)]


def area(pieces):
    doubled = [np.cross(p.corners, np.roll(p.corners, -1, axis=0)).sum(axis=0) for p in pieces]
    return sum(np.linalg.norm(one) for one in doubled) / 2.0


class TestTheOrder:
    def test_is_right_where_the_middle_of_what_is_behind_is_nearer(self):
        floor, cup = flat((-5, -5), (5, 5), 0.0), flat((0, 4), (1, 4.5), 0.1, "cup")
        assert floor.corners.mean(axis=0) @ EYE > cup.corners.mean(axis=0) @ EYE
        assert colors(cup, floor) == ["floor", "cup"]

    def test_does_not_depend_on_the_order_of_the_pieces(self):
        pieces = [flat((-5, -5), (5, 5), 0.0), upright(-5, 5, 4.9, 3.0), flat((0, 4), (1, 4.5), 0.1, "cup")]
        assert colors(*pieces)[-1] == colors(*reversed(pieces))[-1] == "cup"

    def test_cuts_what_reaches_through_another(self):
        floor, board = flat((-2, -2), (2, 2), 0.5), upright(-1, 1, 0.0, 1.0, "board")
        painted = back_to_front([board, floor], EYE, 0.1)
        assert [piece.color for piece in painted] == ["board", "floor", "board"]
        assert area(painted) == pytest.approx(area([floor, board]))
        assert all(normal_of(piece.corners) @ EYE > 0.0 for piece in painted)

    def test_sorts_small_ones_by_their_middle(self):
        near, far = flat((0, -1), (0.1, -0.9), 0.0, "near"), flat((0, 1), (0.1, 1.1), 0.0, "far")
        assert colors(near, far, small_m=1.0) == ["far", "near"]

    def test_has_a_place_for_single_points(self):
        floor, point = flat((-5, -5), (5, 5), 0.0), Piece(np.array([(0.0, 4.0, 0.2)]), "point", 1.0)
        assert colors(point, floor) == ["floor", "point"]
