"""The typer application with all commands, and the texts of its usage errors."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

import armillary
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_INTERRUPTED = 130  # the exit status of a shell after Ctrl-C

# Click's UsageError; its import path depends on whether typer bundles click.
_USAGE_ERROR: Any = typer.BadParameter.__base__

COMMANDS = {
    "tree": "tree",
    "pose": "pose",
    "twist": "twist",
    "watch": "watch",
    "monitor": "monitor",
    "doctor": "doctor",
    "diff": "diff",
    "list": "list_frames",
    "find": "find",
    "fix": "fix",
    "save": "save",
    "load": "load",
    "record": "record",
    "replay": "replay",
    "view": "view",
    "serve": "serve",
    "peers": "peers",
    "plot": "plot",
    "check": "check",
    "convert": "convert",
    "bench": "bench",
    "demo": "demo",
}
"""The module of each command, by name; its function has the name of the module."""


def command_named(name: str) -> tuple[Callable[..., None], str]:
    """Return the function of a command, and its example."""
    module = import_module(f"armillary.cli.{COMMANDS[name]}")
    return getattr(module, COMMANDS[name]), module.EXAMPLE


def _version(wanted: bool) -> None:  # noqa: FBT001  (a callback of typer gets the flag's value)
    if wanted:
        typer.echo(f"armillary {armillary.__version__}")
        raise typer.Exit


def _armillary(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001  (the callback answers)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Where everything is, in time: a world model for robots."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _application(names: Iterable[str]) -> typer.Typer:
    """Return the application with some of the commands: each imports what it needs."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_armillary)
    for name in names:
        command, example = command_named(name)
        app.command(name, epilog=f"Example: {example}")(command)
    return app


def _usage_error_text(error: Any, typed: Sequence[str]) -> str:
    """Return the text of a usage error, with the help command to type."""
    message = " ".join(error.format_message().split()).rstrip(".")
    end = "" if message.endswith(("?", "!")) else "."
    param = getattr(error, "param", None)
    wanted = f" {param.opts[0]} takes {param.nargs} numbers." if param is not None and param.nargs > 1 else ""
    command = next((name for name in typed[:1] if name in COMMANDS), "")
    return f"{message}{end}{wanted} '{' '.join(filter(None, ['armillary', command]))} --help' shows what there is."


def run(arguments: Sequence[str] | None) -> int:
    """Parse and run one command, and return its exit status.

    Raises:
        InvalidArgument: The arguments are invalid.
    """
    typed = sys.argv[1:] if arguments is None else arguments
    is_one_named = bool(typed) and typed[0] in COMMANDS and not os.environ.get("_ARMILLARY_COMPLETE")
    app = _application([typed[0]] if is_one_named else COMMANDS)
    try:
        status = app(args=arguments, prog_name="armillary", standalone_mode=False)
    except _USAGE_ERROR as error:
        raise InvalidArgument(_usage_error_text(error, typed)) from error
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    return status if isinstance(status, int) else 0
