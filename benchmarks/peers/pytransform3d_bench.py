"""pytransform3d (PyPI, numpy), measured from Python. Protocol: peers/__init__.py.

Its checks are switched off, the favourable case.
"""

import gc
import json
import sys
from functools import lru_cache
from pathlib import Path
from time import process_time_ns

import numpy as np
from pytransform3d.transform_manager import NumpyTimeseriesTransform, TemporalTransformManager

FOLDER = Path(sys.argv[1])
EDGES, SAMPLES = 10, 10_000  # the constants of scenario.py


@lru_cache
def chain_manager(name):
    manager = TemporalTransformManager(strict_check=False, check=False)
    raw = np.fromfile(FOLDER / f"{name}.bin", dtype=np.int64).reshape(EDGES, 8 * SAMPLES)
    for i, edge in enumerate(raw):
        rows = edge[SAMPLES:].view(np.float64).reshape(SAMPLES, 7)
        series = NumpyTimeseriesTransform(edge[:SAMPLES] * 1e-9, rows)
        manager.add_transform(f"f{i + 1}", f"f{i}", series)
    return manager


@lru_cache
def times():
    return np.fromfile(FOLDER / "times.bin", dtype=np.int64) * 1e-9


def lookup(name, edges, count, offset):
    """Per `get_transform_at_time`, one time a call."""
    call, of = chain_manager(name).get_transform_at_time, f"f{edges}"
    asked = times()[int(offset) : int(offset) + int(count)].tolist()
    started = process_time_ns()
    for at in asked:
        call(of, "f0", at)
    return {"ns": (process_time_ns() - started) / len(asked)}


def batch(name, edges, count):
    """Per lookup of one `get_transform_at_time` with an array of times."""
    manager, asked = chain_manager(name), times()[: int(count)]
    started = process_time_ns()
    manager.get_transform_at_time(f"f{edges}", "f0", asked)
    return {"ns": (process_time_ns() - started) / len(asked)}


COMMANDS = {each.__name__: each for each in (lookup, batch)}


def main():
    gc.disable()
    for line in sys.stdin:
        command, *words = line.split()
        print(json.dumps(COMMANDS[command](*words)), flush=True)


if __name__ == "__main__":
    main()
