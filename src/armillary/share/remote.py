"""Questions to a shared world by a process that holds no copy of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from armillary.errors import ArmillaryError, NoPeer, WorldClosed
from armillary.share.session import Connection, open_session, world_key, zenoh_module
from armillary.share.values import decoded, encoded, error_in
from armillary.stamps import LATEST
from armillary.wire.messages import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId, Transform
    from armillary.relations import Pose, Twist
    from armillary.stamps import Latest, StampLike
    from armillary.transforms import JointState, RelationInfo

__all__ = ["RemoteWorld"]

_PAUSE_S = 0.01


class RemoteWorld:
    """The questions of a `World`, answered by a process that shares it; `armillary.connect` makes it.

    It takes the same arguments, returns the same types and raises the same errors. Each call is a message there and
    back; `ask_all` puts many questions into one.

    Attributes:
        name: The name of the shared world.
        timeout_s: How long an answer may take [s].
    """

    def __init__(self, name: str, connection: Connection, timeout_s: float) -> None:
        self.name, self.timeout_s = name, timeout_s
        self._key, self._zenoh = world_key(name), zenoh_module()
        self._session = open_session(name, connection)
        self._peer = ""
        self._is_closed = False
        try:
            self._find_peer()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"RemoteWorld({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; safe to call twice."""
        if not self._is_closed:
            self._is_closed = True
            self._session.close()

    def pose(self, *, of: str | NodeId, in_frame: str | NodeId, at: StampLike | Latest = LATEST, **how: Any) -> Pose:
        """Return the pose of a frame in another; arguments of `World.pose`."""
        found: Pose = self._ask("pose", of=of, in_frame=in_frame, at=at, **how)
        return found

    def twist(
        self, *, of: str | NodeId, relative_to: str | NodeId, at: StampLike | Latest = LATEST, **how: Any
    ) -> Twist:
        """Return how a frame moves; arguments of `World.twist`."""
        found: Twist = self._ask("twist", of=of, relative_to=relative_to, at=at, **how)
        return found

    def can_pose(
        self, *, of: str | NodeId, in_frame: str | NodeId, at: StampLike | Latest = LATEST, **how: Any
    ) -> bool:
        """Whether `pose` has an answer."""
        return bool(self._ask("can_pose", of=of, in_frame=in_frame, at=at, **how))

    def transforms(self, *, of: str | NodeId, in_frame: str | NodeId, at: ArrayLike, **how: Any) -> NDArray[Any]:
        """Return the poses at many instants; arguments of `World.transforms`."""
        found: NDArray[Any] = self._ask("transforms", of=of, in_frame=in_frame, at=at, **how)
        return found

    def map_points(
        self, points: ArrayLike, *, from_frame: str | NodeId, to_frame: str | NodeId, at: Any, **how: Any
    ) -> NDArray[Any]:
        """Return points in another frame; arguments of `World.map_points`."""
        found: NDArray[Any] = self._ask(
            "map_points", points=points, from_frame=from_frame, to_frame=to_frame, at=at, **how
        )
        return found

    def snapshot(self, *, in_frame: str | NodeId, at: StampLike | Latest = LATEST, **how: Any) -> dict[str, Transform]:
        """Return the transform of every frame that has one, by name."""
        found: dict[str, Transform] = self._ask("snapshot", in_frame=in_frame, at=at, **how)
        return found

    def frames(self) -> tuple[str, ...]:
        """Return the names of the frames."""
        found: tuple[str, ...] = self._ask("frames")
        return found

    def relations(self) -> tuple[RelationInfo, ...]:
        """Return every relation of poses and of twists."""
        found: tuple[RelationInfo, ...] = self._ask("relations")
        return found

    def tree(self, at: StampLike | Latest = LATEST) -> str:
        """Return the tree of frames as text."""
        found: str = self._ask("tree", at=at)
        return found

    def joints(self) -> tuple[str, ...]:
        """Return the names of the joints."""
        found: tuple[str, ...] = self._ask("joints")
        return found

    def joint(self, name: str, *, at: StampLike | Latest = LATEST, **how: Any) -> JointState:
        """Return the position and the velocity of a joint."""
        found: JointState = self._ask("joint", name=name, at=at, **how)
        return found

    def diagnose(self, *, of: str | NodeId, in_frame: str | NodeId, at: StampLike | Latest = LATEST) -> str:
        """Return why a pose has no answer, or that it has one, as text."""
        found: str = self._ask("diagnose", of=of, in_frame=in_frame, at=at)
        return found

    def find(self, attributes: Mapping[str, Any], **how: Any) -> list[NodeId]:
        """Return the nodes with these attributes; arguments of `Scene.find`."""
        return list(self._ask("find", attributes=dict(attributes), **how))

    def attributes(self, node: NodeId) -> dict[str, Any]:
        """Return the attributes of a node."""
        found: dict[str, Any] = self._ask("attributes", node=node)
        return found

    def digest(self) -> str:
        """Return the digest of the structure."""
        found: str = self._ask("digest")
        return found

    def now(self) -> int:
        """Return the time of the world's clock [ns]."""
        found: int = self._ask("now")
        return found

    def ask_all(self, questions: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Ask many questions in one message; an answer that is an error is in the list, and not raised.

        Args:
            questions: The name of a method, and its arguments by name.
        """
        arrays: list[Any] = []
        entries = [[name, encoded(dict(asked), arrays)] for name, asked in questions]
        header, given = self._sent(pack({"questions": entries}, arrays))
        return [
            error_in(entry["error"], given) if "error" in entry else decoded(entry["value"], given)
            for entry in header["answers"]
        ]

    async def ask_later(self, method: str, /, **asked: Any) -> Any:
        """Await the answer of one question: for asyncio."""
        return await asyncio.to_thread(self._ask, method, **asked)

    def _ask(self, method: str, /, **asked: Any) -> Any:
        (found,) = self.ask_all([(method, asked)])
        if isinstance(found, ArmillaryError):
            raise found
        return found

    def _sent(self, message: bytes) -> tuple[dict[str, Any], list[Any]]:
        """Send questions to a peer; where it has gone, to another one."""
        if self._is_closed:
            raise WorldClosed
        end_s = time.monotonic() + self.timeout_s
        while True:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise NoPeer(self.name, self.timeout_s)
            replies = self._session.get(f"{self._key}/q/{self._peer}/ask", payload=message, timeout=max(left_s, 0.01))
            for reply in replies:
                if reply.ok is not None:
                    return unpack(reply.ok.payload.to_bytes())
            self._find_peer(max(0.0, end_s - time.monotonic()))

    def _find_peer(self, wait_s: float | None = None) -> None:
        end_s = time.monotonic() + (self.timeout_s if wait_s is None else wait_s)
        while True:
            found = [
                str(reply.ok.key_expr).rsplit("/", 1)[-1]
                for reply in self._session.liveliness().get(f"{self._key}/p/*", timeout=0.5)
                if reply.ok is not None
            ]
            if found:
                self._peer = min(found)
                return
            if time.monotonic() > end_s:
                raise NoPeer(self.name, self.timeout_s)
            time.sleep(_PAUSE_S)
