"""A model that stands in a world: its links are frames, its variables are joints."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary._core import NodeId
from armillary._world._following import Followers
from armillary._world._wheels import WheeledBase
from armillary.articulation.appearance import Appearance, appearances, refuse_missing_meshes
from armillary.articulation.drive import LinkDrive, LoopForm, drive_of, interpolations_of, link_drive
from armillary.articulation.joints import ClosedForm, DifferentialDrive, TapeForm
from armillary.articulation.limits import limits_of
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.loops import Closure
from armillary.articulation.naming import Naming
from armillary.scene import AddGeometry, AddTransform, Change, Remove, SetAttributes
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary._world._mounting import MountingWorld
    from armillary.articulation import ArticulationModel, Subscription
    from armillary.articulation.history import ModelChange

__all__ = ["Mount", "Standing"]

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What of a model stands where.

    Attributes:
        under: The path of the part that is mounted.
        in_frame: Where the links stand that nothing carries; None: wherever poses of them are set.
        prefix: In place of the names of things; None: as the model says.
        since: From when on [ns]; None: always.
        roles: Of the shapes that are shown.
        skip_missing: Whether shapes without a file are left out.
    """

    under: str
    in_frame: str | None
    prefix: str | None
    since: int | None
    roles: tuple[str, ...]
    skip_missing: bool


