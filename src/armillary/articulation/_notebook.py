"""What notebooks show of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.notebook import card, facts, listing

if TYPE_CHECKING:
    from armillary.articulation.model import ArticulationModel

__all__ = ["model_html"]


def model_html(model: ArticulationModel) -> str:
    """How much there is of what, and its joints."""
    links, joints = model.links(), model.joints()
    rows = [
        ("links", len(links)),
        ("joints", len(joints)),
        ("variables", len(model.variables())),
        ("constraints", len(model.constraints())),
        ("operations", len(model.tags)),
    ]
    lines = (f"{path}  [{joint.kind or type(joint).__name__}]" for path, joint in joints.items())
    return card("Articulation model", facts(rows), listing(lines, len(joints), most=20))
