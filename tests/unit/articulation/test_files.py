"""Models in files: the same model comes back, and whatever is no model is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from armillary import Transform
from armillary.articulation import (
    AddJoint,
    ArticulationModel,
    BallJoint,
    Constraint,
    ContinuousJoint,
    CylindricalJoint,
    DifferentialDrive,
    ExpressionJoint,
    FixedJoint,
    FloatingJoint,
    OmniBase,
    Operation,
    PlanarJoint,
    PoseExpression,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    SetValue,
    UniversalJoint,
    cos,
    files,
    greater,
    less,
    logical_and,
    operation,
    pose,
    position,
    rotation_about,
    sin,
    stack,
    velocity,
)
from armillary.articulation.documents import digest_of
from armillary.articulation.files import _checksum
from armillary.articulation.joints import Joint
from armillary.errors import ArmillaryError, InvalidArgument, InvalidModelFile, UnsavableModel
from armillary.formats import Limits
from unit.articulation.model_kit import arm, door, moved

Q, P = position("q"), position("p")
SWING = pose(rotation_about((0.0, 0.0, 1.0), sin(Q) * P), (Q, 0.0, P))
JOINTS = [
    FixedJoint(parent_T_joint=moved(1.0, 2.0, 3.0, 0.4)),
    RevoluteJoint(variable="q", limits=Limits(lower=-math.inf, upper=1.0), multiplier=2.0),
    ContinuousJoint(variable="q", axis=(0.0, 0.6, 0.8)),
    PrismaticJoint(variable="q", joint_T_child=moved(x=0.1)),
    ScrewJoint(variable="q", pitch_m=0.01),
    PlanarJoint(variable="q"),
    CylindricalJoint(variable="q", slide_limits=Limits(velocity=1.0)),
    UniversalJoint(variable="q", second_axis=(0.0, 0.0, 1.0)),
    BallJoint(variable="q"),
    FloatingJoint(variable="q"),
    OmniBase(variable="q", speed_limit_m_s=1.0),
    DifferentialDrive(variable="q", wheel_radius_m=0.1, wheel_distance_m=0.4),
]
VALUES = [1, 2.5, True, "text", math.inf, -0.0, moved(1.0, 2.0, 3.0, 0.1), Q.velocity, (1, ("a", -math.inf)), JOINTS[1]]


@operation(reads=["{tap}/opening"], writes=["{tap}/flow"])
def flow(read, *, tap: str, gain: float = 2.0):
    return gain * read(f"{tap}/opening")


@dataclass(frozen=True)
class Sag(Operation):
    """An operation of somebody's own."""

    kind: ClassVar[str] = "sag"

    links: tuple[str, ...]
    by: Transform
    stiffness: float | None = None

    @property
    def writes(self) -> Sequence[str]:
        return [f"{link}/sag" for link in self.links]

    def run(self, read) -> Mapping[str, Any]:
        return dict.fromkeys(self.writes, self.stiffness or 0.0)


@dataclass(frozen=True, kw_only=True)
class Wobbling(Joint):
    """A joint of somebody's own."""

    kind: ClassVar[str] = "wobbling"

    variable: str

    @property
    def variables(self):
        return (position(self.variable),)

    @property
    def motion(self) -> PoseExpression:
        return pose(rotation_about((1.0, 0.0, 0.0), sin(self.variables[0])), (0.0, 0.0, 0.0))


def again(model: ArticulationModel, **more) -> ArticulationModel:
    return ArticulationModel.from_bytes(model.to_bytes(), **more)


def with_value(value) -> ArticulationModel:
    model = ArticulationModel()
    model.apply(SetValue("value", value), tag="value")
    return model