class Mount:
    """A model in a world. Edits of the model are followed from the instant they are made, until `close`.

    `model` is what stands there, `standing` how.
    """

    def __init__(self, world: MountingWorld, model: ArticulationModel, standing: Standing) -> None:
        self.model, self.standing = model, standing
        self._world = weakref.ref(world)
        self._naming = Naming(_objects(model, standing.under), standing.prefix)
        self._shown: dict[str, list[NodeId]] = {}
        self._following: Subscription | None = None
        self._bases: tuple[WheeledBase, ...] = ()
        self._followers: tuple[Followers, ...] = ()

    def __repr__(self) -> str:
        under, where = self.standing.under or "a model", self.standing.in_frame
        return f"Mount({under} in {where}: {len(self.frames)} frames, {len(self.joints)} joints)"

    @property
    def frames(self) -> dict[str, str]:
        """By path of a link, the name of its frame."""
        return {path: self._naming.frame(path) for path in self.model.links(self.standing.under)}

    @property
    def joints(self) -> dict[str, str]:
        """By name of a variable in the model, the name of the joint in the world."""
        variables = self.model.variables(self.standing.under)
        return {variable.name: self._naming.variable(variable.name) for variable in variables}

    @property
    def bases(self) -> tuple[WheeledBase, ...]:
        """What its wheels drive."""
        return self._bases

    @property
    def followers(self) -> tuple[Followers, ...]:
        """Joints that follow from others, each after those that it follows from."""
        return self._followers

    @property
    def dependents(self) -> frozenset[str]:
        """The names in the world of all joints that follow from others."""
        return frozenset(self._naming.variable(one.name) for system in self._loops() for one in system.dependents)

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """By name of a joint in the world, how far it may go; infinite where nothing bounds it."""
        variables = self.model.variables(self.standing.under)
        known = limits_of(self.model.constraints(variables).values())
        free = (-math.inf, math.inf)
        return {self._naming.variable(variable.name): known.get(variable, free) for variable in variables}

    def copied(self, world: MountingWorld, model: ArticulationModel) -> Mount:
        """The same in a copy of the world, with a copy of the model."""
        twin = Mount(world, model, self.standing)
        twin._naming, twin._shown = self._naming, self.shapes
        twin._bases, twin._followers = self._bases, self._followers
        if self._following is not None:
            twin._following = model.on_path(twin._follow, self.standing.under)
        return twin

    def close(self) -> None:
        """Follow edits of the model no more; what stands in the world stays there."""
        if self._following is not None:
            self._following.cancel()
            self._following = None

    @property
    def shapes(self) -> dict[str, list[NodeId]]:
        """By path of a link, the nodes of the scene that show it."""
        return {path: list(nodes) for path, nodes in self._shown.items()}

    def stand(self, shapes: Mapping[str, list[NodeId]] | None = None) -> None:
        """Make frames, joints and shapes, and follow the model from now on.

        `shapes` are there already, or come by themselves: then none are made.
        """
        world = self._world()
        if world is not None:
            looks = self._all_looks() if shapes is None else {}
            self._stand(world)
            self._shown.update(shapes or {})
            self._show(world, looks)
            self._following = self.model.on_path(self._follow, self.standing.under)

    def _stand(self, world: MountingWorld) -> None:
        drive = drive_of(self.model, self.standing.under)
        self._declare(world, {**drive.interpolations, **dict.fromkeys(drive.velocities, "velocity")})
        self._declare_rest(world)
        for part in drive.links:
            self._place(world, part, self.standing.since)
        self._find_bases()
        self._find_followers(world)

    def _all_looks(self) -> dict[str, list[Appearance]]:
        links = self.model.links(self.standing.under)
        if not self.standing.skip_missing:
            refuse_missing_meshes(self.standing.under or "this model", links, self.standing.roles)
        return {path: list(self._looks(link)) for path, link in links.items()}

    def _follow(self, change: ModelChange) -> None:
        world = self._world()
        if world is None:
            self.close()
            return
        now = world.now()
        links = {path: value for path, value in change.after.items() if isinstance(value, Link)}
        joints = [link.joint for link in links.values() if link.joint is not None]
        positions = interpolations_of(joints)
        wheels = {variable.name for joint in joints for variable in joint.velocities} - positions.keys()
        self._declare(world, {**positions, **dict.fromkeys(wheels, "velocity")})
        self._declare_rest(world)
        for path, link in {**self._reached_by_loops(change), **links}.items():
            if path not in links or _stands_otherwise(change.before.get(path), link):
                self._place(world, link_drive(path, link, self.model.loops), now)
        if any(map(_is_base, (*change.before.values(), *links.values()))):
            self._find_bases()
        self._find_followers(world)
        gone = [path for path, value in change.before.items() if isinstance(value, Link) and path not in links]
        for path in gone:
            world._close_frame(self._naming.frame(path), now)  # noqa: SLF001
        seen = {path: link for path, link in links.items() if _looks_otherwise(change.before.get(path), link)}
        self._hide(world, [*gone, *seen])
        self._show(world, {path: list(self._looks(link)) for path, link in seen.items()})

    def _reached_by_loops(self, change: ModelChange) -> dict[str, Link]:
        """The links that loops move which came, went or became different."""
        loops = [value for value in (*change.before.values(), *change.after.values()) if isinstance(value, Closure)]
        moved = {variable for loop in loops for variable in loop.dependents}
        links = self.model.links(self.standing.under) if moved else {}
        return {path: link for path, link in links.items() if link.joint and moved.intersection(link.joint.variables)}

    def _declare(self, world: MountingWorld, interpolations: Mapping[str, str]) -> None:
        names = [self._naming.variable(name) for name in interpolations]
        world._declare_variables(names, list(interpolations.values()))  # noqa: SLF001

    def _declare_rest(self, world: MountingWorld) -> None:
        """What stands in loops and moves no link of this part by itself."""
        names = {v.name: None for system in self._loops() for v in (*system.drivers, *system.dependents)}
        known = set(world.joints()) if names else ()
        left = [name for name in names if self._naming.variable(name) not in known]
        kinds = interpolations_of(self.model.joints().values()) if left else {}
        self._declare(world, {name: kinds.get(name, "linear") for name in left})

    def _find_followers(self, world: MountingWorld) -> None:
        self._followers = tuple(Followers(system, self._naming) for system in self._loops())
        if self._followers:
            world._has_loops = True  # noqa: SLF001

    def _loops(self) -> list[Closure]:
        """The systems of loops that reach into what is mounted."""
        systems, under = self.model.loops.systems, self.standing.under
        if not systems or not under:
            return systems
        own = {v for closure in self.model.closures(under).values() for v in closure.residual.free_variables}
        own.update(self.model.variables(under))
        return [system for system in systems if own & system.residual.free_variables]

    def _find_bases(self) -> None:
        links = self.model.links(self.standing.under).values()
        self._bases = tuple(self._base(link.joint) for link in links if isinstance(link.joint, DifferentialDrive))

    def _base(self, joint: DifferentialDrive) -> WheeledBase:
        x, y, yaw = (self._naming.variable(variable.name) for variable in joint.variables)
        left, right = (self._naming.variable(variable.name) for variable in joint.wheels)
        return WheeledBase(joint, (x, y, yaw), (left, right))

    # Frames

    def _place(self, world: MountingWorld, part: LinkDrive, at: int | None) -> None:
        frame = self._naming.frame(part.link)
        parent = self.standing.in_frame if part.parent is None else self._naming.frame(part.parent)
        if parent is None:
            world.add_frame(frame)
            return
        match part.form:
            case ClosedForm() as form:
                self._place_joint(world, frame, parent, form, at)
            case TapeForm() as form:
                self._place_tapes(world, frame, parent, form, at)
            case LoopForm() as form:
                self._place_loop(world, frame, parent, form, at)
            case transform:
                world.fix(of=frame, in_frame=parent, transform=transform, at=at)

    def _place_joint(self, world: MountingWorld, frame: str, parent: str, form: ClosedForm, at: int | None) -> None:
        world._drive_joint(  # noqa: SLF001
            of=frame,
            in_frame=parent,
            kind=form.kind,
            origin=form.origin,
            axes=form.axes,
            variables=self._renamed(form.variables),
            at=at,
            multiplier=form.multiplier,
            offset=form.offset,
            pitch=form.pitch_m_per_rad,
        )

    def _place_tapes(self, world: MountingWorld, frame: str, parent: str, form: TapeForm, at: int | None) -> None:
        world._drive_tape(  # noqa: SLF001
            of=frame,
            in_frame=parent,
            value=form.value,
            jacobian=form.jacobian,
            positions=self._renamed(form.positions),
            velocities=self._renamed(form.velocities),
            at=at,
        )

    def _place_loop(self, world: MountingWorld, frame: str, parent: str, form: LoopForm, at: int | None) -> None:
        world._drive_loop(  # noqa: SLF001
            of=frame,
            in_frame=parent,
            residual=form.residual,
            slope=form.slope,
            value=form.value,
            jacobian=form.jacobian,
            positions=self._renamed(form.positions),
            velocities=self._renamed(form.velocities),
            at=at,
        )

    def _renamed(self, variables: Iterable[str]) -> list[str]:
        return [self._naming.variable(name) for name in variables]

    # Shapes

    def _looks(self, link: Link) -> Iterable[Appearance]:
        return appearances(link, self.standing.roles, skip_missing=self.standing.skip_missing)

    def _show(self, world: MountingWorld, looks: Mapping[str, Iterable[Appearance]]) -> None:
        changes: list[Change] = []
        for path, seen in looks.items():
            frame = self._naming.frame(path)
            changes.append(SetAttributes(frame, {"name": frame, "link": path}))
            self._shown[path] = []
            for look in seen:
                changes += self._shape(path, frame, look)
        if changes:
            world.apply(changes)

    def _shape(self, path: str, frame: str, look: Appearance) -> list[Change]:
        shape = NodeId.random()
        if look.link_T_shape == _IDENTITY:
            self._shown[path].append(shape)
            return [AddGeometry(parent=frame, shape=look.shape, attributes=look.attributes, id=shape)]
        placed = NodeId.random()
        self._shown[path].append(placed)
        return [
            AddTransform(parent=frame, transform=look.link_T_shape, at=None, id=placed),
            AddGeometry(parent=placed, shape=look.shape, attributes=look.attributes, id=shape),
        ]

    def _hide(self, world: MountingWorld, paths: Iterable[str]) -> None:
        nodes = [node for path in paths for node in self._shown.pop(path, ())]
        if nodes:
            world.apply([Remove(node) for node in nodes])


def _objects(model: ArticulationModel, under: str) -> dict[str, ArticulatedObject]:
    return {path: value for path, value in model.values(under).items() if isinstance(value, ArticulatedObject)}


def _is_base(value: Any) -> bool:
    return isinstance(value, Link) and isinstance(value.joint, DifferentialDrive)


def _stands_otherwise(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.parent, before.joint) != (after.parent, after.joint)


def _looks_otherwise(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.visuals, before.collisions) != (after.visuals, after.collisions)
