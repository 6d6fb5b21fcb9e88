"""Where a frame went, as a table of text: the TUM form of SLAM benchmarks, or CSV with a head."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.formats.whole_files import as_file_path, write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.store import Store

__all__ = ["write_trajectory"]

_NS_PER_S, _DIGITS = 1_000_000_000, 9
_HEAD = "timestamp,tx,ty,tz,qx,qy,qz,qw"
_TUM = (".tum", ".txt")


def write_trajectory(store: Store, path: str | PathLike[str], *, of: str, in_frame: str, at: Any) -> int:
    """Write the pose of a frame at many instants; return how many. Arguments as for `World.save_trajectory`."""
    file = as_file_path(path)
    if file.suffix not in {*_TUM, ".csv"}:
        raise InvalidArgument(f"'{file}' must end with .tum or .txt (TUM form), or with .csv.", str(file))
    stamps = _stamps(store, of, in_frame) if at is None else np.asarray(at, dtype=np.int64).reshape(-1)
    poses = store.transforms(of=of, in_frame=in_frame, at=stamps, as_="xyz_wxyz")
    between = "," if file.suffix == ".csv" else " "
    lines = [_HEAD] if file.suffix == ".csv" else []
    for stamp, (x, y, z, qw, qx, qy, qz) in zip(stamps.tolist(), poses.tolist(), strict=True):
        seconds, rest = divmod(stamp, _NS_PER_S)
        numbers = [repr(number) for number in (x, y, z, qx, qy, qz, qw)]
        time = f"{seconds}.{rest:0{_DIGITS}d}" if stamp >= 0 else f"{stamp / _NS_PER_S:.{_DIGITS}f}"
        lines.append(between.join([time, *numbers]))
    write_whole(file, ("\n".join(lines) + "\n").encode())
    return len(stamps)


def _stamps(store: Store, of: str, in_frame: str) -> NDArray[np.int64]:
    """Return the instants at which something on the path was sampled, as far as all of it is known."""
    pose = store.pose(of=of, in_frame=in_frame)
    found: list[NDArray[np.int64]] = []
    first, last = -(2**62), 2**62
    sampled = {row[:3] for row in store.relation_rows() if row[3] == "sampled"}
    for frame, above, source in pose.relations:
        if (frame, above, source) not in sampled:
            continue
        stamps, _, _ = store.sample_rows(store.relation_id(frame, above, source), None, None)
        if len(stamps):
            found.append(stamps)
            first, last = max(first, int(stamps.min())), min(last, int(stamps.max()))
    if not found:
        raise InvalidArgument(
            f"No samples lie between '{of}' and '{in_frame}': give the instants, at=[...].", (of, in_frame)
        )
    every: NDArray[np.int64] = np.unique(np.concatenate(found))
    return every[(every >= first) & (every <= last)]
