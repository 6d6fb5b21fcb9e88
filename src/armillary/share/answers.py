"""Answers to questions of processes that hold no copy of the world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armillary.errors import ArmillaryError, InvalidArgument, InvalidMessage
from armillary.share.values import decoded, encoded, error_entry
from armillary.wire.messages import pack, unpack

__all__ = ["QUESTIONS", "answer"]

_MOST_QUESTIONS = 100_000

QUESTIONS: dict[str, Callable[..., Any]] = {
    "pose": lambda world, **asked: world.pose(**asked),
    "twist": lambda world, **asked: world.twist(**asked),
    "can_pose": lambda world, **asked: world.can_pose(**asked),
    "transforms": lambda world, **asked: world.transforms(**asked),
    "map_points": lambda world, **asked: world.map_points(asked.pop("points"), **asked),
    "snapshot": lambda world, **asked: dict(world.snapshot(**asked)),
    "frames": lambda world: world.frames(),
    "relations": lambda world: world.relations(),
    "tree": lambda world, **asked: str(world.tree(**asked)),
    "joints": lambda world: world.joints(),
    "joint": lambda world, **asked: world.joint(asked.pop("name"), **asked),
    "diagnose": lambda world, **asked: str(world.diagnose(**asked)),
    "digest": lambda world: world.digest(),
    "now": lambda world: world.now(),
    "find": lambda world, **asked: world.scene.find(asked.pop("attributes"), **asked),
    "attributes": lambda world, **asked: dict(world.scene.attributes(asked["node"])),
    "children": lambda world, **asked: world.scene.children(asked["node"]),
    "parents": lambda world, **asked: world.scene.parents(asked["node"]),
    "frame": lambda world, **asked: world.scene.frame(asked["node"]),
}
"""What can be asked, and how a world answers it."""


def answer(world: Any, data: bytes) -> bytes:
    """Answer the questions of one message, each by itself: what fails is answered with its error."""
    header, arrays = unpack(data)
    questions = header.get("questions")
    if not isinstance(questions, list) or len(questions) > _MOST_QUESTIONS:
        raise InvalidMessage("it has no questions")
    given: list[Any] = []
    return pack({"answers": [_answer(world, one, arrays, given) for one in questions]}, given)


def _answer(world: Any, question: Any, arrays: list[Any], given: list[Any]) -> Any:
    if not isinstance(question, list) or len(question) != 2 or question[0] not in QUESTIONS:  # noqa: PLR2004
        error = InvalidArgument(f"A shared world does not answer {question!r:.80}. It answers {', '.join(QUESTIONS)}.")
        return {"error": error_entry(error, given)}
    try:
        asked = decoded(question[1], arrays)
        if not isinstance(asked, dict):
            raise InvalidMessage("a question has no arguments")
        return {"value": encoded(QUESTIONS[question[0]](world, **asked), given)}
    except ArmillaryError as error:
        return {"error": error_entry(error, given)}
    except (TypeError, KeyError, ValueError) as error:
        wrong = InvalidArgument(f"{question[0]} was asked with wrong arguments: {error}")
        return {"error": error_entry(wrong, given)}
