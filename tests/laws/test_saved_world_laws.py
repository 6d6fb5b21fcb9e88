"""Worlds in files: all changes of a world are in its file, and a file that was changed is refused, or valid."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import random
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import World
from armillary.errors import ArmillaryError, InvalidWorldFile, SuspiciousName
from corpus.answers import world_answers
from corpus.stories import story
from corpus.telling import replayed
from laws.test_model_file_laws import NONSENSE, mutated, places
from laws.test_replaying_laws import new_world, programs, run
from laws.test_replicas import scripts
from replica_frames import AMONG_NODES, FRAMES, IN_NEW_TIMES, about_frames
from replicas import Replicas, about_everything, differences, frame_steps, steps
from unit.record.kit import full_world

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("casadi")

MUTATIONS = 10
WITHOUT_SAMPLES = ("nodes", "find", "past", "frames", "bodies", "joints")
any_step = st.one_of(steps, frame_steps(AMONG_NODES))


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
    assert sorted(loaded.bodies()) == sorted(world.bodies())
    assert loaded.time_epoch == world.time_epoch
    assert saved_and_loaded(loaded).digest() == loaded.digest()


@given(scripts(longest=6, steps=any_step), st.lists(any_step, max_size=4))
def test_a_replica_from_its_file_is_one_of_them(script: Any, later: list[Any]) -> None:
    check_replica(script, later, about_all)


@given(scripts(longest=6, steps=frame_steps(IN_NEW_TIMES)), st.lists(frame_steps(IN_NEW_TIMES), max_size=4))
def test_a_replica_from_its_file_knows_the_time_epochs(script: Any, later: list[Any]) -> None:
    check_replica(script, later, about_frames)


def check_replica(script: Any, later: list[Any], asked: Callable[[World], dict[Any, Any]]) -> None:
    """One of some replicas is saved and loaded: it answers as before, and goes on in the place of the one before."""
    count, todo, _ = script
    replicas = Replicas(count)
    replicas.run(todo)
    saved = replicas.worlds[0]
    loaded = saved_and_loaded(saved)
    assert differences([saved, loaded], asked) == []
    assert loaded.scene.version_vector() == saved.scene.version_vector()
    replicas.worlds.append(loaded)
    replicas.clocks.append(replicas.clocks[0])
    replicas.run(later)
    assert differences([*replicas.worlds, saved_and_loaded(loaded)], asked) == []
    replicas.close()


def about_all(world: World) -> dict[Any, Any]:
    """What is superseded is not sent to others, who do not hold it."""
    facts = about_everything(world) | about_frames(world) | about_relations(world) | about_policies(world)
    return {key: fact for key, fact in facts.items() if key != "version vector"}


def about_relations(world: World) -> dict[Any, Any]:
    """Without those of twists: a world lists one that is inactive if it was active there before."""
    infos = [info for info in world.relations() if info.kind != "twist"]
    rows = [(info.of, info.in_frame, info.source, info.kind, info.samples) for info in infos]
    return {"relations": sorted(rows), "bodies": sorted(world.bodies()), "joints": sorted(world.joints())}


def about_policies(world: World) -> dict[Any, Any]:
    pairs = itertools.permutations(FRAMES[:3], 2)
    asked = itertools.product(pairs, (500, 1000, 1900), ("latest", "most_certain"), ("raise", "hold"))
    return {
        (*pair, at, policy, outside): _pose(world, pair, at, policy, outside) for pair, at, policy, outside in asked
    }


def _pose(world: World, pair: tuple[str, str], at: int, policy: str, outside: Any) -> Any:
    try:
        found = world.pose(of=pair[0], in_frame=pair[1], at=at, policy=policy, outside=outside)
    except ArmillaryError as error:
        return type(error).__name__
    return tuple(found.transform.xyz_wxyz.round(9))


@given(st.integers(0, 10**6))
def test_a_world_of_the_corpus_comes_back(number: int) -> None:
    """Stories with mounts, joints, removals, samples and several time epochs; samples of frames are not in files."""
    told = story(number)
    replay = replayed(told)
    for world in replay.worlds:
        loaded = saved_and_loaded(world)
        before, after = world_answers(world, told.family), world_answers(loaded, told.family)
        assert {name: after[name] for name in WITHOUT_SAMPLES} == {name: before[name] for name in WITHOUT_SAMPLES}
        assert (loaded.digest(), loaded.scene.digest()) == (world.digest(), world.scene.digest())
        assert loaded.scene.version_vector() == world.scene.version_vector()
        assert loaded.joints() == world.joints()
        assert len(loaded.mounts) == len(world.mounts)
        assert loaded.store.joint_preferences() == world.store.joint_preferences()
        loaded.add_frame("one more")
        world.merge(loaded.scene.changes(since=world.scene.version_vector()))
        assert loaded.digest() == world.digest()
    replay.close()


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
