"""Random mechanisms with one joint, whose parts were seen with noise and outliers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from armillary import Transform

KINDS = ("fixed", "prismatic", "revolute", "screw", "unknown")


@dataclass(frozen=True)
class Mechanism:
    kind: str
    axis: np.ndarray
    point: np.ndarray
    pitch_m: float
    values: np.ndarray
    poses: np.ndarray
    is_wrong: np.ndarray = field(repr=False)


def rows(transforms):
    return np.array([(*one.translation, *one.rotation.wxyz) for one in transforms])


def unit(random, size=3):
    drawn = random.normal(size=size)
    return drawn / np.linalg.norm(drawn)


def anywhere(random, reach_m):
    return Transform.exp(np.concatenate([random.uniform(-reach_m, reach_m, 3), unit(random) * random.uniform(0, 3)]))


def turned(axis, angle, along=0.0):
    return Transform.exp(np.concatenate([axis * along, axis * angle]))


def mechanism(random, kind, *, count=60, noise_m=0.005, noise_rad=0.01, wrong=0.2):
    """A part that slides by 15 to 50 cm, turns by 35 to 115 degrees, or moves along a screw by up to a turn."""
    axis, point, part = unit(random), random.uniform(-1.0, 1.0, 3), anywhere(random, 0.3)
    pitch_m = random.choice([-1.0, 1.0]) * random.uniform(0.05, 0.4)
    base_T_axis = Transform.from_translation(point)
    lever = Transform.from_translation(unit(random) * random.uniform(0.2, 0.8))
    values = np.sort(random.uniform(0.0, 1.0, count)) * {
        "prismatic": random.uniform(0.15, 0.5),
        "revolute": random.uniform(0.6, 2.0),
        "screw": random.uniform(1.0, 6.0),
    }.get(kind, 0.0)
    poses = {
        "fixed": lambda _: part,
        "prismatic": lambda q: Transform.from_translation(axis * q) @ part,
        "revolute": lambda q: base_T_axis @ turned(axis, q) @ lever @ part,
        "screw": lambda q: base_T_axis @ turned(axis, q, q * pitch_m / (2.0 * np.pi)) @ part,
        "unknown": lambda _: anywhere(random, 0.3),
    }
    sigma = np.array([noise_m] * 3 + [noise_rad] * 3)
    seen = [poses[kind](q) @ Transform.exp(sigma * random.normal(size=6)) for q in values]
    is_wrong = random.uniform(size=count) < wrong
    seen = [anywhere(random, 1.0) @ one if bad else one for one, bad in zip(seen, is_wrong, strict=True)]
    return Mechanism(kind, axis, point, pitch_m, values, rows(seen), is_wrong)


def axis_error_deg(guess, truth):
    return float(np.degrees(np.arccos(min(1.0, abs(guess.axis @ truth.axis)))))


def point_error_m(guess, truth):
    """How far the point is from the true axis."""
    off = guess.point - truth.point
    return float(np.linalg.norm(off - truth.axis * (off @ truth.axis)))
