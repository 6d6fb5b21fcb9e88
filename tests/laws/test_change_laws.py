"""Laws of the change record: what is written is read back, and nothing that is read does harm."""

from __future__ import annotations

import json
import random
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from armillary._core import ChangeRecord
from armillary.errors import InvalidArgument
from log_stories import Story, stories


@given(stories)
def test_a_change_is_read_back_as_it_was_written(story):
    for record in Story(story).records:
        one = ChangeRecord.from_json(json.dumps(record))
        assert json.loads(one.to_json()) == record
        assert ChangeRecord.from_json(one.to_json()) == one


@given(stories, st.integers(0, 2**32))
def test_whatever_a_text_holds_it_is_read_or_refused(story, seed):
    rng = random.Random(seed)
    for record in Story(story).records:
        text = list(json.dumps(record))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 3)] = rng.choice(
                ['"', "{", "}", "[", "]", "1e9", "-", "null", "é", "\\u0000", ""]
            )
        with suppress(InvalidArgument):
            one = ChangeRecord.from_json("".join(text))
            assert ChangeRecord.from_json(one.to_json()) == one
