"""Random stories of a few worlds that edit, exchange changes, undo, save and load, as plain numbers.

A story is a family, its number of worlds and a list of steps. A step is `(kind, world, a, b, c, d)`: the kind by its
place in `KINDS` (append only: recorded stories name kinds by their number), the rest small numbers that `telling.py`
gives a meaning to. Anything can be left out of a story and it is still one, which is what shrinking needs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

Step = tuple[int, int, int, int, int, int]

KINDS = (
    # nodes
    "group", "fixed", "sampled", "uncertain", "geometry", "connection", "own_root", "shared_root",
    "say", "unsay", "add_parent", "remove_parent", "move", "remove", "remove_subtree", "set_transform",
    # frames
    "frame", "fix", "fix_at", "recalibrate", "await", "await_twists", "unfix", "release", "attach", "detach",
    "body", "prefer", "remove_frame", "remove_frames_below",
    # samples
    "see", "see_series", "see_everywhere", "twist",
    # models and joints
    "mount", "joints", "joint_series", "add_joints", "remove_joints", "drive", "prefer_joint",
    # time
    "wait", "reset", "expire",
    # what was done
    "undo", "redo", "batch",
    # between worlds
    "letter", "letter_again", "sync", "sync_singly",
    # in place of a world
    "copy", "save_load",
    # nodes in frames that are no nodes
    "group_in_frame", "fixed_in_frame", "sampled_in_frame", "parent_frame", "grasp_node",
)  # fmt: skip
NUMBER = {name: number for number, name in enumerate(KINDS)}

NODES = {
    "group": 4, "fixed": 3, "sampled": 3, "uncertain": 1, "geometry": 2, "connection": 1, "own_root": 1, "say": 3,
    "unsay": 2, "add_parent": 6, "remove_parent": 3, "move": 3, "remove": 3, "remove_subtree": 1, "set_transform": 3,
}  # fmt: skip
FRAMES = {
    "frame": 1, "fix": 6, "fix_at": 5, "recalibrate": 1, "await": 1, "unfix": 2, "attach": 3, "detach": 1, "body": 3,
    "prefer": 2, "release": 1, "await_twists": 1,
}  # fmt: skip
IN_FRAMES = {"group_in_frame": 2, "fixed_in_frame": 3, "sampled_in_frame": 2, "parent_frame": 2, "grasp_node": 2}
SAMPLES = {"see": 8, "see_series": 2, "see_everywhere": 4, "twist": 1}
REMOVALS = {"remove_frame": 2, "remove_frames_below": 2}
MODELS = {
    "mount": 3,
    "joints": 5,
    "joint_series": 1,
    "add_joints": 1,
    "remove_joints": 1,
    "drive": 2,
    "prefer_joint": 1,
}
TAKING_BACK = {"undo": 4, "redo": 2}
BATCHES = {"batch": 3}
TRANSPORT = {"letter": 8, "letter_again": 1, "sync": 3, "sync_singly": 1}
TIME = {"wait": 1}
ALONE = {"copy": 1}

# What happens in stories of a family, how many of 100 are of it, and what is known to be wrong there (findings: scene
# N, robustness DN). A build in which it is right may differ in those, with an explanation.
FAMILIES: dict[str, tuple[int, dict[str, int], tuple[str, ...]]] = {
    "nodes": (16, {**NODES, **TAKING_BACK, **BATCHES, **TRANSPORT, **TIME, **ALONE}, ()),
    "frames": (15, {**FRAMES, **TAKING_BACK, **BATCHES, **TRANSPORT, **TIME, **ALONE}, ()),
    "removed frames": (6, {**FRAMES, **REMOVALS, **TAKING_BACK, **BATCHES, **TRANSPORT}, ()),
    "samples": (11, {**FRAMES, **SAMPLES, **BATCHES, **TRANSPORT, **TIME}, ()),
    "uncertain": (6, {"see": 8, "see_everywhere": 4, "fix": 5, "fix_at": 3, "attach": 1, "prefer": 1, **TRANSPORT}, ()),
    "nodes in frames": (8, {**NODES, **FRAMES, **IN_FRAMES, **BATCHES, **TRANSPORT}, ()),
    "models": (6, {**MODELS, **FRAMES, **TRANSPORT, **TIME, "see": 2}, ()),
    "saved": (4, {**NODES, **FRAMES, **SAMPLES, **MODELS, "save_load": 8}, ()),
    "shared roots": (4, {**NODES, "shared_root": 5, **TAKING_BACK, **TRANSPORT}, ("scene 5",)),
    "removed under nodes": (
        3,
        {**NODES, **FRAMES, **IN_FRAMES, **REMOVALS, **TAKING_BACK, **TRANSPORT},
        ("scene 6", "scene 8", "robustness D12"),
    ),
    "new times": (
        4,
        {**NODES, **FRAMES, **IN_FRAMES, "see_everywhere": 5, "reset": 4, **TRANSPORT},
        ("scene 7", "robustness D4"),
    ),
    "undeclared root": (2, {**FRAMES, **NODES, **IN_FRAMES, **TAKING_BACK, **TRANSPORT}, ("scene 8",)),
    "saved copies": (
        3,
        {**NODES, **FRAMES, **IN_FRAMES, **MODELS, **TRANSPORT, "save_load": 5},
        ("scene 9", "scene 12"),
    ),
    "forgotten changes": (1, {**NODES, **FRAMES, **TRANSPORT}, ("scene 3",)),
    "samples and removals": (
        3,
        {**FRAMES, **SAMPLES, **REMOVALS, **TAKING_BACK, **BATCHES, **TRANSPORT},
        ("robustness D3",),
    ),
    "skewed clocks": (2, {**NODES, **FRAMES, **TAKING_BACK, **TRANSPORT}, ("resolver R3",)),
}
EVERYTHING = {
    **NODES, **FRAMES, **IN_FRAMES, **SAMPLES, **REMOVALS, **MODELS, **TAKING_BACK, **BATCHES, **TRANSPORT, **TIME,
    **ALONE, "shared_root": 2, "reset": 1, "expire": 1, "save_load": 1,
}  # fmt: skip
FAMILIES["everything"] = (
    0,  # what is left
    EVERYTHING,
    (*(f"scene {n}" for n in (5, 6, 7, 8, 9, 12)), *(f"robustness D{n}" for n in (3, 4, 12))),
)
CONTENDED = {
    **TAKING_BACK, **BATCHES, **TRANSPORT, "add_parent": 16, "move": 5, "remove_parent": 3, "remove": 2, "say": 4,
    "unsay": 1, "group": 2, "fixed": 2, "sampled": 1,
}  # fmt: skip
FAMILIES["contended nodes"] = (0, CONTENDED, ())  # all have the same nodes from the start
FIRST_CONTENDED = 4000
FEWEST_STEPS, MOST_STEPS, MOST_UNCERTAIN_STEPS = 6, 30, 13  # fusing many paths takes long


@dataclass(frozen=True)
class Story:
    number: int
    family: str
    worlds: int
    steps: tuple[Step, ...]

    @property
    def defects(self) -> tuple[str, ...]:
        """What is known to be wrong in such stories as of the recording."""
        return FAMILIES[self.family][2]

    @property
    def is_loose(self) -> bool:
        """Whether it ends as it is: the worlds do not exchange the rest."""
        return self.number % 8 == 0

    def with_steps(self, steps: tuple[Step, ...]) -> Story:
        return Story(self.number, self.family, self.worlds, steps)


def story(number: int) -> Story:
    """The story of this number, always the same."""
    draw = random.Random(number)  # only random() is used: it gives the same numbers in every version of Python
    family = _family(number % 100) if number < FIRST_CONTENDED else "contended nodes"
    weights = FAMILIES[family][1]
    kinds = [NUMBER[kind] for kind, weight in weights.items() for _ in range(weight)]
    worlds = 1 if family == "saved" else 2 + int(draw.random() * 3)
    most = MOST_UNCERTAIN_STEPS if family == "uncertain" else MOST_STEPS
    length = FEWEST_STEPS + int(draw.random() * (most - FEWEST_STEPS))
    steps = tuple(_step(draw, kinds, worlds) for _ in range(length))
    return Story(number, family, worlds, steps)


def _family(percent: int) -> str:
    for name, (share, _, _) in FAMILIES.items():
        if percent < share:
            return name
        percent -= share
    return "everything"


def _step(draw: random.Random, kinds: list[int], worlds: int) -> Step:
    def below(bound: int) -> int:
        return int(draw.random() * bound)

    return kinds[below(len(kinds))], below(worlds), below(8), below(8), below(8), below(8)
