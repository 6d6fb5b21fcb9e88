"""Files of earlier versions load to what they were."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("casadi")

from formats import saved

WRITTEN = json.loads(saved.ANSWERS.read_text())
GROUPS = [(file, group) for file, groups in WRITTEN.items() for group in groups]


@pytest.fixture(scope="module")
def found():
    return saved.answers_of(saved.VERSION_1)


class TestFilesOfVersion1:
    @pytest.mark.parametrize(("file", "group"), GROUPS, ids=lambda name: name.replace(" ", "_"))
    def test_answer_as_they_did(self, found, file, group):
        assert found[file][group] == WRITTEN[file][group]

    def test_are_all_asked(self, found):
        files = {path.name for path in saved.VERSION_1.glob("*.json")} - {saved.ANSWERS.name}
        assert files == set(found) == set(WRITTEN)
        assert {(file, group) for file, groups in found.items() for group in groups} == set(GROUPS)


class TestFilesWrittenNow:
    def test_load_to_what_those_of_version_1_do(self, found, tmp_path):
        saved.write(tmp_path)
        now = saved.answers_of(tmp_path)
        for answers in (now, found):  # a mount draws the ids of its nodes
            answers["mounted.world.json"] = {**answers["mounted.world.json"], "digest values": None}
            # in those of version 1 an attachment is a preferred source for ever; now it is preferred while it lasts
            answers["frames.world.json"] = {**answers["frames.world.json"], "digest values": None}
        del now["nodes.world.json"], found["nodes.world.json"]  # those of version 1 forget that a root was remote
        del now["reset.world.json"], found["reset.world.json"]  # and that nodes were there before time was reset
        assert now == found

    def test_load_to_what_was_saved(self, tmp_path):
        saved.write(tmp_path)
        for name in ("nodes", "merged", "reset"):
            with saved.WORLDS[name]() as world, saved.loaded_world(tmp_path / f"{name}.world.json") as loaded:
                assert json.loads(json.dumps([saved.everything(loaded)])) == json.loads(
                    json.dumps([saved.everything(world)])
                )
