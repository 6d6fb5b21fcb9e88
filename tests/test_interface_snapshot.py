"""What users can type stays; a change of it is made on purpose."""

from __future__ import annotations

import pytest

import interface_snapshot

pytest.importorskip("casadi")
pytest.importorskip("typer")
pytest.importorskip("viser")


MEANT = "If this is meant, write it down: python tests/interface_snapshot.py --write"


@pytest.fixture(scope="module")
def differences():
    return interface_snapshot.differences()


class TestTheInterface:
    def test_has_lost_nothing(self, differences):
        lost, gained = differences
        assert not lost, "\n".join(["Lost:", *lost, "New, perhaps in its place:", *gained, MEANT])

    def test_has_gained_nothing_by_chance(self, differences):
        gained = differences[1]
        assert not gained, "\n".join(["New:", *gained, MEANT])

    @pytest.mark.parametrize("line", ["armillary.World.pose(*, of, in_frame", "armillary pose FRAME IN_FRAME --at"])
    def test_is_in_the_snapshot_with_its_parameters(self, line):
        assert any(each.startswith(line) for each in interface_snapshot.SNAPSHOT.read_text().splitlines())
