"""Answers from several sources: candidate paths, the policies that choose among them, and joint error models."""
