"""`armillary check`: everything in a world or a robot file that will not answer, or contradicts itself."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from armillary.cli._arguments import AsJson, At, as_instant
from armillary.cli._nodes import abbreviate_ids
from armillary.cli._output import print_result
from armillary.cli._source import complete_world, open_world
from armillary.errors import MeshesSkipped

if TYPE_CHECKING:
    from armillary import World
    from armillary.stamps import Latest

EXAMPLE = "armillary check kitchen.json"

_World = Annotated[
    str,
    typer.Argument(
        metavar="WORLD",
        help="What is checked: whatever --world of other commands takes.",
        autocompletion=complete_world,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, and what helps.

    Attributes:
        cause: "contested", "missing link" and so on, as `armillary doctor` calls them; or "skipped", "inactive",
            "limit".
        about: The frame, joint or file.
        reason: One sentence.
        hint: What to do; empty where there is nothing to do.
    """

    cause: str
    about: str
    reason: str
    hint: str = ""


def check(*, world: _World, at: At = "latest", as_json: AsJson = False) -> None:
    """Check a world: frames without a pose, contests, inactive assertions, joints beyond limits, missing meshes.

    The exit status is 0 if there is no problem. Separate trees of frames are no problem, and are counted.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", MeshesSkipped)
        known = open_world(world, with_shapes=True, skip_missing=False).world
    problems = [
        *(Problem(cause="skipped", about=world, reason=str(each.message)) for each in warned),
        *_frames(known, as_instant(at)),
        *_inactive(known),
        *_limits(known, as_instant(at)),
    ]
    trees = _trees(known)
    fields = {"world": world, "frames": len(known.frames()), "trees": trees, "problems": [asdict(p) for p in problems]}
    print_result(as_json=as_json, fields=fields, text="\n".join(_lines(world, known, trees, problems)))
    if problems:
        raise typer.Exit(1)


def _frames(world: World, at: int | Latest) -> Iterator[Problem]:
    """Yield a diagnosis of each frame that cannot be seen from its parent, or has none though sources place it."""
    parents = world.tree(at).parents
    poses = dict.fromkeys((info.of, info.in_frame) for info in world.relations() if info.kind != "twist")
    for of, in_frame in poses:
        parent = parents.get(of)
        if parent is not None and parent[0] != in_frame:
            continue  # it has another parent now
        found = world.diagnose(of=of, in_frame=in_frame, at=at)
        if not found.is_visible:
            yield Problem(cause=found.cause, about=of, reason=found.reason, hint=found.hint)


def _inactive(world: World) -> Iterator[Problem]:
    for each in world.store.inactive():
        yield Problem(
            cause="inactive",
            about=type(each.change).__name__,
            reason=f"An assertion is not active: {each.reason}",
            hint="Remove what it conflicts with, or the assertion.",
        )


def _limits(world: World, at: int | Latest) -> Iterator[Problem]:
    for path, constraint in world.violations(at=at).items():
        variables = ", ".join(sorted(str(variable) for variable in constraint.free_variables))
        reason = f"The constraint '{path}' does not hold: {constraint}."
        yield Problem(cause="limit", about=variables, reason=reason, hint="Look at the joints, or the limits.")


def _trees(world: World) -> int:
    """Count the frames without a parent that have something below them; a lone frame is no tree."""
    parents = world.tree().parents
    below = Counter(parent[0] for parent in parents.values() if parent is not None)
    return sum(parent is None and below[frame] > 0 for frame, parent in parents.items())


def _lines(name: str, world: World, trees: int, problems: Iterable[Problem]) -> Iterator[str]:
    found = list(problems)
    size = f"{_count(len(world.frames()), 'frame')} in {_count(trees, 'tree')}"
    yield f"{name}: {size}, {_count(len(found), 'problem') if found else 'no problem'}."
    for problem in found:
        yield abbreviate_ids(f"{problem.cause}: {problem.reason}")
        if problem.hint:
            yield abbreviate_ids(f"  {problem.hint}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
