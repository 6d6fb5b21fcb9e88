"""Distances between the links of a model at its configurations, and how controls change them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation import Constraint, stack
from armillary.articulation.appearance import appearances
from armillary.articulation.constraints import limits_of
from armillary.articulation.controls import values_in_order
from armillary.articulation.links import chain_of
from armillary.articulation.variables import as_variable
from armillary.collision import CollisionWorld, Contact, Distance, RayHit
from armillary.errors import InvalidArgument, UnknownPath
from armillary.motion.goals import FunctionGoal

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import ArticulationModel
    from armillary.articulation.variables import VariableLike
    from armillary.collision.solids import Meshes

    Floats = NDArray[np.float64]

__all__ = ["ModelCollision"]

_DISABLED = re.compile(r"<disable_collisions\b([^>]*)>")
_ATTRIBUTE = re.compile(r"""\b(link1|link2)\s*=\s*["']([^"']*)["']""")
_FAR_M = 1e3
_WIDEST = math.pi


class ModelCollision:
    """The collision shapes of a model, placed by one compiled call for each configuration.

    Pairs of links between which no joint, or one joint, can move are not compared: they cannot meet, or touch always.
    `ignore` leaves out others, `ignore_srdf` those of an SRDF file, and `learn_ignored` those that overlap wherever the
    joints are.

    Args:
        model: The model. Later edits of it are not seen.
        links: The paths of links; those with collision shapes, if left out.
        controls: The velocities along which gradients are taken; `model.controls()`, if left out.
        meshes: How meshes become bodies, as for `CollisionWorld`.

    Raises:
        MissingExtra: coal is not installed.
        InvalidArgument: No link has a collision shape.

    >>> from armillary.articulation import ArticulationModel
    >>> from armillary.demos.models import kitchen
    >>> model = ArticulationModel()
    >>> _ = model.add_robot(kitchen())
    >>> collision = ModelCollision(model)
    >>> collision.update(dict.fromkeys([variable.name for variable in model.variables()], 0.0))
    >>> len(collision.links) > 20
    True
    """

    def __init__(
        self,
        model: ArticulationModel,
        links: Iterable[str] | None = None,
        *,
        controls: Iterable[VariableLike] | None = None,
        meshes: Meshes = "exact",
    ) -> None:
        self._model = model
        known = model.links()
        for path in links or ():
            if path not in known:
                raise UnknownPath(path, tuple(known))
        named = {path: known[path] for path in (known if links is None else links)}
        self.world = CollisionWorld(meshes=meshes)
        for path, link in named.items():
            shapes = [(one.shape, one.link_T_shape) for one in appearances(path, link, ("collision",))]
            if shapes:
                self.world.add(path, shapes)
        self.links: tuple[str, ...] = tuple(str(body) for body in self.world.bodies)
        if not self.links:
            raise InvalidArgument(
                "None of these links has a collision shape, so nothing can collide. Give links with `collisions`.",
                tuple(named),
            )
        self.controls = model.along_controls(model.controls() if controls is None else controls)
        poses = [model.pose(path) for path in self.links]
        loops = model.loops
        order = sorted({v for pose in poses for v in pose.free_variables}, key=lambda variable: variable.name)
        self.names = tuple(variable.name for variable in order)
        self._follow = {variable.name for variable in order if variable in loops.dependents}
        self._order = order
        self._poses = stack([pose.matrix for pose in poses]).compile(order=order)
        self._jacobians: dict[str, tuple[list[int], Any]] = {}
        self._joints = {path: self._joints_above(path, known) for path in self.links}
        self._values = np.zeros(len(order))
        self._ignore_adjacent()

    # -- Where

    def update(self, configuration: Mapping[Any, float]) -> None:
        """Put all links where this configuration puts them.

        Raises:
            NotGrounded: A value is missing.
            NotFinite: A value is no finite number.
        """
        given = dict(configuration)
        if self._follow:
            own = {as_variable(key): value for key, value in given.items()}
            drivers = {v: x for v, x in own.items() if v not in self._model.loops.dependents}
            given = {v.name: x for v, x in self._model.solve(drivers).items()}
        values = values_in_order(given, self.names)
        self.world.set_poses(self._poses(values).reshape(-1, 4, 4))
        self._values = values

    # -- Which pairs

    def ignore(self, a: str, b: str) -> None:
        """Leave a pair of links out."""
        self.world.ignore(a, b)

    def ignore_srdf(self, path_or_text: str | PathLike[str]) -> int:
        """Leave out the pairs that an SRDF file disables, and return how many of them there are here.

        Args:
            path_or_text: The file, or its text.
        """
        is_text = isinstance(path_or_text, str) and "<" in path_or_text
        text = str(path_or_text) if is_text else Path(path_or_text).read_text(encoding="utf-8")
        by_name = {path.rpartition("/links/")[2]: path for path in self.links}
        found = 0
        for tag in _DISABLED.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
            names = dict(_ATTRIBUTE.findall(tag))
            pair = [by_name.get(names.get(key, "")) for key in ("link1", "link2")]
            if pair[0] is not None and pair[1] is not None and pair[0] != pair[1]:
                self.world.ignore(*pair)
                found += 1
        return found

    def learn_ignored(self, samples: int = 500, *, seed: int = 0) -> list[tuple[str, str]]:
        """Leave out the pairs that overlap at every one of so many random configurations, and return them.

        Joints without limits are taken from half a turn, or half a metre, to either side.
        """
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
            raise InvalidArgument(f"samples is a number from 1 on, got {samples!r}.", samples)
        random, before = np.random.default_rng(seed), self._values
        limits = limits_of(one for one in self._model.constraints(self._order).values() if _is_simple(one))
        free = [variable for variable in self._order if variable.name not in self._follow]
        ends = np.array([limits.get(variable, (-_WIDEST, _WIDEST)) for variable in free]).reshape(-1, 2)
        low = np.where(np.isfinite(ends[:, 0]), ends[:, 0], -_WIDEST)
        high = np.where(np.isfinite(ends[:, 1]), ends[:, 1], _WIDEST)
        always: set[tuple[Any, Any]] | None = None
        for _ in range(samples):
            drawn = random.uniform(low, np.maximum(high, low))
            self.update(dict(zip([variable.name for variable in free], drawn.tolist(), strict=True)))
            overlapping = set(self.world.overlaps())
            always = overlapping if always is None else always & overlapping
            if not always:
                break
        self.world.set_poses(self._poses(before).reshape(-1, 4, 4))
        self._values = before
        pairs = sorted(always or set())
        for a, b in pairs:
            self.world.ignore(a, b)
        return pairs

    def subworld(self, variables: Iterable[VariableLike]) -> ModelCollision:
        """Return the same links with those pairs alone whose distance these variables change."""
        given = [variables] if isinstance(variables, str) else list(variables)
        names = {as_variable(one).name for one in given}
        pairs = [(a, b) for i, a in enumerate(self.links) for b in self.links[i + 1 :]]
        kept = [(a, b) for a, b in pairs if names & self._between(a, b) and frozenset((a, b)) not in self.world.ignored]
        own = {path for pair in kept for path in pair}
        if not own:
            raise InvalidArgument(f"{', '.join(sorted(names))} changes no distance between these links.", given)
        part = ModelCollision.__new__(ModelCollision)
        links = tuple(path for path in self.links if path in own)
        poses = stack([self._model.pose(path).matrix for path in links]).compile(order=self._order)
        part.__dict__.update(self.__dict__ | {"world": self.world.part(links), "links": links, "_poses": poses})
        wanted = {frozenset(pair) for pair in kept}
        for i, a in enumerate(part.links):
            for b in part.links[i + 1 :]:
                if frozenset((a, b)) not in wanted:
                    part.world.ignore(a, b)
        part.update(dict(zip(self.names, self._values.tolist(), strict=True)))
        return part

    # -- Questions

    def distance(self, a: str, b: str) -> Distance:
        """How far two links are from each other."""
        return self.world.distance(a, b)

    def distances(self, *, within_m: float = math.inf) -> list[Distance]:
        """The distances of all pairs that are compared, the nearest first."""
        return self.world.distances(within_m=within_m)

    def contacts(self) -> list[Contact]:
        """Where links overlap, the deepest first."""
        return self.world.contacts()

    def raycast(self, *, origin: ArrayLike, direction: ArrayLike, max_m: float = math.inf) -> list[RayHit]:
        """The links that a ray in the frame of the model meets, the nearest first."""
        return self.world.raycast(origin=origin, direction=direction, max_m=max_m)

    def gradient(self, distance: Distance) -> Floats:
        """Return how fast a distance changes with each control, (m,), at the configuration it was asked at."""
        slope = np.zeros(len(self.controls))
        for link, point, sign in ((distance.b, distance.point_b, 1.0), (distance.a, distance.point_a, -1.0)):
            columns, jacobian = self._jacobian(str(link))
            if columns:
                slope[columns] += sign * self._point_rates(str(link), point, jacobian, distance.normal)
        return slope

    def avoid(self, *, at_least_m: float = 0.02, count: int = 4, within_m: float = 0.3, **options: Any) -> FunctionGoal:
        """Return a goal that keeps the nearest pairs of links apart, and separates those that overlap.

        Args:
            at_least_m: The least distance.
            count: So many pairs are kept apart at once.
            within_m: Pairs farther apart do not count yet.
            options: `weight`, `gain`, `speed_limit` and `tolerance`, as for every goal.
        """

        def nearest(configuration: Mapping[Any, float]) -> tuple[Floats, Floats]:
            self.update(configuration)
            values, slopes = np.full(count, _FAR_M), np.zeros((count, len(self.controls)))
            for row, one in enumerate(self.distances(within_m=within_m)[:count]):
                values[row], slopes[row] = one.distance_m, self.gradient(one)
            return values, slopes

        return FunctionGoal(nearest, (at_least_m, math.inf), count=count, name="keep links apart", **options)

    def keep(self, a: str, b: str, between_m: tuple[float, float] | float, **options: Any) -> FunctionGoal:
        """Return a goal for the distance of two links: a number, or the two ends of an interval."""
        self.world.distance(a, b)

        def measured(configuration: Mapping[Any, float]) -> tuple[Floats, Floats]:
            self.update(configuration)
            found = self.distance(a, b)
            return np.array([found.distance_m]), self.gradient(found)[None]

        return FunctionGoal(measured, between_m, name=f"distance of '{a}' and '{b}'", **options)

    def __repr__(self) -> str:
        return f"ModelCollision({len(self.links)} links, {len(self.world.ignored)} pairs left out)"

    # -- Inside

    def _jacobian(self, link: str) -> tuple[list[int], Any]:
        known = self._jacobians.get(link)
        if known is None:
            pose = self.controls.along(self._model.pose(link))
            columns = self.controls.columns(pose)
            function = None
            if columns:
                function = pose.body_jacobian([self.controls[i] for i in columns]).compile(order=self._order)
            known = self._jacobians[link] = columns, function
        return known

    def _point_rates(self, link: str, point: Floats, jacobian: Any, normal: Floats) -> Floats:
        """Return how fast a point that moves with a link moves along a direction, for each column."""
        pose = self.world.matrix(link)
        turned = pose[:3, :3]
        local, along = (point - pose[:3, 3]) @ turned, normal @ turned
        columns = jacobian(self._values)
        return np.asarray(along @ columns[:3] + np.cross(local, along) @ columns[3:])

    def _joints_above(self, path: str, links: Mapping[str, Any]) -> frozenset[str]:
        """Return the links above whose joints move."""
        chain = chain_of(path, links.__getitem__)
        return frozenset(one for one in chain if links[one].joint is not None and links[one].joint.velocities)

    def _between(self, a: str, b: str) -> set[str]:
        """Return the names of the variables that move two links to each other."""
        links = self._model.links()
        moving = self._joints[a] ^ self._joints[b]
        joints = [links[path].joint for path in moving]
        found = {v.name for joint in joints if joint is not None for v in (*joint.variables, *joint.velocities)}
        loops = self._model.loops
        follow = [variable for variable in loops.dependents if variable.name in found]
        if follow:
            found |= {variable.name for variable in loops.system_of(follow).drivers}
        return found

    def _ignore_adjacent(self) -> None:
        """Leave out what no joint moves to each other, and what one joint joins directly."""
        links = self._model.links()
        chains = {path: set(chain_of(path, links.__getitem__)) for path in self.links}
        for i, a in enumerate(self.links):
            for b in self.links[i + 1 :]:
                moving = len(self._joints[a] ^ self._joints[b])
                if not moving or (moving == 1 and (a in chains[b] or b in chains[a])):
                    self.world.ignore(a, b)


def _is_simple(constraint: Constraint) -> bool:
    return constraint.is_on_positions
