"""Pictures of a world: its frame tree and the tracks of its frames, as SVG, or as PNG through matplotlib."""

from armillary.view._tracks import draw_tracks, tracks_svg
from armillary.view._tree import draw_tree, tree_svg

__all__ = ["draw_tracks", "draw_tree", "tracks_svg", "tree_svg"]
