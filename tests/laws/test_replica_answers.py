"""Replicas with the same changes give the same answers, to everything that they can be asked.

A run is made from its seed alone, which a failure names.
"""

from __future__ import annotations

import random

import pytest

pytest.importorskip("casadi")

from randomness import IS_USUAL, SEED, scaled
from replica_answers import KINDS, AnsweringReplicas, about_answers
from replicas import differences, lacking, unharmed

RUNS = scaled(150, 100_000)


def random_script(rng: random.Random, kinds) -> list[tuple]:
    """Four to forty steps: mostly changes, then samples, letters, partitions, undo and redo, now and then a file."""
    script: list[tuple] = []
    for _ in range(rng.randrange(4, 40)):
        drawn = rng.random()
        if drawn < 0.16:
            script.append(("see", rng.randrange(5), *(rng.randrange(8) for _ in range(3))))
        elif drawn < 0.72:
            script.append(("change", rng.randrange(5), rng.choice(kinds), *(rng.randrange(8) for _ in range(3))))
        elif drawn < 0.88:
            script.append((rng.choice(["deliver", "deliver", "drop", "repeat"]), rng.randrange(10)))
        elif drawn < 0.92:
            script.append(("sync", rng.randrange(5), rng.randrange(5)))
        elif drawn < 0.94:
            script.append(("partition", rng.randrange(32)))
        elif drawn < 0.985:
            script.append((rng.choice(["undo", "redo"]), rng.randrange(5)))
        else:
            script.append(("reload", rng.randrange(5)))
    return script


def disagreements(script: list[tuple], count: int, seed: int, damage=unharmed) -> list[str]:
    replicas = AnsweringReplicas(count, damage)
    try:
        replicas.run(script)
        with replicas.newcomer(seed) as newcomer:
            everybody = [*replicas.worlds, newcomer]
            return differences(everybody, about_answers) + lacking(everybody)
    finally:
        replicas.close()


def first_failing_seed(kinds, seeds, damage=unharmed) -> tuple[int, list[str]] | None:
    for seed in seeds:
        rng = random.Random(seed)
        script, count = random_script(rng, kinds), rng.randrange(2, 5)
        found = disagreements(script, count, seed % 4, damage)
        if found:
            return seed, [str(step) for step in script] + found[:5]
    return None


def test_replicas_agree_in_all_their_answers():
    first = 0 if IS_USUAL else SEED
    assert first_failing_seed(KINDS, range(first, first + RUNS)) is None


def preferring_for_ever(record, receiver):
    """Preferences do not end."""
    return record | {"end": None} if record["type"] == "prefer" else record


def removing_no_frame(record, receiver):
    """Removals of frames name others."""
    return record | {"names": ["elsewhere"]} if record["type"] == "remove_frames" else record


def removing_nothing(record, receiver):
    """Removals of nodes forget which containments they are about."""
    return record | {"dots": []} if record["type"] == "remove_edges" else record


def bodies_of_nobody(record, receiver):
    """Bodies lose their frames."""
    return record | {"frames": []} if record["type"] == "set_body" else record


def deaf_to_attributes(record, receiver):
    return record | {"settings": []} if "settings" in record else record


class TestABrokenRule:
    @pytest.mark.parametrize(
        "damage", [preferring_for_ever, removing_no_frame, removing_nothing, bodies_of_nobody, deaf_to_attributes]
    )
    def test_is_found(self, damage):
        assert first_failing_seed(KINDS, range(400), damage) is not None


