"""Lets the worlds of a story do what its steps say, through the public interface only.

Clocks are driven, and nobody acts at the instant of another: the order of all changes is that of the steps, whatever
clock a build orders them by, and no tie is decided by the random part of an author's identity. The skewed family has
clocks that are wrong, and authorities that differ, for the same reason.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary import Transform, World
from armillary.articulation import ArticulationModel
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddBody,
    AddConnection,
    AddFrame,
    AddGeometry,
    AddGroup,
    AddJoints,
    AddParent,
    AddRelation,
    AddRemoteRoot,
    AddTransform,
    AddTwistRelation,
    AddUncertainTransform,
    Box,
    Change,
    ClosedForm,
    Drive,
    Fix,
    NodeId,
    Prefer,
    Release,
    Remove,
    RemoveFrame,
    RemoveJoints,
    RemoveParent,
    SetAttributes,
    SetTransform,
    Sphere,
    Unfix,
)
from corpus.stories import KINDS, Step, Story

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.scene import ChangeRecord

START_NS, TICK_NS, WAIT_NS = 1000, 100, 1000
FEW_CHANGES, MANY_CHANGES = 12, 10_000
NODES = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12345"]
OWN_ROOTS = [NodeId(f"a{digit}000000-0000-4000-8000-000000000000") for digit in "0123"]
SHARED_ROOTS = [NodeId(f"b{digit}000000-0000-4000-8000-000000000000") for digit in "01"]
NODE_LABELS = {
    **{str(node): f"node{i}" for i, node in enumerate(NODES)},
    **{str(node): f"own_root{i}" for i, node in enumerate(OWN_ROOTS)},
    **{str(node): f"shared_root{i}" for i, node in enumerate(SHARED_ROOTS)},
}
NAMED = ("p", "q", "r", "gun", "cart", "map", "p", "q")
SOURCES = (None, None, "shared", "shared", "camera", "lidar", None, "shared")
SINCE_NS = (None, None, 800, 1200, 1600, 2000, 2400, None)
STAMPS_NS = (700, 1000, 1200, 1500, 1600, 1900, 2300, 3100)
JOINTS = ("hinge", "slide", "door/hinge")
DOOR = """
<robot name="{name}">
  <link name="frame"/><link name="panel"/><link name="bolt"/>
  <joint name="hinge" type="revolute"><parent link="frame"/><child link="panel"/><origin xyz="0.1 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="1"/></joint>
  <joint name="push" type="prismatic"><parent link="panel"/><child link="bolt"/><origin xyz="0.8 0 1"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>
