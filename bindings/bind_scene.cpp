#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.hpp"
#include "joint_channels.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "scene_values.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;
using log::ChangePtr;
using scene::ChangeRequest;
using scene::Fault;
using scene::Outcome;
using scene::Refusal;

namespace {

// -- Refusals

std::string label_of(const StoreCore& world, FrameId frame) {
  return frame == kNone ? std::string() : world.store->frame_label(world.forest->frame_name(frame));
}

nb::list frame_names(const StoreCore& world, const std::vector<FrameId>& frames, FrameId except) {
  nb::list names;
  for (const FrameId frame : frames)
    if (frame != except) names.append(nb::cast(label_of(world, frame)));
  return names;
}

/// The frames of the nodes that keep a frame from being removed, then the other frames below it.
std::vector<std::string> frames_in_the_way(Self self, const Refusal& refusal) {
  const scene::Store& store = *core(self).store;
  const scene::VersionPtr version = store.version();
  std::vector<std::string> names;
  for (const NodeId& node : refusal.path)
    if (const scene::NodeRecord* record = version->recall(node)) names.push_back(store.names().own(*record));
  const Forest& forest = *core(self).forest;
  for (std::string& frame : forest.subtree(forest.find_frame(refusal.frame)))
    if (frame != refusal.frame && std::ranges::find(names, frame) == names.end()) names.push_back(std::move(frame));
  return frame_labels(core(self), std::move(names));
}

/// Why the frame of a node is not removed by itself.
std::string frame_of_node_text(Self self, const Refusal& refusal) {
  const std::string frame = "Frame '" + core(self).store->frame_label(refusal.frame) + "' is that of a node";
  if (core(self).store->version()->is_alive(refusal.node))
    return frame + ", and goes with it: remove the node with scene.remove(id).";
  return frame +
         " that was removed. It is kept for questions about the past, and goes when that is forgotten: World(history=) "
         "says how long it is remembered.";
}

nb::object error_of_frames(Self self, const Refusal& refusal) {
  const StoreCore& world = core(self);
  const Failure& failure = refusal.failure;
  if (failure.kind() == FailureKind::frame_in_use && refusal.fault != Fault::frame_in_use)
    return error_class("FramesHanging")(frame_names(world, failure->path, failure->of));
  return error_of(world, failure, nb::cast(label_of(world, failure->of)), nb::cast(label_of(world, failure->in_frame)), true);
}

nb::object text_or_none(const std::string& text) { return text.empty() ? nb::none() : nb::object(text_object(text)); }

/// What a frame is in, by whom, as (in_frame, source).
nb::list relations_of(Self self, const std::string& frame) {
  nb::list found;
  for (const RelationInfo& info : core(self).forest->relations())
    if (info.of == frame)
      found.append(nb::make_tuple(text_object(core(self).store->frame_label(info.in_frame)),
                                  text_object(core(self).store->source_label(info.source))));
  return found;
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
      return error_class("NotAGroup")(parent, log::name_of(refusal.kind), names);
    case Fault::not_a_transform:
      return error_class("NotATransform")(node, log::name_of(refusal.kind), names);
    case Fault::cycle:
      return error_class("SceneCycle")(node, id_list(refusal.path), names);
    case Fault::not_its_parent:
      return error_class("NotItsParent")(node, parent, names);
    case Fault::already_its_parent:
      return error_class("AlreadyItsParent")(node, parent, names);
    case Fault::permanent:
      return error_class("PermanentNode")(node);
    case Fault::too_many_keys:
      return error_class("LimitReached")(refusal.node == NodeId{} ? "names of attributes" : "names of attributes of one thing",
                                         refusal.node == NodeId{} ? scene::KeyPool::kLimit : scene::KeyPool::kOfANode,
                                         "Put what differs from thing to thing into values, not into names.");
    case Fault::built_upon:
      return error_class("BuiltUpon")(node, names);
    case Fault::built_upon_frame:
      return error_class("BuiltUpon")(nb::str(refusal.frame.data(), refusal.frame.size()));
    case Fault::no_inverse:
      return error_class("NoOpposite")(nb::str(refusal.frame.data(), refusal.frame.size()));
    case Fault::holds_nodes:
      return error_class("FrameInUse")(nb::str(refusal.frame.c_str()), nb::cast(frames_in_the_way(self, refusal)));
    case Fault::frame_of_node:
      return error_class("InvalidArgument")(frame_of_node_text(self, refusal), nb::str(refusal.frame.c_str()));
    case Fault::name_taken:
      return error_class("FrameNameTaken")(nb::cast(refusal.frame), refusal.parent == NodeId{} ? nb::none() : parent, names);
    case Fault::unknown_relation:
      return error_class("NoSuchRelation")(text_object(core(self).store->frame_label(refusal.frame)),
                                           text_or_none(core(self).store->frame_label(refusal.in_frame)),
                                           text_or_none(core(self).store->source_label(refusal.source)),
                                           relations_of(self, refusal.frame));
    case Fault::relation_of_node:
      return error_class("InvalidArgument")("That '" + core(self).store->frame_label(refusal.frame) + "' is in '" +
                                                core(self).store->frame_label(refusal.in_frame) +
                                                "' follows from where a node is: move the node with scene.move(id, to=), or "
                                                "remove it with scene.remove(id).",
                                            text_object(core(self).store->frame_label(refusal.frame)));
    case Fault::nothing_to_undo:
      return error_class("NothingToUndo")();
    default:
      return error_of_frames(self, refusal);
  }
}

}  // namespace

