"""Recording a world while it changes: its structure and all samples, into MCAP files that survive a crash."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary._core import Transform
from armillary.errors import ArmillaryError, InvalidArgument, RecordingFailed
from armillary.forks import new_lock
from armillary.formats.logs.mcap_writing import McapWriter
from armillary.formats.logs.protobuf import FOXGLOVE_TRANSFORMS
from armillary.formats.whole_files import as_file_path
from armillary.record._messages import (
    DESCRIPTION,
    SAMPLES_TYPE,
    STRUCTURE_TYPE,
    pack_header,
    samples_message,
)
from armillary.record._saving import settings_of
from armillary.wire.channels import Channel
from armillary.wire.history import history_batches
from armillary.wire.structure import all_node_samples, from_tap, pack_structure, vector_entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.store import Store

__all__ = ["FORMAT", "METADATA", "STRUCTURE_TOPIC", "Recording", "RecordingOptions"]

FORMAT, METADATA = "1", "armillary.recording"
STRUCTURE_TOPIC, SAMPLES_TOPIC, TRANSFORMS_TOPIC = "/armillary/structure", "/armillary/samples", "/tf"
_PERIOD_S, _CHUNK_BYTES = 0.1, 1 << 20
_LEAST_PERIOD_S = 0.01
_GIVEN_NOW = (2**62, 0)
"""The base of samples that nobody has taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """How a world is recorded; see `World.record`."""

    transforms: bool = True
    compression: str = ""
    flush_s: float = 0.5
    max_bytes: int | None = None
    max_s: float | None = None
    max_queue_bytes: int = 64_000_000
    overwrite: bool = False

    def __post_init__(self) -> None:
        limits = {"max_bytes": self.max_bytes, "max_s": self.max_s}
        given = {name: value for name, value in limits.items() if value is not None}
        for name, value in {"flush_s": self.flush_s, "max_queue_bytes": self.max_queue_bytes, **given}.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0.0 < value < float("inf"):
                raise InvalidArgument(f"{name} must be more than 0, got {value!r}.", value)


