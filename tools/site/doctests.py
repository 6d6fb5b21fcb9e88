"""Examples in docstrings, marked as code: they follow a text without a heading of their own."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?P<code>^>>> .*(?:\n(?!\s*$).*)*(?:\n\n>>> .*(?:\n(?!\s*$).*)*)*)", re.MULTILINE)


class MarkedDoctests(griffe.Extension):
    """Puts fences around what begins with `>>>`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """For every object that is read."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<code>\n```", obj.docstring.value)
