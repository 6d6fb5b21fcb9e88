"""Corrections: each sample of a relation of interpolation 'step' holds until the next one."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import BeforeHistory, FrameLoop, InvalidArgument, NotConnected
from armillary.scene import AddRelation
from unit.kit import moved, x_of

ODOM = ("odom", "map", "")


def corrected(**options) -> World:
    """A map correction at 1 and 5 s, and odometry until 7 s."""
    world = World(**options)
    world.set_pose(of="odom", in_frame="map", transform=moved(10), at=seconds(1), interpolation="step")
    world.set_pose(of="odom", in_frame="map", transform=moved(20), at=seconds(5))
    for t in range(8):
        world.set_pose(of="base", in_frame="odom", transform=moved(t), at=seconds(t))
    return world


@pytest.fixture
def world() -> World:
    return corrected()


def ages(value) -> dict:
    return {sample.relation: sample.age_s for sample in value.held}


class TestACorrection:
    def test_holds_until_the_next_one(self, world):
        for t, x in [(1, 11), (2.5, 12.5), (4.999, 14.999), (5, 25), (6, 26), (7, 27)]:
            assert x_of(world.pose(of="base", in_frame="map", at=seconds(t))) == pytest.approx(x)

    def test_says_that_it_was_held_and_for_how_long(self, world):
        assert ages(world.pose(of="base", in_frame="map", at=seconds(3))) == {ODOM: 2.0}
        assert world.pose(of="base", in_frame="map", at=seconds(5)).held == ()

    def test_does_not_limit_the_newest_instant(self, world):
        pose = world.pose(of="base", in_frame="map", at=LATEST)
        assert (pose.stamp, x_of(pose), ages(pose)) == (seconds(7), 27.0, {ODOM: 2.0})

    def test_alone_is_newest_where_it_was_given(self, world):
        pose = world.pose(of="odom", in_frame="map")
        assert (pose.stamp, x_of(pose), pose.held) == (seconds(5), 20.0, ())

    def test_is_no_limit_for_hold(self, world):
        pose = world.pose(of="odom", in_frame="map", at=seconds(500), outside="hold", hold_up_to_s=0.1)
        assert ages(pose) == {ODOM: 495.0}

    def test_is_unknown_before_the_first(self, world):
        with pytest.raises(BeforeHistory, match=r"500 ms before its first sample.*\[1\.000 s, 5\.000 s\]"):
            world.pose(of="odom", in_frame="map", at=seconds(0.5))

    def test_keeps_its_covariance(self):
        world, spread = World(), np.diag([1.0, 2, 3, 4, 5, 6])
        world.set_pose(of="odom", in_frame="map", transform=moved(1), at=0, covariance=spread, interpolation="step")
        world.set_pose(of="odom", in_frame="map", transform=moved(2), at=seconds(2), covariance=2 * spread)
        assert np.allclose(world.pose(of="odom", in_frame="map", at=seconds(1.9)).covariance, spread)

    def test_does_not_move(self, world):
        for window in (None, seconds(1)):
            twist = world.twist(of="base", relative_to="map", at=seconds(4.9), window=window)
            assert (twist.linear.tolist(), twist.method) == ([pytest.approx(1.0), 0, 0], "differentiated")
        alone = world.twist(of="odom", relative_to="map", at=seconds(3))
        assert (alone.linear.tolist(), alone.method, alone.stamp) == ([0, 0, 0], "fixed", seconds(3))
        assert ages(alone) == {ODOM: 2.0}
        assert world.twist(of="odom", relative_to="map").stamp == seconds(5)

    def test_ends_where_the_frame_moves(self, world):
        world.set_pose(of="odom", in_frame="hall", transform=moved(0), at=seconds(6))
        assert x_of(world.pose(of="odom", in_frame="map", at=seconds(5.9))) == 20.0
        with pytest.raises(NotConnected):
            world.pose(of="odom", in_frame="map", at=seconds(6.5))

    def test_is_not_thinned(self):
        world = World(thin_m=1e-3, thin_rad=1e-3, history=None)
        at = np.arange(5000) * 10**7
        rows = np.tile([0.0, 0, 0, 1, 0, 0, 0], (5000, 1))
        rows[:, 0] = np.arange(5000) * 0.1
        world.set_poses(of="odom", in_frame="map", transforms=rows, at=at, interpolation="step")
        asked = world.transforms(of="odom", in_frame="map", at=at[::7] + 5, as_="xyz_wxyz")
        assert np.allclose(asked[:, 0], rows[::7, 0])


class TestEveryEntryPoint:
    STAMPS = (np.array([1.0, 2.5, 4.0, 5.0, 5.5, 7.0]) * 1e9).astype(np.int64)

    def test_agrees(self, world):
        asked = {"of": "base", "in_frame": "map"}
        due = [x_of(world.pose(**asked, at=int(at))) for at in self.STAMPS]
        for stamps in (self.STAMPS, self.STAMPS[::-1]):
            batch = world.transforms(**asked, at=stamps)[:, 0, 3]
            assert batch == pytest.approx(due if stamps is self.STAMPS else due[::-1])
        cloud = world.map_points(np.zeros((6, 3)), from_frame="base", to_frame="map", at=self.STAMPS)
        assert cloud[:, 0] == pytest.approx(due)
        for at, x in zip(self.STAMPS.tolist(), due, strict=True):
            assert world.snapshot(in_frame="map", at=at)["base"].translation[0] == pytest.approx(x)
            assert world.can_pose(**asked, at=at)
            assert x_of(world.wait_for_pose(**asked, at=at, timeout_s=0)) == pytest.approx(x)
            for policy in ("latest", "most_certain", "fuse"):
                assert x_of(world.pose(**asked, at=at, policy=policy)) == pytest.approx(x)

    def test_of_a_snapshot_names_it(self, world):
        seen = world.snapshot(in_frame="map", at=seconds(6))
        assert [(sample.relation, sample.age_s) for sample in seen.held_samples] == [(ODOM, 1.0)]
        assert world.snapshot(in_frame="map").stamps["base"] == seconds(7)


class TestChoosingIt:
    def test_beforehand(self):
        world = World()
        world.add_relation(of="odom", in_frame="map", interpolation="step", at=0)
        world.set_pose(of="odom", in_frame="map", transform=moved(3), at=seconds(1))
        assert x_of(world.pose(of="odom", in_frame="map", at=seconds(100))) == 3.0
        (info,) = world.relations()
        assert (info.interpolation, info.first, info.last, info.samples) == ("step", seconds(1), seconds(1), 1)
        assert "steps" in str(world.tree())

    def test_later_counts_for_the_past_and_back(self):
        world = World()
        asked = {"of": "odom", "in_frame": "map"}
        for t in (0, 2):
            world.set_pose(**asked, transform=moved(t), at=seconds(t))
        linear, before = world.digest(), x_of(world.pose(**asked, at=seconds(1)))
        world.add_relation(**asked, interpolation="step")
        assert (before, x_of(world.pose(**asked, at=seconds(1)))) == (1.0, 0.0)
        assert world.digest() != linear
        world.undo()
        assert (x_of(world.pose(**asked, at=seconds(1))), world.digest()) == (1.0, linear)
        world.redo()
        world.add_relation(**asked, interpolation="linear")
        assert (x_of(world.pose(**asked, at=seconds(1))), world.digest()) == (1.0, linear)

    def test_a_screw_is_kept_unless_the_query_asks_otherwise(self):
        world, turned = World(), Transform.from_xyz_rpy(xyz=(1, 0, 0), rpy=(0, 0, 1.5))
        asked = {"of": "a", "in_frame": "b", "at": seconds(1)}
        world.set_poses(of="a", in_frame="b", transforms=[Transform.identity(), turned], at=[0, seconds(2)])
        straight, screw = world.pose(**asked), world.pose(**asked, interpolation="screw")
        world.add_relation(of="a", in_frame="b", interpolation="screw")
        assert world.pose(**asked).is_close(screw)
        assert not screw.is_close(straight, m=1e-3)
        assert world.pose(**asked, interpolation="linear").is_close(straight)
        assert np.allclose(world.transforms(**asked | {"at": [seconds(1)]})[0], screw.transform.matrix)
        assert np.allclose(world.snapshot(in_frame="b", at=seconds(1))["a"].matrix, screw.transform.matrix)

    def test_is_refused_where_it_would_close_a_cycle(self):
        world = World()
        world.set_pose(of="a", in_frame="b", transform=moved(), at=0)
        world.set_pose(of="b", in_frame="a", transform=moved(), at=seconds(5), source="other")
        with pytest.raises(FrameLoop):
            world.add_relation(of="a", in_frame="b", interpolation="step")
        assert world.relations()[0].interpolation == "linear"

    @pytest.mark.parametrize("wrong", ["hold", "", 1, None])
    def test_is_one_of_three(self, wrong):
        with pytest.raises(InvalidArgument, match="'linear', 'screw' or 'step'"):
            World().add_relation(of="a", in_frame="b", interpolation=wrong)

    def test_of_nothing_changes_nothing(self, world):
        before = world.digest()
        world.set_pose(of="odom", in_frame="map", transform=moved(1), at=seconds(6), interpolation="step")
        assert world.digest() == before


class TestOthers:
    def test_follow(self, world):
        peer = World("peer")
        peer.merge(world.scene.changes())
        assert {info.of: info.interpolation for info in peer.relations()} == {"odom": "step", "base": "linear"}
        world.add_relation(of="odom", in_frame="map", interpolation="linear")
        peer.merge(world.scene.changes())
        assert peer.relations()[0].interpolation == "linear"

    def test_keep_a_choice_beside_one_that_made_none(self):
        here, there = World("here"), World("there")
        asked = {"of": "odom", "in_frame": "map", "source": "amcl"}
        here.add_relation(**asked, interpolation="step", at=0)
        there.set_pose(**asked, transform=moved(1), at=seconds(1))
        here.merge(there.scene.changes())
        there.merge(here.scene.changes())
        assert [world.relations()[0].interpolation for world in (here, there)] == ["step", "step"]
        assert here.digest() == there.digest()

    def test_have_it_when_it_was_saved_copied_or_made_in_a_batch(self, world, tmp_path):
        world.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        batch = World()
        batch.apply([AddRelation(of="odom", in_frame="map", at=0, interpolation="step")])
        for other in (loaded, world.copy(), batch):
            assert next(info for info in other.relations() if info.of == "odom").interpolation == "step"
        assert x_of(world.copy().pose(of="odom", in_frame="map", at=seconds(3))) == 10.0
        assert loaded.digest() == world.digest()


class TestTheNewestPoseOfWhatSteps:
    def test_does_not_depend_on_what_is_above_the_path(self, world):
        """The base moves between maps meanwhile; the camera is on it all the same."""
        world.set_pose(of="camera", in_frame="base", transform=moved(1), at=seconds(5), interpolation="step")
        world.set_pose(of="base", in_frame="other", transform=moved(1), at=seconds(6))
        for outside in ("raise", "hold"):
            assert world.pose(of="base", in_frame="camera", at=LATEST, outside=outside).stamp == seconds(5)


class TestARelationThatBeginsToStep:
    @pytest.mark.xfail(
        strict=True, reason="it takes the stamp of a sample in another parent, and forgets that it steps"
    )
    def test_holds_though_its_frame_had_another_parent_at_that_stamp(self):
        world = World()
        world.set_pose(of="cup", in_frame="table", transform=moved(1), at=seconds(3))
        world.set_pose(of="cup", in_frame="map", transform=moved(2), at=seconds(3), interpolation="step")
        assert x_of(world.pose(of="cup", in_frame="map", at=seconds(5))) == 2.0
