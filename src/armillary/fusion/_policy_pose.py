"""A pose that was chosen among several paths, or made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from armillary.fusion import _fusing
from armillary.relations import Pose
from armillary.relations.storage import trusted

if TYPE_CHECKING:
    from armillary.fusion._candidates import Candidate, LostPath


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """What a policy was given, and what it took.

    Attributes:
        paths: Every path with an answer.
        used: Those that the answer was made of.
        lost: Paths without an answer at that instant.
        method: As `Pose.method`.
    """

    paths: tuple[Candidate, ...]
    used: tuple[Candidate, ...]
    lost: tuple[LostPath, ...]
    method: str

    def __repr__(self) -> str:
        return f"Judgement({self.method}: {len(self.used)} of {len(self.paths)} paths used, {len(self.lost)} lost)"

    @cached_property
    def disagreements(self) -> tuple[float, ...] | None:
        """Of every path: how far it is from the answer, in standard deviations; None where one is unknown."""
        is_unknown = any(path.covariance_is_lower_bound for path in self.paths)
        return None if is_unknown else _fusing.distances(self.paths, self.used)


class PolicyPose(Pose):
    """A `Pose` that says which paths it was made of. What is computed from it is a plain `Pose`.

    Attributes:
        judgement: What the policy was given, and what it took.
    """

    __slots__ = ("judgement",)
    judgement: Judgement

    @classmethod
    def of_pose(cls, pose: Pose, judgement: Judgement, **changes: Any) -> PolicyPose:
        """The same pose, with its judgement."""
        return trusted(cls, **(plain_fields(pose) | changes), judgement=judgement)

    def _fields(self) -> dict[str, Any]:
        return plain_fields(self) | {"judgement": self.judgement}

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill({name: value for name, value in fields.items() if name != "judgement"})
        object.__setattr__(self, "judgement", fields["judgement"])

    def _replace(self, **changes: Any) -> Pose:  # type: ignore[override]  # what is computed from it was not judged
        return trusted(Pose, **(plain_fields(self) | changes))

    def __eq__(self, other: object) -> bool:
        return self._replace() == (other._replace() if isinstance(other, PolicyPose) else other)

    def __hash__(self) -> int:
        return hash(self._replace())

    def __matmul__(self, other: Any) -> Any:
        return self._replace() @ other

    @property
    def method(self) -> str:
        """As for every pose; "fused" where it was made of several paths."""
        return self.judgement.method

    @property
    def paths_used(self) -> tuple[Candidate, ...]:
        """The paths that it was made of."""
        return self.judgement.used

    @property
    def paths_lost(self) -> tuple[LostPath, ...]:
        """Paths that had no answer at that instant, and why."""
        return self.judgement.lost

    @property
    def disagreements(self) -> tuple[float, ...] | None:
        """How far each path of `judgement.paths` is from this answer, in standard deviations of that difference.

        None where an uncertainty is unknown.
        """
        return self.judgement.disagreements

    @property
    def disagreement(self) -> float | None:
        """The largest of `disagreements`: the Mahalanobis distance of the path that fits worst. 0 for a single path."""
        apart = self.disagreements
        return None if apart is None else max(apart, default=0.0)

    @property
    def covariance_is_lower_bound(self) -> bool:
        """Whether an unknown uncertainty was counted as zero."""
        return any(path.covariance_is_lower_bound for path in self.paths_used)


def plain_fields(pose: Pose) -> dict[str, Any]:
    """What every pose has."""
    return {name: getattr(pose, name) for name in Pose._FIELDS}  # noqa: SLF001  (a value of ours)
