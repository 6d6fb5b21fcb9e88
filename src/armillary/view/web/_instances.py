"""Many things of one form, drawn and moved by one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Instances", "shown_sizes", "somewhere"]

_NOWHERE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def somewhere(rows: NDArray[float64]) -> NDArray[float64]:
    """(N, 7) without NaN: what has no pose is drawn without size, wherever."""
    return np.where(np.isnan(rows[:, :1]), _NOWHERE, rows)


class Instances:
    """One handle of viser that stands for many things.

    Args:
        handle: With `batched_positions`, `batched_wxyzs` and `batched_scales`.
        sizes: (N,) or (N, 3), of those that have a pose.
    """

    def __init__(self, handle: Any, sizes: NDArray[float64]) -> None:
        self._handle, self._sizes = handle, sizes
        self._sent: dict[str, NDArray[float64]] = {}

    def move(self, rows: NDArray[float64], sizes: NDArray[float64] | None = None) -> None:
        """To (N, 7); what is not a number is not shown."""
        placed = somewhere(rows)
        self._send("batched_positions", placed[:, :3])
        self._send("batched_wxyzs", placed[:, 3:])
        self._send("batched_scales", shown_sizes(rows, self._sizes if sizes is None else sizes))

    def _send(self, name: str, values: NDArray[float64]) -> None:
        """Where something is another: viser looks as well, but takes ten times as long."""
        if name not in self._sent or not np.array_equal(self._sent[name], values):
            setattr(self._handle, name, values)
            self._sent[name] = values

    @property
    def visible(self) -> bool:
        """Whether it is drawn."""
        return bool(self._handle.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._handle.visible = visible

    def remove(self) -> None:
        """Draw it no more."""
        self._handle.remove()


def shown_sizes(rows: NDArray[float64], sizes: NDArray[float64]) -> NDArray[float64]:
    """The sizes, and zero where there is no pose."""
    is_shown = ~np.isnan(rows[:, 0])
    return sizes * (is_shown if sizes.ndim == 1 else is_shown[:, None])
