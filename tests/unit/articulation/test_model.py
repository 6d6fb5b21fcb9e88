"""Models: values by path, poses, constraints, what moves what, and subscriptions."""

from __future__ import annotations

import math
import re
import threading
from itertools import pairwise

import numpy as np
import pytest

from armillary.articulation import Constraint, greater, less, logical_or, position, sin
from armillary.articulation.history import Apply
from armillary.articulation.joints import FixedJoint, PrismaticJoint, RevoluteJoint
from armillary.articulation.model import ArticulationModel
from armillary.articulation.operations import AddJoint, AddMimicJoint, Connect, SetValue, operation
from armillary.errors import (
    InvalidArgument,
    InvalidPath,
    LinkLoop,
    MissingRead,
    OperationFailed,
    TagTaken,
    UnknownPath,
    WrongValue,
)
from unit.articulation.model_kit import DOOR_URDF, add_link, arm, arm_tip, door, moved

HINGE, LATCH = position("door/hinge"), position("door/latch")
CLOSE_M = 1e-12
WAIT_S = 20.0
SDF = """<sdf version="1.9">
  <model name="lamp">
    <link name="foot"/><link name="head"><pose>0 0 1 0 0 0</pose></link>
    <joint name="neck" type="ball"><parent>foot</parent><child>head</child></joint>
  </model>
  <model name="box"><link name="all"/></model>
</sdf>"""


class TestReadingAModel:
    def test_a_model_says_how_large_it_is(self):
        assert repr(door()) == "ArticulationModel(4 links, 2 variables, made by 11 operations)"

    def test_lists_its_paths(self):
        assert door().paths("door/joints") == ("door/joints/hinge", "door/joints/latch", "door/joints/push")
        assert door().paths("door")[0] == "door"
        assert door().paths("doo") == ()

    def test_gives_what_is_there(self):
        model = door()
        assert model.value("door").root == "door/links/frame"
        assert model.value("door/links/panel").parent == "door/links/frame"
        assert set(model.joints()) == {"door/joints/hinge", "door/joints/latch", "door/joints/push"}
        assert len(model.links("door")) == 4

    def test_goes_on_into_a_value(self):
        model = door()
        assert model.value("door/joints/hinge/position").free_variables == {HINGE}
        assert model.value("door/joints/hinge/constraints/velocity").free_variables == {HINGE.velocity}
        assert model.value("door/links/panel/visuals/0").form.size_m == (0.8, 0.02, 2.0)
        assert model.value("door/links/panel/parent_T_link").free_variables == {HINGE}

    @pytest.mark.parametrize(
        "path", ["dor", "door/joints/hing", "door/links/panel/visuals/1", "door/joints/hinge/__class__"]
    )
    def test_refuses_what_is_not_there(self, path):
        with pytest.raises(UnknownPath, match="holds nothing"):
            door().value(path)

    def test_helps_with_typing(self):
        with pytest.raises(UnknownPath, match="Did you mean 'door/joints/hinge'"):
            door().value("door/joints/hing")
        with pytest.raises(InvalidPath, match="one '/'"):
            door().value("door//joints")
        with pytest.raises(WrongValue, match="holds a RevoluteJoint"):
            door().pose("door/joints/hinge")

    def test_names_its_variables(self):
        assert door().variables() == (HINGE, LATCH)


class TestPoses:
    def test_are_products_of_those_below(self):
        one, two, three = (position(f"arm/{name}") for name in ("one", "two", "three"))
        tip = arm().pose("arm/links/tip")
        assert tip.free_variables == {one, two, three}
        found = tip.evaluate({one: 0.3, two: -0.7, three: 0.2}).translation
        np.testing.assert_allclose(found, arm_tip(0.3, -0.7, 0.2), atol=CLOSE_M)

    def test_are_kept_until_something_changes(self):
        model = arm()
        tip, base = model.pose("arm/links/tip"), model.pose("arm/links/base")
        assert model.pose("arm/links/tip") is tip
        model.apply(AddJoint(path="arm/links/lower_joint", joint=FixedJoint()), tag="create arm/links/lower_joint")
        assert model.pose("arm/links/tip").free_variables == {position("arm/one"), position("arm/three")}
        assert model.pose("arm/links/base") is base
        model.undo()
        assert model.pose("arm/links/tip").free_variables == tip.free_variables

    def test_may_be_asked_in_another_link(self):
        model = arm()
        between = model.pose("arm/links/tip", in_frame="arm/links/upper")
        assert between.free_variables == {position("arm/two"), position("arm/three")}
        values = {position("arm/two"): 0.4, position("arm/three"): 0.1}
        back = model.pose("arm/links/upper", in_frame="arm/links/tip").evaluate(values)
        assert (between.evaluate(values) @ back).is_close(moved())
        assert model.pose("arm/links/tip", in_frame="arm/links/tip").evaluate({}).is_close(moved())

    def test_reach_operations_that_read_them(self):
        @operation(reads=["arm/links/tip"], writes=["arm/height"])
        def height(read):
            return read.pose("arm/links/tip").translation[2]

        model = arm()
        model.apply(height(), tag="height")
        assert model.value("arm/height").value() == 1.0
        raised = AddJoint(path="arm/links/base_joint", joint=FixedJoint(parent_T_joint=moved(z=2.0)))
        assert "height" in model.apply(raised, tag="create arm/links/base_joint").ran
        assert model.value("arm/height").value() == 2.0

    def test_cannot_be_of_links_that_carry_each_other(self):
        model = arm()
        before = model.values()
        with pytest.raises(LinkLoop, match="arm/links/base on arm/links/tip"):
            model.apply(Connect(child="arm/links/base", parent="arm/links/tip"), tag="loop")
        assert model.values() == before

    def test_need_links_all_the_way(self):
        with pytest.raises(WrongValue, match="to carry 'arm/links/upper'"):
            arm().apply(SetValue("arm/links/base", 3.0), tag="base")


