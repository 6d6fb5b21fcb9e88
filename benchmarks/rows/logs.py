"""Logs: reading tf from a bag, recording and replaying, and what recording costs while a world is driven.

The bag has 20 transforms a message, 200 MB of them (20 MB in a quick run). Its peer is rosbags' decoding into tf2 over
the first 100 000 transforms; of recordings, rosbags' writing and reading of transforms as MCAP. Of each the CPU time of
one transform.
"""

import inspect
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rosbags.rosbag1 import Writer as BagWriter
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import armillary
from armillary import World
from armillary._core import write_transforms
from context import Bench
from peers import SYSTEM_PYTHON
from table import Row

HERE = Path(__file__).resolve().parent.parent
EDGES, BEGIN, PERIOD_NS, PEER_ROWS = 20, 1_700_000_000_000_000_000, 1_000_000, 100_000
TF = "tf2_msgs/msg/TFMessage"


def rows(bench: Bench) -> Iterator[Row]:
    messages = 10_000 if bench.quick else 100_000
    with tempfile.TemporaryDirectory(prefix="armillary_logs_") as name:
        folder = Path(name)
        bag = _bag(folder / "tf.bag", messages)
        ours, read = _cpu_of(lambda: World.from_log(bag))
        assert read.log.topics["/tf"].samples == messages * EDGES
        size = bag.stat().st_size / 1e6
        read.close()
        peer = _peer(bag)
        yield Row.faster(
            f"read {size:.0f} MB of tf, a transform", ours / (messages * EDGES), peer, "rosbags into tf2", asked=20
        )
        yield from _recordings(folder, 2000 if bench.quick else 10_000)
        yield from _share_of_a_core(folder, 2.0 if bench.quick else 10.0)


def _bag(path: Path, messages: int) -> Path:
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TF))
    with BagWriter(path) as writer:
        tf = writer.add_connection("/tf", TF, typestore=store)
        for i in range(messages):
            at = BEGIN + i * PERIOD_NS
            pose = [0.001 * i, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
            data = write_transforms(
                [(f"robot/link_{k}", f"robot/link_{k + 1}", at, pose) for k in range(EDGES)], "ros1"
            )
            writer.write(tf, at, data)
    return path


def _cpu_of(act) -> tuple[float, object]:
    """CPU time of all threads [ns], and what was returned."""
    began = time.process_time_ns()
    found = act()
    return float(time.process_time_ns() - began), found


def _peer(bag: Path) -> float | None:
    script, where = HERE / "peers/rosbags_bench.py", Path(inspect.getfile(BagWriter)).parents[2]
    command = [SYSTEM_PYTHON, str(script), str(bag), str(where), str(PEER_ROWS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout)) if done.returncode == 0 else None


def _recordings(folder: Path, messages: int) -> Iterator[Row]:
    """As many transforms through our recorder and through rosbags: the cost of writing, and of reading again."""
    stamps = BEGIN + np.arange(messages) * PERIOD_NS
    poses = np.tile([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0], (messages, 1))

    def drive(world: World) -> None:
        for first in range(0, messages, 100):
            part = slice(first, first + 100)
            for k in range(EDGES):
                world.set_poses(of=f"link_{k + 1}", in_frame=f"link_{k}", transforms=poses[part], at=stamps[part])

    def record() -> None:
        world = World(history=None)
        with world.record(folder / "run.mcap", overwrite=True, max_queue_bytes=1 << 30) as recording:
            drive(world)
        assert recording.samples == messages * EDGES
        assert recording.dropped == 0

    alone, _ = _cpu_of(lambda: drive(World(history=None)))
    both, _ = _cpu_of(record)
    replayed, replay = _cpu_of(lambda: armillary.replay(folder / "run.mcap", World(history=None), speed=float("inf")))
    assert replay.samples == messages * EDGES
    few = max(1, PEER_ROWS // EDGES // 5)
    store = get_typestore(Stores.ROS2_HUMBLE)
    message = store.deserialize_cdr(
        write_transforms(
            [(f"link_{k}", f"link_{k + 1}", BEGIN, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]) for k in range(EDGES)], "cdr"
        ),
        TF,
    )

    def write() -> None:
        with Writer(folder / "rosbags", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            tf = writer.add_connection("/tf", TF, typestore=store)
            for i in range(few):
                writer.write(tf, BEGIN + i, store.serialize_cdr(message, TF))

    def read() -> None:
        with Reader(folder / "rosbags") as reader:
            for _, _, data in reader.messages():
                store.deserialize_cdr(data, TF)

    written, _ = _cpu_of(write)
    reading, _ = _cpu_of(read)
    count, peer_count = messages * EDGES, few * EDGES
    yield Row.faster("record, a transform", (both - alone) / count, written / peer_count, "rosbags writes", asked=10)
    yield Row.faster("replay, a transform", replayed / count, reading / peer_count, "rosbags reads", asked=10)


def _share_of_a_core(folder: Path, span_s: float) -> Iterator[Row]:
    """A process that drives sixty frames a thousand times a second, with and without a recording."""
    files = ("-", str(folder / "share.mcap"))
    alone, recorded = (
        json.loads(
            subprocess.run(
                [sys.executable, str(HERE / "recorder.py"), str(span_s), file],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for file in files
    )
    assert recorded["dropped"] == 0
    rate = f"{recorded['hz'] / 1000:.0f} 000 samples/s"
    cost = 100 * (recorded["cpu"] / recorded["hz"] - alone["cpu"] / alone["hz"]) * 60_000
    yield Row.at_most(f"CPU: recording 60 000 samples/s (at {rate})", cost, "%", asked=5.0)
