"""Pictures about tracking: what the filter makes of poses with the noise of the thesis (eq. 4.25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pens import MOVING_RIM, TURN, heading
from shapes import text

from armillary import Transform, seconds
from armillary.articulation import ArticulationModel, Limits, PrismaticJoint
from armillary.motion import Tracker, TrackingFilter
from armillary.view._drawing import Line, Shape
from armillary.view.theme import EDGE, INK, MUTED

if TYPE_CHECKING:
    import pens
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RATE_HZ, _LENGTH_S, _DISTANCE_M = 28, 10.0, 2.0
_ALPHAS = (0.01, 0.03, 0.06)
_LEFT, _WIDTH, _HEIGHT, _GAP, _TOP = 56.0, 660.0, 116.0, 42.0, 84.0
_LOW_M, _HIGH_M = -0.1, 0.5
_SETTLED_S, _MOVES_S, _RESTS_S = 1.0, 4.0, 7.0


def tracking_jitter() -> pens.Shapes:
    """Draw a drawer that is seen from two metres: each estimate alone, and with the filter."""
    yield from heading(
        (_LEFT, 26.0),
        "A drawer seen from 2 m, 28 times a second",
        "each estimate alone (pale), with the filter (dark), and where it is (thin)",
    )
    for row, alpha in enumerate(_ALPHAS):
        top = _TOP + row * (_HEIGHT + _GAP)
        yield from _panel(top, alpha, _tracked(alpha))


def _tracked(alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return times, the true opening, that of each instant alone, and that of the filter."""
    model = ArticulationModel()
    model.add("desk/links/top")
    drawer = PrismaticJoint(variable="desk/drawer", limits=Limits(lower=0.0, upper=0.45))
    model.add("desk/links/drawer", drawer, "desk/links/top")
    tracker, filtering = Tracker(model), TrackingFilter(model)
    random, sigma = np.random.default_rng(2), 2.0 ** (alpha * _DISTANCE_M) - 1.0
    times = np.arange(0.0, _LENGTH_S, 1.0 / _RATE_HZ)
    part = np.clip((times - _MOVES_S) / (_RESTS_S - _MOVES_S), 0.0, 1.0)
    truth = 0.1 + 0.25 * part * part * (3.0 - 2.0 * part)
    alone, filtered = [], []
    for time, x in zip(times.tolist(), truth.tolist(), strict=True):
        shift, turn = sigma * random.normal(size=(2, 3)) / np.sqrt(3.0)
        pose = Transform.from_translation(shift + np.array([x, 0.0, 0.0])) @ Transform.exp((0.0, 0.0, 0.0, *turn))
        seen, covariance = {"desk/links/drawer": pose}, (sigma**2 / 3.0,) * 6
        alone.append(tracker.update(seen, covariances=covariance).configuration["desk/drawer"])
        estimate = filtering.update(seen, covariances=covariance, at=seconds(time))
        filtered.append(estimate.configuration["desk/drawer"])
    return times, truth, np.array(alone), np.array(filtered)


def _panel(top: float, alpha: float, tracked: tuple[Floats, Floats, Floats, Floats]) -> pens.Shapes:
    times, truth, alone, filtered = tracked
    for value in (0.0, 0.2, 0.4):
        y = _down(top, value)
        yield Line(points=((_LEFT, y), (_LEFT + _WIDTH, y)), color=EDGE, width=0.5)
        yield text((_LEFT - 8.0, y + 4.0), f"{value:.1f}", color=MUTED, anchor="end")
    rests = (times > _SETTLED_S) & ((times < _MOVES_S) | (times > _RESTS_S + _SETTLED_S))
    steps = [1e3 * np.abs(np.diff(values)[rests[1:]]).mean() for values in (alone, filtered)]
    title = f"alpha = {alpha}: from one estimate to the next {steps[0]:.0f} mm alone, {steps[1]:.1f} mm with the filter"
    yield text((_LEFT, top - 6.0), title, color=INK)
    for values, color, width in ((alone, MOVING_RIM, 0.7), (filtered, TURN, 2.2), (truth, INK, 0.8)):
        yield _curve(top, times, values, color, width)


def _curve(top: float, times: Floats, values: Floats, color: str, width: float) -> Shape:
    right = _LEFT + _WIDTH * times / _LENGTH_S
    points = tuple((float(x), _down(top, float(value))) for x, value in zip(right, values, strict=True))
    return Line(points=points, color=color, width=width)


def _down(top: float, value: float) -> float:
    return top + _HEIGHT * (_HIGH_M - value) / (_HIGH_M - _LOW_M)
