"""A model that stands in a world: its links are frames, its variables are joints."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from armillary._core import NodeId
from armillary._world._following import Followers
from armillary._world._saying import Saying, shapes_of
from armillary._world._wheels import WheeledBase
from armillary.articulation.appearance import appearances, refuse_missing_meshes
from armillary.articulation.bases import DifferentialDrive
from armillary.articulation.constraints import limits_of
from armillary.articulation.drive import Naming, drive_of, interpolations_of, link_drive
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.loops import Closure
from armillary.scene import Change, Release, Remove

if TYPE_CHECKING:
    from armillary._world._mounting import MountingWorld
    from armillary.articulation import ArticulationModel, PoseExpression, Subscription
    from armillary.articulation.history import ModelChange
    from armillary.articulation.loops import Loops

__all__ = ["Mount", "MountedLink", "Standing"]


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


class MountedLink(NamedTuple):
    """A link as the world knows it: what it hangs in, None for nothing, and where it is there."""

    parent: str | None
    parent_T_link: PoseExpression


class Mount:
    """A model in a world. Edits of the model are followed from the instant they are made, until `close`.

    Attributes:
        model: What stands there.
        standing: How.
        tag: Of the change of structure that made it stand.
        is_standing: False where that was undone.
        is_outdated: Whether the model was edited since then.
    """

    def __init__(self, world: MountingWorld, model: ArticulationModel, standing: Standing) -> None:
        self.model, self.standing = model, standing
        self.tag = f"mount {NodeId.random()}"
        self.is_standing, self.is_outdated = True, False
        self._world = weakref.ref(world)
        self._naming = Naming(_objects(model, standing.under), standing.prefix)
        self._saying = Saying(self._naming, standing.in_frame)
        self._shown: dict[str, list[NodeId]] = {}
        self._following: Subscription | None = None
        self._bases: tuple[WheeledBase, ...] = ()
        self._followers: tuple[Followers, ...] = ()

    @property
    def edit_tag(self) -> str:
        """Of the changes that edits of the model make."""
        return f"edit of {self.tag}"

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

    @property
    def links(self) -> dict[str, MountedLink]:
        """By name of a frame, with the joints as the world names them."""
        found = {}
        for path, link in self.model.links(self.standing.under).items():
            above = self.standing.in_frame if link.parent is None else self._naming.frame(link.parent)
            found[self._naming.frame(path)] = MountedLink(above, self._saying.renamed(link.parent_T_link))
        return found

    @property
    def closures(self) -> list[Closure]:
        """What is closed within the model, with the joints as the world names them."""
        return [self._saying.closure(system) for system in self._loops()]

    def driven_anew(self, joints: AbstractSet[str], loops: Loops, at: int) -> Iterator[Change]:
        """How links that these joints of the world move do so from `at` on, where these loops are closed."""
        for path, link in self.model.links(self.standing.under).items():
            moved = () if link.joint is None else map(self._naming.variable, (v.name for v in link.joint.variables))
            if not joints.isdisjoint(moved):
                yield self._saying.link_in_loops(path, link, loops, at)

    def copied(self, world: MountingWorld, model: ArticulationModel) -> Mount:
        """The same in a copy of the world, with a copy of the model."""
        twin = Mount(world, model, self.standing)
        twin._naming, twin._saying, twin._shown = self._naming, self._saying, self.shapes
        twin.tag, twin.is_standing, twin.is_outdated = self.tag, self.is_standing, self.is_outdated
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
        """Make frames, joints and shapes, all or none, and follow the model from now on.

        `shapes` are there already, or come by themselves: then none are made.
        """
        world = self._world()
        if world is None:
            return
        changes = self._all_links(world)
        if shapes is None:
            shown, shapes = self._shown_links(self._all_looks())
            changes += shown
        world.scene._applied(tuple(changes), tag=self.tag)  # noqa: SLF001  (one world, two modules)
        self._shown.update(shapes)
        self._find_bases()
        self._find_followers(world)
        self._following = self.model.on_path(self._follow, self.standing.under)

    def _all_links(self, world: MountingWorld) -> list[Change]:
        drive = drive_of(self.model, self.standing.under)
        joints = {**drive.interpolations, **dict.fromkeys(drive.velocities, "velocity")}
        since = self.standing.since
        return self._joints(world, joints) + [self._saying.link(part, since) for part in drive.links]

    def _all_looks(self) -> dict[str, Link]:
        links = self.model.links(self.standing.under)
        if not self.standing.skip_missing:
            refuse_missing_meshes(self.standing.under or "this model", links, self.standing.roles)
        return links

    def _follow(self, change: ModelChange) -> None:
        world = self._world()
        if world is None:
            self.close()
            return
        if not self.is_standing:
            self.is_outdated = True
            return
        links = {path: value for path, value in change.after.items() if isinstance(value, Link)}
        gone = [path for path, value in change.before.items() if isinstance(value, Link) and path not in links]
        seen = {path: link for path, link in links.items() if _looks_otherwise(change.before.get(path), link)}
        shown, shapes = self._shown_links(seen)
        hidden = [node for path in (*gone, *seen) for node in self._shown.get(path, ())]
        changes = self._moved_links(world, change, links)
        changes += [Release(of=self._naming.frame(path), at=world.now()) for path in gone]
        changes += [*map(Remove, hidden), *shown]
        world.scene._applied(tuple(changes), for_undo=False)  # noqa: SLF001  (see `stand`)
        world.scene._note_edit(self.edit_tag, is_undo=change.kind == "undo")  # noqa: SLF001
        self._shown = {path: nodes for path, nodes in self._shown.items() if path not in gone} | shapes
        if any(map(_is_base, (*change.before.values(), *links.values()))):
            self._find_bases()
        self._find_followers(world)
        world._edited(self, world.now())  # noqa: SLF001

    def _moved_links(self, world: MountingWorld, change: ModelChange, links: Mapping[str, Link]) -> list[Change]:
        """Those that hang or move in another way, from now on."""
        joints = [link.joint for link in links.values() if link.joint is not None]
        positions = interpolations_of(joints)
        wheels = {variable.name for joint in joints for variable in joint.velocities} - positions.keys()
        changes = self._joints(world, {**positions, **dict.fromkeys(wheels, "velocity")})
        for path, link in {**self._reached_by_loops(change), **links}.items():
            if path not in links or _stands_otherwise(change.before.get(path), link):
                changes.append(self._saying.link(link_drive(path, link, self.model.loops), world.now()))
        return changes

    def _reached_by_loops(self, change: ModelChange) -> dict[str, Link]:
        """The links that loops move which came, went or became different."""
        loops = [value for value in (*change.before.values(), *change.after.values()) if isinstance(value, Closure)]
        moved = {variable for loop in loops for variable in loop.dependents}
        links = self.model.links(self.standing.under) if moved else {}
        return {path: link for path, link in links.items() if link.joint and moved.intersection(link.joint.variables)}

    def _joints(self, world: MountingWorld, moving: Mapping[str, str]) -> list[Change]:
        """Those that move links, and those that stand in loops and move no link of this part by themselves."""
        looped = {v.name: None for system in self._loops() for v in (*system.drivers, *system.dependents)}
        known = world._variables() if moving or looped else []  # noqa: SLF001  (one world, two modules)
        names = {name for name, _ in known}
        left = [name for name in looped if name not in moving and self._naming.variable(name) not in names]
        kinds = interpolations_of(self.model.joints().values()) if left else {}
        return self._saying.joints({**moving, **{name: kinds.get(name, "linear") for name in left}}, known)

    def _shown_links(self, links: Mapping[str, Link]) -> tuple[list[Change], dict[str, list[NodeId]]]:
        changes: list[Change] = []
        shapes: dict[str, list[NodeId]] = {}
        for path, link in links.items():
            looks = appearances(link, self.standing.roles, skip_missing=self.standing.skip_missing)
            shown, shapes[path] = shapes_of(self._naming.frame(path), path, looks)
            changes += shown
        return changes, shapes

    def _find_followers(self, world: MountingWorld) -> None:
        self._followers = tuple(Followers(system, self._naming.variable) for system in self._loops())
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


def _objects(model: ArticulationModel, under: str) -> dict[str, ArticulatedObject]:
    return {path: value for path, value in model.values(under).items() if isinstance(value, ArticulatedObject)}


def _is_base(value: Any) -> bool:
    return isinstance(value, Link) and isinstance(value.joint, DifferentialDrive)


def _stands_otherwise(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.parent, before.joint) != (after.parent, after.joint)


def _looks_otherwise(before: Any, after: Link) -> bool:
    return not isinstance(before, Link) or (before.visuals, before.collisions) != (after.visuals, after.collisions)
