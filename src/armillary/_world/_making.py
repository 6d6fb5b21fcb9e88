"""Methods that make a world, and change none."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn

from armillary.errors import InvalidArgument

__all__ = ["maker"]

if TYPE_CHECKING:
    maker = classmethod
else:

    class maker(classmethod):  # noqa: N801  (it stands where classmethod would)
        """A method of the class alone: said to a world, what it makes would be dropped in silence."""

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            """Bound to the class, or what refuses."""
            method = super().__get__(None, owner)
            return method if instance is None else _refusing(method, owner.__name__)


def _refusing(method: Any, made: str) -> Any:
    @functools.wraps(method)
    def refuse(*_: Any, **__: Any) -> NoReturn:
        call = f"{made}.{method.__name__}"
        raise InvalidArgument(f"{call} makes a new world, and changes none: world = {call}(...).")

    return refuse
