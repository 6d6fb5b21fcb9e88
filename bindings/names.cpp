// Names of frames and sources, and what a world remembers of them.

#include <nanobind/stl/string.h>

#include <algorithm>

#include "convert.hpp"
#include "raise.hpp"
#include "scene_values.hpp"
#include "world.hpp"

namespace armillary::python {

namespace {

/// What is known of a node that is given by its id; null where that is not such a node.
const KnownNode* known_node(const StoreCore& world, nb::handle given) {
  if (world.nodes.empty() || !nb::isinstance<NodeId>(given)) return nullptr;
  const auto found = world.nodes.find(*nb::inst_ptr<NodeId>(given));
  return found == world.nodes.end() ? nullptr : &found->second;
}

}  // namespace

PyObject* known_id(const StoreCore& world, nb::handle name) {
  if (!PyUnicode_Check(name.ptr())) {
    const KnownNode* node = known_node(world, name);
    return node == nullptr ? nullptr : node->id.ptr();
  }
  PyObject* id = PyDict_GetItemWithError(world.ids.ptr(), name.ptr());
  if (id == nullptr && PyErr_Occurred() != nullptr) PyErr_Clear();  // a str subclass with a hash of its own
  return id;
}

namespace {

nb::str text(const std::string& given) { return nb::str(given.data(), given.size()); }

/// What is kept of a name beside the number of its frame; null where that is the name itself.
PyObject* kept(const nb::dict& names, nb::handle name) {
  if (PyDict_GET_SIZE(names.ptr()) == 0 || !PyUnicode_Check(name.ptr())) return nullptr;
  PyObject* found = PyDict_GetItemWithError(names.ptr(), name.ptr());
  if (found == nullptr && PyErr_Occurred() != nullptr) PyErr_Clear();
  return found;
}

/// The frame that a node is in.
std::string frame_of_node(const StoreCore& world, nb::handle node) {
  const NodeId id = nb::cast<NodeId>(node);
  std::string key = world.store->frame_of_node(id);
  return key.empty() ? id.text() : key;
}

/// Notes what a name stands for.
FrameId remember_as(StoreCore& world, nb::handle name, const std::string& key) {
  const FrameId id = world.forest->find_frame(key);
  if (id == kNone) return id;
  const std::string label = world.store->frame_label(key);
  if (nb::isinstance<NodeId>(name)) {
    world.nodes[nb::cast<NodeId>(name)] = {nb::cast(id), text(key), text(label)};
    return id;
  }
  world.ids[name] = id;
  if (text_of(name) != key) world.keys[name] = text(key);
  if (text_of(name) != label) world.labels[name] = text(label);
  return id;
}

/// Where nothing has to be checked or normalised: a NodeId, or the name of a frame just as it is stored.
FrameId remember_exact(StoreCore& world, nb::handle name) {
  if (PyUnicode_CheckExact(name.ptr())) return remember_as(world, name, world.store->frame_key(text_of(name)));
  return nb::isinstance<NodeId>(name) ? remember_as(world, name, frame_of_node(world, name)) : kNone;
}

}  // namespace

std::string frame_key(const StoreCore& world, nb::handle name) {
  return nb::isinstance<NodeId>(name) ? frame_of_node(world, name) : world.store->frame_key(text_of(name));
}

std::string frame_label(const StoreCore& world, nb::handle name) { return world.store->frame_label(frame_key(world, name)); }

std::vector<std::string> frame_labels(const StoreCore& world, std::vector<std::string> keys) {
  for (std::string& key : keys) key = world.store->frame_label(std::move(key));
  return keys;
}

std::vector<std::string> source_labels(const StoreCore& world, std::vector<std::string> sources) {
  std::vector<std::string> labels;
  for (const std::string& source : sources) labels.push_back(world.store->source_label(source));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (std::ranges::count(labels, labels[i]) == 1) sources[i] = labels[i];
  return sources;
}

std::string source_key(const StoreCore& world, FrameId of, nb::handle source) {
  if (nb::isinstance<NodeId>(source)) return nb::cast<NodeId>(source).text();
  std::string given(text_of(source));
  if (of == kNone || !world.forest->check_source(of, given)) return given;
  for (const std::string& known : world.forest->sources_of(of))
    if (world.store->source_label(known) == given) return known;
  return given;
}

void forget_names(StoreCore& world) {
  world.ids.clear();
  world.keys.clear();
  world.labels.clear();
  world.nodes.clear();
}

Upcalls::Upcalls(nb::handle given)
    : admit_name(nb::object(given.attr("admit_name"))),
      declare_name(nb::object(given.attr("declare_name"))),
      recall_name(nb::object(given.attr("recall_name"))),
      knows_name(nb::object(given.attr("knows_name"))),
      recall_joint(nb::object(given.attr("recall_joint"))),
      check_new_pose(nb::object(given.attr("check_new_pose"))),
      read_twist(nb::object(given.attr("read_twist"))),
      store_twist(nb::object(given.attr("store_twist"))),
      resolve_pending(nb::object(given.attr("store_pending"))),
      complete_joints(nb::object(given.attr("complete_joints"))),
      complete_joint_series(nb::object(given.attr("complete_joint_series"))),
      joints_came(nb::object(given.attr("joints_came"))),
      wheels_turned(nb::object(given.attr("wheels_turned"))),
      admit_joints(nb::object(given.attr("admit_joints"))),
      admit_joint_series(nb::object(given.attr("admit_joint_series"))),
      pose_between_points(nb::object(given.attr("pose_between_points"))),
      by_policy(nb::object(given.attr("by_policy"))),
      with_velocities(nb::object(given.attr("with_velocities"))),
      notify(nb::object(given.attr("notify"))),
      warn_of_dropped(nb::object(given.attr("warn_of_dropped"))),
      as_transform(nb::object(given.attr("as_transform"))),
      as_joint_covariance(nb::object(given.attr("as_joint_covariance"))),
      as_joint_covariances(nb::object(given.attr("as_joint_covariances"))),
      with_row(nb::object(given.attr("with_row"))) {}

void remember(StoreCore& world, nb::handle name) { (void)remember_as(world, name, frame_key(world, name)); }

nb::object admitted(Self self, nb::handle name) {
  StoreCore& world = core(self);
  const bool is_known = known_id(world, name) != nullptr || remember_exact(world, name) != kNone;
  if (is_known) {
    const KnownNode* node = known_node(world, name);
    PyObject* key = node != nullptr ? node->key.ptr() : kept(world.keys, name);
    return nb::borrow(key != nullptr ? nb::handle(key) : name);
  }
  return text(frame_key(world, world.upcalls.admit_name(self, name)));
}

void check_own_frame(Self self, nb::handle of) {
  if (!nb::isinstance<NodeId>(of)) return;
  const StoreCore& world = core(self);
  const NodeId id = nb::cast<NodeId>(of);
  const auto version = world.store->version();
  const scene::NodeRecord* record = version->recall(id);
  if (record == nullptr || record->is_in_own_frame() || record->kind == NodeKind::frame) return;
  const std::string holder = "'" + frame_label(world, of) + "'", text = id.text();
  std::string called = "'" + text + "'";
  for (const auto& [node, name] : names_of(*version, {id}))
    called = "'" + std::string(text_of(name)) + "' (" + text.substr(0, 8) + ")";
  raise("InvalidArgument",
        "Node " + called + " has no pose of its own: it is where " + holder + " is, which it is in. To move it, call " +
            "scene.move(...), or add it with frame=, a name for a frame of its own. To place " + holder + ", name that.",
        of);
}

nb::object stored_name(nb::handle name) {
  static const auto* check = new nb::object(nb::module_::import_("armillary.transforms").attr("check_name"));  // never ends
  return (*check)(name);
}

nb::object source_of(Self self, nb::handle source) {
  if (source.is_none()) return core(self).own_name;
  if (!PyUnicode_Check(source.ptr())) raise("InvalidName", "source must be a str, got " + shown(source) + ".", source);
  return nb::borrow(source);
}

namespace {

void list_relation(StoreCore& world, RelationId id) {
  const std::optional<Forest::Edge> edge = world.forest->edge_of(id);
  if (!edge) return;
  const std::string of = world.store->frame_label(edge->of), in_frame = world.store->frame_label(edge->in_frame);
  world.catalog[nb::int_(id)] = nb::make_tuple(of, in_frame, world.store->source_label(edge->source));
}

/// A new catalog of the relations that there are. Answers that were given keep the old one, and with it all their names.
void drop_removed(StoreCore& world) {
  nb::dict kept;
  for (const RelationId id : world.forest->relation_ids()) {
    const nb::int_ key(id);
    if (PyObject* edge = PyDict_GetItemWithError(world.catalog.ptr(), key.ptr())) kept[key] = nb::handle(edge);
  }
  world.catalog = std::move(kept);
}

}  // namespace

void sync_catalog(StoreCore& world) {
  const RelationId made = world.forest->relations_made();
  if (made != world.catalogued) ++world.edits;
  for (; world.catalogued < made; ++world.catalogued) list_relation(world, world.catalogued);
  constexpr std::size_t few = 4096;
  if (nb::len(world.catalog) > few + 2 * world.forest->relations_alive()) drop_removed(world);
}

const nb::dict& catalog_with(const StoreCore& world, std::span<const RelationId> relations) {
  const RelationId listed = world.catalogued;
  if (std::ranges::any_of(relations, [listed](RelationId id) { return id >= listed; }))
    sync_catalog(const_cast<StoreCore&>(world));
  return world.catalog;
}

void sync_labels(StoreCore& world) {
  const std::uint64_t relabelled = world.store->relabelled();
  if (relabelled == world.relabelled) return;
  world.relabelled = relabelled;
  ++world.edits;
  world.catalog = nb::dict();
  world.catalogued = world.forest->relations_made();
  for (const RelationId id : world.forest->relation_ids()) list_relation(world, id);
}

void sync_bodies(StoreCore& world) {
  const std::vector<std::string> declared = world.forest->body_names();
  for (std::size_t i = nb::len(world.bodies); i < declared.size(); ++i) world.bodies.append(nb::cast(declared[i]));
}

bool recalls(Self self, nb::handle name) {
  if (known_id(core(self), name) != nullptr || remember_exact(core(self), name) != kNone) return true;
  return core(self).upcalls.recall_name.or_null(self, name).is_valid();
}

FrameId frame_id(Self self, nb::handle name, nb::object* spelt) {
  StoreCore& world = core(self);
  const auto known = [&](nb::handle given) -> std::optional<FrameId> {
    PyObject* id = known_id(world, given);
    if (id == nullptr && remember_exact(world, given) != kNone) id = known_id(world, given);
    if (id == nullptr) return std::nullopt;
    if (spelt != nullptr) {
      const KnownNode* node = known_node(world, given);
      if (PyObject* label = node != nullptr ? node->label.ptr() : kept(world.labels, given)) *spelt = nb::borrow(label);
    }
    return static_cast<FrameId>(PyLong_AsUnsignedLong(id));
  };
  if (const std::optional<FrameId> id = known(name)) return *id;
  const nb::object stored = world.upcalls.recall_name(self, name);
  if (spelt != nullptr) *spelt = stored;
  if (const std::optional<FrameId> id = known(stored)) return *id;
  return world.forest->find_frame(text_of(stored));
}

}  // namespace armillary::python
