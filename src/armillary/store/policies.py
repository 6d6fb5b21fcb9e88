"""Questions by a policy: the layer above decides among candidate paths, the store finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.store.store import Store

__all__ = ["by_policy"]


def by_policy(store: Store, question: str, *arguments: Any, **asked: Any) -> Any:
    """Answer a question by a policy other than 'unique', with what `Store.policy_answers` offers for it.

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