void raise_refusal(Self self, const Refusal& refusal) { raise_object(error_of_refusal(self, refusal)); }

namespace {

nb::list record_list(std::span<const ChangePtr> changes) {
  nb::list records;
  for (const ChangePtr& change : changes) records.append(change_object(change));
  return records;
}

/// Raises what was refused.
void check_outcome(Self self, const Outcome& outcome) {
  if (outcome.refusal) raise_refusal(self, outcome.refusal);
  StoreCore& world = core(self);
  const std::uint64_t edits = world.edits;
  sync_catalog(world);
  world.edits = edits;  // these are the scene's own
  sync_labels(world);
  const bool knows_nodes = !world.nodes.empty() || nb::len(world.keys) > 0 || nb::len(world.labels) > 0;
  if (knows_nodes && !outcome.changes.empty()) forget_names(world);  // they may be in other frames now
  const auto is_of_frames = [](const ChangePtr& change) { return scene::is_of_frames(change->payload); };
  if (std::ranges::none_of(outcome.changes, is_of_frames)) return;
  ++world.edits;
  forget_names(world);  // some may be gone
  world.joint_places.clear();
  world.joints.clear();
  world.joint_channels.clear();
  sync_bodies(world);
}

/// What came of it, or raises.
nb::list finish(Self self, const Outcome& outcome) {
  check_outcome(self, outcome);
  return record_list(outcome.changes);
}

/// Takes what they hold out of requests, which are made for one call; what they are about stays.
std::vector<ChangeRequest> taken_from(const nb::list& given) {
  std::vector<ChangeRequest> requests;
  requests.reserve(nb::len(given));
  static const nb::handle type = nb::type<ChangeRequest>();  // looked up once: nodes come by thousands
  for (nb::handle request : given) {
    if (!request.type().is(type) || !nb::inst_ready(request)) throw nb::type_error("A list of ChangeRequest is expected.");
    requests.push_back(std::move(*nb::inst_ptr<ChangeRequest>(request)));
  }
  return requests;
}

/// Of which request each record is.
nb::list rows_with_records(const Outcome& outcome) {
  nb::list rows;
  for (std::size_t i = 0; i < outcome.changes.size(); ++i)
    rows.append(nb::make_tuple(outcome.rows[i], change_object(outcome.changes[i])));
  return rows;
}

/// The node that each request is about; nil where it is about frames. `records` gets what happened.
nb::list apply(Self self, const nb::list& given, std::int64_t now_ns, bool for_undo, std::string tag,
               std::optional<nb::list> records) {
  std::vector<ChangeRequest> requests = taken_from(given);
  nb::list nodes;
  for (const ChangeRequest& request : requests)
    nodes.append(request.sample ? request.sample->node : node_of(request.change.payload).value_or(NodeId{}));
  const Outcome outcome =
      with_changes(self, [&](scene::Store& store) { return store.apply(std::move(requests), now_ns, for_undo, std::move(tag)); });
  check_outcome(self, outcome);
  if (records) records->extend(rows_with_records(outcome));
  return nodes;
}

/// How many samples went with requests that take them back.
std::size_t apply_forgetting(Self self, const nb::list& given, std::int64_t now_ns, nb::list records) {
  std::vector<ChangeRequest> requests = taken_from(given);
  const Outcome outcome = with_changes(self, [&](scene::Store& store) { return store.apply(std::move(requests), now_ns); });
  check_outcome(self, outcome);
  records.extend(rows_with_records(outcome));
  return outcome.samples_gone;
}

/// What was taken back, and the records that do it: see `undo_last`.
nb::tuple finish(Self self, const scene::TakenBack& taken) {
  check_outcome(self, taken.outcome);
  nb::list samples, moves;
  for (const scene::NodeSample& sample : taken.written)
    samples.append(nb::make_tuple(nb::cast(sample.node), sample.pose.value, covariance_object(sample.pose), sample.at.ns));
  for (const scene::SampleMove& move : taken.moves)
    moves.append(nb::make_tuple(text_object(move.relation.of), text_object(move.relation.in_frame),
                                text_object(move.relation.source), move.from.ns));
  return nb::make_tuple(record_list(taken.undone), record_list(taken.outcome.changes), samples, moves, taken.samples_lost,
                        text_object(taken.tag));
}

nb::list apply_unchecked(Self self, const nb::list& given, std::int64_t now_ns) {
  std::vector<ChangeRequest> requests = taken_from(given);
  return finish(self,
                with_changes(self, [&](scene::Store& store) { return store.apply_unchecked(std::move(requests), now_ns); }));
}

/// Whether the store knows what a change means. Some that can be written down are not made by any call yet.
struct IsUnderstood {
  static bool is_plain(const log::Edge& edge) { return !edge.pose && edge.rank == log::Rank::plain; }

