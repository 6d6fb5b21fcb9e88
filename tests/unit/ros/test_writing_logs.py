"""What a world writes into a log, programs of ROS read: rosbags, mcap, ROS 1's own rosbag, and we ourselves."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from armillary import World, seconds
from armillary._core import read_transforms, write_transforms
from armillary.errors import InvalidArgument
from requirements import skip_without
from unit.kit import moved
from unit.record.kit import full_world
from unit.ros.bags import BEGIN, ROS1, ROS2, Messages, has_rosbag, write
from unit.ros.test_reading_logs import STEP, check, story, wandering

FORMS = ("run.mcap", "run.bag", "run")


@pytest.fixture
def rows():
    return wandering(30)


@pytest.fixture
def written(tmp_path, rows):
    """A log made of a log, in each form."""
    with World.from_log(write(tmp_path, "plain.bag", story(rows))) as world:
        for form in FORMS:
            assert world.to_log(tmp_path / form).transforms == 91
    return tmp_path


class TestALogOfAWorld:
    @pytest.mark.parametrize("form", FORMS)
    def test_is_read_back_as_it_was(self, written, rows, form):
        with World.from_log(written / form) as world:
            check(world, rows)

    @pytest.mark.parametrize("form", FORMS)
    def test_is_read_by_rosbags(self, written, rows, form):
        given = {(row[0], row[1], row[2]): row[3] for message in rows for row in message}
        with AnyReader([written / form], default_typestore=ROS2) as reader:
            for connection, _, data in reader.messages():
                for one in reader.deserialize(data, connection.msgtype).transforms:
                    stamp = one.header.stamp.sec * 10**9 + one.header.stamp.nanosec
                    pose = given.pop((one.header.frame_id, one.child_frame_id, stamp), None)
                    if connection.topic == "/tf_static":
                        assert (one.header.frame_id, one.child_frame_id) == ("base_link", "camera")
                        continue
                    t, q = one.transform.translation, one.transform.rotation
                    assert np.allclose([t.x, t.y, t.z, q.w, q.x, q.y, q.z], pose, atol=1e-12)
        assert given == {}

    def test_is_read_by_mcap(self, written):
        with (written / "run.mcap").open("rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            found = [(channel.topic, message) for _, channel, _, message in reader.iter_decoded_messages()]
        assert [topic for topic, _ in found] == ["/tf_static"] + ["/tf"] * 30
        assert found[1][1].transforms[0].header.stamp.sec == BEGIN // 10**9

    def test_is_read_by_ros(self, written, rows):
        if not has_rosbag():
            skip_without("rosbag", "ROS 1's rosbag is not installed (Debian: python3-rosbag python3-tf2-msgs)")
        script = (
            "import json, sys, rosbag\n"
            "print(json.dumps([[t.child_frame_id, t.header.stamp.to_nsec(), t.transform.translation.x]\n"
            "  for _, m, _ in rosbag.Bag(sys.argv[1]).read_messages('/tf') for t in m.transforms]))"
        )
        command = ["/usr/bin/python3", "-c", script, str(written / "run.bag")]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        given = {(row[1], row[2]): row[3][0] for message in rows for row in message}
        assert {(child, stamp): x for child, stamp, x in found} == pytest.approx(given)

    def test_has_what_joints_move(self, tmp_path):
        with full_world() as world:
            world.set_joints({"door/hinge": 0.7}, at=seconds(9.5))
            told = world.to_log(tmp_path / "run.mcap")
            assert "ball" in told.left_out
            with World.from_log(tmp_path / "run.mcap") as read:
                for at in (seconds(9), seconds(9.5)):
                    asked = {"of": "door/panel", "in_frame": "door/frame", "at": at}
                    left, right = world.pose(**asked).transform, read.pose(**asked).transform
                    assert np.allclose(left.matrix, right.matrix, atol=1e-12)

    def test_may_be_a_part_of_it(self, tmp_path, rows):
        with World.from_log(write(tmp_path, "plain.bag", story(rows))) as world:
            world.to_log(tmp_path / "part.mcap", start=BEGIN + 10 * STEP, end=BEGIN + 19 * STEP)
        with World.from_log(tmp_path / "part.mcap") as part:
            assert len(part.samples(of="odom", in_frame="map")) == 10

    def test_refuses_what_exists_and_what_is_empty(self, tmp_path):
        with World() as world:
            with pytest.raises(InvalidArgument, match="no pose"):
                world.to_log(tmp_path / "run.mcap")
            world.fix(of="a", in_frame="b", transform=moved(1))
            for form in FORMS:
                (tmp_path / form).touch()
                with pytest.raises(InvalidArgument, match="exists"):
                    world.to_log(tmp_path / form)
            with pytest.raises(InvalidArgument, match=r"\.mcap or \.bag"):
                world.to_log(tmp_path / "run.txt")


class TestAMessageOfTransforms:
    ROWS = (
        ("map", "base", -1, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]),
        ("", "x", BEGIN, [0.0, -0.0, 1e300, 0.5, 0.5, 0.5, 0.5]),
        ("odom/väg", "hand", 10**18 + 5, [1e-300, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0]),
    )

    @pytest.mark.parametrize("form", ["cdr", "foxglove"])
    def test_is_what_was_written(self, form):
        assert read_transforms(write_transforms(self.ROWS, form), form) == [
            (parent, child, stamp, pose) for parent, child, stamp, pose in self.ROWS
        ]

    @pytest.mark.parametrize("form", ["ros1", "cdr"])
    def test_has_the_bytes_of_rosbags(self, form):
        store = ROS1 if form == "ros1" else ROS2
        rows = [(parent, child, abs(stamp), pose) for parent, child, stamp, pose in self.ROWS]
        message = Messages(store, is_ros1=form == "ros1").transforms(*rows)
        serialize = store.serialize_ros1 if form == "ros1" else store.serialize_cdr
        assert write_transforms(rows, form) == bytes(serialize(message, "tf2_msgs/msg/TFMessage"))

    def test_is_read_in_big_endian(self):
        message = Messages(ROS2, is_ros1=False).transforms(
            *[(row[0], row[1], abs(row[2]), row[3]) for row in self.ROWS]
        )
        data = bytes(ROS2.serialize_cdr(message, "tf2_msgs/msg/TFMessage", little_endian=False))
        assert data[1] == 0
        assert [one[:2] for one in read_transforms(data, "cdr")] == [row[:2] for row in self.ROWS]
        assert read_transforms(data, "cdr")[2][3] == self.ROWS[2][3]

    @pytest.mark.parametrize("form", ["ros1", "cdr", "foxglove", "foxglove_one"])
    def test_is_nothing_where_it_is_cut_off(self, form):
        data = write_transforms(self.ROWS[:1], form)
        assert read_transforms(data, form) is not None
        for size in range(len(data)):
            found = read_transforms(data[:size], form)
            assert found is None or form.startswith("foxglove")
        assert read_transforms(b"\xff" * 64, form) is None

    def test_refuses_forms_that_are_none(self):
        with pytest.raises(InvalidArgument, match="'ros1', 'cdr'"):
            write_transforms(self.ROWS, "rot13")
