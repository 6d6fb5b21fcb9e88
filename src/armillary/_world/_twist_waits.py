"""Waiting for motions without polling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._waits import WaitingWorld
from armillary.stamps import LATEST, Latest
from armillary.transforms import TWIST, WaitHandle, check_name, check_timeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary.errors import ArmillaryError
    from armillary.relations import Twist


class MotionWaitingWorld(WaitingWorld):
    """A world whose questions about motion may be asked before they can be answered."""

    def wait_for_twist(
        self,
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        point: str | None = None,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
        measured: bool = True,
    ) -> Twist:
        """Block, without polling, until the twist is known: from measured twists, or from poses.

        Raises:
            WaitTimeout: The time is over; `.reason` says what was still missing.
            ArmillaryError: What is missing can never come any more.
        """
        limit_s = check_timeout(timeout_s)
        asked = (of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, measured)
        question = self._motion_question(*asked)
        return self._wait_for_twist(-1.0 if limit_s is None else limit_s, **question)

    def on_twist(
        self,
        callback: Callable[[Twist], object],
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        point: str | None = None,
        at: int | Latest = LATEST,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
        measured: bool = True,
    ) -> WaitHandle:
        """Call `callback(twist)` once, when the twist becomes known; all the rest as for `on_pose`."""
        asked = (of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, measured)
        question = self._motion_question(*asked)
        return self._dispatcher.ask(question, callback, on_failure, timeout_s, TWIST)

    async def twist_when_ready(
        self,
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        point: str | None = None,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
        measured: bool = True,
    ) -> Twist:
        """The twist, awaited: for asyncio."""
        asked = (of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, measured)
        question = self._motion_question(*asked)
        twist: Twist = await self._when_ready(question, TWIST, timeout_s)
        return twist

    def _motion_question(  # noqa: PLR0917  (the keyword arguments of a question, in their order)
        self,
        of: str,
        relative_to: str,
        expressed_in: str | None,
        point: str | None,
        at: int | Latest,
        window: int | None,
        outside: str,
        policy: str,
        interpolation: str | None,
        measured: bool,  # noqa: FBT001
    ) -> dict[str, Any]:
        """A question that may be asked before its frames exist; everything else is checked now."""
        question: dict[str, Any] = {
            "of": check_name(of),
            "relative_to": check_name(relative_to),
            "expressed_in": None if expressed_in is None else check_name(expressed_in),
            "point": None if point is None else check_name(point),
            "at": at,
            "window": window,
            "outside": outside,
            "policy": policy,
            "interpolation": interpolation,
            "measured": measured,
        }
        self._check_motion(**question)
        return question
