"""Whom to believe where several sources place a frame: `world.pose(..., policy=)`.

A policy is called with the paths that have an answer and returns one of them, or a pose made of them. The names
"latest", "most_certain" and "fuse" stand for the functions below.

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
from typing import TYPE_CHECKING, Any

from armillary.errors import AmbiguousPath, InvalidArgument, InvalidName, NoPathChosen, UnknownFrame
from armillary.fusion._candidates import Candidate, LostPath, Relation, Step
from armillary.fusion._fusing import fused
from armillary.fusion._policy_pose import Judgement, PolicyPose
from armillary.relations import Pose
from armillary.scene.node_frames import MOUNT

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.scene.reading import SceneReader

__all__ = [
    "AnyPolicy",
    "Candidate",
    "Judgement",
    "LostPath",
    "Policy",
    "PolicyPose",
    "Step",
    "as_policy",
    "by_attribute",
    "by_source",
    "fuse",
    "latest",
    "most_certain",
    "unique",
]

Policy = Callable[[Sequence[Candidate]], Candidate | Pose]
"""Gets at least one candidate, in the order of their relations' names, and returns one of them or a pose.

One with a true attribute `at_one_instant` gets all paths at one instant also where `LATEST` was asked for: the newest
that all of them cover.
"""

AnyPolicy = str | Policy
"""What `policy=` takes: a name, or a policy."""

_NEVER = -(2**63)


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

    That is the newest instant that all of its relations cover (with `at=LATEST`), then the oldest datum that it rests
    on at the instant asked for. A path of fixed poses alone has no data, and counts as the oldest. Of equals the first
    by the names of its relations is taken.
    """
    return max(candidates, key=lambda path: (_or_never(path.pose.stamp), _or_never(path.oldest)))


def most_certain(candidates: Sequence[Candidate]) -> Candidate:
    """The path with the smallest trace of its covariance, m² and rad² added up; of equals the first by name.

    What is unknown counts as zero: the answer then says `covariance_is_lower_bound`.
    """
    return min(candidates, key=lambda path: path.trace)


def fuse(candidates: Sequence[Candidate]) -> Pose:
    """The best estimate from all paths together: generalised least squares on SE(3).

    A relation that several paths share is counted once. Where errors are correlated nobody knows how (one relation at
    two instants; poses predicted or integrated from twists) covariance intersection bounds them. An exact path is
    believed; of several exact ones the middle is taken. What is unknown counts as zero: the answer then says
    `covariance_is_lower_bound`.
    """
    if len(candidates) == 1:
        return candidates[0].pose
    poses = [candidate.pose for candidate in candidates]
    best = fused(candidates)
    judgement = Judgement(paths=tuple(candidates), used=tuple(candidates), lost=(), method="fused")
    relations = dict.fromkeys(relation for candidate in candidates for relation in candidate.relations)
    return PolicyPose.of_pose(
        poses[0],
        judgement,
        coordinates=best.transform,
        covariance=best.covariance,
        stamp=max((pose.stamp for pose in poses if pose.stamp is not None), default=None),
        held=any(pose.held for pose in poses),
        predicted=any(pose.predicted for pose in poses),
        relations=tuple(relations),
    )


fuse.at_one_instant = True  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Among:
    """A policy for the paths whose contested relations are all wanted; `then` decides among those."""

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
    """A policy that believes these sources wherever sources disagree; `then` decides among the paths that are left."""
    wanted = f"the source {' or '.join(map(repr, sources))}"
    return _Among(lambda relation: relation[2] in sources, wanted, as_policy(then))


def by_attribute(
    said_by: SceneReader | Callable[[Relation], Mapping[str, Any]],
    wanted: Mapping[str, Any],
    *,
    then: AnyPolicy = "unique",
) -> Policy:
    """A policy that believes relations with these attributes wherever sources disagree.

    Args:
        said_by: The scene: a relation has the attributes of the parent that it hangs in, and of the node that is its
            source. Or a callable that tells the attributes of a relation (of, in_frame, source).
        wanted: What they must have; all pairs must hold. Of a scene all that `scene.find` takes.
        then: Decides among the paths that are left.

    >>> from armillary import World
    >>> near = by_attribute(World().scene, {"lens": "wide"}, then="latest")
    """
    keep = _keeper(said_by, wanted) if callable(said_by) else _SaidInScene(said_by, wanted)
    return _Among(keep, f"relations with {dict(wanted)!r}", as_policy(then))


