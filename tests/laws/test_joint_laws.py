"""What a world answers about frames that joints drive, for any samples of the joints in any order."""

import itertools

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import reference
from armillary import LATEST, Transform, World, seconds
from armillary.errors import ArmillaryError, ContestedJoint, UnknownVariable
from armillary.scene import AddJoints, ClosedForm, Drive
from reference import ReferenceWorld, Refused, Unclear, exp
from reference_joints import Driver, ReferenceJoints, rotation_of
from reference_twists import numeric_twist
from strategies import CLOSE_M, LONG_HISTORY, assert_same_answer, outcome, outsides

KINDS = {"slide": "linear", "lift": "linear", "turn": "wrap", "drawer": "hold", "ball": "unit_quaternion"}
PARTS = ["ball/w", "ball/x", "ball/y", "ball/z"]
STAMPS = [seconds(0.1 * i) for i in range(6)]
BETWEEN = [(a + b) // 2 for a, b in itertools.pairwise(STAMPS)]
BEYOND = [STAMPS[0] - seconds(0.1), STAMPS[-1] + seconds(0.05)]
ORIGIN = exp([0.3, -0.2, 0.5, 0.4, -0.3, 0.8])
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
CHAIN = [
    ("arm", "base", "cylindrical", ["turn", "slide"]),
    ("lever", "arm", "revolute", ["lift"]),
    ("hand", "lever", "ball", ["ball"]),
    ("tray", "base", "prismatic", ["drawer"]),
]
CLOSE_VELOCITY = 1e-5  # of a central difference

numbers = st.floats(-3.0, 3.0).map(lambda value: round(value, 3))
turns = st.sampled_from([[0.1, 0.2, -0.3], [0.0, 0.0, 3.0], [-1.0, 0.5, 0.2], [0.0, 0.0, 0.0], [2.0, 1.0, -1.5]])


@st.composite
def statements(draw, sources=("", "", "", "camera"), stamps=STAMPS):
    names = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=5, unique=True))
    values = {
        n: reference.wxyz_from_rotation(exp([0, 0, 0, *draw(turns)])[:3, :3]) if n == "ball" else draw(numbers)
        for n in names
    }
    fast = draw(st.lists(st.sampled_from(names), unique=True))
    speeds = {name: np.array(draw(turns)) if name == "ball" else draw(numbers) for name in fast}
    return {
        "joints": values,
        "at": draw(st.sampled_from(stamps)),
        "velocities": speeds,
        "source": draw(st.sampled_from(sources)),
    }


questions = st.fixed_dictionaries(
    {
        "of": st.sampled_from(["tool", "arm", "tray", "base"]),
        "in_frame": st.sampled_from(["map", "hand", "base"]),
        "at": st.sampled_from([*STAMPS, *BETWEEN, *BEYOND, reference.LATEST]),
    }
).flatmap(lambda asked: outsides().map(lambda outside: asked | outside))


def spread(joints):
    """A rotation as its four variables."""
    parts = dict(zip(PARTS, joints["ball"], strict=True)) if "ball" in joints else {}
    return {**{name: value for name, value in joints.items() if name != "ball"}, **parts}


def quaternion_rate(wxyz, turn):
    w, x, y, z = wxyz
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) @ turn


class JointTwins:
    """A world and its reference: a base that is sampled, and joints of every kind below it."""

    def __init__(self, *, history=LONG_HISTORY):
        self.world, self.reference = World(history=history), ReferenceWorld(history=history)
        self.joints = ReferenceJoints(KINDS, history=history)
        names = [*list(KINDS)[:-1], *PARTS]
        kinds = [*list(KINDS.values())[:-1], *["unit_quaternion"] * 4]
        self.world.apply([AddJoints(dict(zip(names, kinds, strict=True)))])
        for of, in_frame, kind, drivers in CHAIN:
            self.drive(of, in_frame, kind, drivers)
        for world, value in ((self.world, Transform.from_matrix), (self.reference, np.asarray)):
            world.fix(of="tool", in_frame="hand", transform=value(exp([0, 0.1, 0.2, 0, 0, 0.3])))
            for at in STAMPS:
                world.set_pose(
                    of="base", in_frame="map", transform=value(exp([at * 1e-9, 1, 2, 0, at * 1e-9, 0])), at=at
                )

    def drive(self, of, in_frame, kind, drivers):
        variables = PARTS if drivers == ["ball"] else drivers
        origin = Transform.from_matrix(ORIGIN)
        form = ClosedForm(kind=kind, origin=origin, axes=(AXIS,), variables=tuple(variables))
        self.world.apply([Drive(of=of, in_frame=in_frame, form=form)])
        self.reference.drive(
            of=of, in_frame=in_frame, driver=Driver(self.joints, drivers, lambda q: ORIGIN @ MOTIONS[kind](*q))
        )

    def state(self, statement):
        expected = outcome(lambda: self.joints.set_joints(**statement), Refused)
        values, rates = statement["joints"], dict(statement["velocities"])
        if "ball" in rates:
            rates["ball"] = quaternion_rate(values["ball"], rates["ball"])
        assertions = {**statement, "joints": spread(values), "velocities": spread(rates) or None}
        actual = outcome(lambda: self.world.set_joints(assertions.pop("joints"), **assertions), ArmillaryError)
        if isinstance(expected, Refused):
            assert type(actual).__name__ in expected.kinds
        else:
            assert actual is None

    def ask(self, question):
        expected = outcome(lambda: self.reference.pose(**question), Refused)
        asked = {**question, "at": LATEST if question["at"] == reference.LATEST else question["at"]}
        assert_same_answer(outcome(lambda: self.world.pose(**asked), ArmillaryError), expected)
        return expected


