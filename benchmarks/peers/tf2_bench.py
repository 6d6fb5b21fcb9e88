"""Debian's tf2 (ROS 1), measured from the system's Python. Protocol: peers/__init__.py.

Runs without numpy. Stamps, times and messages are built before the clock starts, so
the figures are tf2's own cost and nothing of the caller's.
"""

import gc
import json
import sys
from array import array
from functools import lru_cache
from pathlib import Path
from time import process_time_ns

import rospy
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from tf2_py import BufferCore, TransformException

FOLDER = Path(sys.argv[1])
# The constants of scenario.py.
EDGES, SAMPLES, TREE_FRAMES, TREE_STRIDE, TIMES = 10, 10_000, 1_000, 100, 100_000
PERIOD_NS, START_NS = 1_000_000, 100_000_000_000
CACHE = rospy.Duration(10)


def read(name, *shape):
    """Arrays of the given type codes and lengths, one after the other."""
    with (FOLDER / f"{name}.bin").open("rb") as file:
        arrays = []
        for code, length in shape:
            arrays.append(array(code))
            arrays[-1].fromfile(file, length)
    return arrays


@lru_cache
def chain(name):
    """[(stamps, rows as one flat array)] of each edge."""
    arrays = read(name, *[("q", SAMPLES), ("d", 7 * SAMPLES)] * EDGES)
    return list(zip(arrays[::2], arrays[1::2], strict=True))


def time_of(stamp):
    return rospy.Time(stamp // 1_000_000_000, stamp % 1_000_000_000)


@lru_cache
def times():
    return [time_of(stamp) for stamp in read("times", ("q", TIMES))[0]]


def window(count, offset):
    return [times()[(offset + i) % TIMES] for i in range(count)]


def message(of, in_frame, stamp, row):
    made = TransformStamped()
    made.header.frame_id, made.child_frame_id, made.header.stamp = in_frame, of, time_of(stamp)
    xyz, q = made.transform.translation, made.transform.rotation
    xyz.x, xyz.y, xyz.z, q.w, q.x, q.y, q.z = row
    return made


def fill(buffer, of, in_frame, series, stride=1):
    stamps, rows = series
    for i in range(0, SAMPLES, stride):
        buffer.set_transform(message(of, in_frame, stamps[i], rows[7 * i : 7 * i + 7]), "bench")


@lru_cache
def chain_buffer(name):
    buffer = BufferCore(CACHE)
    for i, series in enumerate(chain(name)):
        fill(buffer, f"f{i + 1}", f"f{i}", series)
    return buffer


def lookup(name, edges, count, offset):
    """Per `lookup_transform_core`, random times."""
    return {"ns": lookups(chain_buffer(name), f"f{edges}", "f0", window(int(count), int(offset)))}


def scan(name, edges, count, offset):
    """Per `lookup_transform_core`, times in order: a scanner measures one point after the other."""
    asked = sorted(window(int(count), int(offset)))
    return {"ns": lookups(chain_buffer(name), f"f{edges}", "f0", asked)}


def latest(name, edges, count):
    """Per `lookup_transform_core` at time zero, tf2's word for the latest."""
    return {"ns": lookups(chain_buffer(name), f"f{edges}", "f0", [rospy.Time(0)] * int(count))}


def lookups(buffer, of, in_frame, asked):
    call = buffer.lookup_transform_core
    started = process_time_ns()
    for at in asked:
        call(in_frame, of, at)
    return (process_time_ns() - started) / len(asked)


def can(name, edges, count, offset):
    """Per `can_transform_core`, random times."""
    call, of, asked = chain_buffer(name).can_transform_core, f"f{edges}", window(int(count), int(offset))
    started = process_time_ns()
    for at in asked:
        call("f0", of, at)
    return {"ns": (process_time_ns() - started) / len(asked)}


def failing(name, why, count):
    """Per `lookup_transform_core` that raises, because of `why`."""
    call = refusing_buffer(name).lookup_transform_core
    of, at = {
        "after": ("f1", rospy.Time(10_000)),
        "unknown": ("nobody", rospy.Time(0)),
        "unconnected": ("island", rospy.Time(0)),
    }[why]
    repeats = range(int(count))
    started = process_time_ns()
    for _ in repeats:
        try:  # noqa: SIM105  (a context manager would be timed as well)
            call("f0", of, at)
        except TransformException:
            pass
    return {"ns": (process_time_ns() - started) / len(repeats)}


@lru_cache
def refusing_buffer(name):
    """The chain, and a frame in another tree."""
    buffer = chain_buffer(name)
    buffer.set_transform_static(message("island", "sea", START_NS, chain(name)[0][1][:7]), "bench")
    return buffer


def build(count):
    """Per message that is filled from two tuples of numbers."""
    xyz, xyzw = (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0)
    repeats = range(int(count))
    started = process_time_ns()
    for _ in repeats:
        Transform(Vector3(*xyz), Quaternion(*xyzw))
    return {"ns": (process_time_ns() - started) / len(repeats)}


def point(name, edges, count, offset):
    """Per lookup and one point mapped with it, the arithmetic written out in Python; random times."""
    call, of, asked = chain_buffer(name).lookup_transform_core, f"f{edges}", window(int(count), int(offset))
    started = process_time_ns()
    for at in asked:
        apply(call("f0", of, at).transform, 1.0, 2.0, 3.0)
    return {"ns": (process_time_ns() - started) / len(asked)}


def points(name, edges, count, offset):
    """Per point: one lookup and its application, the arithmetic written out in Python."""
    call, of, asked = chain_buffer(name).lookup_transform_core, f"f{edges}", sorted(window(int(count), int(offset)))
    started = process_time_ns()
    for at in asked:
        apply(call("f0", of, at).transform, 1.0, 2.0, 3.0)
    return {"ns": (process_time_ns() - started) / len(asked)}


def apply(transform, x, y, z):
    t, q = transform.translation, transform.rotation
    qw, qx, qy, qz = q.w, q.x, q.y, q.z
    cx, cy, cz = 2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)
    return (
        x + qw * cx + qy * cz - qz * cy + t.x,
        y + qw * cy + qz * cx - qx * cz + t.y,
        z + qw * cz + qx * cy - qy * cx + t.z,
    )


