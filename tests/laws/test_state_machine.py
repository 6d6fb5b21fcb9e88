"""Anything done in any order, asked about at every step."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from armillary import seconds
from strategies import (
    ANY_PAIR,
    BETWEEN,
    BEYOND,
    FRAMES,
    STAMPS,
    Twins,
    backbones,
    bursts,
    endings,
    fixings,
    preferences,
    questions,
    ranked_fixings,
    samples,
    two_time_questions,
)

SOME_STAMPS = st.lists(st.sampled_from(STAMPS + BETWEEN + BEYOND), min_size=1, max_size=6)


class AWorldAndItsReference(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.twins = Twins()

    @initialize(statements=backbones(), timeout_s=st.sampled_from((0, 1, 1, 1, 2.5, 100)))
    def begin(self, statements, timeout_s):
        self.twins = Twins(rival_timeout=seconds(timeout_s))
        self.twins.do_all(statements)

    @rule(statement=ranked_fixings(ANY_PAIR))
    def attach_or_release(self, statement):
        self.twins.do(*statement)

    @precondition(lambda self: self.twins.reference.events)
    @rule(statement=endings(), data=st.data())
    def end(self, statement, data):
        of, source = data.draw(st.sampled_from(sorted(self.twins.reference.events)))
        self.twins.do("end", {**statement[1], "of": of, "source": source})

    @rule(statements=bursts(ANY_PAIR) | st.lists(samples(ANY_PAIR), min_size=1, max_size=5))
    def sample(self, statements):
        self.twins.do_all(statements)

    @rule(statements=fixings(ANY_PAIR))
    def fix(self, statements):
        self.twins.do(*statements)

    @precondition(lambda self: self.twins.reference.frames)
    @rule(preference=preferences(), data=st.data())
    def prefer(self, preference, data):
        known = data.draw(st.sampled_from(sorted(self.twins.reference.frames)))
        self.twins.do("prefer", {**preference[1], "of": known})

    @rule(name=st.sampled_from(FRAMES), subtree=st.booleans())
    def remove_frame(self, name, subtree):
        self.twins.do("remove_frame", {"name": name, "subtree": subtree})

    @rule(statements=bursts(ANY_PAIR))
    def clear_and_begin_anew(self, statements):
        self.twins.do("clear", {})
        self.twins.do_all(statements)

    @rule(asked=st.lists(questions(), min_size=1, max_size=5))
    def ask(self, asked):
        for question in asked:
            self.twins.ask(question)

    @rule(question=two_time_questions())
    def ask_between_two_times(self, question):
        self.twins.ask(question)

    @rule(question=questions(), stamps=SOME_STAMPS)
    def ask_many_stamps_at_once(self, question, stamps):
        self.twins.ask_many(question, stamps)

    @rule(question=questions())
    def ask_for_all_frames_at_once(self, question):
        self.twins.ask_for_all(question)

    @invariant()
    def the_frames_are_those_of_the_reference(self):
        assert set(self.twins.world.frames()) - {"map"} == self.twins.reference.frames


TestAWorldAndItsReference = AWorldAndItsReference.TestCase
