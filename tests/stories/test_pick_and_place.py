"""A cup is seen, grasped, carried, put down and seen again: one source is the one that knows, at every instant."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from armillary import Transform, World, seconds

SPEED_M_S = 0.1  # of the hand, along x


def pick_and_place(grasp, release):
    """Return a world in which a cup was carried, and the cup: what a program writes."""
    world = World("robot", clock=lambda: seconds(0))
    scene = world.scene
    table = scene.add_transform(parent="map", transform=_at(2.0), at=None, frame="table")
    cup = scene.add_transform(parent=table, transform=_at(0.3), at=seconds(0), frame="cup_red")
    for t in range(12):
        hand = Transform.from_xyz_rpy(xyz=(2.0 + SPEED_M_S * t, 0.5, 0.2), rpy=(0.0, 0.0, 0.2 * t))
        world.set_pose(of="gripper", in_frame="map", transform=hand, at=seconds(t))
    for t in (1.0, 2.0, 3.0):
        world.set_pose(of="cup_red", in_frame="map", transform=_at(2.31), at=seconds(t), source="camera")
    grasp(scene, cup)
    world.set_pose(of="cup_red", in_frame="map", transform=_at(2.0), at=seconds(3.5), source="camera")  # wrong
    release(scene, cup, table)
    for t in (8.0, 9.0):
        world.set_pose(of="cup_red", in_frame="map", transform=_at(2.9), at=seconds(t), source="camera")
    return world, cup


def _at(x):
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


def _grasp(scene, cup):
    scene.move(cup, to="gripper", at=seconds(3))


def _release(scene, cup, table):
    scene.move(cup, to=table, at=seconds(6), released=True)


@pytest.fixture(scope="module")
def story():
    return pick_and_place(_grasp, _release)


def where(world, t):
    return world.pose(of="cup_red", in_frame="map", at=seconds(t), policy="unique").transform.matrix


def hand(world, t):
    return world.pose(of="gripper", in_frame="map", at=seconds(t)).transform.matrix


def test_the_program_is_short():
    assert sum(len(inspect.getsource(part).splitlines()) for part in (pick_and_place, _at, _grasp, _release)) < 40


def test_the_pose_that_it_was_made_with_answers_before_it_is_seen(story):
    np.testing.assert_allclose(where(story[0], 0)[:3, 3], [2.3, 0, 0])


@pytest.mark.parametrize("t", [1, 1.5, 2.9])
def test_it_is_where_the_camera_sees_it(story, t):
    np.testing.assert_allclose(where(story[0], t)[:3, 3], [2.31, 0, 0])


@pytest.mark.parametrize("t", [3, 3.25, 3.5, 4.5, 5.9])
def test_grasped_it_follows_the_hand_whatever_the_camera_sees(story, t):
    world, _ = story
    grasp = np.linalg.inv(hand(world, 3)) @ _at(2.31).matrix
    np.testing.assert_allclose(where(world, t), hand(world, t) @ grasp, atol=1e-12)


def test_released_it_stays_until_it_is_seen():
    world, _ = pick_and_place(_grasp, _release)
    grasp = np.linalg.inv(hand(world, 3)) @ _at(2.31).matrix
    unseen = World("robot", clock=lambda: seconds(0))
    table = unseen.scene.add_transform(parent="map", transform=_at(2.0), at=None, frame="table")
    cup = unseen.scene.add_transform(parent=table, transform=_at(0.31), at=seconds(0), frame="cup_red")
    for t in range(1, 12):
        unseen.set_pose(of="gripper", in_frame="map", transform=hand(world, t), at=seconds(t))
    _grasp(unseen.scene, cup)
    _release(unseen.scene, cup, table)
    for t in (6, 7, 11):
        np.testing.assert_allclose(where(unseen, t), hand(world, 6) @ grasp, atol=1e-12)


@pytest.mark.parametrize("t", [8, 8.5, 9])
def test_seen_again_it_is_where_the_camera_sees_it(story, t):
    np.testing.assert_allclose(where(story[0], t)[:3, 3], [2.9, 0, 0])


def test_the_newest_is_what_the_camera_saw_last(story):
    newest = story[0].pose(of="cup_red", in_frame="map")
    assert newest.stamp == seconds(9)
    np.testing.assert_allclose(newest.xyz, [2.9, 0, 0])


def test_a_wrong_association_is_taken_back_in_one_call(story):
    with story[0].copy() as world:
        world.set_pose(of="cup_red", in_frame="map", transform=_at(9.0), at=seconds(10), source="camera")
        assert where(world, 10)[0, 3] == 9.0
        assert world.forget(of="cup_red", source="camera", start=seconds(10)) == 1
        np.testing.assert_allclose(where(world, 9)[:3, 3], [2.9, 0, 0])
        assert world.pose(of="cup_red", in_frame="map").stamp == seconds(9)


def test_what_was_in_the_gripper_is_known(story):
    world, cup = story
    held = [world.scene.as_of(seconds(t)).children("gripper") == [cup] for t in (2, 3, 4, 5.9, 6, 8)]
    assert held == [False, True, True, True, False, False]


def test_each_move_is_undone_in_one_call(story):
    world, cup = story
    with world.copy() as twin:
        twin.undo()
        assert twin.scene.parents(cup) == [twin.scene.node("gripper")]
        np.testing.assert_allclose(where(twin, 7), hand(twin, 7) @ np.linalg.inv(hand(twin, 3)) @ _at(2.31).matrix)
        twin.undo()
        assert twin.scene.parents(cup) == [twin.scene.node("table")]
