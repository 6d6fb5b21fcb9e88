"""How far two accounts of one motion disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations._twist import Twist


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistResidual:
    """What was measured of a motion, beside what the poses say.

    Attributes:
        measured: The measured twist.
        derived: The derivative of the poses: same point, bodies, axes and instant.
    """

    measured: Twist
    derived: Twist

    @property
    def linear(self) -> NDArray[float64]:
        """Measured less derived [m/s], shape (3,)."""
        return self.measured.linear - self.derived.linear

    @property
    def angular(self) -> NDArray[float64]:
        """Measured less derived [rad/s], shape (3,)."""
        return self.measured.angular - self.derived.angular

    @property
    def mahalanobis(self) -> float | None:
        """The difference in standard deviations of both together; None where one of them is unknown.

        The two count as independent. Where neither is uncertain, any difference is infinitely far.
        """
        if self.measured.covariance is None or self.derived.covariance is None:
            return None
        difference = np.concatenate([self.linear, self.angular])
        total = self.measured.covariance + self.derived.covariance
        explained = total @ np.linalg.pinv(total, hermitian=True) @ difference
        if not np.allclose(explained, difference, rtol=1e-6, atol=1e-12):
            return float("inf")
        return float(np.sqrt(difference @ np.linalg.pinv(total, hermitian=True) @ difference))

    def __repr__(self) -> str:
        off = f"{np.linalg.norm(self.linear):.6g} m/s and {np.linalg.norm(self.angular):.6g} rad/s off"
        return f"TwistResidual({self.measured!r}: {off} the derivative of the poses)"
