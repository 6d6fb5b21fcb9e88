"""A saved world with a prefix before every name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.record._loading import SavedWorld
from armillary.store.prefixes import Prefix

if TYPE_CHECKING:
    from armillary.record._sections import SavedJoint, SavedMount, SavedRetention
    from armillary.record._version_1 import SavedAssertions

    Ranges = dict[int, list[tuple[int, int]]]

__all__ = ["with_prefix"]

_FRAMES = ("of", "in_frame", "relative_to")


def with_prefix(saved: SavedWorld | SavedAssertions, prefix: str, shared: Iterable[str]) -> SavedWorld:
    """Return a saved world in which every name has a prefix, as `World.merge(prefix=)` gives it.

    Raises:
        InvalidArgument: It is a file of version 1, or has kinematic loops between models, whose equations hold names.
    """
    if not isinstance(saved, SavedWorld):
        raise InvalidArgument("A file of version 1 is loaded without a prefix. Load it, save it again, and load that.")
    if saved.top.at("closed_loops").items():
        raise InvalidArgument(
            "This world has kinematic loops that were closed between models, which cannot be given a prefix. Open them "
            "before saving, or mount the models with prefix= and close the loops there."
        )
    naming = Prefix(prefix, shared=shared, root_frame=saved.settings.get("root_frame", "map"))
    return replace(
        saved,
        records=tuple(naming.records(saved.records)),
        held=_held(naming, saved.held),
        dropped=_held(naming, saved.dropped),
        samples=tuple((field, naming.node(node), rows) for field, node, rows in saved.samples),
        retention=tuple(_retention(naming, one) for one in saved.retention),
        joints=tuple(_joint(naming, one) for one in saved.joints),
        joint_preferences=tuple((field, naming.name(joint), who) for field, joint, who in saved.joint_preferences),
        mounts=tuple(_mount(naming, one) for one in saved.mounts),
    )


def _held(naming: Prefix, ranges: Ranges) -> Ranges:
    return {int(naming.author(f"{author:016x}"), 16): held for author, held in ranges.items()}


def _retention(naming: Prefix, one: SavedRetention) -> SavedRetention:
    given: Mapping[str, Any] = one.arguments
    named = {key: naming.name(given[key]) for key in _FRAMES if key in given}
    return replace(one, arguments={**given, **named, "source": naming.source(given["source"])})


def _joint(naming: Prefix, one: SavedJoint) -> SavedJoint:
    return replace(one, name=naming.name(one.name), source=naming.source(one.source))


def _mount(naming: Prefix, one: SavedMount) -> SavedMount:
    in_frame = one.options["in_frame"]
    named = {
        "in_frame": None if in_frame is None else naming.name(in_frame),
        "outer_prefix": naming.prefix + one.options["outer_prefix"],
    }
    shapes = {path: [naming.node(node) for node in nodes] for path, nodes in one.shapes.items()}
    return replace(one, options={**one.options, **named}, shapes=shapes)
