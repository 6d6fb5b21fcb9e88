"""Small things that unit tests share: motions, a clock, a mailbox for callbacks, another interpreter."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

from armillary import Transform, World, seconds

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9
WAIT_S = 20.0  # nothing here takes long; what blocks must end
PROMPT_S = 0.05  # a time-out that is meant to pass

STILL = Transform.identity()


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, 0.0))


def drive(world: World, *seconds_s: float, of: str = "robot", in_frame: str = "map", **more) -> None:
    """Samples along x at one metre a second."""
    for t in seconds_s:
        world.set_pose(of=of, in_frame=in_frame, transform=moved(t), at=seconds(t), **more)


def x_of(pose) -> float:
    return float(pose.transform.translation[0])


class FakeClock:
    """A clock that does not advance until it is set."""

    def __init__(self, ns: int = 0) -> None:
        self.ns = ns

    def __call__(self) -> int:
        return self.ns


class Mailbox:
    """Takes what callbacks are called with, whatever thread they run on."""

    def __init__(self) -> None:
        self.letters: list = []
        self.threads: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, *letter) -> None:
        with self._changed:
            self.letters.append(letter[0] if len(letter) == 1 else letter)
            self.threads.add(threading.current_thread().name)
            self._changed.notify_all()

    def wait(self, count: int = 1) -> list:
        """The letters, once there are `count`."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.letters) >= count, WAIT_S), f"only {self.letters}"
            return list(self.letters)


@contextlib.contextmanager
def patient_threads() -> Iterator[None]:
    """Nobody takes the GIL from whoever has it: it changes hands only where it is given away."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)


def lets_others_run(call: Callable[[], object], *, tries: int = 300) -> bool:
    """Whether a thread that needs the GIL goes on inside of `call`, in one of some tries."""
    begin, went_on = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: begin.wait() and went_on.set())
    other.start()
    with patient_threads():
        begin.set()
        seen = went_on.is_set()
        for _ in range(tries):
            call()
            seen = went_on.is_set()
            if seen:
                break
    other.join(WAIT_S)
    return seen


def drain(world: World) -> None:
    """Return when the dispatcher has served everything that was posted before."""
    done = Mailbox()
    world.add_frame("drained")
    world.on_pose(done, of="drained", in_frame="drained")
    done.wait()


def everything_about(world: World) -> list:
    """Frames, relations, samples and answers, in a form that can be compared."""
    facts: list = [world.frames(), world.time_epoch, str(world.tree())]
    for info in world.relations():
        if info.kind == "twist":
            facts.append(info)
            continue
        kept = world.samples(of=info.of, in_frame=info.in_frame, source=info.source)
        facts.append((info.of, info.in_frame, info.source, info.kind, info.samples, info.first, info.last))
        facts.append((kept.stamps.tolist(), kept.transforms.tolist()))
        facts.append(None if kept.covariances is None else kept.covariances.tolist())
    for name in world.frames():
        seen = world.snapshot(in_frame=name)
        facts.append({other: transform.xyz_wxyz.tolist() for other, transform in seen.items()})
        facts.append({other: type(error) for other, error in seen.missing.items()})
    return facts


def error_of(call, *arguments, **named) -> BaseException | None:
    """What a call raised; None if it answered."""
    try:
        call(*arguments, **named)
    except BaseException as error:  # noqa: BLE001  (whatever it is, the caller looks at it)
        return error
    return None


def run_python(code: str, *, timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Another interpreter, for what ends or would crash this one."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout_s, check=False)
