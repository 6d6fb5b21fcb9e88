"""Computation next to the data: function blocks read nodes, compute, and put their results into the scene."""

from armillary.scene.blocks._block import REQUIRED, FunctionBlock
from armillary.scene.blocks._port import Port
from armillary.scene.blocks._transaction import Transaction

__all__ = ["REQUIRED", "FunctionBlock", "Port", "Transaction"]
