"""Controls that a person moves and that show what happens elsewhere, and neither loses what the other said."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["Follower", "by_hand"]

Told = Callable[[Any], object]


def by_hand(told: Told) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """A callback of viser for what a person did; what this program did itself is not told.

    A coroutine runs where the message came in, in its order; a plain function runs some time later on another thread,
    and reads whatever the control says by then.
    """

    async def callback(event: Any) -> None:
        if event.client is not None:
            told(event.target.value)

    return callback


class Follower:
    """One control of viser.

    Args:
        control: A slider, a dropdown, and the like.
        told: Called with what a person chose.
    """

    def __init__(self, control: Any, told: Told) -> None:
        self.control, self._told, self._shown = control, told, control.value
        control.on_update(by_hand(self._hear))

    def show(self, value: Any) -> None:
        """This is so now. What a person did meanwhile is not overwritten before it was heard."""
        if self.control.value == self._shown:
            self.control.value = value
            self._shown = self.control.value

    def offer(self, options: tuple[str, ...]) -> None:
        """These can be chosen; the first of them, where what was chosen is none of them."""
        if self.control.options != options:
            self.control.options = options
            self._shown = self.control.value

    def _hear(self, value: Any) -> None:
        self._shown = value
        self._told(value)
