"""Change records for tests, as JSON objects: authors who sign, and the payloads in short."""

from __future__ import annotations

from typing import Any

from armillary._core import ROOT_NODE, NodeId
from resolver_reference import stand_in

Record = dict[str, Any]
NO_INCARNATION = [0, 0, 0, "0" * 16, 0]
IDENTITY = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
ROOT = str(ROOT_NODE)


def node_id(number: int) -> str:
    """Id of the n-th node of a test."""
    return str(NodeId(f"{number}0000000-0000-4000-8000-000000000000"))


def pose(x: float = 0.0, certainty: str = "exact") -> Record:
    """A fixed pose, `x` metres away."""
    return {"pose": [x, *IDENTITY[1:]], "certainty": certainty}


def fixed(in_frame: str, x: float = 0.0) -> Record:
    """Value of an assertion: a constant pose."""
    return {"fixed": {"in_frame": in_frame, **pose(x)}}


def sampled(in_frame: str) -> Record:
    """Value of an assertion: samples."""
    return {"sampled": {"in_frame": in_frame, "interpolation": "linear"}}


def driven(in_frame: str, variable: str = "hinge") -> Record:
    """Value of an assertion: a revolute joint."""
    axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    joint = {"kind": "revolute", "origin": IDENTITY, "axes": axes, "multiplier": 1.0, "offset": 0.0, "pitch": 0.0}
    return {"driven": {"in_frame": in_frame, "form": {"joint": joint, "positions": [variable], "velocities": []}}}


ENDED: Record = {"ended": {}}


class Author:
    """Somebody who signs changes, with a clock of his own that may be wrong."""

    def __init__(self, number: int = 1, *, authority: int = 0, clock: int = 1000) -> None:
        self.key = f"{number:016x}"
        self.authority = authority
        self.clock = clock
        self.newest = [0, 0]  # of all timestamps he holds
        self.epoch: list[Any] | None = None
        self.sequence = 0

    def hear(self, record: Record) -> None:
        """Hold what somebody signed: the clock never falls behind it."""
        self.newest = max(self.newest, record["time"])
        if record["type"] == "reset_time":
            own = [*record["time"], record["authority"], *record["id"]]
            self.epoch = max(self.epoch or [], own)

    def sign(self, type_: str, /, *, at: int | None = None, **fields: Any) -> Record:
        """Sign a change of this type."""
        wall, count = self.newest
        time = [self.clock, 0] if self.clock > wall else [wall, count + 1]
        self.sequence += 1
        record = {
            "id": [self.key, self.sequence],
            "time": time,
            "authority": self.authority,
            "at": at,
            "epoch": self.epoch,
            "author": None,
            "origin": "",
            "type": type_,
            **fields,
        }
        self.hear(record)
        return record

    def says(self, of: str, value: Record | None, since: int | None = None, **options: Any) -> Record:
        """Assert a value of a pose track."""
        track = [options.pop("kind", "pose"), of, options.pop("source", "robot")]
        fields = {"rank": "plain", "recalibrate": False, **options}
        return self.sign("assert", track=track, since=since, value=value, **fields)

    def adds(self, node: str, parent: str = ROOT, at: int | None = 1, **options: Any) -> Record:
        """Add a node; a Transform where `x` is given."""
        kind = options.pop("kind", "transform" if "x" in options else "group")
        placement = {**pose(options.pop("x", 0.0)), "is_fixed": options.pop("is_fixed", False), "source": "robot"}
        edge = {"parent": parent, "parent_incarnation": options.pop("parent_incarnation", NO_INCARNATION)}
        incarnation = options.pop("incarnation", None)
        fields = {"frame_name": "", "settings": [], "content": None, **options}
        record = self.sign(
            "add_node",
            at=at,
            node=node,
            incarnation=[],
            kind=kind,
            placement=placement if kind in ("transform", "uncertain_transform") else None,
            edge={**edge, "pose": None, "rank": "plain"},
            **fields,
        )
        record["incarnation"] = incarnation or [*record["time"], self.authority, *record["id"]]
        return record

    def adds_stand_in(self, frame: str, barrier: Record | None = None, at: int | None = 1) -> Record:
        """Add the node that stands for a frame."""
        incarnation = [*barrier["time"], barrier["authority"], *barrier["id"]] if barrier else NO_INCARNATION
        return self.adds(stand_in(frame), at=at, kind="frame", frame_name=frame, incarnation=incarnation)

    def adds_edge(self, child: Record, parent: Record | str, at: int | None = 1, **options: Any) -> Record:
        """Add a parent; both are given by their AddNode, or by the id of root and DETACHED."""
        is_node = not isinstance(parent, str)
        fields = {
            "parent": parent["node"] if is_node else parent,
            "parent_incarnation": parent["incarnation"] if is_node else NO_INCARNATION,
            "pose": None,
            "rank": "plain",
            "restores": False,
        }
        node = {"node": child["node"], "incarnation": child["incarnation"]}
        return self.sign("add_edge", at=at, **node, **{**fields, **options})

    def removes(self, child: Record, *edges: Record, at: int | None = 1) -> Record:
        """Remove these edges of a node."""
        fields = {"node": child["node"], "incarnation": child["incarnation"], "dots": [edge["id"] for edge in edges]}
        return self.sign("remove_edges", at=at, **fields, parent=None)

    def sets(self, node: Record, at: int | None = 1, **settings: Any) -> Record:
        """Set attributes of a node."""
        fields = {"node": node["node"], "incarnation": node["incarnation"]}
        return self.sign("set_attributes", at=at, **fields, settings=[list(item) for item in settings.items()])

    def prefers(self, frame: str, source: str | None, start: int | None = None, end: int | None = None) -> Record:
        """Prefer a source of a frame."""
        return self.sign("prefer", subject={"frame": frame}, source=source, start=start, end=end)

    def row(
        self, of: str, in_frame: str, stamp: int, *, source: str = "robot", kind: str = "pose", rewrites: int = 0
    ) -> Record:
        """One sample of a relation, made with what this author holds."""
        track = [kind, of, source]
        return {"track": track, "in_frame": in_frame, "stamp": stamp, "rewrites": rewrites, **self._row()}

    def node_row(self, node: Record, stamp: int) -> Record:
        """One sample of a Transform."""
        fields = {"node": node["node"], "incarnation": node["incarnation"], "stamp": stamp, "rewrites": 0}
        return {**fields, **self._row()}

    def _row(self) -> Record:
        return {"author": self.key, "base": list(self.newest), "epoch": self.epoch}
