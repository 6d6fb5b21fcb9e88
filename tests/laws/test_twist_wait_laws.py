"""A wait for a motion is woken by whatever makes it known."""

from contextlib import closing
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import LATEST, Transform, World, seconds
from armillary._core import ReadyQueue
from armillary.errors import ArmillaryError
from strategies import outcome

FRAMES = ("a", "b", "c", "d")
BODIES = ("ab", "cd")
STAMPS = tuple(seconds(t) for t in range(6))
SOMEWHERE = Transform.exp(0.1 * np.arange(6))
TURNING = {"linear": (1, 2, 3), "angular": (0.1, 0.2, 0.3)}
SOURCES = st.sampled_from(["", "", "", "", "other"])
PAIRS = st.permutations(FRAMES).map(lambda names: names[:2])


@st.composite
def statements(draw):
    """Poses, fixings, twists along any axes, preferences, bodies, and what forgets."""
    method = draw(st.sampled_from(["set_pose", "set_pose", "set_pose", "fix", "set_twist", "set_twist", "more"]))
    of, other = draw(PAIRS)
    source, at = draw(SOURCES), draw(st.sampled_from(STAMPS))
    if method == "set_pose":
        return method, {
            "of": of,
            "in_frame": other,
            "transform": Transform.exp(0.1 * np.arange(6)),
            "at": at,
            "source": source,
        }
    if method == "fix":
        return method, {"of": of, "in_frame": other, "transform": Transform.exp(0.2 * np.arange(6)), "source": source}
    if method == "set_twist":
        axes = draw(st.sampled_from([of, of, *FRAMES]))
        return method, {"of": of, "relative_to": other, "expressed_in": axes, "at": at, "source": source} | TURNING
    return draw(
        st.sampled_from(
            [
                ("prefer", {"of": of, "source": source}),
                ("add_body", {"name": draw(st.sampled_from(BODIES)), "frames": [of]}),
                ("remove_frame", {"name": of, "subtree": True}),
                ("clear", {}),
            ]
        )
    )


@st.composite
def measurements(draw):
    """Mostly twists of neighbours along the chain of frames, around 2 s; now and then the pose that is missing."""
    of, other = draw(st.sampled_from(list(pairwise(FRAMES))))
    at = draw(st.sampled_from(STAMPS[1:4]))
    if draw(st.integers(0, 5)) == 0:
        return "set_pose", {"of": of, "in_frame": other, "transform": SOMEWHERE, "at": seconds(2)}
    of, other = draw(st.sampled_from([(of, other), (other, of)]))
    names = {"of": of, "relative_to": other, "expressed_in": of}
    return "set_twist", names | {
        "at": at,
        "source": "imu",
    } | TURNING  # by another source: no pose is integrated


@st.composite
def questions(draw):
    of, other = draw(PAIRS)
    optional = st.none() | st.sampled_from(FRAMES)
    names = {"of": of, "relative_to": other, "expressed_in": draw(optional), "point": draw(st.none() | optional)}
    if draw(st.integers(0, 4)) == 0:
        names |= {"relative_to": draw(st.sampled_from(BODIES)), "expressed_in": other}
    at = draw(st.sampled_from([LATEST, *STAMPS, seconds(2.5)]))
    how = {"outside": draw(st.sampled_from(["raise", "raise", "hold", "predict"])), "measured": draw(st.booleans())}
    window = draw(st.sampled_from([None, None, seconds(1)]))
    return names | how | {"at": at, "window": window, "policy": "unique", "interpolation": None, "hold_up_to_s": None}


class Waiting:
    """One wait, asked again only when it is woken."""

    def __init__(self, world, question):
        self.world, self.question, self.queue = world, question, ReadyQueue()
        self.wait_id = world.store.new_wait_id()
        self.is_over = False
        self.ask()

    def ask(self):
        answer = outcome(
            lambda: self.world.store.twist_or_watch(self.queue, self.wait_id, **self.question), ArmillaryError
        )
        self.is_over = answer is not None

    def close(self):
        """The world must not wake a queue that is gone."""
        self.world.store.forget_wait(self.wait_id)

    def go_on(self):
        while not self.is_over and len(self.queue) > 0:
            self.queue.pop(0.0)
            self.ask()


class TestAWait:
    @given(st.lists(statements(), min_size=1, max_size=25), questions(), st.sampled_from([FRAMES, FRAMES, ()]))
    def test_is_over_as_soon_as_there_is_an_answer(self, assertions, question, known):
        world = World()
        world.add_frame(*known)
        wait = Waiting(world, question)
        with closing(wait):
            self.hold_throughout(wait, assertions)

    @given(st.lists(measurements(), min_size=1, max_size=12), questions(), st.integers(0, 4))
    def test_ends_with_a_measured_twist(self, assertions, question, poses):
        """Poses of one instant: nothing to differentiate, and whatever is measured can be carried anywhere."""
        world, at = World(), seconds(2)
        for of, in_frame in list(pairwise(FRAMES))[:poses]:
            world.set_pose(of=of, in_frame=in_frame, transform=SOMEWHERE, at=at)
        world.add_body("ab")
        world.add_body("cd", frames=["d"])
        wait = Waiting(world, question | {"at": at if question["at"] is not LATEST else LATEST, "measured": True})
        with closing(wait):
            self.hold_throughout(wait, assertions)

    def hold_throughout(self, wait, assertions):
        world, question = wait.world, wait.question
        for method, arguments in assertions:
            outcome(lambda m=method, a=arguments: getattr(world, m)(**a), ArmillaryError)
            wait.go_on()
            if wait.is_over:
                break
            assert isinstance(outcome(lambda: world.twist(**question), ArmillaryError), ArmillaryError)