class Recording:
    """A recording that goes on until it is closed; `World.record` makes it.

    A thread takes out what the world stores and writes it. What does not fit into its queue is dropped and counted.

    Attributes:
        paths: The files, the newest last.
        samples: How many samples were written.
        changes: How many change records were written.
        error: Why it ended before it was closed; None otherwise.
    """

    def __init__(self, store: Store, path: str | os.PathLike[str], options: RecordingOptions) -> None:
        self.paths: tuple[Path, ...] = ()
        self.samples, self.changes = 0, 0
        self.error: RecordingFailed | None = None
        self._store, self._first, self._options = store, as_file_path(path), options
        self._id, self._lock, self._ended = secrets.token_hex(8), new_lock(), threading.Event()
        self._earlier_bytes, self._since = 0, store.now()
        self._until = self._since
        self._channels: dict[tuple[str, int, int], int] = {}
        self._entries: list[list[Any]] = []
        self._last_rows: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}
        self._begin_file()
        self._record_tap = store.tap_records(with_others=True)
        self._sample_tap = store.tap_samples(max_bytes=options.max_queue_bytes, with_others=True)
        try:
            self._write_beginning()
            self._writer.flush()
        except BaseException:
            self._close_taps()
            self._writer.abandon()
            raise
        self._thread = threading.Thread(target=self._run, name="armillary-record", daemon=True)
        self._thread.start()
        atexit.register(_close_at_exit, weakref.ref(self))
        _recordings.add(self)

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else "open"
        return f"Recording('{self._first}', {state}, {self.samples} samples, {self.size} bytes)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    @property
    def dropped(self) -> int:
        """How many samples were dropped because they came faster than they could be written."""
        return self._sample_tap.dropped

    @property
    def size(self) -> int:
        """How many bytes have been written, to all files together."""
        return self._earlier_bytes + self._writer.size

    def flush(self) -> None:
        """Write all that the world holds by now: from here on no crash loses it.

        Raises:
            RecordingFailed: The file cannot be written.
        """
        with self._lock:
            if not self.is_closed:
                self._guarded(self._flush_now)
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Write what is left, and end; safe to call twice.

        Raises:
            RecordingFailed: The recording ended before, because a file could not be written.
        """
        if not self.is_closed:
            with self._lock:
                if self.error is None:
                    self._guarded(self._finish)
            self._ended.set()
            if self._thread is not threading.current_thread():
                self._thread.join(timeout=5.0)
        self._close_taps()
        if self.error is not None:
            raise self.error

    # -- The thread

    def _run(self) -> None:
        flushed_s = time.monotonic()
        period_s = max(_LEAST_PERIOD_S, min(_PERIOD_S, self._options.flush_s))
        while not self._ended.wait(period_s):
            with self._lock:
                if self.is_closed:
                    return
                is_due = time.monotonic() - flushed_s >= self._options.flush_s
                if is_due:
                    flushed_s = time.monotonic()
                self._guarded(self._flush_now if is_due else self._collect)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do what writes files: an error ends the recording, and is told by `close` and `World.on_error`."""
        try:
            work()
        except (OSError, ArmillaryError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.error = RecordingFailed(str(self._writer.path), reason)
            self._ended.set()
            self._close_taps()
            self._writer.abandon()
            self._store.dispatcher.report(self.error)

    def _flush_now(self) -> None:
        self._collect()
        self._writer.flush()
        self._rotate_if_full()

    def _finish(self) -> None:
        self._collect()
        self._writer.close()

    def _close_taps(self) -> None:
        self._record_tap.close()
        self._sample_tap.close()

    def leave_in_child(self) -> None:
        """End it in a child: the file is that of the parent."""
        self._ended.set()
        self._close_taps()

    # -- Files

    def _begin_file(self) -> None:
        options, part = self._options, len(self.paths)
        path = self._first if part == 0 else self._first.with_stem(f"{self._first.stem}_{part}")
        self._writer = McapWriter(path, compression=options.compression, overwrite=options.overwrite)
        self.paths = (*self.paths, path)
        self._began_s = time.monotonic()
        writer = self._writer
        described = [writer.schema(name, "protobuf", DESCRIPTION) for name in (STRUCTURE_TYPE, SAMPLES_TYPE)]
        foxglove = writer.schema("foxglove.FrameTransforms", "protobuf", FOXGLOVE_TRANSFORMS)
        self._structure = writer.channel(STRUCTURE_TOPIC, described[0], "protobuf")
        self._samples = writer.channel(SAMPLES_TOPIC, described[1], "protobuf")
        self._transforms = writer.channel(TRANSFORMS_TOPIC, foxglove, "protobuf")
        settings = json.dumps(settings_of(self._store), ensure_ascii=False)
        told = {"version": FORMAT, "recording": self._id, "part": str(part), "settings": settings}
        writer.add_metadata(METADATA, told)

    def _rotate_if_full(self) -> None:
        options = self._options
        is_full = options.max_bytes is not None and self._writer.size >= options.max_bytes
        is_long = options.max_s is not None and time.monotonic() - self._began_s >= options.max_s
        if not (is_full or is_long):
            return
        self._earlier_bytes += self._writer.size
        self._writer.close()
        self._begin_file()
        self._write_structure(self._store.changes(), all_node_samples(self._store), self._entries, is_whole=True)
        base = self._store.sample_base()
        for number, (stamps, rows) in self._last_rows.items():
            self._add(self._samples, *samples_message(number, base, self._since, stamps, rows))
        self._write_other_transforms(everything=True)
        self._writer.flush()

    def _write_beginning(self) -> None:
        """Write all that is there already. What comes meanwhile is in the taps as well, and does no harm twice."""
        store = self._store
        self._write_structure(store.changes(), all_node_samples(store), [], is_whole=True)
        numbers = dict[Channel, int]()
        for channel, stamps, rows in history_batches(store, None):
            if channel not in numbers:
                key = ("history", len(numbers), rows.shape[1])
                numbers[channel] = self._number_of_channel(channel, key)
                self._write_structure([], [], self._entries[-1:], is_whole=False)
            self._write_samples(numbers[channel], channel, stamps, rows, _GIVEN_NOW)
        self._write_other_transforms(everything=True)

    # -- Messages

    def _collect(self) -> None:
        """Take out what came, and put it into the chunk: changes first, since samples may need them."""
        batches = self._sample_tap.drain()
        records, node_samples, has_gap = self._record_tap.drain()
        if has_gap:
            records = self._store.changes()
        until = self._store.now()
        self._since = min(self._since, until)  # the clock may be set back
        numbers, known = [], len(self._entries)
        for batch in batches:
            key = (batch.kind, batch.number, batch.rows.shape[1])
            numbers.append(self._channels.get(key) or self._number_of_channel(Channel.of_batch(batch), key))
        self._until = until
        if records or node_samples or len(self._entries) > known:
            self._write_structure(records, from_tap(node_samples), self._entries[known:], is_whole=has_gap)
        for number, batch in zip(numbers, batches, strict=True):
            self._write_samples(number, batch, batch.stamps, batch.rows, batch.base)
        if records or node_samples or any(batch.kind == "joints" for batch in batches):
            self._write_other_transforms(everything=bool(records))
        self._since = until
        if len(self._writer.chunk) >= _CHUNK_BYTES:
            self._writer.flush()

    def _number_of_channel(self, channel: Channel, key: tuple[str, int, int]) -> int:
        number = self._channels[key] = len(self._entries) + 1
        self._entries.append([number, channel.entry()])
        return number

    def _write_structure(
        self, records: Sequence[Any], node_samples: Any, channels: Sequence[Any], *, is_whole: bool
    ) -> None:
        header: dict[str, Any] = {"channels": list(channels)}
        if is_whole:
            held, dropped = self._store.version_vector(), self._store.dropped()
            header |= {"held": vector_entry(held), "dropped": vector_entry(dropped)}
        self._add(self._structure, pack_header(pack_structure(header, records, node_samples)))
        self.changes += len(records)

    def _write_samples(
        self, number: int, about: Any, stamps: NDArray[Any], rows: NDArray[Any], base: Sequence[int]
    ) -> None:
        self._add(self._samples, *samples_message(number, base, self._since, stamps, rows))
        self.samples += len(stamps)
        if self._options.max_bytes is not None or self._options.max_s is not None:
            newest = int(np.argmax(stamps))
            self._last_rows[number] = (stamps[newest : newest + 1], rows[newest : newest + 1])
        if about.kind == "pose" and self._options.transforms:
            chunk = self._writer.chunk
            chunk.add_transforms(
                self._transforms, max(0, self._until), about.in_frame, about.of, stamps, rows, "foxglove"
            )

    def _write_other_transforms(self, *, everything: bool) -> None:
        """Write transforms that no sample tells, for programs that know no joints: fixed ones, and driven ones."""
        if not self._options.transforms:
            return
        store, kinds = self._store, {"fixed", "driven"} if everything else {"driven"}
        for of, in_frame, _, kind, *_ in store.relation_rows():
            if kind not in kinds:
                continue
            try:
                pose = store.pose(of=of, in_frame=in_frame)
            except ArmillaryError:
                continue
            at = self._until if pose.stamp is None else pose.stamp
            row = np.roll(_xyz_wxyz(pose.transform), 4)[None, :]
            stamps = np.array([at], dtype=np.int64)
            self._writer.chunk.add_transforms(
                self._transforms, max(0, self._until), in_frame, of, stamps, row, "foxglove"
            )

    def _add(self, channel: int, *content: Any) -> None:
        self._writer.chunk.add(channel, max(0, self._until), *content)


def _xyz_wxyz(transform: Transform) -> NDArray[Any]:
    return np.asarray(transform.xyz_wxyz)


_recordings: weakref.WeakSet[Recording] = weakref.WeakSet()


def _leave_in_child() -> None:
    for recording in _recordings:
        recording.leave_in_child()


os.register_at_fork(after_in_child=_leave_in_child)


def _close_at_exit(recording: weakref.ref[Recording]) -> None:
    alive = recording()
    if alive is not None and not alive.is_closed:
        alive.close()
