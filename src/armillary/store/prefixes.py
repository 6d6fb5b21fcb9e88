"""Change records with a prefix before every name, so that worlds with equal names can share one world.

A prefix is a function of the records alone: the same records with the same prefix give the same result everywhere, so
that merging is idempotent, later records fit to earlier ones, and replicas that do it agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from armillary._core import DETACHED_NODE, ROOT_NODE, ChangeRecord, NodeId
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr
from armillary.store.nodes import MOUNT, id_of_frame, maker_of
from armillary.store.payloads import Connection
from armillary.store.requests import ALWAYS_NS
from armillary.store.values import as_text
from armillary.store.velocity_names import VelocityName, velocity_of
from armillary.store.wrench_names import WrenchName, wrench_of
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary.store.store import Store

__all__ = ["Prefix"]

_NOBODY = "0" * 16
_NO_SIGNATURE = [0, 0, 0, _NOBODY, 0]


class Prefix:
    """A prefix for everything that another world brings: frames, bodies, joints, nodes and authors.

    Frames, bodies, joints and the named frames of nodes get the prefix before their names; names in `shared` stay.
    Nodes get ids of their own, made of the prefix and their id, so that two worlds from one file have different nodes;
    the frame of a node that is named by its id follows. The root of the other world becomes the node of the frame
    `PREFIX + root_frame`, unless that frame is shared: then it is the root here. Sources keep their names; one that is
    the id of a node follows the node.

    Args:
        prefix: Put before names as it is: "B/".
        shared: Names of frames, bodies and joints that both worlds mean alike.
        root_frame: The frame of the other world's root.
        known: Names of frames that earlier records named, without the prefix.
    """

    def __init__(
        self, prefix: str, *, shared: Iterable[str] = (), root_frame: str = "map", known: Iterable[str] = ()
    ) -> None:
        self.prefix = as_text(prefix, "prefix")
        if not self.prefix:
            raise InvalidArgument("prefix is empty: leave it out to keep the names as they are.", prefix)
        check_name(self.prefix)
        if isinstance(shared, str) or not isinstance(shared, Iterable):
            raise InvalidArgument(f"shared is a list of names, got {short_repr(shared)}.", shared)
        self.shared = frozenset(check_name(name) for name in shared)
        self.root_frame = check_name(root_frame)
        self._frames: dict[str, str] = {}
        self._renaming: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "add_node": self._added_node,
            "add_edge": self._added_edge,
            "remove_edges": self._removed_edges,
            "set_attributes": self._of_node,
            "set_frames": self._names,
            "remove_frames": self._names,
            "assert": self._assertion,
            "set_body": self._body,
            "prefer": self._preference,
            "set_variables": self._variables,
            "forget": self._forgotten,
            "reset_time": self._nothing,
        }
        self._note(known)

    @classmethod
    def in_store(
        cls, store: Store, prefix: str, *, shared: Iterable[str] = (), root_frame: str | None = None
    ) -> Prefix:
        """Return the prefix for merging into a store; its root frame is that of the store, if none is given."""
        known = [name.removeprefix(prefix) for name in store.frames()] if isinstance(prefix, str) else []
        root = store.root_frame if root_frame is None else root_frame
        return cls(prefix, shared=shared, root_frame=root, known=known)

    def _note(self, names: Iterable[str]) -> None:
        """Note frames that nodes may represent: the ids of these nodes are made of the names of the frames."""
        self._frames |= {str(id_of_frame(name)): name for name in names if name and maker_of(name) is None}

    # -- Names

    def name(self, name: str) -> str:
        """Return the name of a frame, a body or a joint here."""
        if name in self.shared:
            return name
        node = maker_of(name)
        if node is None:
            return self.prefix + name
        return str(self.node(node)) + (MOUNT if name.endswith(MOUNT) else "")

    def variable(self, name: str) -> str:
        """Return the name of a joint here, or of one component of a wrench or a velocity, whose ends get the prefix."""
        whole: WrenchName | VelocityName | None = wrench_of(name)
        if whole is not None:
            renamed: WrenchName | VelocityName = WrenchName(self.name(whole[0]), self.name(whole[1]))
        else:
            whole = velocity_of(name)
            if whole is None:
                return self.name(name)
            renamed = VelocityName(whole.kind, self.name(whole.of), self.name(whole.relative_to))
        return renamed.variables[whole.variables.index(name)]

    def node(self, node: NodeId) -> NodeId:
        """Return the id of a node here."""
        if node == DETACHED_NODE:
            return node
        if node == ROOT_NODE:
            return ROOT_NODE if self.root_frame in self.shared else id_of_frame(self.name(self.root_frame))
        frame = self._frames.get(str(node))
        if frame is not None:
            return id_of_frame(self.name(frame))
        return NodeId.of_name(f"prefix {self.prefix}", str(node))

    def source(self, source: str) -> str:
        """Return the name of a source here: the same, unless it is the id of a node."""
        node = maker_of(source)
        return source if node is None or source.endswith(MOUNT) else str(self.node(node))

    def author(self, key: str) -> str:
        """Return the key of an author here, 16 digits: records of two prefixes are never the same record."""
        return key if key == _NOBODY else sha256(f"{self.prefix}|{key}".encode()).hexdigest()[:16]

    # -- Records

    def records(self, records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Return records with all names prefixed, and with the node that the other root becomes where one is in it."""
        given = [(json.loads(record.to_json()), record.content_object) for record in records]
        for fields, _ in given:
            self._note(_frames_in(fields))
        made = [self._record(fields, content) for fields, content in given]
        is_root_named = any(self._is_about_root(fields) for fields, _ in given)
        if is_root_named and self.root_frame not in self.shared:
            made.insert(0, self._root_record())
        return made

    def _record(self, fields: dict[str, Any], content: object) -> ChangeRecord:
        rename = self._renaming.get(fields["type"])
        if rename is None:
            raise InvalidArgument(f"A change of type '{fields['type']}' cannot be given a prefix.", fields["type"])
        author, sequence = fields["id"]
        common = {"id": [self.author(author), sequence], "author": None, "epoch": self._signature(fields["epoch"])}
        named = fields | common | rename(fields)
        if isinstance(content, Connection):
            sources, targets = (tuple(map(self.node, end)) for end in (content.sources, content.targets))
            content = replace(content, sources=sources, targets=targets)
            named["content"] = content.digest().hex()
        return ChangeRecord.from_json(json.dumps(named), content)

    def _is_about_root(self, fields: dict[str, Any]) -> bool:
        """Whether a record names the other root: as the node that it is about, or as the parent of a thing."""
        edge = fields.get("edge") or {}
        parents = (fields.get("parent"), edge.get("parent"))
        is_thing = fields.get("node") not in self._frames
        return fields.get("node") == str(ROOT_NODE) or (is_thing and str(ROOT_NODE) in parents)

    def _root_record(self) -> ChangeRecord:
        """Return the record that adds the node of the other world's root frame; always the same one."""
        frame = self.name(self.root_frame)
        return ChangeRecord.from_json(
            json.dumps(
                {
                    "id": [self.author(f"root {frame}"), 1],
                    "time": [0, 0],
                    "authority": 0,
                    "at": ALWAYS_NS,
                    "epoch": None,
                    "author": None,
                    "origin": "",
                    "type": "add_node",
                    "node": str(id_of_frame(frame)),
                    "incarnation": _NO_SIGNATURE,
                    "kind": "frame",
                    "content": None,
                    "placement": None,
                    "frame_name": frame,
                    "settings": [],
                    "edge": {
                        "parent": str(ROOT_NODE),
                        "parent_incarnation": _NO_SIGNATURE,
                        "pose": None,
                        "rank": "plain",
                    },
                }
            )
        )

    # -- Parts of records, as JSON has them

    def _signature(self, signature: list[Any] | None) -> list[Any] | None:
        if signature is None:
            return None
        *time, author, sequence = signature
        return [*time, self.author(author), sequence]

    def _node_text(self, node: str | None) -> str | None:
        return None if node is None else str(self.node(NodeId(node)))

    def _parent_text(self, node: str, parent: str | None) -> str | None:
        """Return the parent of a node here; nodes of frames are at the root of every world."""
        is_at_root = parent == str(ROOT_NODE) and node in self._frames
        return parent if is_at_root else self._node_text(parent)

    def _edge(self, node: str, edge: dict[str, Any]) -> dict[str, Any]:
        parent = {"parent": self._parent_text(node, edge["parent"])}
        return edge | parent | {"parent_incarnation": self._signature(edge["parent_incarnation"])}

    def _of_node(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"node": self._node_text(fields["node"]), "incarnation": self._signature(fields["incarnation"])}

    def _added_node(self, fields: dict[str, Any]) -> dict[str, Any]:
        placement, frame = fields["placement"], fields["frame_name"]
        if placement is not None:
            placement = placement | {"source": self.source(placement["source"])}
        return self._of_node(fields) | {
            "placement": placement,
            "frame_name": self.name(frame) if frame else "",
            "edge": self._edge(fields["node"], fields["edge"]),
        }

    def _added_edge(self, fields: dict[str, Any]) -> dict[str, Any]:
        edge = {key: fields[key] for key in ("parent", "parent_incarnation")}
        return self._of_node(fields) | self._edge(fields["node"], edge)

    def _removed_edges(self, fields: dict[str, Any]) -> dict[str, Any]:
        dots = [[self.author(author), sequence] for author, sequence in fields["dots"]]
        return self._of_node(fields) | {
            "dots": dots,
            "parent": self._parent_text(fields["node"], fields["parent"]),
        }

    def _names(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"names": [self.name(name) for name in fields["names"]]}

    def _assertion(self, fields: dict[str, Any]) -> dict[str, Any]:
        kind, of, source = fields["track"]
        return {"track": [kind, self.name(of), self.source(source)], "value": self._value(fields["value"])}

    def _value(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is None:
            return None
        ((kind, parts),) = value.items()
        named = dict(parts)
        for key in ("in_frame", "sampled_in"):
            if parts.get(key):
                named[key] = self.name(parts[key])
        if "form" in parts:
            joints = {key: [self.name(one) for one in parts["form"][key]] for key in ("positions", "velocities")}
            named["form"] = parts["form"] | joints
        return {kind: named}

    def _body(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"body": self.name(fields["body"]), "frames": [self.name(frame) for frame in fields["frames"]]}

    def _preference(self, fields: dict[str, Any]) -> dict[str, Any]:
        ((kind, name),) = fields["subject"].items()
        return {"subject": {kind: self.name(name)}, "source": self._source_text(fields["source"])}

    def _source_text(self, source: str | None) -> str | None:
        return None if source is None else self.source(source)

    def _variables(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"variables": [[self.variable(name), kind] for name, kind in fields["variables"]]}

    def _forgotten(self, fields: dict[str, Any]) -> dict[str, Any]:
        in_frame = None if fields["in_frame"] is None else self.name(fields["in_frame"])
        named = {"of": self.name(fields["of"]), "in_frame": in_frame}
        return named | {"source": self._source_text(fields["source"])}

    @staticmethod
    def _nothing(_: dict[str, Any]) -> dict[str, Any]:
        return {}


def _frames_in(fields: dict[str, Any]) -> Iterator[str]:
    """Yield the names of frames in a record, also of bodies."""
    yield from fields.get("names", ())
    yield from fields.get("frames", ())
    yield from (name for name in (fields.get("frame_name"), fields.get("of"), fields.get("in_frame")) if name)
    if "track" in fields:
        yield fields["track"][1]
        for parts in (fields["value"] or {}).values():
            if "in_frame" in parts:
                yield parts["in_frame"]
