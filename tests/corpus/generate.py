"""Records what a build answers to random stories, compares another build with it, and finds the shortest difference.

python tests/corpus/generate.py --record FILE [--stories 4800] [--build NAME]
python tests/corpus/generate.py --compare FILE [--first 0] [--last 4800]
python tests/corpus/generate.py --show NUMBER
python tests/corpus/generate.py --shrink NUMBER --against PYTHON    another build's interpreter
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from corpus.answers import answers, group_digests  # noqa: E402  (found beside this file)
from corpus.explanations import Explanations  # noqa: E402  (found beside this file)
from corpus.stories import FIRST_CONTENDED, KINDS, Story, story  # noqa: E402  (found beside this file)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECORDED = HERE / "recorded.json.gz"
STORIES, FULL, FULL_CONTENDED = 4800, 800, 200
SHOWN_ANSWERS = 40


# -- Recording


def is_full(number: int) -> bool:
    """Whether all answers to a story are kept: to the first ones, those with contended nodes included."""
    return number < FULL or FIRST_CONTENDED <= number < FIRST_CONTENDED + FULL_CONTENDED


def record(path: Path, count: int, build: str) -> None:
    """Steps and digests of all stories, and the answers of some."""
    entries = [_entry(story(number), with_answers=is_full(number)) for number in range(count)]
    whole = {"build": build, "kinds": list(KINDS), "stories": entries}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{count} stories, {path.stat().st_size / 1e6:.2f} MB in {path}.")


def _entry(one: Story, *, with_answers: bool) -> dict[str, Any]:
    found = json.loads(json.dumps(answers(one)))
    steps = [number for step in one.steps for number in step]
    entry = {"number": one.number, "family": one.family, "worlds": one.worlds, "steps": steps}
    entry["digests"] = group_digests(found)
    return entry | ({"answers": found} if with_answers else {})


@dataclass(frozen=True)
class Recorded:
    """A story and what the recorded build answered to it."""

    story: Story
    digests: dict[str, str]
    answers: dict[str, Any] | None


def recorded(path: Path = RECORDED) -> list[Recorded]:
    whole = json.loads(gzip.decompress(path.read_bytes()))
    if whole["kinds"] != list(KINDS[: len(whole["kinds"])]):
        raise ValueError("The kinds of steps changed their places: append new ones, or record anew.")
    return [_recorded(entry) for entry in whole["stories"]]


def _recorded(entry: dict[str, Any]) -> Recorded:
    flat = entry["steps"]
    steps = tuple(tuple(flat[place : place + 6]) for place in range(0, len(flat), 6))
    one = Story(entry["number"], entry["family"], entry["worlds"], steps)
    return Recorded(one, entry["digests"], entry.get("answers"))


# -- Comparing


def differing_groups(one: Recorded, found: dict[str, Any]) -> list[str]:
    now = group_digests(found)
    return sorted(name for name in {*one.digests, *now} if one.digests.get(name) != now.get(name))


def differences(stories: Iterable[Recorded], explanations: Explanations) -> Iterator[str]:
    """A report of each story that is answered otherwise without an explanation."""
    for one in stories:
        found = json.loads(json.dumps(answers(one.story)))
        groups = [name for name in differing_groups(one, found) if not explanations.covers(one.story, name)]
        if groups:
            yield report(one.story, groups, one.answers, found)


def report(one: Story, groups: list[str], before: dict[str, Any] | None, now: dict[str, Any]) -> str:
    """The story step by step, and what is answered otherwise, answer by answer."""
    defects = f", known to be wrong: {', '.join(one.defects)}" if one.defects else ""
    lines = [f"Story {one.number} ({one.family}, {one.worlds} worlds{defects}) is answered otherwise in: {groups}"]
    lines += told_steps(one, (before or {}).get("story: outcomes"), now["story: outcomes"])
    if before is None:
        lines.append("  (of this one only digests are recorded; --shrink with the other build shows the answers)")
    else:
        lines += [line for name in groups for line in answer_lines(name, before.get(name), now.get(name))]
    return "\n".join(lines[: len(one.steps) + SHOWN_ANSWERS])


def told_steps(one: Story, before: dict[str, str] | None, now: dict[str, str]) -> list[str]:
    """Steps that a batch takes have no outcome of their own."""
    lines, place, taken = [], 0, 0
    for kind, world, *numbers in one.steps:
        text = f"  world {'abcde'[world % one.worlds]}: {KINDS[kind]}{tuple(numbers)}"
        if taken:
            lines.append(f"    {text}")
            taken -= 1
            continue
        outcomes = (before or now).get(str(place)), now.get(str(place))
        lines.append(f"{text} -> {outcomes[0]}" + (f", now {outcomes[1]}" if outcomes[0] != outcomes[1] else ""))
        taken = numbers[0] % 4 + 2 if KINDS[kind] == "batch" else 0
        place += 1
    return lines


def answer_lines(name: str, before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ, down to the smallest parts that have a name."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from answer_lines(name, before.get(key), now.get(key), f"{path}/{key}")
    elif before != now:
        yield f"  {name}{path}: {before} -> {now}"


# -- Shrinking, with the other build at hand


class OtherBuild:
    """Another interpreter that answers stories."""

    def __init__(self, python: str) -> None:
        command = [*python.split(), str(HERE / "generate.py"), "--serve"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answers(self, one: Story) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([one.number, one.family, one.worlds, one.steps]) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        self._process.communicate("")


def serve() -> None:
    for line in sys.stdin:
        number, family, worlds, steps = json.loads(line)
        one = Story(number, family, worlds, tuple(tuple(step) for step in steps))
        print(json.dumps(answers(one)), flush=True)


def shrink(one: Story, python: str) -> str:
    """The story without all steps that the difference does not need."""
    other = OtherBuild(python)
    try:
        wanted = _unequal(one, other)
        if not wanted:
            return f"Both builds answer story {one.number} alike."
        one = _shorter(one, other)
        before, now = other.answers(one), json.loads(json.dumps(answers(one)))
        return report(one, _unequal(one, other), before, now)
    finally:
        other.close()


def _shorter(one: Story, other: OtherBuild) -> Story:
    size = max(1, len(one.steps) // 2)
    while size:
        place = 0
        while place < len(one.steps):
            fewer = one.with_steps(one.steps[:place] + one.steps[place + size :])
            if _unequal(fewer, other):
                one = fewer
            else:
                place += size
        size //= 2
    return one


def _unequal(one: Story, other: OtherBuild) -> list[str]:
    before, now, explanations = other.answers(one), json.loads(json.dumps(answers(one))), Explanations.read()
    differing = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    return [name for name in differing if not explanations.covers(one, name)]


# -- The command line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--show", type=int, metavar="NUMBER")
    parser.add_argument("--shrink", type=int, metavar="NUMBER")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--against", metavar="PYTHON")
    parser.add_argument("--stories", type=int, default=STORIES)
    parser.add_argument("--build", default="")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=STORIES)
    options = parser.parse_args()
    if options.record:
        record(options.record, options.stories, options.build)
    elif options.compare:
        return _compare(options.compare, options.first, options.last)
    elif options.show is not None:
        found = json.loads(json.dumps(answers(story(options.show))))
        print("\n".join(told_steps(story(options.show), None, found["story: outcomes"])))
        print(json.dumps(found, indent=1, sort_keys=True))
    elif options.shrink is not None:
        print(shrink(story(options.shrink), options.against))
    elif options.serve:
        serve()
    return 0


def _compare(path: Path, first: int, last: int) -> int:
    found = 0
    for text in differences(recorded(path)[first:last], Explanations.read()):
        found += 1
        print(text, flush=True)
    print(f"{found} stories differ.")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
