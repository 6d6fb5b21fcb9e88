#include <nanobind/stl/string.h>

#include <algorithm>

#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;
using scene::Condition;
using scene::NodeRecord;
using scene::Past;

namespace {

/// The record of a node that is alive in the view, or UnknownNode.
const NodeRecord& record_of(const SceneView& view, nb::handle node) {
  const NodeId id = as_node_id(node);
  const bool is_hidden = id == kDetachedNode;
  const NodeRecord* record = is_hidden ? nullptr : view.at ? Past(view.version, *view.at).find(id) : view.version->find(id);
  if (record == nullptr) raise_object(error_class("UnknownNode")(nb::cast(id), names_of(*view.version, {id})));
  return *record;
}

bool contains(const SceneView& view, nb::handle node) {
  const NodeId id = as_node_id(node);
  if (id == kDetachedNode) return false;
  return view.at ? Past(view.version, *view.at).find(id) != nullptr : view.version->is_alive(id);
}

nb::list parents(const SceneView& view, nb::handle node) {
  const NodeRecord& record = record_of(view, node);
  std::vector<NodeId> found = view.at ? Past(view.version, *view.at).parents(record) : record.parents();
  std::erase(found, kDetachedNode);
  return id_list(found);
}

/// Since when the node is in a parent, without a break; none: always.
nb::object contained_since(const SceneView& view, nb::handle node, nb::handle parent) {
  const NodeRecord& record = record_of(view, node);
  const NodeId in = as_node_id(parent);
  const std::vector<NodeId> all = view.at ? Past(view.version, *view.at).parents(record) : record.parents();
  std::optional<Stamp> since;
  if (std::ranges::find(all, in) != all.end())
    for (const scene::Edge& edge : record.edges)
      if (edge.parent == in && (view.at ? edge.holds_at(*view.at) : edge.is_in_force()))
        since = std::min(since.value_or(edge.from), edge.from);
  if (!since)
    raise_object(error_class("NotItsParent")(nb::cast(record.id), nb::cast(in), names_of(*view.version, {record.id, in})));
  const NodeRecord* parent_record = view.version->recall(in);
  const bool holds_always = since->ns <= kEarliestSample.ns + 1 && parent_record != nullptr;  // as long as there were both
  return stamp_or_none(holds_always ? std::max(record.created_at, parent_record->created_at) : *since);
}

/// Whether a further parent of a node may count since the node was added: it was never taken out of one, and is in what the
/// parent never was below.
bool may_always_be_in(const SceneView& view, nb::handle node, nb::handle parent) {
  const NodeRecord &record = record_of(view, node), &above = record_of(view, parent);
  const bool is_moved = std::ranges::any_of(record.edges, &scene::Edge::removed);
  return !is_moved && record.id != kRootNode && view.version->path_up(above.id, record.id, {kEarliestSample.ns + 1}).empty();
}

nb::list children(const SceneView& view, nb::handle node) {
  const NodeRecord& record = record_of(view, node);
  return id_list(view.at ? Past(view.version, *view.at).children(record) : view.version->children(record));
}

/// The roots of others that are not mounted.
nb::list remote_roots(const SceneView& view) {
  const NodeRecord& detached = *view.version->find(kDetachedNode);
  return id_list(view.at ? Past(view.version, *view.at).children(detached) : view.version->children(detached));
}

nb::list subtree(const SceneView& view, nb::handle node) {
  const NodeId id = record_of(view, node).id;
  return id_list(view.at ? Past(view.version, *view.at).subtree(id) : scene::subtree(*view.version, id));
}

nb::dict attributes(const SceneView& view, nb::handle node) {
  const NodeRecord& record = record_of(view, node);
  nb::dict found;
  const auto give = [&](const scene::Attribute& stored) {
    found[nb::str(stored.key.text->data(), stored.key.text->size())] = attribute_object(*stored.value);
  };
  if (view.at)
    Past(view.version, *view.at).for_each_attribute(record, give);
  else
    record.for_each_attribute(give);
  return found;
}

nb::object payload(const SceneView& view, nb::handle node) {
  const NodeRecord& record = record_of(view, node);
  return record.content ? kept_object(record.content->object) : nb::none();
}

nb::object attribute(const SceneView& view, nb::handle node, const std::string& key) {
  const AttributeValue* found = nullptr;
  record_of(view, node).for_each_attribute([&](const scene::Attribute& stored) {
    if (*stored.key.text == key) found = stored.value.get();
  });
  return found == nullptr ? nb::none() : attribute_object(*found);
}

// -- Finding

std::optional<AttributeValue> bound(const std::string& key, nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return as_attribute(key, value);
}

/// (key, "equals", value) | (key, "between", low, high, low_included, high_included) | (key, "matches", callable) | (key,
/// "exists")
Condition as_condition(nb::handle given) {
  const auto parts = nb::borrow<nb::tuple>(given);
  Condition condition;
  condition.key = nb::cast<std::string>(parts[0]);
  const auto kind = nb::cast<std::string>(parts[1]);
  if (kind == "equals") {
    condition.kind = Condition::Kind::equals;
    condition.value = as_attribute(condition.key, parts[2]);
  } else if (kind == "between") {
    condition.kind = Condition::Kind::between;
    condition.low = bound(condition.key, parts[2]);
    condition.high = bound(condition.key, parts[3]);
    condition.low_included = nb::cast<bool>(parts[4]);
    condition.high_included = nb::cast<bool>(parts[5]);
  } else if (kind == "matches") {
    condition.kind = Condition::Kind::matches;
    condition.test = [test = nb::borrow(parts[2])](const AttributeValue& value) {
      return nb::cast<bool>(test(attribute_object(value)));
    };
  } else {
    condition.kind = kind == "absent" ? Condition::Kind::absent : Condition::Kind::exists;
  }
  return condition;
}

nb::list find(const SceneView& view, nb::list conditions, nb::handle under) {
  std::vector<Condition> wanted;
  for (nb::handle condition : conditions) wanted.push_back(as_condition(condition));
  const NodeId below = record_of(view, under).id;
  return id_list(view.at ? Past(view.version, *view.at).find(wanted, below) : scene::find(*view.version, wanted, below));
}

// -- Comparing

nb::bytes digest(const SceneView& view, nb::handle under) {
  const Digest found = scene::digest(*view.version, record_of(view, under).id);
  return nb::bytes(reinterpret_cast<const char*>(found.data()), found.size());
}

nb::tuple difference(const SceneView& view, const SceneView& other) {
  nb::list ids;
  const std::size_t steps = scene::Records::difference(
      view.version->alive, other.version->alive,
      [&](const NodeId& id, const scene::RecordPtr*, const scene::RecordPtr*) { ids.append(nb::cast(id)); });
  return nb::make_tuple(ids, steps);
}

/// Containment that is kept but not in force, because older containment leads back: (node, parent, since).
nb::list cycles(const SceneView& view) {
  nb::list found;
  const auto visit = [&](const NodeId& id, const scene::RecordPtr& record) {
    for (const scene::Edge& edge : record->edges)
      if (edge.closes_cycle) found.append(nb::make_tuple(id, edge.parent, edge.from.ns));
  };
  if (view.version->cycles == 0) return found;
  view.version->alive.for_each(visit);
  view.version->gone.for_each(visit);
  return found;
}

}  // namespace

