"""rosbags reading a bag of ROS 1 into Debian's tf2, from the system's Python: CPU time of one transform."""

import json
import sys
from pathlib import Path
from time import process_time_ns

sys.path.append(sys.argv[2])  # where rosbags is

import rospy
from geometry_msgs.msg import TransformStamped
from rosbags.rosbag1 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tf2_py import BufferCore

MOST = int(sys.argv[3])
store = get_typestore(Stores.ROS1_NOETIC)
store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
buffer, count = BufferCore(rospy.Duration(1000)), 0
began = process_time_ns()
with Reader(Path(sys.argv[1])) as reader:
    for _, _, data in reader.messages():
        for one in store.deserialize_ros1(data, "tf2_msgs/msg/TFMessage").transforms:
            made = TransformStamped(child_frame_id=one.child_frame_id)
            made.header.frame_id = one.header.frame_id
            made.header.stamp = rospy.Time(one.header.stamp.sec, one.header.stamp.nanosec)
            made.transform.translation, made.transform.rotation = one.transform.translation, one.transform.rotation
            buffer.set_transform(made, "bag")
            count += 1
        if count >= MOST:
            break
print(json.dumps((process_time_ns() - began) / count))
