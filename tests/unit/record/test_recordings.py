"""A world is recorded while it changes, and played again: same structure, same answers, whatever happened meanwhile."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

import armillary
import randomness
from armillary import LATEST, Transform, World, seconds
from armillary.errors import InvalidArgument, InvalidLog, RecordingFailed
from unit.kit import FakeClock, moved
from unit.record.kit import full_world

INF = float("inf")


def drive(world, first, last, **named):
    for i in range(first, last):
        turned = Transform.from_xyz_rpy(xyz=(0.1 * i, 0.0, 0.0), rpy=(0.0, 0.0, 0.01 * i))
        world.set_pose(of="base", in_frame="map", transform=turned, at=seconds(1) + i * 1_000_000, **named)


def same_answers(a, b, instants, *, of="base", in_frame="map"):
    for at in instants:
        left, right = a.pose(of=of, in_frame=in_frame, at=at), b.pose(of=of, in_frame=in_frame, at=at)
        assert np.array_equal(left.transform.matrix, right.transform.matrix)
        assert (left.covariance is None) == (right.covariance is None)
        if left.covariance is not None:
            assert np.array_equal(left.covariance, right.covariance)


class TestARecordedWorld:
    def test_is_the_same_when_it_is_replayed(self, tmp_path):
        with World("robot") as world, world.record(tmp_path / "run.mcap"):
            world.fix(of="camera", in_frame="base", transform=moved(0.4))
            drive(world, 0, 300, covariance=1e-4 * np.eye(6))
            node = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=seconds(1), frame="cup")
            world.scene.set_transform(node, moved(2), at=seconds(1.2))
            world.fix(of="gripper", in_frame="base", transform=moved(0.1))
        replayed = armillary.replay(tmp_path / "run.mcap", speed=INF).world
        assert replayed.digest() == world.digest()
        assert replayed.name == "robot"
        same_answers(world, replayed, (seconds(1.1), seconds(1.2005), LATEST))
        same_answers(world, replayed, (LATEST,), of="gripper")
        same_answers(world, replayed, (seconds(1.1), LATEST), of="cup", in_frame="map")

    def test_has_what_was_there_before_and_every_kind_of_sample(self, tmp_path):
        with full_world() as world:
            with world.record(tmp_path / "run.mcap"):
                world.set_joints({"door/hinge": 0.7}, velocities={"door/hinge": 0.2}, at=seconds(9.5))
                moving = {"linear": (1, 2, 3), "angular": (0.1, 0, 0), "expressed_in": "gyro"}
                world.set_twist(of="gyro", relative_to="base", **moving, at=seconds(8.5), source="gyro")
            replayed = armillary.replay(tmp_path / "run.mcap", World(history=seconds(5)), speed=INF).world
            assert replayed.digest() == world.digest()
            for at in (seconds(9), seconds(9.25), seconds(9.5)):
                same_answers(world, replayed, (at,), of="door/panel")
                assert replayed.joint("door/hinge", at=at).value == world.joint("door/hinge", at=at).value
            motion = {"of": "gyro", "relative_to": "base", "source": "gyro"}
            assert np.array_equal(replayed.twist_samples(**motion).twists, world.twist_samples(**motion).twists)
            assert len(world.twist_samples(**motion)) == 2
            for at in (seconds(8), seconds(9)):
                same_answers(world, replayed, (at,), of="ball", in_frame="base")

    def test_shows_its_poses_to_programs_that_read_foxglove_transforms(self, tmp_path):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: PLC0415

        with World() as world, world.record(tmp_path / "run.mcap"):
            world.fix(of="camera", in_frame="base", transform=moved(0.4))
            drive(world, 0, 5)
        found = []
        with (tmp_path / "run.mcap").open("rb") as file:
            for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages(topics=["/tf"]):
                pool = descriptor_pool.DescriptorPool()
                for described in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
                    pool.Add(described)
                kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
                assert (schema.name, channel.message_encoding) == ("foxglove.FrameTransforms", "protobuf")
                found += kind.FromString(message.data).transforms
        edges = {(one.parent_frame_id, one.child_frame_id) for one in found}
        assert edges == {("map", "base"), ("base", "camera")}
        last = [one for one in found if one.child_frame_id == "base"][-1]
        assert last.timestamp.seconds * 10**9 + last.timestamp.nanos == seconds(1) + 4_000_000
        assert last.translation.x == 0.4
        assert last.rotation.z == pytest.approx(np.sin(0.02))

    @pytest.mark.parametrize("compression", ["lz4", "zstd"])
    def test_may_be_compressed(self, tmp_path, compression):
        with World() as world, world.record(tmp_path / "run.mcap", compression=compression):
            drive(world, 0, 500)
        replayed = armillary.replay(tmp_path / "run.mcap", speed=INF).world
        assert replayed.digest() == world.digest()
        same_answers(world, replayed, (seconds(1.1), LATEST))

    def test_goes_on_in_new_files_and_each_of_them_stands_alone(self, tmp_path):
        with World() as world:
            world.fix(of="camera", in_frame="base", transform=moved(0.4))
            world.set_pose(of="seldom", in_frame="map", transform=moved(7), at=seconds(1))
            with world.record(tmp_path / "run.mcap", max_bytes=60_000, flush_s=0.01) as recording:
                for i in range(5):
                    drive(world, 200 * i, 200 * (i + 1))
                    recording.flush()
            assert len(recording.paths) >= 3
            assert recording.paths[1] == tmp_path / "run_1.mcap"
            whole = armillary.replay(tmp_path / "run.mcap", speed=INF).world
            assert whole.digest() == world.digest()
            same_answers(world, whole, (seconds(1.05), seconds(1.9), LATEST))
            last = armillary.replay([recording.paths[-1]], speed=INF).world
            assert last.digest() == world.digest()
            same_answers(world, last, (LATEST,))
            assert last.pose(of="seldom", in_frame="map").transform.translation[0] == 7.0

    def test_keeps_a_file_that_exists_unless_it_is_told_otherwise(self, tmp_path):
        file = tmp_path / "run.mcap"
        file.write_bytes(b"mine")
        with World() as world:
            with pytest.raises(InvalidArgument, match="overwrite=True"):
                world.record(file)
            assert file.read_bytes() == b"mine"
            world.record(file, overwrite=True).close()
        assert file.read_bytes().startswith(b"\x89MCAP0")

    @pytest.mark.parametrize("wrong", [{"flush_s": 0}, {"max_bytes": -1}, {"max_s": "x"}, {"compression": "rar"}])
    def test_refuses_what_makes_no_sense(self, tmp_path, wrong):
        with World() as world, pytest.raises(InvalidArgument):
            world.record(tmp_path / "run.mcap", **wrong)

    def test_counts_what_did_not_fit_into_its_queue(self, tmp_path):
        with World() as world:
            recording = world.record(tmp_path / "run.mcap", max_queue_bytes=10_000)
            stamps = np.arange(100_000) + seconds(1)
            poses = np.tile([0.0, 0, 0, 1, 0, 0, 0], (100_000, 1))
            world.set_poses(of="base", in_frame="map", transforms=poses, at=stamps)
            recording.close()
            assert recording.dropped > 50_000
            assert recording.samples + recording.dropped >= 100_000

    def test_ends_with_a_sentence_where_the_disk_refuses(self, tmp_path):
        told = []
        world = World()
        world.on_error = told.append
        recording = world.record(tmp_path / "run.mcap", flush_s=10)
        drive(world, 0, 10)
        _replace_by_full_disk(recording)
        with pytest.raises(RecordingFailed, match="can be replayed"):
            recording.flush()
        drive(world, 10, 20)
        with pytest.raises(RecordingFailed):
            recording.close()
        assert [type(error) for error in told] == [RecordingFailed]
        world.close()
        assert world.pose(of="base", in_frame="map").transform.translation[0] == pytest.approx(1.9)

    def test_is_closed_with_its_world(self, tmp_path):
        with World() as world:
            recording = world.record(tmp_path / "run.mcap")
            drive(world, 0, 3)
        assert recording.is_closed
        assert armillary.replay(tmp_path / "run.mcap", speed=INF).samples == 3


class TestAReplay:
    @pytest.fixture
    def recorded(self, tmp_path):
        """Ten seconds of a world whose clock is driven: a sample every 0.1 s, a fixed frame after five."""
        clock = FakeClock(seconds(100))
        with World(clock=clock) as world, world.record(tmp_path / "run.mcap", flush_s=30) as recording:
            for i in range(100):
                clock.ns = seconds(100) + i * 100_000_000
                world.set_pose(of="base", in_frame="map", transform=moved(i), at=clock.ns)
                if i == 50:
                    world.fix(of="late", in_frame="base", transform=moved(1))
                recording.flush()
        return tmp_path / "run.mcap"

    def newest(self, world):
        return world.pose(of="base", in_frame="map").transform.translation[0]

    def test_goes_step_by_step_and_drives_the_clock(self, recorded):
        with armillary.replay(recorded, World(), speed=0) as replay:
            world = replay.world
            assert world.now() == seconds(100)
            replay.play_until(seconds(101))
            assert (world.now(), self.newest(world)) == (seconds(101), 10.0)
            assert replay.step(0.5) == seconds(101.5)
            assert self.newest(world) == 15.0
            assert "late" not in world.frames()
            replay.play_until(seconds(106))
            assert world.pose(of="late", in_frame="map").transform.translation[0] == 61.0

    def test_can_be_set_back_and_forth(self, recorded):
        with armillary.replay(recorded, World(), speed=0) as replay:
            assert replay.seek(seconds(108)) == seconds(108)
            assert self.newest(replay.world) == 80.0
            assert replay.seek(seconds(102)) == seconds(102)
            assert self.newest(replay.world) == 20.0
            assert replay.world.now() == seconds(102)
            replay.seek(seconds(109.9))
            assert self.newest(replay.world) == 99.0

    def test_takes_its_time(self, recorded):
        begin = time.monotonic()
        replay = armillary.replay(recorded, World(), speed=50.0)
        assert time.monotonic() - begin >= 0.19  # ten seconds, fifty times as fast
        assert self.newest(replay.world) == 99.0
        assert replay.is_over

    def test_leaves_others_room_to_write_beside_it(self, recorded):
        world = World()
        with armillary.replay(recorded, world, speed=100.0, wait=False) as replay:
            world.wait_for_pose(of="base", in_frame="map", at=seconds(101), timeout_s=5)
            now = world.now()
            world.set_pose(of="map", in_frame="slam", transform=moved(1000), at=now, source="slam")
            assert replay.wait(5)
        assert world.pose(of="base", in_frame="slam", at=now).transform.translation[0] >= 1010.0

    def test_starts_where_it_is_told_to(self, recorded):
        replay = armillary.replay(recorded, World(), speed=0, start=seconds(105))
        assert self.newest(replay.world) == 50.0

    def test_is_of_recordings_alone(self, tmp_path):
        with pytest.raises(InvalidLog):
            armillary.replay(__file__)
        (tmp_path / "empty.mcap").write_bytes(b"")
        with pytest.raises(InvalidLog):
            armillary.replay(tmp_path / "empty.mcap")

    @pytest.mark.parametrize("speed", [-1.0, float("nan"), "fast", None, True])
    def test_has_a_speed(self, recorded, speed):
        with pytest.raises(InvalidArgument, match="speed"):
            armillary.replay(recorded, World(), speed=speed)


def _replace_by_full_disk(recording):
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, recording._writer._file)
    os.close(full)


KILLED = """
import sys, time
import numpy as np
from armillary import Transform, World, seconds
world = World("robot")
recording = world.record(sys.argv[1], flush_s=0.01)
print("go", flush=True)
i = 0
while True:
    map_T_base = Transform.from_xyz_rpy(xyz=(i, 0, 0), rpy=(0, 0, 0))
    world.set_pose(of="base", in_frame="map", transform=map_T_base, at=seconds(1) + i)
    if i % 500 == 0:
        world.fix(of=f"frame_{i // 500}", in_frame="base", transform=Transform.identity())
    if i % 1000 == 0:
        recording.flush()
        print(i, flush=True)
    i += 1
