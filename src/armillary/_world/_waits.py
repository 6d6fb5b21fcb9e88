"""Waiting for poses without polling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._joints import JointedWorld
from armillary.stamps import LATEST, Latest
from armillary.transforms import POSE, Dispatcher, Kind, StampedQueue, WaitHandle, check_name, check_timeout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.errors import ArmillaryError
    from armillary.fusion.policies import AnyPolicy
    from armillary.relations import Pose


class WaitingWorld(JointedWorld):
    """A world whose questions may be asked before they can be answered."""

    _dispatcher: Dispatcher

    def wait_for_pose(
        self,
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> Pose:
        """Block, without polling, until the pose is known.

        Raises:
            WaitTimeout: The time is over; `.reason` says what was still missing.
            ArmillaryError: What is missing can never come any more.
        """
        limit_s = check_timeout(timeout_s)
        question = self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation)
        return self._wait_for_pose(-1.0 if limit_s is None else limit_s, **question)

    def on_pose(
        self,
        callback: Callable[[Pose], object],
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> WaitHandle:
        """Call `callback(pose)` once, when the pose becomes known; the handle has `.cancel()`.

        It runs on the world's one dispatcher thread, also when the pose is known already. When the pose can never
        be known, or the time is over, `on_failure(error)` is called instead (`world.on_error` if not given; closing
        the world ends such a wait without a word).

        Raises:
            LimitReached: `max_waits` callbacks are pending already.
        """
        question = self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation)
        return self._dispatcher.ask(question, callback, on_failure, timeout_s)

    async def pose_when_ready(
        self,
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> Pose:
        """The pose, awaited: for asyncio."""
        question = self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation)
        pose: Pose = await self._when_ready(question, POSE, timeout_s)
        return pose

    async def _when_ready(self, question: dict[str, Any], kind: Kind, timeout_s: float | None) -> Any:
        import asyncio  # noqa: PLC0415  (half of our import time, and most programs never await)

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def settle(set_it: Callable[[Any], None], value: object) -> None:
            if not future.done():
                set_it(value)

        handle = self._dispatcher.ask(
            question,
            lambda answer: loop.call_soon_threadsafe(settle, future.set_result, answer),
            lambda error: loop.call_soon_threadsafe(settle, future.set_exception, error),
            timeout_s,
            kind,
        )
        try:
            return await future
        finally:
            handle.cancel()

    def stamped_queue(
        self,
        callback: Callable[[Any, dict[str, Pose]], object],
        *,
        in_frames: Sequence[str],
        size: int = 100,
        tolerance_s: float = 0.0,
        timeout_s: float | None = None,
        on_drop: Callable[[Any, ArmillaryError], object] | None = None,
    ) -> StampedQueue:
        """A bounded queue that holds stamped data until its transforms exist: tf2's message filter.

        At most `size` items wait for transforms, and as many for a slow callback; a new one pushes out the oldest.
        """
        return StampedQueue(
            self._dispatcher,
            callback,
            in_frames=in_frames,
            size=size,
            tolerance_s=tolerance_s,
            timeout_s=timeout_s,
            on_drop=on_drop,
        )

    def _question(  # noqa: PLR0917  (the keyword arguments of a question, in their order)
        self,
        of: str,
        in_frame: str,
        at: int | Latest,
        of_at: int | Latest | None,
        fixed_frame: str | None,
        outside: str,
        policy: AnyPolicy,
        interpolation: str | None,
    ) -> dict[str, Any]:
        """A question that may be asked before its frames exist; everything else is checked now."""
        question: dict[str, Any] = {
            "of": check_name(of),
            "in_frame": check_name(in_frame),
            "at": at,
            "of_at": of_at,
            "fixed_frame": None if fixed_frame is None else check_name(fixed_frame),
            "outside": outside,
            "policy": policy,
            "interpolation": interpolation,
        }
        self._check_question(**question)
        return question
