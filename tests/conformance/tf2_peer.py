"""The real tf2 of Debian behind a pipe: JSON lines in, JSON lines out.

Run by the *system* Python, which is the one that has `tf2_py`; never imported by the tests.

A line holds a list of commands `[operation, buffer, *arguments]`; the answer is one line with a list of
answers in the same order. `buffer` is any string; `["new", buffer, cache_ns]` makes it. Stamps are integer
nanoseconds (0 is tf2's "latest"), translations are (x, y, z), quaternions are (w, x, y, z).
A failed command answers `{"error": CLASS_NAME, "text": MESSAGE}` and the next one is carried out.
"""

import json
import sys

TF2_ABSENT = 3  # exit status; peer.py turns it into a skip, and every other one into a failure

try:
    import genpy
    import tf2_py
    from geometry_msgs.msg import TransformStamped
except ImportError:
    sys.exit(TF2_ABSENT)

NANOSECONDS = 1_000_000_000
END_OF_TIME = 2**32 * NANOSECONDS
AUTHORITY = "conformance"

buffers = {}


def time(stamp_ns):
    if stamp_ns >= END_OF_TIME:
        raise OverflowError(f"{stamp_ns} ns does not fit into ROS 1 time")  # tf2 would abort the process
    return genpy.Time(*divmod(stamp_ns, NANOSECONDS))


def message(parent, child, stamp_ns, xyz, wxyz):
    stamped = TransformStamped()
    stamped.header.frame_id, stamped.child_frame_id = parent, child
    stamped.header.stamp = time(stamp_ns)
    translation, rotation = stamped.transform.translation, stamped.transform.rotation
    translation.x, translation.y, translation.z = xyz
    rotation.w, rotation.x, rotation.y, rotation.z = wxyz
    return stamped


def plain(stamped):
    translation, rotation = stamped.transform.translation, stamped.transform.rotation
    return {
        "target": stamped.header.frame_id,
        "source": stamped.child_frame_id,
        "stamp": stamped.header.stamp.to_nsec(),
        "xyz": [translation.x, translation.y, translation.z],
        "wxyz": [rotation.w, rotation.x, rotation.y, rotation.z],
    }


def new(buffer, cache_ns):
    buffers[buffer] = tf2_py.BufferCore(genpy.Duration(*divmod(cache_ns, NANOSECONDS)))


def insert(buffer, *sample):
    buffers[buffer].set_transform(message(*sample), AUTHORITY)


def insert_static(buffer, *sample):
    buffers[buffer].set_transform_static(message(*sample), AUTHORITY)


def lookup(buffer, target, source, stamp_ns):
    return plain(buffers[buffer].lookup_transform_core(target, source, time(stamp_ns)))


def two_times(target, target_ns, source, source_ns, fixed):
    return target, time(target_ns), source, time(source_ns), fixed


def lookup_full(buffer, *asked):
    return plain(buffers[buffer].lookup_transform_full_core(*two_times(*asked)))


def can(buffer, target, source, stamp_ns):
    return bool(buffers[buffer].can_transform_core(target, source, time(stamp_ns))[0])


def can_full(buffer, *asked):
    return bool(buffers[buffer].can_transform_full_core(*two_times(*asked))[0])


def latest(buffer, target, source):
    return buffers[buffer].get_latest_common_time(target, source).to_nsec()


def clear(buffer):
    buffers[buffer].clear()


def chain(buffer, *asked):
    return buffers[buffer]._chain(*two_times(*asked))


def frames(buffer):
    return list(buffers[buffer]._getFrameStrings())


def text(buffer):
    return buffers[buffer].all_frames_as_string()


OPERATIONS = {
    operation.__name__: operation
    for operation in (
        new, insert, insert_static, lookup, lookup_full, can, can_full, latest, clear, chain, frames, text
    )
}  # fmt: skip


def answer(command):
    try:
        operation, *arguments = command
        return OPERATIONS[operation](*arguments)
    except Exception as problem:  # noqa: BLE001  the class name is the answer
        return {"error": type(problem).__name__, "text": str(problem)}


def main():
    for line in sys.stdin:
        answers = [answer(command) for command in json.loads(line)]
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
