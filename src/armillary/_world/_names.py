"""Names: what may be made by use, what must exist, and what looks like a typo."""

from __future__ import annotations

from armillary._core import WorldCore
from armillary.errors import ArmillaryError, InvalidName, StampOutOfRange, UnknownFrame
from armillary.transforms import TypoGuard, check_name, warn_of_typo


class NamingWorld(WorldCore):
    """A world that knows its names. The native half calls it when it meets a name for the first time."""

    _declared: bool
    _typos: TypoGuard

    def _admit(self, name: object) -> str:
        """A name that may be made by use, in its stored form."""
        stored = check_name(name)
        if self._has_frame(stored) or stored in self.bodies():
            return stored
        if self._declared:
            raise UnknownFrame(stored, self.frames())
        near = self._typos.meet(stored, self._has_frame)
        if near is not None:
            warn_of_typo(stored, near)
        return stored

    def _declare(self, name: object) -> str:
        """A name that is made on purpose, in its stored form."""
        stored = check_name(name)
        self._typos.add(stored, self._has_frame)
        return stored

    def _knows(self, name: object) -> bool:
        """Whether a frame has this name; for questions that answer no instead of raising."""
        try:
            return self._has_frame(check_name(name))
        except InvalidName:
            return False

    def _recall(self, name: object) -> str:
        """A name that must exist, in its stored form."""
        stored = check_name(name)
        if not self._has_frame(stored):
            raise UnknownFrame(stored, self.frames())
        return stored

    def _with_row(self, error: ArmillaryError, row: int) -> ArmillaryError:
        """The same error, naming the row of the batch that caused it."""
        if not isinstance(error, StampOutOfRange):
            return error
        evidence = {
            key: getattr(error, key) for key in ("edge", "requested", "first", "last", "inserting", "horizon", "joint")
        }
        return type(error)(row=row, **evidence)
