"""Pictures of motions and forces, with the numbers that the library computes."""

from __future__ import annotations

import math

import numpy as np
from bodies import GUN, GUN_RAD
from pens import (
    FORCE,
    MOVING,
    MOVING_RIM,
    PALE,
    PALE_RIM,
    RESTING,
    RESTING_RIM,
    SPEED,
    TURN,
    Shapes,
    heading,
    moved,
    numbers,
    rotate,
)
from shapes import X_COLOR, Y_COLOR, Scale, body, dashes, dot, frame, text, turning, vector

from armillary import Transform
from armillary.relations import Pose, Position, Twist, Wrench
from armillary.view._drawing import Circle, Line, Point, Rectangle
from armillary.view.theme import EDGE, INK, MUTED, PAPER, RULE, TEXT_PX, WARNING


def what_a_velocity_needs() -> Shapes:
    """Position, velocity and angular velocity: two points, one, none."""
    titles = (
        ("A position has two points", "two reference points, two arrows"),
        ("A velocity has one", "the table's points do not matter"),
        ("An angular velocity has none", "every part turns by the same angle"),
    )
    for column, (title, below) in enumerate(titles):
        yield from heading((24 + 250 * column, 34), title, below)
        if column:
            yield Line(points=((10 + 250 * column, 24), (10 + 250 * column, 300)), color=RULE)
    table = ((28, 232), (120, 224), (222, 234), (222, 288), (120, 294), (30, 286))
    gun = moved(tuple((0.85 * x, 0.85 * y) for x, y in GUN), -62, 70)
    tip, grip = (182.0, 145.0), (88.0, 177.0)
    points = {"table": (62.0, 258.0), "corner": (186.0, 258.0)}
    for left in (0.0, 250.0):
        yield body(moved(table, left, 0), fill=RESTING, outline=RESTING_RIM)
        yield body(moved(gun, left, 0), fill=MOVING, outline=MOVING_RIM)
        for name, (x, y) in points.items():
            yield dot((left + x, y))
            yield text((left + x, y + 17), name, anchor="middle")
    for x, y in points.values():
        yield from vector((x, y), tip, color=INK, width=1.8)
    yield dot(tip)
    yield text((tip[0] + 9, tip[1] - 6), "tip", bold=True)
    yield from _two_speeds(250.0, tip, grip)
    yield from _turned_gun(500.0, gun)


def _two_speeds(left: float, tip: Point, grip: Point) -> Shapes:
    (right, up), turn = (24.0, 24.0), 0.36  # of the grip; the tip follows from the lever arm
    arm = (tip[0] - grip[0], grip[1] - tip[1])
    speeds = {"tip": (tip, (right - turn * arm[1], up + turn * arm[0])), "grip": (grip, (right, up))}
    for name, ((x, y), speed) in speeds.items():
        yield from vector((left + x, y), (left + x + speed[0], y - speed[1]), color=SPEED)
        yield dot((left + x, y))
        yield text((left + x + 2, y + 17), name, anchor="middle", bold=True)
    yield text((left + tip[0] - 4, tip[1] - 52), "v of tip", color=SPEED, anchor="end", bold=True)
    yield text((left + grip[0] + 2, grip[1] - 60), "v of grip", color=SPEED, anchor="end", bold=True)


def _turned_gun(left: float, gun: tuple[Point, ...]) -> Shapes:
    start, about, angle = moved(gun, left, 62), (left + 70, 250.0), math.radians(40)
    yield body(start, fill=PALE, outline=PALE_RIM)
    yield body(rotate(start, about, angle), fill=MOVING, outline=MOVING_RIM)
    for at in ((left + 88, 239.0), (left + 182, 207.0)):
        (now,) = rotate((at,), about, angle)
        ahead = (now[0] + 46 * math.cos(GUN_RAD), now[1] - 46 * math.sin(GUN_RAD))
        yield from dashes(now, ahead, color=EDGE)
        yield from frame(now, angle_rad=GUN_RAD + angle, length=30, named=False)
        yield from turning(now, 40, start_rad=GUN_RAD, sweep_rad=angle, color=TURN, width=2)
        yield text((now[0] + 46, now[1] - 22), "40°", color=TURN, bold=True)
    yield text((left + 30, 96), "ω is that of the whole body", color=TURN, bold=True)


