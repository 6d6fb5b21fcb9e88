"""What the suite itself promises: skips that may not be, and random inputs that can be had again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import randomness
import requirements


class TestATestThatNeedsTf2:
    def test_is_skipped_where_nobody_requires_it(self, monkeypatch):
        monkeypatch.setattr(requirements, "REQUIRED", ())
        with pytest.raises(pytest.skip.Exception, match="tf2 is absent"):
            requirements.skip_without("tf2", "tf2 is absent")

    def test_fails_where_it_is_required(self, monkeypatch):
        monkeypatch.setattr(requirements, "REQUIRED", ("chromium", "tf2"))
        with pytest.raises(pytest.fail.Exception, match="tf2 is absent"):
            requirements.skip_without("tf2", "tf2 is absent")


class TestRandomInputs:
    def test_are_the_same_for_the_same_seed(self):
        assert randomness.rng(3).integers(2**60) == randomness.rng(3).integers(2**60)
        assert randomness.rng(3).integers(2**60) != randomness.rng(4).integers(2**60)

    def test_of_hypothesis_depend_on_the_seed_alone(self):
        """No database that another machine does not have; without a seed, examples that follow from the test alone."""
        assert (settings.default.database, settings.default.derandomize) == (None, randomness.IS_USUAL)
        told = [self.drawn(), self.drawn()]
        assert told[0] == told[1]
        assert len(set(told[0])) > 1

    def drawn(self):
        numbers = []

        @given(st.integers(0, 2**60))
        def collect(number):
            numbers.append(number)

        collect()
        return numbers
