"""Values of numpy and of other libraries: what they are taken for, and what they become."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import RigidTransform
from scipy.spatial.transform import Rotation as ScipyRotation

from armillary import Pose, Rotation, Transform, World, seconds
from armillary.errors import InvalidArgument, InvalidTransform
from armillary.scene import Fix
from unit.kit import CLOSE_M, STILL, drive, moved
from unit.test_hostile_input import fresh_world

SOME = Transform.from_xyz_rpy(xyz=(1.0, 2.0, 3.0), rpy=(0.1, 0.2, 0.3))
TURNED = Transform.from_rotation(SOME.rotation, xyz=(0, 0, 0))


class Jaxlie:
    """A transform with the methods of jaxlie."""

    def __init__(self, matrix):
        self._matrix = matrix

    def as_matrix(self):
        return self._matrix


class Sophus:
    def matrix(self):
        return SOME.matrix


class Homogeneous:
    homogeneous = SOME.matrix.tolist()


class ArrayAlone:
    def __array__(self, dtype=None, copy=None):
        return np.array(SOME.matrix, dtype=dtype)


def message(fields, xyz, xyzw, number):
    """A message with the fields of geometry_msgs."""
    vector = SimpleNamespace(**dict(zip("xyz", map(number, xyz), strict=True)))
    quaternion = SimpleNamespace(**dict(zip("xyzw", map(number, xyzw), strict=True)))
    return SimpleNamespace(**dict(zip(fields, (vector, quaternion), strict=True)))


def of_pinocchio():
    return pytest.importorskip("pinocchio").SE3(SOME.matrix)


WHOLE = {
    "array": lambda: SOME.matrix,
    "array that may be written": SOME.matrix.copy,
    "float32 array": lambda: SOME.matrix.astype(np.float32),
    "array in another order": lambda: np.asfortranarray(SOME.matrix),
    "nested list": SOME.matrix.tolist,
    "DataFrame": lambda: pd.DataFrame(SOME.matrix),
    "RigidTransform of scipy": lambda: RigidTransform.from_matrix(SOME.matrix),
    "SE3 of pinocchio": of_pinocchio,
    "as_matrix()": lambda: Jaxlie(SOME.matrix),
    "matrix()": Sophus,
    "homogeneous": Homogeneous,
    "__array__": ArrayAlone,
    "Transform": lambda: SOME,
}
ROTATIONS = {
    "Rotation of scipy": lambda: ScipyRotation.from_quat(SOME.rotation.xyzw),
    "as_matrix()": lambda: Jaxlie(SOME.rotation.matrix),
    "Rotation": lambda: SOME.rotation,
}


def is_close(given: Transform, expected: Transform) -> bool:
    return given.is_close(expected, m=1e-6, rad=1e-6)


class TestWhereATransformIsTaken:
    @pytest.mark.parametrize("form", WHOLE)
    def test_any_form_of_one_is(self, form):
        given = WHOLE[form]()
        with World("w") as world:
            world.set_pose(of="a", in_frame="map", transform=given, at=0)
            world.fix(of="b", in_frame="map", transform=given)
            world.apply([Fix(of="c", in_frame="map", transform=given)])
            node = world.scene.add_transform(parent=world.scene.root, transform=given, at=0)
            world.scene.set_transform(node, given, at=1)
            for of in ("a", "b", "c", world.scene.frame(node)):
                assert is_close(world.pose(of=of, in_frame="map").transform, SOME), of
        assert is_close(Transform.from_matrix(given), SOME)

    @pytest.mark.parametrize("form", ROTATIONS)
    def test_a_rotation_is_one_without_a_translation(self, form):
        given = ROTATIONS[form]()
        with World("w") as world:
            world.set_pose(of="a", in_frame="map", transform=given, at=0)
            world.fix(of="b", in_frame="map", transform=given)
            for of in ("a", "b"):
                assert is_close(world.pose(of=of, in_frame="map").transform, TURNED)
        assert is_close(Transform.from_rotation(given, xyz=(1, 2, 3)), SOME)
        assert Rotation.from_matrix(given).is_close(SOME.rotation, rad=1e-6)

    @pytest.mark.parametrize("fields", [("translation", "rotation"), ("position", "orientation")])
    @pytest.mark.parametrize("number", [float, np.float64, np.float32])
    def test_a_message_of_ros_is(self, fields, number):
        given = message(fields, SOME.translation, SOME.rotation.xyzw, number)
        with World("w") as world:
            world.set_pose(of="a", in_frame="map", transform=given, at=0)
            world.fix(of="b", in_frame="map", transform=given)
            world.apply([Fix(of="c", in_frame="map", transform=given)])
            for of in ("a", "b", "c"):
                assert is_close(world.pose(of=of, in_frame="map").transform, SOME), of

    @pytest.mark.parametrize(
        ("xyz", "xyzw"), [((0, 0, np.nan), (0, 0, 0, 1)), ((0, 0, 0), (0, 0, 0, 0)), ((0, 0, 0), (0, 0, np.inf, 1))]
    )
    def test_a_message_that_is_no_pose_is_refused(self, xyz, xyzw):
        given = message(("translation", "rotation"), xyz, xyzw, float)
        with World("w") as world:
            for call in (world.set_pose, world.fix):
                with pytest.raises(InvalidTransform):
                    call(of="a", in_frame="map", transform=given, at=0)
            assert "a" not in world.frames()

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            (SimpleNamespace(translation=SimpleNamespace(x=1.0), rotation=None), InvalidArgument),
            (np.eye(3), InvalidArgument),
            (np.zeros((4, 4)), InvalidTransform),
            (np.diag([1.0, 1.0, -1.0, 1.0]), InvalidTransform),
            (np.full((4, 4), np.nan), InvalidTransform),
            (np.eye(4)[:3], InvalidArgument),
            (Jaxlie("no matrix"), InvalidArgument),
            (Jaxlie(np.eye(2)), InvalidArgument),
            (ScipyRotation.from_quat([[0, 0, 0, 1], [0, 0, 0, 1]]), InvalidArgument),
            ("eye", InvalidArgument),
        ],
    )
    def test_what_is_none_is_refused(self, given, kind):
        with World("w") as world:
            for call in (world.set_pose, world.fix):
                with pytest.raises(kind):
                    call(of="a", in_frame="map", transform=given, at=0)
            assert world.frames() == ()

    def test_many_may_be_a_list_of_transforms_or_of_another_library(self):
        rows = [SOME, STILL, moved(4)]
        scipy_rows = RigidTransform.from_matrix(np.array([row.matrix for row in rows]))
        for given in (rows, scipy_rows, np.array(rows), [row.matrix for row in rows]):
            with World("w") as world:
                world.set_poses(of="a", in_frame="map", transforms=given, at=[0, 1, 2])
                assert np.allclose(world.transforms(of="a", in_frame="map", at=[0, 1, 2]), np.array(rows))


class TestATransformForNumpy:
    @pytest.mark.parametrize(("value", "matrix"), [(SOME, SOME.matrix), (SOME.rotation, SOME.rotation.matrix)])
    def test_is_its_matrix(self, value, matrix):
        for array in (np.asarray(value), np.array(value), np.array(value, copy=True), value.__array__()):
            assert array.dtype == np.float64
            assert np.array_equal(array, matrix)
            assert array.flags.writeable
        assert np.asarray(value, dtype=np.float32).dtype == np.float32
        assert np.allclose(np.linalg.inv(value), np.asarray(value.inverse()))
        assert np.allclose(value, matrix)

    @pytest.mark.parametrize("value", [SOME, SOME.rotation])
    def test_is_never_without_a_copy(self, value):
        with pytest.raises(ValueError, match="copy"):
            np.array(value, copy=False)

    @pytest.mark.parametrize("value", [SOME, SOME.rotation])
    def test_is_not_multiplied_from_the_left(self, value):
        for array in (np.eye(4), np.eye(3), np.ones(3), np.ones((5, 3))):
            with pytest.raises(TypeError):
                array @ value
        with pytest.raises(TypeError):
            np.ones(3) + value

    def test_is_not_copied_by_copying(self):
        assert copy.deepcopy(SOME) == SOME

    def test_can_be_made_of_a_translation(self):
        assert Transform.from_translation((1, 2, 3)) == moved(1, 2, 3)
        assert Transform.from_translation(xyz=np.ones(3, dtype=np.float32)) == moved(1, 1, 1)
        with pytest.raises(InvalidTransform, match="xyz"):
            Transform.from_translation((1, 2, np.nan))


CLOUD = np.random.default_rng(5).normal(size=(12, 3))
MAPPED = SOME @ CLOUD
FIELDS = np.dtype(
    {"names": ["x", "y", "z", "intensity"], "formats": ["f4", "f4", "f4", "u1"], "offsets": [0, 4, 8, 16]}
)


def structured() -> np.ndarray:
    points = np.zeros(12, dtype=FIELDS)
    points["x"], points["y"], points["z"] = CLOUD.T
    points["intensity"] = np.arange(12)
    return points


def with_place() -> World:
    world = World("w")
    for at in (1, 2):
        world.set_pose(of="camera", in_frame="map", transform=SOME, at=seconds(at))
    return world


class TestPoints:
    @pytest.mark.parametrize("policy", ["unique", "latest"])
    @pytest.mark.parametrize("each", [False, True], ids=["one instant", "one for each"])
    def test_are_mapped_in_the_form_they_have(self, policy, each):
        forms = {
            "rows": (CLOUD, MAPPED),
            "image": (CLOUD.reshape(3, 4, 3), MAPPED.reshape(3, 4, 3)),
            "with a fourth": (np.c_[CLOUD, np.arange(12)], np.c_[MAPPED, np.arange(12)]),
            "float32": (CLOUD.astype(np.float32), MAPPED.astype(np.float32)),
            "float32 with a fourth": (
                np.c_[CLOUD, CLOUD[:, :1]].astype("f4"),
                np.c_[MAPPED, CLOUD[:, :1]].astype("f4"),
            ),
            "columns": (np.asfortranarray(CLOUD), MAPPED),
            "every second": (np.repeat(CLOUD, 2, axis=0)[::2], MAPPED),
            "list": (CLOUD.tolist(), MAPPED),
            "float16": (CLOUD.astype(np.float16), MAPPED),
            "integers": ((10 * CLOUD).astype(int), SOME @ (10 * CLOUD).astype(int).astype(float)),
        }
        with with_place() as world:
            for name, (points, expected) in forms.items():
                shape = np.shape(points)[:-1]
                at = np.full(shape, seconds(1)) if each else seconds(1)
                mapped = world.map_points(points, from_frame="camera", to_frame="map", at=at, policy=policy)
                assert mapped.shape == expected.shape, name
                assert mapped.dtype == expected.dtype, name
                close = 2e-2 if name == "float16" else 1e-5 if mapped.dtype == np.float32 else CLOSE_M
                assert np.allclose(mapped, expected, atol=close), name
                if not each:
                    assert np.allclose(SOME @ points, mapped, atol=close), name
                    assert (SOME @ points).dtype == mapped.dtype, name

    @pytest.mark.parametrize("policy", ["unique", "latest"])
    @pytest.mark.parametrize("at", [seconds(1), np.full(12, seconds(2))], ids=["one instant", "one for each"])
    def test_with_fields_keep_the_others(self, policy, at):
        given = structured()
        with with_place() as world:
            mapped = world.map_points(given, from_frame="camera", to_frame="map", at=at, policy=policy)
        assert mapped.dtype == FIELDS
        assert np.array_equal(mapped["intensity"], np.arange(12))
        assert np.allclose(np.c_[mapped["x"], mapped["y"], mapped["z"]], MAPPED, atol=1e-6)
        assert np.array_equal(given, structured())

    def test_are_not_changed(self):
        for points in (CLOUD.copy(), CLOUD.astype(np.float32), np.c_[CLOUD, CLOUD]):
            before = points.copy()
            _ = SOME @ points[:, :3]
            assert np.array_equal(points, before)

    def test_may_be_one_or_none(self):
        assert (SOME @ np.zeros(3, dtype=np.float32)).dtype == np.float32
        assert np.allclose(SOME @ (0, 0, 0), SOME.translation)
        for empty in (np.zeros((0, 3)), np.zeros((0, 4), dtype=np.float32), np.zeros((2, 0, 3)), structured()[:0]):
            assert (SOME @ empty).shape == empty.shape

    def test_are_turned_likewise(self):
        image = CLOUD.reshape(2, 6, 3).astype(np.float32)
        turned = SOME.rotation @ image
        assert turned.dtype == np.float32
        assert np.allclose(turned, image @ SOME.rotation.matrix.T, atol=1e-6)

    @pytest.mark.parametrize(
        "points",
        [
            np.zeros((5, 2)),
            np.zeros((5, 7)),
            np.zeros(4),
            np.eye(4),
            SOME,
            SOME.rotation,
            np.zeros(3, dtype=[("x", "f4"), ("y", "f4")]),
            np.zeros(3, dtype=[("x", "i4"), ("y", "i4"), ("z", "i4")]),
            [["a", "b", "c"]],
            [[1, 2], [3]],
            np.zeros((2, 3), dtype=complex),
        ],
        ids=repr,
    )
    def test_of_another_form_are_refused(self, points):
        with with_place() as world:
            for at in (seconds(1), np.full(5, seconds(1))):
                with pytest.raises(InvalidArgument, match="must"):
                    world.map_points(points, from_frame="camera", to_frame="map", at=at)

    def test_with_instants_of_another_shape_are_refused(self):
        with with_place() as world, pytest.raises(InvalidArgument):
            world.map_points(
                CLOUD.reshape(3, 4, 3), from_frame="camera", to_frame="map", at=np.full((4, 3), seconds(1))
            )


VARIANCES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
MATRIX = np.diag(VARIANCES)


class TestVariances:
    """Six numbers are the variances of a covariance, wherever one is taken."""

    def test_of_poses(self):
        with World("w", default_covariance=VARIANCES) as world:
            world.set_pose(of="a", in_frame="map", transform=STILL, at=0, covariance=VARIANCES)
            world.fix(of="b", in_frame="map", transform=STILL, covariance=list(VARIANCES))
            world.set_pose(of="c", in_frame="map", transform=STILL, at=0)
            world.apply([Fix(of="d", in_frame="map", transform=STILL, covariance=VARIANCES)])
            world.set_poses(of="e", in_frame="map", transforms=[STILL] * 2, at=[0, 1], covariances=[VARIANCES] * 2)
            node = world.scene.add_uncertain_transform(
                parent=world.scene.root, transform=STILL, covariance=VARIANCES, at=0
            )
            for of in ("a", "b", "c", "d", "e", world.scene.frame(node)):
                assert np.array_equal(world.pose(of=of, in_frame="map", at=0).covariance, MATRIX), of
        assert np.array_equal(Pose(of="a", in_frame="b", transform=STILL, covariance=VARIANCES).covariance, MATRIX)

    def test_of_batches_may_be_unknown_in_rows(self):
        with World("w") as world:
            rows = [VARIANCES, [np.nan] * 6]
            world.set_poses(of="e", in_frame="map", transforms=[STILL] * 2, at=[0, 1], covariances=rows)
            assert np.array_equal(world.pose(of="e", in_frame="map", at=0).covariance, MATRIX)
            assert world.pose(of="e", in_frame="map", at=1).covariance is None

    def test_of_twists(self):
        with World("w") as world:
            drive(world, 1, 2)
            motion = {"linear": (1, 0, 0), "angular": (0, 0, 0), "covariance": VARIANCES}
            world.set_twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(1), **motion)
            twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(1))
            assert np.allclose(twist.covariance, MATRIX)

    def test_of_positions_are_three(self):
        with World("w") as world:
            world.set_pose(of="a", in_frame="map", transform=STILL, at=0, covariance=VARIANCES)
            position = world.position(of="a", in_frame="map", at=0)
            again = type(position)(
                point=position.point, reference_point="map", body="a", reference_body="map", coordinates=(0, 0, 0),
                covariance=(1, 2, 3),
            )  # fmt: skip
            assert np.array_equal(again.covariance, np.diag([1, 2, 3]))

    def test_of_rows_that_are_expressed(self):
        rows = np.array([STILL.xyz_wxyz] * 2)
        with World("w") as world:
            world.fix(of="camera", in_frame="map", transform=SOME)
            asked = {"kind": "poses", "from_frame": "camera", "in_frame": "map"}
            short = world.express(rows, covariances=[VARIANCES] * 2, **asked)
            full = world.express(rows, covariances=[MATRIX] * 2, **asked)
            for one, other in zip(short, full, strict=True):
                assert np.array_equal(one, other)

    def test_are_saved_and_loaded(self, tmp_path):
        World("w", default_covariance=VARIANCES, process_noise=VARIANCES).save(tmp_path / "w.json")
        again = World.load(tmp_path / "w.json")
        assert np.array_equal(np.asarray(again.store.settings.default_covariance), MATRIX)

    @pytest.mark.parametrize("wrong", [(1, 2, 3), (-1, 1, 1, 1, 1, 1), (np.nan, 1, 1, 1, 1, 1), 5.0, np.eye(5)])
    def test_that_are_none_are_refused(self, wrong):
        with World("w") as world, pytest.raises(InvalidArgument, match="covariance"):
            world.set_pose(of="a", in_frame="map", transform=STILL, at=0, covariance=wrong)


class TestCovariancesOfJointSeries:
    AT = seconds(1) + np.arange(4) * seconds(1)
    POSITIONS = np.zeros((4, 2))
    NAMES = ("slides/left", "slides/right")

    @pytest.mark.parametrize("velocities", [None, np.zeros((4, 2))], ids=["positions", "with velocities"])
    @pytest.mark.parametrize("form", ["variances", "matrix", "one for each", "of velocities too"])
    def test_are_those_of_single_samples(self, form, velocities):
        one = np.diag([4.0, 9.0]) if form == "variances" else np.array([[4.0, 1.0], [1.0, 9.0]])
        if form == "of velocities too":
            one = np.kron(np.array([[2.0, 1.0], [1.0, 3.0]]), one) if velocities is not None else one
        each = np.array([one * (1 + i) for i in range(4)])
        given = {"variances": (4.0, 9.0), "one for each": each}.get(form, one)
        with fresh_world() as series, fresh_world() as single:
            series.set_joint_series(
                self.NAMES, positions=self.POSITIONS, at=self.AT, velocities=velocities, covariance=given
            )
            for i, at in enumerate(self.AT):
                speeds = None if velocities is None else dict.fromkeys(self.NAMES, 0.0)
                covariance = each[i] if form == "one for each" else one
                single.set_joints(dict.fromkeys(self.NAMES, 0.0), at=at, velocities=speeds, covariance=covariance)
            for at in (*self.AT, seconds(2.5)):
                asked = {"of": "slides/left", "in_frame": "slides/right", "at": at}
                expected = single.pose(**asked).covariance
                assert expected[0, 0] > 1.0
                assert np.array_equal(series.pose(**asked).covariance, expected)
                moving = {"of": "slides/left", "relative_to": "slides/right", "at": at}
                twists = [world.twist(**moving).covariance for world in (series, single)]
                assert (twists[0] is None) == (twists[1] is None)
                assert twists[0] is None or np.array_equal(*twists)

    @pytest.mark.parametrize(
        "wrong", [(1.0,), np.eye(3), np.ones((4, 2)), np.zeros((3, 2, 2)), -np.eye(2), "ab", [[1], [1, 2]]], ids=repr
    )
    def test_that_are_none_are_refused(self, wrong):
        with fresh_world() as world:
            with pytest.raises(InvalidArgument, match="covariance"):
                world.set_joint_series(self.NAMES, positions=self.POSITIONS, at=self.AT, covariance=wrong)
            assert world.joint_samples("slides/left").stamps.tolist() == [seconds(1)]

    def test_of_joints_that_close_a_loop_are_exact_for_those_that_follow(self):
        with fresh_world() as series, fresh_world() as single:
            for world in (series, single):
                world.close_loop(of="slides/left", on="slides/right", dependents=["slides/right"], at=seconds(1))
            at = seconds(2)
            series.set_joint_series(["slides/left"], positions=[[0.5]], at=[at], covariance=[4.0])
            single.set_joints({"slides/left": 0.5}, at=at, covariance=[4.0])
            asked = {"of": "slides/left", "in_frame": "map", "at": at}
            assert np.array_equal(series.pose(**asked).covariance, single.pose(**asked).covariance)


class TestAPointInPlainNumbers:
    @pytest.mark.parametrize("given", [(1.0, 2.0, 3.0), [1, 2, 3], (1, 2.5, -3), (True, 0.0, 1.0), (2**70, 0, 0)])
    def test_is_mapped_as_an_array_is(self, given):
        mapped = SOME @ given
        assert mapped.shape == (3,)
        assert mapped.dtype == np.float64
        assert mapped.flags.writeable
        assert np.array_equal(mapped, SOME @ np.array(given, dtype=float))
        assert np.array_equal(SOME.rotation @ given, SOME.rotation @ np.array(given, dtype=float))

    @pytest.mark.parametrize("given", [(), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), ("1", "2", "3"), (1.0, None, 2.0)])
    def test_needs_three_of_them(self, given):
        with pytest.raises(InvalidArgument):
            SOME @ given

    def test_is_mapped_between_frames_too(self):
        with World("w") as world:
            world.fix(of="a", in_frame="map", transform=SOME)
            mapped = world.map_points((1.0, 2.0, 3.0), from_frame="a", to_frame="map")
            assert np.array_equal(mapped, SOME @ np.array([1.0, 2.0, 3.0]))
            world.set_pose(of="b", in_frame="map", transform=SOME, at=5)
            mapped = world.map_points((1.0, 2.0, 3.0), from_frame="b", to_frame="map", at=[5])
            assert np.array_equal(mapped, SOME @ np.array([1.0, 2.0, 3.0]))
