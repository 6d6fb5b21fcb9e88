"""`armillary record`: record a shared world, or a demonstration, into a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, Seconds, WorldOption
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.errors import InvalidArgument

EXAMPLE = "armillary record drive.mcap --world turtles --seconds 1"

_POLL_S = 0.02
_File = Annotated[Path, typer.Argument(metavar="FILE", help="A new file, as run.mcap.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")]
_MaxMegabytes = Annotated[float | None, typer.Option("--max-mb", help="Go on with a new file after so many megabytes.")]
_Compression = Annotated[str, typer.Option("--compression", help="none, lz4 or zstd.")]
_BYTES_PER_MB = 1e6


def record(
    *,
    file: _File,
    world: WorldOption = None,
    seconds: Seconds = None,
    max_mb: _MaxMegabytes = None,
    compression: _Compression = "none",
    overwrite: _Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Record a world into a file, until Ctrl-C or for --seconds: a shared world by its name, or a demonstration."""
    if compression not in {"none", "lz4", "zstd"}:
        raise InvalidArgument(f"--compression takes none, lz4 or zstd, got '{compression}'.", compression)
    found = open_world(world)
    most = None if max_mb is None else int(max_mb * _BYTES_PER_MB)
    kind = "" if compression == "none" else compression
    recording = found.world.record(file, compression=kind, max_bytes=most, overwrite=overwrite)  # type: ignore[arg-type]
    begin = time.monotonic()
    is_live = found.catch_up is not None or not Path(found.name).exists()
    try:
        while is_live and (seconds is None or time.monotonic() - begin < seconds) and not recording.is_closed:
            time.sleep(_POLL_S)
            if found.catch_up is not None:
                found.catch_up()
    except KeyboardInterrupt:
        pass
    recording.close()
    fields = {
        "files": [str(path) for path in recording.paths],
        "samples": recording.samples,
        "changes": recording.changes,
        "bytes": recording.size,
        "dropped": recording.dropped,
    }
    lost = f", {recording.dropped} samples dropped" if recording.dropped else ""
    text = f"Recorded {recording.samples} samples and {recording.changes} changes into {file}{lost}."
    print_result(as_json=as_json, fields=fields, text=text)
