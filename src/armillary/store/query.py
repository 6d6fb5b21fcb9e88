"""How a question is asked: frozen values that are passed through whole; and who answers it by a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict

from armillary._core import NodeId
from armillary.errors import InvalidArgument
from armillary.stamps import LATEST, Latest
from armillary.store.names import frame_name

if TYPE_CHECKING:
    from armillary._core import PathChoice
    from armillary.stamps import StampLike
    from armillary.store.store import Store

__all__ = [
    "AnyPolicy",
    "Choosing",
    "Outside",
    "PolicyLike",
    "PoseQuery",
    "PoseWait",
    "Query",
    "TwistQuery",
    "by_policy",
]

Outside = Literal["raise", "hold", "predict"]
"""What is answered outside the history."""
Choosing = Literal["latest", "most_certain", "fuse"] | Callable[..., Any]
"""A policy that decides among candidate paths: by its name, or a callable."""
PolicyLike = Literal["unique", "filter"] | Choosing
"""A policy as users write it."""
AnyPolicy = str | Callable[..., Any]
"""The name of a policy, or a callable that decides among candidate paths, before it is checked."""


class PoseWait(TypedDict, total=False):
    """The arguments of a wait for a pose, but its policy; for type checkers."""

    of: Required[str | NodeId]
    in_frame: Required[str | NodeId]
    at: StampLike | Latest
    timeout_s: float | None
    of_at: StampLike | Latest | None
    fixed_frame: str | NodeId | None
    outside: Outside
    interpolation: str | None
    hold_up_to_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The time and the options of a question.

    Attributes:
        at: Instant [ns], or `LATEST`.
        outside: 'raise', 'hold' or 'predict': what is answered outside the history.
        policy: 'unique', 'latest', 'most_certain', 'fuse' or a callable: which source wins where several differ.
        interpolation: 'linear' or 'screw'; None: that of each relation, or as the store was made.
        hold_up_to_s: How far from its own instant `outside='hold'` uses a sample [s]; None: as the store was made.
    """

    at: StampLike | Latest = LATEST
    outside: str = "raise"
    policy: AnyPolicy | PathChoice = "unique"
    interpolation: str | None = None
    hold_up_to_s: float | None = None

    @property
    def keywords(self) -> dict[str, Any]:
        """All fields by name, as the calls of a store take them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def at_instant(self, at: Any) -> Query:
        """Return the same query at another instant."""
        return replace(self, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseQuery(Query):
    """A question for the pose of one frame in another; `of_at` and `fixed_frame` as for `World.pose`."""

    of: str | NodeId
    in_frame: str | NodeId
    of_at: StampLike | Latest | None = None
    fixed_frame: str | NodeId | None = None

    def with_stored_names(self, store: Store) -> PoseQuery:
        """Return the query with checked names; frames need not exist yet."""
        fixed_frame = None if self.fixed_frame is None else frame_name(store, self.fixed_frame)
        of, in_frame = frame_name(store, self.of), frame_name(store, self.in_frame)
        return replace(self, of=of, in_frame=in_frame, fixed_frame=fixed_frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistQuery(Query):
    """A question for the motion of one frame relative to a body; arguments as for `World.twist`."""

    of: str | NodeId
    relative_to: str | NodeId
    expressed_in: str | NodeId | None = None
    point: str | NodeId | None = None
    window: int | None = None
    measured: bool = True

    def with_stored_names(self, store: Store) -> TwistQuery:
        """Return the query with checked names; frames need not exist yet."""
        axes = None if self.expressed_in is None else frame_name(store, self.expressed_in)
        point = None if self.point is None else frame_name(store, self.point)
        of, relative_to = frame_name(store, self.of), frame_name(store, self.relative_to)
        return replace(self, of=of, relative_to=relative_to, expressed_in=axes, point=point)


def by_policy(store: Store, question: str, *arguments: Any, **asked: Any) -> Any:
    """Answer a question by a policy that is a callable, by the functions of `Store.policy_answers`.

    Args:
        store: The store that is asked.
        question: The function of `armillary.fusion.answers` that answers: "pose", "transforms", "twist" ...
        *arguments: Positional arguments of the question.
        **asked: Its keyword arguments.
    """
    if store.policy_answers is None:
        policy = asked.get("policy", arguments[0] if arguments else None)
        raise InvalidArgument(
            f"This store answers no policy that is a callable, got {policy!r}. Ask the World that has it, or set "
            "store.policy_answers to armillary.fusion.answers.",
            policy,
        )
    names = {key: store.frame_label(value) for key, value in asked.items() if isinstance(value, NodeId)}
    return getattr(store.policy_answers, question)(store, *arguments, **asked | names)
