"""Safe reading of XML: document types are rejected before parsing, and every error names its file and line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from armillary.errors import InvalidRobotFile, MissingExtra
from armillary.errors.format import nearest_name

__all__ = [
    "LARGEST_FILE_BYTES",
    "LARGEST_LENGTH",
    "Element",
    "Source",
    "declares_doctype",
    "name_hint",
    "parse",
    "read_source",
    "reject_doctype",
    "xml_root",
]

LARGEST_FILE_BYTES = 16 * 2**20
LARGEST_LENGTH = 1e9  # metres or radians; products of a few thousand of these stay finite
_GIVEN_TEXT = "the given text"
_SHOWN = 60
_LONGEST_REASON = 500
_UNIT_TOLERANCE = 1e-15

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ENCODINGS = {"utf-8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"}
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*?\?>", re.ASCII)
_DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.-]+)["']""", re.ASCII)
# Atomic groups: a long row of comments is scanned once.
_DOCTYPE = re.compile(r"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NONE: list[Element] = []


@dataclass(frozen=True, slots=True)
class Source:
    """A text and where it is from.

    Attributes:
        name: Its name in errors.
        path: The file; None for a text that was given as such.
        text: The whole text, decoded.
    """

    name: str
    path: Path | None
    text: str

    def error(self, reason: str, line: int | None = None, hint: str = "Mend the file.") -> InvalidRobotFile:
        """Return the error about the text as a whole."""
        return InvalidRobotFile(self.name, line, "", reason, hint)


def name_hint(name: str, known: Iterable[str], otherwise: str = "Mend the file.") -> str:
    """Return the hint for an unknown name: the most similar known one, or `otherwise`."""
    near = nearest_name(name, known)
    return otherwise if near is None else f"Did you mean '{near}'?"


def read_source(path_or_text: str | PathLike[str]) -> Source:
    """Return the given text, which begins with `<`, or the text of the file of that name."""
    if isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<"):
        if len(path_or_text) > LARGEST_FILE_BYTES:
            raise _too_large(_GIVEN_TEXT)
        return Source(_GIVEN_TEXT, None, path_or_text.lstrip("\ufeff"))
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
    except OSError:  # the name is too long for a file
        return False


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


def reject_doctype(source: Source) -> None:
    """Raise if the text declares a document type, and with it any kind of entity."""
    found = _DOCTYPE.match(source.text)
    if found is not None:
        line = source.text.count("\n", 0, found.end()) + 1
        raise source.error("it declares a document type, through which a file can name others", line, "Remove it.")


def parse(source: Source) -> Element:
    """Parse a text and return its root element."""
    reject_doctype(source)
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
        raise source.error(f"it is no XML that can be read ({error.msg})", error.lineno) from None
    return Element(root, source)


def _plain_numbers(text: str) -> tuple[float, ...] | None:
    """Return the finite numbers of a text; None where they are not written as those of a file are."""
    try:
        numbers = tuple(map(float, text.split()))
    except ValueError:
        return None
    # Python's own numbers can also have underscores and the digits of other scripts.
    return numbers if "_" not in text and text.isascii() and math.isfinite(sum(numbers)) else None


def _plain_number(text: str) -> float | None:
    """Return the finite number of a text; None where it is not written as that of a file is."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if "_" not in text and text.isascii() and math.isfinite(number) else None


def declares_doctype(content: bytes) -> bool:
    """Whether an XML file declares a document type, after whatever comments, or has an encoding that hides it."""
    encoding, skipped = _encoding(content)
    known = encoding in _ENCODINGS or encoding.startswith("utf-16")
    return not known or _DOCTYPE.match(content[skipped:].decode(encoding, "replace")) is not None


def xml_root(content: bytes) -> Any:
    """Return the outermost element of an XML file of any size without a document type; None where it is no XML."""
    etree = _etree()
    try:
        return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except (etree.XMLSyntaxError, ValueError):
        return None


def _without_declaration(text: str) -> str:
    """Remove the XML declaration, whose encoding is not that of the decoded text; keep the line numbers."""
    declaration = _DECLARATION.match(text)
    return text if declaration is None else "\n" * declaration[0].count("\n") + text[declaration.end() :]


@dataclass(slots=True, eq=False)
class Element:
    """One element of a file. Its methods read and check values; errors name the file and the line.

    Robots have thousands of numbers: what is right is read in few steps, and only what is not is looked at closely.
    """

    xml: Any
    source: Source
    _by_tag: dict[str, list[Element]] | None = field(default=None, init=False, repr=False)

    @property
    def tag(self) -> str:
        """The tag, with its namespace."""
        return str(self.xml.tag)

    @property
    def label(self) -> str:
        """The element as errors show it: `<joint name="elbow">`."""
        name = self.xml.get("name")
        return f"<{self.tag}>" if name is None else f'<{self.tag} name="{name[:_SHOWN]}">'

    def error(self, reason: str, hint: str = "Mend the file.") -> InvalidRobotFile:
        """Return an error about this element; it also names the nearest enclosing element with a name."""
        return InvalidRobotFile(self.source.name, self.xml.sourceline, self._place(), reason[:_LONGEST_REASON], hint)

    def _place(self) -> str:
        above = self.xml.getparent()
        while above is not None and above.get("name") is None:
            above = above.getparent()
        if self.xml.get("name") is not None or above is None or above.getparent() is None:
            return self.label
        return f"{self.label} of {Element(above, self.source).label}"

    def children(self, tag: str | None = None) -> Iterator[Element]:
        """Its direct children, in order."""
        return (Element(child, self.source) for child in self.xml.iterchildren(tag or "{*}*"))

    def child(self, tag: str) -> Element | None:
        """Its only child with this tag, or None; raises if there are two."""
        found = self.children_of(tag)
        if not found:
            return None
        if len(found) > 1:
            raise found[1].error(f"this is the second <{tag}> here, and there can be one")
        return found[0]

    def children_of(self, tag: str) -> list[Element]:
        """Its direct children with this tag, in order; all are gathered at the first call."""
        if self._by_tag is None:
            self._by_tag = {}
            for child in self.xml:
                self._by_tag.setdefault(child.tag, []).append(Element(child, self.source))
        return self._by_tag.get(tag, _NONE)

    def required_child(self, tag: str) -> Element:
        """Its only child with this tag; raises if there is none."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"<{tag}> is missing")
        return found

    def get(self, attribute: str) -> str | None:
        """The text of an attribute, or None."""
        value: str | None = self.xml.get(attribute)
        return value

    def required(self, attribute: str) -> str:
        """The text of an attribute; raises if it is missing or empty."""
        value = self.get(attribute)
        if value is None or not value.strip():
            raise self.error(f"the attribute '{attribute}' is missing" + ("" if value is None else ": it is empty"))
        return value

    def name(self, attribute: str = "name") -> str:
        """The text of an attribute that is a name: without control characters."""
        value = self.required(attribute)
        if _CONTROL.search(value):
            raise self.error(f"the {attribute} {value[:_SHOWN]!r} holds control characters")
        return value

    @property
    def text(self) -> str:
        """Its text, without spaces around."""
        return (self.xml.text or "").strip()

    def text_of(self, tag: str) -> str | None:
        """The text of its child with this tag, or None."""
        found = self.child(tag)
        return None if found is None or not found.text else found.text

    def number_of(self, tag: str, default: float | None = None) -> float:
        """The finite number in its child with this tag; raises if it is missing and there is no default."""
        text = self.text_of(tag)
        if text is not None:
            return self.required_child(tag).as_number(text, tag)
        if default is None:
            raise self.error(f"<{tag}> is missing")
        return default

    def number(self, attribute: str, default: float | None = None) -> float:
        """The finite number of an attribute; raises if it is missing and there is no default."""
        value = self.get(attribute)
        if value is None and default is not None:
            return default
        number = None if value is None else _plain_number(value)
        return self.as_number(self.required(attribute), attribute) if number is None else number

    def optional_number(self, attribute: str) -> float | None:
        """The finite number of an attribute, or None."""
        value = self.get(attribute)
        if value is None:
            return None
        number = _plain_number(value)
        return self.number(attribute) if number is None else number

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The `count` finite numbers of an attribute, separated by spaces."""
        value = self.get(attribute)
        if value is None and default is not None:
            return default
        numbers = _plain_numbers(value) if value else None
        if numbers is not None and len(numbers) == count:
            return numbers
        return self.as_numbers(self.required(attribute), count, attribute)

    def as_numbers(self, value: str, count: int, what: str) -> tuple[float, ...]:
        """Convert a text to `count` finite numbers."""
        parts = value.split(None, count)
        if len(parts) != count:
            raise self.error(f"{what} has {len(value.split())} numbers, '{value[:_SHOWN]}', and {count} are expected")
        return tuple(self.as_number(part, what) for part in parts)

    def as_number(self, value: str, what: str) -> float:
        """Convert a text to a finite number."""
        text = value.strip()
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(number):
            raise self.error(f"{what} is '{text[:_SHOWN]}', and a finite number is expected")
        return number

    def bounded(self, values: tuple[float, ...], what: str) -> tuple[float, ...]:
        """Check that lengths or angles are small enough to be added, and return them."""
        if max(values) <= LARGEST_LENGTH and min(values) >= -LARGEST_LENGTH:
            return values
        for value in values:
            if abs(value) > LARGEST_LENGTH:
                raise self.error(f"{what} is {value:g}, and nothing is farther than {LARGEST_LENGTH:g} m")
        return values

    def direction(self, xyz: tuple[float, float, float]) -> tuple[float, float, float]:
        """Scale an axis to length one; an axis of length one is returned unchanged, to the last digit."""
        length = math.hypot(*xyz)
        if not 0.0 < length < math.inf:
            raise self.error(f"the axis {xyz} has the length {length:g}, and a direction is expected")
        if abs(length - 1.0) < _UNIT_TOLERANCE:
            return xyz
        x, y, z = (value / length for value in xyz)
        return x, y, z

    def lengths(self, values: tuple[float, ...], what: str) -> tuple[float, ...]:
        """Check that lengths are neither negative nor too large, and return them."""
        if min(values) < 0.0:
            raise self.error(f"{what} is {min(values):g}, and a length is not below zero")
        return self.bounded(values, what)

    def one_of(self, value: str, known: tuple[str, ...], what: str) -> str:
        """Check that a text is one of the known ones, and return it."""
        if value not in known:
            raise self.error(
                f"there is no {what} '{value[:_SHOWN]}'", name_hint(value, known, f"Known: {', '.join(known)}.")
            )
        return value
