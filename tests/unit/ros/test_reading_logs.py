"""Logs that others wrote become worlds with the same poses, at every instant, whatever form they have."""

from __future__ import annotations

import random

import numpy as np
import pytest

import randomness
from armillary import LATEST, Transform, World, seconds
from armillary.errors import ArmillaryError, InvalidArgument, InvalidLog, MissingFile
from requirements import skip_without
from unit.ros.bags import BEGIN, KINDS, has_rosbag, write, write_with_ros

STEP = 10_000_000


def wandering(count, number=0):
    """Random poses of three moving edges, `count` instants: parent, child, stamp, pose."""
    rng = randomness.rng(number)
    edges = [("odom", "base_link"), ("map", "odom"), ("base_link", "arm/hand")]
    poses = rng.normal(size=(count, len(edges), 7))
    poses[:, :, 3:] /= np.linalg.norm(poses[:, :, 3:], axis=2, keepdims=True)
    return [[(*edge, BEGIN + i * STEP, poses[i, k].tolist()) for k, edge in enumerate(edges)] for i in range(count)]


STATIC = [("base_link", "camera", BEGIN, [0.1, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0])]


def story(rows):
    def tell(messages):
        yield "/tf_static", BEGIN, messages.transforms(*STATIC)
        for row in rows:
            yield "/tf", row[0][2] + STEP // 2, messages.transforms(*row)

    return tell


