"""Why a lookup failed in the field, and a run that is processed again: both from logs, long after the robot stopped.

The first log is one of ROS. Odometry comes 5 ms after its stamp; the localization, which corrects it, 80 ms after. A
program looked up the camera for an image of 12:03:07 at once, and failed. The log alone tells why.

The second one is a recording of a world. It is played again, and a new localization writes beside the old data, as if
it had been on the robot.
"""

import tempfile
from pathlib import Path

import armillary
from armillary import Transform, World, seconds
from armillary.ros import LogWriter

MS = 1_000_000
NOON = seconds(1_700_049_600)  # 2023-11-15 12:00:00 UTC
IMAGE = NOON + seconds(3 * 60 + 7)


def along(x):
    return Transform.from_translation((x, 0.0, 0.0))


def write_log(path):
    """Ten seconds around the failure, as a robot would have logged them."""
    messages = []
    for i in range(500):
        stamp = IMAGE - seconds(5) + i * 20 * MS
        messages.append((stamp + 5 * MS, ("odom", "base", stamp, along(0.01 * i))))
        messages.append((stamp + 80 * MS, ("map", "odom", stamp, along(0.5))))
    with LogWriter(path) as log:
        log.write([("base", "camera", IMAGE, along(0.2))], at=IMAGE - seconds(5), fixed=True)
        for came, transform in sorted(messages, key=lambda message: message[0]):
            log.write([transform], at=came)


def record_run(path):
    """Odometry that slips: it says 1 m for every 0.9 m; a marker at 9 m is seen now and then."""
    now = [seconds(0)]
    with World("robot", clock=lambda: now[0]) as world, world.record(path, flush_s=60.0) as recording:
        for i in range(101):
            now[0] = seconds(0.1 * i)
            world.set_pose(of="base", in_frame="odom", transform=along(0.1 * i), at=now[0], source="wheels")
            if i % 20 == 0:
                world.set_pose(
                    of="marker", in_frame="base", transform=along(9.0 - 0.09 * i), at=now[0], source="camera"
                )
            recording.flush()


def process_again(path):
    """A new localization: it knows where the marker is, and corrects the odometry by what the camera saw."""
    with armillary.replay(path, into=World(), speed=0.0) as replay:
        world, seen = replay.world, None
        while not replay.is_over:
            replay.step(0.1)
            if "marker" not in world.frames():
                continue
            pose = world.pose(of="odom", in_frame="marker")
            if pose.stamp != seen:
                seen = pose.stamp
                map_T_odom = along(9.0) @ pose.transform
                world.set_pose(of="odom", in_frame="map", transform=map_T_odom, at=seen, source="slam")
        return world


def main():
    with tempfile.TemporaryDirectory() as folder:
        log, run = Path(folder) / "field.mcap", Path(folder) / "run.mcap"
        write_log(log)
        report = World.explain_lookup(log, of="camera", in_frame="map", at=IMAGE)
        print(report.reason)
        print(report.hint)
        for link in report.links:
            print(f"  {link.of} in {link.in_frame}: samples come {1000 * link.delay_s:.0f} ms after their stamp")

        record_run(run)
        world = process_again(run)
        for at in (seconds(4.0), seconds(8.0)):
            odometry = world.pose(of="base", in_frame="odom", at=at).transform.translation[0]
            corrected = world.pose(of="base", in_frame="map", at=at).transform.translation[0]
            print(f"at {at / 1e9:.0f} s: {odometry:.2f} m by the wheels, {corrected:.2f} m by the new localization")


if __name__ == "__main__":
    main()
