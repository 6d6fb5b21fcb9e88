"""Expressions in files: plain lists, numbers and text, with a checksum over all of it.

What is calculated is written as tapes. The tape of an expression with atoms takes them as inputs beside the variables;
the atoms follow with their values and gradients, each after those it uses. A pose that is a chain is written link by
link, so that it is differentiated as fast after reading as before.
"""

from armillary.articulation.documents._reading import expression_from_document, expression_from_tape
from armillary.articulation.documents._writing import expression_to_document

__all__ = ["expression_from_document", "expression_from_tape", "expression_to_document"]