class TestAModelFromAFile:
    @pytest.mark.parametrize("model", [door(), arm(), ArticulationModel()], ids=["door", "arm", "empty"])
    def test_is_the_model_that_was_saved(self, model, tmp_path):
        model.save(tmp_path / "model.json")
        loaded = ArticulationModel.load(tmp_path / "model.json")
        assert loaded.tags == model.tags
        assert [loaded.operation(tag) for tag in loaded.tags] == [model.operation(tag) for tag in model.tags]
        assert loaded.values() == model.values()
        assert loaded.digest() == model.digest()

    @pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: joint.kind)
    def test_has_the_same_joints(self, joint):
        model = ArticulationModel()
        model.apply(AddJoint(path="j", joint=joint), tag="j")
        assert again(model).value("j") == joint

    @pytest.mark.parametrize("value", VALUES, ids=repr)
    def test_has_the_same_values(self, value):
        found = again(with_value(value)).value("value")
        assert (type(found), repr(found)) == (type(value), repr(value))
        assert found == value

    def test_can_be_edited_and_starts_without_a_past(self):
        loaded = again(door())
        loaded.apply(SetValue("x", 1.0), tag="x")
        loaded.undo()
        with pytest.raises(ArmillaryError):
            loaded.undo()

    def test_has_the_users_own_operations_if_they_are_named(self):
        model = ArticulationModel()
        model.apply(SetValue("sink/opening", 0.5), tag="opening")
        model.apply(flow(tap="sink"), tag="flow")
        model.apply(Sag(("a", "b"), moved(z=-0.1), 3.0), tag="sag")
        model.apply(AddJoint(path="j", joint=Wobbling(variable="w")), tag="wobbling")
        loaded = again(model, kinds=[flow, Sag, Wobbling])
        assert (loaded.value("sink/flow"), loaded.value("b/sag")) == (1.0, 3.0)
        assert loaded.value("j") == Wobbling(variable="w")
        with pytest.raises(InvalidModelFile, match="kinds="):
            again(model, kinds=[Sag, Wobbling])

    def test_has_joints_in_any_order(self):
        @operation(writes=["j", "k"])
        def both(read, *, plain: RevoluteJoint, other: Joint):
            return {"j": plain, "k": other}

        model = ArticulationModel()
        model.apply(both(plain=ContinuousJoint(variable="q"), other=Wobbling(variable="w")), tag="both")
        loaded = again(model, kinds=[both, Wobbling])
        assert (loaded.value("j"), loaded.value("k")) == (ContinuousJoint(variable="q"), Wobbling(variable="w"))

    def test_needs_the_list_of_classes(self):
        with pytest.raises(InvalidArgument, match="classes of operations"):
            again(door(), kinds=["Sag"])

    def test_replaces_another_file_whole(self, tmp_path):
        path = tmp_path / "model.json"
        door().save(path)
        arm().save(path)
        assert ArticulationModel.load(path).tags == arm().tags
        assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


class TestExpressionsFromAFile:
    VALUES: ClassVar = {Q: 0.3, P: -0.7, Q.velocity: 1.1}

    @pytest.mark.parametrize(
        "expression",
        [
            2.0 * sin(Q) + P**2,
            Q.expression,
            Q.velocity * 3.0,
            cos(0.5 * Q) - Q.expression * 0.0,
            SWING,
            stack([Q, P, 1.0]),
        ],
        ids=str,
    )
    def test_have_the_same_value_and_gradient(self, expression):
        found = again(with_value(expression)).value("value")
        assert type(found) is type(expression)
        assert found.free_variables == expression.free_variables
        assert_same(found, expression, self.VALUES)

    def test_keep_gradients_that_are_no_derivative(self):
        wheel = velocity("wheel")
        heading = Q.expression.with_gradient({wheel: 0.5})
        here = P.expression.with_gradient({wheel: 2.0 * cos(heading)})
        both = logical_and(less(here, 0.4), greater(heading, 0.1)) * sin(heading)
        found = again(with_value(both)).value("value")
        assert_same(found, both, {**self.VALUES, wheel: 2.0})
        assert_same(found.velocity(), both.velocity(), {**self.VALUES, wheel: 2.0, P.velocity: 0.1})
        second, expected = found.velocity().velocity(), both.velocity().velocity()
        values = {variable: 0.1 * i for i, variable in enumerate(sorted(expected.free_variables, key=repr))}
        assert second.evaluate(values) == pytest.approx(expected.evaluate(values), rel=1e-12)

    def test_are_the_same_in_joints_and_constraints(self):
        model = with_value(Constraint(-math.inf, Q, sin(P)))
        model.apply(AddJoint(path="j", joint=ExpressionJoint(expression=SWING)), tag="j")
        model.apply(SetValue("l", 0.0), tag="l")
        found = again(model)
        assert found.value("value").is_same(model.value("value"))
        assert found.value("j").expression.is_same(SWING)
        assert found.digest() == again(found).digest()


