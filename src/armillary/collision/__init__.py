"""Distances, nearest points, contacts and rays between bodies that are made of shapes; extra `armillary[collision]`."""

from armillary.collision.distance import Contact, Distance, RayHit
from armillary.collision.world import CollisionWorld

__all__ = ["CollisionWorld", "Contact", "Distance", "RayHit"]
