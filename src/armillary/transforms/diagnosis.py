"""Why one frame cannot be seen from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armillary.errors.format import join_names, with_node_names

__all__ = ["Cause", "Diagnosis", "LinkState"]

Cause = Literal[
    "none",
    "unknown name",
    "removed",
    "missing link",
    "separate trees",
    "contested",
    "ended",
    "late",
    "between runs",
    "before history",
    "no common time",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    """One link of the chain between the two frames.

    Attributes:
        of: The frame that is placed.
        in_frame: Its parent; None where several sources disagree, or there is none.
        source: The source that places it; empty where several do, or none.
        sources: All sources that place it; those that did so before, where that has ended.
        kind: "fixed", "sampled", "integrated" or "driven"; "mixed" if its sources differ; "nothing" without a source.
        cause: What is wrong with this link at the instant of the question; "none" where it is known.
    """

    of: str
    in_frame: str | None
    source: str
    kind: str
    cause: Cause
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.of} {self._placement()}: {'known' if self.cause == 'none' else self.cause}"

    def _placement(self) -> str:
        if self.in_frame is None:
            return f"{'once placed' if self.cause == 'ended' else 'placed'} by {join_names(self.sources)}"
        who = f" by '{self.source}'" if self.source else ""
        return f"in {self.in_frame} [{self.kind}{who}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether `of` can be seen from `in_frame`, and if not, why. Its text has reason, hint and links.

    Attributes:
        of: The frame whose pose is wanted.
        in_frame: The frame in which it is wanted.
        at: The instant [ns]; None for the newest.
        cause: "none" where it can be seen.
        reason: The cause in one sentence.
        hint: What to do; empty where there is nothing to do.
        links: The links between the two, from `of` upwards and then from `in_frame` upwards.
        names: What people call the nodes whose ids are in the texts, by id.
    """

    of: str
    in_frame: str
    at: int | None
    cause: Cause
    reason: str
    hint: str
    links: tuple[LinkState, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_visible(self) -> bool:
        """Whether `of` can be seen from `in_frame`."""
        return self.cause == "none"

    def __str__(self) -> str:
        heading = self.reason if self.is_visible else f"{self.cause}: {self.reason}"
        chain = [f"    {self._called(str(link))}" for link in self.links]
        texts = [heading, *([self.hint] if self.hint else [])]
        return "\n".join([*(with_node_names(text, self.names) for text in texts), *chain])

    def _called(self, text: str) -> str:
        """Return the text of a link, in which nodes are called by their names and the beginning of their ids."""
        for node, name in self.names.items():
            text = text.replace(node, f"{name} ({node[:8]})")
        return text