def check(world, rows):
    """Every pose as it was given, and in between as a world that was told by hand."""
    told = World(history=None)
    for row in rows:
        for parent, child, ns, pose in row:
            where = Transform.from_xyz_wxyz(xyz=pose[:3], wxyz=pose[3:])
            told.set_pose(of=child, in_frame=parent, transform=where, at=ns)
            seen = world.pose(of=child, in_frame=parent, at=ns).transform
            assert np.abs(seen.matrix - where.matrix).max() < 1e-9
    instants = np.arange(BEGIN, BEGIN + (len(rows) - 1) * STEP, STEP // 3)
    pair = {"of": "arm/hand", "in_frame": "map", "at": instants}
    assert np.abs(world.transforms(**pair) - told.transforms(**pair)).max() < 1e-9
    assert world.pose(of="camera", in_frame="base_link").transform.translation.tolist() == [0.1, 0.0, 0.4]
    assert world.pose(of="camera", in_frame="base_link").stamp is None


class TestAWorldFromALog:
    @pytest.mark.parametrize("kind", KINDS)
    def test_has_every_pose_that_rosbags_wrote(self, tmp_path, kind):
        rows = wandering(60)
        with World.from_log(write(tmp_path, kind, story(rows))) as world:
            check(world, rows)
            assert world.log.problems == ()
            assert world.now() == BEGIN + 59 * STEP + STEP // 2
            assert world.log.topics["/tf"].samples == 180

    @pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
    def test_has_every_pose_that_ros_wrote(self, tmp_path, compression):
        if not has_rosbag():
            skip_without("rosbag", "ROS 1's rosbag is not installed (Debian: python3-rosbag python3-tf2-msgs)")
        rows = wandering(60)
        entries = [["/tf_static", BEGIN, STATIC]]
        entries += [["/tf", row[0][2] + 5, row] for row in rows]
        with World.from_log(write_with_ros(tmp_path / "own.bag", entries, compression)) as world:
            check(world, rows)

    def test_sorts_in_what_came_late(self, tmp_path):
        rows = wandering(50)
        shuffled = rows[:10] + rows[12:30] + rows[10:12] + rows[30:]

        def tell(messages):
            yield "/tf_static", BEGIN, messages.transforms(*STATIC)
            for i, row in enumerate(shuffled):
                yield "/tf", BEGIN + i * STEP, messages.transforms(*row)

        with World.from_log(write(tmp_path, "plain.bag", tell)) as world:
            check(world, rows)
            assert world.log.late == 6
            assert any("later than newer ones" in problem for problem in world.log.problems)

    @pytest.mark.parametrize("has_clock", [True, False])
    def test_is_one_pass_of_a_log_in_which_time_goes_back(self, tmp_path, has_clock):
        first, second = wandering(600, 1), wandering(600, 2)

        def tell(messages):
            yield "/tf_static", BEGIN, messages.transforms(*STATIC)
            for lap, rows in enumerate((first, second)):
                for row in rows:
                    log_time = row[0][2] + lap * 600 * STEP
                    if has_clock:
                        yield "/clock", log_time, messages.clock(row[0][2])
                    yield "/tf", log_time + 1, messages.transforms(*row)

        file = write(tmp_path, "plain.bag", tell)
        with World.from_log(file) as world:
            assert len(world.log.passes) == 2
            check(world, second)
            assert any("2 passes, and number 1 was read" in problem for problem in world.log.problems)
        with World.from_log(file, which_pass=0) as world:
            check(world, first)
        with pytest.raises(InvalidArgument, match="2 passes"):
            World.from_log(file, which_pass=2)

    def test_knows_only_what_was_known_at_an_instant(self, tmp_path):
        rows = wandering(50)
        file = write(tmp_path, "plain.bag", story(rows))
        with World.from_log(file, start=BEGIN + 10 * STEP, end=BEGIN + 30 * STEP) as world:
            stamps = world.samples(of="odom", in_frame="map").stamps
            assert (stamps[0], stamps[-1]) == (BEGIN + 10 * STEP, BEGIN + 29 * STEP)

    def test_keeps_as_much_as_it_is_told(self, tmp_path):
        rows = wandering(200)
        with World.from_log(write(tmp_path, "plain.bag", story(rows)), history=seconds(0.5)) as world:
            assert len(world.samples(of="odom", in_frame="map")) == 51

    def test_has_odometry_with_covariance_as_a_source(self, tmp_path):
        half = np.sqrt(0.5)
        pose, twist = [1.0, 2.0, 0.0, half, 0.0, 0.0, half], [0.5, 0.0, 0.0, 0.0, 0.0, 0.2]
        variances = [1.0, 4.0, 9.0, 0.1, 0.2, 0.3]

        def tell(messages):
            for i in range(5):
                ns = BEGIN + i * STEP
                yield "/odom", ns, messages.odometry(ns, "odom", "base_link", pose, twist, variances)
                yield "/amcl_pose", ns, messages.located(ns, "map", pose, variances)

        for kind in ("plain.bag", "mcap"):
            with World.from_log(write(tmp_path, kind, tell)) as world:
                seen = world.samples(of="base_link", in_frame="odom", source="odom")
                assert np.allclose(seen.transforms[0], pose)
                # A quarter turn: what was along x of the parent is along -y of the child.
                assert np.allclose(np.diag(seen.covariances[0]), [4.0, 1.0, 9.0, 0.2, 0.1, 0.3])
                moving = world.twist_samples(of="base_link", relative_to="odom", source="odom")
                assert np.allclose(moving.twists[0], twist)
                assert np.allclose(np.diag(moving.covariances[0]), variances)
                assert len(world.samples(of="base_link", in_frame="map", source="amcl_pose")) == 5
                assert world.log.preferred == {"base_link": "amcl_pose"}

    def test_prefers_what_tf_says(self, tmp_path):
        rows = wandering(5)

        def tell(messages):
            yield from story(rows)(messages)
            for row in rows:
                ns = row[0][2]
                yield (
                    "/odom",
                    ns,
                    messages.odometry(ns, "odom", "base_link", [9, 9, 9, 1, 0, 0, 0], np.zeros(6), [1] * 6),
                )

        with World.from_log(write(tmp_path, "plain.bag", tell)) as world:
            check(world, rows)
            assert world.log.preferred == {"base_link": "tf"}
        with World.from_log(
            tmp_path / "plain.bag", topics={"/odom": {"source": "wheels"}, "/tf": {"use": "no"}}
        ) as world:
            assert world.pose(of="base_link", in_frame="odom").relations[0][2] == "wheels"

    def test_has_what_a_gyro_measured(self, tmp_path):
        rows = wandering(5)

        def tell(messages):
            yield from story(rows)(messages)
            for i in range(5):
                yield "/imu", BEGIN + i * STEP, messages.imu(BEGIN + i * STEP, "camera", (0.1, 0.2, 0.3), 0.01)

        for kind in ("plain.bag", "mcap"):
            with World.from_log(write(tmp_path, kind, tell)) as world:
                asked = {"of": "camera", "relative_to": "map", "expressed_in": "camera", "at": BEGIN + STEP}
                assert np.allclose(world.twist(**asked).angular, [0.1, 0.2, 0.3])
                assert world.log.left_out == {}

    def test_has_joints_and_the_robot_that_they_move(self, tmp_path):
        urdf = """<robot name="arm"><link name="base_link"/><link name="hand"/>
          <joint name="wrist" type="prismatic"><parent link="base_link"/><child link="hand"/><axis xyz="1 0 0"/>
          <limit lower="0" upper="9" effort="1" velocity="1"/></joint></robot>"""

        def tell(messages):
            yield "/robot_description", BEGIN, messages.text(urdf)
            for i in range(5):
                ns = BEGIN + i * STEP
                yield "/joint_states", ns, messages.joints(ns, ["wrist", "unknown"], [0.1 * i, 7.0], [1.0, 0.0])

        for kind in ("plain.bag", "sqlite3"):
            with World.from_log(write(tmp_path, kind, tell)) as world:
                where = world.pose(of="hand", in_frame="base_link", at=BEGIN + STEP // 2)
                assert where.transform.translation[0] == pytest.approx(0.05)
                assert world.log.left_out == {"values of joints that the robot does not have": 5}

    def test_leaves_out_and_counts_what_is_no_pose(self, tmp_path):
        good = [0.0, 0, 0, 1, 0, 0, 0]
        bad = [
            ("a", "b", BEGIN, [0.0, 0, 0, 0, 0, 0, 0]),
            ("a", "b", BEGIN, [float("nan"), 0, 0, 1, 0, 0, 0]),
            ("", "b", BEGIN, good),
            ("a", "a", BEGIN, good),
        ]

        def tell(messages):
            yield "/tf", BEGIN, messages.transforms(*bad, ("/a", "/b", BEGIN, good))

        with World.from_log(write(tmp_path, "plain.bag", tell)) as world:
            assert world.log.left_out == {"transforms that are no poses, or have no name": 4}
            assert world.pose(of="b", in_frame="a", at=BEGIN).transform.translation.tolist() == [0, 0, 0]

    @pytest.mark.parametrize("topics", [7, {"/tf": "yes"}, {"/tf": {"sauce": "x"}}, {"/tf": {"use": "maybe"}}])
    def test_refuses_topics_that_make_no_sense(self, tmp_path, topics):
        file = write(tmp_path, "plain.bag", story(wandering(2)))
        with pytest.raises((InvalidArgument, ArmillaryError)):
            World.from_log(file, topics=topics)

    def test_tells_how_far_it_is(self, tmp_path):
        told = []
        World.from_log(write(tmp_path, "bz2.bag", story(wandering(50))), progress=told.append).close()
        assert told == sorted(told)
        assert 0.0 < told[-1] <= 1.0

    def test_says_what_is_no_log(self, tmp_path):
        with pytest.raises(MissingFile):
            World.from_log(tmp_path / "none.bag")
        for name, data in {"a.bag": b"", "b.bag": b"#ROSBAG V1.2\n", "c.mcap": b"hello"}.items():
            (tmp_path / name).write_bytes(data)
            with pytest.raises(InvalidLog):
                World.from_log(tmp_path / name)
        (tmp_path / "folder").mkdir()
        with pytest.raises(InvalidLog, match=r"no \.db3"):
            World.from_log(tmp_path / "folder")


class TestADamagedLog:
    @pytest.mark.parametrize("kind", KINDS)
    def test_gives_what_is_before_the_damage_or_says_what_it_is(self, tmp_path, kind):
        rows = wandering(20)
        original = write(tmp_path, kind, story(rows))
        file = next(original.glob("*.[dm]*")) if original.is_dir() else original
        if original.is_dir():
            file = next(path for path in original.iterdir() if path.suffix in {".db3", ".mcap"})
        data, chance = file.read_bytes(), random.Random(f"{randomness.SEED} {kind}")
        copy = tmp_path / f"damaged{file.suffix}"
        for _ in range(randomness.scaled(40, 1700)):
            copy.write_bytes(damaged(data, chance))
            try:
                with World.from_log(copy) as world:
                    world.tree()
                    assert len(world.frames()) <= 100
            except ArmillaryError:
                continue


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, a part cut off, put twice or left out."""
    at = chance.randrange(len(data) if chance.random() < 0.7 else min(len(data), 400))
    more = min(len(data), at + chance.randrange(1, 200))
    return chance.choice(
        [
            data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :],
            data[:at],
            data[:at] + chance.randbytes(8) + data[at + 8 :],
            data[:at] + data[more:],
            data[:more] + data[at:],
            data[:at] + b"\xff" * 8 + data[at + 8 :],
        ]
    )


def test_latest_is_the_end_of_the_log(tmp_path):
    rows = wandering(5)
    with World.from_log(write(tmp_path, "plain.bag", story(rows))) as world:
        assert world.pose(of="arm/hand", in_frame="map", at=LATEST).stamp == rows[-1][0][2]
