"""Pictures of a world: frame tree, tracks and histories of frames, how sure it is; as SVG, or PNG by matplotlib."""

from armillary.view._ellipses import draw_ellipses, ellipses_svg
from armillary.view._history import history_svg, plot_history
from armillary.view._tracks import draw_tracks, tracks_svg
from armillary.view._tree import draw_tree, tree_svg

__all__ = [
    "draw_ellipses",
    "draw_tracks",
    "draw_tree",
    "ellipses_svg",
    "history_svg",
    "plot_history",
    "tracks_svg",
    "tree_svg",
]
