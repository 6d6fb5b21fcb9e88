"""Every question that walks a path meets the same sources: open, contested, preferred, ended, silent, put down.

`world.pose` is compared with the reference elsewhere; here all others are compared with `world.pose`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reference
from armillary import LATEST, World, seconds
from armillary.errors import AmbiguousPath, ArmillaryError, WaitTimeout
from randomness import examples
from strategies import (
    ANY_PAIR,
    CLOSE_M,
    CLOSE_RAD,
    LONG_HISTORY,
    Twins,
    endings,
    histories,
    instants,
    preferences,
    questions,
    ranked_fixings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

POINT = np.array([0.3, -0.2, 0.1])
POLICIES = ("latest", "most_certain", "fuse")
Asked = dict[str, Any]


@st.composite
def asserted_worlds(draw: st.DrawFn) -> World:
    """Sampled, fixed, stated, put down, ended and preferred relations of some frames by three sources."""
    twins = Twins(history=LONG_HISTORY, rival_timeout=seconds(draw(st.sampled_from((0, 1, 1, 2.5, 100)))))
    statements = draw(histories())
    more = ranked_fixings() | ranked_fixings(ANY_PAIR) | endings() | preferences()
    for method, arguments in [*statements, *draw(st.lists(more, max_size=8))]:
        is_known = arguments["of"] in twins.reference.frames
        tracks = {source for of, source in twins.reference.events if of == arguments["of"]}
        if method == "end" and arguments["source"] not in tracks:
            continue
        if method != "prefer" or is_known:
            twins.do(method, arguments)
    return twins.world


def outcome(call: Callable[[], Any]) -> Any:
    """A matrix, a number, a truth value; or the kind of the error."""
    try:
        return call()
    except WaitTimeout as error:
        return type(error.reason)
    except ArmillaryError as error:
        return type(error)


def assert_same(name: str, found: Any, expected: Any) -> None:
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, f"{name}: {found}, pose: {expected}"
    else:
        reach = max(1.0, np.abs(expected).max())
        assert np.abs(np.asarray(found) - expected).max() < max(CLOSE_M, CLOSE_RAD) * reach, name


def matrix_in(snapshot: Any, of: str) -> Any:
    return snapshot[of].matrix if of in snapshot else type(snapshot.missing[of])


def in_armillary(asked: Asked) -> Asked:
    return {**asked, "at": LATEST if asked["at"] == reference.LATEST else asked["at"]}


class TestEveryEntryPoint:
    @examples(60)
    @given(asserted_worlds(), st.lists(questions(), min_size=1, max_size=6))
    def test_answers_as_pose_does(self, world: World, asked: list[Asked]) -> None:
        for question in map(in_armillary, asked):
            if {question["of"], question["in_frame"]} <= set(world.frames()):
                self.check(world, question)

    def check(self, world: World, asked: Asked) -> None:
        pose = outcome(lambda: world.pose(**asked))
        expected = pose if isinstance(pose, type) else pose.transform.matrix
        is_known = not isinstance(pose, type)
        without_how = {key: value for key, value in asked.items() if key != "interpolation"}
        ends = {key: value for key, value in asked.items() if key not in {"of", "in_frame"}}
        of, in_frame = asked["of"], asked["in_frame"]

        assert world.can_pose(**without_how) is is_known
        assert_same("snapshot", matrix_in(world.snapshot(in_frame=in_frame, **ends), of), expected)
        assert_same("wait", outcome(lambda: world.wait_for_pose(**asked, timeout_s=0.0).transform.matrix), expected)
        place = expected if not is_known else expected[:3, 3]
        turn = expected if not is_known else expected[:3, :3]
        assert_same("position", outcome(lambda: world.position(**asked).xyz), place)
        assert_same("orientation", outcome(lambda: world.orientation(**asked).rotation.matrix), turn)
        if asked["at"] is not LATEST:
            many = {**asked, "at": np.array([asked["at"]] * 3)}
            assert_same("transforms", outcome(lambda: world.transforms(**many)[1]), expected)
        mapped = expected if not is_known else expected[:3, :3] @ POINT + expected[:3, 3]
        found = outcome(lambda: world.map_points(POINT, from_frame=of, to_frame=in_frame, **ends))
        assert_same("map_points", found, mapped)
        self.check_policies(world, asked, pose, expected)
        self.check_reports(world, asked, pose)

    def check_policies(self, world: World, asked: Asked, pose: Any, expected: Any) -> None:
        """Where nobody contests they all give what there is; a contested path is no longer one."""
        for policy in POLICIES:
            chosen = outcome(lambda policy=policy: world.pose(**asked, policy=policy))
            if pose is not AmbiguousPath:
                assert_same(policy, chosen if isinstance(chosen, type) else chosen.transform.matrix, expected)
            swept = world.snapshot(policy=policy, **{key: value for key, value in asked.items() if key != "of"})
            known = chosen if isinstance(chosen, type) else chosen.transform.matrix
            assert_same(f"snapshot by {policy}", matrix_in(swept, asked["of"]), known)

    def check_reports(self, world: World, asked: Asked, pose: Any) -> None:
        """The tree, the doctor, the viewer, and motions."""
        of, in_frame, at = asked["of"], asked["in_frame"], asked["at"]
        plain = outcome(lambda: world.pose(of=of, in_frame=in_frame, at=at))
        found = world.diagnose(of=of, in_frame=in_frame, at=at)
        assert found.is_visible is not isinstance(plain, type)
        assert (found.cause == "contested") is (plain is AmbiguousPath)
        if pose is AmbiguousPath:
            motion = outcome(lambda: world.twist(of=of, relative_to=in_frame, at=at, outside=asked["outside"]))
            assert isinstance(motion, type), "twist"
        if at is not LATEST and not isinstance(pose, type):
            parents = world.tree(at).parents
            for placed, parent, source in pose.relations:
                assert parents[placed] == (parent, source), "tree"


class TestWhatIsOpen:
    @examples(40)
    @given(asserted_worlds(), st.lists(instants(), min_size=1, max_size=6))
    def test_is_the_same_in_the_tree_and_in_what_a_policy_is_given(self, world: World, asked: list[Any]) -> None:
        """A frame that the tree shows under one parent is contested by nobody there, and the other way round."""
        for at in asked:
            if at == reference.LATEST:
                continue
            for of, parent in world.tree(at).parents.items():
                if parent is not None:
                    found = outcome(lambda of=of, parent=parent, at=at: world.pose(of=of, in_frame=parent[0], at=at))
                    assert found is not AmbiguousPath, (of, parent)