def assert_same(found, expected, values) -> None:
    known = {variable: number for variable, number in values.items() if variable in expected.free_variables}
    np.testing.assert_array_equal(as_array(found.evaluate(known)), as_array(expected.evaluate(known)))
    here, there = found.gradient(), expected.gradient()
    assert here.keys() == there.keys()
    for along, entry in there.items():
        mine = {v: number for v, number in values.items() if v in entry.free_variables}
        np.testing.assert_allclose(as_array(here[along].evaluate(mine)), as_array(entry.evaluate(mine)), rtol=1e-12)


def as_array(value) -> np.ndarray:
    return np.asarray(value.matrix if isinstance(value, Transform) else value)


class TestWhatCannotBeSaved:
    def test_is_a_value_without_a_form(self):
        with pytest.raises(UnsavableModel, match="frozenset, which has no name in files"):
            with_value(frozenset()).to_bytes()

    def test_is_a_number_that_is_none(self):
        with pytest.raises(UnsavableModel, match="NaN"):
            with_value(math.nan).to_bytes()

    def test_is_an_operation_without_a_name(self):
        class Nameless(Sag):
            kind: ClassVar[str] = ""

        model = ArticulationModel()
        model.apply(Nameless(("a",), moved()), tag="x")
        with pytest.raises(UnsavableModel, match="Give its class a `kind`"):
            model.to_bytes()

    def test_is_an_operation_with_the_name_of_another(self):
        class Impostor(Sag):
            kind: ClassVar[str] = "connect"

        model = ArticulationModel()
        model.apply(Impostor(("a",), moved()), tag="x")
        with pytest.raises(UnsavableModel, match="another `kind`"):
            model.to_bytes()

    @pytest.mark.parametrize("wrong", [{"tap": 3}, {"tap": "sink", "gain": "much"}, {"tap": "sink", "gain": True}])
    def test_is_another_type_than_is_annotated(self, wrong):
        steps = [("flow", flow(**wrong))]
        with pytest.raises(UnsavableModel, match="is expected"):
            files.encoded(steps)

    def test_is_two_kinds_of_one_name(self):
        @operation(writes=["x"], kind="sag")
        def other(read):
            return 1.0

        model = ArticulationModel()
        model.apply(Sag(("a",), moved()), tag="one")
        model.apply(other(), tag="two")
        with pytest.raises(UnsavableModel, match="another `kind`"):
            model.to_bytes()

    def test_is_a_field_that_files_need(self):
        @operation(writes=["x"])
        def tagged(read, *, tag: str):
            return tag

        model = ArticulationModel()
        model.apply(tagged(tag="y"), tag="x")
        with pytest.raises(UnsavableModel, match="Rename it"):
            model.to_bytes()

    def test_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "model.json"
        door().save(path)
        before = path.read_bytes()
        with pytest.raises(UnsavableModel):
            with_value(math.nan).save(path)
        assert path.read_bytes() == before


def document_of(model: ArticulationModel) -> dict:
    return json.loads(model.to_bytes())


def _set(path: str, value):
    def change(whole: dict) -> None:
        *way, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
        place = whole
        for step in way:
            place = place[step]
        place[last] = value

    return change


