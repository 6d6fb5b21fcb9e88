"""Fixtures of the tests of commands; each module defines its folder as the fixture `here`."""

from __future__ import annotations

import shlex

import pytest


@pytest.fixture
def typed(here, capsys):
    """Return a function that runs the command in this process: exit status, stdout and stderr."""
    from armillary.cli import main  # noqa: PLC0415  (an extra)

    def call(line):
        status = main(shlex.split(line))
        output = capsys.readouterr()
        return status, output.out, output.err

    return call
