"""All commands, and how their mistakes are told."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

import armillary
from armillary.cli import (
    bench,
    convert,
    demo,
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

_INTERRUPTED = 130  # what a shell reports for Ctrl-C

# Click's UsageError, which typer carries under another address since it ships its own click.
_USAGE_ERROR: Any = typer.BadParameter.__base__

COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "tree": (tree.tree, tree.EXAMPLE),
    "pose": (pose.pose, pose.EXAMPLE),
    "twist": (twist.twist, twist.EXAMPLE),
    "watch": (watch.watch, watch.EXAMPLE),
    "monitor": (monitor.monitor, monitor.EXAMPLE),
    "doctor": (doctor.doctor, doctor.EXAMPLE),
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
"""By name: what it does, and how it is called."""


def _version(wanted: bool) -> None:  # noqa: FBT001  (a callback of typer gets the flag's value)
    if wanted:
        typer.echo(f"armillary {armillary.__version__}")
        raise typer.Exit


def _armillary(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001  (the callback answers)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Where everything is, in time: a world model for robots."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app = typer.Typer(pretty_exceptions_enable=False)
app.callback(invoke_without_command=True)(_armillary)
for _name, (_command, _example) in COMMANDS.items():
    app.command(_name, epilog=f"Example: {_example}")(_command)


def _told(error: Any, typed: Sequence[str]) -> str:
    """What was typed wrongly, and the help of the command that it was typed for."""
    message = " ".join(error.format_message().split()).rstrip(".")
    end = "" if message.endswith(("?", "!")) else "."
    param = getattr(error, "param", None)
    wanted = f" {param.opts[0]} takes {param.nargs} numbers." if param is not None and param.nargs > 1 else ""
    command = next((name for name in typed[:1] if name in COMMANDS), "")
    return f"{message}{end}{wanted} '{' '.join(filter(None, ['armillary', command]))} --help' shows what there is."


def run(arguments: Sequence[str] | None) -> int:
    """Parse and run one command; its exit status.

    Raises:
        InvalidArgument: The user typed something that no command takes.
    """
    try:
        status = app(args=arguments, prog_name="armillary", standalone_mode=False)
    except _USAGE_ERROR as error:
        raise InvalidArgument(_told(error, sys.argv[1:] if arguments is None else arguments)) from error
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    return status if isinstance(status, int) else 0
