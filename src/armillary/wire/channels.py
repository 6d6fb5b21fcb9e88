"""Channels: which samples belong together, named so that every peer finds them in its own world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import BeforeHistory, InvalidMessage

if TYPE_CHECKING:
    from armillary._core import SampleBatch
    from armillary.store import Store
    from armillary.wire.messages import SampleMessage

__all__ = ["Channel"]

_KINDS = ("pose", "twist", "joints")
_TEXT, _MOST_JOINTS = 4096, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The samples of one relation, or of joints that one source gives together.

    Attributes:
        kind: "pose", "twist" or "joints".
        of: The frame; empty of joints.
        in_frame: The frame that it is in, or of a twist what it is relative to; empty of joints.
        source: Who gives them.
        joints: The joints, in the order of the columns.
        has_velocities: Velocities follow the positions.
        has_covariance: The upper triangle of a covariance follows.
        has_velocity_covariance: That covers velocities as well.
        is_integrated: They are integrated from speeds.
    """

    kind: str
    of: str = ""
    in_frame: str = ""
    source: str
    joints: tuple[str, ...] = ()
    has_velocities: bool = False
    has_covariance: bool = False
    has_velocity_covariance: bool = False
    is_integrated: bool = False

    @classmethod
    def of_batch(cls, batch: SampleBatch) -> Channel:
        """Return the channel that a batch is of."""
        return cls(
            kind=batch.kind,
            of=batch.of,
            in_frame=batch.in_frame,
            source=batch.source,
            joints=tuple(batch.joints),
            has_velocities=batch.has_velocities,
            has_covariance=batch.has_covariance,
            has_velocity_covariance=batch.has_velocity_covariance,
            is_integrated=batch.is_integrated,
        )

    def entry(self) -> dict[str, Any]:
        """Return it for a message."""
        flags = ("has_velocities", "has_covariance", "has_velocity_covariance", "is_integrated")
        if self.kind != "joints":
            return {"kind": self.kind, "of": self.of, "in_frame": self.in_frame, "source": self.source}
        named = {name: True for name in flags if getattr(self, name)}
        return {"kind": self.kind, "source": self.source, "joints": list(self.joints), **named}

    @classmethod
    def read(cls, entry: Any) -> Channel:
        """Read it from a message.

        Raises:
            InvalidMessage: It is no channel.
        """
        known = cls.__dataclass_fields__
        if not isinstance(entry, dict) or not set(entry) <= set(known) or entry.get("kind") not in _KINDS:
            raise InvalidMessage("it names no channel")
        texts = [entry.get(name, "") for name in ("of", "in_frame", "source")]
        joints = entry.get("joints", [])
        if not isinstance(joints, list) or len(joints) > _MOST_JOINTS:
            raise InvalidMessage("a channel lists no joints")
        if not all(isinstance(text, str) and len(text) <= _TEXT for text in [*texts, *joints]):
            raise InvalidMessage("a channel has a name that is no text")
        flags = {name: value for name, value in entry.items() if name.startswith(("has_", "is_"))}
        if not all(isinstance(value, bool) for value in flags.values()):
            raise InvalidMessage("a channel has a flag that is neither true nor false")
        of, in_frame, source = texts
        return cls(kind=entry["kind"], of=of, in_frame=in_frame, source=source, joints=tuple(joints), **flags)

    def merge(self, store: Store, message: SampleMessage) -> bool:
        """Store samples of it; False where its relation, or a joint, is not known yet."""
        if self.kind == "joints":
            return store.merge_joint_rows(
                joints=list(self.joints),
                source=self.source,
                at=message.stamps,
                rows=message.rows,
                has_velocities=self.has_velocities,
                has_covariance=self.has_covariance,
                has_velocity_covariance=self.has_velocity_covariance,
                is_integrated=self.is_integrated,
            )
        if self.kind == "twist":
            return store.merge_twist_rows(
                of=self.of,
                relative_to=self.in_frame,
                source=self.source,
                at=message.stamps,
                rows=message.rows,
                base=message.base,
            )
        try:
            return store.merge_pose_rows(
                of=self.of,
                in_frame=self.in_frame,
                source=self.source,
                at=message.stamps,
                rows=message.rows,
                base=message.base,
            )
        except BeforeHistory:  # late by more than what is remembered here
            return True
