"""One process of the rows on sharing: it shares a world, does what its arguments say, and prints what it measured."""

import json
import statistics
import sys
import time

from armillary import Transform, World, seconds
from armillary.scene import AddGroup, AddJoints

JOINTS = [f"joint_{i}" for i in range(39)]
WAIT_S = 60.0


def drive(world: World, span_s: float) -> dict:
    """A robot's 39 joints, a thousand times a second."""
    world.apply([AddJoints(dict.fromkeys(JOINTS, "linear"))])
    return paced(span_s, 0.001, lambda: world.set_joints(dict.fromkeys(JOINTS, 0.5), at=time.monotonic_ns()))


def move(world: World, span_s: float) -> dict:
    """A pose two hundred times a second, stamped with the machine's clock."""
    still = Transform.identity()
    return paced(
        span_s, 0.005, lambda: world.set_pose(of="base", in_frame="map", transform=still, at=time.monotonic_ns())
    )


def paced(span_s: float, period_s: float, act) -> dict:
    began_s, cpu_s, count = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began_s < span_s:
        act()
        count += 1
        time.sleep(max(0.0, began_s + count * period_s - time.monotonic()))
    return {"cpu": (time.process_time() - cpu_s) / (time.monotonic() - began_s), "count": count}


def wait(world: World, span_s: float) -> dict:
    """How old poses are when who waits for them has them."""
    last = world.wait_for_pose(of="base", in_frame="map", timeout_s=WAIT_S).stamp
    ages_us, began_s = [], time.monotonic()
    while time.monotonic() - began_s < span_s:
        world.wait_for_pose(of="base", in_frame="map", at=last + 1, outside="raise", timeout_s=WAIT_S)
        last = world.pose(of="base", in_frame="map").stamp
        ages_us.append((time.monotonic_ns() - last) / 1e3)
    return {"p50_us": statistics.median(ages_us), "p99_us": statistics.quantiles(ages_us, n=100)[-1]}


def listen(world: World, span_s: float) -> dict:
    """Take all samples, and ask for one joint ten times a second."""
    end_s = time.monotonic() + WAIT_S
    while "joint_7" not in world.joints() and time.monotonic() < end_s:
        time.sleep(0.01)
    time.sleep(0.5)
    return paced(span_s, 0.1, lambda: world.joint("joint_7"))


def idle(_: World, span_s: float) -> dict:
    """Hold the structure, and ask nothing."""
    return paced(span_s, span_s, lambda: None)


def fill(world: World, count: float) -> dict:
    """So many nodes."""
    scene = world.scene
    world.apply([AddGroup(parent=scene.root, attributes={"k": k}) for k in range(int(count))])
    return {}


def main() -> None:
    name, what, amount, samples = sys.argv[1:]
    with World(what, history=seconds(5)) as world:
        act = {"drive": drive, "move": move, "wait": wait, "listen": listen, "idle": idle, "fill": fill}[what]
        if what == "fill":
            found = act(world, float(amount))
        share = world.share(name, samples=samples)
        if what != "fill":
            share.wait_for_peers(1, WAIT_S)
            found = act(world, float(amount))
        print(json.dumps(found), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
