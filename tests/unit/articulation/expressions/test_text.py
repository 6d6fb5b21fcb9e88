"""Plain text and LaTeX."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import armillary.articulation as art
from armillary.articulation import MatrixExpression, VectorExpression, position, sin, sqrt
from unit.articulation.duals import UNARY

a, b = position("a"), position("b")
hinge = position("door/hinge_1")

PLAIN = {
    "a + b": a + b,
    "a - (b - 1)": a - (b - 1.0),
    "a - b - 1": a - b - 1.0,
    "2 * sin(a) + 1": 2.0 * sin(a) + 1.0,
    "(a + b) * a": (a + b) * a,
    "a / (a * b)": a / (a * b),
    "(a + b) ** 2": (a + b) ** 2,
    "a ** b": a**b,
    "-(a + b)": -(a + b),
    "1 / a": 1.0 / a,
    "min(a, b)": art.min(a, b),
    "a' + b''": a.velocity + b.acceleration,
    "door/hinge_1": hinge.expression,
}
LATEX = {
    r"a + b": a + b,
    r"\frac{a}{b}": a / b,
    r"\sqrt{a}": sqrt(a),
    r"\left(a + b\right)^{2}": (a + b) ** 2,
    r"\dot{a} + \ddot{b}": a.velocity + b.acceleration,
    r"\text{door/hinge\_1}": hinge.expression,
    r"\left|a\right|": abs(a + 0.0),
    r"\arcsin\left(a\right)": art.asin(a),
    r"\begin{bmatrix} a \\ 2 \end{bmatrix}": VectorExpression([a, 2.0]),
    r"\begin{bmatrix} a & 0 \\ 1 & b \end{bmatrix}": MatrixExpression([[a, 0.0], [1.0, b]]),
}


class TestPlainText:
    @pytest.mark.parametrize(("text", "expression"), PLAIN.items(), ids=PLAIN)
    def test_is_what_one_would_type(self, text, expression):
        assert str(expression) == text

    @given(x=st.floats(0.1, 2.0), y=st.floats(0.1, 2.0))
    def test_can_be_calculated_again(self, x, y):
        expression = -((a - (b - a * b)) ** 2) / (a * (b + 1.0)) - (a / b / a) * (-a) ** 3
        python = eval(str(expression), {"a": x, "b": y})
        assert expression.evaluate({a: x, b: y}) == pytest.approx(python)

    def test_names_long_parts_that_are_used_twice(self):
        part = sin(hinge) * sin(hinge) + 2.0
        text = str(part / (1.0 + sqrt(part)))
        assert text == "s1 / (1 + sqrt(s1)) where s1 = sin(door/hinge_1) ** 2 + 2"

    def test_does_not_explode(self):
        grown = sin(hinge)
        for _ in range(60):
            grown = grown * grown + grown
        assert len(str(grown)) < 3000

    def test_shows_the_kind_and_ends_early(self):
        assert repr(a + b) == "Expression(a + b)"
        assert len(repr(art.stack([sin(a + i * b) for i in range(100)]))) < 250

    def test_arranges_vectors_and_matrices(self):
        assert str(VectorExpression([a, 2.0])) == "[a, 2]"
        assert str(MatrixExpression([[a, 0.0], [1.0, b]])) == "[[a, 0], [1, b]]"


class TestLatex:
    @pytest.mark.parametrize(("text", "expression"), LATEX.items(), ids=LATEX)
    def test_is_what_one_would_type(self, text, expression):
        assert expression.latex() == text

    def test_is_shown_in_notebooks(self):
        assert (a + b)._repr_latex_() == "$a + b$"

    def test_knows_all_functions_and_balances_its_braces(self):
        everything = VectorExpression([ours(a + b) for ours, _, _ in UNARY.values()])
        text = everything.latex()
        assert text.count("{") == text.count("}")
        assert text.count(r"\left") == text.count(r"\right")

    def test_writes_numbers_as_people_do(self):
        assert (a * 1e-12).latex() == r"1 \cdot 10^{-12} \, a"
        assert (a + math.inf).latex() == r"a + \infty"

    def test_names_shared_parts(self):
        part = sin(hinge) * sin(hinge) + 2.0
        assert r",\quad s_{1} = " in (part / (1.0 + sqrt(part))).latex()
