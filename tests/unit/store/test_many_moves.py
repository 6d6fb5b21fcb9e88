"""Many moves of one frame: what is kept is the newest of them, here and at others."""

import pytest

from armillary import Transform, World, errors

KEPT = 10
LAST = 34


def at_x(x: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


@pytest.fixture
def moved() -> World:
    world = World("mover", max_runs=KEPT)
    for t in range(LAST + 1):
        world.fix(of="cup", in_frame="table", transform=at_x(t), at=t)
    return world


class TestAFrameThatIsFixedMoreOftenThanIsKept:
    def test_answers_from_the_newest(self, moved):
        for t in range(LAST - KEPT + 1, LAST + 1):
            assert moved.pose(of="cup", in_frame="table", at=t).xyz[0] == t

    def test_is_the_same_for_others(self, moved):
        other = World("other")
        other.merge(moved.scene.changes())
        for t in range(LAST - KEPT + 1, LAST + 1):
            assert other.pose(of="cup", in_frame="table", at=t).xyz[0] == t
        with pytest.raises(errors.BeforeHistory):
            other.pose(of="cup", in_frame="table", at=LAST - KEPT)

    def test_is_where_it_was_after_loading(self, moved, tmp_path):
        moved.save(tmp_path / "moved.json")
        loaded = World.load(tmp_path / "moved.json")
        assert loaded.pose(of="cup", in_frame="table", at=LAST - KEPT + 1).xyz[0] == LAST - KEPT + 1
