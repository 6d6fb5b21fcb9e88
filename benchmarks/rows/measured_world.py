"""Fills one world and prints how many bytes a stored transform took. See memory.py."""

import ctypes
import gc
import json
import sys
from pathlib import Path

import numpy as np

from armillary import Transform, World, seconds

FRAMES, SAMPLES, PERIOD_NS = 60, 10_000, 1_000_000


class MallocState(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def used_bytes() -> dict[str, int]:
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = MallocState
    state = mallinfo2()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"resident": pages * 4096, "malloc": state.uordblks + state.hblkhd}


def bulk(world: World, stamps: np.ndarray, rows: np.ndarray) -> None:
    for i in range(FRAMES):
        world.set_poses(of=f"f{i}", in_frame="map", transforms=rows, at=stamps)


def stream(world: World, stamps: np.ndarray, rows: np.ndarray) -> None:
    """One by one and frame by frame, as drivers do, for twice the history."""
    names = [f"f{i}" for i in range(FRAMES)]
    for cycle in range(2):
        for index in range(SAMPLES):
            value = Transform.from_xyz_wxyz(xyz=rows[index, :3], wxyz=rows[index, 3:])
            at = int(stamps[index]) + cycle * SAMPLES * PERIOD_NS
            for name in names:
                world.set_pose(of=name, in_frame="map", transform=value, at=at)


def main() -> None:
    stamps = seconds(100) + PERIOD_NS * np.arange(SAMPLES)
    angle = 0.5 * np.arange(SAMPLES) / 1000
    flat = np.zeros(SAMPLES)
    rows = np.stack([np.sin(angle), angle, flat, np.cos(angle), flat, flat, np.sin(angle)], axis=1)
    fill = {"bulk": bulk, "stream": stream}[sys.argv[1]]
    fill(World(), stamps[:10], rows[:10]) if fill is bulk else None  # touch the code first
    world = World(history=seconds(10))
    before = used_bytes()
    fill(world, stamps, rows)
    after = used_bytes()
    stored = sum(each.samples for each in world.relations())
    print(json.dumps({key: (after[key] - before[key]) / stored for key in after}))


if __name__ == "__main__":
    main()
