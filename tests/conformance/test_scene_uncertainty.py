"""The formulas of uncertain poses: Smith, Self and Cheeseman's numbers, through covariances in the tangent."""

import numpy as np
import pytest

from armillary import Transform, World, seconds
from conformance.euler import euler_covariance, from_euler, tangent_covariance, to_euler

PRINTED_DIGITS = 1e-6  # the regression vectors have six decimals
CLOSE = 1e-12

X1 = (0.3, -0.2, 0.5, 0.4, -0.3, 0.2)
X2 = (1.0, 0.5, -0.4, -0.6, 0.25, 0.1)
C1 = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
C2 = np.diag([0.04, 0.05, 0.06, 0.004, 0.005, 0.006])
X3 = (1.037817, 0.730254, 0.515901, -0.111452, 0.099320, 0.431129)
C3_DIAGONAL = (0.053699, 0.070160, 0.090952, 0.005360, 0.007045, 0.008689)
X1_INVERSE = (-0.337332, 0.211789, -0.470481, -0.459795, 0.190552, -0.305978)
C1_INVERSE_DIAGONAL = (0.013565, 0.019166, 0.028777, 0.001192, 0.002224, 0.002925)

MERGED_1 = np.array([10.0, 0.1, -0.2, 0.0, 0.0, 0.0])
MERGED_2 = np.array([13.0, 0.2, -0.1, 0.0, 0.0, 0.5])
MERGED_C1 = np.diag([0.1, 0.002, 2.003, 5.0, 4.001, 2.0])
MERGED_C2 = np.diag([0.1, 1.0, 2.001, 5.0, 0.0013, 0.0003])
MERGED = np.array([11.5, 0.1002, -0.149975, 0.0, 0.0, 0.499925])
MERGED_DIAGONAL = (0.05, 0.001996, 1.001, 2.5, 0.0013, 0.0003)


@pytest.fixture
def compound():
    """c in b in a, as x2 after x1."""
    world = World()
    for of, in_frame, x, C in (("b", "a", X1, C1), ("c", "b", X2, C2)):
        world.fix(of=of, in_frame=in_frame, transform=from_euler(x), covariance=tangent_covariance(x, C))
    return world


def rivals(*placements):
    """One frame, placed by as many sources as there are (transform, covariance)."""
    world = World()
    for i, (transform, covariance) in enumerate(placements):
        sample = {"transform": transform, "covariance": covariance, "source": f"camera{i}"}
        world.set_pose(of="cup", in_frame="map", at=seconds(1), **sample)
    return world


def fused(*placements):
    return rivals(*placements).pose(of="cup", in_frame="map", policy="fuse")


