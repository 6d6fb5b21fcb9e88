"""Random stories are answered as the recorded build answered them, where no rule or defect explains a difference."""

from __future__ import annotations

import pytest

pytest.importorskip("casadi")

from against_reference import differences as from_reference
from corpus.answers import answers
from corpus.explanations import EXPLAINED, Explanation, Explanations
from corpus.generate import RECORDED, answer_lines, differences, differing_groups, recorded, report
from corpus.stories import FAMILIES, FIRST_CONTENDED, KINDS, story
from corpus.telling import Replay
from randomness import IS_SOAK

QUICK = (*range(300), *range(FIRST_CONTENDED, FIRST_CONTENDED + 150))
SHOWN = 3
MAX_BYTES = 3_000_000
SAMPLING = ("see", "see_series", "see_everywhere", "expire")  # local: no record tells of them
FEW_INSTANTS = 10


class ComparedReplay(Replay):
    """Compares the world that acted with the reference, after every step."""

    def _try(self, me, action):
        super()._try(me, action)
        found = from_reference(self.worlds[me], most_instants=FEW_INSTANTS)
        assert found == [], f"{self.story}: step {len(self.outcomes)}"


@pytest.fixture(scope="module")
def stories():
    return recorded()


class TestTheCorpus:
    def test_is_answered_as_it_was(self, stories):
        explanations = Explanations.read()
        asked = stories if IS_SOAK else [stories[number] for number in QUICK]
        found = list(differences(asked, explanations))
        how = "Where this is meant: tests/corpus/explanations.py. Shorter: tests/corpus/generate.py --shrink."
        assert not found, "\n".join([f"{len(found)} stories differ.", *found[:SHOWN], how])
        assert not IS_SOAK or not explanations.unused, f"These explain nothing: {explanations.unused}"

    def test_is_resolved_as_the_reference_resolves_it(self, tmp_path):
        for number in range(4800) if IS_SOAK else range(500, 4500, 50):
            one = story(number)
            if one.family == "forgotten changes":  # what is forgotten is in no record
                continue
            steps = tuple(step for step in one.steps if KINDS[step[0]] not in SAMPLING)
            replay = ComparedReplay(one.with_steps(steps), tmp_path)
            replay.run()
            replay.close()

    def test_is_what_the_generator_makes(self, stories):
        assert [one.story for one in stories] == [story(number) for number in range(len(stories))]

    def test_has_every_kind_of_step_in_it(self, stories):
        found = {KINDS[kind] for one in stories for kind, *_ in one.story.steps}
        assert found == set(KINDS)
        assert {one.story.family for one in stories} == set(FAMILIES)

    def test_is_large_enough_and_small_enough(self, stories):
        assert len(stories) >= 2000
        assert sum(one.answers is not None for one in stories) >= 300
        assert RECORDED.stat().st_size < MAX_BYTES

    def test_answers_the_same_twice(self):
        assert answers(story(7)) == answers(story(7))


class TestADifference:
    def test_is_reported_step_by_step_and_answer_by_answer(self, stories):
        one = stories[1]
        now = {name: dict(group) for name, group in one.answers.items()}
        now["a: frames"] = {"frames": ["elsewhere"]}
        assert differing_groups(one, now) == ["a: frames"]
        lines = report(one.story, ["a: frames"], one.answers, now).splitlines()
        assert len(lines) == 1 + len(one.story.steps) + 1
        assert lines[-1].endswith("-> ['elsewhere']")

    def test_of_one_answer_is_found_in_its_group(self):
        before, now = {"1200": {"p": [1.0], "q": "NoSamples"}}, {"1200": {"p": [1.0], "q": [2.0]}}
        assert list(answer_lines("a: poses", before, now)) == ["  a: poses/1200/q: NoSamples -> [2.0]"]

    @pytest.mark.parametrize(("stories", "is_meant"), [("all", True), ("nodes", True), ([0], True), ("frames", False)])
    def test_may_be_explained(self, stories, is_meant):
        explanations = Explanations([Explanation(stories, ".*: poses .*", "rule 8")])
        assert explanations.covers(story(0), "b: poses unique") == is_meant
        assert not explanations.covers(story(0), "b: frames")
        assert bool(explanations.unused) != is_meant

    def test_that_is_explained_says_why(self):
        assert all(entry.why.strip() for entry in Explanations.read(EXPLAINED).entries)