def turned(R):
    T = np.eye(4)
    T[:3, :3] = R
    return T


MOTIONS = {
    "cylindrical": lambda angle, slide: exp([*(slide * AXIS), 0, 0, 0]) @ exp([0, 0, 0, *(angle * AXIS)]),
    "revolute": lambda angle: exp([0, 0, 0, *(angle * AXIS)]),
    "prismatic": lambda slide: exp([*(slide * AXIS), 0, 0, 0]),
    "ball": lambda wxyz: turned(rotation_of(wxyz)),
}


class TestAWorldWithJoints:
    @given(st.lists(statements(), max_size=14), st.lists(questions, min_size=1, max_size=12))
    def test_answers_as_the_reference_does(self, assertions, asked):
        twins = JointTwins()
        for statement in assertions:
            twins.state(statement)
        for question in asked:
            twins.ask(question)

    @given(
        st.lists(statements(stamps=[10 * t for t in STAMPS]), max_size=14), st.lists(questions, min_size=1, max_size=12)
    )
    def test_forgets_each_joint_against_its_own_newest_sample(self, assertions, asked):
        twins = JointTwins(history=seconds(2))
        for statement in assertions:
            twins.state(statement)
        for question in asked:
            at = question["at"] if question["at"] == reference.LATEST else 10 * question["at"]
            expected = outcome(lambda q=question, at=at: twins.joints.at("lift", at, q["outside"]), Refused)
            if question["at"] != reference.LATEST:
                assert_same_state(twins.world, "lift", at, question["outside"], expected)

    @given(
        st.lists(statements(), max_size=10, unique_by=lambda s: (s["at"], s["source"])),
        st.randoms(use_true_random=False),
    )
    def test_does_not_depend_on_the_order_of_samples(self, assertions, random):
        first, second = JointTwins(), JointTwins()
        for statement in assertions:
            first.state(statement)
        for statement in random.sample(assertions, len(assertions)):
            second.state(statement)
        for name in [*list(KINDS)[:-1], *PARTS]:
            for at in [*STAMPS, *BETWEEN]:
                seen = [
                    outcome(lambda t=t, n=name, at=at: t.world.joint(n, at=at), ArmillaryError) for t in (first, second)
                ]
                assert str(seen[0]) == str(seen[1])

    @given(st.lists(statements(), max_size=14), st.sampled_from(["raise", "hold", "predict"]))
    def test_returns_the_state_of_each_joint(self, assertions, outside):
        twins = JointTwins()
        for statement in assertions:
            twins.state(statement)
        for name, at in itertools.product(list(KINDS)[:-1], [*STAMPS, *BETWEEN, *BEYOND]):
            expected = outcome_or_none(lambda n=name, at=at: twins.joints.at(n, at, outside))
            if expected is not None:
                assert_same_state(twins.world, name, at, outside, expected)

    @given(st.lists(statements(sources=[""]), min_size=3, max_size=10), st.sampled_from(BETWEEN))
    def test_moves_as_its_poses_change(self, assertions, at):
        twins = JointTwins()
        for statement in assertions:
            twins.state({**statement, "velocities": {}})
        question = {"of": "tool", "relative_to": "map", "at": at}
        try:
            expected = numeric_twist(twins.reference, **question)
        except (Refused, Unclear):
            reject()
        twist = twins.world.twist(**question)
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(np.concatenate([twist.linear, twist.angular]) - expected).max() < CLOSE_VELOCITY * scale
        assert twist.method == "mixed"

    @given(st.lists(statements(sources=[""]), min_size=3, max_size=10), st.sampled_from(["map", "hand"]))
    def test_answers_many_instants_and_all_frames_as_one_after_the_other(self, assertions, in_frame):
        twins = JointTwins()
        for statement in assertions:
            twins.state(statement)
        at = np.array([*STAMPS, *BETWEEN])
        single = [
            outcome(lambda t=t: twins.world.pose(of="tool", in_frame=in_frame, at=int(t)), ArmillaryError) for t in at
        ]
        known = [i for i, pose in enumerate(single) if not isinstance(pose, ArmillaryError)]
        many = twins.world.transforms(of="tool", in_frame=in_frame, at=at[known])
        for i, matrix in zip(known, many, strict=True):
            assert np.abs(matrix - single[i].transform.matrix).max() < CLOSE_M
            seen = twins.world.snapshot(in_frame=in_frame, at=int(at[i]))["tool"]
            assert np.abs(seen.matrix - matrix).max() < CLOSE_M


