#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "convert.hpp"
#include "door.hpp"
#include "joint_doors.hpp"
#include "modules.hpp"
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

/// The scene of a world.
struct SceneCore {
  nb::object world;
  std::shared_ptr<scene::Store> store;
};

// -- Refusals

nb::list frame_names(const Forest& forest, const std::vector<FrameId>& frames, FrameId except) {
  nb::list names;
  for (const FrameId frame : frames)
    if (frame != except) names.append(nb::str(forest.frame_name(frame).c_str()));
  return names;
}

nb::object error_of_frames(const SceneCore& self, const Refusal& refusal) {
  const WorldCore& world = core(Self(self.world));
  const Failure& failure = refusal.failure;
  if (failure.kind() == FailureKind::frame_in_use)
    return error_class("FramesHanging")(frame_names(*world.forest, failure->path, failure->of));
  const nb::str of(failure->of == kNone ? "" : world.forest->frame_name(failure->of).c_str());
  const nb::str in_frame(failure->in_frame == kNone ? "" : world.forest->frame_name(failure->in_frame).c_str());
  return error_of(world, failure, of, in_frame, true);
}

nb::object error_of_refusal(const SceneCore& self, const Refusal& refusal) {
  const nb::object node = nb::cast(refusal.node), parent = nb::cast(refusal.parent);
  std::vector<NodeId> nodes = refusal.path;
  nodes.insert(nodes.end(), {refusal.node, refusal.parent});
  const nb::dict names = names_of(*self.store->version(), nodes);
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
void check_outcome(SceneCore& self, const Outcome& outcome) {
  if (outcome.refusal) raise_object(error_of_refusal(self, outcome.refusal));
  WorldCore& world = core(Self(self.world));
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
  resolve_pending(Self(self.world));
}

/// What came of it, or raises.
nb::list finish(SceneCore& self, const Outcome& outcome) {
  check_outcome(self, outcome);
  return record_list(outcome.changes);
}

// -- Wishes: plain tuples, made by armillary.scene

Stamp valid_from(nb::handle at) { return Stamp{as_stamp(at, "at")}; }

/// Of a node that is there for others to name: limbo is not.
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

/// What happened, where somebody wants to know, and the node that each wish was about.
nb::tuple apply(SceneCore& self, nb::list requests, std::int64_t now_ns, bool for_undo, bool with_records, std::string tag) {
  std::vector<ChangeRequest> wanted;
  std::vector<NodeId> nodes;
  wanted.reserve(nb::len(requests));
  nodes.reserve(nb::len(requests));
  for (nb::handle request : requests) wanted.push_back(as_request(request));
  for (const ChangeRequest& request : wanted) nodes.push_back(request.change.node);
  const Outcome outcome = self.store->apply(std::move(wanted), now_ns, for_undo, std::move(tag));
  check_outcome(self, outcome);
  return nb::make_tuple(with_records ? record_list(outcome.changes) : nb::list(), id_list(nodes));
}

nb::list apply_unchecked(SceneCore& self, nb::list requests, std::int64_t now_ns) {
  std::vector<ChangeRequest> wanted;
  for (nb::handle request : requests) wanted.push_back(as_request(request));
  return finish(self, self.store->apply_unchecked(std::move(wanted), now_ns));
}

nb::list merge(SceneCore& self, nb::list records) {
  std::vector<ChangePtr> changes;
  for (nb::handle record : records) changes.push_back(checked<ChangeHandle>(record).change);
  return finish(self, self.store->merge(changes));
}

// -- What others lack

nb::tuple changes_since(const SceneCore& self, nb::dict version_vector) {
  scene::VersionVector from;
  for (const auto& [author, known] : version_vector) {
    const auto parts = nb::borrow<nb::tuple>(known);
    const auto key = nb::cast<std::uint64_t>(author);
    for (nb::handle sequence : nb::object(parts[1])) scene::add_seen(from, {key, nb::cast<std::uint64_t>(sequence)});
    scene::set_upto(from, key, nb::cast<std::uint64_t>(parts[0]));
  }
  std::vector<ChangePtr> lacking;
  const bool complete = self.store->changes_since(from, lacking);
  nb::list records;
  for (const ChangePtr& change : lacking) records.append(change_object(change));
  return nb::make_tuple(records, complete);
}

SceneView view(const SceneCore& self) { return {self.store->version(), std::nullopt, self.store}; }

SceneView view_at(const SceneCore& self, nb::handle at) { return {self.store->version(), Stamp{as_stamp(at, "at")}, self.store}; }

void init(SceneCore* self, nb::object world) {
  std::shared_ptr<scene::Store> store = core(Self(world)).store;
  store->open();
  new (self) SceneCore{std::move(world), std::move(store)};
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<SceneCore>(self)->world.ptr());
  return 0;
}

