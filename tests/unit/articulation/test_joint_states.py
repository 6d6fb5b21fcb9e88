"""What drivers of robots report of joints: followers too, strange names too, beyond limits too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from armillary import World, errors, seconds
from armillary.articulation import ArticulationModel
from armillary.formats import MeshForm
from unit.formats.kit import robot_file

ARM = {f"panda_joint{i}": 0.1 * i for i in range(1, 8)}
FIRST, SECOND = "panda_finger_joint1", "panda_finger_joint2"


@pytest.fixture
def world():
    model, made = ArticulationModel(), World()
    model.load_urdf(robot_file("panda.urdf"), name="panda")
    made.mount(model, in_frame="map", shapes="none", prefix="")
    return made


class TestAJointThatFollows:
    def test_is_set_with_the_others(self, world):
        world.set_joints({**ARM, FIRST: 0.02, SECOND: 0.02}, velocities={FIRST: 0.1, SECOND: 0.1}, at=0)
        assert world.joint(SECOND, at=0).value == pytest.approx(0.02)
        assert world.joint(SECOND, at=0).velocity == pytest.approx(0.1)
        assert SECOND not in world.joints()

    def test_says_alone_where_its_leader_is(self, world):
        world.set_joints({**ARM, SECOND: 0.03}, at=0)
        assert world.joint(FIRST, at=0).value == pytest.approx(0.03)

    def test_that_is_elsewhere_is_refused_in_words(self, world):
        with pytest.raises(
            errors.JointsDisagree, match=f"'{SECOND}' follows '{FIRST}'.*at 0.02.*reported at 0.03"
        ) as caught:
            world.set_joints({**ARM, FIRST: 0.02, SECOND: 0.03}, at=0)
        assert caught.value.tolerance == 1e-3
        with pytest.raises(errors.StampOutOfRange):
            world.joint(FIRST, at=0)

    def test_leaves_the_covariances_of_the_others(self, world):
        names = [*ARM, SECOND, FIRST]
        variances = np.arange(1.0, 10.0) * 1e-4
        for given in (variances, np.diag(variances)):
            world.set_joints({**ARM, SECOND: 0.02, FIRST: 0.02}, at=seconds(len(names)), covariance=given)
        spread = world.pose(of="panda_leftfinger", in_frame="panda_hand", at=seconds(len(names))).covariance
        assert spread[:3, :3].max() == pytest.approx(9e-4)

    def test_is_a_column_of_a_series(self, world):
        positions = np.column_stack([np.tile(list(ARM.values()), (3, 1)), [[0.01] * 2, [0.02] * 2, [0.03] * 2]])
        world.set_joint_series([*ARM, FIRST, SECOND], positions=positions, at=[seconds(t) for t in (0, 1, 2)])
        assert world.joint(SECOND, at=seconds(1.5)).value == pytest.approx(0.025)
        positions[1, -1] = 0.5
        with pytest.raises(errors.JointsDisagree):
            world.set_joint_series([*ARM, FIRST, SECOND], positions=positions, at=[seconds(t) for t in (3, 4, 5)])


class TestNamesThatNobodyKnows:
    def test_are_refused(self, world):
        with pytest.raises(errors.UnknownVariable):
            world.set_joints({**ARM, "wheel": 0.1}, at=0)

    def test_are_skipped_on_request_and_reported_once(self, world):
        with pytest.warns(errors.UnknownJointsSkipped, match="wheel"):
            world.set_joints({**ARM, "wheel": 0.1}, at=0, unknown="skip", covariance=np.full(8, 1e-4))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            world.set_joints({**ARM, "wheel": 0.1}, velocities={"wheel": 1.0}, at=1, unknown="skip")
        assert world.joint("panda_joint2", at=1).value == pytest.approx(0.2)

    def test_are_skipped_or_refused_and_nothing_else(self, world):
        with pytest.raises(errors.InvalidArgument, match="unknown is one of 'raise', 'skip'"):
            world.set_joints(ARM, at=0, unknown="ignore")


class TestLimits:
    BEYOND = {**ARM, "panda_joint1": 3.0}  # noqa: RUF012

    def test_are_not_looked_at_unless_asked(self, world):
        world.set_joints(self.BEYOND, at=0)
        assert "joints/panda_joint1/constraints/position" in world.violations(at=0)

    def test_are_refused_on_request(self, world):
        with pytest.raises(errors.JointLimitsExceeded, match=r"'panda_joint1' at 3 is outside \[-2.8973, 2.8973\]"):
            world.set_joints(self.BEYOND, at=0, limits="raise")
        assert world.violations() == {}  # nothing was stored

    def test_are_warned_of_on_request(self, world):
        with pytest.warns(errors.JointLimitsWarning, match="panda_joint1"):
            world.set_joints(self.BEYOND, at=0, limits="warn")
        assert world.joint("panda_joint1", at=0).value == 3.0


class TestASeries:
    NAMES = (*ARM, "wheel")
    AT = (0, 1, 2)

    def positions(self, beyond=0.0):
        rows = np.tile([*ARM.values(), 7.0], (3, 1))
        rows[1, 0] += beyond
        return rows

    def test_leaves_out_names_that_nobody_knows(self, world):
        with pytest.raises(errors.UnknownVariable):
            world.set_joint_series(self.NAMES, positions=self.positions(), at=self.AT)
        with pytest.warns(errors.UnknownJointsSkipped, match="wheel"):
            world.set_joint_series(
                self.NAMES, positions=self.positions(), velocities=self.positions(), at=self.AT, unknown="skip"
            )
        assert world.joint("panda_joint2", at=1).value == pytest.approx(0.2)
        world.set_joint_series(["wheel"], positions=np.zeros((3, 1)), at=self.AT, unknown="skip")

    def test_is_held_against_limits_on_request(self, world):
        rows = {"names": list(ARM), "positions": self.positions(beyond=3.0)[:, :-1], "at": self.AT}
        with pytest.raises(errors.JointLimitsExceeded, match=r"'panda_joint1' at 3\.1"):
            world.set_joint_series(**rows, limits="raise")
        with pytest.raises(errors.StampOutOfRange):
            world.joint("panda_joint1", at=0)
        with pytest.warns(errors.JointLimitsWarning, match="panda_joint1"):
            world.set_joint_series(**rows, limits="warn")
        with pytest.raises(errors.InvalidArgument, match="limits is one of"):
            world.set_joint_series(**rows, limits="ask")


class TestMeshes:
    def loaded(self, uri):
        mesh = f'<geometry><mesh filename="{uri}"/></geometry>'
        text = f'<robot name="r"><link name="a"><visual>{mesh}</visual></link></robot>'
        model = ArticulationModel()
        model.load_urdf(text)
        return model

    def test_that_are_missing_do_not_stop_a_robot(self):
        world = World()
        with pytest.warns(errors.MeshesSkipped, match=r"(?s)package://none/a\.stl.*strict=True"):
            world.mount(self.loaded("package://none/a.stl"), in_frame="map")
        assert "r/a" in world.frames()

    def test_that_are_unreadable_do_not_stop_a_robot(self, tmp_path):
        (tmp_path / "a.stl").write_text("nothing")
        with pytest.warns(errors.MeshesSkipped, match=r"a\.stl"):
            World().mount(self.loaded(tmp_path / "a.stl"), in_frame="map")
        with pytest.raises(errors.InvalidMesh):
            World().mount(self.loaded(tmp_path / "a.stl"), in_frame="map", strict=True)

    def test_are_left_out_quietly_on_request(self):
        World().mount(self.loaded("package://none/a.stl"), in_frame="map", skip_missing=True)
        assert MeshForm("package://none/a.stl").path is None
