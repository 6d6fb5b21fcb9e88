"""What tests of commands have in common; each module says in which folder, as `here`."""

from __future__ import annotations

import shlex

import pytest


@pytest.fixture
def typed(here, capsys):
    """Calls the command in this process: exit status, what it printed, and what it complained."""
    from armillary.cli import main  # noqa: PLC0415  (an extra)

    def call(line):
        status = main(shlex.split(line))
        said = capsys.readouterr()
        return status, said.out, said.err

    return call