WRONG = {
    "another format": (_set("format", "armillary.scene"), "format", "'armillary.model' is expected"),
    "another version": (_set("version", 2), "version", "version 1"),
    "another checksum": (_set("sha256", "0" * 64), "sha256", "not those that were saved"),
    "operations that are no list": (_set("operations", {}), "operations", "a list is expected"),
    "an unknown operation": (_set("operations.1.kind", "os.system"), "operations[1].kind", "no such operation"),
    "a class in place of a kind": (
        _set("operations.1.kind", "armillary.articulation.AddLink"),
        "operations[1].kind",
        "no such operation",
    ),
    "an unknown joint": (_set("operations.5.joint.type", "magic"), "operations[5].joint.type", "one of ball"),
    "an unknown key": (_set("operations.1.colour", "red"), "operations[1].colour", "no such key"),
    "an axis of two": (_set("operations.5.joint.axis", [1.0, 0.0]), "operations[5].joint.axis", "3 entries"),
    "an axis of texts": (_set("operations.5.joint.axis.0", "x"), "operations[5].joint.axis[0]", "a number"),
    "an axis of zeros": (_set("operations.5.joint.axis", [0, 0, 0]), "operations[5].joint", "direction"),
    "a turn that is none": (
        _set("operations.5.joint.parent_T_joint", [0, 0, 0, 2, 0, 0, 0]),
        "operations[5].joint.parent_T_joint",
        "unit quaternion",
    ),
    "an infinite place": (
        _set("operations.5.joint.parent_T_joint.0", math.inf),
        "operations[5].joint.parent_T_joint[0]",
        "finite",
    ),
    "a path that is none": (_set("operations.1.path", "a//b"), "operations", "makes no model: The path 'a//b'"),
    "a tag twice": (_set("operations.1.tag", "create door"), "operations[1].tag", "taken"),
    "a tag that is no text": (_set("operations.1.tag", 3), "operations[1].tag", "a text"),
    "a read that nothing writes": (
        _set("operations.9.parent", "door/links/nowhere"),
        "operations[9]",
        "makes no model",
    ),
}


class TestAFileThatIsNoModel:
    @pytest.mark.parametrize(("change", "field", "says"), WRONG.values(), ids=WRONG)
    def test_is_refused_with_the_place_of_what_is_wrong(self, change, field, says):
        whole = document_of(door())
        change(whole)
        if "makes no model" in says:
            whole["sha256"] = _checksum(whole["operations"])
        with pytest.raises(InvalidModelFile, match=says) as caught:
            ArticulationModel.from_bytes(json.dumps(whole).encode(), file="door.json")
        assert (caught.value.field, caught.value.path) == (field, "door.json")

    @pytest.mark.parametrize(
        "data", [b"", b"{", b"null", b"[]", b"\xff", b"[" * 100_000, b'{"format": 1, "format": 2}']
    )
    def test_is_refused_where_it_is_no_json_either(self, data):
        with pytest.raises(InvalidModelFile):
            ArticulationModel.from_bytes(data)

    def test_is_refused_where_it_is_nested_without_end(self):
        value: object = 1
        for _ in range(400):
            value = {"type": "tuple", "items": [value]}
        whole = document_of(with_value(1))
        whole["operations"][0]["value"] = value
        with pytest.raises(InvalidModelFile):
            ArticulationModel.from_bytes(json.dumps(whole).encode())

    def test_is_refused_where_it_is_too_large(self, tmp_path):
        door().save(tmp_path / "door.json")
        with pytest.raises(InvalidModelFile, match="max_bytes"):
            ArticulationModel.load(tmp_path / "door.json", max_bytes=100)


WRONG_EXPRESSIONS = {
    "something changed": (lambda e: e.update(inputs=[["p", 0]]), "digest", "checksum"),
    "a tape cut short": (lambda e: _again(e, tape=e["tape"][:-8]), "tape", "cut|tape|short"),
    "an input that is none": (lambda e: _again(e, inputs=[["", 0]]), "inputs[0]", "empty"),
    "another kind": (lambda e: _again(e, kind="VectorExpression"), "kind", "a Expression is expected"),
}


def _again(document: dict, **changes) -> None:
    document.update(changes)
    document["digest"] = digest_of(document)


class TestAnExpressionThatIsNone:
    @pytest.mark.parametrize(("change", "field", "says"), WRONG_EXPRESSIONS.values(), ids=WRONG_EXPRESSIONS)
    def test_is_refused_with_its_place(self, change, field, says):
        whole = document_of(with_value(sin(Q)))
        change(whole["operations"][0]["value"]["value"])
        with pytest.raises(InvalidModelFile, match=says) as caught:
            ArticulationModel.from_bytes(json.dumps(whole).encode())
        assert caught.value.field == f"operations[0].value.value.{field}"
