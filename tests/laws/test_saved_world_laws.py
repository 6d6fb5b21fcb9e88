"""Worlds in files: all changes of a world are in its file, and a file that was changed is refused, or valid."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import World
from armillary.errors import InvalidWorldFile, SuspiciousName
from armillary.scene import AddParent
from laws.test_model_file_laws import NONSENSE, mutated, places
from laws.test_replaying_laws import new_world, programs, run
from laws.test_replicas import scripts
from replica_frames import EDITS, about_frames
from replicas import Replicas, differences, frame_steps
from unit.record.kit import full_world

pytest.importorskip("casadi")

MUTATIONS = 10
WITHOUT_NODES = EDITS


def saved_and_loaded(world: World) -> World:
    with TemporaryDirectory() as folder:
        world.save(Path(folder) / "world.json")
        return World.load(Path(folder) / "world.json", clock=world.now)


@given(programs)
def test_a_world_from_its_file_is_equal(program: list[Any]) -> None:
    world = new_world()
    for call in program:
        run(world, call)
    loaded = saved_and_loaded(world)
    assert loaded.digest() == world.digest()
    assert loaded.bodies() == world.bodies()
    assert loaded.time_epoch == world.time_epoch
    assert saved_and_loaded(loaded).digest() == loaded.digest()


@given(scripts(longest=4, steps=frame_steps(WITHOUT_NODES)))
def test_conflicting_changes_of_replicas_come_back(script: Any) -> None:
    count, todo, _ = script
    replicas = Replicas(count)
    replicas.run(todo)
    loaded = saved_and_loaded(replicas.worlds[0])
    assert differences([replicas.worlds[0], loaded], about_what_is_saved) == []
    replicas.close()


@given(scripts(longest=6))
def test_conflicting_containment_of_replicas_comes_back(script: Any) -> None:
    count, todo, _ = script
    replicas = Replicas(count)
    replicas.run(todo)
    world = replicas.worlds[0]
    loaded = saved_and_loaded(world)
    assert loaded.scene.digest() == world.scene.digest()
    assert cycles_of_active_nodes(loaded) == cycles_of_active_nodes(world)
    replicas.close()


def cycles_of_active_nodes(world: World) -> set[tuple[Any, Any]]:
    """What is gone is not saved, nor what it was in."""
    scene = world.scene
    found = (one.change for one in scene.inactive())
    return {
        (one.id, one.parent) for one in found if isinstance(one, AddParent) if {one.id, one.parent} <= {*scene.find({})}
    }


def about_what_is_saved(world: World) -> dict[Any, Any]:
    """Without samples nothing contradicts relations that have none; of the paths round a loop any is reported."""
    facts = about_frames(world)
    facts["inactive"] = sorted(str(one.change) for one in world.scene.inactive())
    return facts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a world with something of every kind was saved."""
    found = tmp_path_factory.mktemp("saved")
    full_world().save(found / "world.json")
    return found


def load_changed(folder: Path, data: bytes) -> World | None:
    (folder / "changed.json").write_bytes(data)
    with contextlib.suppress(InvalidWorldFile), warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspiciousName)
        return World.load(folder / "changed.json", max_bytes=10_000_000)
    return None


class TestAFileWithSomethingChanged:
    @given(seed=st.integers(0, 2**32))
    def test_is_refused_or_gives_a_world_when_bytes_are_other(self, folder, seed):
        chance, data = random.Random(seed), (folder / "world.json").read_bytes()
        for _ in range(MUTATIONS):
            world = load_changed(folder, mutated(data, chance))
            assert world is None or saved_and_loaded(world).digest() == world.digest()

    @given(seed=st.integers(0, 2**32))
    def test_is_refused_or_gives_a_world_when_values_are_other(self, folder, seed):
        chance, document = random.Random(seed), json.loads((folder / "world.json").read_text())
        for _ in range(MUTATIONS):
            changed = copy.deepcopy(document)
            container, key = chance.choice(places(changed))
            other, there = chance.choice(places(changed))
            container[key] = copy.deepcopy(chance.choice([*NONSENSE, other[there], other[there]]))
            world = load_changed(folder, json.dumps(changed).encode())
            assert world is None or saved_and_loaded(world).digest() == world.digest()
