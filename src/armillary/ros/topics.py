"""What topics of a log say, and as which source: by default from their types, and by a mapping that a user gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.formats.whole_files import as_file_path, read_bytes
from armillary.ros.messages import plain_type

if TYPE_CHECKING:
    from armillary.formats.logs import Topic

__all__ = ["TopicUse", "TopicsLike", "as_topics", "use_of"]

_TRANSFORM_TYPES = {"tf2_msgs/TFMessage", "tf/tfMessage"}
_FOXGLOVE = {"foxglove.FrameTransforms": "foxglove", "foxglove.FrameTransform": "foxglove_one"}
_KINDS = {
    "geometry_msgs/PoseWithCovarianceStamped": "pose",
    "nav_msgs/Odometry": "odometry",
    "rosgraph_msgs/Clock": "clock",
    "sensor_msgs/Imu": "imu",
    "sensor_msgs/JointState": "joints",
}
_FIELDS = ("use", "source", "of", "in_frame")
_MOST_BYTES = 1 << 20
TopicsLike = Mapping[str, Mapping[str, Any]] | str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUse:
    """How a topic is used.

    Attributes:
        kind: "transforms", "static", "odometry", "pose", "imu", "joints", "robot" or "clock".
        source: Who says so, in the world.
        form: Of transforms, how they are written.
        of: The frame that moves, where the messages do not say it.
        in_frame: What it moves in, where the messages do not say it.
    """

    kind: str
    source: str
    form: str = ""
    of: str | None = None
    in_frame: str | None = None


def as_topics(topics: TopicsLike | None) -> dict[str, dict[str, Any]]:
    """Check a mapping from topics to how they are used, or read it from a JSON file.

    Raises:
        InvalidArgument: It is none.
    """
    given = _read(as_file_path(topics)) if isinstance(topics, str | PathLike) else topics or {}
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"topics maps names to how they are used, as in {_EXAMPLE}, got {given!r}.", given)
    for name, use in given.items():
        is_use = isinstance(use, Mapping) and set(use) <= set(_FIELDS)
        if not isinstance(name, str) or not is_use or not all(isinstance(value, str) for value in use.values()):
            raise InvalidArgument(
                f"topics[{name!r}] must map some of {', '.join(_FIELDS)} to texts, as in {_EXAMPLE}, got {use!r}.", use
            )
        if use.get("use", "yes") not in {"yes", "no"}:
            raise InvalidArgument(f"topics[{name!r}]['use'] must be 'yes' or 'no', got {use['use']!r}.", use)
    return {name: dict(use) for name, use in given.items()}


_EXAMPLE = '{"/odom": {"source": "wheels"}, "/imu": {"in_frame": "odom"}, "/debug/tf": {"use": "no"}}'


def _read(path: Path) -> Any:
    def refused(file: str, _place: str, reason: str, *_hint: str) -> InvalidArgument:
        return InvalidArgument(f"The topics cannot be read from '{file}': {reason}.", file)

    data = read_bytes(path, _MOST_BYTES, refused)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise refused(str(path), "", "it is no JSON") from None


def use_of(topic: Topic, topics: Mapping[str, Mapping[str, str]]) -> TopicUse | None:
    """Return how a topic is used; None where it is not."""
    told = topics.get(topic.name, {})
    if told.get("use") == "no":
        return None
    kind, form = _kind(topic)
    if not kind:
        return None
    default = "tf" if topic.name in {"/tf", "/tf_static", "tf", "tf_static"} else topic.name.removeprefix("/")
    return TopicUse(
        kind=kind, source=told.get("source", default), form=form, of=told.get("of"), in_frame=told.get("in_frame")
    )


def _kind(topic: Topic) -> tuple[str, str]:
    kind = plain_type(topic.type)
    if kind in _TRANSFORM_TYPES:
        return "static" if topic.name.endswith("tf_static") else "transforms", topic.encoding
    if kind in _FOXGLOVE and topic.encoding in {"protobuf", "json"}:
        form = _FOXGLOVE[kind] if topic.encoding == "protobuf" else f"{_FOXGLOVE[kind]}_json"
        return "static" if topic.name.endswith("tf_static") else "transforms", form
    if kind == "std_msgs/String" and topic.name.endswith("robot_description"):
        return "robot", topic.encoding
    return _KINDS.get(kind, ""), topic.encoding
