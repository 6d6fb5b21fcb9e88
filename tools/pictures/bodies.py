"""Pictures of who is who: bodies, frames, names, and which of them meet."""

from __future__ import annotations

import math

from pens import MOVING, MOVING_RIM, RESTING, RESTING_RIM, SPEED, Shapes, heading, moved
from shapes import body, dashes, dot, frame, text, vector

from armillary.view._drawing import Line, Point, Rectangle
from armillary.view.theme import EDGE, INK, MUTED, RULE, TEXT_PX, WARNING

GUN = ((146, 164), (196, 168), (230, 140), (314, 116), (326, 76), (290, 44), (186, 64), (144, 108))
GRIP, TIP, GUN_RAD = (172.0, 128.0), (286.0, 90.0), math.radians(12)
TABLE = ((40, 196), (180, 182), (322, 198), (318, 272), (180, 278), (42, 270))
TABLE_AT, CORNER = (84.0, 250.0), (262.0, 226.0)


def frames_and_bodies() -> Shapes:
    """Frames alone, and the bodies they are on."""
    yield from heading((26, 34), "What tf2 knows: frames", "four names, each with one parent")
    yield from heading((406, 34), "What is there: bodies with frames on them", "within a body nothing ever moves")
    yield Line(points=((380, 24), (380, 306)), color=RULE)
    for left in (0.0, 380.0):
        has_bodies = left > 0
        if has_bodies:
            yield body(moved(TABLE, left, 12), fill=RESTING, outline=RESTING_RIM)
            yield body(moved(GUN, left, 12), fill=MOVING, outline=MOVING_RIM)
            yield text((left + 190, 284), "body table", color=MUTED, anchor="middle", bold=True)
            yield text((left + 300, 152), "body gun", color=SPEED, anchor="middle", bold=True)
        yield from _four_frames(left, 12.0, linked=not has_bodies)


def _four_frames(left: float, down: float, *, linked: bool) -> Shapes:
    places = {"table": TABLE_AT, "corner": CORNER, "grip": GRIP, "tip": TIP}
    shifted = {name: (x + left, y + down) for name, (x, y) in places.items()}
    if linked:
        for child, parent in (("corner", "table"), ("grip", "table"), ("tip", "grip")):
            yield from vector(shifted[parent], shifted[child], color=EDGE, width=1.2)
    for name, at in shifted.items():
        angle = GUN_RAD if name in {"grip", "tip"} else 0.0
        yield from frame(at, angle_rad=angle, length=26)
        yield text((at[0] + 3, at[1] + 16), name, bold=True)


def seven_names() -> Shapes:
    """Each name of a pose at its place."""
    corner, tip, grip = (246.0, 280.0), (486.0, 150.0), (372.0, 188.0)
    yield body(
        ((26, 254), (150, 238), (282, 256), (284, 344), (150, 356), (28, 342)), fill=RESTING, outline=RESTING_RIM
    )
    yield body(moved(GUN, 200, 60), fill=MOVING, outline=MOVING_RIM)
    yield from heading((26, 34), "The pose of a gun over a table, with all seven names")
    below = (tip[0], corner[1])
    yield from dashes(corner, below, color=MUTED)
    yield from dashes(below, tip, color=MUTED)
    yield from vector(corner, tip, color=INK, width=2.2)
    yield from frame((64, 332), length=26)
    yield from frame(grip, angle_rad=GUN_RAD)
    yield from frame((594, 336), length=44)
    yield from (dot(at, radius=5) for at in (corner, tip))
    yield text((84, 348), 'in_frame="table"', bold=True)
    yield text((corner[0] - 10, corner[1] + 4), 'reference_point="corner"', bold=True, anchor="end")
    yield text((154, 378), 'reference_body="table"', color=MUTED, anchor="middle", bold=True)
    yield text((tip[0] + 50, tip[1] + 2), 'point="tip"', bold=True)
    yield text((grip[0] - 40, grip[1] - 2), 'of="grip"', bold=True, anchor="end")
    yield text((424, 92), 'body="gun"', color=SPEED, anchor="middle", bold=True)
    yield text((606, 356), 'expressed_in="map"', bold=True, anchor="middle")
    yield text((366, 298), "along x of map", color=MUTED, anchor="middle")
    yield text((496, 244), "along y", color=MUTED)
    yield from heading((26, 70), "position", "the arrow from reference_point to point,")
    yield text((26, 104), "in numbers along the axes of expressed_in", color=MUTED)
    yield from heading((26, 134), "orientation", "of the axes of grip in those of table")


# Dominoes

HALF = 98.0
FIRST, SECOND, RESULT = 26.0, 26.0 + 2 * HALF + 40, 26.0 + 4 * HALF + 84


def composing() -> Shapes:
    """What composes, and what does not, as dominoes."""
    title = "Relations are dominoes: where two meet, the names must be the same"
    yield from heading((FIRST, 34), title, "left half: seen from here; right half: what is seen")
    yield from _row(92, "poses: map_T_base @ base_T_camera", ("map", "base"), ("base", "camera"))
    yield from _row(180, "map_T_base @ camera_T_cup", ("map", "base"), ("camera", "cup"))
    yield Line(points=((FIRST, 250), (734, 250)), color=RULE)
    bodies = ("table", "disc"), ("disc", "pen")
    yield from _row(292, "twists: the bodies meet, and both are told at one point", *bodies, ("rim", "rim"))
    yield from _row(396, "told at two points they do not add up", *bodies, ("hub", "rim"))


def _row(
    y: float, words: str, first: tuple[str, str], second: tuple[str, str], points: tuple[str, str] | None = None
) -> Shapes:
    yield text((FIRST, y - 9), words, color=MUTED)
    clash = next(((a, b) for a, b in ((first[1], second[0]), points or ("", "")) if a != b), None)
    outline = WARNING if clash else MOVING_RIM
    yield from domino((FIRST, y), first, outline=outline, wrong=clash)
    yield from domino((SECOND, y), second, outline=outline, wrong=clash)
    yield text((SECOND - 20, y + 26), "@", size=17, anchor="middle", bold=True)
    places = list(zip((FIRST, SECOND), points, strict=True)) if points else []
    if clash:
        yield text((RESULT - 20, y + 26), f"refused: {clash[0]} is not {clash[1]}", color=WARNING, bold=True)
    else:
        yield text((RESULT - 22, y + 26), "=", size=17, anchor="middle", bold=True)
        yield from domino((RESULT, y), (first[0], second[1]), fill=RESTING, outline=RESTING_RIM)
        places += [(RESULT, points[0])] if points else []
    for x, point in places:
        color = WARNING if clash else SPEED
        yield text((x + HALF, y + 56), f"at {point}", color=color, anchor="middle", bold=True)


def domino(
    at: Point, ends: tuple[str, str], *, outline: str, fill: str = MOVING, wrong: tuple[str, str] | None = None
) -> Shapes:
    """A relation: seen from the first end, of the second."""
    x, y = at
    yield Rectangle(corner=at, size=(2 * HALF, 40), fill=fill, outline=outline, width=1.4)
    yield Line(points=((x + HALF, y + 7), (x + HALF, y + 33)), color=outline, width=1.2)
    for i, name in enumerate(ends):
        color = WARNING if wrong and name in wrong else INK
        yield text((x + HALF * (i + 0.5), y + 25), name, size=TEXT_PX, color=color, anchor="middle", bold=True)
