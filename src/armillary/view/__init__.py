"""Pictures of a world as SVG or PNG: frame tree, tracks, pose history, shapes in space, ellipses of uncertainty."""

from armillary.view._ellipses import draw_ellipses, ellipses_svg
from armillary.view._history import history_svg, plot_history
from armillary.view._scene_image import draw_world, world_svg
from armillary.view._tracks import draw_tracks, tracks_svg
from armillary.view._tree import draw_tree, tree_svg

__all__ = [
    "draw_ellipses",
    "draw_tracks",
    "draw_tree",
    "draw_world",
    "ellipses_svg",
    "history_svg",
    "plot_history",
    "tracks_svg",
    "tree_svg",
    "world_svg",
]
