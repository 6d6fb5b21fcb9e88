"""Expressions in files: what comes back is the same, and what was touched is refused."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import pickle
import random

import pytest

from armillary.articulation import (
    DirectionExpression,
    MatrixExpression,
    PointExpression,
    VectorExpression,
    cos,
    documents,
    expression_from_document,
    expression_to_document,
    less,
    logical_and,
    position,
    rotation_about,
    rotation_from_rpy,
    sin,
    translation,
    velocity,
)
from armillary.articulation.documents import digest_of
from armillary.errors import InvalidExpression

a, b, wheel = position("a"), position("b"), velocity("wheel")
augmented = (a * b).with_gradient({a.velocity: cos(b), wheel: a + b})
KINDS = {
    "scalar": 2.0 * sin(a) + b,
    "number": a - a + 3.0,
    "augmented": augmented,
    "condition": logical_and(less(augmented, 1.0), less(b, a)) * augmented,
    "vector": VectorExpression([a, 2.0, augmented]),
    "point": PointExpression(a, b, 0.0),
    "direction": DirectionExpression(0.0, b, 1.0),
    "matrix": MatrixExpression([[a, 0.0, 1.0], [b, augmented, 0.0]]),
    "turn": rotation_about((0, 0, 1), augmented),
    "rotation": rotation_from_rpy(a, b, 0.1),
    "chain": translation(augmented, 0, 0)
    @ rotation_about((1, 2, 3), b)
    @ (translation(0, 0, 1) @ translation(a, 0, 0)),
}
MOVING = {
    variable: 0.3 + 0.2 * i
    for i, variable in enumerate(
        [a, b, a.velocity, b.velocity, wheel, a.acceleration, b.acceleration, wheel.acceleration]
    )
}
each_kind = pytest.mark.parametrize("expression", KINDS.values(), ids=KINDS)


@each_kind
class TestADocument:
    def test_comes_back_the_same(self, expression):
        text = json.dumps(expression_to_document(expression))
        assert expression_from_document(json.loads(text)).is_same(expression)

    def test_is_what_pickles_and_copies_use(self, expression):
        assert pickle.loads(pickle.dumps(expression)).is_same(expression)
        assert copy.deepcopy(expression).is_same(expression)

    def test_keeps_second_derivatives(self, expression):
        twin = expression_from_document(expression_to_document(expression))
        found, expected = (each.velocity().velocity().evaluate(MOVING) for each in (twin, expression))
        assert found == pytest.approx(expected, abs=1e-12)

    def test_says_the_same_again(self, expression):
        document = expression_to_document(expression)
        assert expression_to_document(expression_from_document(document)) == document


class TestADocumentOfAChain:
    def test_is_differentiated_as_before(self):
        twin = expression_from_document(expression_to_document(KINDS["chain"]))
        order, along = [a, b], [a, b, wheel]
        assert twin.jacobian_tape(order, along) == KINDS["chain"].jacobian_tape(order, along)


def touched(document, randomness):
    """One place of it is something else."""
    document = copy.deepcopy(document)
    spots = list(_spots(document))
    container, key = randomness.choice(spots)
    container[key] = randomness.choice([None, 0, -1, 7, 1.5, "", "x", [], {}, [1, 2], True, 10**9, "a" * 50])
    return document


def _spots(value):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _spots(inner)


def flipped(document, randomness):
    """One byte of one tape is another, and the text around it is in order."""
    document = copy.deepcopy(document)
    container, key = randomness.choice([(held, key) for held, key in _spots(document) if key == "tape"])
    tape = bytearray(base64.b64decode(container[key]))
    tape[randomness.randrange(len(tape))] ^= 1 << randomness.randrange(8)
    container[key] = base64.b64encode(tape).decode()
    return document


@each_kind
class TestATouchedDocument:
    def test_is_refused_or_the_same(self, expression):
        document, randomness = expression_to_document(expression), random.Random(5)
        for _ in range(60):
            changed = touched(document, randomness)
            if changed != document:
                with pytest.raises(InvalidExpression):
                    expression_from_document(changed)

    def test_with_a_new_checksum_never_does_anything_else_than_be_read_or_refused(self, expression):
        document, randomness = expression_to_document(expression), random.Random(6)
        for change in (touched, flipped):
            for _ in range(40):
                changed = change(document, randomness)
                changed["digest"] = digest_of(changed)
                with contextlib.suppress(InvalidExpression):
                    assert type(expression_from_document(changed)) in {type(each) for each in KINDS.values()}


class TestRefusals:
    @pytest.mark.parametrize("document", [None, [], "x", {}, {"version": 1}, {"version": 1, "kind": "os.system"}])
    def test_name_what_is_missing(self, document):
        with pytest.raises(InvalidExpression, match="expression_to_document"):
            expression_from_document(document)

    def test_lead_to_the_field(self):
        document = expression_to_document(KINDS["condition"])
        document["atoms"][1]["gradient"][0][0] = "/a"
        document["digest"] = digest_of(document)
        with pytest.raises(InvalidExpression, match="begins with") as caught:
            expression_from_document(document)
        assert caught.value.field == "atoms[1].gradient[0]"

    def test_do_not_look_into_the_depth(self):
        deep = expression_to_document(KINDS["chain"])
        for _ in range(200):
            deep = {**deep, "links": [{"links": deep["links"]}]}
        deep["digest"] = digest_of(deep)
        with pytest.raises(InvalidExpression, match="not too deep"):
            expression_from_document(deep)

    def test_are_all_there_is_to_the_module(self):
        assert documents.__all__ == ["expression_from_document", "expression_from_tape", "expression_to_document"]
