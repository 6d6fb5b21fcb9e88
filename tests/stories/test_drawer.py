"""A drawer that is reported when it changes, and a map correction that jumps: both stay where they were left."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.articulation import AddJoint, AddLink, AddObject, ArticulationModel, Connect, PrismaticJoint
from armillary.errors import AfterHistory, InvalidArgument, UnknownVariable

KITCHEN = """
<robot name="kitchen">
  <link name="cupboard"/> <link name="tray"/> <link name="door"/>
  <joint name="drawer" type="prismatic">
    <parent link="cupboard"/> <child link="tray"/> <axis xyz="1 0 0"/>
    <limit lower="0" upper="0.45" velocity="1" effort="10"/>
  </joint>
  <joint name="hinge" type="revolute">
    <parent link="cupboard"/> <child link="door"/> <axis xyz="0 0 1"/>
    <limit lower="0" upper="2" velocity="1" effort="10"/>
  </joint>
</robot>
"""
TRAY = {"of": "kitchen/tray", "in_frame": "map"}


def kitchen(**how) -> World:
    model = ArticulationModel()
    model.load_urdf(KITCHEN, name="kitchen")
    world = World(history=seconds(100))
    world.mount(model, in_frame="map", **how)
    for joint in ("kitchen/drawer", "kitchen/hinge"):
        world.set_joints({joint: 0.0}, at=seconds(0))
        world.set_joints({joint: 0.3}, at=seconds(10))
    return world


def x_of(pose) -> float:
    return float(pose.transform.translation[0])


class TestTheDrawer:
    @pytest.fixture
    def world(self) -> World:
        return kitchen(interpolation={"kitchen/drawer": "hold"})

    def test_stays_where_it_was_left(self, world):
        assert [x_of(world.pose(**TRAY, at=seconds(t))) for t in (0, 9.9, 10, 3600)] == [0.0, 0.0, 0.3, 0.3]

    def test_says_how_old_the_report_is(self, world):
        (held,) = world.pose(**TRAY, at=seconds(3600)).held
        assert (held.joint, held.age_s) == ("kitchen/drawer", 3590.0)
        assert held.relation == ("kitchen/tray", "kitchen/cupboard", "")

    def test_is_known_while_the_door_beside_it_is_not(self, world):
        with pytest.raises(AfterHistory):
            world.pose(of="kitchen/door", in_frame="map", at=seconds(11))
        assert world.pose(of="kitchen/door", in_frame="map", at=seconds(5)).held == ()

    def test_does_not_limit_the_newest_instant(self, world):
        world.set_joints({"kitchen/hinge": 0.5}, at=seconds(20))
        pose = world.pose(of="kitchen/door", in_frame="kitchen/tray", at=LATEST)
        assert (pose.stamp, [sample.age_s for sample in pose.held]) == (seconds(20), [10.0])
        assert world.pose(**TRAY, at=LATEST).stamp == seconds(10)

    def test_does_not_move(self, world):
        for t in (5, 3600):
            assert not world.twist(of="kitchen/tray", relative_to="map", at=seconds(t)).linear.any()

    def test_is_so_again_when_the_world_was_saved(self, world, tmp_path):
        world.save(tmp_path / "kitchen.json")
        loaded = World.load(tmp_path / "kitchen.json")
        assert x_of(loaded.pose(**TRAY, at=seconds(3600))) == 0.3
        assert loaded.digest() == world.digest()
        assert loaded.mounts[0].options.interpolations == (("kitchen/drawer", "hold"),)
        assert x_of(world.copy().pose(**TRAY, at=seconds(3600))) == 0.3

    def test_is_one_of_all_that_hold(self):
        world = kitchen(interpolation="hold")
        assert world.can_pose(of="kitchen/door", in_frame="kitchen/tray", at=seconds(99))

    def test_may_hold_by_its_model(self, tmp_path):
        slide = PrismaticJoint(variable="kitchen/drawer", interpolation="hold")
        assert slide.interpolations == {"kitchen/drawer": "hold"}
        model = ArticulationModel()
        for link in ("cupboard", "tray"):
            model.apply(AddLink(path=f"kitchen/links/{link}"), tag=link)
        model.apply(AddObject(name="kitchen", root="kitchen/links/cupboard"), tag="kitchen")
        model.apply(AddJoint(path="kitchen/joints/drawer", joint=slide), tag="drawer")
        model.apply(
            Connect(parent="kitchen/links/cupboard", child="kitchen/links/tray", joint="kitchen/joints/drawer"),
            tag="connect",
        )
        model.save(tmp_path / "model.json")
        world = World()
        world.mount(ArticulationModel.load(tmp_path / "model.json"), in_frame="map")
        world.set_joints({"kitchen/drawer": 0.2}, at=seconds(1))
        assert x_of(world.pose(**TRAY, at=seconds(99))) == 0.2

    def test_refuses_what_is_no_kind_or_no_joint(self):
        with pytest.raises(InvalidArgument, match="'linear', 'wrap' or 'hold'"):
            kitchen(interpolation="stay")
        with pytest.raises(UnknownVariable, match="kitchen/drawer"):
            kitchen(interpolation={"kitchen/drawr": "hold"})
        with pytest.raises(InvalidArgument, match="'linear', 'wrap' or 'hold'"):
            PrismaticJoint(variable="a", interpolation="unit_quaternion")


class TestTheMapCorrection:
    """A localisation corrects now and then; odometry goes on. Nothing glides, and nothing waits for a correction."""

    def test_jumps_and_stays(self):
        world, jumps = World(history=None), {0.0: 0.0, 3.0: 0.5, 4.0: -0.25}
        world.add_relation(of="odom", in_frame="map", source="amcl", interpolation="step", at=0)
        for t, x in jumps.items():
            correction = Transform.from_translation((x, 0, 0))
            world.set_pose(of="odom", in_frame="map", transform=correction, at=seconds(t), source="amcl")
        at = np.arange(0, 600, dtype=np.int64) * 10**8
        rows = np.zeros((len(at), 7))
        rows[:, 0], rows[:, 3] = at * 1e-9, 1.0
        world.set_poses(of="base", in_frame="odom", transforms=rows, at=at)
        due = [t * 1e-9 + jumps[max(s for s in jumps if seconds(s) <= t)] for t in at.tolist()]
        found = world.transforms(of="base", in_frame="map", at=at, as_="xyz_wxyz")[:, 0]
        assert found == pytest.approx(due)
        newest = world.pose(of="base", in_frame="map")
        assert (newest.stamp, newest.held[0].age_s) == (int(at[-1]), pytest.approx(55.9))
        assert len(world.samples(of="odom", in_frame="map", source="amcl")) == 3
