"""Models in files: the operations in order, as JSON.

Operations and joints are named by their `kind`, and only kinds that the reader knows are made: nothing is imported
because a file names it. A checksum covers all operations, so that a file that was changed is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from armillary.articulation._codecs import Codecs
from armillary.articulation.bases import DifferentialDrive, OmniBase, PlanarJoint
from armillary.articulation.joints import (
    BallJoint,
    ContinuousJoint,
    CylindricalJoint,
    ExpressionJoint,
    FixedJoint,
    FloatingJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    UniversalJoint,
)
from armillary.articulation.operations import (
    AddJoint,
    AddLink,
    AddMimicJoint,
    AddObject,
    CloseLoop,
    Connect,
    Operation,
    SetClosure,
    SetValue,
)
from armillary.errors import InvalidArgument, InvalidModelFile, UnsavableModel
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    MeshForm,
    OtherForm,
    SphereForm,
)
from armillary.formats.fields import Field, parse_json

__all__ = ["MAX_BYTES", "decoded", "digest", "encoded", "refused_replay"]

FORMAT, VERSION = "armillary.model", 1
MAX_BYTES = 256 * 1024 * 1024

_OPERATIONS: tuple[type[Operation], ...] = (
    AddJoint,
    AddLink,
    AddMimicJoint,
    AddObject,
    CloseLoop,
    Connect,
    SetClosure,
    SetValue,
)
_JOINTS: tuple[type[Joint], ...] = (
    BallJoint,
    ContinuousJoint,
    CylindricalJoint,
    DifferentialDrive,
    ExpressionJoint,
    FixedJoint,
    FloatingJoint,
    OmniBase,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    UniversalJoint,
)
_FORMS: dict[str, type[Any]] = {
    "box": BoxForm,
    "capsule": CapsuleForm,
    "cylinder": CylinderForm,
    "mesh": MeshForm,
    "other": OtherForm,
    "sphere": SphereForm,
}


def encoded(steps: Sequence[tuple[str, Operation]]) -> bytes:
    """Encode tags and operations as the bytes of a file."""
    own = {type(operation) for _, operation in steps}.difference(_OPERATIONS)
    codecs = _codecs(own | _joints_of(operation for _, operation in steps))
    named = {kind.kind: kind for kind in (*(type(operation) for _, operation in steps), *_OPERATIONS)}
    encoded_steps = [_encoded_step(tag, operation, codecs, named) for tag, operation in steps]
    whole = {"format": FORMAT, "version": VERSION, "sha256": _checksum(encoded_steps), "operations": encoded_steps}
    return json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()


def decoded(data: bytes, kinds: Iterable[type[Any]], file: str) -> list[tuple[str, Operation]]:
    """Decode the tags and operations of a file; `kinds` are operations and joints of the user that it may name."""
    try:
        return _decoded(parse_json(data, file, InvalidModelFile), tuple(kinds))
    except RecursionError:
        raise InvalidModelFile(file, "", "it is nested too deep") from None


def digest(data: bytes) -> str:
    """Return the checksum of the operations alone."""
    return str(json.loads(data)["sha256"])


def refused_replay(file: str, steps: Sequence[tuple[str, Operation]], error: BaseException) -> InvalidModelFile:
    """Make the error of operations that are well-formed and make no model; the `tag` of `error` names one of them."""
    tags = [tag for tag, _ in steps]
    blamed = getattr(error, "tag", None)
    place = f"operations[{tags.index(blamed)}]" if blamed in tags else "operations"
    return InvalidModelFile(file, place, f"this makes no model: {str(error).rstrip('.')}")


def _encoded_step(tag: str, operation: Operation, codecs: Codecs, named: dict[str, type[Operation]]) -> dict[str, Any]:
    kind = type(operation)
    if not kind.kind:
        raise UnsavableModel(tag, f"is a {kind.__name__}, which has no name in files", "Give its class a `kind`.")
    if named[kind.kind] is not kind:
        raise UnsavableModel(tag, f"has the name of another kind, '{kind.kind}'", "Give its class another `kind`.")
    try:
        members = codecs.fields_of(kind).encode(operation)
    except (TypeError, ValueError) as error:
        hint = "Annotate the fields of the operation with types that files know, and give it such values."
        raise UnsavableModel(tag, str(error).rstrip("."), hint) from error
    if members.keys() & {"tag", "kind"}:
        raise UnsavableModel(tag, "has a field called 'tag' or 'kind', as every operation in a file", "Rename it.")
    return {"tag": tag, "kind": kind.kind, **members}


def _decoded(top: Field, own: tuple[type[Any], ...]) -> list[tuple[str, Operation]]:
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", "sha256", "operations"))
    for kind in own:
        if not isinstance(kind, type) or not issubclass(kind, Operation | Joint):
            raise InvalidArgument(f"kinds= takes classes of operations and of joints, got {kind!r}.", kind)
    operations = {kind.kind: kind for kind in (*own, *_OPERATIONS) if issubclass(kind, Operation)}
    codecs = _codecs(set(own))
    steps = [_decoded_step(field, operations, codecs) for field in parts["operations"].items()]
    _check_tags(parts["operations"], steps)
    if _checksum(parts["operations"].value) != parts["sha256"].text():
        raise parts["sha256"].refused("the operations are not those that were saved")
    return steps


def _decoded_step(field: Field, known: dict[str, type[Operation]], codecs: Codecs) -> tuple[str, Operation]:
    members = field.mapping()
    for name in ("tag", "kind"):
        if name not in members:
            raise field.refused(f"'{name}' is missing")
    kind = known.get(members["kind"].text())
    if kind is None:
        raise members["kind"].refused(
            f"no such operation is known here. Those of your own are named to the loader, `kinds=[...]`; "
            f"known: {', '.join(sorted(known))}"
        )
    made: Operation = codecs.fields_of(kind).decode(field.without("tag", "kind"))
    return members["tag"].text(), made


def _check_tags(field: Field, steps: list[tuple[str, Operation]]) -> None:
    seen: set[str] = set()
    for i, (tag, _) in enumerate(steps):
        if tag in seen:
            raise field.at(i).at("tag").refused("this tag is taken by an operation before it")
        seen.add(tag)


def _codecs(own: set[type[Any]]) -> Codecs:
    """Return the codecs of the library's classes, and of the user's own operations and joints."""
    if not own:
        return _library_codecs()
    joints = {kind.kind: kind for kind in (*own, *_JOINTS) if issubclass(kind, Joint) and kind.kind}
    return Codecs({**_FORMS, **joints})


@cache
def _library_codecs() -> Codecs:
    """Return the codecs of the library's classes, complete from the start, so that threads only read them."""
    made = Codecs({**_FORMS, **{kind.kind: kind for kind in _JOINTS}})
    for kind in (*_OPERATIONS, *_JOINTS, *_FORMS.values()):
        made.fields_of(kind)
    return made


def _joints_of(operations: Iterable[Any]) -> set[type[Joint]]:
    values = [
        getattr(operation, own.name) for operation in operations if is_dataclass(operation) for own in fields(operation)
    ]
    return {type(value) for value in values if isinstance(value, Joint)} - set(_JOINTS)


def _checksum(operations: Any) -> str:
    return sha256(json.dumps(operations, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
