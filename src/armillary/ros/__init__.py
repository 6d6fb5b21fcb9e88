"""Logs of ROS and Foxglove: worlds from them, clouds in them, and logs from worlds. ROS itself is not needed."""

from armillary.ros.clouds import clouds
from armillary.ros.lookups import Arrival, LookupReport, arrivals
from armillary.ros.reading import read_into
from armillary.ros.report import LogReport, TopicReport
from armillary.ros.topics import TopicsLike, as_topics
from armillary.ros.writing import LogWriter, WrittenLog, write_log

__all__ = [
    "Arrival",
    "LogReport",
    "LogWriter",
    "LookupReport",
    "TopicReport",
    "TopicsLike",
    "WrittenLog",
    "arrivals",
    "as_topics",
    "clouds",
    "read_into",
    "write_log",
]
