"""One motion from the motions that several paths give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from armillary.fusion._error_model import Joint, roots_of, solved
from armillary.relations.representations import LinearAngular

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations import Twist


def fused_twist(twists: Sequence[Twist]) -> Twist:
    """The best estimate from twists of one point along the same axes.

    They count as independent, unless two were computed from the same relation: then covariance intersection bounds
    what that makes of them. Where one is unknown it counts as zero, and the covariance of the answer is None.
    """
    first = twists[0]
    solution, joint = solved(_joint(twists), np.vstack([np.eye(6)] * len(twists)))
    best = solution.gain @ np.concatenate([part for twist in twists for part in (twist.linear, twist.angular)])
    is_known = all(twist.covariance is not None for twist in twists)
    root = solution.gain @ joint.root
    return first._replace(
        coordinates=LinearAngular(linear=best[:3], angular=best[3:]),
        covariance=root @ root.T if is_known else None,
        held=any(twist.held for twist in twists),
        predicted=any(twist.predicted for twist in twists),
        method=first.method if all(twist.method == first.method for twist in twists) else "mixed",
        relations=tuple(dict.fromkeys(relation for twist in twists for relation in twist.relations)),
    )


def _joint(twists: Sequence[Twist]) -> Joint:
    count = len(twists)
    effects = np.eye(6 * count).reshape(6 * count, count, 6).transpose(1, 0, 2)
    spreads: NDArray[float64] = np.array(
        [np.zeros((6, 6)) if twist.covariance is None else twist.covariance for twist in twists]
    )
    share = any(set(a.relations) & set(b.relations) for a, b in combinations(twists, 2))
    return Joint(effects, roots_of(spreads), tuple(range(count)), (0,) * count if share else tuple(range(count)))
