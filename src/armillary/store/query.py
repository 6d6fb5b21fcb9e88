"""How a question is asked: frozen values that are passed through whole; and who answers it by a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.stamps import LATEST, Latest
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary._core import PathChoice
    from armillary.store.store import Store

__all__ = ["AnyPolicy", "PoseQuery", "Query", "TwistQuery", "by_policy"]

AnyPolicy = str | Callable[..., Any]
"""The name of a policy, or a callable that decides among candidate paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The time and the options of a question.

    Attributes:
        at: Instant [ns], or `LATEST`.
        outside: 'raise', 'hold' or 'predict': what is answered outside the history.
        policy: 'unique', 'latest', 'most_certain', 'fuse' or a callable: which source wins where several differ.
        interpolation: 'linear' or 'screw'; None: as the store was made.
    """

    at: int | Latest = LATEST
    outside: str = "raise"
    policy: AnyPolicy | PathChoice = "unique"
    interpolation: str | None = None

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

    of: str
    in_frame: str
    of_at: int | Latest | None = None
    fixed_frame: str | None = None

    def with_stored_names(self) -> PoseQuery:
        """Return the query with checked names; frames need not exist yet."""
        fixed_frame = None if self.fixed_frame is None else check_name(self.fixed_frame)
        return replace(self, of=check_name(self.of), in_frame=check_name(self.in_frame), fixed_frame=fixed_frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistQuery(Query):
    """A question for the motion of one frame relative to a body; arguments as for `World.twist`."""

    of: str
    relative_to: str
    expressed_in: str | None = None
    point: str | None = None
    window: int | None = None
    measured: bool = True

    def with_stored_names(self) -> TwistQuery:
        """Return the query with checked names; frames need not exist yet."""
        axes = None if self.expressed_in is None else check_name(self.expressed_in)
        point = None if self.point is None else check_name(self.point)
        of, relative_to = check_name(self.of), check_name(self.relative_to)
        return replace(self, of=of, relative_to=relative_to, expressed_in=axes, point=point)


def by_policy(store: Store, question: str, *arguments: Any, **asked: Any) -> Any:
    """Answer a question by a policy other than 'unique', by the functions of `Store.policy_answers`.

    Args:
        store: The store that is asked.
        question: The function of `armillary.fusion.answers` that answers: "pose", "transforms", "twist" ...
        *arguments: Positional arguments of the question.
        **asked: Its keyword arguments.
    """
    if store.policy_answers is None:
        policy = asked.get("policy", arguments[0] if arguments else None)
        raise InvalidArgument(
            f"This store answers policy='unique' alone, got {policy!r}. Ask the World that has it, or set "
            "store.policy_answers to armillary.fusion.answers.",
            policy,
        )
    return getattr(store.policy_answers, question)(store, *arguments, **asked)
