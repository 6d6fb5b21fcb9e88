#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "convert.hpp"
#include "door.hpp"
#include "joint_doors.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;
using scene::Change;
using scene::ChangeKind;
using scene::ChangePtr;
using scene::ChangeRequest;
using scene::Fault;
using scene::Outcome;
using scene::Refusal;

namespace {

// -- Refusals

nb::list frame_names(const Forest& forest, const std::vector<FrameId>& frames, FrameId except) {
  nb::list names;
  for (const FrameId frame : frames)
    if (frame != except) names.append(nb::str(forest.frame_name(frame).c_str()));
  return names;
}

nb::object error_of_frames(Self self, const Refusal& refusal) {
  const StoreCore& world = core(self);
  const Failure& failure = refusal.failure;
  if (failure.kind() == FailureKind::frame_in_use)
    return error_class("FramesHanging")(frame_names(*world.forest, failure->path, failure->of));
  const nb::str of(failure->of == kNone ? "" : world.forest->frame_name(failure->of).c_str());
  const nb::str in_frame(failure->in_frame == kNone ? "" : world.forest->frame_name(failure->in_frame).c_str());
  return error_of(world, failure, of, in_frame, true);
}

nb::object error_of_refusal(Self self, const Refusal& refusal) {
  const nb::object node = nb::cast(refusal.node), parent = nb::cast(refusal.parent);
  std::vector<NodeId> nodes = refusal.path;
  nodes.insert(nodes.end(), {refusal.node, refusal.parent});
  const nb::dict names = names_of(*core(self).store->version(), nodes);
  switch (refusal.fault) {
    case Fault::unknown_node:
      return error_class("UnknownNode")(node, names);
    case Fault::unknown_parent:
      return error_class("UnknownNode")(parent, names);
    case Fault::node_exists:
      return error_class("NodeExists")(node, "names"_a = names);
    case Fault::not_a_group:
      return error_class("NotAGroup")(parent, kind_name(refusal.kind), names);
    case Fault::not_a_transform:
      return error_class("NotATransform")(node, kind_name(refusal.kind), names);
    case Fault::cycle:
      return error_class("SceneCycle")(node, id_list(refusal.path), names);
    case Fault::not_its_parent:
      return error_class("NotItsParent")(node, parent, names);
    case Fault::already_its_parent:
      return error_class("AlreadyItsParent")(node, parent, names);
    case Fault::permanent:
      return error_class("PermanentNode")(node);
    case Fault::too_many_keys:
      return error_class("LimitReached")("names of attributes", scene::KeyPool::kLimit,
                                         "Put what differs from thing to thing into values, not into names.");
    case Fault::built_upon:
      return error_class("BuiltUpon")(node, names);
    case Fault::built_upon_frame:
      return error_class("BuiltUpon")(nb::str(refusal.frame.data(), refusal.frame.size()));
    case Fault::no_inverse:
      return error_class("NoOpposite")(nb::str(refusal.frame.data(), refusal.frame.size()));
    case Fault::nothing_to_undo:
      return error_class("NothingToUndo")();
    default:
      return error_of_frames(self, refusal);
  }
}

nb::list record_list(std::span<const ChangePtr> changes) {
  nb::list records;
  for (const ChangePtr& change : changes) records.append(change_object(change));
  return records;
}

/// Raises what was refused.
void check_outcome(Self self, const Outcome& outcome) {
  if (outcome.refusal) raise_object(error_of_refusal(self, outcome.refusal));
  StoreCore& world = core(self);
  const std::uint64_t edits = world.edits;
  sync_catalog(world);
  world.edits = edits;  // these are the scene's own
  const auto is_of_frames = [](const ChangePtr& change) { return scene::is_of_frames(change->kind); };
  if (std::ranges::none_of(outcome.changes, is_of_frames)) return;
  ++world.edits;
  world.ids.clear();  // some may be gone
  world.joint_places.clear();
  world.joints.clear();
  world.doors.clear();
  sync_bodies(world);
}

/// What came of it, or raises.
nb::list finish(Self self, const Outcome& outcome) {
  check_outcome(self, outcome);
  return record_list(outcome.changes);
}

// -- Requests: plain tuples, made by armillary.store.changes

Stamp valid_from(nb::handle at) { return Stamp{as_stamp(at, "at")}; }

/// The id of a node that others may name: the detached root is none.
NodeId named_node(nb::handle given) {
  const NodeId id = as_node_id(given);
  if (id == kDetachedNode) raise_object(error_class("UnknownNode")(nb::cast(id)));
  return id;
}

/// ("add_node", kind, id, parent, attributes, at, payload, placement); without a parent it is the root of others
ChangeRequest new_node(const nb::tuple& parts) {
  ChangeRequest request;
  request.change.kind = ChangeKind::add_node;
  request.change.node_kind = as_kind(text_of(parts[1]));
  request.change.node = nb::handle(parts[2]).is_none() ? NodeId::random() : as_node_id(parts[2]);
  request.change.parent = nb::handle(parts[3]).is_none() ? kDetachedNode : named_node(parts[3]);
  request.change.settings = as_settings(parts[4], false);
  request.change.at = valid_from(parts[5]);
  request.change.payload = payload_from(parts[6]);
  request.change.placement = placement_from(parts[7]);
  check_parts(request.change);
  return request;
}

ChangeRequest as_request(nb::handle given) {
  const auto parts = nb::borrow<nb::tuple>(given);
  const std::string_view kind = text_of(parts[0]);
  if (kind == "add_node") return new_node(parts);
  ChangeRequest request;
  if (kind == "of_frames") {
    request.change.kind = change_kind(nb::cast<std::string>(parts[1]));
    request.change.assertion = assertion_from(request.change.kind, parts[2]);
    request.change.at = valid_from(parts[3]);
    return request;
  }
  request.change.node = named_node(parts[1]);
  if (kind == "set_transform") {
    request.sample = *placement_from(parts[2]);
    request.change.at = valid_from(parts[3]);
  } else if (kind == "set_attributes") {
    request.change.kind = ChangeKind::set_attributes;
    request.change.settings = as_settings(parts[2], true);
    request.change.at = valid_from(parts[3]);
  } else if (kind == "remove") {
    request.change.kind = ChangeKind::remove_parents;
    request.change.at = valid_from(parts[2]);
    request.with_frames_under = nb::cast<bool>(parts[3]);
  } else {
    request.restores = kind == "restore";
    request.change.kind = kind == "remove_parent" ? ChangeKind::remove_parents : ChangeKind::add_parent;
    const bool is_unmounted = request.restores && nb::handle(parts[2]).is_none();  // the root of others
    request.change.parent = is_unmounted ? kDetachedNode : named_node(parts[2]);
    request.change.at = valid_from(parts[3]);
  }
  return request;
}

/// What happened, where somebody wants to know, and the node that each request was about.
nb::tuple apply(Self self, nb::list requests, std::int64_t now_ns, bool for_undo, bool with_records, std::string tag) {
  std::vector<ChangeRequest> wanted;
  std::vector<NodeId> nodes;
  wanted.reserve(nb::len(requests));
  nodes.reserve(nb::len(requests));
  for (nb::handle request : requests) wanted.push_back(as_request(request));
  for (const ChangeRequest& request : wanted) nodes.push_back(request.change.node);
  const Outcome outcome =
      with_changes(self, [&](scene::Store& store) { return store.apply(std::move(wanted), now_ns, for_undo, std::move(tag)); });
  check_outcome(self, outcome);
  return nb::make_tuple(with_records ? record_list(outcome.changes) : nb::list(), id_list(nodes));
}

nb::list apply_unchecked(Self self, nb::list requests, std::int64_t now_ns) {
  std::vector<ChangeRequest> wanted;
  for (nb::handle request : requests) wanted.push_back(as_request(request));
  return finish(self, with_changes(self, [&](scene::Store& store) { return store.apply_unchecked(std::move(wanted), now_ns); }));
}

nb::list merge(Self self, nb::list records) {
  std::vector<ChangePtr> changes;
  for (nb::handle record : records) changes.push_back(checked<ChangeHandle>(record).change);
  return finish(self, with_changes(self, [&](scene::Store& store) { return store.merge(changes); }));
}

// -- What others lack

nb::tuple changes_since(Self self, nb::dict version_vector) {
  scene::VersionVector from;
  for (const auto& [author, known] : version_vector) {
    const auto parts = nb::borrow<nb::tuple>(known);
    const auto key = nb::cast<std::uint64_t>(author);
    for (nb::handle sequence : nb::object(parts[1])) scene::add_seen(from, {key, nb::cast<std::uint64_t>(sequence)});
    scene::set_upto(from, key, nb::cast<std::uint64_t>(parts[0]));
  }
  std::vector<ChangePtr> lacking;
  const bool complete = with_changes(self, [&](scene::Store& store) { return store.changes_since(from, lacking); });
  nb::list records;
  for (const ChangePtr& change : lacking) records.append(change_object(change));
  return nb::make_tuple(records, complete);
}

SceneView view(Self self) { return {core(self).store->version(), std::nullopt, core(self).store}; }

SceneView view_at(Self self, nb::handle at) { return {core(self).store->version(), Stamp{as_stamp(at, "at")}, core(self).store}; }

const char* reason_name(scene::InactiveAssertion::Reason reason) {
  switch (reason) {
    case scene::InactiveAssertion::Reason::closes_cycle:
      return "closes_loop";
    case scene::InactiveAssertion::Reason::on_other_body:
      return "on_other_body";
    case scene::InactiveAssertion::Reason::moves_in_body:
      return "moves_in_body";
    default:
      return "constant_in_body";
  }
}

/// The inactive assertions about frames: the change, the reason, the body that conflicts, and the loop.
nb::list inactive(Self self) {
  nb::list found;
  for (scene::InactiveAssertion& one : with_changes(self, [](scene::Store& store) { return store.inactive(); })) {
    Change change;
    change.kind = one.kind;
    change.assertion = std::make_shared<const scene::FrameAssertion>(std::move(one.assertion));
    nb::list path;
    for (const std::string& frame : one.path) path.append(nb::str(frame.data(), frame.size()));
    found.append(nb::make_tuple(change_object(std::make_shared<const Change>(std::move(change))), reason_name(one.reason),
                                one.body, stamp_or_none(one.at), path));
  }
  return found;
}

}  // namespace

