"""XML that strangers wrote: what is dangerous is refused before it is parsed, and every element knows its line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from armillary.errors import InvalidRobotFile, MissingExtra
from armillary.errors.format import nearest_name

__all__ = [
    "LARGEST_FILE_BYTES",
    "LARGEST_PLACE",
    "Element",
    "Source",
    "has_doctype",
    "meant",
    "parsed",
    "refuse_doctype",
    "source_of",
]

LARGEST_FILE_BYTES = 16 * 2**20
LARGEST_PLACE = 1e9  # metres or radians; a product of a few thousand of these is still a finite number of mass
_GIVEN_TEXT = "the given text"
_SHOWN = 60
_LONGEST_TRUTH = 500

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ENCODINGS = {"utf-8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"}
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*?\?>", re.ASCII)
_DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.-]+)["']""", re.ASCII)
# Atomic: a long row of comments is walked once.
_DOCTYPE = re.compile(r"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Source:
    """A text and where it is from.

    Attributes:
        name: How errors call it.
        path: The file; None for a text that was given as such.
        text: All of it, decoded.
    """

    name: str
    path: Path | None
    text: str

    def refused(self, reason: str, line: int | None = None, hint: str = "Mend the file.") -> InvalidRobotFile:
        """The error about it as a whole."""
        return InvalidRobotFile(self.name, line, "", reason, hint)


def meant(name: str, known: Iterable[str], otherwise: str = "Mend the file.") -> str:
    """The cure for a name that is not there."""
    near = nearest_name(name, known)
    return otherwise if near is None else f"Did you mean '{near}'?"


def source_of(path_or_text: str | PathLike[str]) -> Source:
    """What was given: a text that begins with `<`, or the file of that name."""
    if isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _given(path_or_text)
    path = Path(fspath(path_or_text))
    if not _is_file(path):
        hint = "Give the path of a file, or its text: that begins with '<'."
        raise InvalidRobotFile(str(path_or_text)[:200], None, "", "there is no such file", hint)
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE_BYTES + 1)
    return Source(str(path), path, _decoded(content, str(path)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than any file's
        return False


def _given(text: str) -> Source:
    source = Source(_GIVEN_TEXT, None, text.lstrip("\ufeff"))
    if len(text) > LARGEST_FILE_BYTES:
        raise _too_large(source.name)
    return source


def _too_large(name: str) -> InvalidRobotFile:
    return InvalidRobotFile(name, None, "", f"it is larger than {LARGEST_FILE_BYTES // 2**20} MiB", "Split it.")


def _decoded(content: bytes, name: str) -> str:
    if len(content) > LARGEST_FILE_BYTES:
        raise _too_large(name)
    encoding, skipped = _encoding(content)
    if encoding not in _ENCODINGS and not encoding.startswith("utf-16"):
        raise InvalidRobotFile(name, 1, "", f"its encoding is '{encoding}'", "Save it as UTF-8.")
    try:
        return content[skipped:].decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidRobotFile(name, line, "", f"it is not {encoding.upper()}", "Save it as UTF-8.") from None


def _encoding(content: bytes) -> tuple[str, int]:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding, len(mark)
    declared = _DECLARED.match(content[:200])
    return (declared[1].decode().lower() if declared else "utf-8"), 0


@cache
def _etree() -> Any:
    try:
        return import_module("lxml.etree")
    except ModuleNotFoundError as missing:
        raise MissingExtra("articulation", "lxml") from missing


def refuse_doctype(source: Source) -> None:
    """Refuse document types, and with them every kind of entity."""
    found = _DOCTYPE.match(source.text)
    if found is not None:
        line = source.text.count("\n", 0, found.end()) + 1
        raise source.refused("it declares a document type, through which a file can name others", line, "Remove it.")


def parsed(source: Source) -> Element:
    """The root element."""
    refuse_doctype(source)
    etree = _etree()
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(_without_declaration(source.text).encode("utf-8", "surrogatepass"), parser)
    except etree.XMLSyntaxError as error:
        raise source.refused(f"it is no XML that can be read ({error.msg})", error.lineno) from None
    return Element(root, source)


def has_doctype(path: Path) -> bool:
    """Whether a file of XML of any size declares a document type, or hides its beginning in an unusual encoding."""
    with path.open("rb") as file:
        beginning = file.read(LARGEST_FILE_BYTES)
    encoding, skipped = _encoding(beginning)
    known = encoding in _ENCODINGS or encoding.startswith("utf-16")
    return not known or _DOCTYPE.match(beginning[skipped:].decode(encoding, "replace")) is not None


def _without_declaration(text: str) -> str:
    """Its lines keep their numbers; the encoding it names is no longer that of the text."""
    declaration = _DECLARATION.match(text)
    return text if declaration is None else "\n" * declaration[0].count("\n") + text[declaration.end() :]


@dataclass(frozen=True, slots=True)
class Element:
    """One element: what is wrong in it is refused with its file and line."""

    xml: Any
    source: Source

    @property
    def tag(self) -> str:
        """Its name; that of a namespace stays with it."""
        return str(self.xml.tag)

    @property
    def label(self) -> str:
        """As in `<joint name="elbow">`."""
        name = self.xml.get("name")
        return f"<{self.tag}>" if name is None else f'<{self.tag} name="{name[:_SHOWN]}">'

    def refused(self, reason: str, hint: str = "Mend the file.") -> InvalidRobotFile:
        """The error about it, told by the nearest element around it that has a name."""
        return InvalidRobotFile(self.source.name, self.xml.sourceline, self._place(), reason[:_LONGEST_TRUTH], hint)

    def _place(self) -> str:
        above = self.xml.getparent()
        while above is not None and above.get("name") is None:
            above = above.getparent()
        if self.xml.get("name") is not None or above is None or above.getparent() is None:
            return self.label
        return f"{self.label} of {Element(above, self.source).label}"

    def children(self, tag: str | None = None) -> Iterator[Element]:
        """Those directly in it, in order."""
        return (Element(child, self.source) for child in self.xml.iterchildren(tag or "{*}*"))

    def child(self, tag: str) -> Element | None:
        """The one directly in it; a second one is refused."""
        found = list(self.xml.iterchildren(tag))
        if len(found) > 1:
            raise Element(found[1], self.source).refused(f"this is the second <{tag}> here, and there can be one")
        return Element(found[0], self.source) if found else None

    def needed_child(self, tag: str) -> Element:
        """The one directly in it, which must be there."""
        found = self.child(tag)
        if found is None:
            raise self.refused(f"<{tag}> is missing")
        return found

    def get(self, attribute: str) -> str | None:
        """The text of an attribute, or None."""
        value: str | None = self.xml.get(attribute)
        return value

    def needed(self, attribute: str) -> str:
        """The text of an attribute, which must be there and not be empty."""
        value = self.get(attribute)
        if value is None or not value.strip():
            raise self.refused(f"the attribute '{attribute}' is missing" + ("" if value is None else ": it is empty"))
        return value

    def name(self, attribute: str = "name") -> str:
        """An attribute that names something."""
        value = self.needed(attribute)
        if _CONTROL.search(value):
            raise self.refused(f"the {attribute} {value[:_SHOWN]!r} holds control characters")
        return value

    @property
    def text(self) -> str:
        """What is written in it, without spaces around."""
        return (self.xml.text or "").strip()

    def text_of(self, tag: str) -> str | None:
        """What is written in the child of this name, or None."""
        found = self.child(tag)
        return None if found is None or not found.text else found.text

    def number_of(self, tag: str, default: float | None = None) -> float:
        """A finite number that is written in a child; without a default it must be there."""
        text = self.text_of(tag)
        if text is not None:
            return self.needed_child(tag).as_number(text, tag)
        if default is None:
            raise self.refused(f"<{tag}> is missing")
        return default

    def number(self, attribute: str, default: float | None = None) -> float:
        """A finite number; without a default it must be there."""
        value = self.get(attribute)
        if value is None and default is not None:
            return default
        return self.as_number(self.needed(attribute), attribute)

    def maybe_number(self, attribute: str) -> float | None:
        """A finite number, or None."""
        return None if self.get(attribute) is None else self.number(attribute)

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """So many finite numbers, with spaces between them."""
        value = self.get(attribute)
        if value is None and default is not None:
            return default
        return self.as_numbers(self.needed(attribute), count, attribute)

    def as_numbers(self, value: str, count: int, what: str) -> tuple[float, ...]:
        """A text that is so many finite numbers."""
        words = value.split(None, count)
        if len(words) != count:
            raise self.refused(f"{what} has {len(value.split())} numbers, '{value[:_SHOWN]}', and {count} are expected")
        return tuple(self.as_number(word, what) for word in words)

    def as_number(self, value: str, what: str) -> float:
        """A text that is a finite number."""
        word = value.strip()
        number = float(word) if _NUMBER.fullmatch(word) else math.nan
        if not math.isfinite(number):
            raise self.refused(f"{what} is '{word[:_SHOWN]}', and a finite number is expected")
        return number

    def places(self, values: tuple[float, ...], what: str) -> tuple[float, ...]:
        """Lengths or angles that a sum can hold."""
        for value in values:
            if abs(value) > LARGEST_PLACE:
                raise self.refused(f"{what} is {value:g}, and nothing is farther than {LARGEST_PLACE:g} m")
        return values

    def lengths(self, values: tuple[float, ...], what: str) -> tuple[float, ...]:
        """Lengths of things, which are not below zero."""
        if min(values) < 0.0:
            raise self.refused(f"{what} is {min(values):g}, and a length is not below zero")
        return self.places(values, what)

    def one_of(self, value: str, known: tuple[str, ...], what: str) -> str:
        """A word from a list."""
        if value not in known:
            raise self.refused(
                f"there is no {what} '{value[:_SHOWN]}'", meant(value, known, f"Known: {', '.join(known)}.")
            )
        return value
