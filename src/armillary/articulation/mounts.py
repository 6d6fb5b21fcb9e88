"""The models that are mounted in a store, the kinematic loops closed between them, and their dependent joints."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation.closed_loop import ClosedLoop
from armillary.articulation.dependents import DependentJoints
from armillary.articulation.joints import check_interpolation
from armillary.articulation.loops import Loops
from armillary.articulation.mount import Mount, MountOptions
from armillary.errors import (
    InvalidArgument,
    LoopError,
    MountOutdated,
    StampOutOfRange,
    UndoneAtModel,
    UnknownVariable,
    WorldClosed,
)
from armillary.stamps import as_stamp
from armillary.store.joints import as_joint_covariance, with_exact
from armillary.store.names import recall_joint
from armillary.store.values import as_number, as_text
from armillary.transforms import check_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId
    from armillary.articulation import ArticulationModel
    from armillary.articulation.constraints import Constraint
    from armillary.formats.fields import Field
    from armillary.scene import Change
    from armillary.store import Store
    from armillary.store.admitting import Follower
    from armillary.transforms import JointState

__all__ = ["Mounts"]

_MOST_UNMOUNTED = 100
"""So many mounts that were taken away are kept for `undo`."""
_ROLES = {"visual": ("visual",), "collision": ("collision",), "both": ("visual", "collision"), "none": ()}


class Mounts:
    """All models that are mounted in one store. Implements `armillary.store.joints.Mechanisms`.

    It does not keep the store alive: the store keeps it.

    Attributes:
        mounted: The mounts, oldest first.
        closed_loops: The kinematic loops that were closed between models, oldest first; some may be open again.
    """

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)
        self.mounted: tuple[Mount, ...] = ()
        self.closed_loops: tuple[ClosedLoop, ...] = ()
        self._unmounted: tuple[Mount, ...] = ()  # for undo and redo
        self._dependents: tuple[tuple[object, ...], tuple[DependentJoints, ...]] | None = None
        self._followers: dict[str, Follower] = {}
        self._limits: dict[str, tuple[float, float]] | None = None

    @property
    def store(self) -> Store:
        """The store they are mounted in; raises `WorldClosed` once that is garbage."""
        store = self._store()
        if store is None:
            raise WorldClosed
        return store

    # -- Models

    def mount(
        self,
        model: ArticulationModel,
        *,
        in_frame: str | None,
        prefix: str | None,
        under: str,
        at: int | None,
        shapes: str,
        strict: bool,
        skip_missing: bool,
        interpolation: str | Mapping[str, str] | None,
    ) -> Mount:
        """Mount a model; arguments as for `World.mount`."""
        if not isinstance(shapes, str) or shapes not in _ROLES:
            raise InvalidArgument(f"shapes must be one of {', '.join(_ROLES)}, got {shapes!r}.", shapes)
        for value, name in ((skip_missing, "skip_missing"), (strict, "strict")):
            if not isinstance(value, bool):
                raise InvalidArgument(f"{name} is True or False, got {value!r}.", value)
        if strict and skip_missing:
            raise InvalidArgument(
                "strict=True refuses missing meshes, skip_missing=True leaves them out: give one.", strict
            )
        options = MountOptions(
            under=as_text(under, "under"),
            in_frame=None if in_frame is None else check_name(in_frame),
            prefix=None if prefix is None else as_text(prefix, "prefix"),
            since=as_stamp(at),
            roles=_ROLES[shapes],
            skip_missing=not strict,
            interpolations=_interpolations(model, under, interpolation),
        )
        return self.restore(model, options, is_quiet=skip_missing)

    def restore(
        self,
        model: ArticulationModel,
        options: MountOptions,
        shapes: Mapping[str, list[NodeId]] | None = None,
        *,
        is_quiet: bool = False,
    ) -> Mount:
        """Mount a model with these options; nodes given in `shapes` exist, or are loaded elsewhere."""
        mount = Mount(self, model, options)
        mount.is_quiet = is_quiet
        self._check_names(mount)
        mount.install(shapes)
        self.mounted = (*self.mounted, mount)
        self._forget_names()
        return mount

    def adopt(
        self,
        model: ArticulationModel,
        options: MountOptions,
        *,
        objects: Sequence[str],
        shapes: Mapping[str, list[NodeId]],
    ) -> Mount:
        """Mount a model whose frames, joints and nodes are in the store already: nothing is changed there."""
        mount = Mount(self, model, options, objects)
        self._check_names(mount)
        mount.adopt(shapes)
        self.mounted = (*self.mounted, mount)
        self._forget_names()
        return mount

    def unmount(self, what: Mount | ArticulationModel | str, *, subtree: bool) -> Mount:
        """Take a mounted model out of the store; arguments as for `World.unmount`."""
        mount = self._meant(what)
        held = {*mount.frames.values(), *mount.joints.values()}
        for loop in self.closed_loops:
            if loop.is_active and loop.until is None and not held.isdisjoint((loop.of, loop.on, *loop.dependents)):
                raise InvalidArgument(f"The loop of '{loop.of}' on '{loop.on}' is closed. Open it first.", what)
        if not isinstance(subtree, bool):
            raise InvalidArgument(f"subtree is True or False, got {subtree!r}.", subtree)
        if not subtree:
            mount.check_carries_nothing(self.store)
        self.store.apply(mount.removal(self.store), tag=mount.unmount_tag)
        self._set_mounted(mount, is_mounted=False)
        return mount

    def _meant(self, what: Mount | ArticulationModel | str) -> Mount:
        """Return the mount that is given by itself, by its model, or by the path or the prefix that it is known by."""
        if isinstance(what, str):
            found = [mount for mount in self.mounted if what in mount.names]
        else:
            found = [mount for mount in self.mounted if mount is what or mount.model is what]
        if len(found) != 1:
            known = ", ".join(map(repr, self.mounted)) or "none"
            is_wrong = "is mounted several times" if found else "is not mounted"
            raise InvalidArgument(f"{what!r} {is_wrong}. Give one of `world.mounts`: {known}.", what)
        return found[0]

    def _set_mounted(self, meant: Mount, *, is_mounted: bool) -> None:
        ordered = [mount for mount in (*self.mounted, *self._unmounted) if mount is not meant] + [meant]
        meant.is_mounted = is_mounted
        self.mounted = tuple(mount for mount in ordered if mount.is_mounted)
        gone = [mount for mount in ordered if not mount.is_mounted]
        for forgotten in gone[:-_MOST_UNMOUNTED]:
            forgotten.close()
        self._unmounted = tuple(gone[-_MOST_UNMOUNTED:])
        self._forget_names()

    def _check_names(self, mount: Mount) -> None:
        taken = {frame for other in self.mounted for frame in other.frames.values()}
        shared = next((frame for frame in mount.frames.values() if frame in taken), None)
        if shared is not None:
            raise InvalidArgument(
                f"'{shared}' is a link of a model that is mounted already. Give another prefix=, or edit that model.",
                shared,
            )

    def copy_from(self, other: Mounts) -> None:
        """Mount copies of the models of another store, one for each, and close its loops here."""
        both = (*other.mounted, *other._unmounted)
        models = {id(mount.model): mount.model.copy() for mount in both}
        twins = {mount: mount.copied(self, models[id(mount.model)]) for mount in both}
        self.mounted = tuple(twins[mount] for mount in other.mounted)
        self._unmounted = tuple(twins[mount] for mount in other._unmounted)
        self.store.has_dependent_joints = other.store.has_dependent_joints
        self.closed_loops = tuple(loop.copied(self) for loop in other.closed_loops)
        self._forget_names()

    def edited(self, at: int) -> None:
        """Drive links again where a kinematic loop involves a model that was edited."""
        self._forget_names()
        held = [loop for loop in self.closed_loops if loop.holds_at(at)]
        for loop in held:
            loop.renew(at)
        if held:
            self.store.apply(tuple(self._drives(self.closed_loops, at)), for_undo=False)

    # -- Joints that are no variables, and limits

    @property
    def followers(self) -> Mapping[str, Follower]:
        """By name, the joints that follow a variable by a factor and have none of their own."""
        return self._followers

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """By name of a joint, its lower and upper limit; infinite where there is none."""
        if self._limits is None:
            self._limits = {name: bounds for mount in self.mounted for name, bounds in mount.limits.items()}
        return self._limits

    def _forget_names(self) -> None:
        """Find the joints that follow others again, after a model was mounted or edited."""
        taken = set(self.store.joints())
        found = {name: one for mount in self.mounted for name, one in mount.followers.items() if name not in taken}
        self._followers, self._limits = found, None
        self.store.set_followers(list(found))

    def violations(self, at: Any, outside: str, tolerance: float) -> dict[str, Constraint]:
        """By path, the constraints of mounted models that the joints break at an instant."""
        tolerance = as_number(tolerance, "tolerance", allowed="a number")
        found: dict[str, Constraint] = {}
        for mount in self.mounted:
            values = {}
            for joint in mount.joints.values():
                try:
                    value = self.store.joint(joint, at=at, outside=outside).value
                except StampOutOfRange:
                    continue
                if value is not None:
                    values[joint] = value
            found.update(mount.violations(values, tolerance))
        return found

    # -- Undo

    def check_undo(self, tag: str, *, redo: bool) -> None:
        """Refuse to undo an edit of a model, and to redo a mount whose model was edited since."""
        edited = next((mount for mount in self.mounted if tag == mount.edit_tag), None)
        if edited is not None:
            raise UndoneAtModel(edited.options.under)
        for mount in self._unmounted:
            if mount.is_outdated and tag == (mount.tag if redo else mount.unmount_tag):
                raise MountOutdated(mount.options.under)

    def undone(self, tag: str, *, redo: bool) -> None:
        """Follow the undo or redo of `mount` and `unmount`, or of a loop that was closed or opened."""
        both = (*self.mounted, *self._unmounted)
        meant = next((mount for mount in both if tag in {mount.tag, mount.unmount_tag}), None)
        if meant is not None:
            self._set_mounted(meant, is_mounted=redo == (tag == meant.tag))
        for loop in self.closed_loops:
            loop.undone(tag, redo=redo)

    # -- Loops between models

    def close_loop(self, *, of: str, on: str, dependents: Sequence[str], at: int) -> ClosedLoop:
        """Close a kinematic loop between models; arguments as for `World.close_loop`."""
        since, frames = as_stamp(at), (check_name(of), check_name(on))
        if not isinstance(dependents, Sequence) or isinstance(dependents, str):
            raise InvalidArgument(f"The dependents of a loop are a list of joints, got {dependents!r}.", dependents)
        joints = [recall_joint(self.store, name) for name in dependents]
        if since is None:
            raise InvalidArgument("A loop is closed at an instant, and at= is None. Give a stamp.", at)
        pose = self.store.pose(of=frames[0], in_frame=frames[1], at=since)
        loop = ClosedLoop(self, frames, pose.transform, joints, since)
        loops = (*self.closed_loops, loop)
        self._check_determined(loops, since)
        later = {stamp for other in self.closed_loops for stamp in (other.since, other.until) if stamp is not None}
        stamps = [since, *sorted(stamp for stamp in later if stamp > since)]
        self.store.apply([change for stamp in stamps for change in self._drives(loops, stamp)], tag=loop.tag)
        self.closed_loops, self.store.has_dependent_joints = loops, True
        return loop

    def restore_loop(self, field: Field) -> None:
        """Hold a kinematic loop that is closed in the store already; see `ClosedLoop.entry`."""
        loop = ClosedLoop.of_entry(self, field)
        self.closed_loops, self.store.has_dependent_joints = (*self.closed_loops, loop), True

    def open_loop(self, loop: ClosedLoop, at: int) -> None:
        """Open a closed loop from `at` on [ns]."""
        loop.until = at
        try:
            self.store.apply(tuple(self._drives(self.closed_loops, at)), tag=loop.opening_tag)
        except BaseException:
            loop.until = None
            raise

    def _drives(self, loops: Sequence[ClosedLoop], at: int) -> Iterator[Change]:
        """Yield the changes that drive every link that a loop can move, from an instant on."""
        names = {name for loop in loops for name in loop.dependents}
        closed = self._closed_at(loops, at)
        for mount in self.mounted:
            yield from mount.driven_links(names, closed, at)

    def _closed_at(self, loops: Sequence[ClosedLoop], at: int) -> Loops:
        """Return all kinematic loops that are closed at an instant, within models and between them."""
        within = [closure for mount in self.mounted for closure in mount.closures]
        return Loops([*within, *(loop.closure_at(at) for loop in loops if loop.holds_at(at))])

    def _check_determined(self, loops: Sequence[ClosedLoop], at: int) -> None:
        """Refuse loops that do not determine their dependents."""
        for system in self._closed_at(loops, at).systems:
            known = {variable: self._value(variable.name, at) for variable in system.drivers}
            start = {variable: self._value(variable.name, at) for variable in system.dependents}
            system.solver().solve(known, start=start)

    def _value(self, joint: str, at: int) -> float:
        return self.store.joint_row(joint, at, "hold")[0] or 0.0

    # -- Joints that follow from others

    def dependents_at(self, at: int) -> tuple[DependentJoints, ...]:
        """Return the systems of dependent joints at an instant, each after those that determine its drivers."""
        closed = tuple(loop for loop in self.closed_loops if loop.holds_at(at))
        if not closed:
            return tuple(dependents for mount in self.mounted for dependents in mount.dependent_joints)
        key = (*(mount.dependent_joints for mount in self.mounted), *(loop.closure_at(at) for loop in closed))
        if self._dependents is None or self._dependents[0] != key:
            systems = self._closed_at(closed, at).systems
            self._dependents = (key, tuple(DependentJoints(system, str) for system in systems))
        return self._dependents[1]

    def complete(
        self, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
    ) -> tuple[dict[str, float], ArrayLike | None]:
        """Return these joints and those that follow from them, whose rows in the covariance are zero."""
        complete = dict(joints)
        for dependents in self.dependents_at(at):
            dependents.complete(self.store, complete, at)
        given, added = len(joints), len(complete) - len(joints)
        if covariance is None or not added:
            return complete, covariance
        return complete, with_exact(as_joint_covariance(covariance, given, with_velocities=True), given, added)

    def complete_series(
        self, names: Sequence[str], positions: ArrayLike, stamps: NDArray[np.int64], velocities: ArrayLike | None
    ) -> tuple[list[str], ArrayLike, ArrayLike | None]:
        """Return the columns of these joints and of those that follow from them; the core refuses what is no number."""
        given = _numbers(positions)
        if given.shape != (len(stamps), len(names)) or not np.isfinite(given).all():
            return list(names), positions, velocities
        order = np.argsort(stamps, kind="stable")
        columns = dict(zip(names, given[order].T, strict=True))
        try:
            for dependents in self._dependents_at_all(stamps):
                dependents.complete_series(self.store, columns, stamps[order])
        except LoopError as error:
            error.row = None if error.row is None else int(order[error.row])
            raise
        filled = np.empty((len(stamps), len(columns)))
        filled[order] = np.reshape(list(columns.values()), (len(columns), len(stamps))).T
        added = len(columns) - len(names)
        if velocities is None or not added:
            return list(columns), filled, velocities
        return list(columns), filled, np.pad(np.asarray(velocities), ((0, 0), (0, added)), constant_values=np.nan)

    def _dependents_at_all(self, stamps: NDArray[np.int64]) -> tuple[DependentJoints, ...]:
        """Return the systems of dependent joints, which must be the same at all of these instants."""
        found = self.dependents_at(int(stamps[0]))
        if any(self.dependents_at(int(at)) != found for at in stamps):
            raise InvalidArgument(
                "Some of these samples are set while a loop is closed, and others are not. Set them apart.",
                stamps,
            )
        return found

    def joints_came(self, first: int, last: int, count: int, source: str | None) -> None:
        """Follow the kinematic loops anew through samples that are later than new ones."""
        for dependents in self.dependents_at(first):
            dependents.follow_later(self.store, first, last, count, source)

    def polished(self, name: str, state: JointState) -> JointState:
        """Return the state of a joint with its kinematic loops closed."""
        for dependents in self.dependents_at(state.stamp):
            state = dependents.polished(self.store, name, state)
        return state

    def wheels_turned(self, at: int, source: str | None) -> None:
        """Move the bases whose wheels got a velocity."""
        for mount in self.mounted:
            for base in mount.bases:
                base.integrate(self.store, at, source)


def _numbers(values: Any) -> NDArray[np.float64]:
    """Return values as an array; an empty one, where they are no numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def _interpolations(
    model: ArticulationModel, under: str, given: str | Mapping[str, str] | None
) -> tuple[tuple[str, str], ...]:
    """Check which interpolations of joints are chosen, and return them by name of a variable; "": all others."""
    chosen = {} if given is None else given if isinstance(given, Mapping) else {"": given}
    names = {variable.name for variable in model.variables(under)}
    for name, kind in chosen.items():
        check_interpolation(kind)
        if name and name not in names:
            raise UnknownVariable(name, sorted(names))
    return tuple(sorted(chosen.items()))