MENDED = {
    "a removal of an edge that never held is kept by all": [
        ("change", 1, ("frame", "fix"), 1, 0, 0),
        ("change", 1, ("frame", "tag"), 0, 0, 0),
        ("change", 1, ("frame", "erase_all"), 0, 0, 0),
    ],
    "a variable is declared where a pose waits for it": [
        ("change", 1, ("own", "model"), 0, 0, 0),
        ("deliver", 2),
        ("change", 0, ("own", "model"), 0, 0, 0),
    ],
    "a pose is driven by a variable that was taken back": [
        ("change", 0, ("own", "model"), 0, 0, 0),
        ("undo", 0),
        ("change", 1, ("own", "model"), 0, 0, 0),
    ],
    "a frame that a node stands for is removed, and that is undone": [
        ("change", 2, ("barrier", "frame"), 1, 0, 0),
        ("change", 2, ("barrier", "say_frame"), 1, 0, 0),
        ("deliver", 3),
        ("change", 0, ("barrier", "erase_all"), 1, 0, 0),
        ("undo", 0),
    ],
    "what is below a frame goes with it, and was elsewhere before": [
        ("change", 0, ("barrier", "fix"), 0, 0, 0),
        ("change", 0, ("own", "prefer"), 0, 0, 0),
        ("change", 0, ("node", "add_parent"), 0, 0, 0),
        ("change", 0, ("barrier", "frame"), 0, 0, 0),
        ("change", 0, ("node", "add_parent"), 0, 0, 0),
        ("change", 0, ("node", "remove"), 0, 0, 0),
        ("change", 0, ("barrier", "fixed_in"), 0, 0, 0),
        ("change", 0, ("barrier", "fix_in_node"), 0, 1, 0),
        ("change", 0, ("barrier", "erase_all"), 0, 0, 0),
    ],
    "a pose gives way to samples of its instant, and its parent with it": [
        ("change", 0, ("frame", "recalibrate"), 0, 1, 2),
        ("change", 0, ("frame", "await"), 0, 2, 2),
    ],
    "an id is used for two nodes, and the one that is gone had a frame": [
        ("change", 1, ("node", "group"), 1, 0, 0),
        ("change", 0, ("node", "remote_root"), 1, 0, 0),
        ("change", 0, ("own", "prefer"), 7, 1, 0),
    ],
    "the frame of a node that is gone is named by a pose that goes": [
        ("change", 1, ("node", "sampled"), 0, 0, 0),
        ("change", 1, ("barrier", "reset"), 0, 0, 0),
        ("change", 0, ("barrier", "fix_in_node"), 2, 3, 0),
        ("change", 0, ("node", "group"), 0, 0, 0),
        ("change", 0, ("barrier", "erase_all"), 2, 0, 0),
    ],
    "a grasp by the source of a node holds again when the node never was": [
        ("change", 0, ("node", "add_parent"), 0, 0, 0),
        ("change", 0, ("frame", "recalibrate"), 1, 0, 0),
        ("change", 0, ("node", "unsay"), 0, 0, 0),
        ("change", 0, ("frame", "grasp_tag"), 0, 0, 0),
        ("change", 0, ("barrier", "fix"), 0, 0, 7),
        ("change", 0, ("frame", "tag"), 0, 0, 0),
        ("undo", 0),
        ("change", 1, ("node", "add_parent"), 0, 0, 0),
        ("change", 1, ("barrier", "reset"), 0, 0, 0),
        ("change", 1, ("node", "connection"), 0, 0, 0),
    ],
    "a pose of an earlier time gives way to an older one that holds for always": [
        ("change", 2, ("barrier", "reset"), 0, 0, 0),
        ("change", 2, ("frame", "fix"), 6, 0, 4),
        ("change", 0, ("frame", "fix"), 6, 2, 6),
    ],
    "frames are fixed to one another in a cycle while a motion is measured": [
        ("change", 1, ("frame", "fix"), 2, 1, 6),
        ("change", 3, ("frame", "fix"), 1, 7, 0),
        ("change", 3, ("frame", "attach"), 5, 3, 1),
        ("change", 4, ("frame", "fix"), 0, 4, 7),
        ("change", 4, ("own", "prefer"), 2, 1, 2),
        ("change", 3, ("frame", "tag"), 7, 6, 0),
        ("change", 3, ("frame", "unfix"), 4, 2, 0),
        ("change", 2, ("frame", "fix"), 2, 5, 5),
        ("change", 3, ("node", "group"), 0, 4, 1),
        ("change", 1, ("barrier", "reset"), 2, 1, 1),
        ("change", 1, ("frame", "await_twists"), 3, 7, 2),
    ],
    "a motion is within a body": [
        ("change", 0, ("frame", "await_twists"), 6, 4, 7),
        ("change", 1, ("frame", "body"), 1, 4, 4),
    ],
    "a frame is removed, and seen by who does not know": [
        ("see", 1, 1, 0, 0),
        ("see", 0, 0, 1, 0),
        ("change", 1, ("frame", "erase_all"), 0, 0, 0),
    ],
    "a frame is removed, and seen in another that it was fixed in": [
        ("change", 0, ("frame", "recalibrate"), 0, 1, 0),
        ("deliver", 1),
        ("change", 2, ("frame", "erase_all"), 0, 0, 0),
        ("see", 0, 0, 1, 0),
    ],
    "time begins anew, and a frame was seen before": [
        ("change", 2, ("barrier", "reset"), 0, 0, 0),
        ("see", 1, 4, 0, 2),
        ("see", 0, 4, 5, 1),
    ],
    "time begins anew, and two saw a frame at once before": [
        ("change", 0, ("frame", "fix"), 0, 1, 0),
        ("see", 1, 7, 1, 1),
        ("change", 2, ("barrier", "reset"), 0, 0, 0),
        ("see", 0, 7, 0, 5),
    ],
    "time begins anew, and frames were seen in one another": [
        ("see", 1, 0, 1, 1),
        ("see", 0, 0, 2, 5),
        ("change", 0, ("barrier", "reset"), 0, 0, 0),
        ("see", 0, 7, 0, 0),
    ],
    "a node that goes with what it was in had a grasp before it was there": [
        ("change", 0, ("frame", "grasp_tag"), 0, 0, 0),
        ("change", 0, ("frame", "tag"), 0, 0, 0),
        ("change", 0, ("frame", "erase_all"), 0, 0, 0),
    ],
}


class TestWhatWentWrong:
    """Shortest runs in which replicas disagreed."""

    @pytest.mark.parametrize("script", MENDED.values(), ids=MENDED)
    @pytest.mark.parametrize("seed", range(4))
    def test_is_the_same_everywhere(self, script, seed):
        for count in (2, 3, 4):
            assert disagreements(script, count, seed) == []

    def test_a_model_that_is_undone_leaves_no_frame(self):
        script = [
            ("change", 2, ("frame", "body"), 3, 7, 0),
            ("change", 2, ("frame", "fix"), 3, 0, 4),
            ("change", 1, ("own", "model"), 4, 0, 4),
            ("undo", 4),
        ]
        assert disagreements(script, 3, 0) == []

    def test_a_grasp_of_no_node_before_a_reset_of_time(self):
        script = [
            ("change", 1, ("frame", "grasp_tag"), 3, 5, 5),
            ("change", 0, ("frame", "grasp_tag"), 1, 7, 3),
            ("change", 1, ("barrier", "reset"), 0, 7, 5),
        ]
        assert disagreements(script, 4, 3) == []

    def test_a_pose_that_was_taken_back_of_a_frame_with_a_node(self):
        script = [
            ("change", 1, ("barrier", "fix"), 1, 0, 4),
            ("change", 1, ("frame", "unfix"), 5, 5, 1),
            ("repeat", 0),
            ("change", 4, ("barrier", "say_frame"), 4, 0, 1),
        ]
        assert disagreements(script, 2, 0) == []
