"""Ready-made mechanisms: functions that give the edits which add one to a model."""

from armillary.articulation.mechanisms.compartment import locking_compartment
from armillary.articulation.mechanisms.faucet import faucet
from armillary.articulation.mechanisms.four_bar import four_bar
from armillary.articulation.mechanisms.piston import piston
from armillary.articulation.mechanisms.platforms import stewart_platform, tilting_platform

__all__ = ["faucet", "four_bar", "locking_compartment", "piston", "stewart_platform", "tilting_platform"]
