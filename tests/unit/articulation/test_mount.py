"""Models that are mounted in a world: links are frames, variables are joints, edits are followed."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, FixedJoint, RevoluteJoint, position
from armillary.articulation.history import Apply
from armillary.articulation.operations import AddJoint, AddLink, AddMimicJoint, AddObject, Connect
from armillary.demos.models import kitchen, mobile_manipulator
from armillary.errors import AfterHistory, ArmillaryError, InvalidArgument, MissingMeshes, UnknownFrame, UnknownVariable
from armillary.formats.descriptions import BoxForm, Limits, MeshForm, ShapeDescription
from armillary.scene import Box, Sphere

CLOSE = 1e-12
UP = (0.0, 0.0, 1.0)


def at(x, y=0.0, z=0.0):
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, 0.0))


def boxed(x=0.0):
    return (ShapeDescription(form=BoxForm(size_m=(0.1, 0.1, 0.1)), link_T_shape=at(x)),)


def added(name, link, joint, *, parent, visuals=()):
    child, path = f"{name}/links/{link}", f"{name}/joints/{link}"
    return [
        Apply(f"create {child}", AddLink(path=child, visuals=visuals)),
        Apply(f"create {path}", AddJoint(path=path, joint=joint)),
        Apply(f"connect {child}", Connect(child=child, joint=path, parent=f"{name}/links/{parent}")),
    ]


def arm(name="arm", visuals=()):
    """Two turning links of one metre each, on a base."""
    model = ArticulationModel()
    model.edit(
        [
            Apply(f"create {name}", AddObject(name=name, root=f"{name}/links/base")),
            Apply(f"create {name}/links/base", AddLink(path=f"{name}/links/base")),
            *added(name, "upper", RevoluteJoint(variable=f"{name}/shoulder", axis=UP), parent="base"),
            *added(
                name,
                "lower",
                RevoluteJoint(variable=f"{name}/elbow", axis=UP, parent_T_joint=at(1.0)),
                parent="upper",
                visuals=visuals,
            ),
            *added(name, "hand", FixedJoint(parent_T_joint=at(1.0)), parent="lower"),
        ]
    )
    return model


def hand_at(shoulder, elbow):
    both = shoulder + elbow
    return np.array([np.cos(shoulder) + np.cos(both), np.sin(shoulder) + np.sin(both), 0.0])


class TestAMountedArm:
    def test_a_mount_lists_frames_and_joints(self, world):
        assert repr(world.mount(arm(), in_frame="map")) == "Mount(a model in map: 4 frames, 2 joints)"

    def test_is_where_its_joints_put_it_between_samples_exactly(self, world):
        world.mount(arm(), in_frame="map")
        for t in range(3):
            world.set_joints({"arm/shoulder": 0.5 * t, "arm/elbow": -0.3 * t}, at=seconds(t))
        for t in np.linspace(0.0, 2.0, 21):
            hand = world.pose(of="arm/hand", in_frame="map", at=seconds(float(t))).transform
            assert np.allclose(hand.translation, hand_at(0.5 * t, -0.3 * t), atol=CLOSE)

    def test_moves_as_its_joints_move(self, world):
        world.mount(arm(), in_frame="map")
        world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(0))
        world.set_joints({"arm/shoulder": 1.0, "arm/elbow": 0.0}, at=seconds(1))
        twist = world.twist(of="arm/hand", relative_to="map", expressed_in="arm/hand", at=seconds(0.5))
        assert twist.method == "joints"
        assert np.allclose(twist.linear, (0.0, 2.0, 0.0), atol=CLOSE)
        assert np.allclose(twist.angular, (0.0, 0.0, 1.0), atol=CLOSE)

    def test_may_be_mounted_on_a_moving_frame(self, world):
        world.mount(arm(), in_frame="cart")
        for t in (0, 1):
            world.set_pose(of="cart", in_frame="map", transform=at(float(t)), at=seconds(t))
            world.set_joints({"arm/shoulder": float(t), "arm/elbow": 0.0}, at=seconds(t))
        hand = world.pose(of="arm/hand", in_frame="map", at=seconds(0.5)).transform
        assert np.allclose(hand.translation, hand_at(0.5, 0.0) + np.array((0.5, 0.0, 0.0)), atol=CLOSE)

    def test_has_no_parent_until_a_pose_is_set(self, world):
        world.mount(arm())
        world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(0))
        assert world.can_pose(of="arm/hand", in_frame="arm/base", at=seconds(0))
        assert not world.can_pose(of="arm/hand", in_frame="map", at=seconds(0))
        world.fix(of="arm/base", in_frame="map", transform=at(3.0))
        assert world.pose(of="arm/hand", in_frame="map").transform.translation[0] == 5.0

    def test_has_no_answer_beyond_its_joints(self, world):
        world.mount(arm(), in_frame="map")
        for t in (0, 1):
            world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(t))
        with pytest.raises(AfterHistory):
            world.pose(of="arm/hand", in_frame="map", at=seconds(2))

    def test_mixes_with_everything_in_one_batch(self, world):
        world.mount(arm(), in_frame="map")
        stamps = np.arange(0, 11) * seconds(0.1)
        world.set_joint_series(
            ["arm/shoulder", "arm/elbow"], positions=np.stack([stamps * 1e-9, 0 * stamps], axis=1), at=stamps
        )
        asked = np.arange(0, 100) * seconds(0.01)
        found = world.transforms(of="arm/hand", in_frame="map", at=asked)
        assert np.allclose(found[:, :3, 3], [hand_at(t * 1e-9, 0.0) for t in asked], atol=CLOSE)
        assert "arm/hand" in world.snapshot(in_frame="map", at=seconds(0.35))


class TestNames:
    def test_of_a_model_lead_to_those_of_the_world_in_errors(self, world):
        world.mount(arm(), in_frame="map")
        with pytest.raises(UnknownFrame, match="Did you mean 'arm/hand'"):
            world.pose(of="arm/links/hand", in_frame="map")
        with pytest.raises(UnknownVariable, match="Did you mean 'arm/elbow'"):
            world.joint("arm/joints/elbow")

    def test_are_the_models_with_a_slash(self, world):
        mount = world.mount(arm(), in_frame="map")
        assert set(mount.frames.values()) == {"arm/base", "arm/upper", "arm/lower", "arm/hand"}
        assert world.joints() == ("arm/shoulder", "arm/elbow")

    def test_are_bare_with_an_empty_prefix(self, world):
        mount = world.mount(arm(), in_frame="map", prefix="")
        assert mount.frames["arm/links/hand"] == "hand"
        assert mount.joints == {"arm/shoulder": "shoulder", "arm/elbow": "elbow"}

    def test_let_one_model_be_mounted_twice(self, world):
        model = arm()
        world.mount(model, in_frame="map", prefix="left/")
        world.mount(model, in_frame="map", prefix="right/")
        world.set_joints({"left/shoulder": 0.0, "left/elbow": 0.0}, at=seconds(0))
        world.set_joints({"right/shoulder": 1.0, "right/elbow": 0.0}, at=seconds(0))
        between = world.pose(of="right/hand", in_frame="left/hand").transform
        assert np.allclose(between.rotation.rpy, (0.0, 0.0, 1.0), atol=CLOSE)

    def test_are_taken_once(self, world):
        world.mount(arm(), in_frame="map")
        with pytest.raises(InvalidArgument, match="'arm/base' is a link of a model that is mounted already"):
            world.mount(arm(), in_frame="map")

    def test_are_no_worlds_and_the_error_names_merge(self, world):
        with pytest.raises(InvalidArgument, match=r"merge\(other\.scene\.changes\(\)\).*scene\.add_parent"):
            world.mount(World("arm"))
        with pytest.raises(InvalidArgument, match=r"got 'arm'\. Load one"):
            world.mount("arm")

    def test_of_several_things_take_no_prefix(self, world):
        model = arm("one")
        model.edit([Apply("create two", AddObject(name="two", root="two/links/base"))])
        with pytest.raises(InvalidArgument, match="several things"):
            world.mount(model, prefix="x/")

    def test_of_a_joint_that_is_not_there(self, world):
        world.mount(arm(), in_frame="map")
        with pytest.raises(UnknownVariable, match="arm/elbow"):
            world.set_joints({"arm/elbows": 0.0}, at=seconds(0))


class TestLimits:
    def test_are_those_of_the_joints(self, world):
        model = arm()
        model.edit(
            added(
                "arm",
                "finger",
                RevoluteJoint(variable="arm/finger", axis=UP, limits=Limits(lower=-0.5, upper=1.0)),
                parent="hand",
            )
        )
        limits = world.mount(model, in_frame="map", prefix="").limits
        assert limits == {"finger": (-0.5, 1.0), "shoulder": (-np.inf, np.inf), "elbow": (-np.inf, np.inf)}

    def test_of_a_follower_bound_its_leader(self, world):
        model = arm()
        follower = RevoluteJoint(variable="arm/elbow", axis=UP, limits=Limits(lower=-1.0, upper=1.0))
        follows = AddMimicJoint(
            path="arm/joints/tip", joint=follower, leader="arm/joints/lower", multiplier=-2.0, offset=0.5
        )
        model.apply(follows, tag="follow")
        limits = world.mount(model, in_frame="map").limits
        assert limits["arm/elbow"] == (-0.25, 0.75)


class TestShapes:
    def test_are_nodes_that_move_along(self, world):
        world.mount(arm(visuals=boxed(0.5)), in_frame="map")
        world.set_joints({"arm/shoulder": np.pi / 2, "arm/elbow": 0.0}, at=seconds(0))
        (found,) = world.scene.find({"role": "visual"})
        assert isinstance(world.scene.geometry(found), Box)
        near = world.scene.overlapping(Sphere(0.01), in_frame="arm/lower", at=seconds(0))
        assert list(near) == []
        assert np.allclose(
            world.pose(of=world.scene.frame(found), in_frame="map").transform.translation, (0.0, 1.5, 0.0), atol=CLOSE
        )

    def test_of_links_are_found_by_the_name_of_the_frame(self, world):
        world.mount(arm(), in_frame="map")
        assert world.scene.find({"name": "arm/hand"}) == [world.scene.node("arm/hand")]

    def test_are_left_out_when_not_wanted(self, world):
        world.mount(arm(visuals=boxed()), in_frame="map", shapes="none")
        assert world.scene.find({"role": "visual"}) == []

    def test_without_files_are_refused_together_and_nothing_is_mounted(self, world):
        visuals = tuple(ShapeDescription(form=MeshForm(uri=f"package://none/{i}.stl")) for i in range(2))
        with pytest.raises(MissingMeshes, match=r"(?s)0\.stl.*1\.stl"):
            world.mount(arm(visuals=visuals), in_frame="map", strict=True)
        assert world.joints() == ()
        assert "arm/hand" not in world.frames()

    def test_without_files_are_left_out_when_allowed(self, world):
        visuals = (*boxed(), ShapeDescription(form=MeshForm(uri="package://none/0.stl")))
        world.mount(arm(visuals=visuals), in_frame="map", skip_missing=True)
        assert len(world.scene.find({"role": "visual"})) == 1


class TestEditsOfAMountedModel:
    def test_add_a_tool_from_now_on(self, world, clock):
        model = arm()
        world.mount(model, in_frame="map")
        for t in (0, 10):
            world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(t))
        clock.ns = seconds(5)
        model.edit(added("arm", "tool", FixedJoint(parent_T_joint=at(0.2)), parent="hand", visuals=boxed()))
        assert world.pose(of="arm/tool", in_frame="map", at=seconds(6)).transform.translation[0] == pytest.approx(2.2)
        assert not world.can_pose(of="arm/tool", in_frame="map", at=seconds(4))
        assert len(world.scene.find({"role": "visual"})) == 1

    def test_take_it_off_again(self, world, clock):
        model = arm()
        world.mount(model, in_frame="map")
        for t in (0, 10):
            world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(t))
        clock.ns = seconds(2)
        model.edit(added("arm", "tool", FixedJoint(parent_T_joint=at(0.2)), parent="hand", visuals=boxed()))
        clock.ns = seconds(5)
        model.undo()
        assert world.can_pose(of="arm/tool", in_frame="map", at=seconds(4))
        assert not world.can_pose(of="arm/tool", in_frame="map", at=seconds(6))
        assert world.scene.find({"role": "visual"}) == []

    def test_change_a_joint_from_now_on(self, world, clock):
        model = arm()
        world.mount(model, in_frame="map")
        for t in (0, 10):
            world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0}, at=seconds(t))
        clock.ns = seconds(5)
        longer = RevoluteJoint(variable="arm/elbow", axis=UP, parent_T_joint=at(1.5))
        model.apply(AddJoint(path="arm/joints/lower", joint=longer), tag="create arm/joints/lower")
        reach = [world.pose(of="arm/hand", in_frame="map", at=seconds(t)).transform.translation[0] for t in (4, 6)]
        assert reach == pytest.approx([2.0, 2.5])

    def test_bring_new_joints(self, world):
        model = arm()
        world.mount(model, in_frame="map")
        model.edit(added("arm", "finger", RevoluteJoint(variable="arm/finger", axis=UP), parent="hand"))
        world.set_joints({"arm/shoulder": 0.0, "arm/elbow": 0.0, "arm/finger": 1.0}, at=seconds(1))
        assert world.pose(of="arm/finger", in_frame="arm/hand").transform.rotation.rpy[2] == pytest.approx(1.0)

    def test_are_not_followed_after_close(self, world):
        model = arm()
        world.mount(model, in_frame="map").close()
        model.edit(added("arm", "tool", FixedJoint(), parent="hand"))
        assert "arm/tool" not in world.frames()

    def test_leave_other_models_alone(self, world):
        model = arm("one")
        world.mount(model, in_frame="map", under="one")
        model.edit([Apply("create two/links/x", AddLink(path="two/links/x"))])
        assert "two/x" not in world.frames()


class TestTheModelsOfThisProject:
    @pytest.mark.parametrize("made", [kitchen, mobile_manipulator])
    def test_are_in_the_world_where_their_expressions_are(self, world, made):
        model = ArticulationModel()
        model.add_robot(made(), name="thing")
        mount = world.mount(model, in_frame="map")
        generator = np.random.default_rng(1)
        values = dict(zip(world.joints(), generator.uniform(-1.0, 1.0, len(world.joints())), strict=True))
        world.set_joints(values, at=seconds(1))
        everything = world.snapshot(in_frame="map", at=seconds(1))
        numbers = {position(joint): value for joint, value in values.items()}
        for path, frame in mount.frames.items():
            assert np.abs(everything[frame].matrix - model.pose(path).evaluate(numbers).matrix).max() < CLOSE


def test_a_mount_of_a_deleted_world_is_harmless():
    model = arm()
    World().mount(model, in_frame="map")
    model.edit(added("arm", "tool", FixedJoint(), parent="hand"))


def test_a_strange_choice_of_shapes_is_refused(world):
    with pytest.raises(ArmillaryError, match="shapes must be one of"):
        world.mount(arm(), shapes="all")
