"""The public names of the library as pages that mkdocstrings fills from their docstrings."""

from __future__ import annotations

from importlib import import_module

_WHOLE = "    options:\n      inherited_members: true\n"
_ALONE = (
    "      heading_level: 1\n      members_order: alphabetical\n      summary: {functions: true, attributes: true}\n"
)
_ELSEWHERE = ("World", "Pose", "errors")
_PACKAGES = ("relations", "scene", "articulation", "collision", "motion", "share", "record", "ros", "store", "errors")


def interface_pages() -> dict[str, str]:
    """One page for the world, one for the names beside it, one for each package."""
    pages = {
        "interface/world.md": f"::: armillary.World\n{_WHOLE}{_ALONE}",
        "interface/armillary.md": _page("armillary", _ELSEWHERE),
    }
    return pages | {f"interface/{name}.md": _page(f"armillary.{name}") for name in _PACKAGES}


def _page(package: str, elsewhere: tuple[str, ...] = ()) -> str:
    module = import_module(package)
    options = _WHOLE if package == "armillary.relations" else ""
    entries = [f"::: {package}.{name}\n{options}" for name in module.__all__ if name not in elsewhere]
    return f"# {package}\n\n{module.__doc__}\n\n" + "\n".join(entries)
