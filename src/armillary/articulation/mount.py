"""A model that is mounted in a world: its links are frames, its variables are joints."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from armillary._core import NodeId
from armillary.articulation.appearance import appearances, refuse_missing_meshes
from armillary.articulation.bases import DifferentialDrive
from armillary.articulation.constraints import Constraint, limits_of
from armillary.articulation.dependents import DependentJoints
from armillary.articulation.drive import Naming, drive_of, interpolations_of, link_drive, loop_form
from armillary.articulation.expressions import PoseExpression, VectorExpression
from armillary.articulation.joints import CHOICES, AxisJoint, PrismaticJoint
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.loops import Closure, Loops
from armillary.articulation.odometry import WheeledBase
from armillary.articulation.variables import position
from armillary.errors import FrameInUse, MeshesSkipped
from armillary.scene import (
    AddFrame,
    AddGeometry,
    AddJoints,
    AddTransform,
    Change,
    Drive,
    Fix,
    Release,
    Remove,
    RemoveFrame,
    RemoveJoints,
    SetAttributes,
)
from armillary.store.admitting import Follower
from armillary.store.nodes import maker_of
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.articulation import ArticulationModel, Subscription
    from armillary.articulation.appearance import Appearance
    from armillary.articulation.drive import LinkDrive
    from armillary.articulation.history import ModelChange
    from armillary.articulation.mounts import Mounts
    from armillary.store import Store

__all__ = ["Mount", "MountOptions", "MountedLink"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MountOptions:
    """Which part of a model is mounted, and how.

    Attributes:
        under: The path of the part that is mounted.
        in_frame: The parent of links that have none in the model; None: the one that their poses are set in.
        prefix: Replaces the names of objects; None: the names of the model.
        since: The instant of the mount [ns]; None: always.
        roles: Which shapes are shown: "visual", "collision".
        skip_missing: Whether meshes that are missing or cannot be read are left out.
        interpolations: By name of a variable of the model how it goes from one sample to the next; "": all others.
        outer_prefix: Put before the names of all frames and joints: the prefix with which a world was loaded.
    """

    under: str
    in_frame: str | None
    prefix: str | None
    since: int | None
    roles: tuple[str, ...]
    skip_missing: bool
    interpolations: tuple[tuple[str, str], ...] = ()
    outer_prefix: str = ""


class MountedLink(NamedTuple):
    """A link in the world: its parent frame, None for a root, and its pose there."""

    parent: str | None
    parent_T_link: PoseExpression


class Mount:
    """A mounted model. Edits of the model are followed from the instant they are made, until `close`.

    The names of frames and joints are made of the paths of the objects that the model had when it was mounted; they are
    given in `objects` where it was mounted before.

    Attributes:
        model: The model.
        options: Which part of it is mounted, and how.
        tag: The tag of the change of structure that mounted it.
        is_mounted: False where that was undone, or where it was unmounted.
        is_outdated: Whether the model was edited since then.
        is_quiet: Whether nothing is said of meshes that are left out.
    """

    def __init__(
        self, mounts: Mounts, model: ArticulationModel, options: MountOptions, objects: Sequence[str] | None = None
    ) -> None:
        self.model, self.options = model, options
        self.tag = f"mount {NodeId.random()}"
        self.is_mounted, self.is_outdated, self.is_quiet = True, False, False
        self._mounts = weakref.ref(mounts)
        named = _objects(model, options.under) if objects is None else objects
        self._naming = Naming(named, options.prefix, options.outer_prefix)
        self._changes = MountChanges(self._naming, options.in_frame)
        self._shown: dict[str, list[NodeId]] = {}
        self._following: Subscription | None = None
        self._bases: tuple[WheeledBase, ...] = ()
        self._dependents: tuple[DependentJoints, ...] = ()

    @property
    def edit_tag(self) -> str:
        """The tag of changes that edits of the model make."""
        return f"edit of {self.tag}"

    @property
    def unmount_tag(self) -> str:
        """The tag of the change of structure that takes it away."""
        return f"un{self.tag}"

    def __repr__(self) -> str:
        under, where = self.options.under or "a model", self.options.in_frame
        return f"Mount({under} in {where}: {len(self.frames)} frames, {len(self.joints)} joints)"

    @property
    def frames(self) -> dict[str, str]:
        """By path of a link, the name of its frame."""
        return {path: self._naming.frame(path) for path in self.model.links(self.options.under)}

    @property
    def joints(self) -> dict[str, str]:
        """By name of a variable in the model, the name of the joint in the world."""
        variables = self.model.variables(self.options.under)
        return {variable.name: self._naming.variable(variable.name) for variable in variables}

    @property
    def objects(self) -> tuple[str, ...]:
        """The paths of the objects that the names of frames and joints are made of."""
        return self._naming.objects

    @property
    def names(self) -> frozenset[str]:
        """What it is called by: the path that is mounted, the prefix, and the paths of its objects."""
        own = (self.options.under, self.options.prefix, *self.objects)
        return frozenset(name for name in own if name)

    @property
    def bases(self) -> tuple[WheeledBase, ...]:
        """The bases that are driven by wheels."""
        return self._bases

    @property
    def dependent_joints(self) -> tuple[DependentJoints, ...]:
        """Joints that follow from others, each after those that it follows from."""
        return self._dependents

    @property
    def dependents(self) -> frozenset[str]:
        """The names in the world of all joints that follow from others."""
        return frozenset(self._naming.variable(one.name) for system in self._loops() for one in system.dependents)

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """By name of a joint in the world, its lower and upper limit; infinite where there is none."""
        variables = self.model.variables(self.options.under)
        known = limits_of(self.model.constraints(variables).values())
        free = (-math.inf, math.inf)
        return {self._naming.variable(variable.name): known.get(variable, free) for variable in variables}

    @property
    def followers(self) -> dict[str, Follower]:
        """By name in the world, the joints that follow a variable of another joint."""
        found = {}
        for path, joint in self.model.joints(self.options.under).items():
            own = path.replace("/joints/", "/", 1)
            if isinstance(joint, AxisJoint) and joint.variable != own:
                tolerance = _SLIDE_TOLERANCE_M if isinstance(joint, PrismaticJoint) else _TURN_TOLERANCE_RAD
                leader = self._naming.variable(joint.variable)
                found[self._naming.variable(own)] = Follower(leader, joint.multiplier, joint.offset, tolerance)
        return found

    def violations(self, values: Mapping[str, float], tolerance: float) -> dict[str, Constraint]:
        """By path, with the names of the world, the constraints that these positions of joints break."""
        known = {position(name): values[joint] for name, joint in self.joints.items() if joint in values}
        broken = self.model.violations(known, tolerance=tolerance)
        return {self._naming.variable(path): constraint for path, constraint in broken.items()}

    @property
    def links(self) -> dict[str, MountedLink]:
        """By name of its frame, each link, with the joints as the world names them."""
        found = {}
        for path, link in self.model.links(self.options.under).items():
            above = self.options.in_frame if link.parent is None else self._naming.frame(link.parent)
            found[self._naming.frame(path)] = MountedLink(above, self._changes.renamed(link.parent_T_link))
        return found

    @property
    def closures(self) -> list[Closure]:
        """The kinematic loops within the model, with the joints as the world names them."""
        return [self._changes.closure(system) for system in self._loops()]

    def driven_links(self, joints: AbstractSet[str], loops: Loops, at: int) -> Iterator[Change]:
        """Yield the changes that drive the links of these joints from `at` on, with these kinematic loops closed."""
        for path, link in self.model.links(self.options.under).items():
            moved = () if link.joint is None else map(self._naming.variable, (v.name for v in link.joint.variables))
            if not joints.isdisjoint(moved):
                yield self._changes.link_in_loops(path, link, loops, at)

    def copied(self, mounts: Mounts, model: ArticulationModel) -> Mount:
        """Return the mount of a copied world, with a copy of the model."""
        twin = Mount(mounts, model, self.options)
        twin._naming, twin._changes, twin._shown = self._naming, self._changes, self.shapes
        twin.tag, twin.is_mounted, twin.is_outdated = self.tag, self.is_mounted, self.is_outdated
        twin.is_quiet = self.is_quiet
        twin._bases, twin._dependents = self._bases, self._dependents
        if self._following is not None:
            twin._following = model.on_path(twin._follow, self.options.under)
        return twin

    def removal(self, store: Store) -> list[Change]:
        """Return the changes that take its frames and joints away, with all that is in these frames."""
        frames, joints = set(store.frames()), set(store.joints())
        present = [frame for frame in self.frames.values() if frame in frames]
        moved = [joint for joint in self.joints.values() if joint in joints]
        changes: list[Change] = [RemoveFrame(present, subtree=True)] if present else []
        return changes + ([RemoveJoints(moved)] if moved else [])

    def check_carries_nothing(self, store: Store) -> None:
        """Refuse, with `FrameInUse`, where something is in its frames that did not come with it."""
        own = set(self.frames.values())
        shown = {node for nodes in self._shown.values() for node in nodes}
        for frame in own.intersection(store.frames()):
            below = [name for name in store.subtree(frame) if name not in own]
            strange = [name for name in below if maker_of(store.frame_key(name)) not in shown]
            if strange:
                raise FrameInUse(frame, strange)

    def close(self) -> None:
        """Stop following edits of the model; what is mounted stays."""
        if self._following is not None:
            self._following.cancel()
            self._following = None

    @property
    def shapes(self) -> dict[str, list[NodeId]]:
        """By path of a link, the nodes of the scene that show it."""
        return {path: list(nodes) for path, nodes in self._shown.items()}

    def install(self, shapes: Mapping[str, list[NodeId]] | None = None) -> None:
        """Add frames, joints and shapes, all or none, and follow the model from now on.

        Nodes of shapes that are given in `shapes` exist, or are loaded elsewhere: then none are added.
        """
        mounts = self._mounts()
        if mounts is None:
            return
        changes = self._all_links(mounts.store)
        if shapes is None:
            shown, shapes = self._shown_links(self._all_shown())
            changes += shown
        mounts.store.apply(changes, tag=self.tag)
        self.adopt(shapes)

    def adopt(self, shapes: Mapping[str, Sequence[NodeId]]) -> None:
        """Follow the model from now on; its frames and joints are there already, and these nodes show its links."""
        self._shown = {path: list(nodes) for path, nodes in shapes.items()}
        self._find_bases()
        mounts = self._mounts()
        if mounts is not None:
            self._find_dependents(mounts.store)
        self._following = self.model.on_path(self._follow, self.options.under)

    def _all_links(self, store: Store) -> list[Change]:
        drive = drive_of(self.model, self.options.under)
        joints = {**drive.interpolations, **dict.fromkeys(drive.velocities, "velocity")}
        since = self.options.since
        return self._joints(store, joints) + [self._changes.link(part, since) for part in drive.links]

    def _all_shown(self) -> dict[str, Link]:
        links = self.model.links(self.options.under)
        if not self.options.skip_missing:
            refuse_missing_meshes(self.options.under or "this model", links, self.options.roles)
        return links

    def _follow(self, change: ModelChange) -> None:
        mounts = self._mounts()
        if mounts is None:
            self.close()
            return
        if not self.is_mounted:
            self.is_outdated = True
            return
        links = {path: value for path, value in change.after.items() if isinstance(value, Link)}
        gone = [path for path, value in change.before.items() if isinstance(value, Link) and path not in links]
        seen = {path: link for path, link in links.items() if _has_other_shapes(change.before.get(path), link)}
        shown, shapes = self._shown_links(seen)
        hidden = [node for path in (*gone, *seen) for node in self._shown.get(path, ())]
        store = mounts.store
        changes = self._moved_links(store, change, links)
        changes += [Release(of=self._naming.frame(path), at=store.now()) for path in gone]
        changes += [*map(Remove, hidden), *shown]
        store.apply(changes, for_undo=False)
        store.note_edit(self.edit_tag, is_undo=change.kind == "undo")
        self._shown = {path: nodes for path, nodes in self._shown.items() if path not in gone} | shapes
        if any(map(_is_base, (*change.before.values(), *links.values()))):
            self._find_bases()
        self._find_dependents(mounts.store)
        mounts.edited(store.now())

    def _moved_links(self, store: Store, change: ModelChange, links: Mapping[str, Link]) -> list[Change]:
        """Return the changes for links whose parent or joint differs, from now on."""
        joints = [link.joint for link in links.values() if link.joint is not None]
        positions = interpolations_of(joints)
        wheels = {variable.name for joint in joints for variable in joint.velocities} - positions.keys()
        changes = self._joints(store, {**positions, **dict.fromkeys(wheels, "velocity")})
        for path, link in {**self._reached_by_loops(change), **links}.items():
            if path not in links or _has_other_joint(change.before.get(path), link):
                changes.append(self._changes.link(link_drive(path, link, self.model.loops), store.now()))
        return changes

    def _reached_by_loops(self, change: ModelChange) -> dict[str, Link]:
        """Return the links moved by kinematic loops that were added, removed or replaced."""
        loops = [value for value in (*change.before.values(), *change.after.values()) if isinstance(value, Closure)]
        moved = {variable for loop in loops for variable in loop.dependents}
        links = self.model.links(self.options.under) if moved else {}
        return {path: link for path, link in links.items() if link.joint and moved.intersection(link.joint.variables)}

    def _joints(self, store: Store, moving: Mapping[str, str]) -> list[Change]:
        """Return the changes that add joints of links, and joints of loops that move no link of this part."""
        looped = {v.name: None for system in self._loops() for v in (*system.drivers, *system.dependents)}
        known = store.variables() if moving or looped else []
        names = {name for name, _ in known}
        left = [name for name in looped if name not in moving and self._naming.variable(name) not in names]
        kinds = interpolations_of(self.model.joints().values()) if left else {}
        found = {**moving, **{name: kinds.get(name, "linear") for name in left}}
        return self._changes.joints({name: self._chosen(name, kind) for name, kind in found.items()}, known)

    def _chosen(self, name: str, kind: str) -> str:
        """Return the interpolation of a variable: the one of the mount, unless it is none that can be chosen."""
        chosen = dict(self.options.interpolations)
        return chosen.get(name, chosen.get("", kind)) if kind in CHOICES else kind

    def _shown_links(self, links: Mapping[str, Link]) -> tuple[list[Change], dict[str, list[NodeId]]]:
        changes: list[Change] = []
        shapes: dict[str, list[NodeId]] = {}
        skipped: list[str] | None = [] if self.options.skip_missing else None
        for path, link in links.items():
            shown_shapes = appearances(path, link, self.options.roles, skipped)
            shown, shapes[path] = shapes_of(self._naming.frame(path), path, shown_shapes)
            changes += shown
        if skipped and not self.is_quiet:
            whole = self.options.under or ", ".join(self.objects) or "this model"
            warnings.warn(MeshesSkipped(whole, list(dict.fromkeys(skipped))), stacklevel=2)
        return changes, shapes

    def _find_dependents(self, store: Store) -> None:
        self._dependents = tuple(DependentJoints(system, self._naming.variable) for system in self._loops())
        if self._dependents:
            store.has_dependent_joints = True

    def _loops(self) -> list[Closure]:
        """Return the systems of kinematic loops that involve what is mounted."""
        systems, under = self.model.loops.systems, self.options.under
        if not systems or not under:
            return systems
        own = {v for closure in self.model.closures(under).values() for v in closure.residual.free_variables}
        own.update(self.model.variables(under))
        return [system for system in systems if own & system.residual.free_variables]

    def _find_bases(self) -> None:
        links = self.model.links(self.options.under).values()
        self._bases = tuple(self._base(link.joint) for link in links if isinstance(link.joint, DifferentialDrive))

    def _base(self, joint: DifferentialDrive) -> WheeledBase:
        x, y, yaw = (self._naming.variable(variable.name) for variable in joint.variables)
        left, right = (self._naming.variable(variable.name) for variable in joint.wheels)
        return WheeledBase(joint, (x, y, yaw), (left, right))


def _objects(model: ArticulationModel, under: str) -> list[str]:
    return [path for path, value in model.values(under).items() if isinstance(value, ArticulatedObject)]


def _is_base(value: Any) -> bool:
    return isinstance(value, Link) and isinstance(value.joint, DifferentialDrive)


def _has_other_joint(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.parent, before.joint) != (after.parent, after.joint)


def _has_other_shapes(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.visuals, before.collisions) != (after.visuals, after.collisions)


_SLIDE_TOLERANCE_M, _TURN_TOLERANCE_RAD = 1e-3, 1e-2
"""How far a joint that follows another may be reported from where that puts it."""

E = TypeVar("E", PoseExpression, VectorExpression)

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class MountChanges:
    """Builds the changes that mount the links and joints of a model.

    Attributes:
        naming: Their names in the store.
        in_frame: The parent of links that have none in the model; None: none.
    """

    naming: Naming
    in_frame: str | None

    def joints(self, interpolations: Mapping[str, str], known: Iterable[tuple[str, str]]) -> list[Change]:
        """Return the change that adds joints, given by name in the model, which are not known yet."""
        present = set(known)
        named = {self.naming.variable(name): kind for name, kind in interpolations.items()}
        new = {name: kind for name, kind in named.items() if (name, kind) not in present}
        return [AddJoints(new)] if new else []

    def link(self, part: LinkDrive, at: int | None) -> Change:
        """Return the change that places a link in its parent."""
        frame = self.naming.frame(part.link)
        parent = self.in_frame if part.parent is None else self.naming.frame(part.parent)
        if parent is None:
            return AddFrame(frame)
        if isinstance(part.form, Transform):
            return Fix(of=frame, in_frame=parent, transform=part.form, at=at)
        return Drive(of=frame, in_frame=parent, form=part.form.renamed(self.naming.variable), at=at)

    def link_in_loops(self, path: str, link: Link, loops: Loops, at: int) -> Change:
        """Return the change that places a link with these loops closed, whose variables have the names of the world."""
        pose = self.renamed(link.parent_T_link)
        moved = pose.free_variables & loops.dependents
        part = link_drive(path, link, Loops(()))
        if not moved or isinstance(part.form, Transform):
            return self.link(part, at)
        parent = self.in_frame if part.parent is None else self.naming.frame(part.parent)
        return Drive(of=self.naming.frame(path), in_frame=parent or "", form=loop_form(pose, loops), at=at)

    def renamed(self, expression: E) -> E:
        """Return an expression with the joints as the world names them."""
        names = {v: position(self.naming.variable(v.name)) for v in expression.free_variables}
        changed = {before: after for before, after in names.items() if before != after}
        return expression.substitute(changed) if changed else expression

    def closure(self, closure: Closure) -> Closure:
        """Return a closure with the joints as the world names them."""
        name = {v: position(self.naming.variable(v.name)) for v in closure.dependents}
        start = {name[v]: value for v, value in closure.start.items()}
        return Closure(self.renamed(closure.residual), dependents=[name[v] for v in closure.dependents], start=start)


def shapes_of(frame: str, path: str, looks: Iterable[Appearance]) -> tuple[list[Change], list[NodeId]]:
    """Return the changes that show a link, and the nodes to remove when its shapes change."""
    changes: list[Change] = [SetAttributes(frame, {"name": frame, "link": path})]
    nodes: list[NodeId] = []
    for look in looks:
        placed = NodeId.random()
        parent: NodeId | str = frame
        nodes.append(placed)
        if look.link_T_shape != _IDENTITY:
            changes.append(AddTransform(parent=frame, transform=look.link_T_shape, at=None, id=placed))
            parent, placed = placed, NodeId.random()
        changes.append(AddGeometry(parent=parent, shape=look.shape, attributes=look.attributes, id=placed, at=None))
    return changes, nodes
