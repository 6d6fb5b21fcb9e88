"""A relation that was copied or pickled is the same in every field."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, relations, seconds
from armillary.relations.representations import BodyTwist, HybridTwist, LinearAngular, SpatialTwist
from armillary.transforms import HeldSample
from strategies import covariances, transforms, vectors

TWINS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {n}": lambda value, n=n: pickle.loads(pickle.dumps(value, n)) for n in range(2, 6)},
}
NAMES = {"point": "tip", "body": "gun", "reference_body": "table"}
TURNING = {"body": "gun", "reference_body": "table", "expressed_in": "map"}
PUSHING = NAMES | {"expressed_in": "map"}
FORMS = {BodyTwist: "tip", SpatialTwist: "tip", HybridTwist: "table", LinearAngular: "map"}
REPRESENTATIONS = (relations.NATIVE, relations.HOMOGENEOUS_MATRIX, relations.POSITION_QUATERNION)
REPRESENTATIONS += (relations.position_euler("intrinsic ZYX"),)


@st.composite
def origins(draw, size, **more):
    """Every field differs from its default."""
    spread = draw(covariances())[:size, :size]
    held = HeldSample(relation=("a", "b", "me"), age_s=1.5), HeldSample(relation=None, age_s=-2.0, joint="lift")
    flags = {"held": draw(st.sampled_from([(), held[:1], held])), "predicted": draw(st.booleans())}
    known = {"stamp": draw(st.none() | st.integers(-5, 5)), "covariance": draw(st.none() | st.just(spread))}
    more = {name: draw(strategy) for name, strategy in more.items()}
    return flags | known | more | {"relations": draw(st.sampled_from([(), (("a", "b", "me"), ("b", "c", ""))]))}


def pose_origins(size):
    return origins(size, integrated=st.booleans())


def motion_origins(size):
    return origins(size, method=st.sampled_from(["measured", "joints", "differentiated", "mixed"]))


@st.composite
def poses(draw):
    names = {"of": "tip", "body": "gun", "in_frame": "corner", "reference_body": "table"}
    pose = relations.Pose(**names, transform=draw(transforms()), **draw(pose_origins(6)))
    representation = draw(st.sampled_from(REPRESENTATIONS))
    if representation in REPRESENTATIONS[2:] and draw(st.booleans()):
        pose = pose.converted(representation)._replace(point="grip", reference_point="leg", expressed_in="map")
    return draw(st.sampled_from([pose, pose.converted(representation), pose.position, pose.orientation]))


@st.composite
def twists(draw):
    form = draw(st.sampled_from(list(FORMS)))
    coordinates = form(linear=draw(vectors()), angular=draw(vectors()))
    twist = relations.Twist(**NAMES, expressed_in=FORMS[form], coordinates=coordinates, **draw(motion_origins(6)))
    return draw(st.sampled_from([twist, twist.velocity, twist.angular_velocity]))


@st.composite
def others(draw):
    kind = draw(st.sampled_from(["Force", "Torque", "LinearAcceleration", "AngularAcceleration", "Wrench"]))
    if kind == "Wrench":
        return relations.Wrench(**PUSHING, force=draw(vectors()), torque=draw(vectors()))
    names = TURNING if kind in {"Force", "AngularAcceleration"} else PUSHING
    return getattr(relations, kind)(**names, xyz=draw(vectors()))


def assert_same(twin, value):
    assert type(twin) is type(value)
    assert twin == value
    assert (hash(twin), repr(twin)) == (hash(value), repr(value))
    for name in value._FIELDS:
        mine, other = getattr(value, name), getattr(twin, name)
        assert type(mine) is type(other)
        if isinstance(mine, np.ndarray):
            assert not other.flags.writeable
            np.testing.assert_array_equal(mine, other)
        else:
            assert mine == other, name


@pytest.mark.parametrize("again", TWINS.values(), ids=TWINS)
class TestATwin:
    @given(value=poses() | twists() | others())
    def test_is_the_same_in_every_field(self, again, value):
        assert_same(again(value), value)

    def test_of_an_answer_says_how_it_was_obtained(self, again):
        world = World()
        motion = {"of": "a", "relative_to": "b", "expressed_in": "a", "linear": (1, 0, 0), "angular": (0, 0, 1)}
        world.set_twist(**motion, at=seconds(2))
        world.set_pose(of="a", in_frame="b", transform=np.eye(4), at=0)
        pose = world.pose(of="a", in_frame="b", at=seconds(1))
        assert (pose.method, pose.integrated) == ("integrated", True)
        for value in (pose, pose.inverse(), pose.position, pose.orientation, pose.inverse() @ pose):
            assert again(value).integrated
            assert_same(again(value), value)
        assert again(pose).method == "integrated"
        assert_same(again(world.twist(of="a", relative_to="b")), world.twist(of="a", relative_to="b"))


class TestACopyOfAWorld:
    def test_keeps_the_axes_along_which_a_twist_was_given(self):
        world, unsure = World(), 0.01 * np.eye(6)
        world.add_frame("first")
        motion = {
            "of": "cup",
            "relative_to": "map",
            "expressed_in": "camera",
            "linear": (1, 2, 3),
            "angular": (0, 0, 1),
        }
        for t in (0, 1):
            for frame in ("camera", "cup"):
                turned = Transform.exp([t, 0, 0, 0, 0, 0.3 * t])
                world.set_pose(of=frame, in_frame="map", transform=turned, at=seconds(t), covariance=unsure)
            world.set_twist(**motion, at=seconds(t), covariance=unsure)
        asked = {"of": "cup", "relative_to": "map", "at": seconds(0.5)}
        covariance = world.twist(**asked).covariance
        assert covariance is not None
        np.testing.assert_array_equal(world.copy().twist(**asked).covariance, covariance)