class Stream:
    """A relation `w` in `f0` whose history is full and which goes on at 1 kHz."""

    def __init__(self):
        self.buffer, self.next = BufferCore(CACHE), 0
        self.insert(self.in_order(SAMPLES))

    def in_order(self, count):
        rows = chain("jittered")[0][1]
        first, self.next = self.next, self.next + count
        return [
            message("w", "f0", START_NS + i * PERIOD_NS, rows[7 * (i % SAMPLES) : 7 * (i % SAMPLES) + 7])
            for i in range(first, self.next)
        ]

    def insert(self, messages):
        call = self.buffer.set_transform
        started = process_time_ns()
        for each in messages:
            call(each, "bench")
        return (process_time_ns() - started) / len(messages)


@lru_cache
def stream():
    return Stream()


def insert(count):
    """Per `set_transform` of a ready message, in order, history full."""
    return {"ns": stream().insert(stream().in_order(int(count)))}


@lru_cache
def tree_buffer(shape):
    buffer = BufferCore(CACHE)
    for i, parent in enumerate(read(shape, ("q", TREE_FRAMES))[0]):
        if i:
            fill(buffer, f"t{i}", f"t{parent}", chain("jittered")[i % EDGES], TREE_STRIDE)
    return buffer


def tree(shape, sweeps, offset):
    """The thousand lookups of one instant, in total."""
    call, asked = tree_buffer(shape).lookup_transform_core, window(int(sweeps), int(offset))
    names = [f"t{i}" for i in range(TREE_FRAMES)]
    started = process_time_ns()
    for at in asked:
        for name in names:
            call("t0", name, at)
    return {"ns": (process_time_ns() - started) / len(asked)}


@lru_cache
def transformer(name):
    """The older tf, which keeps a tf2 buffer and has `lookupTwist`."""
    import tf  # a package of its own: only this command needs it

    made = tf.Transformer(True, CACHE)
    for i, series in enumerate(chain(name)):
        fill(made._buffer, f"f{i + 1}", f"f{i}", series)  # noqa: SLF001 - it has no public way in for a message
    return made


def twist(name, edges, count, offset):
    """Per `lookupTwist`, averaging over 10 ms, random times."""
    call, of, asked = transformer(name).lookupTwist, f"f{edges}", window(int(count), int(offset))
    averaging = rospy.Duration(0.01)
    started = process_time_ns()
    for at in asked:
        call(of, "f0", at, averaging)
    return {"ns": (process_time_ns() - started) / len(asked)}


def mean_twists(name, edges, count, offset):
    """What `lookupTwist` answers: linear, then angular, of the frame itself, along the axes of f0."""
    call, of, asked = transformer(name).lookupTwist, f"f{edges}", window(int(count), int(offset))
    found = [call(of, "f0", at, rospy.Duration(0.01)) for at in asked]
    return {"rows": [[*linear, *angular] for linear, angular in found]}


COMMANDS = {
    each.__name__: each
    for each in (lookup, scan, latest, can, failing, build, point, points, insert, tree, twist, mean_twists)
}


def main():
    gc.disable()
    for line in sys.stdin:
        command, *words = line.split()
        print(json.dumps(COMMANDS[command](*words)), flush=True)


if __name__ == "__main__":
    main()
