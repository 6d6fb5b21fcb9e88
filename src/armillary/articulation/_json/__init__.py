"""Models in files: operations by name, what they are given by its annotated type."""

from armillary.articulation._json._codecs import Codecs
from armillary.articulation._json._fields import ModelField

__all__ = ["Codecs", "ModelField"]
