"""Corrupted tapes are refused or are the tape they were: never a crash, never another meaning."""

from __future__ import annotations

import hashlib
import random
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import settings

import randomness
from armillary._core import TAPE_OPS, Tape
from armillary.errors import InvalidTape
from tape_model import NASTY, Unclear, interpret, same_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

MUTANTS = 250 * settings.default.max_examples
DIGEST = 32
EXTREMES = (0, 1, 7, 0x7F, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 4_000_001, 1_000_001)


def some_tape(chance: random.Random) -> Tape:
    """A tape of a few dozen instructions that computes something from two inputs."""
    computing = [number for name, number in TAPE_OPS.items() if name not in {"constant", "input", "output"}]
    code = [(TAPE_OPS["constant"], 0, 0, 0), (TAPE_OPS["input"], 1, 0, 0), (TAPE_OPS["input"], 2, 1, 0)]
    code += [(chance.choice(computing), *chance.choices(range(3), k=3)) for _ in range(chance.randrange(1, 30))]
    code += [(TAPE_OPS["output"], index, index, 0) for index in range(3)]
    return Tape(np.array(code, np.uint32), [chance.choice(NASTY)], inputs=2, outputs=3)


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    del data[start : start + chance.choice((1, 4, 16, len(data)))]


def insert(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    data[start:start] = chance.randbytes(chance.choice((1, 4, 16)))


def repeat(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    data[start:start] = data[start : start + 16]


def exaggerate(data: bytearray, chance: random.Random) -> None:
    """An extreme number where numbers are: in the head, or among the instructions."""
    place = 4 * chance.randrange(2, max(3, len(data) // 4 - DIGEST // 4))
    data[place : place + 4] = struct.pack("<I", chance.choice(EXTREMES))


def swap(data: bytearray, chance: random.Random) -> None:
    first, second = (chance.randrange(len(data)) for _ in range(2))
    data[first], data[second] = data[second], data[first]


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (flip, cut, insert, repeat, exaggerate, swap)


def mutant(data: bytes, chance: random.Random) -> bytearray:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if changed:
            chance.choice(MUTATIONS)(changed, chance)
    return changed


def sealed_again(data: bytearray) -> bytes:
    """With the checksum of whoever means it."""
    body = bytes(data[:-DIGEST])
    return body + hashlib.sha256(body).digest()


def read(data: bytes | bytearray) -> Tape | None:
    try:
        return Tape.from_bytes(data)
    except InvalidTape:
        return None


def runs_as_the_interpreter_says(tape: Tape, values: list[float]) -> bool:
    try:
        return same_numbers(tape.run(values), interpret(tape, values))
    except Unclear:
        return True


class TestCorruptedTapes:
    def test_are_refused_or_the_tape_they_were(self):
        chance = randomness.chance(1)
        for _ in range(MUTANTS):
            tape = some_tape(chance)
            assert read(mutant(tape.to_bytes(), chance)) in (None, tape)

    def test_that_are_sealed_again_mean_what_they_say(self):
        chance, taken = randomness.chance(2), 0
        for _ in range(MUTANTS):
            tape = read(sealed_again(mutant(some_tape(chance).to_bytes(), chance)))
            if tape is None or tape.inputs > 1000:
                continue
            taken += 1
            assert read(tape.to_bytes()) == tape
            assert runs_as_the_interpreter_says(tape, [chance.choice(NASTY) for _ in range(tape.inputs)])
        assert taken > MUTANTS // 100

    @pytest.mark.parametrize("length", [*range(0, 80, 7), 1000, 100_000])
    def test_are_not_noise(self, length):
        assert read(random.Random(length).randbytes(length)) is None
