"""Output of results as text or JSON."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from armillary import Pose, Transform
    from armillary.relations import Twist
    from armillary.transforms import HeldSample


def print_result(*, as_json: bool, fields: Any, text: str) -> None:
    """Print JSON or text."""
    typer.echo(json.dumps(_as_json(fields), indent=2, allow_nan=False) if as_json else encodable(text))


def _as_json(value: Any) -> Any:
    """Replace numbers that JSON cannot represent, such as infinity, by texts."""
    if isinstance(value, dict):
        return {key: _as_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def encodable(text: str) -> str:
    """Replace characters that the encoding of the output cannot represent."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def fields_of_pose(pose: Pose) -> dict[str, Any]:
    """Return the fields of a pose for JSON."""
    return {
        "of": pose.of,
        "in_frame": pose.in_frame,
        "stamp_ns": pose.stamp,
        "xyz_m": pose.transform.translation.tolist(),
        "wxyz": pose.transform.rotation.wxyz.tolist(),
        "rpy_rad": pose.transform.rotation.rpy.tolist(),
        "matrix": pose.transform.matrix.tolist(),
        "covariance": None if pose.covariance is None else pose.covariance.tolist(),
        "relations": [list(relation) for relation in pose.relations],
        "held": fields_of_held(pose.held),
    }


def fields_of_held(held: tuple[HeldSample, ...]) -> list[dict[str, Any]]:
    """Return what was held for JSON."""
    return [
        {
            "relation": None if sample.relation is None else list(sample.relation),
            "joint": sample.joint,
            "age_s": sample.age_s,
        }
        for sample in held
    ]


def lines_of_held(held: tuple[HeldSample, ...]) -> list[str]:
    """Return a line for each sample that was held."""
    return [f"  held  {sample}" for sample in held]


def fields_of_twist(twist: Twist) -> dict[str, Any]:
    """Return the fields of a twist for JSON."""
    return {
        "point": twist.point,
        "reference_body": twist.reference_body,
        "expressed_in": twist.expressed_in,
        "stamp_ns": twist.stamp,
        "linear_m_per_s": twist.linear.tolist(),
        "angular_rad_per_s": twist.angular.tolist(),
        "method": twist.method,
        "held": fields_of_held(twist.held),
    }


def text_of_transform(transform: Transform) -> str:
    """Format a transform in three lines: metres, degrees, quaternion."""
    degrees = [math.degrees(angle) for angle in transform.rotation.rpy.tolist()]
    return "\n".join(
        [
            f"  xyz   {_row(transform.translation.tolist(), 4)}  m",
            f"  rpy   {_row(degrees, 3)}  deg",
            f"  wxyz  {_row(transform.rotation.wxyz.tolist(), 6)}",
        ]
    )


def lines_of_deviations(pose: Pose) -> list[str]:
    """Return the standard deviations of position and angles, along its own axes; none where unknown or zero."""
    if pose.covariance is None or not pose.covariance.any():
        return []
    deviations = [math.sqrt(max(variance, 0.0)) for variance in pose.covariance.diagonal().tolist()]
    angles = [math.degrees(deviation) for deviation in deviations[3:]]
    return [
        f"  \N{PLUS-MINUS SIGN}xyz  {_row(deviations[:3], 4)}  m",
        f"  \N{PLUS-MINUS SIGN}rpy  {_row(angles, 3)}  deg",
    ]


def _row(values: list[float], digits: int) -> str:
    return "".join(f"{value + 0.0:12.{digits}f}" for value in values)
