"""Policies: which sources to use where several place a frame, `world.pose(..., policy=)`.

A policy is called with the paths that have an answer and returns one of them, or a pose made of them. The names
"unique", "latest", "most_certain" and "fuse" select the functions below.

>>> from armillary import Transform, World, seconds
>>> from armillary.fusion.policies import by_source
>>> world = World()
>>> for camera, x in (("left", 1.0), ("right", 3.0)):
...     seen = Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0))
...     world.set_pose(of="cup", in_frame="map", transform=seen, at=seconds(1), source=camera)
>>> float(world.pose(of="cup", in_frame="map", policy="fuse").transform.translation[0])
2.0
>>> float(world.pose(of="cup", in_frame="map", policy=by_source("right")).transform.translation[0])
3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from armillary.errors import AmbiguousPath, InvalidArgument, NoPathChosen
from armillary.fusion.candidates import Candidate, LostPath, Relation, Step
from armillary.fusion.estimate import fused_pose, mahalanobis_distances
from armillary.relations import Pose
from armillary.relations.storage import trusted
from armillary.transforms import joined_held

__all__ = [
    "AnyPolicy",
    "Candidate",
    "Judgement",
    "LostPath",
    "Policy",
    "PolicyPose",
    "RelationAttributes",
    "Step",
    "as_policy",
    "by_attribute",
    "by_source",
    "fuse",
    "judged",
    "latest",
    "most_certain",
    "unique",
    "used_by",
]

Policy = Callable[[Sequence[Candidate]], Candidate | Pose]
"""Gets at least one candidate, in the order of their relations' names, and returns one of them or a pose.

One with a true attribute `at_one_instant` gets all paths at one instant also where `LATEST` was asked for: the newest
that all of them cover.
"""

AnyPolicy = str | Policy
"""What `policy=` takes: a name, or a policy."""

_NEVER = -(2**63)


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """The paths that a policy was given, and those that it used.

    Attributes:
        paths: Every path with an answer.
        used: The paths that the answer was made of.
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
        """The distance of every path from the answer, in standard deviations; None where one is unknown."""
        is_unknown = any(path.covariance_is_lower_bound for path in self.paths)
        return None if is_unknown else mahalanobis_distances(self.paths, self.used)


class PolicyPose(Pose):
    """A `Pose` with the paths that it was made of. What is computed from it is a plain `Pose`.

    Attributes:
        judgement: The paths that the policy was given, and those that it used.
    """

    __slots__ = ("judgement",)
    judgement: Judgement

    @classmethod
    def of_pose(cls, pose: Pose, judgement: Judgement, **changes: Any) -> PolicyPose:
        """A pose with its judgement, and with `changes` to its other fields."""
        plain = {name: getattr(pose, name) for name in cls._FIELDS}
        return trusted(cls, **(plain | changes), judgement=judgement)

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {"judgement": self.judgement}

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill({name: value for name, value in fields.items() if name != "judgement"})
        object.__setattr__(self, "judgement", fields["judgement"])

    def _replace(self, **changes: Any) -> Pose:  # type: ignore[override]  # what is computed from it has no judgement
        return trusted(Pose, **(super()._fields() | changes))

    def __eq__(self, other: object) -> bool:
        return self._replace() == (other._replace() if isinstance(other, PolicyPose) else other)

    def __hash__(self) -> int:
        return hash(self._replace())

    def __matmul__(self, other: Any) -> Any:
        return self._replace() @ other

    @property
    def method(self) -> str:
        """`Pose.method`; "fused" where it was made of several paths."""
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
        """Whether an unknown uncertainty was counted as zero in it."""
        return any(path.covariance_is_lower_bound for path in self.paths_used)


def unique(candidates: Sequence[Candidate]) -> Candidate:
    """The only path; refused where there are several."""
    if len(candidates) == 1:
        return candidates[0]
    chosen = [relation for candidate in candidates for relation in candidate.chosen]
    frame = chosen[0][0]
    sources = dict.fromkeys(source for of, _, source in chosen if of == frame)
    raise AmbiguousPath(frame, tuple(sources), candidates[0].pose.stamp)


def latest(candidates: Sequence[Candidate]) -> Candidate:
    """The path whose data are the newest.

    Compares the newest instant that all relations of a path cover (with `at=LATEST`), then the oldest datum that it
    uses at the instant asked for. A path of fixed poses alone has no data, and counts as the oldest. Of equal ones the
    first by the names of its relations is returned.
    """
    return max(candidates, key=lambda path: (_or_never(path.pose.stamp), _or_never(path.oldest)))


def most_certain(candidates: Sequence[Candidate]) -> Candidate:
    """The path with the smallest trace of its covariance, m² and rad² added up; of equal ones the first by name.

    What is unknown counts as zero: then `covariance_is_lower_bound` of the answer is true.
    """
    return min(candidates, key=lambda path: path.trace)


def fuse(candidates: Sequence[Candidate]) -> Pose:
    """The best estimate from all paths together: generalised least squares on SE(3).

    A relation that several paths share is counted once. Where the correlation of errors is unknown (one relation at two
    instants; poses predicted or integrated from twists) covariance intersection bounds it. An exact path is taken as it
    is; of several exact ones the mean. What is unknown counts as zero: then `covariance_is_lower_bound` of the answer
    is true.
    """
    if len(candidates) == 1:
        return candidates[0].pose
    poses = [candidate.pose for candidate in candidates]
    best = fused_pose(candidates)
    judgement = Judgement(paths=tuple(candidates), used=tuple(candidates), lost=(), method="fused")
    relations = dict.fromkeys(relation for candidate in candidates for relation in candidate.relations)
    return PolicyPose.of_pose(
        poses[0],
        judgement,
        coordinates=best.transform,
        covariance=best.covariance,
        stamp=max((pose.stamp for pose in poses if pose.stamp is not None), default=None),
        held=joined_held(*(pose.held for pose in poses)),
        predicted=any(pose.predicted for pose in poses),
        relations=tuple(relations),
    )


