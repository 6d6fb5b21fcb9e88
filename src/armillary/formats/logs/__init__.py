"""Files of logs: where messages are in MCAP files, ROS 1 bags and rosbag2 folders. What they say is for others."""

from armillary.formats.logs.blocks import Block, LogFile, Topic, grouped
from armillary.formats.logs.opening import is_log, open_log

__all__ = ["Block", "LogFile", "Topic", "grouped", "is_log", "open_log"]
