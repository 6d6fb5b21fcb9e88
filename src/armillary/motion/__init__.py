"""Motion: velocities for robots and mechanisms from goals and the constraints of their models."""

from armillary.motion.tracker import Estimate, Tracker
from armillary.motion.tracking_filter import TrackingFilter

__all__ = ["Estimate", "Tracker", "TrackingFilter"]
