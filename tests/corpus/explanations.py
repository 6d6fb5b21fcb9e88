"""Differences from the recorded build that are meant: which stories, which groups of answers, and why.

`explained.json` is a list of `{"stories": ..., "groups": ..., "why": ...}`: stories are "all", the name of a family, or
a list of numbers; groups are a pattern for names such as "b: poses unique"; why names the rule or the defect.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpus.stories import Story

EXPLAINED = Path(__file__).with_name("explained.json")


@dataclass
class Explanation:
    stories: str | list[int]
    groups: str
    why: str
    used: int = 0

    def covers(self, story: Story, group: str) -> bool:
        names = self.stories if isinstance(self.stories, list) else [self.stories]
        is_meant = "all" in names or story.family in names or story.number in names
        return is_meant and re.fullmatch(self.groups, group) is not None


@dataclass
class Explanations:
    """All of them; each counts what it explained, so that one that is no longer needed is found."""

    entries: list[Explanation] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path = EXPLAINED) -> Explanations:
        return cls([Explanation(**entry) for entry in json.loads(path.read_text())])

    def covers(self, story: Story, group: str) -> bool:
        for entry in self.entries:
            if entry.covers(story, group):
                entry.used += 1
                return True
        return False

    @property
    def unused(self) -> list[str]:
        return [f"{entry.stories} {entry.groups}: {entry.why}" for entry in self.entries if not entry.used]