void bind_world_changes(nb::class_<StoreCore>& store) {
  store
      .def(
          "open_scene", [](Self self) { with_changes(self, [&](scene::Store& store) { return store.open(); }); },
          "Declare the root frame, which is there from now on.")
      .def("apply_requests", &apply, "requests"_a, "now_ns"_a, "for_undo"_a = true, "with_records"_a = true, "tag"_a = "",
           nb::sig("def apply_requests(self, requests: list[tuple[Any, ...]], now_ns: int, for_undo: bool = True, with_records: "
                   "bool = True, tag: str = '') -> tuple[list[ChangeRecord], list[NodeId]]"),
           "Apply all requests or none; the records, where they are wanted, and the node that each request is about.")
      .def(
          "undo_tags", [](Self self) { return with_changes(self, [&](scene::Store& store) { return store.tags(); }); },
          nb::sig("def undo_tags(self) -> tuple[str, str]"), "The tags of what undo and redo would take back next.")
      .def(
          "push_undo_barrier",
          [](Self self, std::string tag) {
            with_changes(self, [&](scene::Store& store) { return store.push_undo_barrier(std::move(tag)); });
          },
          "tag"_a, "Let undo stop here, until the barrier is removed.")
      .def(
          "remove_undo_barrier",
          [](Self self, const std::string& tag) {
            return with_changes(self, [&](scene::Store& store) { return store.remove_undo_barrier(tag); });
          },
          "tag"_a, "Whether the barrier was the last thing on the stack, and is removed.")
      .def("apply_unchecked", &apply_unchecked, "requests"_a, "now_ns"_a,
           nb::sig("def apply_unchecked(self, requests: list[tuple[Any, ...]], now_ns: int) -> list[ChangeRecord]"),
           "Add changes without validation; conflicting ones become inactive.")
      .def("merge_records", &merge, "records"_a,
           nb::sig("def merge_records(self, records: list[ChangeRecord]) -> list[ChangeRecord]"),
           "Add records of other replicas; those that were new.")
      .def(
          "undo_last",
          [](Self self, std::int64_t now_ns) {
            return finish(self, with_changes(self, [&](scene::Store& store) { return store.undo(now_ns); }));
          },
          "now_ns"_a, nb::sig("def undo_last(self, now_ns: int) -> list[ChangeRecord]"))
      .def(
          "redo_last",
          [](Self self, std::int64_t now_ns) {
            return finish(self, with_changes(self, [&](scene::Store& store) { return store.redo(now_ns); }));
          },
          "now_ns"_a, nb::sig("def redo_last(self, now_ns: int) -> list[ChangeRecord]"))
      .def(
          "journal",
          [](Self self) { return record_list(with_changes(self, [&](scene::Store& store) { return store.journal(); })); },
          nb::sig("def journal(self) -> list[ChangeRecord]"), "The change records that are kept, oldest first.")
      .def("inactive_rows", &inactive,
           nb::sig("def inactive_rows(self) -> list[tuple[ChangeRecord, str, str, int | None, list[str]]]"),
           "Inactive assertions about frames: record, reason, body in the way, first instant, cycle.")
      .def("changes_since", &changes_since, "held"_a,
           nb::sig("def changes_since(self, held: dict[int, tuple[int, list[int]]]) -> tuple[list[ChangeRecord], bool]"),
           "The records that a version vector lacks, and whether all of them are still kept.")
      .def(
          "node_samples",
          [](Self self, const NodeId& node) {
            return arrays_of(with_changes(self, [&](scene::Store& store) { return store.samples(node); }));
          },
          "node"_a,
          nb::sig("def node_samples(self, node: NodeId) -> tuple[NDArray[int64], NDArray[float64], NDArray[float64] | None]"))
      .def("view", &view, "The scene as it is now: one version, which never changes.")
      .def("view_at", &view_at, "at"_a.none(), nb::sig("def view_at(self, at: int) -> SceneView"),
           "The scene as it was at an instant.");
}

}  // namespace armillary::python
