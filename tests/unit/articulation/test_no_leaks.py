"""casadi stays inside: nobody who uses expressions meets it."""

from __future__ import annotations

import inspect

import pytest

import armillary.articulation as art
from armillary.articulation import position, rotation_about, translation
from unit.kit import run_python

a, b = position("a"), position("b")
SAMPLES = [
    a,
    a * b,
    art.VectorExpression([a, b]),
    art.MatrixExpression([[a, b]]),
    art.PointExpression(a, b, 0.0),
    art.DirectionExpression(a, b, 0.0),
    rotation_about((0, 0, 1), a),
    translation(a, b, 0.0),
    (a * b).compile(order=[a, b]),
]
FOR_THE_LIBRARY = {"motion", "of_term", "turn"}
PARTS = [getattr(art, name) for name in art.__all__ if name != "Order"]


def public(value):
    return [name for name in dir(value) if not name.startswith("_") and name not in FOR_THE_LIBRARY]


class TestCasadi:
    @pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
    def test_is_no_attribute(self, sample):
        held = [getattr(sample, name) for name in public(sample) if name not in {"derivative", "integral"}]
        assert [value for value in held if "casadi" in type(value).__module__] == []

    @pytest.mark.parametrize("part", [part for part in PARTS if callable(part)], ids=lambda part: part.__name__)
    def test_is_in_no_signature(self, part):
        members = [part, *(getattr(part, name) for name in public(part))] if inspect.isclass(part) else [part]
        for member in filter(callable, members):
            assert "SX" not in str(inspect.signature(member)).split("'")
            assert "casadi" not in str(inspect.signature(member))

    def test_is_left_as_it_was(self):
        result = run_python(
            "import casadi\n"
            "look = lambda: {name: id(value) for kind in (casadi.SX, casadi) for name, value in vars(kind).items()}\n"
            "before = look()\n"
            "import armillary.articulation as art\n"
            "float(art.sin(0.5) * 2.0)\n"
            "assert look() == before\n"
        )
        assert result.returncode == 0, result.stderr

    def test_is_asked_for_with_the_command_that_installs_it(self):
        result = run_python("import sys\nsys.modules['casadi'] = None\nimport armillary.articulation\n")
        assert "pip install 'armillary[articulation]'" in result.stderr
