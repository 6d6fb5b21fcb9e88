"""Transforms: how they are made, refused, compared and kept."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from armillary import Rotation, Transform
from armillary.errors import InvalidArgument, InvalidTransform
from unit.kit import CLOSE_M, STILL, moved

HALF = math.sqrt(0.5)
QUARTER = math.pi / 2
map_T_base = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0, 0, QUARTER))
MATRIX = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
SOME = [Transform.exp(v) for v in np.random.default_rng(7).normal(size=(200, 6))]
HUGE = moved(1e308)


class TestMakingATransform:
    @pytest.mark.parametrize(
        "made",
        [
            Transform.from_matrix(MATRIX),
            Transform.from_matrix(np.array(MATRIX, dtype=np.float32)),
            Transform.from_xyz_wxyz(xyz=(1, 2, 3), wxyz=(HALF, 0, 0, HALF)),
            Transform.from_xyz_wxyz(xyz=(1, 2, 3), wxyz=(-HALF, 0, 0, -HALF)),
            Transform.from_xyz_xyzw(xyz=[1, 2, 3], xyzw=[0, 0, HALF, HALF]),
            Transform.from_rotation(Rotation.from_rpy((0, 0, QUARTER)), xyz=(1, 2, 3)),
            Transform.exp(map_T_base.log()),
            map_T_base.inverse().inverse(),
            moved(1, 2, 3) @ Transform.from_rotation(map_T_base.rotation, xyz=(0, 0, 0)),
        ],
    )
    def test_has_many_ways(self, made):
        assert made.is_close(map_T_base, m=1e-6, rad=1e-6)

    def test_without_saying_how_is_refused_with_the_ways_there_are(self):
        with pytest.raises(
            InvalidArgument, match=r"Use Transform\.from_matrix\(\.\.\.\), .* or Transform\.from_xyz_xyzw"
        ):
            Transform((1, 2, 3))
        with pytest.raises(InvalidArgument, match=r"Use Rotation\.from_matrix\(\.\.\.\), .* or Rotation\.from_xyzw"):
            Rotation(wxyz=(1, 0, 0, 0))

    def test_from_a_rotation_alone_is_at_the_origin(self):
        assert Transform.from_rotation(map_T_base.rotation) == Transform.from_rotation(
            map_T_base.rotation, xyz=(0, 0, 0)
        )

    def test_of_nothing_is_the_identity(self):
        assert Transform.identity() == Transform.exp(np.zeros(6)) == Transform.from_matrix(np.eye(4))

    def test_takes_memory_in_any_order(self):
        assert Transform.from_matrix(np.asfortranarray(MATRIX)).is_close(map_T_base)

    def test_does_not_keep_the_array_of_the_caller(self):
        matrix = np.eye(4)
        made = Transform.from_matrix(matrix)
        matrix[:] = 9
        assert made == STILL


class TestWhatIsNoTransform:
    @pytest.mark.parametrize(
        ("matrix", "sentence"),
        [
            (np.array(MATRIX).T, r"last row of a rigid transform is \(0, 0, 0, 1\).*transposed"),
            (np.diag([1, 1, 1, 2]), "last row"),
            (np.diag([1, 1, -1, 1]), "reflection"),
            (np.diag([2, 2, 2, 1]), "right angles"),
            (np.array([[1, 0, 0, math.inf], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), "NaN or infinite"),
            (np.full((4, 4), math.nan), "last row|NaN"),
        ],
    )
    def test_is_refused_as_a_matrix(self, matrix, sentence):
        with pytest.raises(InvalidTransform, match=sentence):
            Transform.from_matrix(matrix)

    @pytest.mark.parametrize(
        ("xyz", "wxyz", "sentence"),
        [
            ((math.nan, 0, 0), (1, 0, 0, 0), "xyz .* NaN or infinite"),
            ((0, -math.inf, math.inf), (1, 0, 0, 0), "xyz .* NaN or infinite"),
            ((0, 0, 0), (0, 0, 0, 0), "Normalise it"),
            ((0, 0, 0), (2, 0, 0, 0), "Normalise it"),
            ((0, 0, 0), (math.nan, 0, 0, 0), "NaN or infinite"),
        ],
    )
    def test_is_refused_as_numbers(self, xyz, wxyz, sentence):
        with pytest.raises(InvalidTransform, match=sentence):
            Transform.from_xyz_wxyz(xyz=xyz, wxyz=wxyz)

    @pytest.mark.parametrize(
        ("make", "sentence"),
        [
            (lambda: Transform.from_matrix(np.eye(3)), r"matrix must have shape \(4, 4\), got \(3, 3\)"),
            (lambda: Transform.from_matrix("abc"), r"matrix must be numbers of shape \(4, 4\), got 'abc'"),
            (lambda: Transform.exp((1, 2, 3)), r"v must have shape \(6,\)"),
            (lambda: Transform.from_xyz_rpy(xyz=(1, 2), rpy=(0, 0, 0)), r"xyz must have shape \(3,\)"),
            (lambda: Transform.from_xyz_wxyz(xyz=(1, 2, 3), wxyz=(0, 0, 0)), r"wxyz must have shape \(4,\)"),
            (lambda: Transform.from_xyz_xyzw(xyz=(1, 2, 3), xyzw=object()), r"xyzw must be numbers"),
            (lambda: STILL.interpolate(STILL, 0.5, kind="cubic"), "kind must be 'linear' or 'screw', got 'cubic'"),
        ],
    )
    def test_is_refused_for_its_shape(self, make, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            make()

    @pytest.mark.parametrize(
        "make",
        [
            lambda: HUGE @ HUGE,
            lambda: STILL.interpolate(moved(1), math.nan),
            lambda: STILL.interpolate(moved(1), math.inf),
            lambda: Transform.exp((1e308, 1e308, 1e308, 1e200, 0, 0)),
            lambda: Transform.exp((0, 0, 0, math.nan, 0, 0)),
        ],
        ids=["product", "nan of the way", "inf of the way", "huge tangent", "nan tangent"],
    )
    def test_is_never_made_by_arithmetic(self, make):
        with pytest.raises((InvalidTransform, InvalidArgument)):
            make()

    def test_cannot_be_made_from_nothing(self):
        with pytest.raises(TypeError):
            Transform()


class TestATransformThatIsRead:
    @pytest.mark.parametrize(
        ("name", "shape"), [("matrix", (4, 4)), ("translation", (3,)), ("xyz_wxyz", (7,)), ("adjoint", (6, 6))]
    )
    def test_gives_arrays_that_cannot_be_changed(self, name, shape):
        array = getattr(map_T_base, name)
        assert (array.shape, array.dtype) == (shape, np.float64)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)

    def test_has_its_parts_in_the_order_of_their_names(self):
        np.testing.assert_allclose(map_T_base.matrix, MATRIX, atol=CLOSE_M)
        np.testing.assert_allclose(map_T_base.xyz_wxyz, (1, 2, 3, HALF, 0, 0, HALF), atol=CLOSE_M)
        assert map_T_base.translation.tolist() == [1, 2, 3]
        assert map_T_base.rotation.is_close(Rotation.from_rpy((0, 0, QUARTER)))

    @pytest.mark.parametrize("name", ["matrix", "translation", "rotation"])
    def test_cannot_be_changed(self, name):
        with pytest.raises(AttributeError):
            setattr(map_T_base, name, 0)

    def test_prints_where_and_how(self):
        made = Transform.from_xyz_rpy(xyz=(1, -2.5, 1e-7), rpy=(0, 0, 0.5))
        assert repr(made) == "Transform(xyz=(1, -2.5, 1e-07), rpy=(0, 0, 0.5))"

    def test_prints_whatever_it_holds(self):
        assert "1.23457e+300" in repr(moved(1.2345678e300, -1.2345678e-300, 1.2345678e307))


class TestUsingATransform:
    def test_maps_a_point(self):
        np.testing.assert_allclose(map_T_base @ (1, 0, 0), (1, 3, 3), atol=CLOSE_M)

    def test_maps_many_points(self):
        cloud = np.random.default_rng(1).normal(size=(1000, 3))
        expected = cloud @ map_T_base.rotation.matrix.T + map_T_base.translation
        np.testing.assert_allclose(map_T_base @ cloud, expected, atol=CLOSE_M)
        np.testing.assert_allclose(map_T_base @ cloud[::-2].astype(np.float32), expected[::-2], atol=1e-6)

    def test_maps_no_points(self):
        assert (map_T_base @ np.zeros((0, 3))).shape == (0, 3)

    def test_composes(self):
        assert (map_T_base @ map_T_base.inverse()).is_close(STILL)

    def test_interpolates_a_part_of_the_motion(self):
        assert STILL.interpolate(moved(4), 0.25).is_close(moved(1))
        assert STILL.interpolate(map_T_base, 0.0).is_close(STILL)
        assert STILL.interpolate(map_T_base, 1.0, kind="screw").is_close(map_T_base)

    @pytest.mark.parametrize("other", [(1, 2), np.eye(4), np.zeros((2, 2, 5)), "abc", 5.0])
    def test_refuses_what_is_neither(self, other):
        with pytest.raises(InvalidArgument, match="must"):
            map_T_base @ other

    def test_lets_others_multiply_from_the_right(self):
        class Marker:
            def __rmatmul__(self, other):
                return "mine"

        assert map_T_base @ Marker() == "mine"


class TestComparingTransforms:
    def test_is_exact_with_equals(self):
        assert moved(1) == moved(1)
        assert moved(1) != moved(1 + 1e-12)
        assert moved(1) != np.eye(4).tolist()

    def test_has_tolerances_with_units(self):
        near = moved(0.01)
        assert not near.is_close(STILL)
        assert near.is_close(STILL, m=0.0101)
        turned = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, 0.01))
        assert not turned.is_close(STILL, m=1.0)
        assert turned.is_close(STILL, rad=0.0101)

    def test_refuses_to_compare_with_something_else(self):
        with pytest.raises(TypeError):
            STILL.is_close(np.eye(4))

    def test_agrees_with_the_hash(self):
        assert hash(moved(1)) == hash(moved(1))
        assert len({STILL, moved(0), moved(-0.0), moved(1)}) == 2


class TestKeepingTransforms:
    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_in_a_pickle_changes_no_bit(self, protocol):
        assert [pickle.loads(pickle.dumps(transform, protocol)) for transform in SOME] == SOME

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
    def test_in_a_copy_changes_no_bit(self, again):
        assert [again(transform) for transform in SOME] == SOME
