"""The command `armillary`: each command parses its arguments, calls one function and prints the result.

Optional dependencies are imported when a command needs them; a missing one is reported in one line.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, MissingExtra, SuspiciousName

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_OPTIONAL = ("typer", "rich")
_INTERRUPTED = 130  # the exit status of a shell after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: Arguments after `armillary`; by default those of the process.

    Returns:
        The exit status: 0, or 1 after one line on stderr with the error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _warn  # type: ignore[assignment]  # it takes what it is called with
        try:
            return _run(arguments)
        except (ArmillaryError, OSError) as error:
            _print_error(_sentence(error, sys.argv[1:] if arguments is None else arguments))
            return 1
        except KeyboardInterrupt:  # also while the commands are imported
            return _INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from armillary.cli._app import run  # noqa: PLC0415  (typer is optional)

        return run(arguments)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in _OPTIONAL:
            raise MissingExtra("cli", package) from missing
        raise


def _sentence(error: ArmillaryError | OSError, typed: Sequence[str]) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"Cannot use '{error.filename}': {error.strerror}."
    from armillary.cli._hints import hint_about  # noqa: PLC0415  (nothing went wrong yet)

    gave_instant = any(part.startswith("--at") for part in typed)
    hint = hint_about(error, gave_instant=gave_instant) if isinstance(error, ArmillaryError) else ""
    return f"{error} {hint}".rstrip()


def _warn(message: Warning | str, *_: Any) -> None:
    """Print a warning in one line, without the source line that caused it."""
    _print_error(message.reason if isinstance(message, SuspiciousName) else str(message))


def _print_error(text: str) -> None:
    sys.stderr.write(f"armillary: {' '.join(text.splitlines())}\n")
