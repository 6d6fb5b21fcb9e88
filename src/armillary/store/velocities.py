"""Angular and linear velocities that are measured alone: what is not measured follows from the poses.

A gyro says how a body turns and not how it moves; a Doppler log how it moves and not how it turns. A motion that
crosses between the two bodies of such a measurement is that of the poses, with the measured part exchanged for its own:
at the origin of the frame that measures, and relative to the body it is measured against. So motions still add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.errors import ArmillaryError, InvalidArgument, StampOutOfRange, UnknownVariable
from armillary.relations import AngularVelocity, LinearVelocity
from armillary.relations.arrays import Array, as_covariance, as_vector3, both_turned, frozen, point_moved
from armillary.relations.representations import LinearAngular
from armillary.stamps import LATEST, as_stamps
from armillary.store.names import frame_name, recall_name
from armillary.store.values import with_row
from armillary.store.velocity_names import RELATIVE, VelocityName, velocities_of

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId
    from armillary.relations import Twist
    from armillary.stamps import StampLike
    from armillary.store.store import Store

__all__ = ["set_velocity", "with_velocities"]

_KINDS: dict[str, type[AngularVelocity | LinearVelocity]] = {"angular": AngularVelocity, "linear": LinearVelocity}
_HALVES = {"linear": slice(0, 3), "angular": slice(3, 6)}


def set_velocity(
    store: Store,
    kind: str,
    *,
    of: str | NodeId,
    relative_to: str | NodeId,
    at: StampLike,
    xyz: ArrayLike | None,
    velocity: AngularVelocity | LinearVelocity | None,
    expressed_in: str | NodeId | None,
    source: str | None,
    covariance: ArrayLike | None,
) -> None:
    """Store a velocity that was measured alone; arguments as for `World.set_angular_velocity`."""
    name = _named(store, kind, of, relative_to)
    if (xyz is None) == (velocity is None):
        raise InvalidArgument(f"set_{kind}_velocity takes either xyz= or velocity=, and one of them.")
    axes = None if expressed_in is None else store.frame_label(expressed_in)
    given = (
        _plain(name, as_vector3(xyz, "xyz"), axes or name.of)
        if velocity is None
        else _checked(name, velocity, at, axes)
    )
    if covariance is not None:
        given = given._replace(covariance=as_covariance(covariance, "covariance", 3))
    if given.expressed_in != name.of:
        given = given.change_coordinate_frame(store.pose(of=given.expressed_in, in_frame=name.of, at=at).orientation)
    say = dict(zip(name.variables, given.xyz.tolist(), strict=True))
    try:
        store.set_joints(say, at=at, source=source, covariance=given.covariance)
    except UnknownVariable:
        from armillary.store.changes import AddJoints  # noqa: PLC0415  (a first velocity)

        store.apply((AddJoints(dict.fromkeys(name.variables, "linear")),))
        store.set_joints(say, at=at, source=source, covariance=given.covariance)


def _named(store: Store, kind: str, of: str | NodeId, relative_to: str | NodeId) -> VelocityName:
    name = VelocityName(kind, recall_name(store, of), recall_name(store, relative_to))
    for end in name[1:]:
        if RELATIVE in end:
            raise InvalidArgument(f"{end!r} cannot be one end of a velocity: its name has {RELATIVE!r} in it.", end)
    if _is_rigid(store, name):
        raise InvalidArgument(
            f"'{name.of}' does not move relative to '{name.relative_to}': they are fixed to one another.", name.of
        )
    return name


def _is_rigid(store: Store, name: VelocityName) -> bool:
    try:
        ends: dict[str, Any] = {"of": name.of, "relative_to": name.relative_to, "expressed_in": name.of}
        return store.plain_twist(**ends, at=LATEST, outside="hold").method == "fixed"
    except LookupError:  # nobody has said yet how they move
        return False


def _plain(name: VelocityName, xyz: Array, expressed_in: str) -> Any:
    point: dict[str, Any] = {"point": name.of} if name.kind == "linear" else {}
    names: dict[str, Any] = {"body": name.of, "reference_body": name.relative_to, "expressed_in": expressed_in}
    return _KINDS[name.kind](xyz=xyz, **names, **point)


def _checked(name: VelocityName, given: Any, at: StampLike, axes: str | None) -> Any:
    """Refuse a relation whose point, axes or instant differ from those of the call that it is given to."""
    kind = _KINDS[name.kind]
    if not isinstance(given, kind):
        raise InvalidArgument(f"velocity must be a {kind.__name__}, got {given!r}. Numbers are xyz=.", given)
    wanted = {"point": name.of} if name.kind == "linear" else {}
    for field, expected in (wanted | ({} if axes is None else {"expressed_in": axes})).items():
        if getattr(given, field) != expected:
            raise InvalidArgument(
                f"{field} of {given!r} is '{getattr(given, field)}', and the call says '{expected}'.", given
            )
    if given.stamp not in {None, at}:
        raise InvalidArgument(f"{given!r} is of the instant {given.stamp} ns, and at is {at} ns.", given)
    return given


# -- Answers


class _Numbers(NamedTuple):
    """A motion: six numbers, what they are of, and how sure they are."""

    six: Array
    covariance: Array | None
    relations: tuple[tuple[str, str, str], ...] = ()


def with_velocities(store: Store, question: str, *, at: Any, **asked: Any) -> Any:
    """Answer `twist`, `twists` or `twists_with_covariances` with the velocities that were measured alone."""
    if question == "twist":
        return _twist(store, asked | {"at": at})
    found = [_of_row(store, row, asked | {"at": stamp}) for row, stamp in enumerate(as_stamps(at).tolist())]
    numbers = np.reshape([_six(twist) for twist in found], (-1, 6))
    if question == "twists":
        return numbers
    spreads = [np.full((6, 6), np.nan) if twist.covariance is None else twist.covariance for twist in found]
    return numbers, np.reshape(spreads, (-1, 6, 6))


def _of_row(store: Store, row: int, asked: dict[str, Any]) -> Twist:
    try:
        return _twist(store, asked)
    except ArmillaryError as error:
        raise with_row(error, row) from None


def _six(twist: Twist) -> NDArray[float64]:
    return np.concatenate([twist.linear, twist.angular])


def _twist(store: Store, asked: dict[str, Any]) -> Twist:
    plain: Twist = store.plain_twist(**asked)
    if plain.method in {"fixed", "measured"} or plain.stamp is None:
        return plain
    names = velocities_of(name for name, _ in store.variables())
    how = {key: asked[key] for key in ("outside", "policy", "interpolation", "hold_up_to_s")} | {"at": plain.stamp}
    motion = _Motion(store, how, asked["window"])
    crossed = [name for name in names if motion.direction(asked["of"], asked["relative_to"], name)]
    readings = [reading for reading in map(motion.read, crossed) if reading is not None]
    if not readings:
        return plain
    whole = motion.between(asked["of"], asked["relative_to"], asked["point"], asked["expressed_in"], readings)
    if not whole.relations:
        return plain
    return plain._replace(
        coordinates=LinearAngular(linear=whole.six[:3], angular=whole.six[3:]),
        covariance=whole.covariance,
        method="mixed",
        relations=tuple(dict.fromkeys((*whole.relations, *plain.relations))),
    )


class _Reading(NamedTuple):
    """One velocity at the instant that is asked for, along the axes of its frame."""

    name: VelocityName
    xyz: Array
    covariance: Array | None
    source: str


class _Motion:
    """Motions at one instant, with the velocities that were measured alone."""

    def __init__(self, store: Store, how: dict[str, Any], window: int | None) -> None:
        self._store, self._how, self._window = store, how, window
        self._moving: dict[tuple[str, str], frozenset[Any]] = {}

    def read(self, name: VelocityName) -> _Reading | None:
        """Return a velocity at the instant; None where it is not covered, or the whole motion was measured."""
        outside = "raise" if self._how["outside"] == "predict" else self._how["outside"]
        try:
            row = self._store.joints_row(name.variables, self._how["at"], outside, self._how["hold_up_to_s"])
            plain = self._plain(name.of, name.relative_to, None, name.of)
        except StampOutOfRange:
            return None
        if plain.method in {"fixed", "measured"}:
            return None
        (source, *_) = self._store.joint_sources(name.variables[0])
        return _Reading(name, row[0], row[1], source)

    def between(self, of: Any, relative_to: Any, point: Any, axes: Any, readings: list[_Reading]) -> _Numbers:
        """Return the motion of one frame relative to another: of the poses, changed by each reading in their order."""
        plain = self._plain(of, relative_to, point, axes)
        six, covariance = _six(plain), plain.covariance
        used: tuple[tuple[str, str, str], ...] = ()
        about, along = (of if point is None else point), (relative_to if axes is None else axes)
        for i, reading in enumerate(readings):
            sign = self.direction(of, relative_to, reading.name)
            if not sign:
                continue
            name = reading.name
            link = self.between(name.of, name.relative_to, None, name.of, readings[:i])
            change = np.zeros(6)
            change[_HALVES[name.kind]] = reading.xyz - link.six[_HALVES[name.kind]]
            J = self._moved(name.of, about, along)
            six = six + sign * J @ change
            covariance = self._spread(reading, link, J, of, relative_to, about, along)
            used = (*used, (name.of, name.relative_to, reading.source))
        return _Numbers(six, covariance, used)

    def _plain(self, of: Any, relative_to: Any, point: Any, axes: Any) -> Twist:
        names = {"of": of, "relative_to": relative_to, "point": point, "expressed_in": axes}
        return self._store.plain_twist(**names, **self._how, window=self._window)

    def _moved(self, frame: str, point: Any, axes: Any) -> Array:
        """Return what takes six numbers at and along a frame to another point and other axes."""
        arm = self._pose(point, frame).xyz
        R = self._pose(frame, axes).rotation.matrix
        J: Array = both_turned(R) @ point_moved(arm)
        return J

    def _pose(self, of: Any, in_frame: Any) -> Any:
        return self._store.pose(of=of, in_frame=in_frame, **self._how)

    def direction(self, of: Any, relative_to: Any, name: VelocityName) -> int:
        """Return 1 where the way crosses from one body of a velocity to the other, -1 the other way, 0 not at all."""
        try:
            crossed = self._joints(name.of, name.relative_to)
        except LookupError:  # it is not known how they are placed, and the way is
            return 0
        for sign, near, far in ((1, name.of, name.relative_to), (-1, name.relative_to, name.of)):
            if crossed.isdisjoint(self._joints(of, near)) and crossed.isdisjoint(self._joints(relative_to, far)):
                return sign
        return 0

    def _joints(self, first: Any, second: Any) -> frozenset[Any]:
        """Return the relations between two frames that can move."""
        key = (frame_name(self._store, first), frame_name(self._store, second))
        if key not in self._moving:
            used = self._pose(*key).relations if key[0] != key[1] else ()
            self._moving[key] = frozenset(
                edge for edge in used if self._plain(edge[0], edge[1], None, edge[0]).method != "fixed"
            )
        return self._moving[key]

    def _spread(self, reading: _Reading, link: _Numbers, J: Array, *ends: Any) -> Array | None:
        """Return the covariance, where the motion is that of these two bodies and nothing on the way is uncertain."""
        of, relative_to, about, along = ends
        name = reading.name
        is_all = self._joints(of, relative_to) == self._joints(name.of, name.relative_to)
        if not is_all or reading.covariance is None or link.covariance is None:
            return None
        mounts = [self._pose(about, name.of).covariance, self._pose(name.of, along).covariance]
        if any(mount is None or np.any(mount) for mount in mounts):
            return None
        block = np.zeros((6, 6))
        other = "linear" if name.kind == "angular" else "angular"
        block[_HALVES[name.kind], _HALVES[name.kind]] = reading.covariance
        block[_HALVES[other], _HALVES[other]] = link.covariance[_HALVES[other], _HALVES[other]]
        return frozen(J @ block @ J.T)
