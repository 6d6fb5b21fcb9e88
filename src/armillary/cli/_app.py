"""The typer application with all commands, and the texts of its usage errors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

import armillary
from armillary.cli import (
    bench,
    convert,
    demo,
    diff,
    doctor,
    find,
    fix,
    list_frames,
    load,
    monitor,
    pose,
    save,
    tree,
    twist,
    view,
    watch,
)
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INTERRUPTED = 130  # the exit status of a shell after Ctrl-C

# Click's UsageError; its import path depends on whether typer bundles click.
_USAGE_ERROR: Any = typer.BadParameter.__base__

COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "tree": (tree.tree, tree.EXAMPLE),
    "pose": (pose.pose, pose.EXAMPLE),
    "twist": (twist.twist, twist.EXAMPLE),
    "watch": (watch.watch, watch.EXAMPLE),
    "monitor": (monitor.monitor, monitor.EXAMPLE),
    "doctor": (doctor.doctor, doctor.EXAMPLE),
    "diff": (diff.diff, diff.EXAMPLE),
    "list": (list_frames.list_frames, list_frames.EXAMPLE),
    "find": (find.find, find.EXAMPLE),
    "fix": (fix.fix, fix.EXAMPLE),
    "save": (save.save, save.EXAMPLE),
    "load": (load.load, load.EXAMPLE),
    "view": (view.view, view.EXAMPLE),
    "convert": (convert.convert, convert.EXAMPLE),
    "bench": (bench.bench, bench.EXAMPLE),
    "demo": (demo.demo, demo.EXAMPLE),
}
"""Function and example of each command, by name."""


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


app = typer.Typer(pretty_exceptions_enable=False)
app.callback(invoke_without_command=True)(_armillary)
for _name, (_command, _example) in COMMANDS.items():
    app.command(_name, epilog=f"Example: {_example}")(_command)


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
    try:
        status = app(args=arguments, prog_name="armillary", standalone_mode=False)
    except _USAGE_ERROR as error:
        raise InvalidArgument(_usage_error_text(error, sys.argv[1:] if arguments is None else arguments)) from error
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    return status if isinstance(status, int) else 0
