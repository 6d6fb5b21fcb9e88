"""Writes bags with rosbags, and with ROS 1's own rosbag where that is installed: our reader is held against both."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ROS1, ROS2 = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.ROS2_HUMBLE)
ROS1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
BEGIN = 1_700_000_000 * 10**9
KINDS = ("plain.bag", "bz2.bag", "lz4.bag", "sqlite3", "mcap", "mcap/mcap.mcap")


class Messages:
    """Makes messages of one ROS."""

    def __init__(self, store, *, is_ros1):
        self.types, self.is_ros1 = store.types, is_ros1

    def of(self, name, /, **fields):
        return self.types[name](**fields)

    def time(self, ns):
        return self.of("builtin_interfaces/msg/Time", sec=ns // 10**9, nanosec=ns % 10**9)

    def header(self, ns, frame):
        more = {"seq": 0} if self.is_ros1 else {}
        return self.of("std_msgs/msg/Header", stamp=self.time(ns), frame_id=frame, **more)

    def vector(self, xyz):
        return self.of("geometry_msgs/msg/Vector3", **dict(zip("xyz", map(float, xyz), strict=True)))

    def quaternion(self, wxyz):
        return self.of("geometry_msgs/msg/Quaternion", **dict(zip("wxyz", map(float, wxyz), strict=True)))

    def transforms(self, *rows):
        """Each row: parent, child, stamp, x y z w x y z."""
        return self.of(
            "tf2_msgs/msg/TFMessage",
            transforms=[
                self.of(
                    "geometry_msgs/msg/TransformStamped",
                    header=self.header(ns, parent),
                    child_frame_id=child,
                    transform=self.of(
                        "geometry_msgs/msg/Transform",
                        translation=self.vector(pose[:3]),
                        rotation=self.quaternion(pose[3:]),
                    ),
                )
                for parent, child, ns, pose in rows
            ],
        )

    def odometry(self, ns, parent, child, pose, twist, variances):  # noqa: PLR0917
        point = self.of("geometry_msgs/msg/Point", **dict(zip("xyz", map(float, pose[:3]), strict=True)))
        where = self.of("geometry_msgs/msg/Pose", position=point, orientation=self.quaternion(pose[3:]))
        spread = np.diag(np.asarray(variances, float)).ravel()
        return self.of(
            "nav_msgs/msg/Odometry",
            header=self.header(ns, parent),
            child_frame_id=child,
            pose=self.of("geometry_msgs/msg/PoseWithCovariance", pose=where, covariance=spread),
            twist=self.of(
                "geometry_msgs/msg/TwistWithCovariance",
                twist=self.of("geometry_msgs/msg/Twist", linear=self.vector(twist[:3]), angular=self.vector(twist[3:])),
                covariance=spread,
            ),
        )

    def located(self, ns, frame, pose, variances):
        whole = self.odometry(ns, frame, "", pose, np.zeros(6), variances)
        name = "geometry_msgs/msg/PoseWithCovarianceStamped"
        return self.of(name, header=whole.header, pose=whole.pose)

    def imu(self, ns, frame, angular, variance):
        nine = variance * np.eye(3).ravel()
        return self.of(
            "sensor_msgs/msg/Imu",
            header=self.header(ns, frame),
            orientation=self.quaternion((1, 0, 0, 0)),
            orientation_covariance=nine,
            angular_velocity=self.vector(angular),
            angular_velocity_covariance=nine,
            linear_acceleration=self.vector((0, 0, 9.81)),
            linear_acceleration_covariance=nine,
        )

    def joints(self, ns, names, positions, velocities=()):
        return self.of(
            "sensor_msgs/msg/JointState",
            header=self.header(ns, ""),
            name=list(names),
            position=np.array(positions, float),
            velocity=np.array(velocities, float),
            effort=np.empty(0),
        )

    def scan(self, ns, frame, ranges):
        return self.of(
            "sensor_msgs/msg/LaserScan",
            header=self.header(ns, frame),
            angle_min=-1.0,
            angle_max=1.0,
            angle_increment=0.5,
            time_increment=0.001,
            scan_time=0.1,
            range_min=0.1,
            range_max=10.0,
            ranges=np.array(ranges, np.float32),
            intensities=np.empty(0, np.float32),
        )

    def cloud(self, ns, frame, points):
        field = "sensor_msgs/msg/PointField"
        fields = [self.of(field, name=name, offset=4 * i, datatype=7, count=1) for i, name in enumerate("xyz")]
        data = np.hstack([points, np.zeros((len(points), 1))]).astype(np.float32)
        return self.of(
            "sensor_msgs/msg/PointCloud2",
            header=self.header(ns, frame),
            height=1,
            width=len(points),
            fields=fields,
            is_bigendian=False,
            point_step=16,
            row_step=16 * len(points),
            data=data.view(np.uint8).ravel(),
            is_dense=True,
        )

    def text(self, text):
        return self.of("std_msgs/msg/String", data=text)

    def clock(self, ns):
        return self.of("rosgraph_msgs/msg/Clock", clock=self.time(ns))


def write(folder: Path, kind: str, story) -> Path:
    """Writes a bag; `story` takes Messages and yields (topic, log time, message)."""
    path = folder / kind
    if kind.endswith(".bag"):
        writer, store, messages = Writer1(path), ROS1, Messages(ROS1, is_ros1=True)
        if not kind.startswith("plain"):
            writer.set_compression(getattr(Writer1.CompressionFormat, kind.removesuffix(".bag").upper()))
        serialize = ROS1.serialize_ros1
    else:
        plugin = StoragePlugin.SQLITE3 if kind == "sqlite3" else StoragePlugin.MCAP
        writer = Writer2(path.parent if kind.endswith(".mcap") else path, version=9, storage_plugin=plugin)
        store, messages, serialize = ROS2, Messages(ROS2, is_ros1=False), ROS2.serialize_cdr
    with writer:
        connections = {}
        for topic, log_time, message in story(messages):
            name = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, name, typestore=store)
            writer.write(connections[topic], log_time, serialize(message, name))
    return path


ROSBAG = """
import json, sys
import genpy, rosbag
from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage
def time(ns): return genpy.Time(ns // 10**9, ns % 10**9)
with rosbag.Bag(sys.argv[1], "w", compression=sys.argv[2]) as bag:
    for topic, log_time, rows in json.load(sys.stdin):
        if topic == "/clock":
            bag.write(topic, Clock(clock=time(rows)), time(log_time))
            continue
        message = TFMessage()
        for parent, child, ns, pose in rows:
            one = TransformStamped(child_frame_id=child)
            one.header.frame_id, one.header.stamp = parent, time(ns)
            t, q = one.transform.translation, one.transform.rotation
            t.x, t.y, t.z, q.w, q.x, q.y, q.z = pose
            message.transforms.append(one)
        bag.write(topic, message, time(log_time))
"""


def has_rosbag() -> bool:
    """Whether ROS 1's own rosbag is here."""
    return (
        Path("/usr/bin/python3").exists()
        and not subprocess.run(
            ["/usr/bin/python3", "-c", "import rosbag, tf2_msgs.msg"], capture_output=True, check=False
        ).returncode
    )


def write_with_ros(path: Path, entries, compression="none") -> Path:
    """Writes a bag with ROS 1; each entry: topic, log time, rows as in Messages.transforms, or the time of a clock."""
    plain = json.dumps(entries)
    command = ["/usr/bin/python3", "-c", ROSBAG, str(path), compression]
    subprocess.run(command, input=plain, text=True, check=True, capture_output=True)
    return path
