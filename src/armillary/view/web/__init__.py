"""Web viewer: frames, shapes, their history, and sliders for joints. Needs viser (extra `view`)."""

from armillary.view.web._dragging import rest_joints
from armillary.view.web._viewer import Viewer

__all__ = ["Viewer", "rest_joints"]