class TestConstraints:
    def test_are_found_by_their_variables(self):
        model = door()
        assert set(model.constraints({HINGE})) == {
            "door/joints/hinge/constraints/position",
            "door/joints/hinge/constraints/soft_position",
        }
        assert set(model.constraints({HINGE.velocity})) == {"door/joints/hinge/constraints/velocity"}
        assert set(model.constraints({LATCH})) == {
            "door/joints/latch/constraints/position",
            "door/joints/push/constraints/position",
        }
        assert len(model.constraints()) == 7

    def test_are_found_by_the_variables_of_their_bounds(self):
        model = door()
        lock = Constraint(-math.inf, 1e9 * logical_or(greater(HINGE, 0.1), less(0.5, LATCH)), HINGE.velocity)
        model.apply(SetValue("door/lock", lock), tag="lock")
        assert "door/lock" in model.constraints({LATCH})
        assert "door/lock" in model.constraints({HINGE.velocity})

    @pytest.mark.parametrize(
        ("hinge", "latch", "broken"),
        [
            (0.5, 0.1, set()),
            (1.45, 0.1, {"door/joints/hinge/constraints/soft_position"}),
            (1.6, 0.1, {"door/joints/hinge/constraints/soft_position", "door/joints/hinge/constraints/position"}),
            (0.5, 0.9, {"door/joints/latch/constraints/position"}),
        ],
    )
    def test_judge_a_configuration(self, hinge, latch, broken):
        values = {HINGE: hinge, LATCH: latch}
        assert set(door().violations(values)) == broken
        assert door().is_valid(values) is not bool(broken)

    def test_that_are_not_grounded_judge_nothing(self):
        assert door().is_valid({})
        assert door().is_valid({LATCH: 0.1})
        assert not door().is_valid({LATCH: 10.0})

    def test_judge_their_bounds_against_each_other(self):
        q = position("q")
        assert not Constraint(1.0, 0.0, q).is_kept({})
        assert Constraint(q, 0.0, position("p")).is_kept({})
        assert not Constraint(q, 0.0, position("p")).is_kept({q: 0.1})
        assert Constraint(0.5, 0.5, q).is_kept({q: 0.5})

    def test_of_positions_become_constraints_of_velocities(self):
        a = position("a")
        made = Constraint(-0.1, 0.1, a).velocity_form(0.5)
        values = {a: 0.05, a.velocity: 0.0}
        assert made.lower.evaluate(values) == pytest.approx((-0.1 - 0.05) / 0.5)
        assert made.upper.evaluate(values) == pytest.approx((0.1 - 0.05) / 0.5)
        assert made.expression.free_variables == {a.velocity}

    def test_of_velocities_stay_as_they_are(self):
        a = position("a")
        limit = Constraint(-4.0, 4.0, a.velocity)
        assert limit.velocity_form(0.1) is limit

    def test_without_a_bound_stay_without(self):
        made = Constraint(-math.inf, 1.0, sin(position("a"))).velocity_form(0.1)
        assert float(made.lower) == -math.inf

    def test_need_a_step_of_time(self):
        with pytest.raises(InvalidArgument, match="positive number of seconds"):
            Constraint(0.0, 1.0, position("a")).velocity_form(0.0)

    def test_are_never_of_what_is_no_number(self):
        with pytest.raises(InvalidArgument, match="NaN"):
            Constraint(math.nan, 1.0, position("a"))


