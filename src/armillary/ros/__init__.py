"""Logs of ROS and Foxglove: worlds from them, clouds in them, and logs from worlds. ROS itself is not needed."""

from armillary.ros.reading import read_into
from armillary.ros.report import LogReport, TopicReport
from armillary.ros.topics import TopicsLike, as_topics

__all__ = ["LogReport", "TopicReport", "TopicsLike", "as_topics", "read_into"]
