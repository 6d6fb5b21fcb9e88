"""Every error that Armillary raises, in modules by subject; users import all of them from here.

Each error carries its evidence as attributes and builds its own sentence: what was asked, what is true, what to do.
"""

# ruff: noqa: F403  (each module lists its errors in `__all__`; a second list here would only repeat them)

from __future__ import annotations

from armillary.errors import base, estimation, files, frames, history, logs, models, motion, relations, scene, sharing
from armillary.errors.base import *
from armillary.errors.estimation import *
from armillary.errors.files import *
from armillary.errors.frames import *
from armillary.errors.history import *
from armillary.errors.logs import *
from armillary.errors.models import *
from armillary.errors.motion import *
from armillary.errors.relations import *
from armillary.errors.scene import *
from armillary.errors.sharing import *

__all__ = [
    name
    for part in (base, estimation, files, frames, history, logs, models, motion, relations, scene, sharing)
    for name in part.__all__
]
__all__.sort()

# Whichever module defines it, an error is shown under the name that it is imported by.
for _name in __all__:
    globals()[_name].__module__ = __name__