"""


class Replay:
    """The worlds of one story, and what they have written to one another."""

    def __init__(self, story: Story, folder: Path) -> None:
        self.story, self.folder = story, folder
        self.now_ns = START_NS
        self.letters: list[tuple[int, Sequence[ChangeRecord]]] = []
        self.outcomes: list[str] = []
        self.digests: list[tuple[str, str]] = []
        self.worlds = [self._world(number) for number in range(story.worlds)]
        if story.family != "undeclared root":
            self._declare_root()
        if story.family == "contended nodes":
            self._share_nodes()

    def run(self) -> None:
        """Every step, whose outcome is kept; what is refused was not meant."""
        steps = list(self.story.steps)
        while steps:
            kind, number, *numbers = steps.pop(0)
            taken = numbers[0] % 4 + 2 if KINDS[kind] == "batch" else 0
            self._step(KINDS[kind], number % len(self.worlds), numbers, steps[:taken])
            del steps[:taken]
        if not self.story.is_loose:
            self.exchange_all()

    def exchange_all(self) -> None:
        """Everybody asks everybody for what is lacking, twice."""
        pairs = [(one, other) for one in range(len(self.worlds)) for other in range(len(self.worlds)) if one != other]
        for receiver, sender in pairs * 2:
            self._try(receiver, lambda me=receiver, other=sender: self._ask(me, other))

    def newcomer(self) -> World | str:
        """A copy that takes all records of the first world one by one, the last one first."""
        world = self._world(len(self.worlds))
        try:
            for record in reversed(self.worlds[0].scene.changes()):
                world.merge([record])
        except ArmillaryError as error:
            return type(error).__name__
        return world

    def close(self) -> None:
        for world in self.worlds:
            world.close()

    def _declare_root(self) -> None:
        """By somebody else, so that nobody takes it back."""
        with World("first", clock=lambda: self.now_ns) as first:
            first.add_frame("map")
            for world in self.worlds:
                world.merge(first.scene.changes())
        self.now_ns += TICK_NS

    def _share_nodes(self) -> None:
        first = self.worlds[0]
        first.apply([AddGroup(parent=first.scene.root, id=node) for node in NODES[:4]])
        for world in self.worlds[1:]:
            world.merge(first.scene.changes())
        self.now_ns += TICK_NS

    def _world(self, number: int) -> World:
        is_skewed = self.story.family == "skewed clocks"
        skew_ns = 230 * (number % 3) if is_skewed else 0
        return World(
            "abcde"[number],
            clock=lambda: self.now_ns - skew_ns,
            authority=number if is_skewed else (number + self.story.number) % 2,
            max_changes=FEW_CHANGES if self.story.family == "forgotten changes" else MANY_CHANGES,
        )

    def _step(self, kind: str, me: int, numbers: list[int], following: list[Step]) -> None:
        self.now_ns += TICK_NS
        before = self.worlds[me].scene.version_vector()
        if kind == "batch":
            self._try(me, lambda: self._batch(me, following))
        elif kind in LOCAL:
            self._try(me, lambda: getattr(self, f"_{kind}")(me, *numbers))
        elif kind in CALLS:
            self._try(me, lambda: CALLS[kind](self.worlds[me], *numbers))
        else:
            self._try(me, lambda: self.worlds[me].apply([change_of(self.worlds[me], kind, *numbers)]))
        if kind not in LOCAL:
            self._write(me, before)

    def _try(self, me: int, action: Callable[[], object]) -> None:
        try:
            action()
            outcome = "ok"
        except ArmillaryError as error:
            outcome = type(error).__name__
        self.outcomes.append(outcome)
        self.digests.append((self.worlds[me].digest(), self.worlds[me].scene.digest()))

    def _write(self, me: int, before: Any) -> None:
        try:
            news = self.worlds[me].scene.changes(since=before)
        except ArmillaryError:  # so many that the first are forgotten
            return
        if news:
            self.letters.append((me, news))

    def _batch(self, me: int, steps: list[Step]) -> None:
        """Several steps at once, whoever they were meant for."""
        world = self.worlds[me]
        changing = [(KINDS[kind], numbers) for kind, _, *numbers in steps if KINDS[kind] in CHANGES]
        world.apply([change_of(world, kind, *numbers) for kind, numbers in changing])

    # -- What is between worlds, or in place of one

    def _letter(self, me: int, a: int, b: int, *_: int) -> None:
        """One of the last eight letters, or of all, in any order."""
        recent = self.letters[-8:] if b else self.letters
        others = [records for sender, records in recent if sender != me]
        if others:
            self.worlds[me].merge(others[(8 * b + a) % len(others)])

    def _letter_again(self, me: int, *numbers: int) -> None:
        self._letter(me, *numbers)
        self._letter(me, *numbers)

    def _sync(self, me: int, a: int, *_: int) -> None:
        self._ask(me, a % len(self.worlds))

    def _sync_singly(self, me: int, a: int, b: int, *_: int) -> None:
        """One record a message, forwards or backwards."""
        records = self._lacking(me, a % len(self.worlds))
        for record in records if b % 2 else reversed(records):
            self.worlds[me].merge([record])

    def _ask(self, me: int, other: int) -> None:
        self.worlds[me].merge(self._lacking(me, other))

    def _lacking(self, me: int, other: int) -> Sequence[ChangeRecord]:
        return self.worlds[other].scene.changes(since=self.worlds[me].scene.version_vector()) if me != other else []

    def _copy(self, me: int, *_: int) -> None:
        old = self.worlds[me]
        self.worlds[me] = old.copy()
        old.close()

    def _save_load(self, me: int, *_: int) -> None:
        path = self.folder / "world.json"
        self.worlds[me].save(path)
        loaded = World.load(path, clock=lambda: self.now_ns)
        self.worlds[me].close()
        self.worlds[me] = loaded

    def _wait(self, me: int, *_: int) -> None:
        self.now_ns += WAIT_NS

    def _see_everywhere(self, me: int, *numbers: int) -> None:
        """A sample that everybody has; each acts at an instant of its own."""
        problems = [self._see_as_everybody(world, *numbers) for world in self.worlds]
        refused = [problem for problem in problems if problem is not None]
        if refused:
            raise refused[0]

    def _see_as_everybody(self, world: World, a: int, b: int, c: int, d: int) -> ArmillaryError | None:
        self.now_ns += TICK_NS
        edge = {"of": frame_name(a), "in_frame": frame_beside(a, b), "source": "everybody"}
        try:
            world.set_pose(**edge, transform=placed(a, c, d), covariance=unsure(c), at=STAMPS_NS[d])
        except ArmillaryError as error:
            return error
        return None


LOCAL = ("letter", "letter_again", "sync", "sync_singly", "copy", "save_load", "wait", "see_everywhere")


def replayed(story: Story, folder: Path | None = None) -> Replay:
    """Replay a story to its end. The caller closes its worlds."""
    with tempfile.TemporaryDirectory() as temporary:
        replay = Replay(story, folder or Path(temporary))
        replay.run()
    return replay


# -- What the numbers of a step mean


def frame_name(number: int) -> str:
    return NAMED[number]


def frame_beside(number: int, other: int) -> str:
    """The frame `other`, or the next one where both are the same."""
    return NAMED[other] if NAMED[other] != NAMED[number] else NAMED[(other + 1) % len(NAMED)]


def placed(a: int, c: int, d: int) -> Transform:
    """No half turns, and no two alike but by purpose."""
    return Transform.from_xyz_rpy(xyz=(1.0 + a, 0.5 * c, 0.25 * d), rpy=(0.1 * c, 0.05 * a, 0.3 + 0.2 * d))


def unsure(c: int) -> np.ndarray:
    return np.diag([0.01 * (1 + c)] * 3 + [0.001 * (1 + c)] * 3)


def node_among(candidates: Sequence[NodeId], number: int) -> NodeId:
    return candidates[number % len(candidates)] if candidates else NODES[0]


def known(world: World) -> list[NodeId]:
    return [node for node in (*NODES, *OWN_ROOTS, *SHARED_ROOTS) if node in world.scene]


def fresh(world: World, number: int) -> NodeId:
    """An id that is free, mostly."""
    free = [node for node in NODES if node not in world.scene]
    return node_among(free, number) if number < 7 else NODES[number % len(NODES)]


def parent_of(world: World, number: int) -> NodeId:
    return node_among([world.scene.root, world.scene.root, *known(world)], number)


def since(world: World, number: int) -> int:
    """When a change of nodes holds from: now, or somewhat before."""
    return world.now() - (0, 0, 0, 150, 250, 700, 0, 0)[number]


def attributes_of(world: World, c: int) -> dict[str, Any]:
    return {"name": f"{world.name}{c % 3}", "mass": c} if c % 2 else {"name": "cup"}


def edge_of(a: int, b: int, c: int) -> dict[str, Any]:
    return {"of": frame_name(a), "in_frame": frame_beside(a, b), "source": SOURCES[c]}


def _existing(world: World, a: int) -> NodeId:
    return node_among(known(world), a)


def _above(world: World, a: int, b: int) -> NodeId:
    node = _existing(world, a)
    return node_among(world.scene.parents(node) if node in world.scene else [], b)


def _unfix(world: World, a: int, b: int, c: int, d: int) -> Change:
    """A fixed relation that this world knows."""
    fixed = sorted({(r.of, r.in_frame, r.source) for r in world.relations() if r.kind == "fixed"})
    of, in_frame, source = fixed[a % len(fixed)] if fixed else ("p", "q", None)
    return Unfix(of=of, in_frame=in_frame, source=source, at=SINCE_NS[d])


def _node_settings(world: World, a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return {"parent": parent_of(world, b), "id": fresh(world, a), "attributes": attributes_of(world, c)}


def _in_frame_settings(world: World, a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return {"parent": frame_name(b), "id": fresh(world, a), "attributes": attributes_of(world, c)}


CHANGES: dict[str, Callable[..., Change]] = {
    "group": lambda w, a, b, c, d: AddGroup(**_node_settings(w, a, b, c, d), at=since(w, d)),
    "fixed": lambda w, a, b, c, d: AddTransform(**_node_settings(w, a, b, c, d), transform=placed(a, c, d), at=None),
    "sampled": lambda w, a, b, c, d: AddTransform(
        **_node_settings(w, a, b, c, d), transform=placed(a, c, d), at=since(w, d)
    ),
    "uncertain": lambda w, a, b, c, d: AddUncertainTransform(
        **_node_settings(w, a, b, c, d), transform=placed(a, c, d), covariance=unsure(c), at=since(w, d)
    ),
    "geometry": lambda w, a, b, c, d: AddGeometry(
        **_node_settings(w, a, b, c, d), shape=Sphere(1.0 + c) if d % 2 else Box((1.0, 2.0, 1.0 + c)), at=since(w, d)
    ),
    "connection": lambda w, a, b, c, d: AddConnection(
        **_node_settings(w, a, b, c, d), sources=[_existing(w, c)], targets=[w.scene.root], at=since(w, d)
    ),
    "own_root": lambda w, a, b, c, d: AddRemoteRoot(
        OWN_ROOTS["abcde".index(w.name) % 4], attributes_of(w, c), since(w, d)
    ),
    "shared_root": lambda w, a, b, c, d: AddRemoteRoot(SHARED_ROOTS[a % 2], attributes_of(w, c), since(w, d)),
    "say": lambda w, a, b, c, d: SetAttributes(_existing(w, a), attributes_of(w, c), since(w, d)),
    "unsay": lambda w, a, b, c, d: SetAttributes(_existing(w, a), {"name": None, "mass": c}, since(w, d)),
    "add_parent": lambda w, a, b, c, d: AddParent(_existing(w, a), parent_of(w, b), since(w, d)),
    "remove_parent": lambda w, a, b, c, d: RemoveParent(_existing(w, a), _above(w, a, b), since(w, d)),
    "remove": lambda w, a, b, c, d: Remove(_existing(w, a), since(w, d)),
    "remove_subtree": lambda w, a, b, c, d: Remove(_existing(w, a), since(w, d), subtree=True),
    "set_transform": lambda w, a, b, c, d: SetTransform(_existing(w, a), placed(a, c, d), at=since(w, d)),
    "group_in_frame": lambda w, a, b, c, d: AddGroup(**_in_frame_settings(w, a, b, c, d), at=since(w, d)),
    "fixed_in_frame": lambda w, a, b, c, d: AddTransform(
        **_in_frame_settings(w, a, b, c, d), transform=placed(a, c, d), at=None
    ),
    "sampled_in_frame": lambda w, a, b, c, d: AddTransform(
        **_in_frame_settings(w, a, b, c, d), transform=placed(a, c, d), at=since(w, d)
    ),
    "parent_frame": lambda w, a, b, c, d: AddParent(_existing(w, a), frame_name(b), since(w, d)),
    "grasp_node": lambda w, a, b, c, d: Fix(
        of=str(_existing(w, a)), in_frame=frame_name(b), source=SOURCES[c], transform=placed(a, c, d), at=1600 + 100 * d
    ),
    "frame": lambda w, a, b, c, d: AddFrame(frame_name(a)),
    "fix": lambda w, a, b, c, d: Fix(**edge_of(a, b, c), transform=placed(a, c, d), covariance=_sureness(c)),
    "fix_at": lambda w, a, b, c, d: Fix(
        **edge_of(a, b, c), transform=placed(a, c, d), at=SINCE_NS[d] or 1400, covariance=_sureness(c)
    ),
    "recalibrate": lambda w, a, b, c, d: Fix(
        **edge_of(a, b, c), transform=placed(a, c, d), at=SINCE_NS[d], recalibrate=True
    ),
    "await": lambda w, a, b, c, d: AddRelation(**edge_of(a, b, c), at=SINCE_NS[d] or 900),
    "await_twists": lambda w, a, b, c, d: AddTwistRelation(
        of=frame_name(a), relative_to=frame_beside(a, b), source=SOURCES[c]
    ),
    "unfix": _unfix,
    "release": lambda w, a, b, c, d: Release(of=frame_name(a), at=1100 + 300 * d, source=SOURCES[c]),
    "body": lambda w, a, b, c, d: AddBody(("gun", "cart")[c % 2], [frame_name(a), frame_beside(a, b)]),
    "prefer": lambda w, a, b, c, d: Prefer(of=frame_name(a), source=(None, "shared", "a", "b", "camera")[c % 5]),
    "remove_frame": lambda w, a, b, c, d: RemoveFrame(frame_name(a)),
    "remove_frames_below": lambda w, a, b, c, d: RemoveFrame(frame_name(a), subtree=True),
    "add_joints": lambda w, a, b, c, d: AddJoints({JOINTS[a % 2]: ("linear", "wrap")[b % 2]}),
    "remove_joints": lambda w, a, b, c, d: RemoveJoints([JOINTS[a % 2]]),
    "drive": lambda w, a, b, c, d: Drive(**edge_of(a, b, c), form=_form(c, d), at=SINCE_NS[d]),
}  # fmt: skip


def _sureness(c: int) -> np.ndarray | None:
    """Some are sure of it."""
    return unsure(c) if c % 3 else None


def _form(c: int, d: int) -> ClosedForm:
    kind = ("revolute", "prismatic")[c % 2]
    return ClosedForm(kind=kind, origin=placed(0, c, d), axes=((0.0, 0.0, 1.0),), variables=(JOINTS[c % 2],))


def change_of(world: World, kind: str, *numbers: int) -> Change:
    return CHANGES[kind](world, *numbers)


def _attach(world: World, a: int, b: int, c: int, d: int) -> None:
    at = SINCE_NS[d]
    world.attach(of=frame_name(a), to=frame_beside(a, b), at=at, source=SOURCES[c], outside="hold")


def _detach(world: World, a: int, b: int, c: int, d: int) -> None:
    at = SINCE_NS[d]
    world.detach(of=frame_name(a), to=frame_beside(a, b), at=at, source=SOURCES[c], outside="hold")


def _move(world: World, a: int, b: int, c: int, d: int) -> None:
    """Into another parent, out of the one it is in, at once."""
    node, at = _existing(world, a), since(world, d)
    world.apply([AddParent(node, parent_of(world, b), at), RemoveParent(node, _above(world, a, c), at)])


def _see(world: World, a: int, b: int, c: int, d: int) -> None:
    edge = edge_of(a, b, c)
    world.set_pose(**edge, transform=placed(a, c, d), at=STAMPS_NS[d], covariance=_sureness(c))


def _see_series(world: World, a: int, b: int, c: int, d: int) -> None:
    rows = np.stack([placed(a, c, one).xyz_wxyz for one in (d, (d + 3) % 8, (d + 6) % 8)])
    stamps = sorted({STAMPS_NS[one] for one in (d, (d + 1) % 8, (d + 5) % 8)})
    world.set_poses(**edge_of(a, b, c), transforms=rows, at=stamps)


def _twist(world: World, a: int, b: int, c: int, d: int) -> None:
    speed = {"linear": (0.1 * c, 0.0, 0.1), "angular": (0.0, 0.0, 0.1 * d)}
    of, relative_to = frame_name(a), frame_beside(a, b)
    world.set_twist(of=of, relative_to=relative_to, expressed_in=of, **speed, at=STAMPS_NS[d], source=SOURCES[c])


def _mount(world: World, a: int, b: int, c: int, d: int) -> None:
    name = ("door", "gate")[c % 2]
    model = ArticulationModel()
    model.load_urdf(DOOR.format(name=name), name=name)
    world.mount(model, in_frame=frame_name(b), at=SINCE_NS[d] if c > 5 else None, shapes="none")


def _joint_names(world: World) -> list[str]:
    return sorted(world.joints()) or ["hinge"]


def _joints(world: World, a: int, b: int, c: int, d: int) -> None:
    names = _joint_names(world)
    source = None if c % 2 else "encoder"
    world.set_joints({names[a % len(names)]: 0.1 * b - 0.3}, at=STAMPS_NS[d], source=source)


def _joint_series(world: World, a: int, b: int, c: int, d: int) -> None:
    names = _joint_names(world)
    stamps = [STAMPS_NS[d % 4], STAMPS_NS[4 + d % 4]]
    world.set_joint_series([names[a % len(names)]], positions=[[0.1 * b], [0.1 * c]], at=stamps)


def _prefer_joint(world: World, a: int, b: int, c: int, d: int) -> None:
    names = _joint_names(world)
    world.prefer_joint(names[a % len(names)], source=(None, "encoder", world.name)[b % 3])


CALLS: dict[str, Callable[..., None]] = {
    "attach": _attach,
    "detach": _detach,
    "move": _move,
    "see": _see,
    "see_series": _see_series,
    "twist": _twist,
    "mount": _mount,
    "joints": _joints,
    "joint_series": _joint_series,
    "prefer_joint": _prefer_joint,
    "reset": lambda world, *_: world.reset_time(),
    "expire": lambda world, a, *_: world.scene.expire(older_than=200 * (1 + a)),
    "undo": lambda world, *_: world.undo(),
    "redo": lambda world, *_: world.redo(),
}
