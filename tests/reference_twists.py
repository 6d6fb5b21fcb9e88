"""Motion in plain Python: derivatives by central differences, sums of measured twists, their integral.

The oracle of the laws of moving worlds, beside `reference.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reference import NS_PER_S, ReferenceWorld, exp, rotation_log

if TYPE_CHECKING:
    from collections.abc import Iterable

STEP_NS = 1_000


def turned(R: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([R @ v[:3], R @ v[3:]])


def at_point(v: np.ndarray, lever: np.ndarray) -> np.ndarray:
    return np.concatenate([v[:3] + np.cross(v[3:], lever), v[3:]])


def numeric_twist(world: ReferenceWorld, *, of: str, relative_to: str, at: int, point=None, expressed_in=None, **how):
    """By a central difference of the pose; the lever and the axes are those of the middle."""

    def T(target: str, frame: str, t: int = at) -> np.ndarray:
        return world.pose(of=target, in_frame=frame, at=t, **how).matrix

    before, now, after = (T(of, relative_to, at + step) for step in (-STEP_NS, 0, STEP_NS))
    duration_s = 2 * STEP_NS / NS_PER_S
    angular = now[:3, :3] @ rotation_log(before[:3, :3].T @ after[:3, :3]) / duration_s
    v = np.concatenate([(after[:3, 3] - before[:3, 3]) / duration_s, angular])
    if point is not None:
        v = at_point(v, T(point, relative_to)[:3, 3] - now[:3, 3])
    return v if expressed_in is None else turned(T(relative_to, expressed_in)[:3, :3], v)


@dataclass(frozen=True, eq=False)
class Link:
    """`twist` of frame `head`, relative to the body `reference`, at the origin and along the axes of `head`."""

    head: str
    body: str
    reference: str
    twist: np.ndarray


def chain(links: Iterable[Link], start: str, goal: str) -> list[tuple[Link, int]] | None:
    """The links from body to body, each with its sign; breadth first."""
    links, paths = list(links), {start: []}
    for body in (front := [start]):
        for link in links:
            for here, there, sign in ((link.body, link.reference, 1), (link.reference, link.body, -1)):
                if here == body and there not in paths:
                    paths[there] = [*paths[body], (link, sign)]
                    front.append(there)
    return paths.get(goal)


def summed_twist(world: ReferenceWorld, steps: list[tuple[Link, int]], *, point: str, expressed_in: str, at: int):
    """Each link turned to the axes and moved to the point, then added (B4 of the specification)."""
    total = np.zeros(6)
    for link, sign in steps:
        axes_T_head = world.pose(of=link.head, in_frame=expressed_in, at=at).matrix
        axes_T_point = world.pose(of=point, in_frame=expressed_in, at=at).matrix
        lever = axes_T_point[:3, 3] - axes_T_head[:3, 3]
        total += sign * at_point(turned(axes_T_head[:3, :3], link.twist), lever)
    return total


def integrated(start: np.ndarray, start_ns: int, twists: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The poses at the stamps of the later twists: in between they change linearly (to third order in the time)."""
    poses, T, last_ns = {}, start, start_ns
    last = next((twists[t] for t in sorted(twists, reverse=True) if t <= start_ns), None)
    for t in sorted(t for t in twists if t > start_ns):
        h, a, b = (t - last_ns) / NS_PER_S, twists[t] if last is None else last, twists[t]
        bracket = np.concatenate([np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:]), np.cross(a[3:], b[3:])])
        T = T @ exp(h * (a + b) / 2 + h * h / 12 * bracket)
        poses[t], last, last_ns = T, twists[t], t
    return poses
