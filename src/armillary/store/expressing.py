"""Data given in one frame, expressed in another; and how far measured and derived motions disagree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument, NotMeasured
from armillary.relations.arrays import as_covariances
from armillary.relations.expressing import (
    as_matrices,
    as_pose_rows,
    as_rows,
    expressed,
    expressed_rows,
    pose_covariances,
)
from armillary.stamps import LATEST, Latest, as_stamps
from armillary.store.names import frame_name
from armillary.store.query import Query, TwistQuery

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.relations import Pose
    from armillary.relations.motion import TwistResidual
    from armillary.stamps import StampLike
    from armillary.store.store import Store

__all__ = ["express", "twist_residual"]


def express(
    store: Store,
    value: Any,
    query: Query,
    *,
    in_frame: str,
    at: StampLike | Latest | ArrayLike | None,
    kind: str | None,
    from_frame: str | None,
    covariances: ArrayLike | None,
) -> Any:
    """Return a value as an observer in another frame gives it; arguments as for `World.express`."""
    asked = {key: value for key, value in query.keywords.items() if key != "at"}
    if covariances is not None:
        return _express_uncertain(store, value, covariances, in_frame, at, kind, from_frame, asked)
    if kind is not None or from_frame is not None:
        return _express_rows(store, value, in_frame, at, kind, from_frame, asked)
    when: Any = at if at is not None else getattr(value, "stamp", None)
    when = LATEST if when is None else when

    def together(frames: list[str]) -> dict[str, Pose]:
        seen = store.poses_at_once([(frame, in_frame) for frame in frames], at=when, **asked)
        return dict(zip(frames, seen, strict=True))

    return expressed(value, together)


def _express_rows(  # noqa: PLR0917  (the arguments of express, in their order)
    store: Store, value: Any, in_frame: str, at: Any, kind: str | None, from_frame: str | None, asked: dict[str, Any]
) -> NDArray[float64]:
    if kind is None or from_frame is None:
        raise InvalidArgument("An array needs both kind= and from_frame=: what its rows are, and whose.", kind)
    value, are_matrices = as_pose_rows(value) if isinstance(kind, str) and kind == "poses" else (value, False)
    rows = as_rows(value, kind)
    frames = _rows_of_frame(store, from_frame, in_frame, LATEST if at is None else at, asked)
    _check_one_each(kind, 1 if rows.ndim == 1 else len(rows), len(frames))
    answer = expressed_rows(np.atleast_2d(rows), kind, frames)
    answer = answer[0] if rows.ndim == 1 else answer
    return as_matrices(answer) if are_matrices else answer


def _rows_of_frame(store: Store, of: str, in_frame: str, at: Any, asked: dict[str, Any]) -> NDArray[float64]:
    """Return the poses of a frame: (N, 7) for N stamps, (1, 7) for one."""
    if _is_one(at):
        return np.atleast_2d(store.pose(of=of, in_frame=in_frame, at=at, **asked).transform.xyz_wxyz)
    return store.transforms(of=of, in_frame=in_frame, at=at, as_="xyz_wxyz", **asked)


def _express_uncertain(  # noqa: PLR0917  (the arguments of express, in their order)
    store: Store,
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
    spreads = as_covariances(covariances, (len(rows),), "covariances")
    at = LATEST if at is None else at
    frames = _rows_of_frame(store, from_frame, in_frame, at, asked)
    _check_one_each(kind, len(rows), len(frames))
    moved = expressed_rows(rows, "poses", frames)
    known = _spreads_of_frame(store, from_frame, in_frame, at, asked)
    total = None if known is None else pose_covariances(spreads, rows, known)
    return as_matrices(moved) if are_matrices else moved, total


def _spreads_of_frame(store: Store, of: str, in_frame: str, at: Any, asked: dict[str, Any]) -> NDArray[float64] | None:
    """Return the covariances of a frame: (N, 6, 6) for N stamps, (1, 6, 6) for one; None where one is unknown."""
    stamps = [at] if _is_one(at) else as_stamps(at).tolist()
    found = [store.pose(of=of, in_frame=in_frame, at=stamp, **asked).covariance for stamp in stamps]
    known = [covariance for covariance in found if covariance is not None]
    return np.reshape(known, (-1, 6, 6)) if len(known) == len(found) else None


def _check_one_each(kind: str, rows: int, stamps: int) -> None:
    if stamps not in {1, rows}:
        raise InvalidArgument(f"{kind} has {rows} rows and at has {stamps} stamps. Give one stamp, or one per row.")


def _is_one(at: Any) -> bool:
    """Whether this is one instant, and not an array of them."""
    return isinstance(at, (int, Latest)) or not hasattr(at, "__len__") or getattr(at, "ndim", 1) == 0


def twist_residual(store: Store, query: TwistQuery) -> TwistResidual:
    """Return how far a measured twist and the derivative of the poses disagree; see `World.twist_residual`."""
    from armillary.relations.motion import TwistResidual  # noqa: PLC0415  (few programs need it)

    measured = store.twist(**replace(query, window=None).keywords)
    if measured.method not in {"measured", "mixed"}:
        raise NotMeasured(frame_name(store, query.of), frame_name(store, query.relative_to))
    when = query.at if measured.stamp is None else measured.stamp
    derived = store.twist(**replace(query, at=when, measured=False).keywords)
    return TwistResidual(measured=measured, derived=derived)
