"""Change records and samples as bytes: the form in which they are shared and recorded."""

from armillary.wire.channels import Channel

__all__ = ["Channel"]