fuse.at_one_instant = True  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Among:
    """A policy that keeps the paths whose contested relations all fulfil `keep`; `then` decides among those."""

    keep: Callable[[Relation], bool]
    wanted: str
    then: Policy

    def __repr__(self) -> str:
        return f"<policy: paths by {self.wanted}, then {getattr(self.then, '__name__', self.then)}>"

    @property
    def at_one_instant(self) -> bool:
        return getattr(self.then, "at_one_instant", False)

    def __call__(self, candidates: Sequence[Candidate]) -> Candidate | Pose:
        kept = [candidate for candidate in candidates if all(map(self.keep, candidate.chosen))]
        if not kept:
            pose = candidates[0].pose
            raise NoPathChosen(pose.of, pose.in_frame, self.wanted, [candidate.chosen for candidate in candidates])
        return self.then(kept)


def by_source(*sources: str, then: AnyPolicy = "unique") -> Policy:
    """A policy that uses these sources wherever sources disagree; `then` decides among the remaining paths."""
    wanted = f"the source {' or '.join(map(repr, sources))}"
    return _Among(lambda relation: relation[2] in sources, wanted, as_policy(then))


class RelationAttributes(Protocol):
    """What `by_attribute` asks of a scene."""

    def relation_matches(self, relation: Relation, query: Mapping[str, Any]) -> bool:
        """Whether the parent frame of a relation, or its source, is a node of which everything in a query is true."""


def by_attribute(
    attributes: RelationAttributes | Callable[[Relation], Mapping[str, Any]],
    wanted: Mapping[str, Any],
    *,
    then: AnyPolicy = "unique",
) -> Policy:
    """A policy that uses relations with these attributes wherever sources disagree.

    Args:
        attributes: The scene: a relation has the attributes of its parent frame's node, and of the node that is its
            source. Or a callable that returns the attributes of a relation (of, in_frame, source).
        wanted: The attributes that a relation must have; with a scene, any query that `scene.find` takes.
        then: Decides among the remaining paths.

    >>> from armillary import World
    >>> near = by_attribute(World().scene, {"lens": "wide"}, then="latest")
    """
    demands = dict(wanted)

    def keep(relation: Relation) -> bool:
        if not callable(attributes):
            return attributes.relation_matches(relation, demands)
        found = attributes(relation)
        return all(key in found and found[key] == value for key, value in demands.items())

    return _Among(keep, f"relations with {demands!r}", as_policy(then))


_NAMED: dict[str, Policy] = {"unique": unique, "latest": latest, "most_certain": most_certain, "fuse": fuse}


def as_policy(policy: object) -> Policy:
    """Return the policy of this name, or a callable as it is."""
    if isinstance(policy, str) and policy in _NAMED:
        return _NAMED[policy]
    if callable(policy):
        return policy
    names = ", ".join(repr(name) for name in (*_NAMED, "filter"))
    raise InvalidArgument(f"policy must be one of {names}, or a callable, got {policy!r}.", policy)


def used_by(policy: Policy, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that a policy uses, for a motion: there a pose that it computed itself would be no answer."""
    pose = judged(policy, candidates, ())
    if isinstance(pose, PolicyPose) and set(pose.judgement.used) <= set(candidates):
        return pose.judgement.used
    raise InvalidArgument(
        f"A pose says nothing of a motion, and a policy returned {pose!r}. Return one of the candidates, or what "
        "`fuse` makes of them.",
        pose,
    )


def judged(policy: Policy, candidates: Sequence[Candidate], lost: Sequence[LostPath]) -> Pose:
    """Call a policy and return its answer, with the paths that it was made of."""
    answer = policy(candidates)
    chosen = next((path for path in candidates if answer is path or answer is path.pose), None)
    if chosen is not None:
        judgement = Judgement(paths=tuple(candidates), used=(chosen,), lost=tuple(lost), method=chosen.pose.method)
        return PolicyPose.of_pose(chosen.pose, judgement)
    pose = _checked_answer(answer, candidates)
    if isinstance(answer, PolicyPose) and set(answer.judgement.used) <= set(candidates):
        used, method = answer.judgement.used, answer.judgement.method
        judgement = Judgement(paths=tuple(candidates), used=used, lost=tuple(lost), method=method)
        return PolicyPose.of_pose(answer, judgement)
    return pose


def _checked_answer(answer: object, candidates: Sequence[Candidate]) -> Pose:
    """Refuse an answer that is no pose, or is about other frames than the candidates."""
    if not isinstance(answer, Pose):
        raise InvalidArgument(f"A policy returns one of the candidates, or a Pose; it returned {answer!r}.", answer)
    asked = candidates[0].pose
    if (answer.of, answer.in_frame) != (asked.of, asked.in_frame):
        raise InvalidArgument(
            f"A policy was asked for '{asked.of}' in '{asked.in_frame}', and returned '{answer.of}' in "
            f"'{answer.in_frame}'. Return one of the candidates, or a Pose of that frame in that one.",
            answer,
        )
    return answer


def _or_never(stamp: int | None) -> int:
    return _NEVER if stamp is None else stamp
