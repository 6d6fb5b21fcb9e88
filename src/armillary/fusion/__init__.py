"""Fusion: candidate paths between two frames, policies that choose among them, and estimates made of several."""
