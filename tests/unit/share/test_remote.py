"""Questions to a shared world by a process that holds no copy of it."""

from __future__ import annotations

import asyncio
import secrets

import numpy as np
import pytest

import armillary
from armillary import LATEST, Transform, World, seconds
from armillary.errors import ArmillaryError, InvalidMessage, NoPeer
from armillary.share.values import decoded, encoded

pytest.importorskip("zenoh")

X = [Transform.from_xyz_rpy(xyz=(float(k), 0, 0), rpy=(0, 0, 0.1)) for k in range(5)]


@pytest.fixture(scope="module")
def asked():
    """A world, and the same world by a connection."""
    name = secrets.token_hex(6)
    with World("robot") as robot:
        for k, pose in enumerate(X):
            robot.set_pose(of="base", in_frame="map", transform=pose, at=seconds(k), covariance=np.eye(6))
        robot.fix(of="camera", in_frame="base", transform=X[1])
        cup = robot.scene.add_transform(parent=robot.scene.root, transform=X[2], attributes={"name": "cup"}, at=0)
        robot.scene.add_parent(robot.scene.add_group(parent=cup), robot.scene.root)
        robot.share(name)
        with armillary.connect(name, timeout_s=20.0) as remote:
            yield robot, remote


QUESTIONS = {
    "pose": {"of": "camera", "in_frame": "map", "at": seconds(2.5)},
    "latest pose": {"of": "camera", "in_frame": "map", "at": LATEST},
    "pose of a policy": {"of": "camera", "in_frame": "map", "at": seconds(2), "policy": "fuse"},
    "held pose": {"of": "camera", "in_frame": "map", "at": seconds(9), "outside": "hold"},
}


class TestAConnection:
    @pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
    def test_answers_as_the_world_does(self, asked, question):
        world, remote = asked
        mine, theirs = world.pose(**question), remote.pose(**question)
        assert theirs.transform.is_close(mine.transform, m=0.0, rad=0.0)
        assert (theirs.stamp, theirs.held, theirs.relations) == (mine.stamp, mine.held, mine.relations)
        assert np.array_equal(theirs.covariance, mine.covariance)

    def test_answers_twists_batches_and_points(self, asked):
        world, remote = asked
        assert remote.twist(of="base", relative_to="map", at=seconds(1)) == world.twist(
            of="base", relative_to="map", at=seconds(1)
        )
        sweep = {"of": "camera", "in_frame": "map", "at": np.arange(0, 4 * 10**9, 10**8)}
        assert np.array_equal(remote.transforms(**sweep), world.transforms(**sweep))
        cloud = {"points": np.ones((5, 3)), "from_frame": "camera", "to_frame": "map", "at": seconds(1)}
        assert np.array_equal(remote.map_points(**cloud), world.map_points(**cloud))

    def test_lists_what_there_is(self, asked):
        world, remote = asked
        assert remote.frames() == world.frames()
        assert [one.of for one in remote.relations()] == [one.of for one in world.relations()]
        assert remote.find({"name": "cup"}) == list(world.scene.find({"name": "cup"}))
        assert remote.digest() == world.digest()

    def test_raises_the_same_errors(self, asked):
        world, remote = asked
        for question in ({"of": "camra", "in_frame": "map"}, {"of": "base", "in_frame": "map", "at": seconds(9)}):
            with pytest.raises(ArmillaryError) as mine:
                world.pose(**question)
            with pytest.raises(type(mine.value)) as theirs:
                remote.pose(**question)
            assert str(theirs.value) == str(mine.value)

    def test_asks_many_questions_at_once(self, asked):
        _, remote = asked
        found = remote.ask_all([("pose", QUESTIONS["pose"]), ("frames", {}), ("pose", {"of": "?", "in_frame": "map"})])
        assert found[0].xyz[0] == pytest.approx(remote.pose(**QUESTIONS["pose"]).xyz[0])
        assert isinstance(found[2], ArmillaryError)

    def test_answers_later(self, asked):
        _, remote = asked
        pose = asyncio.run(remote.ask_later("pose", **QUESTIONS["pose"]))
        assert pose.of == "camera"

    def test_refuses_what_is_no_question(self, asked):
        _, remote = asked
        (found,) = remote.ask_all([("remove_frame", {"name": "base"})])
        assert "does not answer" in str(found)

    def test_to_nobody_says_so(self):
        with pytest.raises(NoPeer, match=r"world\.share"):
            armillary.connect(secrets.token_hex(6), timeout_s=0.3)


class TestAValue:
    def test_of_an_unknown_type_is_refused(self):
        for entry in ({"$": "module"}, {"$": "value", "kind": "World", "of": {}}, {"$": "error", "kind": "SystemExit"}):
            with pytest.raises(InvalidMessage):
                decoded(entry, [])

    def test_that_is_nested_too_deeply_is_refused(self):
        entry = []
        for _ in range(50):
            entry = [entry]
        with pytest.raises(InvalidMessage, match="nested"):
            decoded(entry, [])

    def test_comes_back(self):
        arrays = []
        given = [None, True, 1.5, "text", (1, (2,)), {"a": np.arange(3)}, X[1], LATEST]
        back = decoded(encoded(given, arrays), arrays)
        assert back[:5] == given[:5]
        assert back[5]["a"].tolist() == [0, 1, 2]
        assert back[6].is_close(X[1], m=0.0, rad=0.0)
        assert back[7] is LATEST
