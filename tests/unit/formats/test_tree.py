"""Trees out of joints that point any way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform
from armillary.formats import JointDescription, Limits
from armillary.formats._tree import reversed_joint, spanning_tree
from strategies import floats, transforms
from unit.formats.motions import motion


def joint(ends: str, **more) -> JointDescription:
    given = {"kind": "continuous", "axis": (0.0, 0.6, 0.8), **more}
    return JointDescription(name=ends, parent=ends[0], child=ends[1], **given)


def spanned_by(links: str, *ends: str, first: str = "a"):
    found = spanning_tree(list(links), [joint(pair) for pair in ends], first)
    tree = [f"{one.parent}{one.child}" for one in found.joints]
    return tree, [one.name for one in found.closures], "".join(found.roots)


class TestATree:
    @pytest.mark.parametrize(
        ("links", "ends", "tree", "closures", "roots"),
        [
            ("abc", ["ab", "bc"], ["ab", "bc"], [], "a"),
            ("abc", ["bc", "ab"], ["bc", "ab"], [], "a"),
            ("abc", ["ba", "cb"], ["ab", "bc"], [], "a"),
            ("abc", ["ab", "bc", "ac"], ["ab", "bc"], ["ac"], "a"),
            ("abcd", ["ab", "bc", "dc"], ["ab", "bc", "cd"], [], "a"),
            ("abcd", ["ab", "cd"], ["ab", "cd"], [], "ac"),
            ("abcd", ["ab", "dc", "cd"], ["ab", "dc"], ["cd"], "ad"),
            ("abcde", ["ab", "cd", "ce", "eb"], ["ab", "cd", "ec", "be"], [], "a"),
            ("a", [], [], [], "a"),
        ],
    )
    def test_keeps_joints_as_they_point_where_it_can(self, links, ends, tree, closures, roots):
        assert spanned_by(links, *ends) == (tree, closures, roots)


class TestAJointTurnedRound:
    @given(transforms(), transforms(), st.sampled_from(["revolute", "prismatic", "continuous"]), floats(3.0))
    def test_moves_the_same_links_in_the_same_way(self, before, after, kind, position):
        there = joint("ab", kind=kind, parent_T_joint=before, joint_T_child=after)
        back = reversed_joint(there)
        a_T_b, b_T_a = (one.parent_T_joint @ motion(one, position) @ one.joint_T_child for one in (there, back))
        np.testing.assert_allclose((a_T_b @ b_T_a).matrix, np.eye(4), atol=1e-12)

    def test_has_its_axes_the_other_way_round(self):
        x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
        back = reversed_joint(joint("ab", kind="universal", axis=x, second_axis=y, limits=Limits(upper=1.0)))
        assert (back.axis, back.second_axis) == ((0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))
        assert (back.limits, back.second_limits) == (None, Limits(upper=1.0))

    def test_is_itself_when_it_is_turned_twice(self):
        there = joint("ab", parent_T_joint=Transform.exp([1, 2, 3, 0.1, 0.2, 0.3]))
        again = reversed_joint(reversed_joint(there))
        assert (again.parent, again.axis) == (there.parent, there.axis)
        assert again.parent_T_joint.is_close(there.parent_T_joint)
