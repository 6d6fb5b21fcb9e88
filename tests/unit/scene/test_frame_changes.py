"""Changes of frames that are no nodes: recorded, notified, applied in batches, merged, undone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import (
    AmbiguousPath,
    BuiltUpon,
    ConstraintViolation,
    FrameLoop,
    InvalidArgument,
    NoOpposite,
    NotConnected,
    UnknownFrame,
)
from armillary.scene import (
    AddBody,
    AddFrame,
    AddGroup,
    AddRelation,
    AddTransform,
    AddTwistRelation,
    ChangeRecord,
    Fix,
    Prefer,
    RemoveFrame,
    ResetTime,
    SetAttributes,
    Unfix,
)
from unit.kit import FakeClock, moved

STILL = Transform.identity()


@pytest.fixture
def clock():
    return FakeClock(seconds(5))


@pytest.fixture
def notified(scene):
    changes: list = []
    scene.attach(changes.extend)
    return changes


class TestEveryStructuralCall:
    def test_is_notified_in_the_order_of_the_calls(self, world, scene, notified):
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.set_pose(of="base", in_frame="map", transform=moved(2), at=seconds(1))
        scene.add_group(parent=scene.root)
        world.add_body("cart", frames=["base", "wheel"])
        world.set_twist(
            of="base", relative_to="map", expressed_in="base", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(1)
        )
        world.prefer(of="base", source="tester")
        world.add_frame("spare")
        world.remove_frame("spare")
        world.reset_time(to=seconds(9))
        expected = [Fix, AddRelation, AddGroup, AddBody, AddTwistRelation, Prefer, AddFrame, RemoveFrame, ResetTime]
        assert [type(change) for change in notified] == expected
        kept = [record.type for record in scene.changes()]
        assert len(kept) == len(expected) - 1
        assert "set_frames" not in kept  # the removal superseded it

    def test_is_notified_with_its_arguments(self, world, notified):
        spread = 0.1 * np.eye(6)
        world.fix(of="camera", in_frame="base", transform=moved(1), at=seconds(2), covariance=spread, source="survey")
        (fix,) = notified
        assert (fix.of, fix.in_frame, fix.source, fix.at) == ("camera", "base", "survey", seconds(2))
        assert fix.transform == moved(1)
        assert np.array_equal(fix.covariance, spread)

    def test_is_no_change_where_it_is_a_sample_of_what_is_known(self, world, notified):
        for s in (1, 2, 3):
            world.set_pose(of="base", in_frame="map", transform=moved(s), at=seconds(s))
        assert notified == [AddRelation(of="base", in_frame="map", at=seconds(1), source="tester")]

    def test_is_no_change_where_it_is_refused(self, world, notified):
        world.fix(of="camera", in_frame="base", transform=STILL)
        with pytest.raises(FrameLoop):
            world.fix(of="base", in_frame="camera", transform=STILL)
        with pytest.raises(FrameLoop):
            world.set_pose(of="base", in_frame="camera", transform=STILL, at=seconds(1))
        with pytest.raises(InvalidArgument):
            world.prefer(of="camera", source="nobody")
        assert len(notified) == 1

    def test_of_attaching_is_a_pose_that_is_fixed_from_then_on(self, world, notified):
        world.set_pose(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        world.set_pose(of="hand", in_frame="table", transform=moved(2), at=seconds(1))
        world.attach(of="cup", to="hand", at=seconds(1))
        fix = notified[-1]
        assert (type(fix), fix.of, fix.in_frame, fix.at, fix.is_unsure) == (Fix, "cup", "hand", seconds(1), True)
        assert fix.transform.translation.tolist() == [-1, 0, 0]

    def test_travels_in_plain_values(self, world):
        world.fix(of="camera", in_frame="base", transform=moved(1))
        (record,) = world.scene.changes()
        again = ChangeRecord.from_json(record.to_json())
        assert (again, again.type, again.value) == (record, "assert", record.value)
        assert (again.track, again.in_frame, again.since) == (("pose", "camera", "tester"), "base", None)
        assert again.transform == moved(1)

    @pytest.mark.parametrize(
        ("part", "nonsense"),
        [
            ("track", ["pose", "/camera", "tester"]),
            ("track", ["pose", "base", "tester"]),
            ("track", ["pose", "camera", 7]),
            ("track", ["speed", "camera", "tester"]),
            ("track", ["pose", "camera"]),
            ("since", 1.5),
            ("since", "now"),
            ("value", {"fixed": None}),
            ("value", {"fixed": {"in_frame": "base"}}),
            ("value", {"fixed": {"in_frame": "", "pose": [1, 0, 0, 1, 0, 0, 0], "certainty": "exact"}}),
            ("value", {"fixed": {"in_frame": "base", "pose": [1, 0, 0, 1, 0, 0], "certainty": "exact"}}),
            ("value", {"fixed": {"in_frame": "base", "pose": [1, 0, 0, 1, 0, 0, 0], "certainty": "perhaps"}}),
            ("value", 3),
            ("recalibrate", 3),
            ("rank", "first"),
        ],
    )
    def test_is_refused_where_its_values_are_nonsense(self, world, part, nonsense):
        world.fix(of="camera", in_frame="base", transform=moved(1))
        record = json.loads(world.scene.changes()[0].to_json())
        assert part in record
        with pytest.raises(InvalidArgument):
            ChangeRecord.from_json(json.dumps(record | {part: nonsense}))


class TestABatch:
    def test_changes_frames_and_nodes_at_once(self, world, scene):
        world.apply(
            [
                Fix(of="camera", in_frame="base", transform=moved(1)),
                SetAttributes("camera", {"lens": "wide"}),
                AddTransform(parent="camera", transform=moved(1), at=None, attributes={"name": "tag"}),
            ]
        )
        (tag,) = scene.find({"name": "tag"})
        assert scene.attributes("camera") == {"lens": "wide"}
        assert world.pose(of=scene.frame(tag), in_frame="base").xyz.tolist() == [2, 0, 0]

    def test_happens_whole_or_not_at_all(self, world, scene):
        before = world.digest(), world.frames()
        with pytest.raises(FrameLoop):
            world.apply(
                [
                    AddGroup(parent=scene.root),
                    AddBody("cart", ["base", "wheel"]),
                    Fix(of="camera", in_frame="base", transform=moved(1)),
                    Fix(of="lens", in_frame="camera", transform=moved(1), at=seconds(1)),
                    Fix(of="base", in_frame="lens", transform=STILL),
                ]
            )
        assert (world.digest(), world.frames(), world.bodies()) == (*before, ())

    def test_obeys_the_rules_of_bodies(self, world):
        world.add_body("cart", frames=["base", "wheel"])
        with pytest.raises(ConstraintViolation):
            world.apply([AddRelation(of="wheel", in_frame="base", at=seconds(1))])

    def test_names_frames_that_must_be_there(self, world):
        with pytest.raises(UnknownFrame):
            world.apply([Prefer(of="nowhere", source=None)])

    def test_of_a_relation_awaits_its_samples(self, world):
        world.apply([AddRelation(of="base", in_frame="map", at=seconds(1))])
        assert [(info.of, info.samples) for info in world.relations()] == [("base", 0)]
        world.set_pose(of="base", in_frame="map", transform=moved(1), at=seconds(1))
        assert world.pose(of="base", in_frame="map").xyz.tolist() == [1, 0, 0]
        assert [(record.type, record.value_type) for record in world.scene.changes()] == [("assert", "sampled")]

    def test_can_restart_time_and_the_clock(self, world):
        world.set_pose(of="base", in_frame="map", transform=moved(1), at=seconds(1))
        world.apply([ResetTime(to=seconds(100))])
        assert (world.now(), world.time_epoch, world.relations()[0].samples) == (seconds(100), 1, 0)


class TestTakingBack:
    def test_of_a_first_fix_leaves_nothing(self, world):
        before = world.digest()
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.undo()
        assert (world.digest(), "camera" in world.frames()) == (before, False)
        world.redo()
        assert world.pose(of="camera", in_frame="base").xyz.tolist() == [1, 0, 0]

    def test_of_a_correction_restores_the_previous_assertion(self, world):
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.fix(of="camera", in_frame="base", transform=moved(2))
        world.undo()
        assert world.pose(of="camera", in_frame="base").xyz.tolist() == [1, 0, 0]

    def test_of_an_attachment_leaves_the_samples(self, world):
        for s in (1, 3):
            world.set_pose(of="cup", in_frame="table", transform=moved(s), at=seconds(s))
        world.fix(of="hand", in_frame="table", transform=STILL)
        world.attach(of="cup", to="hand", at=seconds(2))
        assert world.tree(seconds(2)).parents["cup"][0] == "hand"
        world.undo()
        assert world.pose(of="cup", in_frame="table", at=seconds(2)).xyz.tolist() == [2, 0, 0]

    def test_of_a_preference_restores_the_one_before(self, world):
        for source, x in (("left", 1), ("right", 2)):
            world.fix(of="cup", in_frame="map", transform=moved(x), source=source)
        world.prefer(of="cup", source="left")
        world.prefer(of="cup", source="right")
        world.undo()
        assert world.pose(of="cup", in_frame="map").xyz.tolist() == [1, 0, 0]
        world.undo()
        with pytest.raises(AmbiguousPath):
            world.pose(of="cup", in_frame="map")

    def test_keeps_frames_that_something_else_names(self, world):
        world.set_pose(of="base", in_frame="map", transform=moved(2), at=seconds(1))
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.undo()
        assert world.frames() == ("base", "map")

    def test_keeps_the_past_of_what_was_in_it(self, world, clock):
        world.fix(of="table", in_frame="room", transform=moved(1))
        cup = world.scene.frame(world.scene.add_transform(parent="table", transform=moved(2), at=None))
        clock.ns = seconds(6)
        world.undo()
        world.undo()
        with World("other", clock=world.now) as other:
            other.merge(world.scene.changes())
            for each in (world, other):
                assert each.pose(of=cup, in_frame="table", at=seconds(5)).xyz.tolist() == [2, 0, 0]
                with pytest.raises(NotConnected):
                    each.pose(of=cup, in_frame="table", at=seconds(7))

    def test_is_refused_where_another_asserted_something_since(self, world):
        world.fix(of="camera", in_frame="base", transform=moved(1))
        with World("tester", clock=world.now) as other:
            other.merge(world.scene.changes())
            other.fix(of="camera", in_frame="base", transform=moved(2))
            world.merge(other.scene.changes())
        with pytest.raises(BuiltUpon, match="'camera'"):
            world.undo()

    @pytest.mark.parametrize(
        ("do", "samples_lost"),
        [
            (lambda world: world.add_body("cart", frames=["base"]), 0),
            (lambda world: world.remove_frame("base"), 1),
            (lambda world: world.fix(of="base", in_frame="map", transform=STILL), 1),
        ],
        ids=["add_body", "remove_frame", "fix"],
    )
    def test_asserts_again_what_was_asserted_and_tells_of_lost_samples(self, world, do, samples_lost):
        world.set_pose(of="base", in_frame="map", transform=moved(1), at=seconds(1))
        before = world.digest()
        do(world)
        assert world.undo().samples_lost == samples_lost
        assert world.digest() == before

    def test_is_refused_where_a_time_epoch_would_have_to_come_back(self, world):
        world.set_pose(of="base", in_frame="map", transform=moved(1), at=seconds(1))
        world.reset_time()
        before = world.digest()
        with pytest.raises(NoOpposite):
            world.undo()
        assert world.digest() == before

    def test_can_be_given_as_a_change(self, world):
        before = world.digest()
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.apply([Unfix(of="camera", in_frame="base"), RemoveFrame(("camera", "base"))])
        assert world.digest() == before


def test_a_preference_outlasts_an_earlier_removal(clock):
    with World("one", clock=clock) as one, World("two", clock=clock) as two:
        two.apply([AddFrame("cup")])
        two.apply([RemoveFrame("cup")])
        clock.ns += 1
        for source in ("left", "right"):
            one.fix(of="cup", in_frame="map", transform=moved(1), source=source)
        one.prefer(of="cup", source="left")
        one.merge(two.scene.changes())
        assert one.pose(of="cup", in_frame="map").xyz.tolist() == [1, 0, 0]


@pytest.mark.parametrize("is_first", [False, True])
def test_a_body_that_comes_after_what_moves_relative_to_it_is_no_frame(world, is_first):
    world.add_body("gun", frames=["trigger"])
    world.apply([AddTwistRelation(of="paint", relative_to="gun", source="camera")])
    body, twist = world.scene.changes()
    with World("other", clock=world.now) as other:
        for record in (twist, body) if is_first else (body, twist):
            other.merge([record])
        assert sorted(other.frames()) == sorted(world.frames())
        assert [info.in_frame for info in other.relations()] == ["gun"]


class TestCopiesThatFixTheSameFrame:
    @pytest.fixture
    def replicas(self):
        clocks = FakeClock(seconds(1)), FakeClock(seconds(2))
        with World("one", clock=clocks[0]) as one, World("two", clock=clocks[1]) as two:
            for world, x in ((one, 1), (two, 2)):
                world.fix(of="camera", in_frame="base", transform=moved(x), source="survey")
            yield one, two

    def test_use_the_later_of_them(self, replicas):
        records = [world.scene.changes() for world in replicas]
        for world in replicas:
            for some in records:
                world.merge(some)
        assert [world.pose(of="camera", in_frame="base").xyz[0] for world in replicas] == [2, 2]
        assert replicas[0].digest() == replicas[1].digest()

    def test_keep_what_was_fixed_later_in_the_day(self, replicas):
        one, two = replicas
        two.fix(of="camera", in_frame="base", transform=moved(7), at=seconds(10), source="survey")
        one.merge(reversed(two.scene.changes()))
        at = {"of": "camera", "in_frame": "base"}
        assert [one.pose(**at, at=seconds(s)).xyz[0] for s in (9, 10)] == [2, 7]
        assert len(one.relations()) == 1

    def test_follow_where_time_starts_again(self, replicas):
        one, two = replicas
        two.merge(one.scene.changes())
        two.reset_time(to=seconds(50))
        one.merge(two.scene.changes())
        assert (one.now(), one.time_epoch) == (seconds(50), 1)
        assert one.digest() == two.digest()

    def test_keep_apart_what_was_fixed_at_one_stamp_before_and_after_that(self, replicas):
        _, two = replicas
        two.fix(of="lamp", in_frame="base", transform=moved(1), at=seconds(2))
        two.reset_time(to=seconds(1))
        before = two.digest()
        two.fix(of="lamp", in_frame="base", transform=moved(3), at=seconds(2))
        with World("three") as three:
            three.merge(reversed(two.scene.changes()))
            for world in (two, three):
                poses = (world.pose(of="lamp", in_frame="base", at=seconds(s)) for s in (1, 2))
                assert [pose.xyz[0] for pose in poses] == [1, 3]
            assert three.digest() == two.digest()
        two.undo()
        assert two.digest() == before
        assert two.pose(of="lamp", in_frame="base", at=seconds(3)).xyz[0] == 1