class TestWhatVariablesMove:
    def test_is_all_that_they_move(self):
        found = door().affected_by({HINGE})
        assert set(found.links) == {"door/links/panel", "door/links/handle", "door/links/bolt"}
        assert set(found.geometry) == {"door/links/panel/visuals/0", "door/links/handle/collisions/0"}

    def test_is_what_follows_them(self):
        assert set(door().affected_by({LATCH}).links) == {"door/links/handle", "door/links/bolt"}

    def test_is_other_expressions_too(self):
        model = door()
        model.apply(SetValue("door/draught", 3.0 * sin(HINGE)), tag="draught")
        assert model.affected_by({HINGE}).expressions == ("door/draught",)
        assert model.affected_by({HINGE.velocity}).expressions == ("door/draught",)
        assert model.affected_by({LATCH}).expressions == ()

    def test_is_asked_by_name_as_well(self):
        model = door()
        assert model.affected_by(["door/latch"]) == model.affected_by({LATCH})
        assert model.affected_by("door/latch'") == model.affected_by({LATCH.velocity})
        assert model.constraints(["door/hinge'"]).keys() == model.constraints({HINGE.velocity}).keys()
        assert list(model.violations({"door/hinge": 2.0})) == list(model.violations({HINGE: 2.0})) != []
        assert not model.is_valid({"door/hinge": 2.0})

    def test_is_nothing_for_what_nobody_knows(self):
        found = door().affected_by({position("window")})
        assert (found.links, found.geometry, found.expressions) == ((), (), ())

    def test_is_asked_with_variables(self):
        with pytest.raises(InvalidArgument, match="position\\(name\\)"):
            door().affected_by({3})


class TestEditingAModel:
    def test_inserts_a_base(self):
        model = door()
        model.insert_after(
            "create door/links/frame",
            AddJoint(path="door/joints/base", joint=FixedJoint(parent_T_joint=moved(x=5.0))),
            tag="create door/joints/base",
        )
        model.insert_after(
            "create door/joints/base",
            Connect(child="door/links/frame", joint="door/joints/base"),
            tag="connect world door/links/frame",
        )
        assert model.pose("door/links/panel").evaluate({HINGE: 0.0}).translation[0] == pytest.approx(5.1)

    def test_touches_nothing_beside(self):
        model = door()
        model.load_urdf(_renamed("cupboard"))
        wider = RevoluteJoint(variable="door/latch", axis=(0.0, 1.0, 0.0))
        change = model.apply(AddJoint(path="door/joints/latch", joint=wider), tag="create door/joints/latch")
        assert set(change.ran) == {
            "create door/joints/latch",
            "create door/joints/push",
            "connect door/links/panel door/links/handle",
        }

    def test_takes_a_robot_whole_and_away_again(self):
        model = ArticulationModel()
        model.load_urdf(_renamed("cupboard"))
        assert model.tags[0] == "create cupboard"
        model.undo()
        assert (model.tags, model.paths()) == ((), ())

    def test_takes_every_model_of_an_sdf_file(self):
        model = ArticulationModel()
        lamp, box = model.load_sdf(SDF)
        assert (lamp.root, box.name) == ("lamp/links/foot", "box")
        assert set(model.pose("lamp/links/head").free_variables) == set(model.value("lamp/joints/neck").variables)
        model.undo()
        assert model.paths() == ()

    def test_takes_a_thing_away_by_what_writes_it(self):
        model = door()
        model.load_urdf(_renamed("cupboard"))
        model.remove(*model.tags_of("door"))
        assert model.tags == model.tags_of("cupboard")
        assert model.paths("door") == ()

    def test_refuses_a_second_thing_of_the_same_name(self):
        with pytest.raises(TagTaken, match="create door"):
            door().load_urdf(_renamed("door"))

    def test_refuses_to_take_away_what_others_need(self):
        with pytest.raises(MissingRead, match="take 'connect door/links/panel door/links/handle' out"):
            door().remove("create door/links/handle")

    def test_refuses_to_connect_what_is_no_joint(self):
        with pytest.raises(OperationFailed, match="holds a Link"):
            door().apply(Connect(child="door/links/bolt", joint="door/links/panel"), tag="no")

    def test_refuses_to_follow_what_has_no_position(self):
        model = arm()
        follower = PrismaticJoint(variable="arm/follower")
        made = AddMimicJoint(path="arm/follower", joint=follower, leader="arm/links/base_joint")
        with pytest.raises(OperationFailed, match="joint with one variable"):
            model.apply(made, tag="follower")


def _renamed(name: str) -> str:
    return DOOR_URDF.replace('robot name="door"', f'robot name="{name}"')


