"""Random edits of mechanisms: a model is always what its operations give when they run one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

import strategies  # noqa: F401  (the profile)
from armillary import Transform
from armillary.articulation import (
    AddJoint,
    AddLink,
    AddMimicJoint,
    Apply,
    ArticulationModel,
    Connect,
    Constraint,
    FixedJoint,
    InsertAfter,
    InsertBefore,
    Operation,
    PrismaticJoint,
    RemoveOperation,
    RevoluteJoint,
    SetValue,
    position,
)
from armillary.errors import ArmillaryError

LINKS, JOINTS, TAGS = ([f"{kind}{i}" for i in range(count)] for kind, count in (("l", 4), ("j", 3), ("t", 9)))
Q = [position(f"q{i}") for i in range(3)]
VALUES = dict(zip(Q, (0.3, -0.7, 1.1), strict=True))
CLOSE = 1e-12


@dataclass(frozen=True)
class Height(Operation):
    """Reads where a link is: what carries it, it does not declare."""

    link: str
    to: str

    @property
    def reads(self):
        return [self.link]

    @property
    def writes(self):
        return [self.to]

    def run(self, read):
        return {self.to: read.pose(self.link).translation[2]}


tags, links, joints = st.sampled_from(TAGS), st.sampled_from(LINKS), st.sampled_from(JOINTS)
shifts = st.sampled_from([0.0, 0.5]).map(lambda z: Transform.from_xyz_rpy(xyz=(0.1, 0.0, z), rpy=(0.2, 0.0, 0.0)))
kinds = st.one_of(
    st.builds(FixedJoint, parent_T_joint=shifts),
    st.builds(RevoluteJoint, variable=st.sampled_from(["q0", "q1"]), parent_T_joint=shifts),
    st.builds(PrismaticJoint, variable=st.sampled_from(["q1", "q2"]), axis=st.just((0.0, 0.0, 1.0))),
)
operations = st.one_of(
    st.builds(AddLink, path=links),
    st.builds(AddJoint, path=joints, joint=kinds),
    st.builds(AddMimicJoint, path=joints, joint=st.just(PrismaticJoint(variable="x")), leader=joints),
    st.builds(Connect, child=links, joint=st.none() | joints, parent=st.none() | links),
    st.builds(Connect, child=links, joint=joints, parent=links),
    st.builds(Height, link=links, to=st.sampled_from(["h0", "h1"])),
    st.builds(SetValue, path=st.sampled_from(["h0", "c"]), value=st.sampled_from([1.0, Constraint(0.0, Q[0], Q[1])])),
)
edits = st.one_of(
    st.builds(Apply, tags, operations),
    st.builds(Apply, tags, operations),
    st.builds(InsertBefore, tags, operations, tags),
    st.builds(InsertAfter, tags, operations, tags),
    st.builds(RemoveOperation, tags),
)
programs = st.lists(st.lists(edits, min_size=1, max_size=3) | st.sampled_from(["undo", "redo"]), max_size=40)


def started() -> ArticulationModel:
    """With two links and a joint, so that more of what is drawn can be done."""
    model = ArticulationModel()
    model.edit(
        [
            Apply("t0", AddLink(path="l0")),
            Apply("t1", AddLink(path="l1")),
            Apply("t2", AddJoint(path="j0", joint=RevoluteJoint(variable="q0"))),
            Apply("t3", Connect(child="l1", joint="j0", parent="l0")),
            Apply("t4", Height(link="l1", to="h0")),
        ]
    )
    return model


def replayed(model: ArticulationModel) -> ArticulationModel:
    new = ArticulationModel()
    new.edit([Apply(tag, model.operation(tag)) for tag in model.tags])
    return new


def done(model: ArticulationModel, program) -> None:
    for step in program:
        before = model.values(), model.tags
        try:
            getattr(model, step)() if isinstance(step, str) else model.edit(step)
        except ArmillaryError:
            assert (model.values(), model.tags) == before


def shown(value) -> object:
    """What two values are compared by: expressions by what they are worth."""
    if not hasattr(value, "free_variables") or isinstance(value, Constraint):
        return repr(value)
    return value.free_variables, round(value.evaluate(VALUES), 12)


class TestAnyEditsOfAModel:
    @given(programs)
    def test_leave_what_a_replay_gives(self, program):
        model = started()
        done(model, program)
        again = replayed(model)
        assert {p: shown(v) for p, v in model.values().items()} == {p: shown(v) for p, v in again.values().items()}

    @given(programs)
    def test_keep_no_pose_of_former_times(self, program):
        model = started()
        for path in model.links():
            model.pose(path)
        for step in program:
            done(model, [step])
            for path in model.links():
                model.pose(path)
        again = replayed(model)
        for path in model.links():
            found, expected = model.pose(path), again.pose(path)
            assert found.free_variables == expected.free_variables
            assert found.evaluate(VALUES).is_close(expected.evaluate(VALUES), m=CLOSE, rad=CLOSE)
