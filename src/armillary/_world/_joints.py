"""The joints of a world: variables that drive poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._arguments import as_text
from armillary._world._reports import ReportingWorld
from armillary.errors import InvalidArgument, UnknownVariable
from armillary.stamps import LATEST, Latest
from armillary.transforms import JointSamples, JointState, check_name

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

_SYMMETRIC_TO = 1e-9


class JointedWorld(ReportingWorld):
    """A world with joints. `set_joints` says where they are; the frames they drive follow."""

    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order they came."""
        return tuple(name for name, _ in self._variables())

    def joint(self, name: str, *, at: int | Latest = LATEST, outside: str = "raise") -> JointState:
        """Where one joint was at one instant, and how fast it moved.

        `LATEST` is its newest sample. `outside` is as for `pose`.

        Raises:
            UnknownVariable: No joint has this name.
            StampOutOfRange: Its samples do not cover `at`.
            ContestedJoint: Two sources say where it is.
        """
        value, velocity, stamp, held, predicted, integrated = self._joint(name, at, outside)
        flags = {"held": held, "predicted": predicted, "integrated": integrated}
        return JointState(value=value, velocity=velocity, stamp=stamp, **flags)

    def joint_samples(
        self, name: str, *, start: int | None = None, end: int | None = None, source: str | None = None
    ) -> JointSamples:
        """Read back the stored samples of one joint, `start` and `end` included."""
        speaking = self._joint_sources(name)
        own = speaking[0] if len(speaking) == 1 else self.name
        who = own if source is None else as_text(source, "source")
        if speaking and who not in speaking:
            raise InvalidArgument(f"No source {who!r} says where joint '{name}' is; these do: {speaking}.", who)
        stamps, positions, velocities = self._joint_samples(name, start, end, who)
        return JointSamples(stamps=stamps, positions=positions, velocities=velocities)

    def _admit_joint(self, name: object) -> str:
        """A name that a joint may have, in its stored form."""
        return check_name(name)

    def _recall_joint(self, name: object) -> str:
        """A name that a joint must have, in its stored form."""
        stored = check_name(name)
        known = self.joints()
        if stored not in known:
            raise UnknownVariable(stored, known)
        return stored

    def _as_joint_covariance(
        self,
        covariance: ArrayLike,
        count: int,
        with_velocities: bool,  # noqa: FBT001  (the native half calls it)
    ) -> NDArray[float64]:
        """(k, k); k numbers are variances. Of positions and velocities, (2k, 2k), where those are given."""
        import numpy as np  # noqa: PLC0415  (the native half imports it when it must)

        try:
            given = np.asarray(covariance, dtype=float)
        except (TypeError, ValueError, OverflowError):
            given = np.empty(0)
        sizes = (count, 2 * count) if with_velocities else (count,)
        matrix = np.diag(given) if given.ndim == 1 else given
        scale = float(np.abs(matrix).max(initial=0.0))
        is_square = matrix.shape in {(size, size) for size in sizes}
        is_symmetric = is_square and bool(np.isfinite(matrix).all())
        is_symmetric = is_symmetric and bool(np.abs(matrix - matrix.T).max() <= _SYMMETRIC_TO * scale)
        if not is_symmetric or np.linalg.eigvalsh(matrix).min() < -_SYMMETRIC_TO * scale:
            raise InvalidArgument(
                f"covariance must be {count} variances, or ({count}, {count}), finite, symmetric and positive "
                "semi-definite, in the order of the joints (twice as many with velocities: positions first), got "
                f"{covariance!r}. Nothing was stored.",
                covariance,
            )
        return matrix