class TestBeingTold:
    def test_of_paths(self):
        model, notified = door(), []
        model.on_path(notified.append, "door/links/handle")
        model.apply(SetValue("other", 1.0), tag="other")
        assert notified == []
        handle = AddJoint(path="door/joints/latch", joint=FixedJoint())
        model.edit([Apply("create door/joints/push", AddJoint(path="door/joints/push", joint=FixedJoint()))])
        assert notified == []
        model.apply(handle, tag="create door/joints/latch")
        assert notified[0].paths == {"door/joints/latch", "door/links/handle"}

    def test_of_constraints(self):
        model, notified = door(), []
        model.on_constraints(notified.append, {HINGE})
        model.apply(SetValue("limit", Constraint(0.0, 1.0, LATCH)), tag="limit")
        assert notified == []
        model.apply(SetValue("limit", Constraint(0.0, HINGE, LATCH)), tag="limit")
        model.apply(SetValue("limit", Constraint(0.0, 1.0, LATCH)), tag="limit")
        assert len(notified) == 2

    def test_of_tags(self):
        model, notified = door(), []
        model.on_tags(notified.append, re.compile("connect .*"))
        model.on_tags(notified.append, "exactly.")
        model.apply(SetValue("a", 1.0), tag="exactly!")
        assert notified == []
        model.apply(SetValue("a", 1.0), tag="exactly.")
        model.apply(Connect(child="door/links/bolt"), tag="connect bolt")
        assert [change.tags for change in notified] == [("exactly.",), ("connect bolt",)]

    def test_of_undo(self):
        model, notified = door(), []
        model.apply(SetValue("a", 1.0), tag="a")
        model.on_path(notified.append)
        model.undo()
        model.redo()
        assert [(dict(change.before), dict(change.after)) for change in notified] == [
            ({"a": 1.0}, {}),
            ({}, {"a": 1.0}),
        ]

    def test_ends_when_cancelled(self):
        model, notified = door(), []
        subscription = model.on_path(notified.append)
        assert subscription.cancel()
        assert not subscription.cancel()
        model.apply(SetValue("a", 1.0), tag="a")
        assert notified == []

    def test_reports_what_a_callback_raises_and_goes_on(self):
        errors, notified = [], []
        model = ArticulationModel(on_error=errors.append)

        def bad(change):
            raise KeyError("mine")

        model.on_path(bad)
        model.on_path(notified.append)
        model.apply(SetValue("a", 1.0), tag="a")
        assert isinstance(errors[0], KeyError)
        assert len(notified) == 1

    def test_may_edit_again(self):
        model = ArticulationModel()
        model.on_path(lambda change: model.apply(SetValue("b", 2.0), tag="b"), "a")
        model.apply(SetValue("a", 1.0), tag="a")
        assert model.paths() == ("a", "b")

    def test_comes_in_the_order_of_the_edits(self):
        model, notified = ArticulationModel(), []
        model.on_path(lambda change: model.apply(SetValue("b", 2.0), tag="b"), "a")
        model.on_path(lambda change: notified.extend(sorted(change.paths)))
        model.apply(SetValue("a", 1.0), tag="a")
        assert notified == ["a", "b"]

    def test_ends_at_once_when_another_callback_cancels_it(self):
        model, notified = ArticulationModel(), []
        model.on_path(lambda change: later.cancel())
        later = model.on_path(notified.append)
        model.apply(SetValue("a", 1.0), tag="a")
        assert notified == []

    def test_begins_with_the_next_edit(self):
        model, notified = ArticulationModel(), []
        model.on_path(lambda change: model.on_path(notified.append))
        model.apply(SetValue("a", 1.0), tag="a")
        assert notified == []

    def test_holds_no_lock(self):
        model, read = ArticulationModel(), []

        def ask_elsewhere(change):
            asking = threading.Thread(target=lambda: read.append(model.paths()))
            asking.start()
            asking.join(WAIT_S)

        model.on_path(ask_elsewhere)
        model.load_urdf(DOOR_URDF)
        assert [len(paths) for paths in read] == [8]


class TestThreads:
    def test_notify_in_the_order_of_the_edits(self):
        model, notified = ArticulationModel(), []
        model.on_path(lambda change: notified.append((change.before.get("a"), change.after["a"])))

        def count(start: int):
            for i in range(100):
                model.apply(SetValue("a", float(start + i)), tag="a")

        threads = [threading.Thread(target=count, args=(1000 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(notified) == 400
        assert all(before[1] == after[0] for before, after in pairwise(notified))

    def test_read_while_one_edits(self):
        model, stop, failures = arm(), threading.Event(), []

        def read():
            while not stop.is_set():
                try:
                    model.pose("arm/links/tip")
                    model.constraints()
                    model.paths()
                except Exception as error:  # noqa: BLE001
                    failures.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for i in range(50):
            add_link(model, f"arm/links/extra{i}", "arm/links/tip", FixedJoint())
            model.undo()
        stop.set()
        for reader in readers:
            reader.join()
        assert failures == []
