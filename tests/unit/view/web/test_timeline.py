"""The displayed instant: live, paused, playing; and the time ranges of relations and joints."""

from __future__ import annotations

import pytest

from armillary import LATEST, World, seconds
from armillary.articulation import ArticulationModel
from armillary.articulation.mechanisms import locking_compartment
from armillary.view.web._timeline import Timeline, time_ranges
from unit.kit import drive


@pytest.fixture
def over_ten_seconds(world: World):
    drive(world, 100.0, 105.0, 110.0)
    return Timeline().covering(time_ranges(world, world.relations()))


class TestATimeline:
    def test_is_live_at_first(self, over_ten_seconds):
        assert over_ten_seconds.instant is LATEST
        assert over_ten_seconds.shown_ns == seconds(110.0)

    def test_counts_from_where_the_history_began(self, over_ten_seconds):
        assert over_ten_seconds.clock_s(over_ten_seconds.last_ns) == 10.0

    def test_stays_where_it_is_paused(self, over_ten_seconds):
        assert over_ten_seconds.paused().advanced(3.0).instant == seconds(110.0)

    def test_goes_back_to_where_the_slider_is(self, over_ten_seconds):
        assert over_ten_seconds.moved_to(2.5).instant == seconds(102.5)

    def test_plays_on_from_where_it_is(self, over_ten_seconds):
        assert over_ten_seconds.moved_to(2.0).playing().advanced(1.5).instant == seconds(103.5)

    def test_plays_faster(self, over_ten_seconds):
        assert over_ten_seconds.moved_to(2.0).playing().faster(2.0).advanced(1.5).instant == seconds(105.0)

    def test_plays_from_the_beginning_where_it_is_at_the_end(self, over_ten_seconds):
        assert over_ten_seconds.playing().instant == seconds(100.0)
        assert over_ten_seconds.moved_to(10.0).playing().instant == seconds(100.0)

    def test_is_live_again_at_the_end(self, over_ten_seconds):
        assert over_ten_seconds.moved_to(9.0).playing().advanced(2.0).instant is LATEST

    def test_does_not_stay_where_the_history_is_forgotten(self, over_ten_seconds, world):
        paused = over_ten_seconds.moved_to(1.0)
        drive(world, 118.0)
        assert paused.covering(time_ranges(world, world.relations())).instant == seconds(110.0)

    def test_keeps_its_clock_while_the_history_moves_on(self, over_ten_seconds, world):
        drive(world, 118.0)
        later = over_ten_seconds.covering(time_ranges(world, world.relations()))
        assert (later.clock_s(later.first_ns), later.clock_s(later.last_ns)) == (10.0, 18.0)

    def test_without_a_history_shows_what_there_is(self):
        nothing = Timeline().covering(())
        assert [t.instant for t in (nothing, nothing.paused(), nothing.playing(), nothing.moved_to(1.0))] == [
            LATEST
        ] * 4


class TestTheHistory:
    def test_is_as_long_as_that_of_poses_and_joints(self, world):
        model = ArticulationModel()
        model.edit(locking_compartment("safe"))
        world.mount(model, in_frame="map")
        for t in (101.0, 103.0):
            world.set_joints({"safe/door": 0.0, "safe/handle": 0.0}, at=seconds(t))
        drive(world, 102.0)
        covering = Timeline().covering(time_ranges(world, world.relations()))
        assert (covering.first_ns, covering.last_ns) == (seconds(101.0), seconds(103.0))

    def test_is_none_of_joints_that_nobody_moved(self, world):
        model = ArticulationModel()
        model.edit(locking_compartment("safe"))
        world.mount(model, in_frame="map")
        assert list(time_ranges(world, world.relations())) == []
