"""Bodies at poses: distances between them, what overlaps, and what a ray meets."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.collision.distance import Contact, Distance, RayHit
from armillary.collision.solids import Meshes, Piece, coal_module, pieces_of
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr
from armillary.shapes import Shape
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Body = Hashable

__all__ = ["CollisionWorld"]

_TOUCH_M = 1e-9
_EXACT = 1e-9
_NUMBERS = 7


class CollisionWorld:
    """Bodies, each of shapes at fixed places on it, and where they are.

    It knows no joints: poses are given, for all bodies in one call or for some. Distances are signed for solids:
    spheres, boxes, cylinders, capsules, and meshes whose shells are closed and convex.

    Args:
        meshes: "exact": a mesh is what its triangles enclose, and an open one is refused; "hull": the convex hull of
            each of its shells; "surface": its triangles alone, without an inside.

    Raises:
        MissingExtra: coal is not installed.

    >>> from armillary import Box, Sphere, Transform
    >>> world = CollisionWorld()
    >>> world.add("table", Box((1.0, 1.0, 0.1)))
    >>> world.add("ball", Sphere(0.05), pose=Transform.from_translation((0.0, 0.0, 0.3)))
    >>> found = world.distance("table", "ball")
    >>> round(found.distance_m, 6), found.point_a.round(6).tolist()
    (0.2, [0.0, 0.0, 0.05])
    """

    def __init__(self, *, meshes: Meshes = "exact") -> None:
        coal = coal_module()
        self._coal, self._meshes = coal, meshes
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        self._request.gjk_tolerance = self._request.epa_tolerance = _EXACT
        self._shapes: dict[Body, list[tuple[Shape, Floats]]] = {}
        self._of_body: dict[Body, list[int]] = {}
        self._pieces: list[Piece] = []
        self._is_convex: list[bool] = []
        self._owners: list[Body] = []
        self._row_of: dict[Body, int] = {}
        self._body_rows = np.zeros(0, dtype=int)
        self._local = np.zeros((0, 4, 4))
        self._centers, self._half_sizes = np.zeros((0, 3)), np.zeros((0, 3))
        self._poses = np.zeros((0, 4, 4))
        self._placed = np.zeros((0, 4, 4))
        self._transforms: list[Any] = []
        self._is_fresh: list[bool] = []
        self._functions: dict[tuple[int, int], Any] = {}
        self._ignored: set[frozenset[Body]] = set()
        self._pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None

    # -- Bodies

    def add(self, body: Body, shapes: Any, *, pose: Transform | None = None) -> None:
        """Add a body.

        Args:
            body: Its name.
            shapes: A shape in the frame of the body, or a list of shapes, or of pairs (shape, body_T_shape).
            pose: Of the body; the identity, if left out.

        Raises:
            InvalidShape: A shape has no surface, or a mesh is not closed.
            InvalidArgument: There is such a body already.
        """
        if body in self._row_of:
            raise InvalidArgument(
                f"There is a body {short_repr(body)} already. Remove it first, or name this one.", body
            )
        placed = _as_placed(shapes)
        made = [(piece, matrix) for shape, matrix in placed for piece in pieces_of(shape, self._meshes)]
        row, first = len(self._row_of), len(self._pieces)
        at = np.eye(4) if pose is None else _matrix_of(pose)
        self._row_of[body], self._shapes[body] = row, placed
        self._of_body[body] = list(range(first, first + len(made)))
        self._pieces += [piece for piece, _ in made]
        self._is_convex += [piece.is_convex for piece, _ in made]
        self._owners += [body] * len(made)
        self._body_rows = np.append(self._body_rows, np.full(len(made), row, dtype=int))
        self._local = np.concatenate([self._local, np.array([matrix for _, matrix in made]).reshape(-1, 4, 4)])
        self._centers = np.concatenate([self._centers, *([piece.center[None] for piece, _ in made])])
        self._half_sizes = np.concatenate([self._half_sizes, *([piece.half_size[None] for piece, _ in made])])
        self._poses = np.concatenate([self._poses, at[None]])
        self._transforms += [self._coal.Transform3s() for _ in made]
        self._is_fresh += [False] * len(made)
        self._pairs = None
        self._place()

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The names, in the order in which they were added."""
        return tuple(self._row_of)

    def __contains__(self, body: object) -> bool:
        return body in self._row_of

    def __len__(self) -> int:
        return len(self._row_of)

    def __repr__(self) -> str:
        return f"CollisionWorld({len(self)} bodies of {len(self._pieces)} pieces)"

    def set_poses(self, poses: Mapping[Body, Transform] | ArrayLike) -> None:
        """Say where bodies are.

        Args:
            poses: By body, of some of them; or of all in the order of `bodies`, (N, 4, 4), (N, 3, 4) or (N, 7) as x y z
                and the quaternion w x y z.
        """
        if isinstance(poses, Mapping):
            rows = [self._row(body) for body in poses]
            matrices = [_matrix_of(pose) for pose in poses.values()]
            self._poses = self._poses.copy()
            if rows:
                self._poses[rows] = matrices
        else:
            self._poses = _as_matrices(poses, len(self))
        self._place()

    def pose(self, body: Body) -> Transform:
        """Where a body is."""
        return Transform.from_matrix(self._poses[self._row(body)])

    def matrix(self, body: Body) -> Floats:
        """The pose of a body as a matrix, (4, 4)."""
        return np.asarray(self._poses[self._row(body)])

    def part(self, bodies: Iterable[Body]) -> CollisionWorld:
        """Return a world of some of the bodies, where they are, with the pairs of them that are ignored."""
        made = CollisionWorld(meshes=self._meshes)
        for body in bodies:
            pose = Transform.from_matrix(self._poses[self._row(body)])
            shapes = [(shape, Transform.from_matrix(matrix)) for shape, matrix in self._shapes[body]]
            made.add(body, shapes, pose=pose)
        made._ignored = {pair for pair in self._ignored if all(body in made for body in pair)}
        return made

    def pieces(self) -> list[tuple[Body, Any, Floats]]:
        """The pieces of all bodies: whose it is, the geometry of coal, and where it is as a matrix (4, 4)."""
        return [
            (body, piece.geometry, matrix)
            for body, piece, matrix in zip(self._owners, self._pieces, self._placed, strict=True)
        ]

    def ignore(self, a: Body, b: Body) -> None:
        """Leave a pair out of `distances` and `contacts`: neighbours that touch, for example."""
        self._row(a)
        self._row(b)
        self._ignored.add(frozenset((a, b)))
        self._pairs = None

    def heed(self, a: Body, b: Body) -> None:
        """Take a pair in again."""
        self._ignored.discard(frozenset((a, b)))
        self._pairs = None

    @property
    def ignored(self) -> frozenset[frozenset[Body]]:
        """The pairs that are left out."""
        return frozenset(self._ignored)

    # -- Questions

    def distance(self, a: Body, b: Body) -> Distance:
        """How far two bodies are from each other, whether or not the pair is ignored."""
        if self._row(a) == self._row(b):
            raise InvalidArgument(f"{short_repr(a)} has no distance from itself. Give two bodies.", a)
        first, second = self._of_body[a], self._of_body[b]
        if len(first) == 1 and len(second) == 1:
            return self._measured(first[0], second[0])
        return self._nearest([(i, j) for i in first for j in second])

    def distances(self, *, within_m: float = math.inf, of: Iterable[Body] | None = None) -> list[Distance]:
        """Return the distances of all pairs of bodies that are not ignored, the nearest first.

        Args:
            within_m: No pair farther apart; the boxes around bodies tell most of them without asking further.
            of: Only pairs with one of these bodies.
        """
        if math.isnan(within_m):
            raise InvalidArgument("within_m is a distance in metres, or inf, got NaN.", within_m)
        candidates = self._candidates(within_m, of)
        if self._is_simple():
            found = [self._measured(i, j) for i, j in candidates]
        else:
            grouped: dict[tuple[Body, Body], list[tuple[int, int]]] = {}
            for i, j in candidates:
                grouped.setdefault((self._owners[i], self._owners[j]), []).append((i, j))
            found = [self._nearest(pairs) for pairs in grouped.values()]
        near = [one for one in found if one.distance_m <= within_m]
        near.sort(key=_how_far)
        return near

    def contacts(self, *, of: Iterable[Body] | None = None, most: int = 8) -> list[Contact]:
        """Return where bodies overlap that are not ignored, the deepest first.

        Args:
            of: Only pairs with one of these bodies.
            most: So many contacts for two pieces at most.
        """
        coal = self._coal
        request = coal.CollisionRequest()
        request.num_max_contacts = int(most)
        found = []
        for i, j in self._candidates(0.0, of):
            result = coal.CollisionResult()
            geometries = self._pieces[i].geometry, self._pieces[j].geometry
            coal.collide(geometries[0], self._transform(i), geometries[1], self._transform(j), request, result)
            for k in range(result.numContacts()):
                one = result.getContact(k)
                depth_m = abs(float(one.penetration_depth))
                found.append(
                    Contact(self._owners[i], self._owners[j], np.array(one.pos), np.array(one.normal), depth_m)
                )
        found.sort(key=lambda contact: -contact.depth_m)
        return found

    def raycast(self, *, origin: ArrayLike, direction: ArrayLike, max_m: float = math.inf) -> list[RayHit]:
        """Return the bodies that a ray meets, the nearest first.

        Args:
            origin: Where it begins, (3,).
            direction: Of any length but zero, (3,).
            max_m: Nothing farther away.
        """
        begin, along = _three(origin, "origin"), _three(direction, "direction")
        length = float(np.linalg.norm(along))
        if length == 0.0:
            raise InvalidArgument("The direction of a ray has a length, got (0, 0, 0).", direction)
        along = along / length
        found = []
        for body, row in self._row_of.items():
            nearest = math.inf
            for shape, body_T_shape in self._shapes[body]:
                there = self._poses[row] @ body_T_shape
                turned = there[:3, :3].T
                nearest = min(nearest, shape.ray_distance_m(turned @ (begin - there[:3, 3]), turned @ along))
            if nearest <= max_m and math.isfinite(nearest):
                found.append(RayHit(body, nearest, begin + nearest * along))
        found.sort(key=lambda hit: hit.distance_m)
        return found

    def overlaps(self) -> list[tuple[Body, Body]]:
        """Return the pairs of bodies that are not ignored and overlap."""
        return [(one.a, one.b) for one in self.distances(within_m=_TOUCH_M) if one.distance_m <= 0.0]

    # -- Inside

    def _row(self, body: Body) -> int:
        row = self._row_of.get(body)
        if row is None:
            known = ", ".join(map(short_repr, list(self._row_of)[:12]))
            raise InvalidArgument(f"There is no body {short_repr(body)}. There are: {known or 'none'}.", body)
        return row

    def _place(self) -> None:
        self._placed = self._poses[self._body_rows] @ self._local
        self._is_fresh = [False] * len(self._pieces)

    def _transform(self, piece: int) -> Any:
        transform = self._transforms[piece]
        if not self._is_fresh[piece]:
            matrix = self._placed[piece]
            transform.setTransform(matrix[:3, :3], matrix[:3, 3])
            self._is_fresh[piece] = True
        return transform

    def _candidates(self, within_m: float, of: Iterable[Body] | None) -> list[tuple[int, int]]:
        """Return the pairs of pieces whose boxes are as near as this."""
        first, second = self._checked_pairs()
        if of is not None:
            rows = np.zeros(len(self), dtype=bool)
            rows[[self._row(body) for body in of]] = True
            own = rows[self._body_rows]
            chosen = own[first] | own[second]
            first, second = first[chosen], second[chosen]
        if math.isfinite(within_m) and len(first):
            turned = self._placed[:, :3, :3]
            centers = self._placed[:, :3, 3] + np.einsum("nij,nj->ni", turned, self._centers)
            halves = np.einsum("nij,nj->ni", np.abs(turned), self._half_sizes)
            gaps = np.abs(centers[first] - centers[second]) - halves[first] - halves[second]
            apart = np.maximum(gaps, 0.0)
            near = (gaps <= max(within_m, 0.0) + _TOUCH_M).all(axis=1)
            near &= np.einsum("ni,ni->n", apart, apart) <= (max(within_m, 0.0) + _TOUCH_M) ** 2
            first, second = first[near], second[near]
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def _checked_pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return all pairs of pieces of different bodies that are not ignored."""
        if self._pairs is None:
            first, second = np.triu_indices(len(self._pieces), k=1)
            rows = self._body_rows
            kept = rows[first] != rows[second]
            if self._ignored:
                blocked = np.zeros((len(self), len(self)), dtype=bool)
                for pair in self._ignored:
                    a, b = (self._row_of[body] for body in pair) if len(pair) == 2 else (0, 0)  # noqa: PLR2004
                    blocked[a, b] = blocked[b, a] = True
                kept &= ~blocked[rows[first], rows[second]]
            self._pairs = first[kept], second[kept]
        return self._pairs

    def _nearest(self, pairs: Sequence[tuple[int, int]]) -> Distance:
        return min((self._measured(i, j) for i, j in pairs), key=_how_far)

    def _is_simple(self) -> bool:
        """Whether each body is one piece."""
        return len(self._pieces) == len(self._row_of)

    def _measured(self, i: int, j: int) -> Distance:
        result, functions, is_fresh = self._result, self._functions, self._is_fresh
        function = functions.get((i, j))
        if function is None:
            one, other = self._pieces[i], self._pieces[j]
            function = self._coal.ComputeDistance(one.geometry, other.geometry)
            functions[i, j] = function
        first = self._transforms[i] if is_fresh[i] else self._transform(i)
        second = self._transforms[j] if is_fresh[j] else self._transform(j)
        result.clear()
        distance_m = function(first, second, self._request, result)
        found = Distance(  # what coal returns are views of its one result
            self._owners[i],
            self._owners[j],
            distance_m,
            result.getNearestPoint1().copy(),
            result.getNearestPoint2().copy(),
            result.normal.copy(),
        )
        return found if self._is_convex[i] and self._is_convex[j] else self._of_surfaces(i, j, found)

    def _of_surfaces(self, i: int, j: int, found: Distance) -> Distance:
        """Return the distance of what is no convex solid: within a closed mesh, or across its surface, a bound."""
        if found.distance_m <= 0.0:
            return found._replace(is_bound=True)
        for piece, point in ((i, found.point_b), (j, found.point_a)):
            solid, there = self._pieces[piece].solid, self._placed[piece]
            if solid is not None and solid.contains(((point - there[:3, 3]) @ there[:3, :3])[None])[0]:
                outwards = (found.point_a - found.point_b) / found.distance_m
                return found._replace(distance_m=-found.distance_m, normal=outwards, is_bound=True)
        return found


def _how_far(found: Distance) -> float:
    return found.distance_m


def _as_placed(shapes: Any) -> list[tuple[Shape, Floats]]:
    """Check the shapes of a body."""
    given = [shapes] if isinstance(shapes, Shape) else shapes
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidArgument(f"A body is a shape or a list of shapes, got {short_repr(shapes)}.", shapes)
    placed = []
    for one in given:
        shape, pose = one if isinstance(one, tuple) and len(one) == 2 else (one, Transform.identity())  # noqa: PLR2004
        if not isinstance(shape, Shape):
            raise InvalidArgument(f"A body is a shape or a list of shapes, got {short_repr(shape)}.", shapes)
        placed.append((shape, _matrix_of(pose)))
    if not placed:
        raise InvalidArgument("A body without shapes is nowhere. Give at least one shape.", shapes)
    return placed


def _matrix_of(pose: Any) -> Floats:
    if not isinstance(pose, Transform):
        raise InvalidArgument(f"The pose of a body is a Transform, got {short_repr(pose)}.", pose)
    return np.asarray(pose.matrix)


def _as_matrices(poses: Any, count: int) -> Floats:
    cure = f"Give ({count}, 4, 4), ({count}, 3, 4) or ({count}, 7), in the order of bodies."
    try:
        given = np.asarray(poses, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"The poses are no array of numbers. {cure}", poses) from error
    if not np.isfinite(given).all():
        raise InvalidArgument(f"The poses are not all finite: nothing was moved. {cure}", poses)
    if given.shape == (count, 4, 4):
        return given.copy()
    matrices = np.zeros((count, 4, 4))
    matrices[:, 3, 3] = 1.0
    if given.shape == (count, 3, 4):
        matrices[:, :3] = given
    elif given.shape == (count, _NUMBERS):
        for row, numbers in enumerate(given):
            matrices[row] = Transform.from_xyz_wxyz(xyz=numbers[:3], wxyz=numbers[3:]).matrix
    else:
        raise InvalidArgument(f"The poses have the shape {given.shape}. {cure}", poses)
    return matrices


def _three(value: ArrayLike, name: str) -> Floats:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"The {name} of a ray is three numbers, got {short_repr(value)}.", value) from error
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InvalidArgument(f"The {name} of a ray is three finite numbers, got {short_repr(value)}.", value)
    return found