"""


class TestAProcessThatIsKilled:
    def test_leaves_a_file_that_replays_to_what_was_flushed(self, tmp_path):
        chance = random.Random(randomness.SEED)
        for round_number in range(randomness.scaled(4, 100)):
            file = tmp_path / f"run_of_{round_number}.mcap"
            process = subprocess.Popen([sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE, text=True)
            assert process.stdout.readline() == "go\n"
            time.sleep(chance.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            flushed = [int(line) for line in process.stdout.read().split("\n")[:-1]]
            process.stdout.close()
            process.wait()
            with World() as world:
                replay = armillary.replay(file, world, speed=INF)
                assert replay.refused == {}
                if flushed:
                    assert world.pose(of="base", in_frame="map").transform.translation[0] >= flushed[-1]
                    assert f"frame_{flushed[-1] // 500}" in world.frames()
                    assert replay.samples >= flushed[-1]
            file.unlink()


class TestADamagedRecording:
    def test_gives_what_is_before_the_damage_or_says_what_it_is(self, tmp_path):
        with World() as world, world.record(tmp_path / "run.mcap", flush_s=30) as recording:
            for i in range(5):
                drive(world, 20 * i, 20 * (i + 1))
                recording.flush()
        data, chance = (tmp_path / "run.mcap").read_bytes(), random.Random(randomness.SEED)
        file = tmp_path / "damaged.mcap"
        outcomes = set()
        for _ in range(randomness.scaled(150, 5000)):
            file.write_bytes(mutated(data, chance))
            with World() as world:
                try:
                    replay = armillary.replay(file, world, speed=INF)
                except (InvalidLog, InvalidArgument):
                    outcomes.add("refused")
                    continue
                outcomes.add("played")
                if "base" in world.frames() and not replay.refused:
                    stamps, transforms = (
                        world.samples(of="base", in_frame="map").stamps,
                        world.samples(of="base", in_frame="map").transforms,
                    )
                    expected = 0.1 * (stamps - seconds(1)) / 1e6
                    assert np.allclose(transforms[:, 0], expected)
        assert outcomes == {"refused", "played"}


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, a part cut off, put twice or left out."""
    at = chance.randrange(len(data) if chance.random() < 0.8 else 40)
    more = min(len(data), at + chance.randrange(1, 200))
    noise = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
    return chance.choice(
        [
            data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :],
            data[:at],
            data[:at] + noise + data[at + len(noise) :],
            data[:at] + data[more:],
            data[:more] + data[at:],
            data[:at] + b"\xff" * 8 + data[at + 8 :],
        ]
    )


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(tmp_path))
