"""Worlds in files: all that was said of a world is in its file, and a file that was changed is refused, or sound."""

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
from armillary.record._contents import _said
from armillary.scene import AddRelation, Fix, Prefer
from laws.test_model_file_laws import NONSENSE, mutated, places
from laws.test_replaying_laws import new_world, programs, run
from unit.record.kit import full_world

pytest.importorskip("casadi")

MUTATIONS = 10


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
    if holds_all_that_was_said(world):
        assert loaded.digest() == world.digest()
    assert loaded.bodies() == world.bodies()
    assert loaded.time_epoch == world.time_epoch
    assert saved_and_loaded(loaded).digest() == loaded.digest()


def holds_all_that_was_said(world: World) -> bool:
    """Of a sample and a fixed pose at one instant one is there; who was believed may have nothing to say any more."""
    said = [(change.of, change.in_frame, change.source) for change in _said(world, AddRelation)]
    said += [(change.of, change.in_frame, change.source) for change in _said(world, Fix)]
    believed = {(change.of, change.source) for change in _said(world, Prefer)}
    there = {edge[:3] for edge in world._relations()}
    return set(said) <= there and believed <= {(of, source) for of, _, source in there}


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
    def test_is_refused_or_says_a_world_when_bytes_are_other(self, folder, seed):
        chance, data = random.Random(seed), (folder / "world.json").read_bytes()
        for _ in range(MUTATIONS):
            world = load_changed(folder, mutated(data, chance))
            assert world is None or saved_and_loaded(world).digest() == world.digest()

    @given(seed=st.integers(0, 2**32))
    def test_is_refused_or_says_a_world_when_values_are_other(self, folder, seed):
        chance, document = random.Random(seed), json.loads((folder / "world.json").read_text())
        for _ in range(MUTATIONS):
            changed = copy.deepcopy(document)
            container, key = chance.choice(places(changed))
            other, there = chance.choice(places(changed))
            container[key] = copy.deepcopy(chance.choice([*NONSENSE, other[there], other[there]]))
            world = load_changed(folder, json.dumps(changed).encode())
            assert world is None or saved_and_loaded(world).digest() == world.digest()
