"""The command `armillary`: a thin skin that parses, calls one function and prints.

What a command needs beyond numpy is imported when it runs; a missing part is said in one line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_OPTIONAL = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What the user typed after `armillary`; taken from the command line if not given.

    Returns:
        The exit status: 0, or 1 after one line on stderr that says what was wrong.
    """
    try:
        return _run(arguments)
    except (ArmillaryError, OSError) as error:
        sys.stderr.write(f"armillary: {_sentence(error)}\n")
        return 1


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from armillary.cli._app import run  # noqa: PLC0415  (typer is optional)

        return run(arguments)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in _OPTIONAL:
            raise MissingExtra("cli", package) from missing
        raise


def _sentence(error: ArmillaryError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"Cannot use '{error.filename}': {error.strerror}."
    return str(error)
