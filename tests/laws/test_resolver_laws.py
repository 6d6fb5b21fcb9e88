"""Laws of the change log and its resolver: a function of the set of changes, equal to the reference at all times."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from armillary._core import ChangeLog, ChangeRecord
from log_stories import Story, stories
from resolver_reference import ALWAYS, PRESENT, ROOT, Resolution

some_seed = st.integers(0, 2**32)


def log_of(records):
    log = ChangeLog()
    for record in records:
        log.append(ChangeRecord.from_json(json.dumps(record)))
    return log


def records_of(log):
    return [json.loads(change.to_json()) for change in log.records()]


def native_answers(log: ChangeLog, rows: list[Any], instants: list[int]) -> dict[str, Any]:
    resolved = log.resolve(rows)
    groups: dict[str, set[str]] = {}
    for name, top in resolved.moves_with.items():
        groups.setdefault(top, set()).add(name)
    answers: dict[str, Any] = {
        "frames": set(resolved.frames),
        "bodies": (set(resolved.bodies), resolved.on),
        "moves_with": {frozenset(group) for group in groups.values()},
        "variables": resolved.variables,
    }
    for t in instants:
        answers[f"pieces {t}"] = {piece[0]: piece[1:] for piece in resolved.pieces(t)}
        answers[f"inactive {t}"] = set(resolved.inactive(t))
        answers[f"nodes {t}"] = dict(resolved.nodes(t).items())
        answers[f"preferences {t}"] = resolved.preferences(t)
    return answers


def reference_answers(reference: Resolution, instants: list[int]) -> dict[str, Any]:
    answers: dict[str, Any] = {
        "frames": reference.frames,
        "bodies": (reference.bodies, reference.on),
        "moves_with": set(reference.moves_with().values()),
        "variables": reference.variables,
    }
    subjects = {next(iter(r["subject"].items())) for r in reference.held.values() if r["type"] == "prefer"}
    for t in instants:
        active, cut = reference.active(t)
        pieces = {track: (*piece.key, False) for track, piece in active.items()}
        answers[f"pieces {t}"] = pieces | {track: (*piece.key, True) for track, piece in cut.items()}
        answers[f"inactive {t}"] = reference.inactive(t)
        answers[f"nodes {t}"] = _nodes(reference, t)
        preferred = {subject: reference.preference(dict([subject]), t) for subject in subjects}
        answers[f"preferences {t}"] = {subject: source for subject, source in preferred.items() if source is not None}
    return answers


def _nodes(reference, t):
    now = reference.containment(t)
    found = {}
    for node in now.alive - {ROOT}:
        incarnation = now.incarnations[node]
        head, frame = reference.head(node, incarnation), reference.frame(node, incarnation)
        found[node] = (head["kind"], frame, now.parents(node), reference.attributes(node, incarnation, t))
    return found


def assert_same(answers, expected):
    for name, answer in expected.items():
        assert answers[name] == answer, name


def instants_of(reference):
    return [t for t in reference.change_points() if ALWAYS < t < PRESENT]


class TestTheResolver:
    @given(stories)
    def test_equals_the_reference_at_every_instant(self, told):
        story = Story(told)
        reference = Resolution(story.records, story.rows)
        instants = instants_of(reference)
        assert_same(native_answers(log_of(story.records), story.rows, instants), reference_answers(reference, instants))

    @given(stories, some_seed)
    def test_is_a_function_of_the_set_of_changes_and_samples(self, told, seed):
        story, rng = Story(told), random.Random(seed)
        instants = instants_of(Resolution(story.records, story.rows))
        expected = native_answers(log_of(story.records), story.rows, instants)
        records, rows = story.records * 2, list(story.rows)
        rng.shuffle(records)
        rng.shuffle(rows)
        shuffled = log_of(records)
        assert_same(native_answers(shuffled, rows, instants), expected)
        assert records_of(shuffled) == records_of(log_of(story.records))
        assert shuffled.held() == log_of(story.records).held()

    @given(stories, st.integers(0, 40))
    def test_does_not_notice_that_a_log_was_compacted_on_the_way(self, told, cut):
        story = Story(told)
        first = records_of(log_of(story.records[:cut]))
        whole = log_of(first + story.records[cut:])
        reference = Resolution(story.records, story.rows)
        instants = instants_of(reference)
        assert_same(native_answers(whole, story.rows, instants), reference_answers(reference, instants))

    @given(stories)
    def test_active_pieces_are_a_forest_of_one_parent_a_track_at_every_instant(self, told):
        story = Story(told)
        resolved = log_of(story.records).resolve(story.rows)
        for t in instants_of(Resolution(story.records, story.rows)):
            pieces = resolved.pieces(t)
            assert len({piece[0] for piece in pieces}) == len(pieces)
            above: dict[str, set[str]] = {}
            for (kind, of, _), parent, _, _, _, holds, is_cut in pieces:
                if kind == "pose" and holds and not is_cut:
                    above.setdefault(of, set()).add(parent)
            assert _is_acyclic(above)


def _is_acyclic(above):
    left = set(above)
    while left:
        free = {name for name in left if not above[name] & left}
        if not free:
            return False
        left -= free
    return True


class TestTheLog:
    @given(stories)
    def test_keeps_exactly_what_no_other_record_makes_superfluous(self, told):
        story = Story(told)
        log = log_of(story.records)
        assert {change.id for change in log.records()} == Resolution(story.records).needed()
        assert all(not log.append(ChangeRecord.from_json(json.dumps(record))) for record in story.records)

    @given(stories)
    def test_reports_only_what_it_keeps(self, told):
        story = Story(told)
        log = log_of(story.records)
        resolved, kept = log.resolve(story.rows), {change.id for change in log.records()}
        for t in instants_of(Resolution(story.records, story.rows)):
            assert {row[0] for row in resolved.inactive(t)} <= kept

    @given(stories)
    def test_a_removed_frame_is_gone_unless_something_newer_names_it(self, told):
        story = Story(told)
        barrier = story.authors[0]
        for record in story.records:
            barrier.hear(record)
        removal = barrier.sign("remove_frames", names=["a", "b", "map"])
        resolved = log_of([removal, *story.records]).resolve(story.rows)
        assert {"a", "b"}.isdisjoint(resolved.frames)
        assert "map" in resolved.frames
        assert all(piece[1] not in ("a", "b") for t in range(9) for piece in resolved.pieces(t))

    @given(stories)
    def test_a_sample_made_before_a_write_for_always_is_never_seen(self, told):
        story = Story(told)
        author = story.authors[0]
        for record in story.records:
            author.hear(record)
        stale = [row | {"base": [0, 0]} for row in story.rows if "track" in row]
        writes = [author.says(row["track"][1], None, kind=row["track"][0], source=row["track"][2]) for row in stale]
        anew = [
            author.says(row["track"][1], {"sampled": {"in_frame": row["in_frame"], "interpolation": "linear"}}, 0)
            | {"track": row["track"]}
            for row in stale
        ]
        resolved = log_of(story.records + anew + writes).resolve(stale)
        assert not any(p[2] == "sampled" and p[5] for t in range(9) for p in resolved.pieces(t))
