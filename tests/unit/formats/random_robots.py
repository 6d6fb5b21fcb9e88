"""Robots drawn at random: everything that URDF can say."""

from __future__ import annotations

from hypothesis import strategies as st

from armillary.formats import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Dynamics,
    Inertial,
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    MeshForm,
    Mimic,
    RobotDescription,
    ShapeDescription,
    SoftLimits,
    SphereForm,
)
from strategies import axes, transforms


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | values


numbers = st.floats(-1e6, 1e6)
lengths = st.floats(0.0, 1e6)
triples = st.tuples(numbers, numbers, numbers)
letters = st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="\ufffe\uffff")
names = st.text(letters, min_size=1, max_size=8)
texts = names.map(str.strip).filter(bool)
poses = transforms()
directions = axes().map(lambda axis: tuple(map(float, axis)))
forms = st.one_of(
    st.builds(BoxForm, st.tuples(lengths, lengths, lengths)),
    st.builds(SphereForm, lengths),
    st.builds(CylinderForm, lengths, lengths),
    st.builds(CapsuleForm, lengths, lengths),
    st.builds(lambda word, scale: MeshForm(f"http://{word}", None, scale), texts, triples),
)
colors = st.tuples(*[st.floats(0.0, 1.0)] * 4)
materials = st.builds(Material, name=names, rgba=colors, texture=maybe(texts))
visuals = st.builds(
    ShapeDescription, form=forms, name=st.just("") | names, link_T_shape=poses, material=maybe(materials)
)
collisions = st.builds(ShapeDescription, form=forms, name=st.just("") | names, link_T_shape=poses)
inertials = st.builds(Inertial, mass_kg=lengths, link_T_inertia=poses, moments=st.tuples(*[numbers] * 6))
bounds = st.tuples(numbers, numbers).map(sorted)
limits = st.builds(
    lambda ends, velocity, effort: Limits(lower=ends[0], upper=ends[1], velocity=velocity, effort=effort),
    bounds,
    maybe(lengths),
    maybe(lengths),
)
soft_limits = st.builds(SoftLimits, lower=numbers, upper=numbers, k_position=numbers, k_velocity=numbers)
dynamics = st.builds(Dynamics, damping=numbers, friction=numbers)
AXIS_FREE = {"fixed", "floating"}


def links(name: str) -> st.SearchStrategy[LinkDescription]:
    return st.builds(
        LinkDescription,
        name=st.just(name),
        visuals=st.lists(visuals, max_size=1).map(tuple),
        collisions=st.lists(collisions, max_size=1).map(tuple),
        inertial=maybe(inertials),
    )


@st.composite
def joints(draw, index: int, called: list[str], parents: list[str]) -> JointDescription:
    kind = draw(st.sampled_from(["fixed", "revolute", "continuous", "prismatic", "planar", "floating"]))
    leader = draw(st.sampled_from(called)) if called and draw(st.booleans()) else None
    mimic = None if leader is None else Mimic(joint=leader, multiplier=draw(numbers), offset=draw(numbers))
    return JointDescription(
        name=f"{draw(texts)} {index}",
        kind=kind,
        parent=draw(st.sampled_from(parents)),
        child=f"link {index}",
        parent_T_joint=draw(poses),
        axis=(1.0, 0.0, 0.0) if kind in AXIS_FREE else draw(directions),
        limits=draw(limits if kind in {"revolute", "prismatic"} else maybe(limits)),
        soft_limits=draw(maybe(soft_limits)),
        mimic=mimic,
        dynamics=draw(maybe(dynamics)),
    )


@st.composite
def robots(draw) -> RobotDescription:
    count = draw(st.integers(1, 4))
    found: list[JointDescription] = []
    for index in range(1, count):
        parents = [f"link {before}" for before in range(index)]
        found.append(draw(joints(index, [joint.name for joint in found], parents)))
    made = tuple(draw(links(f"link {index}")) for index in range(count))
    return RobotDescription(name=draw(texts), links=made, joints=tuple(found), root="link 0")
