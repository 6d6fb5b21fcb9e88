"""Objects that `__new__` alone made, or a subclass that forgot to call up: refused, never read.

In an interpreter of their own: reading them would end this one.
"""

from __future__ import annotations

import pytest

from unit.kit import run_python

PREAMBLE = """
import warnings
from armillary import Pose, Rotation, Transform, World
from armillary.relations import Twist
warnings.simplefilter("ignore", RuntimeWarning)

class Mine(World):
    def __init__(self):
        pass

class Own(Transform):
    def __init__(self):
        pass

REFUSED = (TypeError, AttributeError)
STILL = Transform.identity()
pose = Pose(of="a", in_frame="b", transform=STILL)
empty, turn, point, own, hollow = World.__new__(World), Rotation.__new__(Rotation), Pose.__new__(Pose), Own(), Mine()
motion = Twist.__new__(Twist)
"""
USES = [
    "hollow.frames()",
    "hollow.pose(of='a', in_frame='b')",
    "hollow.set_pose(of='a', in_frame='b', transform=STILL, at=1)",
    "hollow.fix(of='a', in_frame='b', transform=STILL)",
    "hollow.add_frame('a')",
    "hollow.clear()",
    "hollow.relations()",
    "hollow.snapshot(in_frame='a')",
    "empty.can_pose(of='a', in_frame='b')",
    "empty.name",
    "repr(empty)",
    "own.matrix",
    "STILL @ own",
    "own @ STILL",
    "STILL.is_close(own)",
    "STILL.interpolate(own, 0.5)",
    "World().fix(of='a', in_frame='b', transform=own)",
    "World().set_pose(of='a', in_frame='b', transform=own, at=1)",
    "Pose(of='a', in_frame='b', transform=own)",
    "Transform.from_rotation(turn, xyz=(0, 0, 0))",
    "Rotation.identity() @ turn",
    "point.of",
    "repr(point)",
    "pose.is_close(point)",
    *(f"point.{part}" for part in ("transform", "xyz", "rotation")),
    *(f"motion.{part}" for part in ("linear", "angular")),
    "point.__setstate__(())",
    "motion.__setstate__(())",
]
COMPARISONS = ["STILL == own", "pose == point", "Rotation.identity() == turn"]


class TestAnObjectWithoutAValue:
    def test_is_refused_wherever_it_is_used(self):
        lines = [f"try: {use}\nexcept REFUSED: print({use!r}, flush=True)" for use in USES]
        result = run_python("\n".join([PREAMBLE, *lines]))
        assert (result.stdout.splitlines(), result.returncode) == (USES, 0), result.stderr

    def test_equals_nothing(self):
        lines = [f"try: print({use}, flush=True)\nexcept TypeError: print(False)" for use in COMPARISONS]
        result = run_python("\n".join([PREAMBLE, *lines]))
        assert (result.stdout.split(), result.returncode) == (["False"] * len(lines), 0), result.stderr


class TestAWorldThatBeginsAgain:
    @pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
    def test_is_refused_and_stays_what_it_was(self, world):
        world.add_frame("a")
        with pytest.raises(TypeError):
            world.__init__()
        assert world.frames() == ("a",)