int clear(PyObject* self) {
  nb::inst_ptr<SceneCore>(self)->world.reset();
  return 0;
}

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

/// What was said of frames and does not count: what would say it again, why, the body in the way, and the loop.
nb::list inactive(const SceneCore& self) {
  nb::list found;
  for (scene::InactiveAssertion& one : self.store->inactive()) {
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

PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

void bind_scene(nb::module_& m) {
  bind_scene_view(m);
  nb::class_<SceneCore>(m, "SceneCore", nb::type_slots(slots), "The native part of a Scene.")
      .def("__init__", &init, "world"_a, nb::sig("def __init__(self, world: WorldCore) -> None"))
      .def(
          "apply", &apply, "wishes"_a, "now_ns"_a, "for_undo"_a = true, "with_records"_a = true, "tag"_a = "",
          nb::sig("def apply(self, wishes: list[tuple[Any, ...]], now_ns: int, for_undo: bool = True, with_records: bool = True, "
                  "tag: str = '') -> tuple[list[ChangeRecord], list[NodeId]]"))
      .def(
          "tags", [](const SceneCore& self) { return self.store->tags(); }, nb::sig("def tags(self) -> tuple[str, str]"))
      .def(
          "stand_in_the_way", [](SceneCore& self, std::string tag) { self.store->push_undo_barrier(std::move(tag)); }, "tag"_a)
      .def(
          "step_aside", [](SceneCore& self, const std::string& tag) { return self.store->remove_undo_barrier(tag); }, "tag"_a)
      .def("insist", &apply_unchecked, "wishes"_a, "now_ns"_a,
           nb::sig("def insist(self, wishes: list[tuple[Any, ...]], now_ns: int) -> list[ChangeRecord]"))
      .def("merge", &merge, "records"_a, nb::sig("def merge(self, records: list[ChangeRecord]) -> list[ChangeRecord]"))
      .def(
          "undo", [](SceneCore& self, std::int64_t now_ns) { return finish(self, self.store->undo(now_ns)); }, "now_ns"_a,
          nb::sig("def undo(self, now_ns: int) -> list[ChangeRecord]"))
      .def(
          "redo", [](SceneCore& self, std::int64_t now_ns) { return finish(self, self.store->redo(now_ns)); }, "now_ns"_a,
          nb::sig("def redo(self, now_ns: int) -> list[ChangeRecord]"))
      .def(
          "journal",
          [](const SceneCore& self) {
            nb::list records;
            for (const ChangePtr& change : self.store->journal()) records.append(change_object(change));
            return records;
          },
          nb::sig("def journal(self) -> list[ChangeRecord]"))
      .def("idle", &inactive, nb::sig("def idle(self) -> list[tuple[ChangeRecord, str, str, int | None, list[str]]]"))
      .def("changes_beyond", &changes_since, "heard"_a,
           nb::sig("def changes_beyond(self, heard: dict[int, tuple[int, list[int]]]) -> tuple[list[ChangeRecord], bool]"))
      .def(
          "samples", [](const SceneCore& self, const NodeId& node) { return arrays_of(self.store->samples(node)); }, "node"_a,
          nb::sig("def samples(self, node: NodeId) -> tuple[NDArray[int64], NDArray[float64], NDArray[float64] | None]"))
      .def("view", &view)
      .def("view_at", &view_at, "at"_a.none(), nb::sig("def view_at(self, at: int) -> SceneView"));
}

}  // namespace armillary::python