void bind_scene_view(nb::module_& m) {
  nb::class_<SceneView>(m, "SceneView", "One version of a scene.")
      .def("contains", &contains, "node"_a)
      .def(
          "kind", [](const SceneView& view, nb::handle node) { return log::name_of(record_of(view, node).kind); }, "node"_a)
      .def("parents", &parents, "node"_a, nb::sig("def parents(self, node: NodeId) -> list[NodeId]"))
      .def(
          "placement",
          [](const SceneView& view, nb::handle node) -> nb::object {
            const scene::Placement* stored = record_of(view, node).placement.get();
            if (stored == nullptr) return nb::none();
            return nb::make_tuple(nb::cast(stored->pose.value), covariance_object(stored->pose));
          },
          "node"_a, "Where a Transform was when it was made.",
          nb::sig("def placement(self, node: NodeId) -> tuple[Transform, NDArray[float64] | None]"))
      .def("contained_since", &contained_since, "node"_a, "parent"_a,
           nb::sig("def contained_since(self, node: NodeId, parent: NodeId) -> int | None"))
      .def("may_always_be_in", &may_always_be_in, "node"_a, "parent"_a,
           nb::sig("def may_always_be_in(self, node: NodeId, parent: NodeId) -> bool"))
      .def("children", &children, "node"_a, nb::sig("def children(self, node: NodeId) -> list[NodeId]"))
      .def("remote_roots", &remote_roots, nb::sig("def remote_roots(self) -> list[NodeId]"))
      .def("subtree", &subtree, "node"_a, nb::sig("def subtree(self, node: NodeId) -> list[NodeId]"))
      .def("attributes", &attributes, "node"_a, nb::sig("def attributes(self, node: NodeId) -> dict[str, Any]"))
      .def("attribute", &attribute, "node"_a, "key"_a, nb::sig("def attribute(self, node: NodeId, key: str) -> Any"))
      .def("payload", &payload, "node"_a, nb::sig("def payload(self, node: NodeId) -> Any"))
      .def(
          "created_at", [](const SceneView& view, nb::handle node) { return stamp_or_none(record_of(view, node).created_at); },
          "node"_a, nb::sig("def created_at(self, node: NodeId) -> int | None"))
      .def(
          "frame",
          [](const SceneView& view, nb::handle node) {
            const NodeRecord& record = record_of(view, node);
            const scene::FrameNames& names = view.store->names();
            if (view.at) return view.store->frame_label(names.own(Past(view.version, *view.at).framed(record)));
            return view.store->frame_label(names.of(*view.version, record));
          },
          "node"_a)
      .def(
          "base_frame",
          [](const SceneView& view, nb::handle node) {
            return view.store->frame_label(view.store->names().base(view.version, record_of(view, node)));
          },
          "node"_a)
      .def(
          "hub_frame",
          [](const SceneView& view, nb::handle node) {
            return view.store->frame_label(view.store->names().hub(record_of(view, node)));
          },
          "node"_a)
      .def(
          "frame_name",
          [](const SceneView& view, nb::handle node) -> nb::object {
            const NodeRecord& record = record_of(view, node);
            return record.has_named_frame() ? nb::cast(*record.frame_name) : nb::none();
          },
          "node"_a, nb::sig("def frame_name(self, node: NodeId) -> str | None"),
          "The name that the frame of a node was given, whether it has it or another frame does.")
      .def(
          "names",
          [](const SceneView& view, nb::iterable nodes) {
            std::vector<NodeId> ids;
            for (const nb::handle node : nodes) ids.push_back(as_node_id(node));
            return names_of(*view.version, ids);
          },
          "nodes"_a, nb::sig("def names(self, nodes: Iterable[NodeId]) -> dict[NodeId, str]"),
          "What people call nodes: by the name of the frame, else by the attribute `name`; without those that have neither.")
      .def(
          "has_frame", [](const SceneView& view, nb::handle node) { return record_of(view, node).is_in_own_frame(); }, "node"_a)
      .def(
          "source",
          [](const SceneView& view, nb::handle node) {
            const NodeRecord& record = record_of(view, node);
            return record.placement ? record.placement->source : std::string();
          },
          "node"_a)
      .def(
          "is_fixed",
          [](const SceneView& view, nb::handle node) {
            const NodeRecord& record = record_of(view, node);
            return record.placement != nullptr && record.placement->is_fixed;
          },
          "node"_a)
      .def("find", &find, "conditions"_a, "under"_a,
           nb::sig("def find(self, conditions: list[tuple[Any, ...]], under: NodeId) -> list[NodeId]"))
      .def(
          "is_under",
          [](const SceneView& view, nb::handle node, nb::handle ancestor) {
            return scene::is_under(*view.version, record_of(view, node).id, as_node_id(ancestor));
          },
          "node"_a, "ancestor"_a)
      .def("digest", &digest, "under"_a, nb::sig("def digest(self, under: NodeId) -> bytes"))
      .def("difference", &difference, "other"_a, nb::sig("def difference(self, other: SceneView) -> tuple[list[NodeId], int]"))
      .def("cycles", &cycles, nb::sig("def cycles(self) -> list[tuple[NodeId, NodeId, int]]"))
      .def_prop_ro("number", [](const SceneView& view) { return view.version->number; })
      .def_prop_ro(
          "oldest_past", [](const SceneView& view) { return stamp_or_none(view.version->oldest_past); },
          nb::sig("def oldest_past(self) -> int | None"))
      .def_prop_ro("gone", [](const SceneView& view) { return view.version->gone.size(); })
      .def("__len__", [](const SceneView& view) { return view.version->alive.size() - 1; });  // the detached root is not of it
}

}  // namespace armillary::python
