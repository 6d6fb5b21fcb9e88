"""Reading logs into worlds: transforms, joints, odometry, motions, robots."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from armillary._core import Transform, TransformTable
from armillary.errors import (
    ArmillaryError,
    InvalidArgument,
    InvalidMessage,
    MissingExtra,
    SamplesDropped,
    SuspiciousName,
)
from armillary.formats.logs import Block, LogFile, Topic, grouped
from armillary.ros.looping import PassFinder
from armillary.ros.messages import decode
from armillary.ros.report import LogReport, TopicReport
from armillary.ros.topics import TopicUse, use_of
from armillary.scene import AddJoints

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["Reading", "read_into"]

W = TypeVar("W")
_ROWS_AT_ONCE = 200_000
_KEPT_ROWS = 2000
_NOT_PSD = -1e-9
_JOINT_ROWS = 5000
_MOST_FRAMES = 100_000


def read_into(  # noqa: PLR0917
    log: LogFile,
    make: Callable[[], W],
    topics: Mapping[str, Mapping[str, str]],
    start: int | None,
    end: int | None,
    which: int,
    progress: Callable[[float], object] | None,
) -> tuple[W, LogReport]:
    """Make a world and fill it from a log; of a log in which time goes back, with one pass.

    Args:
        log: The log.
        make: Makes an empty world.
        topics: How topics are used where that is not the default.
        start: Leave out what was written down before [ns].
        end: Leave out what was written down after [ns].
        which: Of several passes, the number of that to read; negative: from the last.
        progress: Is told how much has been read, from 0 to 1.
    """
    reading = Reading(log, make(), topics, progress)
    reading.read(start, end)
    report = reading.report
    if len(report.passes) <= 1:
        return reading.world, report
    passes = report.passes
    if not -len(passes) <= which < len(passes):
        raise InvalidArgument(f"The log has {len(passes)} passes, numbered from 0; there is no pass {which}.", which)
    reading.world.close()
    begin, last = passes[which]
    again = Reading(log, make(), topics, progress)
    again.read(start, end, begin, last)
    again.report.passes, again.report.used_pass = passes, which % len(passes)
    return again.world, again.report


class Reading:
    """One way through a log, into one world.

    Attributes:
        world: What it is read into.
        report: What was found.
    """

    def __init__(
        self,
        log: LogFile,
        world: Any,
        topics: Mapping[str, Mapping[str, str]],
        progress: Callable[[float], object] | None,
    ) -> None:
        self.world, self.report = world, LogReport(str(log.path))
        self._log, self._topics, self._progress = log, topics, progress
        self._uses: dict[Topic, TopicUse | None] = {}
        self._passes = PassFinder()
        self._tables: dict[str, TransformTable] = {}
        self._static: dict[tuple[str, str], dict[str, Any]] = {}
        self._newest: dict[tuple[str, str, str], int] = {}
        self._poses: dict[tuple[str, str, str], list[Any]] = {}
        self._joint_rows: dict[tuple[tuple[str, ...], str, bool], list[Any]] = {}
        self._angular: list[tuple[str, str | None, int, Any, Any, str]] = []
        self._robots: dict[str, str] = {}

    def read(
        self, start: int | None, end: int | None, pass_first: int | None = None, pass_last: int | None = None
    ) -> None:
        """Read what was written down from `start` until `end`, and of what moves only one pass."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplesDropped)  # it was asked for a history
            warnings.simplefilter("ignore", SuspiciousName)  # names are as they are in the log
            self._read(start, end, pass_first, pass_last)

    def _read(self, start: int | None, end: int | None, pass_first: int | None, pass_last: int | None) -> None:
        for block in self._log.blocks(start, end):
            for part in grouped(self._log, block):
                self._take(part.topic, part.block, pass_first, pass_last)
            if sum(map(len, self._tables.values())) >= _ROWS_AT_ONCE:
                self._store_tables()
            if self._progress is not None and self._log.size:
                self._progress(min(1.0, self._log.place / self._log.size))
        self._store_tables()
        self._store_poses(everything=True)
        self._mount_robots()
        self._store_joints()
        self._fix_static()
        self._store_angular()
        self._prefer()
        report = self.report
        report.notes = list(self._log.notes)
        for table in self._tables.values():
            report.leave_out("transforms that are no poses, or have no name", table.left_out)
        if report.first is not None and report.last is not None:
            report.passes = self._passes.passes(report.first, report.last)

    # -- Messages

    def _take(self, topic: Topic, block: Block, pass_first: int | None, pass_last: int | None) -> None:
        use = self._use(topic)
        told = self.report.topics.setdefault(topic.name, TopicReport(topic.name, topic.type))
        if use is not None and use.kind not in {"static", "robot"}:
            block = block.within(pass_first, pass_last)
        told.messages += len(block)
        if use is None or not len(block):
            return
        told.source = use.source
        if use.kind != "static" or self.report.first is None:
            first, last = int(block.log_times.min()), int(block.log_times.max())
            self.report.first = first if self.report.first is None else min(first, self.report.first)
            self.report.last = last if self.report.last is None else max(last, self.report.last)
        if use.kind in {"transforms", "static"}:
            self._take_transforms(use, told, block)
            return
        for i in range(len(block)):
            try:
                message = decode(topic.type, topic.encoding, block.message(i))
            except InvalidMessage:
                told.malformed += 1
                continue
            self._take_message(use, told, message, int(block.log_times[i]))

    def _use(self, topic: Topic) -> TopicUse | None:
        if topic not in self._uses:
            self._uses[topic] = use_of(topic, self._topics)
        return self._uses[topic]

    def _take_transforms(self, use: TopicUse, told: TopicReport, block: Block) -> None:
        table = self._table(use)
        rows = len(table)
        if use.form.endswith("_json"):
            form = use.form.removesuffix("_json")
            for i in range(len(block)):
                try:
                    data = _from_json(block.message(i), is_one=form == "foxglove_one")
                except InvalidMessage:
                    told.malformed += 1
                    continue
                whole = np.array([0, len(data)], dtype=np.uint64)
                told.malformed += table.add(data, whole[:1], whole[1:], block.log_times[i : i + 1], "foxglove")
        elif use.form in {"ros1", "cdr", "foxglove", "foxglove_one"}:
            told.malformed += table.add(block.data, block.offsets, block.sizes, block.log_times, use.form)
        else:
            self.report.leave_out(f"messages of {told.name}, which are encoded as '{use.form}'", len(block))
        told.samples += len(table) - rows
        log_times, newest = table.take_newest()
        if use.kind == "static":
            self._keep_static(use, table)
        else:
            self._passes.see(log_times, newest)

    def _table(self, use: TopicUse) -> TransformTable:
        """Return where transforms of a source are collected; static ones have a place of their own."""
        key = f"{use.kind} {use.source}"
        if key not in self._tables:
            self._tables[key] = TransformTable(max_edges=_MOST_FRAMES)
        return self._tables[key]

    def _keep_static(self, use: TopicUse, table: TransformTable) -> None:
        for parent, child, _, poses, _ in table.take():
            known = self._static.get((child, use.source))
            changed = known is not None and (known["parent"] != parent or not np.allclose(known["pose"], poses[-1]))
            self.report.leave_out(f"what was said before of the fixed frame '{child}'", int(changed))
            self._static[child, use.source] = {"parent": parent, "pose": poses[-1]}

    def _take_message(self, use: TopicUse, told: TopicReport, message: Any, log_time: int) -> None:
        kind = use.kind
        if kind == "clock":
            self._passes.see_clock(log_time, message)
        elif kind == "robot":
            self._robots[message] = use.source
        elif kind == "joints":
            has_velocities = len(message.velocities) == len(message.names) > 0
            rows = self._joint_rows.setdefault((message.names, use.source, has_velocities), [])
            if len(message.positions) != len(message.names):
                told.malformed += 1
                return
            rows.append((message.header.stamp, message.positions, message.velocities))
        elif kind == "imu":
            frame = use.of or message.header.frame
            spread = message.covariance
            self._angular.append((frame, use.in_frame, message.header.stamp, message.angular, spread, use.source))
        else:
            self._take_pose(use, message)
        told.samples += kind not in {"clock", "robot"}

    def _take_pose(self, use: TopicUse, message: Any) -> None:
        of = use.of or getattr(message, "child", "") or "base_link"
        in_frame = use.in_frame or message.header.frame
        twist = getattr(message, "twist", None)
        spread = None if twist is None else message.twist_covariance
        row = (message.header.stamp, message.pose, message.covariance, twist, spread)
        rows = self._poses.setdefault((of, in_frame, use.source), [])
        rows.append(row)
        if len(rows) >= _KEPT_ROWS:
            self._store_poses(everything=False)

    # -- Into the world

    def _store_tables(self) -> None:
        for key, table in self._tables.items():
            source = key.partition(" ")[2]
            for parent, child, stamps, poses, _ in table.take():
                self._set_poses(child, parent, source, stamps, poses, None)

    def _set_poses(  # noqa: PLR0917
        self, of: str, in_frame: str, source: str, stamps: NDArray[int64], poses: NDArray[float64], spreads: Any
    ) -> None:
        """Store poses of one relation; those older than the history, and what the world refuses, are counted."""
        edge = (of, in_frame, source)
        newest = self._newest.get(edge, -(2**62))
        is_in_order = len(stamps) > 0 and stamps[0] >= newest and bool((stamps[1:] >= stamps[:-1]).all())
        running = stamps if is_in_order else np.maximum.accumulate(np.concatenate([[newest], stamps]))
        self.report.late += 0 if is_in_order else int((stamps < running[:-1]).sum())
        history = self.world.store.settings.history
        if history is not None and newest > -(2**62):
            keep = stamps >= newest - history
            self.report.leave_out("samples older than the history that is kept", int((~keep).sum()))
            if not keep.all():
                stamps, poses = stamps[keep], poses[keep]
                spreads = None if spreads is None else spreads[keep]
            if not len(stamps):
                return
        self._newest[edge] = int(running[-1])
        try:
            self.world.set_poses(
                of=of, in_frame=in_frame, transforms=poses, at=stamps, source=source, covariances=spreads
            )
        except ArmillaryError as error:
            self.report.leave_out(f"poses of '{of}' in '{in_frame}': {str(error).rstrip('.')}", len(stamps))

    def _store_poses(self, *, everything: bool) -> None:
        for (of, in_frame, source), rows in self._poses.items():
            if not rows or (not everything and len(rows) < _KEPT_ROWS):
                continue
            stamps = np.array([row[0] for row in rows], dtype=np.int64)
            poses = np.array([row[1] for row in rows])
            is_pose = np.isfinite(poses).all(axis=1) & (np.abs((poses[:, 3:] ** 2).sum(axis=1) - 1.0) < 0.01)  # noqa: PLR2004
            self.report.leave_out(f"poses of '{of}' that are none", int((~is_pose).sum()))
            spreads = np.array([_turned(row[2], row[1]) for row in rows])
            kept = np.flatnonzero(is_pose)
            if len(kept):
                known = spreads[kept] if not np.isnan(spreads[kept]).all() else None
                self._set_poses(of, in_frame, source, stamps[kept], poses[kept], known)
            for stamp, _, _, twist, spread in rows:
                if twist is not None:
                    self._set_twist(of, in_frame, source, stamp, twist[:3], twist[3:], _known_covariance(spread))
            rows.clear()

    def _set_twist(  # noqa: PLR0917
        self, of: str, relative_to: str, source: str, stamp: int, linear: Any, angular: Any, spread: Any
    ) -> None:
        try:
            self.world.set_twist(
                of=of,
                relative_to=relative_to,
                expressed_in=of,
                linear=linear,
                angular=angular,
                at=stamp,
                source=source,
                covariance=spread,
            )
        except ArmillaryError as error:
            self.report.leave_out(f"motions of '{of}' by '{source}': {str(error).rstrip('.')}")

    def _store_angular(self) -> None:
        """Store what gyroscopes measured: relative to the root of the tree, unless a mapping names another frame."""
        roots: dict[str, str] = {}
        for frame, in_frame, stamp, angular, spread, source in sorted(self._angular, key=lambda row: row[2]):
            if frame not in roots:
                roots[frame] = self._root_of(frame)
            above = in_frame or roots[frame]
            if not np.isfinite(angular).all() or above == frame:
                self.report.leave_out(f"motions of '{frame}', which are no numbers or relative to nothing")
                continue
            try:
                self.world.set_angular_velocity(
                    of=frame,
                    relative_to=above,
                    xyz=angular,
                    at=stamp,
                    source=source,
                    covariance=_known_covariance(spread),
                )
            except ArmillaryError as error:
                self.report.leave_out(f"how '{frame}' turns: {str(error).rstrip('.')}")

    def _root_of(self, frame: str) -> str:
        parents = self.world.tree().parents
        seen = {frame}
        while (above := parents.get(frame)) is not None:
            frame = above[0] if isinstance(above, tuple) else above
            if frame in seen:
                break
            seen.add(frame)
        return frame

    def _fix_static(self) -> None:
        for (child, source), told in self._static.items():
            pose = told["pose"]
            try:
                self.world.fix(
                    of=child,
                    in_frame=told["parent"],
                    transform=Transform.from_xyz_wxyz(xyz=pose[:3], wxyz=pose[3:]),
                    source=source,
                    recalibrate=True,
                )
            except ArmillaryError as error:
                self.report.leave_out(f"the fixed pose of '{child}': {str(error).rstrip('.')}")

    def _mount_robots(self) -> None:
        for text in list(self._robots)[-1:]:  # a later description replaces the one before it
            if not text.lstrip().startswith("<"):
                self.report.leave_out("a robot description that is no XML")
                continue
            try:
                from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

                model = ArticulationModel()
                model.load_urdf(text.lstrip())
                self.world.mount(model, prefix="", shapes="none", skip_missing=True)
            except MissingExtra as error:
                self.report.leave_out(f"the robot description: {str(error).rstrip('.')}")
            except (ArmillaryError, ValueError) as error:
                self.report.leave_out(f"the robot description: {str(error).splitlines()[0].rstrip('.')}")

    def _store_joints(self) -> None:
        known = set(self.world.joints())
        mounted = bool(self.world.mounts)
        for (names, source, has_velocities), rows in self._joint_rows.items():
            new = {name: "linear" for name in names if name and name not in known}
            if new and not mounted:
                try:
                    self.world.apply([AddJoints(new)])
                    known |= new.keys()
                except ArmillaryError as error:
                    self.report.leave_out(f"joints: {str(error).rstrip('.')}", len(rows))
                    continue
            columns = [i for i, name in enumerate(names) if name in known]
            self.report.leave_out(
                "values of joints that the robot does not have", (len(names) - len(columns)) * len(rows)
            )
            for first in range(0, len(rows) if columns else 0, _JOINT_ROWS):
                self._set_joints(names, columns, source, rows[first : first + _JOINT_ROWS], has_velocities)

    def _set_joints(
        self,
        names: tuple[str, ...],
        columns: list[int],
        source: str,
        rows: list[Any],
        has_velocities: bool,  # noqa: FBT001
    ) -> None:
        positions = np.array([row[1] for row in rows])[:, columns]
        velocities = np.array([row[2] for row in rows])[:, columns] if has_velocities else None
        keep = np.isfinite(positions).all(axis=1)
        if velocities is not None:
            keep &= np.isfinite(velocities).all(axis=1)
        self.report.leave_out("values of joints that are no numbers", int((~keep).sum()))
        if not keep.any():
            return
        try:
            self.world.set_joint_series(
                [names[i] for i in columns],
                positions=positions[keep],
                at=np.array([row[0] for row in rows], dtype=np.int64)[keep],
                velocities=None if velocities is None else velocities[keep],
                source=source,
            )
        except ArmillaryError as error:
            self.report.leave_out(f"joints: {str(error).splitlines()[0].rstrip('.')}", len(rows))

    def _prefer(self) -> None:
        """Let one source place each frame: what the robot's own tree said, then what came first by name."""
        placing: dict[str, set[str]] = {}
        for of, _, source, kind, *_ in self.world.store.relation_rows():
            if kind != "twist":
                placing.setdefault(of, set()).add(source)
        for of, sources in placing.items():
            if len(sources) > 1:
                chosen = "tf" if "tf" in sources else min(sources)
                try:
                    self.world.prefer(of=of, source=chosen)
                    self.report.preferred[of] = chosen
                except ArmillaryError:
                    continue


