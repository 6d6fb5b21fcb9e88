"""One process of the rows on logs: a world with sixty frames, each moved a thousand times a second, recorded or not."""

import json
import sys
import time

from armillary import Transform, World

FRAMES, HZ = 60, 1000


def main(span_s: float, file: str) -> dict:
    world = World()
    names = [f"frame_{i}" for i in range(FRAMES)]
    still = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
    recording = world.record(file) if file != "-" else None
    began_s, cpu_s, count = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began_s < span_s:
        at = time.monotonic_ns()
        for name in names:
            world.set_pose(of=name, in_frame="map", transform=still, at=at)
        count += 1
        time.sleep(max(0.0, began_s + count / HZ - time.monotonic()))
    spent_s, passed_s = time.process_time() - cpu_s, time.monotonic() - began_s
    dropped = 0
    if recording is not None:
        recording.close()
        dropped = recording.dropped
    return {"cpu": spent_s / passed_s, "hz": FRAMES * count / passed_s, "dropped": dropped}


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]), sys.argv[2])), flush=True)