def _keeper(
    attributes_of: Callable[[Relation], Mapping[str, Any]], wanted: Mapping[str, Any]
) -> Callable[[Relation], bool]:
    def keep(relation: Relation) -> bool:
        attributes = attributes_of(relation)
        return all(key in attributes and attributes[key] == value for key, value in wanted.items())

    return keep


class _SaidInScene:
    """Whether a scene says something of where a relation leads to."""

    def __init__(self, scene: SceneReader, wanted: Mapping[str, Any]) -> None:
        self._scene, self._wanted = scene, dict(wanted)

    def __call__(self, relation: Relation) -> bool:
        _, in_frame, source = relation
        nodes = {self._node(name.removesuffix(MOUNT)) for name in (in_frame, source)}
        return any(node is not None and self._has(node) for node in nodes)

    def _has(self, node: NodeId) -> bool:
        return node in self._scene and node in self._scene.find(self._wanted, under=node)

    def _node(self, name: str) -> NodeId | None:
        try:
            return self._scene.node(name)
        except (UnknownFrame, InvalidName):
            return None


_NAMED: dict[str, Policy] = {"unique": unique, "latest": latest, "most_certain": most_certain, "fuse": fuse}


def as_policy(policy: object) -> Policy:
    """The policy of a name, or a callable as it is."""
    if isinstance(policy, str) and policy in _NAMED:
        return _NAMED[policy]
    if callable(policy):
        return policy
    names = ", ".join(repr(name) for name in _NAMED)
    raise InvalidArgument(f"policy must be one of {names}, or a callable, got {policy!r}.", policy)


def used_by(policy: Policy, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that a policy believes, where a pose of its own making would be no answer: for a motion."""
    pose = judged(policy, candidates, ())
    if isinstance(pose, PolicyPose) and set(pose.judgement.used) <= set(candidates):
        return pose.judgement.used
    raise InvalidArgument(
        f"A pose says nothing of a motion, and a policy returned {pose!r}. Return one of the candidates, or what "
        "`fuse` makes of them.",
        pose,
    )


def judged(policy: Policy, candidates: Sequence[Candidate], lost: Sequence[LostPath]) -> Pose:
    """The answer of a policy, with what it was made of."""
    said = policy(candidates)
    chosen = next((path for path in candidates if said is path or said is path.pose), None)
    if chosen is not None:
        judgement = Judgement(paths=tuple(candidates), used=(chosen,), lost=tuple(lost), method=chosen.pose.method)
        return PolicyPose.of_pose(chosen.pose, judgement)
    pose = _checked_answer(said, candidates)
    if isinstance(said, PolicyPose) and set(said.judgement.used) <= set(candidates):
        used, method = said.judgement.used, said.judgement.method
        judgement = Judgement(paths=tuple(candidates), used=used, lost=tuple(lost), method=method)
        return PolicyPose.of_pose(said, judgement)
    return pose


def _checked_answer(said: object, candidates: Sequence[Candidate]) -> Pose:
    """Refuse what is no answer to the question that the candidates answer."""
    if not isinstance(said, Pose):
        raise InvalidArgument(f"A policy returns one of the candidates, or a Pose; it returned {said!r}.", said)
    asked = candidates[0].pose
    if (said.of, said.in_frame) != (asked.of, asked.in_frame):
        raise InvalidArgument(
            f"A policy was asked for '{asked.of}' in '{asked.in_frame}', and returned '{said.of}' in "
            f"'{said.in_frame}'. Return one of the candidates, or a Pose of that frame in that one.",
            said,
        )
    return said


def _or_never(stamp: int | None) -> int:
    return _NEVER if stamp is None else stamp
