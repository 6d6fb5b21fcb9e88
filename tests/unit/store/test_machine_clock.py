"""Changes are ordered by the machine's clock: that of a world may be simulated, or replayed."""

import pytest

from armillary import World, seconds
from unit.kit import FakeClock, moved

FAR_NS = seconds(4_000_000_000)


def place(world, x):
    world.fix(of="cup", in_frame="map", transform=moved(x), source="shared")


def x_of(world):
    return world.pose(of="cup", in_frame="map").xyz[0]


class TestTheOrderOfChanges:
    @pytest.mark.parametrize("ahead_ns", [FAR_NS, -FAR_NS // 2, 0])
    def test_does_not_depend_on_the_clock_of_a_world(self, ahead_ns):
        with World("sim", clock=FakeClock(ahead_ns)) as sim, World("robot") as robot:
            place(sim, 1)
            robot.merge(sim.scene.changes())
            place(robot, 2)  # later, whatever the simulated clock says
            sim.merge(robot.scene.changes())
            assert [x_of(sim), x_of(robot)] == [2, 2]
            place(sim, 3)
            robot.merge(sim.scene.changes())
            assert [x_of(sim), x_of(robot)] == [3, 3]
            assert sim.digest() == robot.digest()

    @pytest.mark.parametrize("ahead_ns", [FAR_NS, -FAR_NS // 2])
    def test_is_that_in_which_they_were_made_also_without_knowing_of_each_other(self, ahead_ns):
        with World("sim", clock=FakeClock(ahead_ns)) as sim, World("robot") as robot, World("other") as other:
            place(sim, 1)
            place(robot, 2)
            mine, theirs = sim.scene.changes(), robot.scene.changes()
            sim.merge(theirs)
            robot.merge(mine)
            other.merge(theirs + mine)
            assert [x_of(world) for world in (sim, robot, other)] == [2, 2, 2]

    def test_leaves_valid_time_to_the_clock_of_the_world(self):
        with World("sim", clock=FakeClock(seconds(5))) as sim:
            group = sim.scene.add_group(parent=sim.scene.root)
            (record,) = [r for r in sim.scene.changes() if r.type == "add_node"]
            assert record.at == seconds(5)
            assert record.time[0] > seconds(1_000_000_000)
            assert group in sim.scene.as_of(seconds(5))
            assert group not in sim.scene.as_of(seconds(4))

    def test_can_be_set_for_a_simulation_of_several_replicas(self):
        with World("one") as one:
            one.store.set_machine_time(7)
            one.add_frame("a")
            assert one.scene.changes()[-1].time == (7, 0)
            one.store.set_machine_time(None)
            one.add_frame("b")
            assert one.scene.changes()[-1].time[0] > seconds(1_000_000_000)