def at_point(twist: Twist, name: str, xyz: tuple[float, float, float]) -> Twist:
    """The twist at another point of its body; xyz is from the present point, along the axes of the twist."""
    where = Position(
        point=name,
        reference_point=twist.point,
        body=twist.body,
        reference_body=twist.body,
        expressed_in=twist.expressed_in,
        coordinates=xyz,
    )
    return twist.change_point(where)


def turning_disc() -> Shapes:
    """One twist, at many points: on the spot, and rolling."""
    spin = Twist(point="hub", body="disc", reference_body="table", linear=(0, 0, 0), angular=(0, 0, 2))
    roll = Twist(point="hub", body="wheel", reference_body="road", linear=(1, 0, 0), angular=(0, 0, -2))
    yield from heading((26, 34), "A disc that turns on the spot", "ω = 2 rad/s, against the clock; radius 0.5 m")
    yield from heading((406, 34), "The same disc, rolling", "the hub moves at 1 m/s; ω = 2 rad/s, with the clock")
    yield Line(points=((380, 24), (380, 370)), color=RULE)
    left, right = Scale((180, 212), 210), Scale((500, 212), 210)
    for scale in (left, right):
        yield Circle(center=scale.origin, radius=105, fill=MOVING, outline=MOVING_RIM, width=1.4)
    yield Line(points=((392, 317), (742, 317)), color=EDGE, width=2)
    yield from vector(left.origin, left.at(0.5, 0), color=INK, width=1.8)
    yield text((left.at(0.36, 0)[0], left.origin[1] + 17), "p", anchor="middle", bold=True)
    yield from turning(left.origin, 34, start_rad=math.radians(50), sweep_rad=math.radians(210), color=TURN)
    yield from turning(right.origin, 34, start_rad=math.radians(240), sweep_rad=math.radians(-200), color=TURN)
    yield from _speeds(
        left,
        spin,
        {"rim": ((0.5, 0.0), (10, 22)), "half": ((0.0, 0.25), (10, 5)), "back": ((-0.4, -0.3), (14, -2))},
    )
    yield from _speeds(
        right, roll, {"top": ((0.0, 0.5), (-12, -12)), "ground": ((0.0, -0.5), (0, 20)), "front": ((0.5, 0), (12, -6))}
    )
    yield text((left.origin[0] + 4, left.origin[1] + 19), "hub: 0", color=SPEED, bold=True)
    yield text((right.origin[0] + 4, right.origin[1] + 19), "hub: 1 m/s", color=SPEED, bold=True)
    yield text((190, 362), "v of any point = v of the hub + ω \N{MULTIPLICATION SIGN} p", anchor="middle", bold=True)
    yield text((570, 362), "one twist, told at four of its points", anchor="middle", bold=True)


def _speeds(scale: Scale, twist: Twist, places: dict[str, tuple[Point, Point]]) -> Shapes:
    """Every named point with its velocity, an arrow of 70 px for each m/s."""
    here = Scale((0.0, 0.0), 70.0)
    for name, ((x, y), (right, down)) in {"": ((0.0, 0.0), (0.0, 0.0)), **places}.items():
        moved_twist = at_point(twist, name, (x, y, 0.0)) if name else twist
        at, speed = scale.at(x, y), here.at(*moved_twist.linear[:2])
        yield from vector(at, (at[0] + speed[0], at[1] + speed[1]), color=SPEED)
        yield dot(at)
        if name:
            fast = round(float(np.linalg.norm(moved_twist.linear)), 2)
            words = f"{name}: {fast:g} m/s" if fast else f"{name}: 0"
            anchor = "start" if right > 0 else "end"
            yield text((at[0] + right, at[1] + down), words, color=SPEED, anchor=anchor, bold=True)


def car() -> tuple[Twist, Pose]:
    """A car in a left turn: 1 m/s ahead, 0.5 rad/s."""
    map_T_base = Transform.from_xyz_rpy(xyz=(3.0, 1.0, 0.0), rpy=(0.0, 0.0, math.pi / 3))
    axes = {"reference_body": "map", "expressed_in": "base"}
    twist = Twist(point="base", body="car", **axes, linear=(1, 0, 0), angular=(0, 0, 0.5))
    return twist, Pose(of="base", body="car", in_frame="map", transform=map_T_base)