def _turned(covariance: NDArray[float64], pose: NDArray[float64]) -> NDArray[float64]:
    """Return ROS's covariance, along the axes of the parent, along those of the frame that moves; NaN where unknown."""
    known = _known_covariance(covariance)
    if known is None:
        return np.full((6, 6), np.nan)
    w, x, y, z = pose[3:] / max(float(np.linalg.norm(pose[3:])), 1e-12)
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    both = np.kron(np.eye(2), turn)
    found: NDArray[float64] = both.T @ known @ both
    return 0.5 * (found + found.T)


def _known_covariance(covariance: Any) -> Any:
    """Return a covariance of ROS; None where it is not known: all zeros, -1 in the first place, or none."""
    if covariance is None or not np.isfinite(covariance).all() or not covariance.any() or covariance[0, 0] < 0.0:
        return None
    even = 0.5 * (covariance + covariance.T)
    smallest, largest = np.linalg.eigvalsh(even)[[0, -1]]
    return None if smallest < _NOT_PSD * max(1.0, float(largest)) else even


def _from_json(data: bytes, *, is_one: bool) -> bytes:
    """Return Foxglove's transforms in JSON as the same in protobuf."""
    from armillary._core import write_transforms  # noqa: PLC0415

    try:
        document = json.loads(data)
        transforms = [document] if is_one else document["transforms"]
        rows = []
        for one in transforms:
            time, move, turn = one["timestamp"], one["translation"], one["rotation"]
            stamp = int(time["sec"]) * 1_000_000_000 + int(time.get("nsec", 0))
            pose = [float(move[axis]) for axis in "xyz"] + [float(turn[axis]) for axis in "wxyz"]
            rows.append((str(one["parent_frame_id"]), str(one["child_frame_id"]), stamp, pose))
        return write_transforms(rows, "foxglove")
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, AttributeError, RuntimeError):
        raise InvalidMessage("it holds no transforms") from None
