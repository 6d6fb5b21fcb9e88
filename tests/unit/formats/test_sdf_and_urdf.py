"""One robot in two formats: SDFormat written here, in two styles, and read as the same robot."""

from __future__ import annotations

import numpy as np
import pytest

from armillary.demos.models import kitchen, mobile_manipulator
from armillary.formats import RobotDescription, read_sdf, read_urdf
from unit.formats.kit import robot_file
from unit.formats.motions import link_poses

CLOSE = 1e-9


def pose(place, **attributes) -> str:
    numbers = " ".join(repr(float(value)) for value in (*place.translation, *place.rotation.rpy))
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<pose{written}>{numbers}</pose>"


def scaled(mimic) -> str:
    return f"<multiplier>{mimic.multiplier}</multiplier><offset>{mimic.offset}</offset>"


def axis_of(joint) -> str:
    xyz, limits, mimic = " ".join(map(repr, joint.axis)), joint.limits, joint.mimic
    root_T_link = limits is not None and limits.lower is not None
    ends = f"<lower>{limits.lower}</lower><upper>{limits.upper}</upper>" if root_T_link else ""
    follows = "" if mimic is None else f'<mimic joint="{mimic.joint}">{scaled(mimic)}</mimic>'
    return f"<axis><xyz>{xyz}</xyz><limit>{ends}</limit>{follows}</axis>"


def joint_text(joint, place: str) -> str:
    ends = f"<parent>{joint.parent}</parent><child>{joint.child}</child>"
    return f'<joint name="{joint.name}" type="{joint.kind}">{place}{ends}{axis_of(joint)}</joint>'


def in_chains(robot: RobotDescription) -> str:
    """Each joint in its parent, each link in its joint."""
    carriers = {joint.child: joint.name for joint in robot.joints}
    links = [
        f'<link name="{link.name}">' + (f'<pose relative_to="{carriers[link.name]}"/>' if link.name in carriers else "")
        for link in robot.links
    ]
    joints = [joint_text(joint, pose(joint.parent_T_joint, relative_to=joint.parent)) for joint in robot.joints]
    return _file(robot, [f"{link}</link>" for link in links], joints)


def in_the_model(robot: RobotDescription) -> str:
    """Each link in the model, each joint in its child."""
    root_T_link = link_poses(robot, {})
    links = [f'<link name="{link.name}">{pose(root_T_link[link.name])}</link>' for link in robot.links]
    return _file(robot, links, [joint_text(joint, "") for joint in robot.joints])


def _file(robot, links, joints) -> str:
    return f'<sdf version="1.11"><model name="{robot.name}">{"".join([*joints, *links])}</model></sdf>'


ROBOTS = [kitchen(), mobile_manipulator(), read_urdf(robot_file("pr2.urdf")), read_urdf(robot_file("panda.urdf"))]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
class TestOneRobotInTwoFormats:
    def drawn(self, robot):
        random = np.random.default_rng(5)
        return {joint.name: float(random.uniform(-1.0, 1.0)) for joint in robot.joints}

    @pytest.mark.parametrize("written", [in_chains, in_the_model])
    def test_moves_in_the_same_way(self, robot, written):
        (again,) = read_sdf(written(robot))
        there, here = link_poses(robot, self.drawn(robot)), link_poses(again, self.drawn(robot))
        assert set(here) == set(there)
        for name, place in there.items():
            np.testing.assert_allclose(here[name].matrix, place.matrix, atol=CLOSE, err_msg=name)

    def test_has_the_same_joints(self, robot):
        (again,) = read_sdf(in_chains(robot))
        assert again.root == robot.root
        for joint in robot.joints:
            twin = again.joint_by_name[joint.name]
            assert (twin.kind, twin.parent, twin.child, twin.mimic) == (
                joint.kind,
                joint.parent,
                joint.child,
                joint.mimic,
            )