def three_forms() -> Shapes:
    """Body, hybrid and spatial twist of one car."""
    twist, pose = car()
    scale, angle = Scale((74, 292), 80), math.pi / 3
    at, origin = scale.at(3, 1), scale.at(0, 0)
    pivot = scale.at(3 - 2 * math.sin(angle), 1 + 2 * math.cos(angle))
    yield from heading((26, 34), "One motion, three ways to write it", "a car in a left turn: 1 m/s ahead, 0.5 rad/s")
    large = ((-0.4, -0.36), (1.5, 0.1), (3.2, 0.3), (3.6, 1.2), (2.6, 1.8), (0.6, 1.2), (-0.5, 0.6))
    yield body([scale.at(x, y) for x, y in large], fill=PALE, outline=PALE_RIM)
    yield text(scale.at(1.15, 0.72), "the car, thought", color=MUTED, anchor="middle")
    yield text(scale.at(1.15, 0.54), "larger than it is", color=MUTED, anchor="middle")
    chassis = ((-0.36, -0.22), (0.36, -0.24), (0.5, 0.0), (0.36, 0.24), (-0.36, 0.22), (-0.46, 0.0))
    yield body(rotate(tuple(scale.at(3 + x, 1 + y) for x, y in chassis), at, angle), fill=MOVING, outline=MOVING_RIM)
    for place in (at, origin):
        yield from dashes(pivot, place, color=EDGE, width=1.1)
    yield dot(pivot, color=TURN)
    yield from turning(pivot, 20, start_rad=math.radians(100), sweep_rad=math.radians(200), color=TURN, width=2)
    yield text((pivot[0] + 12, pivot[1] - 8), "everything turns about here", color=TURN, bold=True)
    spatial, hybrid = twist.to_spatial(pose), twist.to_hybrid(pose)
    for place, form in ((origin, spatial), (at, hybrid)):
        x, y = form.linear[:2]
        yield from vector(place, (place[0] + scale.px_per_m * x, place[1] - scale.px_per_m * y), color=SPEED)
    yield text((at[0] + 44, at[1] - 58), "body, hybrid", color=SPEED, bold=True)
    yield text((origin[0] + 86, origin[1] + 56), "spatial", color=SPEED, bold=True)
    yield from frame(origin, length=40)
    yield from frame(at, angle_rad=angle, length=30, named=False)
    yield text((at[0] + 22, at[1] - 16), "x", color=X_COLOR, bold=True)
    yield text((at[0] - 34, at[1] - 20), "y", color=Y_COLOR, bold=True)
    yield text((origin[0] - 8, origin[1] + 18), "map", anchor="end", bold=True)
    yield text((at[0] + 10, at[1] + 34), "base", bold=True)
    forms = (
        ("body", twist.to_body(pose), "at the car, along its own axes"),
        ("hybrid", hybrid, "at the car, along the map's axes"),
        ("spatial", spatial, "at the map's origin, along its axes"),
    )
    for row, (name, form, meaning) in enumerate(forms):
        y = 96 + 82 * row
        yield from heading((470, y), name, meaning)
        yield text((470, y + 35), f"v = {numbers(form.linear)}, ω = {numbers(form.angular)}", color=SPEED, bold=True)


def one_push() -> Shapes:
    """One push about two points: another moment, the same power."""
    spin = Twist(point="hub", body="disc", reference_body="table", linear=(0, 0, 0), angular=(0, 0, 2))
    outline = at_point(spin, "rim", (0.5, 0.0, 0.0))
    push = Wrench(
        point="rim", body="disc", reference_body="hand", expressed_in="table", force=(0, 10, 0), torque=(0, 0, 0)
    )
    hub_from_rim = {"body": "disc", "reference_body": "disc", "expressed_in": "table", "coordinates": (-0.5, 0, 0)}
    at_hub = push.change_point(Position(point="hub", reference_point="rim", **hub_from_rim))
    for left, wrench, twist in ((0.0, push, outline), (380.0, at_hub, spin)):
        yield from heading((left + 26, 34), f"A push on the rim, about the {wrench.point}")
        yield from _pushed_disc(Scale((left + 150, 176), 190), wrench)
        rows = (
            f"F = {numbers(wrench.force)} N,  v of {twist.point} = {numbers(twist.linear)} m/s",
            f"M = {numbers(wrench.torque)} N m,  ω = {numbers(twist.angular)} rad/s",
        )
        for row, words in enumerate(rows):
            yield text((left + 26, 304 + 19 * row), words)
        yield text((left + 26, 346), f"power = F·v + M·ω = {wrench.power(twist):g} W", bold=True)
    yield Line(points=((380, 24), (380, 352)), color=RULE)


