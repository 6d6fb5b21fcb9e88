"""schiebung (PyPI, Rust), measured from Python. Protocol: peers/__init__.py.

It has no batch read, no bounded history but its fixed 120 s, and answers late inserts
wrongly without a word, so only lookups and in-order inserts are compared.
"""

import gc
import json
import sys
from functools import lru_cache
from pathlib import Path
from time import process_time_ns

import numpy as np
from schiebung import BufferTree, StampedIsometry, TransformType

FOLDER = Path(sys.argv[1])
# The constants of scenario.py.
EDGES, SAMPLES, PERIOD_NS, START_NS = 10, 10_000, 1_000_000, 100_000_000_000


@lru_cache
def chain(name):
    raw = np.fromfile(FOLDER / f"{name}.bin", dtype=np.int64).reshape(EDGES, 8 * SAMPLES)
    return raw[:, :SAMPLES], raw[:, SAMPLES:].view(np.float64).reshape(EDGES, SAMPLES, 7)


@lru_cache
def times():
    return np.fromfile(FOLDER / "times.bin", dtype=np.int64).tolist()


def isometry(stamp, row):
    x, y, z, qw, qx, qy, qz = row
    return StampedIsometry([x, y, z], [qx, qy, qz, qw], stamp)


@lru_cache
def chain_buffer(name):
    buffer = BufferTree()
    stamps, rows = chain(name)
    for i in range(EDGES):
        for stamp, row in zip(stamps[i].tolist(), rows[i].tolist(), strict=True):
            buffer.update(f"f{i}", f"f{i + 1}", isometry(stamp, row), TransformType.Dynamic)
    return buffer


def lookup(name, edges, count, offset):
    """Per `lookup_transform`, random times."""
    call, of = chain_buffer(name).lookup_transform, f"f{edges}"
    asked = times()[int(offset) : int(offset) + int(count)]
    started = process_time_ns()
    for at in asked:
        call("f0", of, at)
    return {"ns": (process_time_ns() - started) / len(asked)}


class Stream:
    """A relation `w` in `f0` that goes on at 1 kHz."""

    def __init__(self):
        self.buffer, self.next = BufferTree(), 0
        self.insert(SAMPLES)

    def insert(self, count):
        rows = chain("jittered")[1][0].tolist()
        first, self.next = self.next, self.next + count
        ready = [isometry(START_NS + i * PERIOD_NS, rows[i % SAMPLES]) for i in range(first, self.next)]
        call, kind = self.buffer.update, TransformType.Dynamic
        started = process_time_ns()
        for each in ready:
            call("f0", "w", each, kind)
        return (process_time_ns() - started) / count


@lru_cache
def stream():
    return Stream()


def insert(count):
    """Per `update` of a ready value, in order."""
    return {"ns": stream().insert(int(count))}


def answer(name, edges, count):
    """The first answers as xyz_wxyz."""
    found = [chain_buffer(name).lookup_transform("f0", f"f{edges}", at) for at in times()[: int(count)]]
    return {"rows": [[*each.translation(), each.rotation()[3], *each.rotation()[:3]] for each in found]}


COMMANDS = {each.__name__: each for each in (lookup, insert, answer)}


def main():
    gc.disable()
    for line in sys.stdin:
        command, *words = line.split()
        print(json.dumps(COMMANDS[command](*words)), flush=True)


if __name__ == "__main__":
    main()
