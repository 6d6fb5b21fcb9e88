"""Each error about expressions: raised by a real call, with its evidence and its hint."""

from __future__ import annotations

import copy
import pickle
import shutil
from unittest import mock

import pytest

from armillary import errors
from armillary.articulation import VectorExpression, expression_from_document, jerk, position, sin
from unit.errors.kinds import EXPRESSIONS

q = position("q")


def _without_compiler():
    nowhere_else = q * 0.0123456789  # equal expressions share their machine code, whoever compiled them
    with mock.patch.object(shutil, "which", return_value=None):
        nowhere_else.compile(order=[q], backend="c")


CASES = {
    "CannotCompile": (_without_compiler, {"reason": "no C compiler was found (CC, gcc, cc, clang)"}, "backend='vm'"),
    "InvalidExpression": (
        lambda: expression_from_document({"version": 2}),
        {"field": "version"},
        "Write it again with expression_to_document",
    ),
    "NoSuchEntry": (lambda: VectorExpression([q, 1.0])[2], {"place": 2, "count": 2}, "Count from 0 to 1"),
    "NotGrounded": (lambda: sin(q).value(), {"variables": ("position('q')",)}, "Give a number for each"),
    "NoSuchOrder": (
        lambda: jerk("q").derivative,
        {"variable": "jerk('q')", "asked": "derivative"},
        "Differentiate less often",
    ),
}


def error_of(name):
    with pytest.raises(getattr(errors, name)) as caught:
        CASES[name][0]()
    return caught.value


class TestTheErrorsOfExpressions:
    def test_are_all_raised_by_real_calls(self):
        assert set(CASES) == {kind.__name__ for kind in EXPRESSIONS}

    @pytest.mark.parametrize("name", CASES)
    def test_keep_their_evidence_and_offer_a_cure(self, name):
        error = error_of(name)
        _, evidence, hint = CASES[name]
        assert {key: getattr(error, key) for key in evidence} == evidence
        assert hint in str(error)

    @pytest.mark.parametrize("name", CASES)
    def test_survive_a_copy(self, name):
        error = error_of(name)
        for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))
