"""Two arms, two models, one tray: held from one instant to another, by both."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, FixedJoint, RevoluteJoint
from armillary.articulation.mechanisms import Parts
from armillary.errors import InvalidArgument, SingularLoop, UnknownVariable, UnreachableLoop

UPPER_M, FORE_M, HAND_M, APART_M = 0.6, 0.5, 0.1, 1.0
LEFT, RIGHT = ("left/a", "left/b", "left/c"), ("right/a", "right/b", "right/c")
GRASP, RELEASE, END = seconds(2), seconds(6), seconds(8)
CLOSED = 1e-9
UP = (0.0, 0.0, 1.0)


def along(x_m: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x_m, 0, 0), rpy=(0, 0, 0))


def arm(name: str) -> ArticulationModel:
    """Three joints in a plane: any place in reach, any direction."""
    parts, model = Parts(name, "base"), ArticulationModel()
    for link in ("base", "upper", "fore", "wrist", "hand"):
        parts.link(link)
    chain = zip(("base", "upper", "fore"), ("upper", "fore", "wrist"), "abc", (0.0, UPPER_M, FORE_M), strict=True)
    for parent, child, joint, length_m in chain:
        turning = RevoluteJoint(variable=f"{name}/{joint}", axis=UP, parent_T_joint=along(length_m))
        parts.joint(joint, turning, child=child, parent=parent)
    parts.joint("palm", FixedJoint(parent_T_joint=along(HAND_M)), child="hand", parent="wrist")
    model.edit(parts.edits)
    return model


def hand(q, base_x_m: float = 0.0) -> np.ndarray:
    """x, y and direction of a hand."""
    a, b, c = np.cumsum(q)
    x = base_x_m + UPPER_M * np.cos(a) + FORE_M * np.cos(b) + HAND_M * np.cos(c)
    return np.array([x, UPPER_M * np.sin(a) + FORE_M * np.sin(b) + HAND_M * np.sin(c), c])


def joints_of(place, base_x_m: float, elbow: float) -> np.ndarray:
    """The closed form: which joints put a hand there; `elbow` is the side it bends to."""
    x, y, turn = place - [base_x_m, 0, 0]
    x, y = x - HAND_M * np.cos(turn), y - HAND_M * np.sin(turn)
    cosine = (x**2 + y**2 - UPPER_M**2 - FORE_M**2) / (2 * UPPER_M * FORE_M)
    b = elbow * np.arccos(cosine)
    a = np.arctan2(y, x) - np.arctan2(FORE_M * np.sin(b), UPPER_M + FORE_M * np.cos(b))
    return np.array([a, b, turn - a - b])


def left_at(at: int) -> np.ndarray:
    """Return the commanded positions of the leading arm: linear between samples half a second apart."""
    grid = np.arange(0, END + 1, seconds(0.5))
    targets = np.array([[1.0 + 0.1 * np.sin(t * 1e-9), -0.7 - 0.15 * np.sin(0.7e-9 * t), 0.2] for t in grid])
    return np.array([np.interp(at, grid, column) for column in targets.T])


RIGHT_AT_GRASP = np.array([2.1, 0.8, 0.1])


def right_while_held(at: int) -> np.ndarray:
    """The other arm: its hand stays on the tray, and the tray in the first hand."""
    left, other = hand(left_at(GRASP)), hand(RIGHT_AT_GRASP, APART_M)
    away = _turned(-left[2], other[:2] - left[:2])
    now = hand(left_at(at))
    place = now[:2] + _turned(now[2], away)
    return joints_of(np.array([*place, now[2] + other[2] - left[2]]), APART_M, elbow=1.0)


def _turned(angle: float, xy) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ xy


@pytest.fixture
def world():
    world = World("cell", history=seconds(100), clock=lambda: seconds(100))
    world.fix(of="right_stand", in_frame="map", transform=along(APART_M))
    world.mount(arm("left"), in_frame="map")
    world.mount(arm("right"), in_frame="right_stand")
    world.fix(of="tray", in_frame="left/hand", transform=along(0.05))
    for t in np.arange(0, GRASP + 1, seconds(0.5)):
        set_arms(world, int(t), right=RIGHT_AT_GRASP + 0.1 * (t - GRASP) * 1e-9)
    return world


def set_arms(world, at: int, right=None) -> None:
    joints = dict(zip(LEFT, left_at(at), strict=True))
    world.set_joints(joints if right is None else joints | dict(zip(RIGHT, right, strict=True)), at=at)


def hold(world):
    loop = world.close_loop(of="right/hand", on="tray", dependents=RIGHT, at=GRASP)
    for t in np.arange(GRASP + seconds(0.5), RELEASE, seconds(0.5)):
        set_arms(world, int(t))
    return loop


def let_go(world, loop) -> None:
    loop.open(at=RELEASE)
    for t in np.arange(RELEASE, END + 1, seconds(0.5)):
        set_arms(world, int(t), right=RIGHT_AT_GRASP)


WHILE_HELD = [int(t) for t in np.linspace(GRASP, RELEASE - seconds(0.5), 23)]


class TestTwoArmsThatHoldATray:
    def test_the_second_follows_the_first_at_every_instant(self, world):
        let_go(world, hold(world))
        for at in WHILE_HELD:
            found = [world.joint(name, at=at).value for name in RIGHT]
            assert np.abs(found - right_while_held(at)).max() < CLOSED
            place = world.pose(of="right/hand", in_frame="map", at=at).transform
            expected = hand(right_while_held(at), APART_M)
            assert np.abs(place.translation[:2] - expected[:2]).max() < CLOSED

    def test_the_tray_stays_in_both_hands(self, world):
        let_go(world, hold(world))
        held = world.pose(of="right/hand", in_frame="tray", at=GRASP).transform.matrix
        for at in WHILE_HELD:
            now = world.pose(of="right/hand", in_frame="tray", at=at).transform.matrix
            assert np.abs(now - held).max() < CLOSED
            twist = world.twist(of="right/hand", relative_to="tray", at=at)
            assert np.abs([*twist.linear, *twist.angular]).max() < CLOSED

    def test_joints_move_as_the_loop_makes_them(self, world):
        let_go(world, hold(world))
        for at in (seconds(2.7), seconds(4.2), seconds(5.1)):
            for i, name in enumerate(RIGHT):
                step = seconds(1e-4)
                slope = (right_while_held(at + step) - right_while_held(at - step))[i] / 2e-4
                assert world.joint(name, at=at).velocity == pytest.approx(slope, abs=1e-6)
            turned = world.twist(of="right/fore", relative_to="map", at=at).angular[2]
            slopes = [world.joint(name, at=at).velocity for name in RIGHT[:2]]
            assert turned == pytest.approx(sum(slopes), abs=CLOSED)

    def test_before_and_after_each_arm_is_its_own(self, world):
        let_go(world, hold(world))
        early = RIGHT_AT_GRASP - 0.1
        for name, expected in zip(RIGHT, early, strict=True):
            assert world.joint(name, at=seconds(1)).value == pytest.approx(expected, abs=1e-12)
        place = world.pose(of="right/hand", in_frame="map", at=seconds(7.2)).transform
        assert np.abs(place.translation[:2] - hand(RIGHT_AT_GRASP, APART_M)[:2]).max() < 1e-12

    def test_a_copy_holds_it_as_well_and_lets_go_alone(self, world):
        loop = hold(world)
        copy = world.copy()
        copy.closed_loops[0].open(at=seconds(5))
        set_arms(copy, seconds(7))
        set_arms(world, seconds(7))
        assert copy.joint("right/a").stamp < seconds(7)
        assert world.joint("right/a").value == pytest.approx(right_while_held(seconds(7))[0], abs=CLOSED)
        assert loop.until is None

    def test_a_replica_answers_the_same(self, world):
        let_go(world, hold(world))
        other = World("elsewhere", history=seconds(100), clock=lambda: seconds(100))
        other.merge(world.scene.changes())
        assert other.digest() == world.digest()
        for name in (*LEFT, *RIGHT):
            samples = world.joint_samples(name)
            other.set_joint_series([name], positions=samples.positions[:, None], at=samples.stamps)
        for at in WHILE_HELD:
            mine, theirs = (w.pose(of="right/hand", in_frame="map", at=at).transform.matrix for w in (world, other))
            assert np.abs(mine - theirs).max() < CLOSED

    def test_can_be_undone(self, world):
        before = world.digest()
        loop = world.close_loop(of="right/hand", on="tray", dependents=RIGHT, at=GRASP)
        loop.open(at=RELEASE)
        world.undo()
        assert (loop.until, loop.holds_at(RELEASE)) == (None, True)
        world.undo()
        assert (world.digest(), loop.holds_at(GRASP)) == (before, False)
        set_arms(world, seconds(3))
        assert world.joint("right/a").stamp == GRASP

    def test_goes_on_when_a_model_is_edited(self, world):
        hold(world)
        model = world.mounts[0].model
        parts = Parts("left", "base")
        parts.link("lamp")
        parts.joint("lamp", FixedJoint(), child="lamp", parent="hand")
        model.edit(parts.edits[1:])
        for at in (seconds(3.3), seconds(5.2)):
            assert world.joint("right/b", at=at).value == pytest.approx(right_while_held(at)[1], abs=CLOSED)


class TestWhatCannotBeHeld:
    def test_a_joint_that_is_none(self, world):
        with pytest.raises(UnknownVariable):
            world.close_loop(of="right/hand", on="tray", dependents=["right/z"], at=GRASP)

    def test_dependents_that_do_not_follow(self, world):
        before = world.digest()
        with pytest.raises(SingularLoop):
            world.close_loop(of="right/hand", on="tray", dependents=[*RIGHT, "left/a"], at=GRASP)
        assert world.digest() == before

    def test_a_place_out_of_reach(self, world):
        hold(world)
        with pytest.raises(UnreachableLoop):
            world.set_joints({"left/a": 3.1, "left/b": 0.0, "left/c": 0.0}, at=seconds(6))
        assert world.joint("left/a").stamp < seconds(6)

    def test_what_something_else_moves(self, world):
        for t in (0, 10):
            world.set_pose(of="rail", in_frame="map", transform=along(0.1 * t), at=seconds(t))
        world.mount(arm("third"), in_frame="rail")
        world.set_joints({"third/a": 1.0, "third/b": 0.5, "third/c": 0.2}, at=GRASP)
        with pytest.raises(InvalidArgument, match="end at 'map' and 'rail'"):
            world.close_loop(of="left/hand", on="third/hand", dependents=["third/a", "third/b", "third/c"], at=GRASP)

    @pytest.mark.parametrize("is_opened", [False, True])
    def test_what_is_held_is_in_files(self, world, tmp_path, is_opened):
        loop = hold(world)
        if is_opened:
            loop.open(at=RELEASE)
        world.save(tmp_path / "cell.json")
        loaded = World.load(tmp_path / "cell.json")
        assert loaded.digest() == world.digest()
        assert [repr(one) for one in loaded.closed_loops] == [repr(loop)]
        move = {name: 1.02 * world.joint(name).value for name in ("left/a", "left/b", "left/c")}
        for one in (world, loaded):
            one.set_joints(move, at=seconds(5.5))
        for name in world.joints():
            assert abs(loaded.joint(name).value - world.joint(name).value) < 1e-12
        places = [one.pose(of="right/hand", in_frame="tray", outside="hold").transform for one in (world, loaded)]
        assert places[0].is_close(places[1], m=1e-12, rad=1e-12)
        if not is_opened:
            loaded.closed_loops[0].open(at=RELEASE)
            world.closed_loops[0].open(at=RELEASE)
            assert loaded.digest() == world.digest()

    def test_opening_it_twice_or_too_early(self, world):
        loop = hold(world)
        with pytest.raises(InvalidArgument, match="at a later instant"):
            loop.open(at=GRASP)
        loop.open(at=RELEASE)
        with pytest.raises(InvalidArgument, match="open already"):
            loop.open(at=RELEASE)
