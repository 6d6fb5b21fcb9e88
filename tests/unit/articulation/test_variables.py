"""Variables are values: a name and an order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from armillary.articulation import Order, Variable, acceleration, jerk, position, velocity
from armillary.errors import InvalidArgument, InvalidName, NoSuchOrder

q = position("arm/elbow")


class TestAVariable:
    def test_is_its_name_and_its_order(self):
        assert q == position("arm/elbow")
        assert hash(q) == hash(position("arm/elbow"))
        assert len({q, q.velocity, velocity("arm/elbow"), position("arm/wrist")}) == 3
        assert q != "arm/elbow"

    def test_has_three_derivatives(self):
        assert [q.velocity, q.acceleration, q.jerk] == [make(q.name) for make in (velocity, acceleration, jerk)]
        assert q.derivative.derivative.derivative == q.jerk
        assert q.jerk.integral.integral.integral == q

    def test_of_another_order_is_another_one(self):
        assert (q.velocity.name, q.velocity.order) == ("arm/elbow", Order.VELOCITY)
        assert q.velocity != q

    def test_ends_at_position_and_jerk(self):
        with pytest.raises(NoSuchOrder, match="derivative of jerk"):
            q.jerk.derivative  # noqa: B018
        with pytest.raises(NoSuchOrder, match="integral of position"):
            q.integral  # noqa: B018

    def test_cannot_be_changed(self):
        for name in ("name", "order"):
            with pytest.raises(AttributeError):
                setattr(q, name, "other")

    def test_travels(self):
        assert pickle.loads(pickle.dumps(q.velocity)) == velocity("arm/elbow")

    def test_is_written_short_and_exactly(self):
        assert [str(q), str(q.velocity), str(q.jerk)] == ["arm/elbow", "arm/elbow'", "arm/elbow'''"]
        assert repr(q.acceleration) == "acceleration('arm/elbow')"

    def test_stores_its_name_composed(self):
        assert position("ta\u0308r") == position("t\u00e4r")

    @pytest.mark.parametrize("name", ["", "/arm", "a\nb", None, 5])
    def test_refuses_names_that_are_none(self, name):
        with pytest.raises(InvalidName):
            position(name)

    def test_refuses_orders_that_are_none(self):
        with pytest.raises(InvalidArgument, match=r"Order\.JERK"):
            Variable("q", 7)


class TestCalculatingWithVariables:
    def test_mixes_with_all_numbers(self):
        numbers = [2, 2.0, np.float64(2.0), np.int64(2), np.float32(2.0), np.array(2.0)]
        assert [(number * q).evaluate({q: 1.5}) for number in numbers] == [3.0] * 6
        assert [(q * number).evaluate({q: 1.5}) for number in numbers] == [3.0] * 6
        assert [(number - q).evaluate({q: 1.5}) for number in numbers] == [0.5] * 6
        assert [(number / q).evaluate({q: 0.5}) for number in numbers] == [4.0] * 6
        assert [(number**q).evaluate({q: 3.0}) for number in numbers] == [8.0] * 6

    def test_knows_equal_variables_made_apart(self):
        twice = position("arm/elbow") + position("arm/elbow")
        assert twice.free_variables == {q}
        assert twice.evaluate({position("arm/elbow"): 0.25}) == 0.5
        assert (twice - 3.0 * q).gradient()[q.velocity].evaluate({q: 0.0}) == -1.0

    def test_has_no_truth_value(self):
        with pytest.raises(InvalidArgument, match="if_else"):
            bool(q)
        with pytest.raises(InvalidArgument, match="no truth value"):
            bool(q + 1.0)

    @pytest.mark.parametrize("other", ["1", None, [1.0], {}])
    def test_refuses_what_is_no_number(self, other):
        for operate in (lambda: q + other, lambda: q * other, lambda: other - q, lambda: q / other, lambda: q**other):
            with pytest.raises(TypeError):
                operate()

    def test_refuses_functions_of_numpy(self):
        with pytest.raises(TypeError):
            np.sin(q)

    def test_cannot_be_compared_by_size(self):
        with pytest.raises(TypeError):
            q < 1.0  # noqa: B015