class TestCompounding:
    def test_meets_the_regression_vector(self, compound):
        pose = compound.pose(of="c", in_frame="a")
        covariance = euler_covariance(pose)
        assert np.abs(to_euler(pose.transform) - X3).max() < PRINTED_DIGITS
        assert np.abs(np.diag(covariance) - C3_DIAGONAL).max() < PRINTED_DIGITS
        assert covariance[0, 1] == pytest.approx(-0.003564, abs=PRINTED_DIGITS)
        assert covariance[2, 5] == pytest.approx(0.002391, abs=PRINTED_DIGITS)

    def test_meets_the_vector_of_the_lever_arm(self):
        world = World()
        yaw_only = np.diag([0.0, 0.0, 0.0, 0.0, 0.0, 0.01])
        world.fix(of="b", in_frame="a", transform=Transform.identity(), covariance=yaw_only)
        world.fix(of="c", in_frame="b", transform=from_euler((1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
        covariance = world.pose(of="c", in_frame="a").covariance
        assert covariance[1, 1] == pytest.approx(0.01, abs=CLOSE)
        assert covariance[0, 0] == pytest.approx(0.0, abs=CLOSE)

    @pytest.mark.parametrize(
        ("turns_deg", "first", "second", "expected"),
        [
            ((0, 0), (1, 2, 3), (2, 3, 4), (3, 5, 7)),
            ((90, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0)),
            ((45, 0), (1, 0, 0), (0, 1, 0), (1.5, 0.5, 0)),
            ((45, 0), (1, 2, 3), (2, 3, 4), (3.5, 4.5, 7)),
            ((45, 45), (4, 0, 0), (3, 0, 0), (5.5, 1.5, 0)),
        ],
    )
    def test_adds_translations_along_the_axes_of_the_first(self, turns_deg, first, second, expected):
        """Facts of the paper's library, whose covariances are along the axes of the parent."""
        world, names = World(), ("a", "b", "c")
        for i, (deg, variances) in enumerate(zip(turns_deg, (first, second), strict=True)):
            x = (0.0, 0.0, 0.0, np.radians(deg), 0.0, 0.0)
            covariance = tangent_covariance(x, np.diag([*variances, 0.0, 0.0, 0.0]))
            world.fix(of=names[i + 1], in_frame=names[i], transform=from_euler(x), covariance=covariance)
        diagonal = np.diag(euler_covariance(world.pose(of="c", in_frame="a")))
        assert diagonal[:3] == pytest.approx(expected, abs=CLOSE)


class TestTheInverse:
    def test_meets_the_regression_vector(self, compound):
        pose = compound.pose(of="a", in_frame="b")
        assert np.abs(to_euler(pose.transform) - X1_INVERSE).max() < PRINTED_DIGITS
        assert np.abs(np.diag(euler_covariance(pose)) - C1_INVERSE_DIAGONAL).max() < PRINTED_DIGITS


class TestMerging:
    def test_meets_the_regression_vector_where_nothing_turns(self):
        """Positions of things that surely are not turned are added in the vector as on the group."""
        still = [np.concatenate([x[:3], np.zeros(3)]) for x in (MERGED_1, MERGED_2)]
        upright = [np.diag([*np.diag(C)[:3], *[1e-14] * 3]) for C in (MERGED_C1, MERGED_C2)]
        pose = fused(*zip(map(from_euler, still), upright, strict=True))
        assert np.abs(pose.transform.translation - MERGED[:3]).max() < PRINTED_DIGITS
        assert np.abs(np.diag(pose.covariance)[:3] - MERGED_DIAGONAL[:3]).max() < PRINTED_DIGITS

    def test_meets_the_regression_vector_where_all_turn_about_one_axis(self):
        turned = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, x[5]]) for x in (MERGED_1, MERGED_2)]
        pose = fused(
            *((from_euler(x), tangent_covariance(x, C)) for x, C in zip(turned, (MERGED_C1, MERGED_C2), strict=True))
        )
        assert to_euler(pose.transform)[5] == pytest.approx(MERGED[5], abs=PRINTED_DIGITS)
        assert np.diag(euler_covariance(pose))[5] == pytest.approx(MERGED_DIAGONAL[5], abs=PRINTED_DIGITS)

    def test_meets_it_to_first_order_on_the_group(self):
        """The vector adds angles of poses half a radian apart; on SE(3) it holds for differences that are small."""
        small = 1e-7
        x1, x2 = MERGED_1, MERGED_1 + small * (MERGED_2 - MERGED_1)
        pose = fused(
            (from_euler(x1), tangent_covariance(x1, MERGED_C1)), (from_euler(x2), tangent_covariance(x2, MERGED_C2))
        )
        moved = (to_euler(pose.transform) - MERGED_1) / small
        assert np.abs(moved - (MERGED - MERGED_1)).max() < PRINTED_DIGITS
        assert np.abs(np.diag(euler_covariance(pose)) - MERGED_DIAGONAL).max() < PRINTED_DIGITS

    @pytest.mark.parametrize(("second", "expected"), [((1.0, 0.0), (0.5, 0.0)), ((1.0, 1.0), (0.5, 0.5))])
    def test_of_equals_is_the_middle(self, second, expected):
        sure = 1e-7 * np.eye(6)
        pose = fused((Transform.identity(), sure), (from_euler((*second, 0, 0, 0, 0)), sure))
        assert pose.transform.translation[:2] == pytest.approx(expected, abs=PRINTED_DIGITS)

    @pytest.mark.parametrize(("certain", "gain"), [((False, False), 0.5), ((False, True), 0.0), ((True, False), 1.0)])
    def test_of_exact_ones_follows_the_rule_for_singular_sums(self, certain, gain):
        """Both zero: a gain of a half; the first zero: 0; the second zero: 1."""
        covariances = [0.1 * np.eye(6) if is_uncertain else np.zeros((6, 6)) for is_uncertain in certain]
        pose = fused((Transform.identity(), covariances[0]), (from_euler((1, 0, 0, 0, 0, 0)), covariances[1]))
        assert pose.transform.translation[0] == pytest.approx(gain, abs=CLOSE)
        spread = 0.0 if any(certain) else 0.25  # of two exact ones nobody knows which is right
        assert pose.covariance[0, 0] == pytest.approx(spread, abs=CLOSE)
        assert np.abs(pose.covariance[1:, 1:]).max() < CLOSE

    def test_wraps_angles(self):
        turned = [from_euler((0, 0, 0, np.radians(deg), 0, 0)) for deg in (179, -179)]
        pose = fused(*[(transform, 0.01 * np.eye(6)) for transform in turned])
        assert abs(pose.transform.rotation.rpy[2]) == pytest.approx(np.pi, abs=CLOSE)
