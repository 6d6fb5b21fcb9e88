"""Files with something wrong in them, drawn at random."""

from __future__ import annotations

import random
import re

STRANGE = [
    *(
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "-1e308",
        "1e308",
        "1e-320",
        "0",
        "-1",
        "1_0",
        "0x10",
        "१",
        "1,5",
        "9" * 400,
    ),
    *("world", "__model__", "::", "a::b", "../..", "\N{ZERO WIDTH SPACE}", "x" * 3000, "&amp;", "&#10;", "true"),
]
VALUE = re.compile(r'"[^"]*"|(?<=>)[^<>]+(?=</)')
TAG = re.compile(r"</?[\w-]+")
BRACES = "<>&\"'/=?! \n\0\ufffe"


def mutated(text: str, draw: random.Random) -> str:
    """One to four things wrong."""
    for _ in range(draw.randint(1, 4)):
        text = draw.choice([_value, _tag, _swap, _cut, _doubled, _character])(text, draw)
    return text


def _found(pattern: re.Pattern[str], text: str, draw: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return draw.choice(found) if found else None


def _value(text: str, draw: random.Random) -> str:
    match = _found(VALUE, text, draw)
    if match is None:
        return text
    new = draw.choice(STRANGE)
    return text[: match.start()] + (f'"{new}"' if match[0][0] == '"' else new) + text[match.end() :]


def _swap(text: str, draw: random.Random) -> str:
    """A value from elsewhere in the same file: names that are there, in places where they do not belong."""
    one, other = (_found(VALUE, text, draw) for _ in range(2))
    if one is None or other is None or (one[0][0] == '"') != (other[0][0] == '"'):
        return text
    return text[: one.start()] + other[0] + text[one.end() :]


def _tag(text: str, draw: random.Random) -> str:
    one, other = (_found(TAG, text, draw) for _ in range(2))
    return text if one is None or other is None else text[: one.start()] + other[0] + text[one.end() :]


def _span(text: str, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(text) + 1)
    return start, min(len(text), start + draw.choice([1, 5, 60, 400]))


def _cut(text: str, draw: random.Random) -> str:
    start, end = _span(text, draw)
    return text[:start] + text[end:]


def _doubled(text: str, draw: random.Random) -> str:
    start, end = _span(text, draw)
    return text[:end] + text[start:end] + text[end:]


def _character(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(BRACES) + text[at + 1 :]
