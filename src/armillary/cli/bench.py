"""`armillary bench`: how fast this machine answers."""

from __future__ import annotations

from dataclasses import asdict

from armillary.cli._arguments import AsJson
from armillary.cli._measures import MEASURES, measures
from armillary.cli._output import say
from armillary.cli._progress import tracked

EXAMPLE = "armillary bench"


def bench(*, as_json: AsJson = False) -> None:
    """Measure what single calls cost on this machine. `make bench` compares with others."""
    found = list(tracked("Measuring", measures(), MEASURES))
    lines = [f"  {measure.what:28}{measure.per_call_us:10.3f} us" for measure in found]
    text = "\n".join(["CPU time of one call:", *lines])
    say(as_json=as_json, fields=[asdict(measure) for measure in found], text=text)