  bool operator()(const log::AddNode& payload) const { return is_plain(payload.edge); }
  bool operator()(const log::AddEdge& payload) const { return is_plain(payload.edge); }
  bool operator()(const log::Assert& payload) const {
    const auto* sampled = std::get_if<log::Sampled>(&payload.value);
    const bool is_pose = payload.track.kind == log::TrackKind::pose;
    const bool is_linear = sampled != nullptr && sampled->interpolation == log::SampleInterpolation::linear;
    const bool has_rank = payload.rank == Rank::plain || std::holds_alternative<log::Fixed>(payload.value);
    const bool is_empty = std::holds_alternative<log::Empty>(payload.value);
    return has_rank && (is_pose || is_linear || is_empty);
  }
  bool operator()(const auto&) const { return true; }
};

/// A record of others that can be merged; what a new node carries must have come with it.
ChangePtr received(nb::handle record) {
  const ChangePtr& change = checked<ChangeRecord>(record).change;
  if (!std::visit(IsUnderstood{}, change->payload))
    raise("InvalidArgument", "This version does not know what " + shown(record) + " means.", record);
  const log::AddNode* node = std::get_if<log::AddNode>(&change->payload);
  if (node != nullptr && node->content && !node->content->object)
    raise("InvalidArgument", "The record of a new node came without what the node carries: give it to from_json as content=.");
  return change;
}

nb::list merge(Self self, nb::list records) {
  std::vector<ChangePtr> changes;
  for (nb::handle record : records) changes.push_back(received(record));
  return finish(self, with_changes(self, [&](scene::Store& store) { return store.merge(changes); }));
}

// -- What others lack

/// {author: [(first, last), ...]}, as it is given to Python.
log::VersionVector as_version_vector(const nb::dict& given) {
  log::VersionVector held;
  for (const auto& [author, ranges] : given)
    for (nb::handle range : ranges)
      held.add(nb::cast<std::uint64_t>(author), nb::cast<std::uint64_t>(range[0]), nb::cast<std::uint64_t>(range[1]));
  return held;
}

nb::dict ranges_dict(const log::VersionVector& changes) {
  nb::dict found;
  for (const auto& [author, ranges] : changes.entries()) {
    nb::list parts;
    for (const auto& [first, last] : ranges) parts.append(nb::make_tuple(first, last));
    found[nb::int_(author)] = parts;
  }
  return found;
}

nb::dict version_vector(Self self) {
  return ranges_dict(with_changes(self, [](scene::Store& store) { return store.version_vector(); }));
}

nb::dict dropped(Self self) {
  return ranges_dict(with_changes(self, [](scene::Store& store) { return store.dropped(); }));
}

void note_held(Self self, const nb::dict& held, const nb::dict& dropped) {
  const log::VersionVector all = as_version_vector(held), lost = as_version_vector(dropped);
  with_changes(self, [&](scene::Store& store) { store.note_held(all, lost); });
}

nb::tuple changes_since(Self self, nb::dict version_vector) {
  const log::VersionVector from = as_version_vector(version_vector);
  std::vector<ChangePtr> lacking;
  const bool complete = with_changes(self, [&](scene::Store& store) { return store.changes_since(from, lacking); });
  nb::list records;
  for (const ChangePtr& change : lacking) records.append(change_object(change));
  return nb::make_tuple(records, complete);
}

SceneView view(Self self) { return {core(self).store->version(), std::nullopt, core(self).store}; }

SceneView view_at(Self self, nb::handle at) { return {core(self).store->version(), Stamp{as_stamp(at, "at")}, core(self).store}; }

const char* reason_name(log::Reason reason) { return reason == log::Reason::cycle ? "closes_loop" : log::name_of(reason); }

nb::list unnamed(Self self) {
  nb::list found;
  for (const scene::Store::Unnamed& one : with_changes(self, [](scene::Store& store) { return store.unnamed(); }))
    found.append(nb::make_tuple(one.node, one.name, one.owner == NodeId{} ? nb::none() : nb::cast(one.owner)));
  return found;
}

/// The inactive assertions about frames: the change, the reason, the body that conflicts, and the loop.
nb::list inactive(Self self) {
  nb::list found;
  for (scene::InactiveAssertion& one : with_changes(self, [](scene::Store& store) { return store.inactive(); })) {
    nb::list path;
    for (std::string& frame : one.path) path.append(nb::cast(core(self).store->frame_label(std::move(frame))));
    found.append(
        nb::make_tuple(unsigned_record(std::move(one.payload)), reason_name(one.reason), one.body, stamp_or_none(one.at), path));
  }
  return found;
}

constexpr const char* kTakenBackSignature[] = {
    "def undo_last(self, now_ns: int) -> tuple[list[ChangeRecord], list[ChangeRecord], list[tuple[NodeId, Transform, "
    "NDArray[float64] | None, int]], list[tuple[str, str, str, int]], int, str]",
    "def redo_last(self, now_ns: int) -> tuple[list[ChangeRecord], list[ChangeRecord], list[tuple[NodeId, Transform, "
    "NDArray[float64] | None, int]], list[tuple[str, str, str, int]], int, str]"};

}  // namespace

