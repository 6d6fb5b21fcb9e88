"""Rotations: how they are made, refused, compared and kept."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from armillary import Rotation
from armillary.errors import InvalidArgument, InvalidTransform
from unit.kit import CLOSE_RAD

QUARTER = math.pi / 2
TURN = Rotation.from_rpy((0, 0, QUARTER))
HALF = math.sqrt(0.5)
SOME = [Rotation.exp(v) for v in np.random.default_rng(7).normal(size=(200, 3))]


class TestMakingARotation:
    @pytest.mark.parametrize(
        "made",
        [
            Rotation.from_wxyz((HALF, 0, 0, HALF)),
            Rotation.from_wxyz((-HALF, 0, 0, -HALF)),
            Rotation.from_xyzw((0, 0, HALF, HALF)),
            Rotation.from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
            Rotation.exp((0, 0, QUARTER)),
            Rotation.from_xyzw(np.array([0, 0, HALF, HALF], dtype=np.float32)),
            Rotation.from_rpy([0, 0, QUARTER]).inverse().inverse(),
        ],
    )
    def test_has_many_ways(self, made):
        assert made.is_close(TURN, rad=1e-7)

    def test_of_nothing_is_the_identity(self):
        assert Rotation.identity() == Rotation.exp((0, 0, 0)) == Rotation.from_matrix(np.eye(3))

    def test_turns_roll_first_and_yaw_last(self):
        roll, pitch, yaw = (Rotation.exp(angle * axis) for angle, axis in zip((0.1, 0.2, 0.3), np.eye(3), strict=True))
        assert Rotation.from_rpy((0.1, 0.2, 0.3)).is_close(yaw @ pitch @ roll)

    def test_takes_memory_in_any_order(self):
        matrix = np.asfortranarray(TURN.matrix)
        assert Rotation.from_matrix(matrix).is_close(TURN)
        assert Rotation.from_matrix(TURN.inverse().matrix[::-1][::-1].T).is_close(TURN)

    def test_brings_an_almost_unit_quaternion_to_length_one(self):
        assert np.linalg.norm(Rotation.from_wxyz((1.004, 0, 0, 0)).wxyz) == pytest.approx(1.0, abs=1e-15)

    def test_does_not_keep_the_array_of_the_caller(self):
        wxyz = np.array([1.0, 0, 0, 0])
        made = Rotation.from_wxyz(wxyz)
        wxyz[:] = 9
        assert made == Rotation.identity()


class TestWhatIsNoRotation:
    @pytest.mark.parametrize(
        ("wxyz", "sentence"),
        [
            ((0, 0, 0, 0), "squared norm 0. Normalise it"),
            ((1, 1, 0, 0), "squared norm 2. Normalise it, and check the order: from_wxyz or from_xyzw"),
            ((1.006, 0, 0, 0), "unit quaternion"),
            ((0.994, 0, 0, 0), "unit quaternion"),
            ((math.nan, 0, 0, 0), "NaN or infinite"),
            ((math.inf, 0, 0, 0), "NaN or infinite"),
            ((1e200, 0, 0, 0), "NaN or infinite|unit quaternion"),
        ],
    )
    def test_is_refused_as_a_quaternion(self, wxyz, sentence):
        with pytest.raises(InvalidTransform, match=sentence):
            Rotation.from_wxyz(wxyz)
        with pytest.raises(InvalidTransform, match=sentence):
            Rotation.from_xyzw((*wxyz[1:], wxyz[0]))

    @pytest.mark.parametrize(
        ("matrix", "sentence"),
        [
            (np.diag([1, 1, -1]), "reflection"),
            (2 * np.eye(3), "unit vectors at right angles"),
            (np.zeros((3, 3)), "unit vectors at right angles"),
            (np.full((3, 3), math.nan), "finite unit vectors"),
        ],
    )
    def test_is_refused_as_a_matrix(self, matrix, sentence):
        with pytest.raises(InvalidTransform, match=sentence):
            Rotation.from_matrix(matrix)

    @pytest.mark.parametrize("make", [Rotation.exp, Rotation.from_rpy])
    def test_is_refused_as_angles(self, make):
        with pytest.raises(InvalidTransform, match="NaN or infinite"):
            make((0, math.nan, 0))

    @pytest.mark.parametrize(
        ("make", "value", "sentence"),
        [
            (Rotation.from_wxyz, (1, 0, 0), r"wxyz must have shape \(4,\), got \(3,\)"),
            (Rotation.from_xyzw, np.eye(4), r"xyzw must have shape \(4,\), got \(4, 4\)"),
            (Rotation.from_matrix, np.eye(4), r"matrix must have shape \(3, 3\)"),
            (Rotation.exp, 1.0, r"v must have shape \(3,\)"),
            (Rotation.from_rpy, "abc", r"rpy must be numbers of shape \(3,\), got 'abc'"),
            (Rotation.from_rpy, [[1], [2, 3]], r"rpy must be numbers of shape \(3,\)"),
            (Rotation.exp, object(), r"v must be numbers of shape \(3,\)"),
        ],
    )
    def test_is_refused_for_its_shape(self, make, value, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            make(value)

    def test_cannot_be_made_from_nothing(self):
        with pytest.raises(TypeError):
            Rotation()


class TestARotationThatIsRead:
    @pytest.mark.parametrize(("name", "shape"), [("wxyz", (4,)), ("xyzw", (4,)), ("matrix", (3, 3)), ("rpy", (3,))])
    def test_gives_arrays_that_cannot_be_changed(self, name, shape):
        array = getattr(TURN, name)
        assert (array.shape, array.dtype) == (shape, np.float64)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)

    def test_has_its_scalar_where_the_name_has_it(self):
        np.testing.assert_allclose(TURN.wxyz, (HALF, 0, 0, HALF), atol=CLOSE_RAD)
        np.testing.assert_allclose(TURN.xyzw, (0, 0, HALF, HALF), atol=CLOSE_RAD)

    def test_gives_arrays_that_outlive_it(self):
        array = Rotation.exp((0.1, 0.2, 0.3)).matrix
        np.testing.assert_allclose(array @ array.T, np.eye(3), atol=CLOSE_RAD)

    @pytest.mark.parametrize("name", ["wxyz", "matrix", "rpy"])
    def test_cannot_be_changed(self, name):
        with pytest.raises(AttributeError):
            setattr(TURN, name, 0)

    def test_prints_its_angles(self):
        assert repr(Rotation.from_rpy((0, 0, 0.5))) == "Rotation(rpy=(0, 0, 0.5))"


class TestUsingARotation:
    def test_turns_a_point(self):
        np.testing.assert_allclose(TURN @ (1, 0, 0), (0, 1, 0), atol=CLOSE_RAD)

    def test_turns_many_points(self):
        np.testing.assert_allclose(TURN @ np.eye(3), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=CLOSE_RAD)

    def test_turns_no_points(self):
        assert (TURN @ np.zeros((0, 3))).shape == (0, 3)

    def test_composes(self):
        assert (TURN @ TURN).is_close(Rotation.exp((0, 0, math.pi)))

    @pytest.mark.parametrize("other", [(1, 2), np.eye(4), "abc", 5.0])
    def test_refuses_what_is_neither(self, other):
        with pytest.raises(InvalidArgument, match="must"):
            TURN @ other

    @pytest.mark.parametrize("other", [None, 5, "abc"])
    def test_refuses_the_wrong_side(self, other):
        with pytest.raises(TypeError):
            other @ TURN


class TestComparingRotations:
    def test_is_exact_with_equals(self):
        assert Rotation.exp((0, 0, 1)) == Rotation.exp((0, 0, 1))
        assert Rotation.exp((0, 0, 1)) != Rotation.exp((0, 0, 1 + 1e-12))
        assert Rotation.identity() != "identity"

    def test_knows_both_signs_of_a_quaternion_as_close(self):
        assert Rotation.from_wxyz((-1, 0, 0, 0)).is_close(Rotation.identity())

    def test_has_a_tolerance_in_radians(self):
        near = Rotation.exp((0, 0, 0.01))
        assert not near.is_close(Rotation.identity())
        assert near.is_close(Rotation.identity(), rad=0.0101)
        assert not near.is_close(Rotation.identity(), rad=0.0099)

    def test_agrees_with_the_hash(self):
        assert hash(Rotation.exp((0, 0, 1))) == hash(Rotation.exp((0, 0, 1)))
        assert len({Rotation.identity(), Rotation.identity(), TURN}) == 2

    def test_finds_zero_of_both_signs_equal(self):
        plus, minus = Rotation.from_wxyz((1, 0.0, 0, 0)), Rotation.from_wxyz((1, -0.0, 0, 0))
        assert plus == minus
        assert hash(plus) == hash(minus)


class TestKeepingRotations:
    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_in_a_pickle_changes_no_bit(self, protocol):
        assert [pickle.loads(pickle.dumps(rotation, protocol)) for rotation in SOME] == SOME

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
    def test_in_a_copy_changes_no_bit(self, again):
        assert [again(rotation) for rotation in SOME] == SOME
