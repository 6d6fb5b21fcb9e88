"""Every error of models and their histories: raised by a real call, with its evidence, and with the hint."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from armillary import World, errors
from armillary.articulation import (
    AddJoint,
    AddLink,
    ArticulationModel,
    Connect,
    FixedJoint,
    SetValue,
    operation,
)
from armillary.errors import ArmillaryError
from unit.articulation.model_kit import door
from unit.errors.kinds import MODELS


@operation(writes=["x"])
def sly_reader(read):
    return read("door")


@operation(writes=["x", "y"])
def sly_writer(read):
    return {"x": 1.0, "z": 2.0}


@operation(writes=["x"])
def broken(read):
    raise ZeroDivisionError("nothing is left.")


@dataclass(frozen=True)
class Case:
    """One real call that is refused: its evidence, and the hint it offers."""

    kind: type[ArmillaryError]
    call: Callable[[ArticulationModel], object]
    hint: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def error(self) -> ArmillaryError:
        with pytest.raises(self.kind) as caught:
            self.call(door())
        return caught.value


CASES = [
    Case(errors.InvalidPath, lambda m: m.value("a//b"), "one '/'", {"value": "a//b"}),
    Case(errors.InvalidOperation, lambda m: m.apply(3, tag="x"), "derived from Operation", {"value": 3}),
    Case(
        errors.UnknownPath,
        lambda m: m.value("door/links/panl"),
        "Did you mean 'door/links/panel'?",
        {"path": "door/links/panl"},
    ),
    Case(
        errors.WrongValue,
        lambda m: m.pose("door/joints/hinge"),
        "model.value('door/joints/hinge')",
        {"path": "door/joints/hinge", "wanted": "Link", "found": "RevoluteJoint"},
    ),
    Case(
        errors.CannotDescribe,
        lambda m: (m.apply(SetValue("door/lock", 2.0), tag="lock"), m.description()),
        "Remove these from a copy",
        {"robot": "door", "missing": ("'door/lock' is neither a link nor a joint (float)",)},
    ),
    Case(errors.UnknownTag, lambda m: m.remove("create dor"), "Did you mean 'create door'?", {"tag": "create dor"}),
    Case(
        errors.TagTaken,
        lambda m: m.insert_after("create door", SetValue("x", 1.0), tag="create door"),
        "model.apply(operation, tag='create door')",
        {"tag": "create door"},
    ),
    Case(
        errors.MissingRead,
        lambda m: m.insert_before("create door", Connect(child="door/links/bolt"), tag="early"),
        "Insert it after 'create door/links/bolt'",
        {"tag": "early", "path": "door/links/bolt", "writer": "create door/links/bolt"},
    ),
    Case(errors.UndeclaredRead, lambda m: m.apply(sly_reader(), tag="x"), "Declare it", {"tag": "x", "path": "door"}),
    Case(
        errors.UndeclaredWrite,
        lambda m: m.apply(sly_writer(), tag="x"),
        "a value for each of its writes",
        {"missing": ("y",), "strange": ("z",)},
    ),
    Case(errors.OperationFailed, lambda m: m.apply(broken(), tag="x"), "mend it", {"tag": "x"}),
    Case(
        errors.LinkLoop,
        lambda m: m.apply(Connect(child="door/links/frame", parent="door/links/bolt"), tag="x"),
        "leave one of these connections out",
        {"path": ("door/links/frame", "door/links/bolt", "door/links/panel", "door/links/frame")},
    ),
    Case(
        errors.InvalidModelFile,
        lambda m: ArticulationModel.from_bytes(b"{}"),
        "save it again",
        {"path": "the given bytes", "field": ""},
    ),
    Case(errors.UndoneAtModel, lambda m: _edited_in_a_world(m).undo(), "mount.model.undo()", {"under": "door"}),
    Case(errors.MountOutdated, lambda m: _taken_down(m).redo(), "world.mount", {"under": "door"}),
    Case(errors.UnsavableModel, lambda m: _with_a_stranger(m).to_bytes(), "Annotate", {"tag": "x"}),
]


def _edited_in_a_world(model: ArticulationModel) -> World:
    world = World()
    world.mount(model, under="door", in_frame="map")
    model.apply(AddLink(path="door/links/bell"), tag="bell")
    return world


def _taken_down(model: ArticulationModel) -> World:
    world = World()
    world.mount(model, under="door", in_frame="map")
    world.undo()
    model.apply(AddLink(path="door/links/bell"), tag="bell")
    return world


def _with_a_stranger(model: ArticulationModel) -> ArticulationModel:
    model.apply(SetValue("x", frozenset()), tag="x")
    return model


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind.__name__)
class TestEveryErrorOfAModel:
    def test_says_what_to_do(self, case):
        assert case.hint in str(case.error())

    def test_carries_its_evidence(self, case):
        error = case.error()
        assert {name: getattr(error, name) for name in case.evidence} == case.evidence

    def test_is_one_of_the_tree_and_of_the_language(self, case):
        standard = {kind for kind in vars(builtins).values() if inspect.isclass(kind)} - {
            Exception,
            BaseException,
            object,
        }
        assert issubclass(case.kind, ArmillaryError)
        assert set(case.kind.__mro__) & standard

    def test_travels(self, case):
        error = case.error()
        for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (type(twin), str(twin)) == (type(error), str(error))


class TestTheListOfErrors:
    def test_is_complete(self):
        assert {case.kind for case in CASES} == MODELS


class TestHelp:
    def test_says_what_is_there_where_nothing_is_near(self):
        with pytest.raises(errors.UnknownTag, match="Known: create door, create door/links/frame"):
            door().remove("xyz")
        with pytest.raises(errors.UnknownTag, match="Nothing was applied yet"):
            ArticulationModel().remove("xyz")
        with pytest.raises(errors.UnknownPath, match="The model is empty"):
            ArticulationModel().value("xyz")

    def test_names_the_place_of_a_missing_read_once_it_is_in_the_model(self):
        model = ArticulationModel()
        model.apply(AddLink(path="a"), tag="a")
        model.apply(AddJoint(path="j", joint=FixedJoint()), tag="j")
        with pytest.raises(errors.MissingRead, match="Apply what writes 'b' first"):
            model.apply(Connect(child="a", joint="j", parent="b"), tag="c")
