"""Each error about files of robots: raised by a real call, with its evidence and its hint."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from armillary import World, errors
from armillary.formats import read_mesh, read_meshes, read_sdf, read_urdf, write_urdf
from unit.errors.kinds import FORMATS
from unit.formats.kit import lamp, link

LOOSE = '<sdf version="1.9"><model name="m"><link name="a"><pose>1 0 0 0 0 0</pose></link></model></sdf>'
NO_MESH = '<visual><geometry><mesh filename="/nowhere.stl"/></geometry></visual>'


@dataclass(frozen=True)
class Case:
    """A call that raises, what its message contains, and which evidence it keeps."""

    kind: type[errors.ArmillaryError]
    call: Callable[[], object]
    hint: str
    evidence: dict[str, object]

    def error(self) -> errors.ArmillaryError:
        with pytest.raises(self.kind) as caught:
            self.call()
        return caught.value


CASES = [
    Case(
        errors.InvalidRobotFile,
        lambda: read_urdf(lamp(kind="revolut")),
        "Did you mean 'revolute'?",
        {"path": "the given text", "line": 3, "element": '<joint name="neck">'},
    ),
    Case(errors.UnknownLink, lambda: read_urdf(lamp(), root="heat"), "Did you mean 'head'?", {"link": "heat"}),
    Case(
        errors.CannotSayInUrdf,
        lambda: write_urdf(read_sdf(LOOSE)[0]),
        "Pass lossy=True",
        {"robot": "m", "missing": ("the root 'a' has a pose of its own, which URDF cannot express",)},
    ),
    Case(errors.MissingMeshes, lambda: read_meshes(read_urdf(link(NO_MESH))), "Pass packages=", {"robot": "lamp"}),
    Case(errors.MissingFile, lambda: World.load("/no/where.json"), "that exists", {"path": "/no/where.json"}),
    Case(errors.UnreadableFile, lambda: World.load("/"), "that you may read", {"path": "/"}),
    Case(
        errors.UnwritableFile,
        lambda: World().save("/no/where.json"),
        "Nothing was changed",
        {"path": "/no/where.json", "reason": "there is no folder '/no'"},
    ),
    Case(errors.InvalidMesh, lambda: read_mesh("/nowhere.stl"), "Export it again", {"path": "/nowhere.stl"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind.__name__)
class TestEachError:
    def test_is_raised_by_a_real_call_and_offers_a_hint(self, case):
        assert case.hint in str(case.error())

    def test_keeps_its_evidence(self, case):
        assert {name: getattr(case.error(), name) for name in case.evidence} == case.evidence

    @pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
    def test_survives_a_copy(self, case, again):
        error = case.error()
        twin = again(error)
        assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))


class TestTheErrorsOfFormats:
    def test_are_all_here(self):
        assert {case.kind for case in CASES} == FORMATS

    def test_say_what_to_install(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "trimesh", None)
        (tmp_path / "a.stl").write_bytes(b"")
        with pytest.raises(errors.MissingExtra, match=r"pip install 'armillary\[articulation\]'"):
            read_mesh(tmp_path / "a.stl")
