"""What a world tells about its inside, and how much of it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._arguments import as_count, as_duration, as_text, as_thinning
from armillary._world._time import TimedWorld
from armillary.errors import AmbiguousPath, ArmillaryError, InvalidArgument
from armillary.stamps import LATEST, Latest
from armillary.transforms import RelationInfo, Samples, Snapshot, Tree, TwistSamples, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from armillary.fusion.policies import AnyPolicy

_NO_RELATION = 0xFFFFFFFF
_NS_PER_S = 1e9


class ReportingWorld(TimedWorld):
    """A world that tells about its inside."""

    def keep(
        self,
        *,
        of: str,
        in_frame: str,
        source: str | None = None,
        history: int | None = None,
        max_samples: int | None = None,
        thin_m: float | None = None,
        thin_rad: float | None = None,
    ) -> None:
        """Set how much one relation remembers; what is not given stays as it is."""
        relation = self._known_relation(of, in_frame, source)
        is_thinned = thin_m is not None or thin_rad is not None
        self._keep_more(relation, history, max_samples, as_thinning(thin_m, thin_rad) if is_thinned else None)

    def keep_twists(
        self,
        *,
        of: str,
        relative_to: str,
        source: str | None = None,
        history: int | None = None,
        max_samples: int | None = None,
    ) -> None:
        """Set how much is remembered of how one source measured one motion; what is not given stays as it is."""
        self._keep_more(self._known_twist(of, relative_to, source), history, max_samples, None)

    def _keep_more(
        self, relation: int, history: int | None, max_samples: int | None, thinning: tuple[float, float] | None
    ) -> None:
        old_history, old_samples, old_m, old_rad = self._retention(relation)
        self._keep(
            relation,
            old_history if history is None else as_duration(history, "history"),
            old_samples if max_samples is None else as_count(max_samples, "max_samples"),
            *((old_m, old_rad) if thinning is None else thinning),
        )

    def samples(
        self, *, of: str, in_frame: str, start: int | None = None, end: int | None = None, source: str | None = None
    ) -> Samples:
        """Read back the stored samples of one relation, `start` and `end` included."""
        stamps, transforms, covariances = self._samples(self._known_relation(of, in_frame, source), start, end)
        return Samples(stamps=stamps, transforms=transforms, covariances=covariances)

    def twist_samples(
        self, *, of: str, relative_to: str, start: int | None = None, end: int | None = None, source: str | None = None
    ) -> TwistSamples:
        """Read back the measured twists of one frame relative to one body, `start` and `end` included.

        They are as they are stored: at the origin and along the axes of `of`.
        """
        stamps, twists, covariances = self._samples(self._known_twist(of, relative_to, source), start, end)
        return TwistSamples(stamps=stamps, twists=twists, covariances=covariances)

    def _known_twist(self, of: str, relative_to: str, source: str | None) -> int:
        of, relative_to = check_name(of), check_name(relative_to)
        body = self._body_of(relative_to) or relative_to
        measuring = {
            who for head, tail, who, kind, *_ in self._relations() if (head, tail, kind) == (of, body, "twist")
        }
        who = _only_one(measuring, self.name) if source is None else as_text(source, "source")
        if who not in measuring:
            raise InvalidArgument(
                f"No source {who!r} measures how '{of}' moves relative to '{relative_to}'. world.relations() lists "
                "what there is; world.twists(...) answers for any pair of frames.",
                who,
            )
        return self._twist_relation_id(of, relative_to, who)

    def _known_relation(self, of: str, in_frame: str, source: str | None) -> int:
        of, in_frame = check_name(of), check_name(in_frame)
        placing = {
            who
            for child, parent, who, kind, *_ in self._relations()
            if (child, parent) == (of, in_frame) and kind != "twist"
        }
        who = _only_one(placing, self.name) if source is None else as_text(source, "source")
        relation = self._relation_id(of, in_frame, who)
        if relation == _NO_RELATION:
            raise InvalidArgument(
                f"No source {who!r} places '{of}' directly in '{in_frame}'. world.relations() lists what there is; "
                "world.transforms(...) samples any pair of frames.",
                who,
            )
        return relation

    def relations(self) -> tuple[RelationInfo, ...]:
        """Every relation of poses and of twists: rate, age, span, samples, source, kind."""
        time_now = self.now()
        return tuple(
            RelationInfo(
                of=of,
                in_frame=in_frame,
                source=source,
                kind=kind,
                samples=samples,
                first=first,
                last=last,
                age_s=None if last is None else (time_now - last) / _NS_PER_S,
            )
            for of, in_frame, source, kind, samples, first, last in self._relations()
        )

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Which frame hangs under which at one time; `print(world.tree())` draws it."""
        parents = self._parents(at)
        # A frame may have come since.
        infos = [info for info in self.relations() if info.kind != "twist" and info.of in parents]
        notes = {info.of: _note(info) for info in infos if parents.get(info.of) == (info.in_frame, info.source)}
        nowhere = {info.of: info.in_frame for info in infos if parents[info.of] is None}
        alone = _standing_alone(parents, infos)
        rivals = {name: self._rivals(name, alone or in_frame, at) for name, in_frame in nowhere.items()}
        notes |= {name: "contested by " + ", ".join(map(repr, who)) for name, who in rivals.items() if who}
        carriers = {parent[0] for parent in parents.values() if parent is not None}
        # What is left of removed nodes: it hung somewhere, hangs nowhere at this instant and carries nothing.
        ended = {name for name, who in rivals.items() if not who} - carriers
        return Tree({name: parent for name, parent in parents.items() if name not in ended}, notes)

    def _rivals_of(self, frame: str, at: int | Latest) -> tuple[str, ...]:
        """The sources that place one frame at one instant, where they are several."""
        infos = [info for info in self.relations() if info.kind != "twist"]
        in_frame = next((info.in_frame for info in infos if info.of == frame), None)
        return (
            () if in_frame is None else self._rivals(frame, _standing_alone(self._parents(at), infos) or in_frame, at)
        )

    def _rivals(self, of: str, in_frame: str, at: int | Latest) -> tuple[str, ...]:
        """The same, asked from a frame whose own way up is contested by nobody, if there is one."""
        try:
            self.pose(of=of, in_frame=in_frame, at=at)
        except AmbiguousPath as error:
            return error.sources if error.frame == of else ()
        except ArmillaryError:
            pass
        return ()

    def snapshot(
        self,
        *,
        in_frame: str,
        at: int | Latest = LATEST,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> Snapshot:
        """The transform of every answerable frame, in one sweep.

        With a stamp all frames are seen at that instant; with `LATEST` each at the newest instant its own path
        covers, and `.stamps` says which.
        """
        sweep = self._sweep(in_frame=in_frame, at=at, outside=outside, policy=policy, interpolation=interpolation)
        return Snapshot(self, sweep, check_name(in_frame))


def _only_one(sources: set[str], own_name: str) -> str:
    """The one that speaks, where that is one; else this world's own name."""
    return next(iter(sources)) if len(sources) == 1 else own_name


def _standing_alone(parents: Iterable[str], infos: Sequence[RelationInfo]) -> str | None:
    """A frame that nobody ever placed."""
    placed = {info.of for info in infos}
    return next((name for name in parents if name not in placed), None)


def _note(info: RelationInfo) -> str:
    """What the tree says beside a frame."""
    who = f" by '{info.source}'" if info.source else ""
    if info.kind != "sampled":
        return f"[{info.kind}{who}]"
    rate = "" if info.rate_hz is None else f", {info.rate_hz:.3g} Hz"
    return f"[{info.samples} sample{'s' if info.samples != 1 else ''}{rate}{who}]"
