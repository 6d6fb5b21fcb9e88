"""What users can type stays; a change of it is made on purpose."""

from __future__ import annotations

import pytest

import interface_snapshot

pytest.importorskip("casadi")
pytest.importorskip("typer")
pytest.importorskip("viser")


class TestTheInterface:
    def test_is_that_of_the_snapshot(self):
        found = interface_snapshot.differences()
        hint = "If this is meant, write it down: python tests/interface_snapshot.py --write"
        assert not found, "\n".join(["The public interface changed (- before, + now).", *found, hint])

    @pytest.mark.parametrize("line", ["armillary.World.pose(*, of, in_frame", "armillary pose FRAME IN_FRAME --at"])
    def test_is_in_the_snapshot_with_its_parameters(self, line):
        assert any(each.startswith(line) for each in interface_snapshot.SNAPSHOT.read_text().splitlines())
