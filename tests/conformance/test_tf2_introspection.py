"""Rows X1 to X5 of the tf2 conformance table: what a world reports about itself."""

import pytest

from armillary import seconds
from conformance.scenes import IDENTITY, set_along_x

CHAINS = {
    ("c", "c"): [],
    ("c", "a"): ["c b", "b a"],
    ("a", "c"): ["c b", "b a"],
    ("e", "c"): ["e d", "d a", "c b", "b a"],
    ("c", "e"): ["e d", "d a", "c b", "b a"],
    ("d", "e"): ["e d"],
}


@pytest.fixture
def forked(world):
    """a, b, c in one branch and a, d, e in the other."""
    for of, in_frame in ("ba", "cb", "da", "ed"):
        world.set_pose(of=of, in_frame=in_frame, transform=IDENTITY, at=seconds(1))
    return world


class TestAnAnswer:
    @pytest.mark.parametrize(("of", "in_frame"), list(CHAINS))
    def test_x1_names_the_relations_it_came_from(self, forked, of, in_frame):
        used = forked.pose(of=of, in_frame=in_frame, at=seconds(1)).relations
        assert sorted(f"{child} {parent}" for child, parent, _ in used) == sorted(CHAINS[of, in_frame])

    @pytest.mark.parametrize("fixed_frame", ["c", "a", "e"])
    def test_x2_names_them_for_two_instants_whatever_the_fixed_frame(self, forked, fixed_frame):
        pose = forked.pose(of="e", in_frame="c", at=seconds(1), of_at=seconds(1), fixed_frame=fixed_frame)
        assert {f"{child} {parent}" for child, parent, _ in pose.relations} == set(CHAINS["e", "c"])


class TestAWorld:
    def test_x3_lists_the_frames_that_were_placed(self, world):
        assert world.frames() == ()
        world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=0)
        assert sorted(world.frames()) == ["a", "b"]

    def test_x4_describes_every_relation(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[tenth / 10 for tenth in range(11)])
        (relation,) = world.relations()
        assert (relation.of, relation.in_frame, relation.source) == ("b", "a", world.name)
        assert (relation.kind, relation.samples) == ("sampled", 11)
        assert (relation.first, relation.last, relation.span_s) == (0, seconds(1), pytest.approx(1.0))
        assert relation.rate_hz == pytest.approx(10.0)

    def test_x4_has_nothing_to_describe_when_it_is_empty(self, world):
        assert world.relations() == ()

    def test_x5_draws_its_tree(self, forked):
        drawing = str(forked.tree(at=seconds(1)))
        order = [drawing.index(name) for name in "abc"]
        assert order == sorted(order)
        assert all(name in drawing for name in "abcde")

    def test_x5_draws_that_there_are_no_frames(self, world):
        assert "no frames" in str(world.tree())
