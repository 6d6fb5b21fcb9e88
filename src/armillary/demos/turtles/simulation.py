"""Two turtles in one world: turtle2 follows turtle1, five seconds behind.

The example of Foote, "tf: The transform library" (2013), section VI-B: the pose of the leader five seconds ago in the
present frame of the follower, through a fixed frame. Time is simulated, so it runs as fast as it is called.
"""

from __future__ import annotations

import math

from armillary import Transform, World, seconds
from armillary.demos._common import SimulatedClock

WORLD = "world"
LEADER = "turtle1"
FOLLOWER = "turtle2"
DELAY = seconds(5)
_TICK = seconds(0.005)
_LEADER_PERIOD = seconds(0.020)
_FOLLOWER_PERIOD = seconds(0.025)  # another rate than the leader's: its questions fall between samples
_LAP_S = 34.0
_FASTEST_M_PER_S = 1.4
_TIGHTEST_RAD_PER_S = 2.5
_NS_PER_S = 1e9
REACH_M = _FASTEST_M_PER_S * _FOLLOWER_PERIOD / _NS_PER_S
_TURN_RAD = _TIGHTEST_RAD_PER_S * _FOLLOWER_PERIOD / _NS_PER_S


def planar(x_m: float, y_m: float, yaw_rad: float) -> Transform:
    """Return a pose in the plane z = 0."""
    return Transform.from_xyz_rpy(xyz=(x_m, y_m, 0.0), rpy=(0.0, 0.0, yaw_rad))


def leader_at(time_s: float) -> Transform:
    """Return the pose of the leader, `world_T_turtle1`: a trefoil with a period of 34 s."""
    u = 2.0 * math.pi * time_s / _LAP_S
    x_m, y_m = math.sin(u) + 2.0 * math.sin(2.0 * u), math.cos(u) - 2.0 * math.cos(2.0 * u)
    dx, dy = math.cos(u) + 4.0 * math.cos(2.0 * u), -math.sin(u) + 4.0 * math.sin(2.0 * u)
    return planar(x_m, y_m, math.atan2(dy, dx))


def distance_m(transform: Transform) -> float:
    """Return the length of a translation."""
    return math.hypot(*transform.translation)


def step_towards(follower_T_goal: Transform) -> Transform:
    """Return the motion of the follower in one period: onto the goal if it is in reach, otherwise a turn towards it."""
    x_m, y_m, _ = follower_T_goal.translation
    if distance_m(follower_T_goal) <= REACH_M:
        return planar(x_m, y_m, follower_T_goal.rotation.rpy[2])
    bearing_rad = math.atan2(y_m, x_m)
    turn_rad = max(-_TURN_RAD, min(_TURN_RAD, bearing_rad))
    ahead_m = REACH_M * max(0.0, math.cos(bearing_rad - turn_rad))
    return planar(ahead_m * math.cos(turn_rad), ahead_m * math.sin(turn_rad), turn_rad)


class Turtles:
    """Simulation of the two turtles, which write to a world.

    Args:
        history: Length of the history of the world [ns].

    Attributes:
        world: The world, which is all that the turtles know.
        clock: Clock of the world.
        caught_up: Time at which the follower first reached its goal [ns]; None before.
    """

    def __init__(self, history: int) -> None:
        self.clock = SimulatedClock()
        self.world = World("turtles", history=history, clock=self.clock)
        self.caught_up: int | None = None
        self._next = _TICK
        self.world.set_pose(of=LEADER, in_frame=WORLD, transform=leader_at(0.0), at=0)
        self.world.set_pose(of=FOLLOWER, in_frame=WORLD, transform=planar(-2.6, -2.4, 1.2), at=0)
        for turtle in (LEADER, FOLLOWER):
            self.world.fix(of=f"{turtle}_head", in_frame=turtle, transform=planar(0.12, 0.0, 0.0))

    def advance(self, *, to: int) -> None:
        """Simulate until `to` [ns]; each turtle moves at its own rate."""
        while self._next <= to:
            self.clock.time = self._next
            self._next += _TICK
            if self.clock.time % _LEADER_PERIOD == 0:
                self._lead()
            if self.clock.time % _FOLLOWER_PERIOD == 0:
                self._follow()
        self.clock.time = to

    def goal(self, *, at: int) -> Transform:
        """Return the pose of the leader `DELAY` before `at` in the present frame of the follower."""
        return self.world.pose(of=LEADER, of_at=at - DELAY, in_frame=FOLLOWER, fixed_frame=WORLD).transform

    def _lead(self) -> None:
        now = self.clock.time
        self.world.set_pose(of=LEADER, in_frame=WORLD, transform=leader_at(now / _NS_PER_S), at=now)

    def _follow(self) -> None:
        now = self.clock.time
        world_T_follower = self.world.pose(of=FOLLOWER, in_frame=WORLD).transform
        if now >= DELAY:
            follower_T_goal = self.goal(at=now)
            if self.caught_up is None and distance_m(follower_T_goal) <= REACH_M:
                self.caught_up = now
            world_T_follower = world_T_follower @ step_towards(follower_T_goal)
        self.world.set_pose(of=FOLLOWER, in_frame=WORLD, transform=world_T_follower, at=now)
