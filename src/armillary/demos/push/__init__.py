"""Robots that close a kitchen by pushing: every drawer and door, with contact."""
