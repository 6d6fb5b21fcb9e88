"""Why one frame cannot be seen from another, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._findings import EXPLAINED, Finding, Findings
from armillary._world._saving import SavingWorld
from armillary.errors.format import format_stamp
from armillary.stamps import LATEST, Latest
from armillary.transforms import Diagnosis, LinkState
from armillary.transforms.diagnosis import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from armillary.transforms import RelationInfo


class DiagnosingWorld(SavingWorld):
    """A world that explains what it cannot answer."""

    def diagnose(self, *, of: str, in_frame: str, at: int | Latest = LATEST) -> Diagnosis:
        """Why `of` cannot be seen from `in_frame` at this time: which link is missing, late, contested or ended.

        It asks what `pose` asks, changes nothing, and looks at every link between the two.

        >>> from armillary import World
        >>> world = World()
        >>> world.add_frame("camera", "map")
        >>> world.diagnose(of="camera", in_frame="map").cause
        'missing link'
        """
        findings = Findings(self)
        try:
            pose = self.pose(of=of, in_frame=in_frame, at=at)
        except EXPLAINED as error:
            found = findings.of_error(error)
        else:
            when = "at every instant" if pose.stamp is None else f"at {format_stamp(pose.stamp)}"
            found = Finding("none", f"'{of}' can be seen from '{in_frame}' {when}.", "")
        known = self._knows(of) and self._knows(in_frame)
        return Diagnosis(
            of=of,
            in_frame=in_frame,
            at=None if isinstance(at, Latest) else at,
            cause=found.cause,
            reason=found.reason,
            hint=found.hint,
            links=_telling(_links(self, findings, of, in_frame, at)) if known else (),
        )


def _telling(links: Iterable[LinkState]) -> tuple[LinkState, ...]:
    """That nothing carries a root is worth saying only where nothing else is wrong."""
    every = tuple(links)
    hanging = tuple(link for link in every if link.in_frame is not None or link.sources)
    return hanging if any(link.cause != "none" for link in hanging) else every


def _links(world: SavingWorld, findings: Findings, of: str, in_frame: str, at: int | Latest) -> Iterator[LinkState]:
    parents = world._parents(at)  # noqa: SLF001  (with what hangs nowhere any more)
    upwards, downwards = _way_up(of, parents), _way_up(in_frame, parents)
    common = next((frame for frame in upwards if frame in set(downwards)), None)
    for way in (upwards, downwards):
        for frame in way:
            if frame == common:
                break
            yield _link(world, findings, frame, parents[frame], at)


def _link(
    world: SavingWorld, findings: Findings, frame: str, parent: tuple[str, str] | None, at: int | Latest
) -> LinkState:
    infos = [info for info in world.relations() if info.kind != "twist"]
    if parent is None:
        rivals = world._rivals_of(frame, at)  # noqa: SLF001  (one world, two modules)
        return _hanging_nowhere(frame, [info for info in infos if info.of == frame], rivals)
    cause: Cause = "none"
    try:
        world.pose(of=frame, in_frame=parent[0], at=at)
    except EXPLAINED as error:
        cause = findings.of_error(error).cause
    kind = next((info.kind for info in infos if (info.of, info.in_frame, info.source) == (frame, *parent)), "unknown")
    return LinkState(of=frame, in_frame=parent[0], source=parent[1], kind=kind, cause=cause, sources=(parent[1],))


def _hanging_nowhere(frame: str, infos: Sequence[RelationInfo], rivals: tuple[str, ...]) -> LinkState:
    """`infos` are what was ever said of it, `rivals` who contest it now."""
    sources = rivals or tuple(dict.fromkeys(info.source for info in infos))
    kinds = {info.kind for info in infos if info.source in sources}
    lost: Cause = "contested" if rivals else "ended" if sources else "missing link"
    return LinkState(
        of=frame,
        in_frame=None,
        source=sources[0] if len(sources) == 1 else "",
        kind="mixed" if len(kinds) > 1 else next(iter(kinds), "nothing"),
        cause=lost,
        sources=sources,
    )


def _way_up(frame: str, parents: Mapping[str, tuple[str, str] | None]) -> list[str]:
    way = [frame]
    while (parent := parents.get(way[-1])) is not None and parent[0] not in way:
        way.append(parent[0])
    return way
