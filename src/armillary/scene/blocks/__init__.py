"""Function blocks: computations next to the data, which read nodes and add their results to the scene."""

from armillary.scene.blocks._block import REQUIRED, FunctionBlock, Port
from armillary.scene.blocks._pipeline import Pipeline
from armillary.scene.blocks._transaction import Transaction

__all__ = ["REQUIRED", "FunctionBlock", "Pipeline", "Port", "Transaction"]