def outcome_or_none(call):
    try:
        return call()
    except Refused as refused:
        return refused
    except Unclear:
        return None


def assert_same_state(world, name, at, outside, expected):
    actual = outcome(lambda: world.joint(name, at=at, outside=outside), ArmillaryError)
    if isinstance(expected, Refused):
        assert type(actual).__name__ in expected.kinds
        return
    wraps = KINDS[name] == "wrap"
    difference = actual.value - expected.value
    assert abs(np.remainder(difference + 1.0, 2 * np.pi) - 1.0 if wraps else difference) < CLOSE_M
    assert (actual.velocity is None) == (expected.velocity is None)
    assert actual.velocity is None or actual.velocity == pytest.approx(expected.velocity, abs=1e-7)
    assert [sample.age_s for sample in actual.held] == ([] if expected.held is None else [expected.held / 1e9])
    assert actual.predicted == expected.predicted


class TestJointsSampledEvery100Milliseconds:
    """At constant speed an arm is where it should be, between samples too."""

    def test_are_exact_between_samples(self):
        speeds = np.array([0.7, -1.1, 1.9, 0.4, -0.6, 1.3, -2.0])
        world, names = World(), [f"j{i}" for i in range(7)]
        world.apply([AddJoints(dict.fromkeys(names, "wrap"))])
        for i, name in enumerate(names):
            origin, axis = Transform.from_xyz_rpy(xyz=(0.1, 0, 0.3), rpy=(0, 0, 0)), np.eye(3)[i % 3]
            form = ClosedForm(kind="revolute", origin=origin, axes=(axis,), variables=(name,))
            world.apply([Drive(of=f"l{i + 1}", in_frame=f"l{i}", form=form)])
        at = np.arange(0, seconds(2), seconds(0.1))
        world.set_joint_series(names, positions=np.outer(at * 1e-9, speeds), at=at)
        for t in np.linspace(0, 1.9e9, 97).astype(int):
            expected = np.eye(4)
            for i, speed in enumerate(speeds):
                expected = (
                    expected @ exp([0.1, 0, 0.3, 0, 0, 0]) @ exp([0, 0, 0, *(speed * t * 1e-9 * np.eye(3)[i % 3])])
                )
            matrix = world.pose(of="l7", in_frame="l0", at=int(t)).transform.matrix
            assert np.abs(matrix - expected).max() < 1e-12


class TestJointsThatAreContested:
    def test_say_who_does_and_how_to_choose(self):
        twins = JointTwins()
        for source in ("encoder", "camera"):
            twins.world.set_joints({"drawer": 0.1}, at=0, source=source)
        with pytest.raises(ContestedJoint, match=r"'camera' and 'encoder'.*prefer_joint\('drawer', source='camera'\)"):
            twins.world.pose(of="tray", in_frame="base", at=0)
        twins.world.prefer_joint("drawer", source="camera")
        assert twins.world.pose(of="tray", in_frame="base", at=0).held == ()


class TestAJointThatNobodyDeclared:
    def test_is_refused_with_all_that_came_along(self):
        twins = JointTwins()
        with pytest.raises(UnknownVariable, match="Did you mean 'slide'"):
            twins.world.set_joints({"lift": 1.0, "slid": 2.0}, at=0)
        assert len(twins.world.joint_samples("lift")) == 0