def _pushed_disc(scale: Scale, wrench: Wrench) -> Shapes:
    outline, hub = scale.at(0.5, 0.0), scale.origin
    yield Circle(center=hub, radius=95, fill=MOVING, outline=MOVING_RIM, width=1.4)
    at = outline if wrench.point == "rim" else hub
    yield from dashes(hub, outline, color=EDGE)
    yield from vector(at, (at[0], at[1] - 7.5 * wrench.force[1]), color=FORCE, width=3.2)
    yield text((at[0] + 10, at[1] - 56), "F", color=FORCE, size=TEXT_PX, bold=True)
    if wrench.torque.any():
        yield from turning(hub, 42, start_rad=math.radians(200), sweep_rad=math.radians(220), color=FORCE)
        yield text((hub[0] - 44, hub[1] + 34), "M", color=FORCE, size=TEXT_PX, anchor="end", bold=True)
    for name, (x, y) in {"hub": hub, "rim": outline}.items():
        yield dot((x, y))
        yield text((x + (10 if name == "rim" else 4), y + 18), name, bold=True)


def what_tf2_answers() -> Shapes:
    """The two velocities that tf2 gets wrong."""
    yield from heading((26, 34), "A cart that looks left and slides ahead", "yaw 90°, 1 m/s along the x axis of lab")
    yield from heading((406, 34), "A point on a turntable", "yaw rate 1 rad/s, the point 1 m from the axle")
    yield Line(points=((380, 24), (380, 326)), color=RULE)
    yield from frame((60, 276), length=36)
    yield text((60, 296), "lab", anchor="middle", bold=True)
    yield Rectangle(corner=(136, 138), size=(90, 116), fill=MOVING, outline=MOVING_RIM, radius=16, width=1.4)
    at = (181.0, 196.0)
    yield from vector(at, (at[0], at[1] - 104), color=WARNING)
    yield from vector(at, (at[0] + 104, at[1]), color=SPEED)
    yield from frame(at, angle_rad=math.pi / 2, length=34, named=False)
    yield text((at[0] - 10, at[1] - 26), "x", color=X_COLOR, anchor="end", bold=True)
    yield text((at[0] - 34, at[1] - 8), "y", color=Y_COLOR, anchor="end", bold=True)
    yield text((at[0] + 4, at[1] + 18), "cart", bold=True)
    yield text((at[0] + 50, at[1] - 12), "true: (1, 0, 0)", color=SPEED, bold=True)
    yield text((at[0] + 12, at[1] - 94), "tf2: (0, 1, 0)", color=WARNING, bold=True)
    hub, outline = (510.0, 214.0), (614.0, 214.0)
    yield Circle(center=hub, radius=104, fill=MOVING, outline=MOVING_RIM, width=1.4)
    yield from turning(hub, 40, start_rad=math.radians(60), sweep_rad=math.radians(220), color=TURN)
    yield from vector(hub, (outline[0] - 7, outline[1]), color=INK, width=1.6)
    yield from vector(outline, (outline[0], outline[1] - 104), color=SPEED)
    yield dot(hub)
    yield text((hub[0] + 4, hub[1] + 18), "hub", bold=True)
    yield Circle(center=outline, radius=6, fill=PAPER, outline=WARNING, width=2.4)
    yield text((outline[0] + 10, outline[1] - 96), "true: (0, 1, 0)", color=SPEED, bold=True)
    yield text((outline[0] + 14, outline[1] + 5), "tf2: (0, 0, 0)", color=WARNING, bold=True)
