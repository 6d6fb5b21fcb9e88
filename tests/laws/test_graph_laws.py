"""Laws of the relation graph, over random forests and random edits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Rotation, Transform
from armillary.errors import ArmillaryError, ConstraintViolation
from armillary.relations import Pose, RelationGraph, Twist
from strategies import CLOSE_M, CLOSE_RAD
from unit.relations.definition import broken
from unit.relations.sketch import Sketch

STEP_S = 1e-5
CLOSE_DIFFERENCE = 1e-7  # a central difference of this step: rounding and truncation are about 1e-9 each
MOST_FRAMES = 7
SIZES = (0.0, 1e-9, 1.0, 10.0)  # of the random poses [m, rad]


@dataclass(frozen=True)
class Scene:
    """A tree of frames with a twist on every edge between two bodies, and the order in which it is added."""

    bodies: dict[str, str]  # of each frame
    parents: dict[str, str]
    placed: dict[str, Transform]  # in its parent
    twists: dict[str, tuple[np.ndarray, np.ndarray]]  # body twist of each frame whose parent is on another body
    turned: str  # whose twist is added last, and as the inverse, at the parent's frame if that is free
    order: list[str]

    def graph(self, time_s: float = 0.0) -> RelationGraph:
        """With every edge moved on by its twist."""
        graph = RelationGraph()
        for body in dict.fromkeys(self.bodies.values()):
            graph.add_body(body, frames=[frame for frame in self.bodies if self.bodies[frame] == body])
        for of in self.order:
            graph.add_pose(Pose(of=of, in_frame=self.parents[of], transform=self._moved(of, time_s)))
        for of in sorted((of for of in self.order if of in self.twists), key=self.turned.__eq__):
            graph.add_twist(self._twist(of), adapt=of == self.turned)
        return graph

    def _moved(self, of: str, time_s: float) -> Transform:
        if of not in self.twists:
            return self.placed[of]
        return self.placed[of] @ Transform.exp(time_s * np.concatenate(self.twists[of]))

    def _twist(self, of: str) -> Twist:
        linear, angular = self.twists[of]
        names = {"point": of, "expressed_in": of, "body": self.bodies[of]}
        twist = Twist(**names, reference_body=self.bodies[self.parents[of]], linear=linear, angular=angular)
        return twist.inverse() if of == self.turned else twist


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """The shape is drawn, the numbers come from a seed: what fails is shrunk quickly."""
    count, seed = draw(st.integers(2, MOST_FRAMES)), draw(st.integers(0, 2**32 - 1))
    uppers = [draw(st.integers(0, i)) for i in range(count - 1)]
    return _scene(uppers, np.random.default_rng(seed), draw(st.sampled_from(SIZES)))


def _scene(uppers: list[int], random: np.random.Generator, size: float) -> Scene:
    """Frame i + 1 is below frame uppers[i]; one in four is on the body of its parent."""
    bodies, parents = {"f0": "B0"}, {}
    for i, upper in enumerate(uppers, start=1):
        parents[f"f{i}"] = f"f{upper}"
        bodies[f"f{i}"] = bodies[f"f{upper}"] if random.random() < 0.25 else f"B{i}"
    moving = [frame for frame in parents if bodies[frame] != bodies[parents[frame]]]
    return Scene(
        bodies,
        parents,
        {frame: Transform.exp(size * random.normal(size=6)) for frame in parents},
        {frame: (random.normal(size=3), random.normal(size=3)) for frame in moving},
        str(random.choice([*moving, ""])),
        [str(frame) for frame in random.permutation(list(parents))],
    )


def frames_of(scene: Scene) -> st.SearchStrategy[str]:
    return st.sampled_from(sorted(scene.bodies))


class TestPosesOfAGraph:
    @given(st.data(), scenes())
    def test_compose_whatever_lies_between(self, data, scene):
        graph = scene.graph()
        a, b, c = (data.draw(frames_of(scene)) for _ in "abc")
        product = graph.pose(of=b, in_frame=a) @ graph.pose(of=c, in_frame=b)
        assert product.is_close(graph.pose(of=c, in_frame=a), m=100 * CLOSE_M, rad=CLOSE_RAD)

    @given(st.data(), scenes())
    def test_are_undone_by_the_way_back(self, data, scene):
        graph = scene.graph()
        a, b = (data.draw(frames_of(scene)) for _ in "ab")
        back = graph.pose(of=b, in_frame=a).inverse()
        assert back.is_close(graph.pose(of=a, in_frame=b), m=100 * CLOSE_M, rad=CLOSE_RAD)

    @given(st.data(), scenes())
    def test_are_the_same_after_an_edge_was_replaced_by_its_inverse(self, data, scene):
        graph = scene.graph()
        answer = graph.pose(of=max(scene.bodies), in_frame="f0")
        of = data.draw(st.sampled_from(scene.order))
        edge = next(pose for pose in graph.poses() if pose.of == of)
        graph.remove_pose(of=of, in_frame=edge.in_frame)
        graph.add_pose(edge.inverse(), adapt=True)
        assert graph.pose(of=max(scene.bodies), in_frame="f0").is_close(answer, m=CLOSE_M, rad=CLOSE_RAD)


class TestTwistsOfAGraph:
    @given(st.data(), scenes())
    def test_are_the_derivatives_of_its_poses(self, data, scene):
        of, seen_from = (data.draw(frames_of(scene)) for _ in range(2))
        twist = scene.graph().twist(of=of, relative_to=seen_from, expressed_in=seen_from)
        before, after = (scene.graph(t).pose(of=of, in_frame=seen_from).transform for t in (-STEP_S / 2, STEP_S / 2))
        linear = (after.translation - before.translation) / STEP_S
        angular = (after.rotation @ before.rotation.inverse()).log() / STEP_S
        assert twist.linear == pytest.approx(linear, abs=CLOSE_DIFFERENCE)
        assert twist.angular == pytest.approx(angular, abs=CLOSE_DIFFERENCE)

    @given(st.data(), scenes())
    def test_telescope(self, data, scene):
        graph = scene.graph()
        a, b, c, axes = (data.draw(frames_of(scene)) for _ in range(4))
        upper = graph.twist(of=b, point=a, relative_to=c, expressed_in=axes)
        lower = graph.twist(of=a, relative_to=b, expressed_in=axes)
        assert (upper @ lower).is_close(graph.twist(of=a, relative_to=c, expressed_in=axes))

    @given(st.data(), scenes())
    def test_have_the_angular_and_the_linear_velocity_as_parts(self, data, scene):
        graph = scene.graph()
        question = {name: data.draw(frames_of(scene)) for name in ("of", "relative_to", "expressed_in")}
        twist = graph.twist(**question)
        assert twist.angular_velocity.is_close(graph.angular_velocity(**question))
        assert twist.velocity.is_close(graph.linear_velocity(**question))


BODIES = {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": ["c1", "c2"], "D": ["d"]}
FRAMES = [frame for frames in BODIES.values() for frame in frames]
EDITS = st.one_of(
    st.tuples(st.just("add_pose"), st.sampled_from(FRAMES), st.sampled_from(FRAMES)),
    st.tuples(st.just("add_twist"), st.sampled_from(FRAMES), st.sampled_from(sorted(BODIES))),
    st.tuples(st.just("remove_pose"), st.sampled_from(FRAMES), st.none()),
    st.tuples(st.just("remove_twist"), st.sampled_from(FRAMES), st.none()),
)


class Pair:
    """A graph and the plain sketch of its structure; every edit is judged by what the rules say of the result."""

    def __init__(self) -> None:
        self.sketch, self.graph = Sketch({body: list(frames) for body, frames in BODIES.items()}), RelationGraph()
        for body, frames in BODIES.items():
            self.graph.add_body(body, frames=frames)

    def edit(self, what: str, of: str, other: str | None) -> None:
        getattr(self, f"_{what}")(of, other)
        self.assert_same()

    def _add_pose(self, of, in_frame):
        pose = Pose(of=of, in_frame=in_frame, transform=Transform.from_rotation(Rotation.identity(), xyz=(1, 2, 3)))
        if (self.sketch.pose_parent(of), self.sketch.body_of(of)) == (in_frame, self.sketch.body_of(in_frame)):
            self.graph.add_pose(pose)  # the same constant again
        elif self._agrees([(of, in_frame)], [], lambda: self.graph.add_pose(pose)):
            self.sketch.poses[of] = in_frame

    def _add_twist(self, of, body):
        twist = Twist(point=of, reference_body=body, expressed_in=of, linear=(1, 2, 3), angular=(3, 2, 1))
        if self._agrees([], [(of, body)], lambda: self.graph.add_twist(twist)):
            self.sketch.moving[of] = body

    def _remove_pose(self, of, _):
        if (in_frame := self.sketch.poses.pop(of, None)) is not None:
            self.graph.remove_pose(of=of, in_frame=in_frame)

    def _remove_twist(self, of, _):
        if (body := self.sketch.moving.pop(of, None)) is not None:
            self.graph.remove_twist(of=of, relative_to=body)

    def _agrees(self, poses, twists, call) -> bool:
        """An edit is refused by a rule that its result breaks; the poses in its way are enough to break it."""
        placed, moving = list(self.sketch.poses.items()), list(self.sketch.moving.items())
        rules = broken(BODIES, [*placed, *poses], [*moving, *twists])
        if not rules:
            call()
            return True
        with pytest.raises(ConstraintViolation) as caught:
            call()
        rule, in_the_way = caught.value.constraint, {tuple(edge) for edge in caught.value.existing}
        assert rule in rules
        assert in_the_way <= {*placed, *moving}
        is_about_itself = self._is_about_itself(*[*poses, *twists][0])
        assert is_about_itself or in_the_way
        if rule.startswith("C6"):
            assert is_about_itself or rule in broken(BODIES, [*(in_the_way & {*placed}), *poses], [])
        return False

    def _is_about_itself(self, of, other) -> bool:
        return of == other or self.sketch.body_of(of) == other

    def assert_same(self) -> None:
        assert {pose.of: pose.in_frame for pose in self.graph.poses()} == self.sketch.poses
        assert {twist.point: twist.reference_body for twist in self.graph.twists()} == self.sketch.moving
        for of in FRAMES:
            assert _knows(self.graph.pose, of=of, in_frame="a1") == (
                self.sketch.root_of(of) == self.sketch.root_of("a1")
            )
        for body in BODIES:
            is_connected = body in self.sketch.twist_group(self.sketch.root_of("a1"), "A")
            assert _knows(self.graph.angular_velocity, of=body, relative_to="A", expressed_in="a1") == is_connected


def _knows(question, **names) -> bool:
    try:
        question(**names)
    except ArmillaryError:
        return False
    return True


class TestEditsOfAGraph:
    @given(st.lists(EDITS, min_size=5, max_size=40))
    def test_are_refused_where_a_rule_would_be_broken_and_then_change_nothing(self, edits):
        pair = Pair()
        for edit in edits:
            pair.edit(*edit)

    @given(st.lists(EDITS, min_size=5, max_size=40), st.data())
    def test_offer_only_what_is_accepted_and_equivalent(self, edits, data):
        pair = Pair()
        for edit in edits:
            pair.edit(*edit)
        of, in_frame = data.draw(st.sampled_from(FRAMES)), data.draw(st.sampled_from(FRAMES))
        asked = Pose(of=of, in_frame=in_frame, transform=Transform.exp((1, 2, 3, 0.1, 0.2, 0.3)))
        try:
            pair.graph.add_pose(asked)
        except ConstraintViolation as violation:
            if violation.offer is None:
                return
            pair.graph.add_pose(violation.offer)
        assert pair.graph.pose(of=of, in_frame=in_frame).transform.is_close(asked.transform)
