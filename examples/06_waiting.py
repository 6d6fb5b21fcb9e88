"""Waiting: data that comes before its transform.

A laser scan arrives. The odometry for that very instant arrives 20 ms later. Four ways to wait, none of which polls:

* `wait_for_pose` blocks this thread;
* `on_pose` calls back, once;
* `pose_when_ready` is awaited, for asyncio;
* `stamped_queue` holds the data itself until its transforms exist. It is tf2's message filter.

A wait that can never succeed ends with its reason, at once, and not with its time-out.
"""

import asyncio
import threading
import time

from armillary import Transform, World, errors, seconds


def drive(world: World, *, first: int, last: int) -> threading.Thread:
    """Start a driver that reports poses at 50 Hz, from a thread of its own."""

    def report() -> None:
        for step in range(first, last + 1):
            map_T_base = Transform.from_xyz_rpy(xyz=(0.01 * step, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
            world.set_pose(of="base", in_frame="map", transform=map_T_base, at=seconds(step / 50))
            time.sleep(0.002)

    thread = threading.Thread(target=report)
    thread.start()
    return thread


with World() as world:
    print("wait_for_pose, before these frames exist:")
    driver = drive(world, first=0, last=50)
    pose = world.wait_for_pose(of="base", in_frame="map", at=seconds(0.505), timeout_s=5.0)
    print(f"  {pose}")
    driver.join()

    print("on_pose:")
    called = threading.Event()
    answers = []
    world.on_pose(lambda pose: (answers.append(pose), called.set()), of="base", in_frame="map", at=seconds(1.5))
    driver = drive(world, first=51, last=100)
    called.wait(timeout=5.0)
    print(f"  {answers[0]}")
    driver.join()

    print("pose_when_ready, two questions at once:")

    async def both() -> None:
        late, later = await asyncio.gather(
            world.pose_when_ready(of="base", in_frame="map", at=seconds(2.11)),
            world.pose_when_ready(of="base", in_frame="map", at=seconds(2.37)),
        )
        print(f"  {late}\n  {later}")

    driver = drive(world, first=101, last=150)
    asyncio.run(both())
    driver.join()

    print("stamped_queue: five scans, the last of which has no transform in time:")
    results = []
    queue = world.stamped_queue(
        lambda scan, poses: results.append(f"{scan}: x = {poses['map'].transform.translation[0]:.2f} m"),
        in_frames=["map"],
        size=10,
        timeout_s=0.5,
        on_drop=lambda scan, reason: results.append(f"{scan}: dropped, {type(reason).__name__}"),
    )
    for number, t_s in enumerate((2.9, 3.1, 3.3, 3.5, 99.0), start=1):
        queue.put(f"scan {number}", frame="base", at=seconds(t_s))
    driver = drive(world, first=151, last=200)
    driver.join()
    while len(queue) > 0:
        time.sleep(0.01)  # for this script only: it wants all results in one place before it prints
    print("\n".join(f"  {line}" for line in results))

    print("Waiting for what cannot come any more:")
    try:
        world.wait_for_pose(of="base", in_frame="map", at=seconds(-60.0), timeout_s=30.0)
    except errors.BeforeHistory as error:
        print(f"  at once, not after 30 s: {error}")