void bind_world_changes(nb::class_<StoreCore>& store) {
  store
      .def(
          "open_scene", [](Self self) { with_changes(self, [&](scene::Store& store) { return store.open(); }); },
          "Declare the root frame, which is there from now on.")
      .def("apply_requests", &apply, "requests"_a, "now_ns"_a, "for_undo"_a = true, "tag"_a = "", "records"_a = nb::none(),
           nb::sig("def apply_requests(self, requests: list[ChangeRequest], now_ns: int, for_undo: bool = True, tag: str = '', "
                   "records: list[tuple[int, ChangeRecord]] | None = None) -> list[NodeId]"),
           "Apply all requests or none, once; the node that each is about. A list that is given gets the records, each with "
           "the number of its request.")
      .def("apply_forgetting", &apply_forgetting, "requests"_a, "now_ns"_a, "records"_a,
           nb::sig("def apply_forgetting(self, requests: list[ChangeRequest], now_ns: int, "
                   "records: list[tuple[int, ChangeRecord]]) -> int"),
           "Apply requests that take samples back; return how many went.")
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
           nb::sig("def apply_unchecked(self, requests: list[ChangeRequest], now_ns: int) -> list[ChangeRecord]"),
           "Add changes without validation; conflicting ones become inactive.")
      .def("merge_records", &merge, "records"_a,
           nb::sig("def merge_records(self, records: list[ChangeRecord]) -> list[ChangeRecord]"),
           "Add records of other replicas; those that were new.")
      .def(
          "undo_last",
          [](Self self, std::int64_t now_ns) {
            return finish(self, with_changes(self, [&](scene::Store& store) { return store.undo(now_ns); }));
          },
          "now_ns"_a, nb::sig(kTakenBackSignature[0]),
          "Undo the last batch; return its records, those that undo it, samples that came with it as (node, transform, "
          "covariance, at), moves by samples as (of, in_frame, source, from), how many samples are lost, and its tag.")
      .def(
          "redo_last",
          [](Self self, std::int64_t now_ns) {
            return finish(self, with_changes(self, [&](scene::Store& store) { return store.redo(now_ns); }));
          },
          "now_ns"_a, nb::sig(kTakenBackSignature[1]), "Take back the last undo; returns as `undo_last` does.")
      .def(
          "records",
          [](Self self) { return record_list(with_changes(self, [&](scene::Store& store) { return store.records(); })); },
          nb::sig("def records(self) -> list[ChangeRecord]"), "All change records that can still matter, oldest first.")
      .def("version_vector", &version_vector, nb::sig("def version_vector(self) -> dict[int, list[tuple[int, int]]]"),
           "Which change records are held, by author: ranges of sequence numbers.")
      .def("dropped", &dropped, nb::sig("def dropped(self) -> dict[int, list[tuple[int, int]]]"),
           "Removals that are not kept any more, as a version vector: who lacks one of them needs a full copy.")
      .def("note_held", &note_held, "held"_a, "dropped"_a,
           nb::sig("def note_held(self, held: dict[int, list[tuple[int, int]]], dropped: dict[int, list[tuple[int, int]]]) "
                   "-> None"),
           "After `records` of another store were merged: note what else it held, and what it dropped.")
      .def("unnamed_rows", &unnamed, nb::sig("def unnamed_rows(self) -> list[tuple[NodeId, str, NodeId | None]]"),
           "Nodes whose frames were to have a name that another has: node, name, and the node that has it, if one does.")
      .def("inactive_rows", &inactive,
           nb::sig("def inactive_rows(self) -> list[tuple[ChangeRecord, str, str, int | None, list[str]]]"),
           "Inactive assertions about frames: record, reason, body in the way, first instant, cycle.")
      .def("changes_since", &changes_since, "held"_a,
           nb::sig("def changes_since(self, held: dict[int, list[tuple[int, int]]]) -> tuple[list[ChangeRecord], bool]"),
           "The records that a version vector lacks, and whether all of them are still kept.")
      .def(
          "node_samples",
          [](Self self, const NodeId& node) {
            return arrays_of(with_changes(self, [&](scene::Store& store) { return store.samples(node); }));
          },
          "node"_a,
          nb::sig("def node_samples(self, node: NodeId) -> tuple[NDArray[int64], NDArray[float64], NDArray[float64] | None]"))
      .def(
          "clear_node_samples",
          [](Self self, const NodeId& node) { with_changes(self, [&](scene::Store& store) { store.clear_samples(node); }); },
          "node"_a, "Forget the samples of a transform, the pose that it was made with included where it is one.")
      .def("view", &view, "The scene as it is now: one version, which never changes.")
      .def("view_at", &view_at, "at"_a.none(), nb::sig("def view_at(self, at: int) -> SceneView"),
           "The scene as it was at an instant.");
}

}  // namespace armillary::python
