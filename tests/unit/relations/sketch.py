"""A graph's structure in its plainest form: three dictionaries, every question answered by looking at all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from armillary.relations.rules import TwistEdge


@dataclass
class Sketch:
    """What the rules ask about. The oracle of the quick structure, and no relation graph at all."""

    bodies: dict[str, list[str]] = field(default_factory=dict)
    poses: dict[str, str] = field(default_factory=dict)  # of -> in_frame
    moving: dict[str, str] = field(default_factory=dict)  # of -> relative_to

    def is_body(self, name):
        return name in self.bodies

    def body_of(self, frame):
        return next((body for body, frames in self.bodies.items() if frame in frames), None)

    def frames_of(self, body):
        return self.bodies.get(body, [])

    def pose_parent(self, frame):
        return self.poses.get(frame)

    def root_of(self, frame):
        while frame in self.poses:
            frame = self.poses[frame]
        return frame

    def bodies_in(self, root):
        return {body for body, frames in self.bodies.items() if any(self.root_of(frame) == root for frame in frames)}

    def twists_in(self, root):
        return [TwistEdge(of, body) for of, body in self.moving.items() if self.root_of(of) == root]

    def twist_parent(self, frame):
        return self.moving.get(frame)

    def twist_group(self, root, body):
        group, before = {body}, None
        while before != group:
            before = set(group)
            for edge in self.twists_in(root):
                ends = {self.body_of(edge.of), edge.relative_to}
                group |= ends if ends & group else set()
        return frozenset(group)
