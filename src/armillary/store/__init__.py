"""The store: the change log, the samples, the clock and the observers of one world, with a public method for each use.

A transport, a recorder, a viewer and the layers above (`fusion`, `scene`, `articulation`) are written against `Store`.
"""

from armillary.store.query import AnyPolicy, PoseQuery, Query, TwistQuery
from armillary.store.settings import Settings
from armillary.store.store import Store

__all__ = ["AnyPolicy", "PoseQuery", "Query", "Settings", "Store", "TwistQuery"]
