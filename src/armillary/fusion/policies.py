"""Policies: which sources to use where several place a frame, `world.pose(..., policy=)`.

A policy is called with the paths that have an answer and returns one of them, or a pose made of them. The names
"unique", "latest", "most_certain" and "fuse" select the functions below.

>>> from armillary import Transform, World, seconds
>>> from armillary.fusion.policies import by_source
>>> world = World()
>>> for camera, x in (("left", 1.0), ("right", 3.0)):
...     seen = Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0))
...     world.set_pose(of="cup", in_frame="map", transform=seen, at=seconds(1), source=camera, covariance=[0.01] * 6)
>>> float(world.pose(of="cup", in_frame="map", policy="fuse").transform.translation[0])
2.0
>>> float(world.pose(of="cup", in_frame="map", policy=by_source("right")).transform.translation[0])
3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from armillary.errors import AmbiguousPath, InvalidArgument, NoPathChosen, UnknownCovariance
from armillary.fusion.candidates import Candidate, LostPath, Relation, Step, steps_from
from armillary.fusion.estimate import fused_paths, mahalanobis_distances
from armillary.fusion.noted_pose import NotedPose
from armillary.relations import Pose
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
    """The paths that a policy was given, those that it used, and what it found out about them.

    Attributes:
        paths: Every path with an answer.
        used: The paths that the answer was made of.
        lost: Paths without an answer at that instant.
        method: As `Pose.method`.
        left_out: Paths with an answer whose covariance is unknown, where the policy goes by covariances.
        quality: Of what is fused. "plain"; "relaxed": exact relations contradict each other so that they meet only far
            from all that was measured, and count as uncertain as they are apart; "approximate": the errors are so large
            that only their first order counts.
        contradiction: The largest residual that no error explains [m, rad]; 0 where exact relations fit together.
        residuals: The chains of relations that contradict each other, each with what it misses, (6,).
        is_beyond_first_order: Whether rotations are nearly half a turn apart, or uncertain by more than a radian: then
            a covariance means little.
    """

    paths: tuple[Candidate, ...]
    used: tuple[Candidate, ...]
    lost: tuple[LostPath, ...]
    method: str
    left_out: tuple[Candidate, ...] = ()
    quality: str = "plain"
    contradiction: float = 0.0
    residuals: tuple[tuple[tuple[Relation, ...], Any], ...] = ()
    is_beyond_first_order: bool = False

    def __repr__(self) -> str:
        return f"Judgement({self.method}: {len(self.used)} of {len(self.paths)} paths used, {len(self.lost)} lost)"

    @classmethod
    def from_record(cls, record: tuple[Any, ...], method: str) -> Judgement:
        """Make it from what the C++ core recorded."""
        answered, lost, used, left_out, is_fused, quality, contradiction, residuals, is_beyond = record
        paths = tuple(
            Candidate(pose=pose, steps=steps_from(steps, jacobians, covariances))
            for pose, steps, jacobians, covariances in answered
        )
        return cls(
            paths=paths,
            used=tuple(paths[k] for k in used),
            lost=tuple(LostPath(relations=relations, error=error) for relations, error in lost),
            method="fused" if is_fused else method,
            left_out=tuple(paths[k] for k in left_out),
            quality=quality,
            contradiction=contradiction,
            residuals=tuple((relations, residual) for relations, residual in residuals),
            is_beyond_first_order=is_beyond,
        )

    @classmethod
    def of_only_path(cls, pose: Pose, data_stamps: tuple[int | None, int | None]) -> Judgement:
        """The judgement about a pose that nobody contests."""
        only = Candidate(pose=pose, steps=(), data_stamps=data_stamps)
        return cls(paths=(only,), used=(only,), lost=(), method=pose.method)


class PolicyPose(NotedPose):
    """A `Pose` with the paths that it was made of. What is computed from it is a plain `Pose`."""

    __slots__ = ("_effects", "_judgement")
    _NOTES = ("judgement", "effects")
    _effects: Any
    _judgement: Judgement

    @classmethod
    def of_pose(cls, pose: Pose, judgement: Judgement, effects: Any = None, **changes: Any) -> PolicyPose:
        """A pose with its judgement and `changes` to other fields; `effects` of errors on it where it is fused."""
        return cls._noted(pose, changes, {"judgement": judgement, "effects": effects or {}})

    @property
    def judgement(self) -> Judgement:
        """The paths that the policy was given, and those that it used."""
        try:
            return self._judgement
        except AttributeError:
            record, plain = self.judgement_record(), self._replace()
            method = plain.method
            made = (
                Judgement.of_only_path(plain, self.data_stamps())
                if record is None
                else Judgement.from_record(record, method)
            )
            object.__setattr__(self, "_judgement", made)
            return made

    def with_judgement(self, judgement: Judgement) -> PolicyPose:
        """The same pose with another judgement."""
        return PolicyPose.of_pose(self, judgement, self._own_effects())

    def _own_effects(self) -> Any:
        """How a fused pose moves with each error; empty where it is not fused."""
        try:
            return self._effects
        except AttributeError:
            object.__setattr__(self, "_effects", self.fused_effects())
            return self._effects

    def _effects_of_errors(self) -> Any:
        """How the answer moves with each error: as the path does where a single one is the answer."""
        effects = self._own_effects()
        if effects or len(self.paths_used) != 1:
            return effects
        return {(step.relation, step.error): step.jacobian for step in self.paths_used[0].steps}

    def _notes(self) -> dict[str, Any]:
        return {"judgement": self.judgement, "effects": self._own_effects()}

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
    def left_out(self) -> tuple[Candidate, ...]:
        """Paths with an answer that were not considered, because their covariance is unknown."""
        return self.judgement.left_out

    @property
    def disagreements(self) -> tuple[float | None, ...] | None:
        """How far each path of `judgement.paths` is from this answer, in standard deviations of that difference.

        None for a path whose covariance is unknown, and as a whole where that of the answer is.
        """
        judgement = self.judgement
        if len(judgement.paths) == 1:
            return (0.0,)
        if self.covariance is None:
            return None
        return mahalanobis_distances(judgement.paths, self.transform, self._effects_of_errors())

    @property
    def disagreement(self) -> float | None:
        """The largest of `disagreements`: the Mahalanobis distance of the path that fits worst. 0 for a single path."""
        apart = self.disagreements
        return None if apart is None else max((value for value in apart if value is not None), default=0.0)

    @property
    def contradiction(self) -> float:
        """How far exact relations contradict each other: the largest residual that no error explains [m, rad]."""
        return self.judgement.contradiction


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


def most_certain(candidates: Sequence[Candidate]) -> Pose:
    """The path with the smallest trace of its covariance, m² and rad² added up; of equal ones the first by name.

    Only paths whose covariance is known are considered; the others are in `left_out` of the answer. A single path is
    the answer as it is.
    """
    known, left_out = _known(candidates)
    surest = min(known, key=lambda path: path.trace or 0.0)
    judgement = Judgement(
        paths=tuple(candidates), used=(surest,), lost=(), method=surest.pose.method, left_out=left_out
    )
    return PolicyPose.of_pose(surest.pose, judgement)


def fuse(candidates: Sequence[Candidate]) -> Pose:
    """The best estimate from all paths together: generalised least squares on SE(3).

    Only paths whose covariance is known are considered; the others are in `left_out` of the answer. A relation that
    several paths share is counted once. Where the correlation of errors is unknown (one relation at two instants; poses
    predicted or integrated from twists) covariance intersection bounds it. An exact path is taken as it is; of several
    exact ones that contradict each other the mean, and `contradiction` of the answer says how far they are apart.
    """
    known, left_out = _known(candidates)
    poses = [candidate.pose for candidate in known]
    judged_alone = Judgement(
        paths=tuple(candidates), used=tuple(known), lost=(), method=poses[0].method, left_out=left_out
    )
    if len(known) == 1:
        return PolicyPose.of_pose(poses[0], judged_alone)
    best = fused_paths(known)
    judgement = replace(
        judged_alone,
        method="fused",
        quality=best.quality,
        contradiction=best.contradiction,
        residuals=best.residuals,
        is_beyond_first_order=best.is_beyond_first_order,
    )
    relations = dict.fromkeys(relation for candidate in known for relation in candidate.relations)
    return PolicyPose.of_pose(
        poses[0],
        judgement,
        best.effects,
        coordinates=best.transform,
        covariance=best.covariance,
        stamp=max((pose.stamp for pose in poses if pose.stamp is not None), default=None),
        held=joined_held(*(pose.held for pose in poses)),
        predicted=any(pose.predicted for pose in poses),
        relations=tuple(relations),
    )


def _known(candidates: Sequence[Candidate]) -> tuple[list[Candidate], tuple[Candidate, ...]]:
    """The candidates whose covariance is known, and the others; a single candidate is the only choice anyway."""
    known = [path for path in candidates if not path.unknown]
    if known or len(candidates) == 1:
        return known or list(candidates), tuple(path for path in candidates if path.unknown and known)
    relations = dict.fromkeys(relation for path in candidates for relation in path.unknown)
    raise UnknownCovariance(candidates[0].pose.of, candidates[0].pose.in_frame, len(candidates), tuple(relations))


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
        judgement = replace(answer.judgement, paths=tuple(candidates), lost=tuple(lost))
        return answer.with_judgement(judgement)
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
