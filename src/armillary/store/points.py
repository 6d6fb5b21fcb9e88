"""Poses and positions of other points, and along other axes, than those of two frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import HelperBodiesDiffer, InvalidArgument
from armillary.relations.arrays import frozen, skew
from armillary.relations.uncertainty import along_axes, between_points
from armillary.store.names import frame_name
from armillary.store.query import Query
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary._core import NodeId
    from armillary.relations import Orientation, Pose, Position
    from armillary.store.store import Store

__all__ = ["errors_of_edges", "orientation", "pose_between_points", "position"]


def pose_between_points(
    store: Store,
    *,
    of: str | NodeId,
    in_frame: str | NodeId,
    at: Any,
    of_at: Any,
    fixed_frame: str | NodeId | None,
    point: str | NodeId | None,
    reference_point: str | NodeId | None,
    expressed_in: str | NodeId | None,
    covariance: bool = True,
    **how: Any,
) -> Pose:
    """Return a pose whose points or axes are not those of its two frames; arguments as for `World.pose`."""
    question: dict[str, Any] = {"of": of, "in_frame": in_frame, "of_at": of_at, "fixed_frame": fixed_frame}
    store.check_question(**question, at=at, **how)
    far: dict[str, Any] = {"point": (point, of)} if _is_other(store, point, of) else {}
    near: dict[str, Any] = {"axes": (in_frame, expressed_in)} if _is_other(store, expressed_in, in_frame) else {}
    near |= {"reference_point": (reference_point, in_frame)} if _is_other(store, reference_point, in_frame) else {}
    if fixed_frame is None:
        seen = _at_once(store, {"whole": (of, in_frame)} | far | near, at, how)
    else:
        there = _at_once(store, {"far": (of, fixed_frame)} | far, of_at, how)
        here = _at_once(store, {"near": (fixed_frame, in_frame)} | near, at, how)
        whole = store.pose(**question | {"of_at": _instant(there, of_at)}, at=_instant(here, at), **how)
        seen = there | here | {"whole": whole}
    parts = [seen.get(name) for name in ("point", "reference_point", "axes")]
    for mount in (part for part in parts[:2] if part is not None):
        _check_rigid(mount)
    pose = between_points(seen["whole"], *parts)
    return pose if covariance else pose._replace(covariance=None)


def position(
    store: Store,
    query: Query,
    *,
    of: str | NodeId | None,
    in_frame: str | NodeId | None,
    expressed_in: str | NodeId | None,
    point: str | NodeId | None,
    reference_point: str | NodeId | None,
) -> Position:
    """Return the position of one origin from another, along the axes of a third frame; see `World.position`."""
    how = query.keywords
    target, reference = _one(point, of, "of="), _one(reference_point, in_frame, "in_frame=")
    axes = next(name for name in (expressed_in, in_frame, reference) if name is not None)
    if frame_name(store, axes) == frame_name(store, reference):
        return store.pose(of=target, in_frame=reference, **how).position
    if frame_name(store, axes) == frame_name(store, target):
        return store.pose(of=reference, in_frame=target, **how).position.inverse()
    pose, turn = store.poses_at_once([(target, reference), (reference, axes)], **how)
    found: Position = along_axes(pose.position, turn, skew(pose.xyz))
    if found.covariance is None and pose.covariance is not None and turn.covariance is not None:
        return found._replace(covariance=_spread_over_shared_edges(store, pose, turn, how))
    return found


def _spread_over_shared_edges(store: Store, pose: Pose, turn: Pose, how: dict[str, Any]) -> NDArray[float64] | None:
    """Return the covariance of the position of `pose` along `turn.in_frame`, where some edges are on both paths."""
    errors = errors_of_edges(store, [pose, turn], how)
    if errors is None:
        return None
    R = turn.rotation.matrix
    total = np.zeros((3, 3))
    for covariance, (of_pose, of_turn) in errors:
        J = R @ pose.rotation.matrix @ of_pose[:3] - R @ skew(pose.xyz) @ of_turn[3:]
        total += J @ covariance @ J.T
    return frozen(total)


def errors_of_edges(
    store: Store, poses: list[Pose], how: dict[str, Any]
) -> list[tuple[NDArray[float64], list[NDArray[float64]]]] | None:
    """Return what the errors of edges do to poses of one instant that have some in common.

    Each edge has one error, which moves and turns all that is below it.

    Args:
        store: The store that has answered them.
        poses: What it answered, frame forms.
        how: How it was asked.

    Returns:
        For each edge its covariance, and for each pose a (6, 6) matrix: from the tangent of the edge to its own.
        None where a covariance is unknown, or joints drive several edges, whose errors may go together.
    """
    at = _instant({str(i): pose for i, pose in enumerate(poses)}, how["at"])
    named = {relation for pose in poses for relation in pose.relations}
    edges = {of: in_frame for of, in_frame, _ in named}
    if len(edges) != len(named):
        return None
    seen = store.poses_at_once(list(edges.items()), **how | {"at": at})
    driven = {(of, in_frame) for of, in_frame, _, kind, *_ in store.relation_rows() if kind == "driven"}
    if len(driven & {(edge.of, edge.in_frame) for edge in seen}) > 1:
        return None
    above = {edge.of: edge for edge in seen}
    placed = {end: _climb(end, above) for pose in poses for end in (pose.of, pose.in_frame)}
    errors = []
    for edge in seen:
        if edge.covariance is None:
            return None
        effects = []
        for pose in poses:
            of, reference = placed[pose.of], placed[pose.in_frame]
            sign = float(edge.of in of) - float(edge.of in reference)
            chain = of if edge.of in of else reference
            moved = (of[pose.of].inverse() @ chain[edge.of]).adjoint if sign else np.zeros((6, 6))
            effects.append(sign * moved)
        errors.append((edge.covariance, effects))
    return errors


def _climb(end: str, above: dict[str, Pose]) -> dict[str, Transform]:
    """Return where each frame from `end` up is in the topmost one."""
    chain = [end]
    while chain[-1] in above:
        chain.append(above[chain[-1]].in_frame)
    root_T_frame = Transform.identity()
    placed = {chain[-1]: root_T_frame}
    for frame in reversed(chain[:-1]):
        placed[frame] = root_T_frame = root_T_frame @ above[frame].transform
    return placed


def orientation(
    store: Store, query: Query, *, of: str | NodeId, in_frame: str | NodeId, expressed_in: str | NodeId | None
) -> Orientation:
    """Return how one frame is turned in another; refuse axes other than those of `in_frame`."""
    answer = store.pose(of=of, in_frame=in_frame, **query.keywords).orientation
    if expressed_in is not None and frame_name(store, expressed_in) != answer.in_frame:
        raise answer.not_along(frame_name(store, expressed_in))
    return answer


def _at_once(store: Store, pairs: dict[str, Any], at: Any, how: dict[str, Any]) -> dict[str, Pose]:
    return dict(zip(pairs, store.poses_at_once(list(pairs.values()), at=at, **how), strict=True))


def _instant(seen: dict[str, Pose], at: Any) -> Any:
    """Return the instant of the poses that have one, which is the same for all of them."""
    return next((pose.stamp for pose in seen.values() if pose.stamp is not None), at)


def _is_other(store: Store, name: str | NodeId | None, frame: str | NodeId) -> bool:
    return name is not None and frame_name(store, name) != frame_name(store, frame)


def _one(first: str | NodeId | None, second: str | NodeId | None, what: str) -> str | NodeId:
    name = second if first is None else first
    if name is None:
        raise InvalidArgument(f"The question names no frame. Pass {what}.")
    return name


def _check_rigid(mount: Pose) -> None:
    """Refuse a point that may move relative to the body that it is to be a point of."""
    if mount.stamp is None or mount.body == mount.reference_body or mount.of == mount.in_frame:
        return
    raise HelperBodiesDiffer(
        operation="pose",
        asked=f"take '{mount.of}' for a point on the body of '{mount.in_frame}'",
        expected=mount.reference_body,
        found=mount.body,
        hint=f"Declare them one body, world.add_body({mount.in_frame!r}, frames=[{mount.of!r}]), or fix() one in the "
        "other.",
    )
