"""Data said in other frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._world._meaning import MeaningfulWorld
from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_finite
from armillary.relations.expressing import as_matrices, as_pose_rows, as_rows, expressed_rows, pose_covariances
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.fusion.policies import AnyPolicy
    from armillary.relations import Pose


class ExpressingWorld(MeaningfulWorld):
    """A world that says data in other frames."""

    def express(
        self,
        value: Any,
        *,
        in_frame: str,
        at: int | Latest | ArrayLike | None = None,
        kind: str | None = None,
        from_frame: str | None = None,
        covariances: ArrayLike | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> Any:
        """The same thing, as an observer in another frame says it.

        A pose, a position, an orientation is seen from `in_frame`; a velocity, an acceleration, a force keeps its
        meaning and gets the axes of `in_frame`; a wrench is taken about the origin of `in_frame` as well, lever arm
        included. The uncertainty of the frames on the way is added; where it is unknown, or computed from a relation
        that the value was computed from too, that of the answer is unknown. All frames are taken at one instant, and
        where one of them was held or predicted the answer says so.

        Args:
            value: A relation; or an array, (N, k) or (k,), together with `kind` and `from_frame`.
            in_frame: Frame of the observer.
            at: Instant [ns]; of the value itself if not given, else `LATEST`. For arrays also (N,) int64.
            kind: Of the rows of an array: "points" (x, y, z), "directions" (x, y, z), "poses" (x, y, z, w, x, y, z) or
                matrices (4, 4),
                "wrenches" (force, torque about the origin of `from_frame`), "twists" (linear, angular; axes alone
                change).
            from_frame: Frame that an array is given in.
            covariances: (N, 6, 6) of an array of poses, each in the tangent of its pose. The answer is then the poses
                and their covariances, that of `from_frame` carried over each lever arm; None in place of all of them
                where it is unknown for one row.
            outside: As for `pose`.
            policy: As for `pose`.
            interpolation: As for `pose`.
        """
        asked: dict[str, Any] = {"outside": outside, "policy": policy, "interpolation": interpolation}
        if covariances is not None:
            return self._express_uncertain(value, covariances, in_frame, at, kind, from_frame, asked)
        if kind is not None or from_frame is not None:
            return self._express_rows(value, in_frame, at, kind, from_frame, asked)
        when: Any = at if at is not None else getattr(value, "stamp", None)
        when = LATEST if when is None else when
        from armillary.relations.expressing import expressed  # noqa: PLC0415  (forces and all: few programs need them)

        def together(frames: list[str]) -> dict[str, Pose]:
            seen = self._poses_at_once([(frame, in_frame) for frame in frames], at=when, **asked)
            return dict(zip(frames, seen, strict=True))

        return expressed(value, together)

    def _express_rows(  # noqa: PLR0917  (the arguments of express, in their order)
        self, value: Any, in_frame: str, at: Any, kind: str | None, from_frame: str | None, asked: dict[str, Any]
    ) -> NDArray[float64]:
        if kind is None or from_frame is None:
            raise InvalidArgument("An array needs both kind= and from_frame=: what its rows are, and whose.", kind)
        value, are_matrices = as_pose_rows(value) if isinstance(kind, str) and kind == "poses" else (value, False)
        rows = as_rows(value, kind)
        frames = self._rows_of_frame(from_frame, in_frame, LATEST if at is None else at, asked)
        _check_one_each(kind, 1 if rows.ndim == 1 else len(rows), len(frames))
        answer = expressed_rows(np.atleast_2d(rows), kind, frames)
        answer = answer[0] if rows.ndim == 1 else answer
        return as_matrices(answer) if are_matrices else answer

    def _rows_of_frame(self, of: str, in_frame: str, at: Any, asked: dict[str, Any]) -> NDArray[float64]:
        """(N, 7) for N stamps, (1, 7) for one."""
        if _is_one(at):
            return np.atleast_2d(self.pose(of=of, in_frame=in_frame, at=at, **asked).transform.xyz_wxyz)
        return self.transforms(of=of, in_frame=in_frame, at=at, as_="xyz_wxyz", **asked)

    def _express_uncertain(  # noqa: PLR0917  (the arguments of express, in their order)
        self,
        poses: Any,
        covariances: ArrayLike,
        in_frame: str,
        at: Any,
        kind: str | None,
        from_frame: str | None,
        asked: dict[str, Any],
    ) -> tuple[NDArray[float64], NDArray[float64] | None]:
        if not isinstance(kind, str) or kind != "poses" or from_frame is None:
            raise InvalidArgument("covariances= goes with kind='poses' and from_frame=.", kind)
        given, are_matrices = as_pose_rows(poses)
        rows = np.atleast_2d(as_rows(given, kind))
        spreads = as_finite(covariances, (len(rows), 6, 6), "covariances")
        at = LATEST if at is None else at
        frames = self._rows_of_frame(from_frame, in_frame, at, asked)
        _check_one_each(kind, len(rows), len(frames))
        moved = expressed_rows(rows, "poses", frames)
        known = self._spreads_of_frame(from_frame, in_frame, at, asked)
        total = None if known is None else pose_covariances(spreads, rows, known)
        return as_matrices(moved) if are_matrices else moved, total

    def _spreads_of_frame(self, of: str, in_frame: str, at: Any, asked: dict[str, Any]) -> NDArray[float64] | None:
        """(N, 6, 6) for N stamps, (1, 6, 6) for one; None where one of them is unknown."""
        stamps = [at] if _is_one(at) else [int(stamp) for stamp in at]
        found = [self.pose(of=of, in_frame=in_frame, at=stamp, **asked).covariance for stamp in stamps]
        known = [covariance for covariance in found if covariance is not None]
        return np.reshape(known, (-1, 6, 6)) if len(known) == len(found) else None


def _check_one_each(kind: str, rows: int, stamps: int) -> None:
    if stamps not in {1, rows}:
        raise InvalidArgument(f"{kind} has {rows} rows and at has {stamps} stamps. Give one stamp, or one per row.")


def _is_one(at: Any) -> bool:
    """One instant, and not an array of them."""
    return isinstance(at, (int, Latest)) or not hasattr(at, "__len__") or getattr(at, "ndim", 1) == 0
