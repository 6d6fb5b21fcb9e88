"""Documents, texts and bytes with something wrong in them, drawn at random."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Way = tuple[str | int, ...]

JUNK: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**63,
        2**64,
        -(2**63),
        10**400,
        1.5,
        1e308,
        -1e308,
        1e-320,
        float("nan"),
        float("inf"),
    ),
    *(
        "",
        "x",
        "map",
        "a",
        "00000000-0000-4000-8000-000000000000",
        "0" * 16,
        "\ud800",
        "\0",
        "x" * 1000,
        "../..",
        "inf",
    ),
    *([], {}, [[]], [1, 2, 3], {"a": 1}, {"float": "inf"}),
]


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """Every way into a document."""
    yield way
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from ways(value[key], (*way, key))


def value_at(value: Any, way: Way) -> Any:
    """What is at the end of a way."""
    for key in way:
        value = value[key]
    return value


def mutated_document(document: Any, draw: random.Random, others: list[Any]) -> Any:
    """A document with one to three values replaced: by junk, by a value of `others`, by nothing, or by itself twice."""
    made = json.loads(json.dumps(document))
    for _ in range(draw.randint(1, 3)):
        way = draw.choice(list(ways(made)))
        if not way:
            continue
        above, key = value_at(made, way[:-1]), way[-1]
        match draw.randrange(4):
            case 0:
                above[key] = copy.deepcopy(draw.choice(JUNK))  # or the next mutation would put it into itself
            case 1:
                other = draw.choice(others)
                above[key] = json.loads(json.dumps(value_at(other, draw.choice(list(ways(other))))))
            case 2:
                del above[key]
            case 3 if isinstance(above, list):
                above.insert(draw.randrange(len(above) + 1), json.loads(json.dumps(above[key])))
            case 3:
                above[draw.choice(["x", "", "format", "at"])] = above.pop(key)
    return made


def mutated_bytes(content: bytes, draw: random.Random) -> bytes:
    """Bytes of which some are flipped, cut, doubled, swapped, or replaced by what does not belong there."""
    made = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(made) + 1)
        end = min(len(made), start + draw.choice([1, 4, 60, 400]))
        match draw.randrange(6):
            case 0 if start < len(made):
                made[start] ^= 1 << draw.randrange(8)
            case 1:
                del made[start:end]
            case 2:
                made[end:end] = made[start:end]
            case 3:
                made[start:end] = draw.choice(
                    [b"\0" * 4, b"\xff" * 4, b"nan", b"1e999", b"-1", b"<", b'"', b"\n", b"{}"]
                )
            case 4:
                other = draw.randrange(len(made) + 1)
                made[start:end] = made[other : other + end - start]
            case 5:
                made[start:start] = draw.randbytes(draw.choice([1, 3, 40]))
    return bytes(made)


def outcomes(count: int, seed: int, make: Callable[[random.Random], object]) -> Iterator[object]:
    """What `make` returns for each of some seeds."""
    for i in range(count):
        yield make(random.Random(f"{seed} {i}"))
