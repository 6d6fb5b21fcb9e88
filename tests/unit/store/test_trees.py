"""`world.connect_trees`: two maps that meet by a measurement between any two of their frames."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AlreadyConnected, InvalidArgument, InvalidStamp, NotConnected, UnknownFrame
from unit.kit import moved

KNOWN = np.diag([1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4])
A_T_BASE, B_T_BASE = Transform.exp((1, 2, 0, 0, 0, 0.4)), Transform.exp((-3, 0.5, 0.1, 0.1, 0, -0.9))
MEASURED = Transform.exp((2, 0.3, 0, 0, 0, 1.1))
AT = seconds(30)


def two_robots(covariance=KNOWN):
    world = World("fleet", history=None)
    for robot, pose in (("A", A_T_BASE), ("B", B_T_BASE)):
        for k in range(61):
            world.set_pose(
                of=f"{robot}/base",
                in_frame=f"{robot}/map",
                transform=pose @ moved(0.1 * (k - 30)),
                at=seconds(k),
                source=robot,
                covariance=covariance,
            )
    return world


def meet(world, **more):
    given = {"of": "B/base", "in_frame": "A/base", "transform": MEASURED, "at": AT, "covariance": KNOWN}
    return world.connect_trees(**given | {"source": "rendezvous"} | more)


class TestAMeasurementBetweenTwoTrees:
    def test_is_met_at_its_instant(self):
        world = two_robots()
        meet(world)
        found = world.pose(of="B/base", in_frame="A/base", at=AT)
        np.testing.assert_allclose(found.transform.matrix, MEASURED.matrix, atol=1e-12)

    def test_places_one_root_in_the_other(self):
        world = two_robots()
        found = meet(world)
        expected = A_T_BASE @ MEASURED @ B_T_BASE.inverse()
        assert (found.correction.of, found.correction.in_frame) == ("B/map", "A/map")
        np.testing.assert_allclose(found.correction.transform.matrix, expected.matrix, atol=1e-12)
        stored = world.pose(of="B/map", in_frame="A/map", at=seconds(50))
        np.testing.assert_allclose(stored.transform.matrix, expected.matrix, atol=1e-12)
        np.testing.assert_allclose(stored.covariance, found.correction.covariance)

    def test_gives_it_the_covariance_of_all_three(self):
        found = meet(two_robots()).correction
        rng, root = np.random.default_rng(0), np.linalg.cholesky(KNOWN)
        errors = []
        for _ in range(4000):
            a, m, b = (Transform.exp(root @ rng.normal(size=6)) for _ in range(3))
            drawn = A_T_BASE @ a @ MEASURED @ m @ (B_T_BASE @ b).inverse()
            errors.append((found.transform.inverse() @ drawn).log())
        e = np.array(errors)
        nees = np.einsum("ni,ij,nj->n", e, np.linalg.inv(found.covariance), e).mean()
        assert 5.75 < nees < 6.3

    def test_leaves_both_robots_uncontested(self):
        world = two_robots()
        meet(world)
        for k in (29, 30, 31, 59):
            own = world.pose(of="B/base", in_frame="B/map", at=seconds(k)).transform
            np.testing.assert_allclose(own.matrix, (B_T_BASE @ moved(0.1 * (k - 30))).matrix, atol=1e-12)
        assert world.can_pose(of="B/base", in_frame="A/base", at=seconds(59))

    def test_is_kept_as_a_sample_of_a_frame_of_its_own(self):
        world = two_robots()
        found = meet(world)
        assert found.measured == "B/base@rendezvous"
        kept = world.samples(of="B/base@rendezvous", in_frame="A/base", source="rendezvous")
        np.testing.assert_allclose(kept.transforms[0], MEASURED.xyz_wxyz)
        np.testing.assert_allclose(kept.covariances[0], KNOWN)
        apart = world.pose(of="B/base@rendezvous", in_frame="B/base", at=AT)
        np.testing.assert_allclose(apart.transform.matrix, np.eye(4), atol=1e-12)

    def test_connects_from_its_instant_on_unless_another_is_given(self):
        world = two_robots()
        meet(world)
        assert not world.can_pose(of="B/base", in_frame="A/base", at=seconds(29))
        always = two_robots()
        assert meet(always, since=None).since is None
        assert always.can_pose(of="B/base", in_frame="A/base", at=seconds(0))

    def test_is_undone_in_one_call(self):
        world = two_robots()
        meet(world)
        world.undo()
        assert not world.can_pose(of="B/base", in_frame="A/base", at=seconds(40))
        with pytest.raises(NotConnected):
            world.pose(of="B/map", in_frame="A/map", at=AT)

    def test_of_unknown_covariance_gives_a_correction_of_unknown_covariance(self):
        world = two_robots()
        assert meet(world, covariance=None).correction.covariance is None
        assert world.pose(of="B/map", in_frame="A/map", at=AT).covariance is None

    def test_between_roots_needs_no_path(self):
        world = World()
        world.add_frame("A/map", "B/map")
        found = world.connect_trees(of="B/map", in_frame="A/map", transform=MEASURED, at=AT, covariance=KNOWN)
        np.testing.assert_allclose(found.correction.covariance, KNOWN)

    def test_never_places_the_root_of_the_scene(self):
        world = World()
        thing = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=None)
        world.fix(of="tool", in_frame="robot", transform=moved(0, 1))
        frame = world.scene.frame(thing)
        found = world.connect_trees(of=frame, in_frame="tool", transform=MEASURED, at=AT, covariance=KNOWN)
        assert (found.correction.of, found.correction.in_frame) == ("robot", "map")
        seen = world.pose(of=frame, in_frame="tool", at=AT)
        np.testing.assert_allclose(seen.transform.matrix, MEASURED.matrix, atol=1e-12)


class TestTreesThatAreConnected:
    def test_are_refused_with_the_residual(self):
        world = two_robots()
        meet(world)
        step = np.array([0.02, 0, 0, 0, 0, 0.01])
        with pytest.raises(AlreadyConnected, match=r"differs from what is known by 0\.02 m and 0\.01 rad") as caught:
            meet(world, transform=MEASURED @ Transform.exp(step))
        np.testing.assert_allclose(caught.value.residual, step, atol=1e-9)
        assert 0 < caught.value.distance < 2
        assert (caught.value.root, caught.value.requested) == ("A/map", AT)

    def test_are_left_as_they_are(self):
        world = two_robots()
        meet(world)
        before = world.digest()
        with pytest.raises(AlreadyConnected):
            meet(world, transform=moved(5))
        assert world.digest() == before

    def test_are_corrected_by_the_source_that_connected_them(self):
        world = two_robots()
        meet(world)
        better = MEASURED @ moved(0.3)
        meet(world, transform=better, at=seconds(40), update=True)
        after = world.pose(of="B/base", in_frame="A/base", at=seconds(40)).transform
        np.testing.assert_allclose(after.matrix, better.matrix, atol=1e-12)
        still = world.pose(of="B/base", in_frame="A/base", at=AT).transform
        np.testing.assert_allclose(still.matrix, MEASURED.matrix, atol=1e-12)

    def test_are_corrected_by_a_measurement_the_other_way_round(self):
        world = two_robots()
        meet(world)
        better = (MEASURED @ moved(0.3)).inverse()
        given = {"of": "A/base", "in_frame": "B/base", "transform": better, "at": seconds(40), "covariance": KNOWN}
        found = world.connect_trees(**given, source="rendezvous", update=True)
        assert (found.correction.of, found.correction.in_frame) == ("B/map", "A/map")
        after = world.pose(of="A/base", in_frame="B/base", at=seconds(40)).transform
        np.testing.assert_allclose(after.matrix, better.matrix, atol=1e-12)

    def test_are_not_corrected_by_another_source(self):
        world = two_robots()
        meet(world)
        with pytest.raises(AlreadyConnected):
            meet(world, source="else", update=True)


class TestACorrection:
    def test_is_a_step_that_holds_until_the_next_one(self):
        world = two_robots()
        first = meet(world).correction
        second = meet(world, transform=MEASURED @ moved(0.3), at=seconds(40), update=True).correction
        edge = {"of": "B/map", "in_frame": "A/map"}
        for at, expected in ((30, first), (35, first), (39.999, first), (40, second), (500, second)):
            found = world.pose(**edge, at=seconds(at))
            assert found.transform.is_close(expected.transform), at
            np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
        (relation,) = [one for one in world.relations() if one.of == "B/map"]
        assert (relation.interpolation, relation.samples, relation.source) == ("step", 2, "rendezvous")

    def test_does_not_hold_back_what_is_newest(self):
        world = two_robots()
        meet(world)
        found = world.pose(of="B/base", in_frame="A/base")
        assert found.stamp == seconds(60)
        assert [held.relation for held in found.held] == [("B/map", "A/map", "rendezvous")]

    def test_is_taken_back_alone(self):
        world = two_robots()
        first = meet(world).correction
        meet(world, transform=MEASURED @ moved(0.3), at=seconds(40), update=True)
        world.forget(of="B/map", source="rendezvous", start=seconds(40))
        assert world.pose(of="B/map", in_frame="A/map", at=seconds(50)).transform.is_close(first.transform)

    def test_of_an_earlier_instant_holds_until_the_first(self):
        world = two_robots()
        first = meet(world).correction
        earlier = meet(world, transform=MEASURED @ moved(0.3), at=seconds(10)).correction
        assert world.pose(of="B/map", in_frame="A/map", at=seconds(20)).transform.is_close(earlier.transform)
        assert world.pose(of="B/map", in_frame="A/map", at=seconds(30)).transform.is_close(first.transform)

    def test_follows_one_for_always(self):
        world = two_robots()
        always = meet(world, since=None).correction
        later = meet(world, transform=MEASURED @ moved(0.3), at=seconds(40), update=True).correction
        for at, expected in ((1, always), (39, always), (40, later), (50, later)):
            assert world.pose(of="B/map", in_frame="A/map", at=seconds(at)).transform.is_close(expected.transform)

    def test_reaches_replicas_as_a_step(self):
        world, other = two_robots(), World("other", history=None)
        meet(world)
        other.merge(world.scene.changes())
        assert {one.interpolation for one in other.relations() if one.of == "B/map"} == {"step"}


class TestWhatIsNoMeasurement:
    def test_is_refused_before_anything_changes(self):
        world = two_robots()
        before = world.digest()
        with pytest.raises(UnknownFrame):
            meet(world, of="C/base")
        with pytest.raises(InvalidArgument, match="has an instant"):
            meet(world, at=None)
        with pytest.raises(InvalidStamp):
            meet(world, at=1.5)
        with pytest.raises(InvalidArgument, match="must be a Transform"):
            meet(world, transform="here")
        with pytest.raises(InvalidArgument):
            meet(world, covariance=-np.eye(6))
        assert world.digest() == before

    def test_leaves_nothing_where_its_sample_is_refused(self):
        world = World(clock=lambda: 0, max_ahead_s=1.0)
        world.fix(of="x", in_frame="a", transform=moved(1))
        world.fix(of="y", in_frame="b", transform=moved(1))
        before = world.digest()
        with pytest.raises(InvalidStamp):
            world.connect_trees(of="x", in_frame="y", transform=moved(2), at=AT)
        assert world.digest() == before
