"""Inputs for the laws, the nasty ones included, and the pair of worlds the laws compare."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import reject
from hypothesis import strategies as st

import armillary
import reference
from armillary import Rotation, Transform, World, seconds
from armillary.errors import AmbiguousPath, ArmillaryError
from armillary.scene import Fix
from reference import Answer, ReferenceWorld, Refused, Unclear

if TYPE_CHECKING:
    from collections.abc import Callable

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9
CLOSE_COVARIANCE = 1e-9  # relative to the largest entry, or absolute below one
# Where pitch is a quarter turn an angle is the arc sine of almost one: half of the digits.
BLUR_OF_PREDICTIONS = 1e4
CLOSE_AT_GIMBAL_LOCK_RAD = 1e-7

ANGLES_RAD = (0.0, 1e-9, 1e-5, math.pi / 2, math.pi - 1e-5, math.pi - 1e-9, math.pi)


def floats(bound: float) -> st.SearchStrategy[float]:
    return st.floats(-bound, bound, allow_subnormal=False)


def vectors(bound: float = 10.0) -> st.SearchStrategy[np.ndarray]:
    return st.tuples(*[floats(bound)] * 3).map(np.array)


@st.composite
def axes(draw: st.DrawFn) -> np.ndarray:
    """Unit vectors, those along x, y and z among them."""
    if draw(st.booleans()):
        return np.eye(3)[draw(st.integers(0, 2))] * draw(st.sampled_from([-1.0, 1.0]))
    vector = draw(vectors(1.0).filter(lambda v: np.linalg.norm(v) > 1e-3))
    return vector / np.linalg.norm(vector)


def angles(most: float = math.pi) -> st.SearchStrategy[float]:
    nasty = [angle for angle in ANGLES_RAD if angle <= most]
    return st.sampled_from(nasty) | st.floats(0.0, most)


@st.composite
def quaternions(draw: st.DrawFn) -> np.ndarray:
    """Unit wxyz of both hemispheres: no turn, almost none, half a turn, almost one, any."""
    angle, axis = draw(angles()), draw(axes())
    cosine = 0.0 if angle == math.pi else math.cos(angle / 2)
    wxyz = np.array([cosine, *(math.sin(angle / 2) * axis)])
    return wxyz * draw(st.sampled_from([-1.0, 1.0]))


def rotations() -> st.SearchStrategy[Rotation]:
    return quaternions().map(Rotation.from_wxyz)


def transforms() -> st.SearchStrategy[Transform]:
    return st.builds(Transform.from_xyz_wxyz, xyz=vectors(), wxyz=quaternions())


@st.composite
def rotation_vectors(draw: st.DrawFn, most: float = math.pi - 1e-5) -> np.ndarray:
    return draw(angles(most)) * draw(axes())


@st.composite
def tangents(draw: st.DrawFn, most: float = math.pi - 1e-5) -> np.ndarray:
    """(translation, rotation) with less than half a turn, where `log` undoes `exp`."""
    return np.concatenate([draw(vectors()), draw(rotation_vectors(most))])


def modest_transforms() -> st.SearchStrategy[Transform]:
    """Turns so small that no two of them are opposite: the shortest arc between them is unique."""
    return tangents(most=1.4).map(Transform.exp)


def covariances(scale: float = 0.1) -> st.SearchStrategy[np.ndarray]:
    """Symmetric and positive semi-definite, of every rank: zero, singular, full."""
    return st.builds(_covariance, st.integers(0, 6), st.integers(0, 2**32 - 1), st.just(scale))


def _covariance(rank: int, seed: int, scale: float) -> np.ndarray:
    factor = scale * np.random.default_rng(seed).normal(size=(6, rank))
    return factor @ factor.T


FURTHEST_STAMP = 2**62 - 1
LONGEST_GAP = 10**10
ORIGINS = (-FURTHEST_STAMP + 1, -seconds(3.0), -1, 0, 1, 1_700_000_000_000_000_000, FURTHEST_STAMP - 2)


@st.composite
def stamp_pairs(draw: st.DrawFn) -> tuple[int, int]:
    """Two stamps in order: negative, around zero, huge, and down to one nanosecond apart."""
    first = draw(st.sampled_from(ORIGINS) | st.integers(ORIGINS[0], ORIGINS[-1]))
    gap = draw(st.sampled_from([1, 2, 3, seconds(1.0)]) | st.integers(1, LONGEST_GAP))
    return first, min(first + gap, FURTHEST_STAMP - 1)


FRAMES = ("a", "b", "c", "d", "e")
SOMEWHERE = st.sampled_from(FRAMES * 5 + ("nowhere",))
SOURCES = ("", "left", "right")
MOSTLY_ONE_SOURCE = SOURCES[:1] * 6 + SOURCES[1:]
STAMPS = (-seconds(1.0), -1, 0, 1, *(seconds(float(i)) for i in range(1, 8)))
BETWEEN = tuple((a + b) // 2 for a, b in pairwise(STAMPS[3:]))
BEYOND = (STAMPS[0] - 1, STAMPS[-1] + 1, STAMPS[-1] + seconds(5.0))
LONG_HISTORY = seconds(1000.0)
DOWNHILL = [(of, parent) for i, of in enumerate(FRAMES) for parent in FRAMES[:i]]
ANY_PAIR = [(of, parent) for of in FRAMES for parent in FRAMES if of != parent]

_random = np.random.default_rng(7)
VALUES = [reference.exp(_random.uniform(-0.8, 0.8, size=6)) for _ in range(16)]
UNCERTAINTIES = [_covariance(rank, rank, 0.1) for rank in (0, 2, 6)]
# Statements name values by their number in these lists: a failing example fits on a page.
A_VALUE = st.integers(0, len(VALUES) - 1)
AN_UNCERTAINTY = st.integers(0, len(UNCERTAINTIES) - 1)

Pair = tuple[str, str]
Statement = tuple[str, dict[str, Any]]


def placements(pairs: list[Pair] = DOWNHILL) -> st.SearchStrategy[dict[str, Any]]:
    """A source, a frame and its parent, without a time."""
    return st.builds(
        lambda pair, **rest: {"of": pair[0], "in_frame": pair[1], **rest},
        st.sampled_from(pairs),
        transform=A_VALUE,
        source=st.sampled_from(MOSTLY_ONE_SOURCE),
        covariance=st.none() | AN_UNCERTAINTY,
    )


@st.composite
def samples(draw: st.DrawFn, pairs: list[Pair] = DOWNHILL) -> Statement:
    return "set_pose", {**draw(placements(pairs)), "at": draw(st.sampled_from(STAMPS))}


@st.composite
def bursts(draw: st.DrawFn, pairs: list[Pair] = DOWNHILL, *, fewest: int = 1) -> list[Statement]:
    """Some samples of one relation, in any order; with a covariance all, or none."""
    placement = draw(placements(pairs))
    uncertainty = st.none() if placement["covariance"] is None else AN_UNCERTAINTY
    contents = st.tuples(st.sampled_from(STAMPS), A_VALUE, uncertainty)
    way = draw(st.sampled_from([None] * 5 + ["step", "step", "screw", "linear"])) if pairs is not ANY_PAIR else None
    placement |= {} if way is None else {"interpolation": way}
    # A sample of another parent at the very stamp at which a relation begins to step: see unit/store/test_steps.py.
    apart_ns = 0 if way is None else 10 + FRAMES.index(placement["in_frame"])
    return [
        ("set_pose", {**placement, "at": at + apart_ns, "transform": value, "covariance": covariance})
        for at, value, covariance in draw(st.lists(contents, min_size=fewest, max_size=5))
    ]


@st.composite
def fixings(draw: st.DrawFn, pairs: list[Pair] = DOWNHILL) -> Statement:
    at = draw(st.none() | st.sampled_from(STAMPS))
    return "fix", {**draw(placements(pairs)), "at": at}


@st.composite
def preferences(draw: st.DrawFn) -> Statement:
    source = draw(st.none() | st.sampled_from(SOURCES))
    start, end = draw(st.none() | st.sampled_from(STAMPS)), draw(st.none() | st.sampled_from(STAMPS))
    if start is not None and end is not None and end <= start:
        end = None
    return "prefer", {"of": draw(st.sampled_from(FRAMES)), "source": source, "start": start, "end": end}


@st.composite
def endings(draw: st.DrawFn) -> Statement:
    at, source = draw(st.sampled_from(STAMPS)), draw(st.sampled_from(SOURCES))
    return "end", {"of": draw(st.sampled_from(FRAMES)), "source": source, "at": at}


@st.composite
def ranked_fixings(draw: st.DrawFn, pairs: list[Pair] = DOWNHILL) -> Statement:
    """What `attach` and `detach` assert: a pose that is preferred by itself, or one that never contests."""
    method, arguments = draw(fixings(pairs))
    return method, {**arguments, "rank": draw(st.sampled_from((reference.FALLBACK, reference.STATEMENT)))}


@st.composite
def histories(draw: st.DrawFn, pairs: list[Pair] = DOWNHILL) -> list[Statement]:
    """Every frame somewhere, then more: late and repeated samples, moves, rivals, fixings."""
    made = draw(backbones())
    for part in draw(st.lists(bursts(pairs) | fixings(pairs).map(lambda f: [f]), max_size=5)):
        made.extend(part)
    return made


@st.composite
def backbones(draw: st.DrawFn) -> list[Statement]:
    """Something about almost every frame, mostly in a chain and with enough samples to lie between, from one source."""
    made: list[Statement] = []
    for before, of in pairwise(FRAMES):
        mine = [pair for pair in DOWNHILL if pair[0] == of]
        chain, lasting = bursts([(of, before)], fewest=3), placements(mine).map(lambda where: [("fix", where)])
        fixing = fixings(mine).map(lambda statement: [statement])
        some = bursts(mine, fewest=2) | bursts(mine) | fixing | st.just([])
        made.extend(draw(chain | chain | lasting | some))
    return [(method, {**arguments, "source": ""}) for method, arguments in made]


def forests() -> st.SearchStrategy[list[Statement]]:
    """One fixing for every frame but the roots: parents never change."""
    edges = [st.none() | placements([p for p in DOWNHILL if p[0] == of]) for of in FRAMES[1:]]
    return st.tuples(*edges).map(lambda chosen: [("fix", edge) for edge in chosen if edge])


def instants() -> st.SearchStrategy[int | float]:
    return st.sampled_from(STAMPS + 3 * BETWEEN + BEYOND) | st.just(reference.LATEST)


# Mostly two frames that are far apart, seldom one in itself or one that nobody knows.
FAR_APART = [pair for pair in ANY_PAIR if abs(FRAMES.index(pair[0]) - FRAMES.index(pair[1])) > 1]
ASKED_PAIRS = [*FAR_APART * 2, *ANY_PAIR, ("c", "c"), ("nowhere", "a"), ("b", "nowhere")]


@st.composite
def questions(draw: st.DrawFn, when: st.SearchStrategy[int | float] | None = None) -> dict[str, Any]:
    """Weighted towards those that have a value: between frames, at instants of most histories."""
    of, in_frame = draw(st.sampled_from(ASKED_PAIRS))
    asked = {"of": of, "in_frame": in_frame, "at": draw(instants() if when is None else when)}
    return asked | {"interpolation": draw(st.sampled_from([None, "linear", "screw"])), **draw(outsides())}


def outsides() -> st.SearchStrategy[dict[str, Any]]:
    """What is answered outside of a history; a limit goes with 'hold' alone."""
    limits = st.sampled_from([0.0, 1e-9, 0.5, 1.0, 2.5, 100.0])
    return st.one_of(
        st.fixed_dictionaries({"outside": st.sampled_from(["raise", "hold", "predict", "hold", "predict"])}),
        st.fixed_dictionaries({"outside": st.just("hold"), "hold_up_to_s": limits}),
    )


@st.composite
def two_time_questions(draw: st.DrawFn) -> dict:
    also = {"of_at": draw(st.sampled_from(STAMPS + BETWEEN + BEYOND)), "fixed_frame": draw(SOMEWHERE)}
    return {**draw(questions()), **also}


def assert_close(actual: Transform, expected: np.ndarray | Transform, blur: float = 1.0) -> None:
    """Compares matrices: an angle from an arc cosine would not see 1e-9 rad."""
    expected = getattr(expected, "matrix", expected)
    reach = blur * max(1.0, np.abs(expected[:3, 3]).max())
    assert np.abs(actual.matrix[:3, :3] - expected[:3, :3]).max() < CLOSE_RAD * blur
    assert np.abs(actual.matrix[:3, 3] - expected[:3, 3]).max() < CLOSE_M * reach


def assert_same_rotation(actual: Rotation, expected: Rotation, within: float = CLOSE_RAD) -> None:
    assert np.abs(actual.matrix - expected.matrix).max() < within


def blur_of(expected: Answer) -> float:
    """A prediction may make a second out of a nanosecond, and a visible error out of a rounding error."""
    return BLUR_OF_PREDICTIONS if expected.predicted else 1.0


def assert_same_covariance(actual: np.ndarray | None, expected: np.ndarray | None, blur: float = 1.0) -> None:
    if expected is None:
        assert actual is None
        return
    assert actual.shape == (6, 6)
    assert np.abs(actual - expected).max() < CLOSE_COVARIANCE * blur * max(1.0, np.abs(expected).max())


def assert_psd(covariance: np.ndarray) -> None:
    scale = max(1.0, np.abs(covariance).max())
    assert np.abs(covariance - covariance.T).max() < CLOSE_COVARIANCE * scale
    assert np.linalg.eigvalsh(covariance).min() > -CLOSE_COVARIANCE * scale


def outcome(call: Callable[[], Any], refusal: type[Exception]) -> Any:
    """What a call gives: its value, or the refusal it raises as a value to compare."""
    try:
        return call()
    except refusal as error:
        return error
    except Unclear:
        reject()


def assert_same_refusal(actual: Any, expected: Refused) -> None:
    assert isinstance(actual, ArmillaryError), f"{actual} where {expected} was due"
    kind = type(actual).__name__
    edges = {edge for reason, edge in expected.reasons if reason == kind}
    assert edges, f"{kind} ({actual}) where {expected} was due"
    assert edges == {None} or tuple(actual.edge) in edges


def assert_same_answer(pose: Any, expected: Answer | Refused) -> None:
    if isinstance(expected, Refused):
        assert_same_refusal(pose, expected)
        return
    assert not isinstance(pose, ArmillaryError), f"{pose!r} where an answer was due"
    assert_close(pose.transform, expected.matrix, blur_of(expected))
    assert (pose.stamp, pose.predicted) == (expected.stamp, expected.predicted)
    assert_same_held(pose.held, expected.held)
    assert_same_covariance(pose.covariance, expected.covariance, blur_of(expected))
    assert {tuple(relation) for relation in pose.relations} == expected.relations


def assert_same_held(actual: Any, expected: Any) -> None:
    """Compares which samples were held, and for how long; of a rotation the first of its four joints is named."""
    found = {(sample.relation, _joint_name(sample.joint), sample.age_s) for sample in actual}
    assert found == {(relation, joint, age_ns / 1e9) for relation, joint, age_ns in expected}


def _joint_name(joint: str | None) -> str | None:
    return joint if joint is None else joint.removesuffix("/w")


class Twins:
    """A world and its reference. Whatever is done or asked, is done to or asked of both."""

    def __init__(self, *, history: int = LONG_HISTORY, **options: Any) -> None:
        self.world = World(history=history, **options)
        self.reference = ReferenceWorld(history=history, **options)

    def do(self, method: str, arguments: dict[str, Any]) -> None:
        made = _with_values(arguments)
        expected = outcome(lambda: getattr(self.reference, method)(**made), Refused)
        actual = outcome(lambda: self._act(method, _for_armillary(made)), ArmillaryError)
        if isinstance(expected, Refused):
            assert_same_refusal(actual, Refused((kind, None) for kind in expected.kinds))
        else:
            assert not isinstance(actual, ArmillaryError), f"refused: {actual!r}"

    def _act(self, method: str, arguments: dict[str, Any]) -> None:
        if "rank" not in arguments:
            getattr(self.world, method)(**arguments)
            return
        rank = ("fallback", "plain", "statement")[arguments["rank"]]
        self.world.apply([Fix(**{**arguments, "rank": rank})])

    def do_all(self, statements: list[Statement]) -> Twins:
        for method, arguments in statements:
            self.do(method, arguments)
        return self

    def ask(self, question: dict[str, Any]) -> Answer | Refused:
        expected = outcome(lambda: self.reference.pose(**question), Refused)
        asked = _for_armillary(question)
        pose = outcome(lambda: self.world.pose(**asked), ArmillaryError)
        assert_same_answer(pose, expected)
        asked.pop("interpolation", None)
        assert self.world.can_pose(**asked) is not isinstance(expected, Refused)
        self._ask_otherwise(asked, pose)
        return expected

    def _ask_otherwise(self, asked: dict[str, Any], pose: Any) -> None:
        """Who waits, names a policy, or asks for a motion, meets the same sources."""
        if isinstance(pose, AmbiguousPath) and "of_at" not in asked:
            with pytest.raises(ArmillaryError):
                self.world.twist(of=asked["of"], relative_to=asked["in_frame"], at=asked["at"])
        if isinstance(pose, ArmillaryError):
            with pytest.raises((ArmillaryError, TimeoutError)):
                self.world.wait_for_pose(**asked, timeout_s=0.0)
            return
        assert self.world.wait_for_pose(**asked, timeout_s=0.0).relations == pose.relations
        for policy in ("latest", _refuse_to_choose):
            chosen = self.world.pose(**asked, policy=policy)
            assert (chosen.relations, chosen.stamp) == (pose.relations, pose.stamp)

    def ask_many(self, question: dict[str, Any], stamps: list[int]) -> None:
        """All stamps in one call; it fails when one of them does."""
        asked = [{**question, "at": at} for at in stamps]
        expected = [outcome(lambda q=q: self.reference.pose(**q), Refused) for q in asked]
        at = np.array(stamps, dtype=np.int64)
        batch = outcome(lambda: self.world.transforms(**{**question, "at": at}), ArmillaryError)
        refusals = [answer for answer in expected if isinstance(answer, Refused)]
        if refusals:
            assert_same_refusal(batch, Refused(set().union(*(r.reasons for r in refusals))))
            return
        assert not isinstance(batch, ArmillaryError), f"{batch!r} where answers were due"
        assert batch.shape == (len(stamps), 4, 4)
        for matrix, answer in zip(batch, expected, strict=True):
            assert_close(Transform.from_matrix(matrix), answer.matrix, blur_of(answer))
        ends = {"from_frame": question["of"], "to_frame": question["in_frame"]}
        options = {key: value for key, value in question.items() if key not in {"of", "in_frame", "at"}}
        mapped = self.world.map_points(np.zeros((len(stamps), 3)), **ends, at=at, **options)
        np.testing.assert_allclose(mapped, batch[:, :3, 3], atol=CLOSE_M)

    def ask_for_all(self, question: dict[str, Any]) -> None:
        """Every frame in one call; what fails is missing, with the reason."""
        question = {key: value for key, value in question.items() if key != "of"}
        if question["in_frame"] not in self.reference.frames:
            return
        due = {n: outcome(lambda n=n: self.reference.pose(of=n, **question), Refused) for n in self.reference.frames}
        snapshot = self.world.snapshot(**_for_armillary(question))
        for name, expected in due.items():
            if isinstance(expected, Refused):
                assert name not in snapshot
                assert_same_refusal(snapshot.missing[name], expected)
            else:
                assert name in snapshot, f"{name} is missing: {snapshot.missing[name]!r}"
                assert_close(snapshot[name], expected.matrix, blur_of(expected))
                assert snapshot.stamps[name] == expected.stamp
                assert (name in snapshot.predicted) == expected.predicted
                assert (name in snapshot.held) == bool(expected.held)


def _refuse_to_choose(paths: Any) -> Any:
    raise AssertionError(f"one path answers, and a policy was asked to choose among {paths}")


def _with_values(arguments: dict[str, Any]) -> dict[str, Any]:
    result = dict(arguments)
    if "transform" in result:
        result["transform"] = VALUES[result["transform"]]
    if result.get("covariance") is not None:
        result["covariance"] = UNCERTAINTIES[result["covariance"]]
    return result


def _for_armillary(arguments: dict[str, Any]) -> dict[str, Any]:
    result = dict(arguments)
    if "transform" in result:
        result["transform"] = Transform.from_matrix(result["transform"])
    if result.get("at") == reference.LATEST:
        result["at"] = armillary.LATEST
    return result
