"""Logs with the transforms of a world, for programs of ROS: MCAP files, bags of ROS 1, folders of rosbag2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary._core import Transform, write_transforms
from armillary.errors import ArmillaryError, InvalidArgument, MissingExtra
from armillary.formats.logs.mcap_writing import McapWriter
from armillary.formats.whole_files import as_file_path
from armillary.stamps import LATEST

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    from armillary.store import Store

__all__ = ["LogWriter", "WrittenLog", "write_log"]

_CHUNK_BYTES = 1 << 20
_TYPE = "tf2_msgs/msg/TFMessage"
_LINE = "=" * 80
_DEFINITION = f"""geometry_msgs/TransformStamped[] transforms
{_LINE}
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
{_LINE}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{_LINE}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
{_LINE}
MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation
{_LINE}
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
{_LINE}
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
"""
_FOREVER = "\n    sec: 9223372036\n    nsec: 854775807\n"
_LATCHED = (
    "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"
    f"  deadline:{_FOREVER}  lifespan:{_FOREVER}  liveliness: 1\n  liveliness_lease_duration:{_FOREVER}"
    "  avoid_ros_namespace_conventions: false\n"
)
_Write = Callable[[str, int, bytes], object]
_Row = tuple[str, str, int, list[float]]


@dataclass(slots=True)
class WrittenLog:
    """What was written into a log.

    Attributes:
        transforms: How many.
        messages: How many.
        left_out: Why something of the world is not in it, by frame.
    """

    transforms: int = 0
    messages: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def write_log(store: Store, path: Path, *, start: int | None, end: int | None) -> WrittenLog:
    """Write the transforms of a store: fixed ones on /tf_static, samples on /tf, each message with those of one stamp.

    What joints move is written at the stamps of the joints. Each frame has one parent in tf: where several sources
    place it, the one that holds, or "tf", is written.

    Args:
        store: The store.
        path: A new file that ends with .mcap or .bag, or a new folder for rosbag2.
        start: Leave out what is before [ns].
        end: Leave out what is after [ns].

    Raises:
        MissingExtra: Bags are written by rosbags, which is not installed.
        InvalidArgument: It exists, or there is nothing to write.
    """
    written = WrittenLog()
    chosen = list(_chosen(store, written))
    fixed = [_fixed(store, of, in_frame, source) for of, in_frame, source, kind in chosen if kind == "fixed"]
    moving = [
        part
        for of, in_frame, source, kind in chosen
        if kind in {"sampled", "driven"}
        for part in [_moving(store, of, in_frame, source, kind, start, end)]
        if len(part[2])
    ]
    if not fixed and not moving:
        raise InvalidArgument("There is no pose to write: the world has no fixed frames and no samples.", str(path))
    begin = min((int(stamps.min()) for *_, stamps, _ in moving), default=0 if start is None else start)
    with LogWriter(path) as log:
        if fixed:
            log.write([(in_frame, of, begin, pose) for of, in_frame, pose in fixed], at=begin, fixed=True)
            written.messages += 1
        written.transforms += len(fixed)
        for stamp, rows in _by_stamp(moving):
            log.write(rows, at=stamp)
            written.messages += 1
            written.transforms += len(rows)
    return written


def _chosen(store: Store, written: WrittenLog) -> Iterator[tuple[str, str, str, str]]:
    """Yield the relations that are written: of each frame those of one source."""
    parents = store.parents(LATEST)
    of_frame: dict[str, list[tuple[str, str, str, str]]] = {}
    for of, in_frame, source, kind, *_ in store.relation_rows():
        if kind != "twist":
            of_frame.setdefault(of, []).append((of, in_frame, source, kind))
    for of, relations in of_frame.items():
        sources = {source for _, _, source, _ in relations}
        holding = parents.get(of)
        told = "tf" if "tf" in sources else min(sources)
        source = holding[1] if holding is not None and holding[1] in sources else told
        if len(sources) > 1:
            others = ", ".join(repr(one) for one in sorted(sources - {source}))
            written.left_out[of] = f"what {others} said of it, where '{source}' places it"
        yield from (relation for relation in relations if relation[2] == source)


def _fixed(store: Store, of: str, in_frame: str, source: str) -> tuple[str, str, list[float]]:
    from armillary.fusion.policies import by_source  # noqa: PLC0415

    pose = store.pose(of=of, in_frame=in_frame, policy=by_source(source))
    return of, in_frame, np.asarray(pose.transform.xyz_wxyz).tolist()


def _moving(  # noqa: PLR0917
    store: Store, of: str, in_frame: str, source: str, kind: str, start: int | None, end: int | None
) -> tuple[str, str, NDArray[int64], NDArray[float64]]:
    if kind == "sampled":
        stamps, poses, _ = store.sample_rows(store.relation_id(of, in_frame, source), start, end)
        return of, in_frame, stamps, poses
    found = [store.joint_rows(name, start, end, who)[0] for name in store.joints() for who in store.joint_sources(name)]
    stamps = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
    kept: list[int] = []
    rows: list[NDArray[float64]] = []
    for at in stamps.tolist():
        try:
            rows.append(np.asarray(store.pose(of=of, in_frame=in_frame, at=at).transform.xyz_wxyz))
        except ArmillaryError:
            continue
        kept.append(at)
    return of, in_frame, np.array(kept, dtype=np.int64), np.array(rows).reshape(-1, 7)


def _by_stamp(
    moving: list[tuple[str, str, NDArray[int64], NDArray[float64]]],
) -> Iterator[tuple[int, list[_Row]]]:
    """Yield what was said of each instant, in the order of time."""
    if not moving:
        return
    stamps = np.concatenate([part[2] for part in moving])
    which = np.concatenate([np.full(len(part[2]), i) for i, part in enumerate(moving)])
    row = np.concatenate([np.arange(len(part[2])) for part in moving])
    order = np.lexsort((which, stamps))
    borders = np.flatnonzero(np.diff(stamps[order], prepend=stamps[order[0]] - 1))
    for group in np.split(order, borders[1:]):
        rows: list[_Row] = []
        for k in group.tolist():
            of, in_frame, _, poses = moving[which[k]]
            rows.append((in_frame, of, int(stamps[k]), poses[row[k]].tolist()))
        yield int(stamps[group[0]]), rows


class LogWriter:
    """A new log for programs of ROS, message by message; with it also a test makes what a robot would have logged.

    Args:
        path: A new file that ends with .mcap or .bag, or a new folder for rosbag2.

    Raises:
        MissingExtra: Bags and folders are written by rosbags, which is not installed.
        InvalidArgument: It exists, or has another suffix.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        file = as_file_path(path)
        self._close: list[Callable[[], object]] = []
        self._form = "ros1" if file.suffix == ".bag" else "cdr"
        if file.suffix == ".mcap":
            self._write = self._mcap(file)
            return
        if file.exists():
            raise InvalidArgument(f"'{file}' exists. Take another name.", str(file))
        if file.suffix not in {"", ".bag"}:
            raise InvalidArgument(
                f"'{file}' must end with .mcap or .bag, or have no suffix: a folder of rosbag2.", str(file)
            )
        self._write = self._bag(file) if file.suffix else self._folder(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(
        self, transforms: Sequence[tuple[str, str, int, Transform | Sequence[float]]], *, at: int, fixed: bool = False
    ) -> None:
        """Write one message.

        Args:
            transforms: Of each: parent, child, stamp [ns], and the pose, as a Transform or x y z w x y z.
            at: When it came [ns].
            fixed: Write it on "/tf_static".
        """
        rows = [
            (parent, child, stamp, pose.xyz_wxyz.tolist() if isinstance(pose, Transform) else pose)
            for parent, child, stamp, pose in transforms
        ]
        self._write("/tf_static" if fixed else "/tf", at, write_transforms(rows, self._form))

    def close(self) -> None:
        """Finish the log; safe to call twice."""
        closing, self._close = self._close, []
        for close in closing:
            close()

    def _mcap(self, path: Path) -> _Write:
        writer = McapWriter(path, profile="ros2")
        self._close.append(writer.close)
        schema = writer.schema(_TYPE, "ros2msg", _DEFINITION.encode())
        numbers = {
            "/tf": writer.channel("/tf", schema, "cdr"),
            "/tf_static": writer.channel("/tf_static", schema, "cdr", {"offered_qos_profiles": _LATCHED}),
        }

        def write(topic: str, log_time: int, data: bytes) -> None:
            writer.chunk.add(numbers[topic], max(0, log_time), data)
            if len(writer.chunk) >= _CHUNK_BYTES:
                writer.flush()

        return write

    def _bag(self, path: Path) -> _Write:
        rosbags = _rosbags()
        types = rosbags.typesys.get_typestore(rosbags.typesys.Stores.ROS1_NOETIC)
        kind = "geometry_msgs/TransformStamped[] transforms"
        types.register(rosbags.typesys.get_types_from_msg(kind, _TYPE))
        return self._connected(rosbags.rosbag1.Writer(path), types, {})

    def _folder(self, path: Path) -> _Write:
        rosbags = _rosbags()
        types = rosbags.typesys.get_typestore(rosbags.typesys.Stores.ROS2_HUMBLE)
        plugin = rosbags.rosbag2.StoragePlugin.SQLITE3
        return self._connected(rosbags.rosbag2.Writer(path, version=8, storage_plugin=plugin), types, {})

    def _connected(self, writer: Any, types: Any, connections: dict[str, Any]) -> _Write:
        writer.open()
        self._close.append(writer.close)

        def write(topic: str, log_time: int, data: bytes) -> None:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, _TYPE, typestore=types)
            writer.write(connections[topic], log_time, data)

        return write


def _rosbags() -> Any:
    try:
        import rosbags.rosbag1  # noqa: PLC0415  (optional)
        import rosbags.rosbag2  # noqa: PLC0415
        import rosbags.typesys  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("ros", "rosbags") from None
    return rosbags
