"""How the errors of relations reach the ends of paths.

A path with errors is the path without, followed by those of its relations: `T_p Exp(J_1 xi_1) ... Exp(J_n xi_n)`,
exact whatever their size. So what one of them does depends on those after it. Taken where the estimate is, rather than
where the paths began, what all the paths share moves all their ends alike, however vague it is and however far they
differ.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armillary.fusion._error_model import Joint, roots_of
from armillary.relations.arrays import right_jacobian
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

    from armillary.fusion._candidates import Candidate, Step

    Array = NDArray[float64]

_SIX = 6


class PathErrors:
    """The errors of several paths: a relation that several share has one. What is unknown counts as zero.

    Attributes:
        keys: What tells the errors from each other, (relation, error) of their steps.
        is_shared: (E,): whether several paths have it.
    """

    def __init__(self, paths: Sequence[Candidate]) -> None:
        self._transforms = [path.pose.transform for path in paths]
        self._steps = [[step for step in path.steps if _is_uncertain(step)] for path in paths]
        self._numbers: dict[Hashable, int] = {}
        firsts: list[Step] = []
        for step in (step for steps in self._steps for step in steps):
            if _key(step) not in self._numbers:
                self._numbers[_key(step)] = len(firsts)
                firsts.append(step)
        self.keys = tuple(self._numbers)
        self._roots = roots_of(np.array([step.covariance for step in firsts]).reshape(-1, _SIX, _SIX))
        self.is_shared = np.array([len(self._paths_with(key)) > 1 for key in self.keys], dtype=bool)
        self._groups, self._clusters = self._entangled(firsts)
        rows = [(p, self._numbers[_key(step)], step) for p, steps in enumerate(self._steps) for step in steps]
        self._places = [(p, e) for p, e, _ in rows]
        self._jacobians = np.array([step.jacobian for *_, step in rows]).reshape(-1, _SIX, _SIX)

    def _entangled(self, firsts: Sequence[Step]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Groups and clusters: one relation at several instants, and what may rest on the same data."""
        relations = [step.relation for step in firsts]
        derived = {step.relation for step in firsts if step.is_derived}
        groups: dict[Hashable, int] = {}
        clusters: dict[Hashable, int] = {}
        cluster_of_group: list[int] = []
        group_of_error: list[int] = []
        for step in firsts:
            is_derived = step.relation in derived
            rests_alone = not is_derived or relations.count(step.relation) > 1
            group: Hashable = _key(step) if rests_alone else self._paths_with(_key(step))
            if group not in groups:
                groups[group] = len(groups)
                cluster = "derived" if is_derived else step.relation
                cluster_of_group.append(clusters.setdefault(cluster, len(clusters)))
            group_of_error.append(groups[group])
        return tuple(group_of_error), tuple(cluster_of_group)

    def _paths_with(self, key: Hashable) -> frozenset[int]:
        return frozenset(p for p, steps in enumerate(self._steps) if any(_key(step) == key for step in steps))

    def at(self, errors: Array, counted: NDArray[bool_]) -> tuple[list[Transform], Joint]:
        """Where the paths end with these errors, (E, 6), and what a little more of each does there.

        Those that are not counted, (E,), can be no more than they are.
        """
        steps = np.array([errors[e] for _, e in self._places]).reshape(-1, _SIX)
        moves = np.einsum("nij,nj->ni", self._jacobians, steps)
        near = right_jacobian(moves) @ self._jacobians if moves.any() else self._jacobians
        behind = [Transform.identity() for _ in self._transforms]
        effects = np.zeros((len(self.keys), _SIX * len(behind), _SIX))
        for (p, e), move, effect in zip(self._places, moves, near, strict=True):
            effects[e, _SIX * p : _SIX * (p + 1)] += behind[p].inverse().adjoint @ effect
            behind[p] = Transform.exp(move) @ behind[p]
        ends = [nominal @ moved for nominal, moved in zip(self._transforms, behind, strict=True)]
        return ends, Joint(effects, self._roots * counted[:, None, None], self._groups, self._clusters)


def _is_uncertain(step: Step) -> bool:
    return step.covariance is not None and bool(step.covariance.any())


def _key(step: Step) -> Hashable:
    return step.relation, step.error
