"""The models of `armillary.demos.models`: what they promise, and that others can read them."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pinocchio
import pytest
import yourdfpy

from armillary.demos.models import HANDLES, kitchen, mobile_manipulator, two_armed_robot
from armillary.formats import read_urdf, write_urdf
from unit.formats.likeness import differences
from unit.formats.motions import link_poses

CLOSE = 1e-12
MODELS = [kitchen(), mobile_manipulator(), mobile_manipulator("omni"), two_armed_robot()]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name}-{model.root}")


class TestTheKitchen:
    def test_has_the_size_of_the_one_in_the_thesis(self):
        kinds = Counter(joint.kind for joint in kitchen().joints)
        assert (len(kitchen().links), kinds) == (60, {"fixed": 36, "prismatic": 15, "revolute": 8})

    def test_has_handles_on_nine_drawers_and_three_doors(self):
        carried = {joint.child: joint.parent for joint in kitchen().joints}
        moving = {joint.child: joint.kind for joint in kitchen().joints}
        assert Counter(moving[carried[handle]] for handle in HANDLES) == {"prismatic": 9, "revolute": 3}

    def test_has_two_doors_that_open_downwards(self):
        hinged = {joint.child: joint.axis for joint in kitchen().joints if joint.kind == "revolute"}
        doors = [hinged[handle.removesuffix("_handle")] for handle in HANDLES if "door" in handle]
        assert sorted(abs(axis[2]) for axis in doors) == [0.0, 0.0, 1.0]

    @pytest.mark.parametrize("handle", HANDLES)
    def test_opens_away_from_its_wall(self, handle):
        moved = handle.removesuffix("_handle")
        closed, opened = (
            link_poses(kitchen(), {f"{moved}_joint": position})[handle].translation for position in (0.0, 0.4)
        )
        outward = -1.0 if moved.startswith("island") else 1.0
        assert outward * (opened[0] - closed[0]) > 0.1


class TestTheMobileManipulator:
    @pytest.mark.parametrize(("base", "degrees"), [("differential", 15), ("omni", 18)])
    def test_has_fifteen_joints_and_its_base(self, base, degrees):
        peer = pinocchio.buildModelFromXML(write_urdf(mobile_manipulator(base)))
        assert peer.nv == degrees

    def test_reaches_in_front_of_itself(self):
        x, y, z = link_poses(mobile_manipulator(), {})["tool"].translation
        assert (x > 1.0, abs(y) < CLOSE, z > 0.5) == (True, True, True)


@each_model
class TestEachModel:
    def test_is_the_same_when_it_is_written_and_read(self, model):
        assert differences(model, read_urdf(write_urdf(model))) == []

    def test_is_read_by_pinocchio(self, model):
        peer = pinocchio.buildModelFromXML(write_urdf(model))
        data = peer.createData()
        pinocchio.framesForwardKinematics(peer, data, pinocchio.neutral(peer))
        for name, place in link_poses(model, {}).items():
            np.testing.assert_allclose(data.oMf[peer.getFrameId(name)].homogeneous, place.matrix, atol=CLOSE)

    def test_is_read_by_yourdfpy(self, model):
        peer = yourdfpy.URDF.load(io.StringIO(write_urdf(model)), build_scene_graph=False, load_meshes=False)
        assert set(peer.link_map) == {link.name for link in model.links}
        assert {name: joint.type for name, joint in peer.joint_map.items()} == {
            joint.name: joint.kind for joint in model.joints
        }
