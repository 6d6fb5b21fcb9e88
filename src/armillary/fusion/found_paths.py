"""What the native half found between two frames, as candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError, NotConnected
from armillary.fusion._candidates import Candidate, LostPath, Step
from armillary.fusion.policies import used_by

if TYPE_CHECKING:
    from armillary._core import PathChoice
    from armillary.fusion.policies import Policy


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """The paths of one question: those with an answer, how to take each of them, and those without; ordered by name."""

    candidates: tuple[Candidate, ...]
    choices: tuple[PathChoice, ...]
    lost: tuple[LostPath, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> FoundPaths:
        """From what the native half tells; raises what the paths lack where none has an answer."""
        answered, lost, elsewhere = [], [], []
        for said, choice, steps, jacobians, covariances in rows:
            if isinstance(said, NotConnected):
                elsewhere.append(said)
            elif isinstance(said, ArmillaryError):
                lost.append(LostPath(relations=tuple(step[0] for step in steps), error=said))
            else:
                answered.append((Candidate(pose=said, steps=_steps(steps, jacobians, covariances)), choice))
        answered.sort(key=lambda pair: pair[0].relations)
        lost.sort(key=lambda path: path.relations)
        if not answered:
            raise lost[0].error if lost else elsewhere[0]
        candidates, choices = zip(*answered, strict=True)
        return cls(candidates, choices, tuple(lost))

    def believed_by(self, policy: Policy) -> FoundPaths:
        """Those of them that a policy believes."""
        used = used_by(policy, self.candidates)
        kept = [pair for pair in zip(self.candidates, self.choices, strict=True) if pair[0] in used]
        candidates, choices = zip(*kept, strict=True)
        return FoundPaths(candidates, choices, self.lost)

    @property
    def common_stamp(self) -> int | None:
        """The newest instant that all paths cover, where each has another; else None."""
        stamps = {path.pose.stamp for path in self.candidates if path.pose.stamp is not None}
        return min(stamps) if len(stamps) > 1 else None


def _steps(rows: Iterable[tuple[Any, ...]], jacobians: Any, covariances: Any) -> tuple[Step, ...]:
    return tuple(
        Step(
            relation=relation,
            error=error,
            sampled_at=sampled_at,
            is_contested=is_contested,
            is_derived=is_derived,
            jacobian=jacobian,
            covariance=None if np.isnan(covariance[0, 0]) else covariance,
        )
        for (relation, error, sampled_at, is_contested, is_derived), jacobian, covariance in zip(
            rows, jacobians, covariances, strict=True
        )
    )
