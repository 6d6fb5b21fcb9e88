"""Which file a drawing becomes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument
from armillary.view._png import write_png
from armillary.view._svg import svg_text
from armillary.view.theme import Theme, in_theme

if TYPE_CHECKING:
    from os import PathLike

    from armillary.view._drawing import Drawing


def write_drawing(drawing: Drawing, path: str | PathLike[str], theme: Theme = "light") -> Path:
    """Write SVG or PNG, as the ending of `path` says, in the colours of a theme."""
    file, drawing = Path(path), in_theme(drawing, theme)
    match file.suffix.lower():
        case ".svg":
            file.write_text(svg_text(drawing), encoding="utf-8")
        case ".png":
            write_png(drawing, file)
        case _:
            raise InvalidArgument(f"Cannot draw to '{file}': its name must end in .svg or .png.")
    return file
