"""Replaying a recording into a world: its changes and samples come again, and its clock goes with them."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary.errors import ArmillaryError, InvalidArgument, InvalidLog, InvalidMessage
from armillary.formats.fields import Field
from armillary.formats.logs.mcap import McapFile
from armillary.formats.whole_files import as_file_path
from armillary.record._messages import SAMPLES_TYPE, STRUCTURE_TYPE, RecordedSamples, samples_in, unpack_header
from armillary.record._recording import FORMAT, METADATA
from armillary.record._sections import settings_in
from armillary.record._timeline import Timeline
from armillary.stamps import as_instant
from armillary.wire.channels import Channel
from armillary.wire.messages import SampleMessage
from armillary.wire.structure import NodeSamples, node_samples_in, records_in, store_node_samples, vector_in

if TYPE_CHECKING:
    from armillary.stamps import StampLike
    from armillary.store import Store

__all__ = ["Replay", "is_recording", "recorded_settings"]

_MOST_WAITING = 10_000
_LONGEST_WAIT_S = 0.1
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """One message of a recording: when it was written, and what it holds."""

    at: int
    is_structure: bool
    content: bytes


def _parts(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[McapFile]:
    """Open the files of a recording, those that follow the first of them included.

    Raises:
        InvalidLog: One of them is no recording of Armillary.
    """
    if not isinstance(path, str | PathLike):
        if not isinstance(path, Sequence) or not path:
            raise InvalidArgument(f"A recording is a file, or a list of its parts, got {path!r}.", path)
        return [_opened(as_file_path(part)) for part in path]
    first = as_file_path(path)
    files = [_opened(first)]
    told = files[0].metadata[METADATA]
    number = told.get("part", "0")
    stem = first.stem if number == "0" else first.stem.removesuffix(f"_{number}")
    part = int(number) + 1 if number.isdecimal() and len(number) < 9 else 1  # noqa: PLR2004
    while (following := first.with_stem(f"{stem}_{part}")).exists():
        file = _opened(following)
        if file.metadata[METADATA].get("recording") != told.get("recording"):
            break
        files.append(file)
        part += 1
    return files


def _opened(path: Path) -> McapFile:
    file = McapFile(path)
    for _ in file.blocks():
        break
    told = file.metadata.get(METADATA)
    if told is None:
        raise InvalidLog(str(path), "it is no recording of Armillary", "World.from_log reads the logs of others.")
    if told.get("version") != FORMAT:
        raise InvalidLog(str(path), f"it has version {told.get('version')!r}, and this release reads version {FORMAT}")
    return file


def is_recording(path: Path) -> bool:
    """Whether a file is a recording of Armillary."""
    try:
        _opened(path)
    except (ArmillaryError, OSError):
        return False
    return True


def recorded_settings(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> dict[str, Any]:
    """Return the arguments of the world that was recorded.

    Raises:
        InvalidLog: It is no recording, or has settings that no world has.
    """
    file = _parts(path)[0]
    try:
        values = json.loads(file.metadata[METADATA].get("settings", "{}"))
    except (ValueError, RecursionError):
        raise InvalidLog(str(file.path), "its settings are no JSON") from None

    def refused(_file: str, place: str, reason: str, *_hint: str) -> InvalidLog:
        return InvalidLog(str(file.path), f"settings{place}: {reason}")

    return settings_in(Field(values, str(file.path), refused))


class Replay:
    """A recording on its way into a world, whose clock it drives; `armillary.replay` makes it.

    A sample comes at its stamp, as far as that is between the two instants at which the recorder looked.
    Other modules may ask and write the world meanwhile.

    Attributes:
        world: The world that it goes into.
        paths: The files.
        samples: How many samples were given so far.
        changes: How many change records.
        refused: What could not be stored, by reason: how often.
        notes: What is wrong with the files.
    """

    def __init__(self, path: str | PathLike[str] | Sequence[str | PathLike[str]], world: Any, speed: float) -> None:
        self._files = _parts(path)
        self.world, self.paths = world, tuple(file.path for file in self._files)
        self.samples, self.changes = 0, 0
        self.refused: dict[str, int] = {}
        self.notes: list[str] = []
        self._store: Store = world.store
        self._entries = self._read()
        self._next = next(self._entries, None)
        self.first = 0 if self._next is None else self._next.at
        self._timeline: Timeline | None = Timeline(self.first, speed)
        self._lock, self._stop, self._changed = threading.RLock(), threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._forget_state()
        self._own_clock, self._store.clock = self._store.clock, self._timeline.now
        self._store.set_clock(self.first)

    def __repr__(self) -> str:
        return f"Replay('{self.paths[0]}', {'over' if self.is_over else f'at {self.now()}'}, {self.samples} samples)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- Public

    @property
    def is_over(self) -> bool:
        """Whether all of it was given."""
        return self._next is None and not self._due

    @property
    def progress(self) -> float:
        """How much of the files has been read, from 0 to 1."""
        whole = sum(file.size for file in self._files)
        return 1.0 if self.is_over or not whole else min(1.0, sum(file.place for file in self._files) / whole)

    @property
    def speed(self) -> float:
        """How many seconds of the recording go by in one; it can be set while it plays."""
        return self._clock().speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._clock().set_speed(speed)
        self._changed.set()

    def now(self) -> int:
        """Return the instant of the recording that it is [ns]."""
        return self._clock().now()

    def run(self) -> None:
        """Play until the end, or until `stop` is called by another thread."""
        self._stop.clear()
        self._play()

    def start(self) -> None:
        """Play in a thread of its own."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(target=self._play_guarded, name="armillary-replay", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop playing; `run`, `start`, `step` and `seek` go on from here."""
        self._stop.set()
        self._changed.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
        clock = self._clock()
        clock.go(to=clock.now())

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until what `start` began is over; whether it is."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self.is_over

    def step(self, seconds: float = 0.1) -> int:
        """Go on by so many seconds of the recording at once; return the instant that it is then [ns]."""
        return self.play_until(self.now() + round(seconds * _NS_PER_S))

    def play_until(self, at: StampLike) -> int:
        """Give all that came until an instant, at once; return the instant that it is then [ns]."""
        instant = as_instant(at)
        with self._lock:
            self._clock().go(to=max(instant, self.now()))
            self._give(until=self.now())
        return self.now()

    def instants(self) -> Iterator[int]:
        """Yield, while there is more, the instant of what comes next [ns]."""
        while self._next is not None:
            yield self._next.at
        if self._due:
            yield max(at for *_, at in self._due)

    def seek(self, at: StampLike) -> int:
        """Go to an instant: what came until then is there, and nothing that came later.

        Backwards the world's samples are taken out and given again from the beginning. Structure that came later stays:
        it says itself since when it holds.
        """
        instant = as_instant(at)
        with self._lock:
            if instant < self.now():
                self._store.clear()
                self._entries = self._read()
                self._next = next(self._entries, None)
                self._forget_state()
                self._clock().go(to=self.first)
            return self.play_until(instant)

    def close(self) -> None:
        """Stop; the world keeps what it has, and its own clock goes on from the instant of the recording."""
        if self._timeline is None:
            return
        self.stop()
        at = self._timeline.now()
        self._timeline = None
        self._store.clock = self._own_clock
        self._store.set_clock(at)

    # -- Playing

    def _clock(self) -> Timeline:
        if self._timeline is None:
            raise InvalidArgument("This replay is closed. Start another one: armillary.replay(path, into=world).")
        return self._timeline

    def _forget_state(self) -> None:
        self._channels: dict[int, Channel] = {}
        self._due: list[tuple[Channel, SampleMessage, int]] = []  # rows whose instant has not come
        self._unplaced: NodeSamples = []
        self._parked: list[tuple[int, SampleMessage]] = []

    def _play_guarded(self) -> None:
        try:
            self._play()
        except ArmillaryError as error:
            self._store.dispatcher.report(error)

    def _play(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                if self.is_over:
                    return
                clock = self._clock()
                if math.isinf(clock.speed) and self._next is not None:
                    clock.advance(to=self._next.at)
                elif math.isinf(clock.speed):
                    clock.advance(to=max((at for *_, at in self._due), default=0))
                self._give(until=clock.now())
                wait_s = clock.seconds_until(self._next_instant())
            self._changed.clear()
            if wait_s > 0.0:
                self._changed.wait(min(wait_s, _LONGEST_WAIT_S))

    def _next_instant(self) -> int:
        """When there is something to do again."""
        instants = [int(message.stamps.min()) for _, message, _ in self._due if len(message.stamps)]
        soonest = min(instants, default=2**62)
        return soonest if self._next is None else min(soonest, self._next_since)

    def _give(self, *, until: int) -> None:
        """Store what came until an instant."""
        due, self._due = self._due, []
        for channel, message, end in due:
            self._give_rows(channel, message, min(until, end), end)
        while self._next is not None and (self._next.at <= until or self._next_since <= until):
            entry, self._next = self._next, next(self._entries, None)
            self._give_entry(entry, until)

    @property
    def _next_since(self) -> int:
        """Since when the next message may have something to give."""
        entry = self._next
        if entry is None:
            return 2**62
        return entry.at if entry.is_structure else min(entry.at, self._since_of(entry))

    @staticmethod
    def _since_of(entry: _Entry) -> int:
        try:
            return samples_in(entry.content).since
        except InvalidMessage:
            return entry.at

    def _give_entry(self, entry: _Entry, until: int) -> None:
        try:
            if entry.is_structure:
                self._give_structure(entry.content, entry.at)
            else:
                self._give_samples(samples_in(entry.content), entry.at, until)
        except InvalidMessage as error:
            self._refuse(error.reason)

    def _give_structure(self, content: bytes, at: int) -> None:
        header, arrays = unpack_header(content)
        for pair in _listed(header.get("channels", [])):
            self._channels[pair[0]] = Channel.read(pair[1])
        records, node_samples = records_in(header, arrays), node_samples_in(header, arrays)
        store = self._store
        if records:
            store.as_others(partial(store.merge, records))
            self.changes += len(records)
            if any(record.type == "reset_time" for record in records):
                self._clock().go(to=at)  # from here on the recording is in another time
                store.set_clock(at)
        if "held" in header:
            store.note_held(vector_in(header.get("held")), vector_in(header.get("dropped")))
        self._unplaced = store_node_samples(store, [*self._unplaced, *node_samples])[-_MOST_WAITING:]
        parked, self._parked = self._parked, []
        for number, message in parked:
            self._store_rows(number, message)

    def _give_samples(self, recorded: RecordedSamples, at: int, until: int) -> None:
        message = recorded.samples
        channel = self._channels.get(message.channel)
        if channel is None:
            raise InvalidMessage("samples of a channel that was not announced")
        if at <= until:
            self._store_rows(message.channel, message)
            return
        came = np.clip(message.stamps, recorded.since, at)
        self._split(channel, message, came <= until, at)

    def _give_rows(self, channel: Channel, message: SampleMessage, until: int, end: int) -> None:
        self._split(
            channel, message, message.stamps <= until if until < end else np.ones(len(message.stamps), bool), end
        )

    def _split(self, channel: Channel, message: SampleMessage, has_come: Any, end: int) -> None:
        if has_come.any():
            self._store_rows(message.channel, _some(message, has_come))
        if not has_come.all():
            self._due.append((channel, _some(message, ~has_come), end))

    def _store_rows(self, number: int, message: SampleMessage) -> None:
        try:
            if self._channels[number].merge(self._store, message):
                self.samples += len(message.stamps)
                return
        except ArmillaryError as error:
            self._refuse(str(error))
            return
        self._parked.append((number, message))
        if len(self._parked) > _MOST_WAITING:
            self._parked.pop(0)
            self._refuse("samples whose structure did not come")

    def _refuse(self, reason: str) -> None:
        known = reason if reason in self.refused or len(self.refused) < 100 else "others"  # noqa: PLR2004
        self.refused[known] = self.refused.get(known, 0) + 1

    # -- Reading

    def _read(self) -> Iterator[_Entry]:
        """Yield the messages of all files; structure that a later part repeats does no harm."""
        for file in self._files:
            for block in file.blocks():
                for i in range(len(block)):
                    topic = file.topics.get(int(block.channels[i]))
                    kind = "" if topic is None else topic.type
                    if kind in {STRUCTURE_TYPE, SAMPLES_TYPE}:
                        yield _Entry(int(block.log_times[i]), kind == STRUCTURE_TYPE, block.message(i))
            self.notes += [f"{file.path.name}: {note}" for note in file.notes]


def _some(message: SampleMessage, rows: Any) -> SampleMessage:
    return SampleMessage(message.channel, message.sequence, message.base, message.stamps[rows], message.rows[rows])


def _listed(entries: Any) -> list[tuple[int, Any]]:
    is_list = isinstance(entries, list) and all(isinstance(one, list) and len(one) == 2 for one in entries)  # noqa: PLR2004
    if not is_list or not all(isinstance(one[0], int) and 0 < one[0] < 2**31 for one in entries):
        raise InvalidMessage("its channels are not listed")
    return [(one[0], one[1]) for one in entries]
