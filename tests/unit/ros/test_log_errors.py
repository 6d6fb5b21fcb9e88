"""Each error about logs: raised by a real call, with its evidence, and after a copy as well."""

from __future__ import annotations

import copy
import pickle

import pytest

from armillary import World, errors
from armillary.ros import clouds
from unit.ros.bags import BEGIN, write


def tell(messages):
    yield "/scan", BEGIN, messages.scan(BEGIN, "laser", (1.0, 2.0))


def invalid_log(folder):
    (folder / "notes.bag").write_bytes(b"milk")
    World.from_log(folder / "notes.bag")


def no_such_topic(folder):
    list(clouds(write(folder, "mcap", tell), "/camera"))


CASES = {
    "InvalidLog": (invalid_log, "cannot be read as a log", ("path", "reason", "hint")),
    "NoSuchTopic": (no_such_topic, "It has: /scan", ("path", "topic", "known")),
}


@pytest.mark.parametrize("name", CASES)
class TestAnErrorOfALog:
    def test_keeps_its_evidence_and_says_what_is_there(self, name, tmp_path):
        call, says, evidence = CASES[name]
        with pytest.raises(getattr(errors, name), match=says) as caught:
            call(tmp_path)
        assert all(getattr(caught.value, part) is not None for part in evidence)

    @pytest.mark.parametrize(
        "again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"]
    )
    def test_survives_a_copy(self, name, again, tmp_path):
        call, _, evidence = CASES[name]
        with pytest.raises(getattr(errors, name)) as caught:
            call(tmp_path)
        twin = again(caught.value)
        assert (type(twin), str(twin)) == (type(caught.value), str(caught.value))
        assert [getattr(twin, part) for part in evidence] == [getattr(caught.value, part) for part in evidence]
