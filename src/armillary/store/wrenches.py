"""Measured wrenches: what a force-torque sensor reads, asked at other points and along other axes.

What one body exerts on another at the origin of a frame is six variables in one channel, so that it is interpolated,
kept, shared, preferred and taken back as joints are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import (
    AfterHistory,
    ContestedJoint,
    ContestedWrench,
    InvalidArgument,
    UnknownVariable,
    UnknownWrench,
)
from armillary.relations import Wrench
from armillary.relations.arrays import (
    Array,
    as_covariance,
    as_finite,
    as_vector3,
    both_turned,
    frozen,
    moment_moved,
    seen_through,
    skew,
)
from armillary.stamps import LATEST, Latest, as_stamps
from armillary.store.names import frame_name
from armillary.store.points import errors_of_edges
from armillary.store.wrench_names import BY, WrenchName, wrench_of
from armillary.transforms import WrenchSamples, check_name, joined_held

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary._core import NodeId
    from armillary.relations import Pose
    from armillary.stamps import StampLike
    from armillary.store.query import Query
    from armillary.store.store import Store

__all__ = ["prefer_wrench", "set_wrench", "set_wrenches", "wrench", "wrench_pairs", "wrench_samples"]


def wrench_pairs(store: Store) -> tuple[tuple[str, str], ...]:
    """Return on which frames by which bodies wrenches were given, in the order of the first ones."""
    names = (wrench_of(variable) for variable, _ in store.variables())
    return tuple(dict.fromkeys((name.of, name.by) for name in names if name is not None))


# -- Giving


def set_wrench(
    store: Store,
    *,
    of: str | NodeId,
    by: str,
    at: StampLike,
    force: ArrayLike | None,
    torque: ArrayLike | None,
    wrench: Wrench | None,
    expressed_in: str | NodeId | None,
    source: str | None,
    covariance: ArrayLike | None,
) -> None:
    """Store what is exerted on a frame at one instant; arguments as for `World.set_wrench`."""
    name = _named(store, of, by)
    axes = None if expressed_in is None else store.frame_label(expressed_in)
    if wrench is None:
        if force is None or torque is None:
            raise InvalidArgument("set_wrench takes force= and torque=, or wrench=.")
        given = _plain(store, name, as_vector3(force, "force"), as_vector3(torque, "torque"), axes or name.of)
    elif force is not None or torque is not None:
        raise InvalidArgument("set_wrench takes either force= and torque=, or wrench=.")
    else:
        given = _checked(store, name, wrench, at, axes)
    if covariance is not None:
        given = given._replace(covariance=as_covariance(covariance, "covariance"))
    if given.expressed_in != name.of:
        turn = store.pose(of=given.expressed_in, in_frame=name.of, at=at)
        given = given.change_coordinate_frame(turn.orientation)
    numbers = [*given.force.tolist(), *given.torque.tolist()]
    say = dict(zip(name.variables, numbers, strict=True))
    try:
        store.set_joints(say, at=at, source=source, covariance=given.covariance)
    except UnknownVariable:
        _add(store, name)
        store.set_joints(say, at=at, source=source, covariance=given.covariance)


def set_wrenches(
    store: Store,
    *,
    of: str | NodeId,
    by: str,
    at: ArrayLike,
    wrenches: ArrayLike,
    source: str | None,
    covariance: ArrayLike | None,
) -> None:
    """Store what is exerted on a frame at many instants; arguments as for `World.set_wrenches`."""
    name = _named(store, of, by)
    stamps = as_stamps(at)
    rows = as_finite(wrenches, (len(stamps), 6), "wrenches")
    say: dict[str, Any] = {"positions": rows, "at": stamps, "source": source, "covariance": covariance}
    try:
        store.set_joint_series(name.variables, **say)
    except UnknownVariable:
        _add(store, name)
        store.set_joint_series(name.variables, **say)


def _add(store: Store, name: WrenchName) -> None:
    from armillary.store.changes import AddJoints  # noqa: PLC0415  (a first wrench)

    store.apply((AddJoints(dict.fromkeys(name.variables, "linear")),))


def prefer_wrench(
    store: Store, *, of: str | NodeId, by: str, source: str | None, start: int | None, end: int | None
) -> None:
    """Prefer one of several sources; arguments as for `World.prefer_wrench`."""
    from armillary.store.changes import PreferJoint  # noqa: PLC0415  (few programs have rivals among sensors)

    name = _named(store, of, by)
    try:
        store.apply(tuple(PreferJoint(variable, source, start, end) for variable in name.variables))
    except UnknownVariable:
        raise UnknownWrench(*name, wrench_pairs(store)) from None


def _named(store: Store, of: str | NodeId, by: str) -> WrenchName:
    name = WrenchName(store.frame_label(of), check_name(by))
    if wrench_of(name.variables[0]) != name:
        raise InvalidArgument(f"A wrench cannot be on {of!r} by {by!r}: names of its ends have no {BY!r} in them.", of)
    return name


def _plain(store: Store, name: WrenchName, force: Array, torque: Array, expressed_in: str) -> Wrench:
    body = store.body_name(name.of) or name.of
    names = {"point": name.of, "body": body, "reference_body": name.by, "expressed_in": expressed_in}
    return Wrench(**names, force=force, torque=torque)  # type: ignore[arg-type]


def _checked(store: Store, name: WrenchName, given: Wrench, at: StampLike, axes: str | None) -> Wrench:
    """Refuse a relation whose names differ from those of the call that it is given to."""
    if not isinstance(given, Wrench):
        raise InvalidArgument(f"wrench must be a Wrench, got {given!r}. Numbers are force= and torque=.", given)
    bodies = {name.of, store.body_name(name.of) or name.of}
    wanted = {"point": {name.of}, "body": bodies, "reference_body": {name.by}}
    if axes is not None:
        wanted["expressed_in"] = {axes}
    for field, allowed in wanted.items():
        if getattr(given, field) not in allowed:
            named = " or ".join(sorted(allowed))
            raise InvalidArgument(
                f"{field} of {given!r} is '{getattr(given, field)}', and the call names {named}.", given
            )
    if given.stamp not in {None, at}:
        raise InvalidArgument(f"{given!r} is of the instant {given.stamp} ns, and at is {at} ns.", given)
    return given


# -- Asking


def wrench(
    store: Store,
    query: Query,
    *,
    of: str | NodeId,
    by: str,
    point: str | NodeId | None,
    expressed_in: str | NodeId | None,
) -> Wrench:
    """Return a measured wrench about another point and along other axes; arguments as for `World.wrench`."""
    if isinstance(query.outside, str) and query.outside == "predict":
        raise InvalidArgument("Forces are not predicted: pass outside='hold', or ask for an instant between samples.")
    name = _named(store, of, by)
    about = name.of if point is None else frame_name(store, point)
    axes = about if expressed_in is None else frame_name(store, expressed_in)
    how = query.keywords
    value = _read(store, name, query.at, how)
    if about == axes == name.of:
        return value
    pairs: list[tuple[str | NodeId, str | NodeId]] = [(name.of, axes if about == name.of else about)]
    pairs += [(name.of, axes)] if about not in {name.of, axes} and axes != name.of else []
    seen, value = _seen_together(store, name, pairs, value, how)
    return _moved(store, value, seen, how | {"at": value.stamp}, about=about, axes=axes)


def _seen_together(
    store: Store, name: WrenchName, pairs: list[tuple[str | NodeId, str | NodeId]], value: Wrench, how: dict[str, Any]
) -> tuple[dict[str, Pose], Wrench]:
    """Return the poses of the sensor by the frame they are in, and the wrench, all at one instant."""
    try:
        poses = store.poses_at_once(pairs, **how | {"at": value.stamp})
    except AfterHistory:
        if not isinstance(how["at"], Latest):
            raise
        poses = store.poses_at_once(pairs, **how | {"at": LATEST})
        value = _read(store, name, next(pose.stamp for pose in poses if pose.stamp is not None), how)
    return {pose.in_frame: pose for pose in poses}, value


def _read(store: Store, name: WrenchName, at: Any, how: dict[str, Any]) -> Wrench:
    try:
        numbers, covariance, stamp, held, _ = store.joints_row(name.variables, at, how["outside"], how["hold_up_to_s"])
    except ContestedJoint as error:
        raise ContestedWrench(*name, error.sources) from None
    except UnknownVariable:
        raise UnknownWrench(*name, wrench_pairs(store)) from None
    plain = _plain(store, name, numbers[:3], numbers[3:], name.of)
    sources = store.joint_sources(name.variables[0])
    relations = tuple((name.of, name.by, source) for source in sources)
    return plain._replace(stamp=stamp, covariance=covariance, held=held, relations=relations)


def _moved(store: Store, value: Wrench, seen: dict[str, Pose], how: dict[str, Any], *, about: str, axes: str) -> Wrench:
    """Return a wrench about another point and along other axes.

    Args:
        store: The store that was asked.
        value: As it is stored: about the origin and along the axes of the sensor.
        seen: Poses of the sensor in the frames of the new point and of the new axes, where they are others.
        how: How the poses were asked.
        about: The new point.
        axes: The new axes.
    """
    place, turn = seen.get(about), seen.get(axes)
    R = np.eye(3) if turn is None else turn.rotation.matrix
    arm = np.zeros(3) if place is None else place.rotation.matrix.T @ place.xyz  # to the sensor, along its own axes
    J = both_turned(R) @ moment_moved(arm)
    numbers = J @ np.concatenate([value.force, value.torque])
    effects: list[tuple[Pose, Array]] = []
    if turn is not None:
        about_point = value.torque + np.cross(arm, value.force)
        by_turn = np.hstack([np.zeros((6, 3)), np.vstack([-R @ skew(value.force), -R @ skew(about_point)])])
        effects.append((turn, by_turn))
    if place is not None:
        # T Exp(xi) turns the arm, which is from the point to the sensor and along the axes of the sensor, as well.
        by_place = np.zeros((6, 6))
        by_place[3:] = -R @ skew(value.force) @ np.hstack([np.eye(3), skew(arm)])
        effects.append((place, by_place))
    covariance = seen_through(J, value.covariance)
    if covariance is not None:
        spread = _spread(store, effects, how)
        covariance = None if spread is None else frozen(covariance + spread)
    poses = [pose for pose, _ in effects]
    fresh = Wrench(
        point=about,
        body=value.body,
        reference_body=value.reference_body,
        expressed_in=axes,
        force=numbers[:3],
        torque=numbers[3:],
    )
    return fresh._replace(
        stamp=value.stamp,
        covariance=covariance,
        held=joined_held(value.held, *(pose.held for pose in poses)),
        predicted=any(pose.predicted for pose in poses),
        relations=tuple(dict.fromkeys((*value.relations, *(one for pose in poses for one in pose.relations)))),
    )


def _spread(store: Store, effects: list[tuple[Pose, Array]], how: dict[str, Any]) -> Array | None:
    """Return what the errors of poses add to a wrench, each error once; None where they are unknown."""
    poses = list(dict.fromkeys(pose.in_frame for pose, _ in effects))
    if any(pose.covariance is None for pose, _ in effects):
        return None
    if len(poses) == 1:
        J = np.sum([effect for _, effect in effects], axis=0)
        return seen_through(J, effects[0][0].covariance)
    errors = errors_of_edges(store, [pose for pose, _ in effects], how)
    if errors is None:
        return None
    total = np.zeros((6, 6))
    for covariance, moved in errors:
        J = np.sum([effect @ of_edge for (_, effect), of_edge in zip(effects, moved, strict=True)], axis=0)
        total += J @ covariance @ J.T
    return total


def wrench_samples(
    store: Store,
    *,
    of: str | NodeId,
    by: str,
    start: StampLike | None,
    end: StampLike | None,
    source: str | None,
) -> WrenchSamples:
    """Return the stored wrenches of one source; arguments as for `World.wrench_samples`."""
    name = _named(store, of, by)
    try:
        columns = [store.joint_samples(variable, start=start, end=end, source=source) for variable in name.variables]
    except UnknownVariable:
        raise UnknownWrench(*name, wrench_pairs(store)) from None
    numbers = np.stack([column.positions for column in columns], axis=1)
    return WrenchSamples(stamps=columns[0].stamps, wrenches=frozen(numbers))
