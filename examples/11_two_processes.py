"""Two processes, one world: a robot that drives, and a planner that asks where its camera is.

Run without arguments, this script starts the robot as a process of its own and is the planner. Both share
the name `example`: there is no server, and neither has to be first.
"""

import subprocess
import sys
import time

from armillary import Transform, World

NAME = "example"


def robot() -> None:
    """Drive at 0.5 m/s for five seconds."""
    with World("robot") as world:
        world.share(NAME)
        world.fix(of="camera", in_frame="base", transform=Transform.from_translation((0.2, 0.0, 0.5)))
        began_s = time.monotonic()
        while (t := time.monotonic() - began_s) < 5.0:
            world.set_pose(
                of="base", in_frame="map", transform=Transform.from_translation((0.5 * t, 0, 0)), at=world.now()
            )
            time.sleep(0.01)


def planner() -> None:
    """Ask three times where the camera is now."""
    with World("planner") as world:
        world.share(NAME)
        world.wait_for_pose(of="camera", in_frame="map", timeout_s=20.0)  # until the robot drives
        for _ in range(3):
            time.sleep(0.3)
            now = world.now()
            camera = world.wait_for_pose(of="camera", in_frame="map", at=now, timeout_s=10.0)
            base = world.pose(of="base", in_frame="map", at=now)
            print(f"the camera is {camera.xyz[0] - base.xyz[0]:.2f} m ahead of the robot, which drives")
        print("who else is there:", ", ".join(peer.name for peer in world.peers()))


if sys.argv[1:] == ["robot"]:
    robot()
else:
    running = subprocess.Popen([sys.executable, __file__, "robot"])  # noqa: S603  (this script)
    try:
        planner()
    finally:
        running.terminate()
        running.wait()
