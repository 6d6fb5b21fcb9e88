"""Files of models with something changed in them: refused, or the same model; never another one."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random

from hypothesis import given
from hypothesis import strategies as st

import strategies  # noqa: F401  (the profile)
from armillary.articulation import AddJoint, ArticulationModel, Connect, Constraint, SetValue, less, position
from armillary.articulation.documents import digest_of
from armillary.articulation.files import _checksum
from armillary.errors import InvalidModelFile
from unit.articulation.model_kit import door
from unit.articulation.test_files import JOINTS, SWING

MUTATIONS = 10


def rich() -> ArticulationModel:
    """A little of everything."""
    model = door()
    model.apply(SetValue("swing", SWING), tag="swing")
    model.apply(
        SetValue("lock", Constraint(-math.inf, 1e3 * less(position("q"), 0.3), position("p").velocity)), tag="lock"
    )
    for joint in JOINTS:
        model.apply(AddJoint(path=f"j/{joint.kind}", joint=joint), tag=joint.kind)
    model.apply(Connect(child="door/links/frame", joint="j/omni_base"), tag="base")
    return model


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some bytes other, gone, doubled or swapped, or a value put where another was."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        at, other = chance.randrange(len(found)), chance.randrange(len(found))
        how = chance.randrange(6)
        if how == 0:
            found[at] = chance.randrange(256)
        elif how == 1:
            found[at] = ord(chance.choice('0123456789-+.eE"{}[],:tfn'))
        elif how == 2:
            del found[at : at + chance.choice([1, 1, 10, 1000])]
        elif how == 3:
            found[at:at] = found[other : other + chance.choice([1, 10, 100])]
        elif how == 4:
            found[at], found[other] = found[other], found[at]
        else:
            found[at : at + 1] = chance.choice([b"1e999", b"null", b"-1", b"[]", b"{}", b'""', b"NaN", b"true"])
        if not found:
            break
    return bytes(found)


def places(value: object) -> list:
    """Every list and object in it, with each key."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [(value, key) for key, _ in inside]
    return found + [place for container, key in list(found) for place in places(container[key])]


def replace_one(operations: list, chance: random.Random) -> None:
    """Something else in place of one value: nonsense, or a value from elsewhere in the file."""
    container, key = chance.choice(places(operations))
    other, there = chance.choice(places(operations))
    if chance.random() < 0.1 and isinstance(container, dict):
        del container[key]
    else:
        container[key] = copy.deepcopy(chance.choice([*NONSENSE, other[there], other[there]]))


def sign(whole: dict) -> None:
    """All checksums as they have to be."""
    for container, _ in places(whole["operations"]):
        if isinstance(container, dict) and "digest" in container:
            with contextlib.suppress(TypeError, ValueError):
                container["digest"] = digest_of(container)
    whole["sha256"] = _checksum(whole["operations"])


NONSENSE = [
    None,
    True,
    -1,
    3,
    1.5,
    1e300,
    -0.0,
    2**70,
    "",
    "x",
    "a/b",
    "\ud800",
    [],
    {},
    [1.0, 0.0, 0.0],
    {"float": "inf"},
]
MODEL = rich()
DATA, DIGEST = MODEL.to_bytes(), MODEL.digest()


class TestMutatedFiles:
    @given(st.integers(0, 2**32))
    def test_are_refused_or_the_same_model(self, seed):
        chance = random.Random(seed)
        for _ in range(MUTATIONS):
            try:
                found = ArticulationModel.from_bytes(mutated(DATA, chance))
            except InvalidModelFile:
                continue
            assert found.digest() == DIGEST

    @given(st.integers(0, 2**32))
    def test_with_checksums_that_agree_are_refused_or_models(self, seed):
        """Whoever wrote them knows how to: they may be other models, and nothing else."""
        chance = random.Random(seed)
        for _ in range(MUTATIONS):
            whole = json.loads(DATA)
            for _ in range(chance.choice([1, 1, 2])):
                replace_one(whole["operations"], chance)
            sign(whole)
            try:
                found = ArticulationModel.from_bytes(json.dumps(whole).encode())
            except InvalidModelFile:
                continue
            assert ArticulationModel.from_bytes(found.to_bytes()).digest() == found.digest()
