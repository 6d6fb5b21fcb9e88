"""How calls are described: a signature for every public method, and a sentence for every call that does not fit one."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from armillary import LATEST, Rotation, Transform, World
from armillary.articulation import ArticulationModel
from armillary.errors import InvalidArgument
from armillary.relations import Pose, Twist
from armillary.scene import NodeId, Scene
from armillary.store import Store
from armillary.transforms import Samples
from unit.kit import STILL, error_of

CLASSES = (ArticulationModel, NodeId, Pose, Rotation, Samples, Scene, Store, Transform, Twist, World)
METHODS = sorted(
    (kind.__name__, name)
    for kind in CLASSES
    for name, method in inspect.getmembers(kind, callable)
    if not name.startswith("_")
)


def public(kind: str, name: str):
    return getattr(next(each for each in CLASSES if each.__name__ == kind), name)


class TestTheSignature:
    @pytest.mark.parametrize(("kind", "name"), METHODS)
    def test_of_every_public_method_is_known(self, kind, name):
        method = public(kind, name)
        signature = inspect.signature(method)
        assert "self" not in list(signature.parameters)[1:]
        assert inspect.getdoc(method), "it says what it does"

    def test_names_arguments_kinds_and_defaults(self):
        signature = inspect.signature(World.set_pose)
        names = ["self", "of", "in_frame", "transform", "at", "source", "covariance", "interpolation"]
        assert list(signature.parameters) == names
        assert signature.parameters["at"].default is inspect.Parameter.empty
        assert signature.parameters["source"].default is None
        assert signature.parameters["of"].kind is inspect.Parameter.KEYWORD_ONLY
        assert inspect.signature(Transform.is_close).parameters["m"].default == 1e-9

    def test_of_a_bound_method_is_without_its_object(self):
        assert list(inspect.signature(STILL.interpolate).parameters) == ["other", "fraction", "kind"]
        with World() as world:
            assert "self" not in inspect.signature(world.fix).parameters

    def test_of_a_static_method_is_whole(self):
        assert str(inspect.signature(Transform.from_xyz_wxyz)).startswith("(*, xyz: ")


REFUSED = {
    "a keyword that is misspelt": (
        lambda w: Transform.from_xyz_wxyz(xyz=(0, 0, 0), wxzy=(1, 0, 0, 0)),
        "from_xyz_wxyz() has no argument 'wxzy'. Did you mean 'wxyz'?",
    ),
    "a keyword of another function": (
        lambda w: Transform.from_xyz_rpy(xyz=(0, 0, 0), degrees=True),
        "from_xyz_rpy() has no argument 'degrees'. It takes xyz, rpy.",
    ),
    "an argument that is missing": (
        lambda w: Transform.from_xyz_rpy(xyz=(0, 0, 0)),
        "from_xyz_rpy() is missing rpy=. It takes xyz, rpy.",
    ),
    "arguments without their names": (
        lambda w: Transform.from_xyz_wxyz((0, 0, 0), (1, 0, 0, 0)),
        "from_xyz_wxyz() takes its arguments by name: from_xyz_wxyz(xyz=..., wxyz=...).",
    ),
    "too many": (lambda w: STILL.inverse(5), "inverse() takes no arguments, got 1."),
    "a value of another type": (
        lambda w: STILL.interpolate("there", 0.5),
        "interpolate(): other must be Transform, got 'there'.",
    ),
    "a text for a number": (
        lambda w: STILL.interpolate(STILL, "half"),
        "interpolate(): fraction must be float, got 'half'.",
    ),
    "a rotation": (lambda w: Rotation.from_rpy(), "from_rpy() is missing rpy=. It takes rpy."),
    "a batch": (
        lambda w: w.set_poses(of="a", in_frame="b", transform=np.eye(4), at=[0]),
        "set_poses() has no argument 'transform'. Did you mean 'transforms'?",
    ),
    "a series of joints": (
        lambda w: w.set_joint_series(values=[1.0], at=[0]),
        "set_joint_series() has no argument 'values'.",
    ),
    "points": (lambda w: w.map_points(np.zeros((5, 3)), to_frame="b"), "map_points() is missing from_frame=."),
}


class TestACallThatDoesNotFit:
    @pytest.mark.parametrize("why", REFUSED)
    def test_is_refused_with_a_sentence(self, why):
        call, sentence = REFUSED[why]
        with World() as world:
            error = error_of(call, world)
        assert isinstance(error, InvalidArgument)
        assert isinstance(error, TypeError)
        assert str(error).startswith(sentence)
        assert "incompatible function arguments" not in str(error)

    def test_leaves_other_errors_as_they_are(self):
        with World() as world, pytest.raises(InvalidArgument, match="must have shape"):
            world.set_poses(of="a", in_frame="b", transforms=np.zeros((3, 5)), at=[0, 1, 2])

    def test_is_still_answered_when_it_fits(self):
        """Calls of every form go through the same check."""
        assert STILL.interpolate(STILL, 0.5) == STILL.interpolate(other=STILL, fraction=0.5, kind="linear")
        assert Transform.from_translation((1, 2, 3)) == Transform.from_translation(xyz=(1, 2, 3))
        with World() as world:
            world.set_pose(of="a", in_frame="b", transform=STILL, at=0)
            assert world.can_pose(of="a", in_frame="b", at=LATEST)
