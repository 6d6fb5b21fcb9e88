"""What writing and reading agree on; `docs/scene.schema.json` says the same to others."""

from __future__ import annotations

FORMAT = "armillary.scene"
VERSION = 1

TRANSFORMS = ("transform", "uncertain_transform")
CONTAINERS = ("group", *TRANSFORMS, "frame")
KINDS = (*CONTAINERS, "geometry", "connection")

DEEPEST_LIST = 8
"""How deep lists may be nested in an attribute."""

INFINITIES = {"inf": float("inf"), "-inf": float("-inf")}
"""JSON has no infinity: an attribute that is one is written {"float": "inf"}."""
