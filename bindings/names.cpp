// Names of frames and sources, and what a world remembers of them.

#include <nanobind/stl/string.h>

#include "convert.hpp"
#include "raise.hpp"
#include "world.hpp"

namespace armillary::python {

PyObject* known_id(const StoreCore& world, nb::handle name) {
  if (!PyUnicode_Check(name.ptr())) return nullptr;
  PyObject* id = PyDict_GetItemWithError(world.ids.ptr(), name.ptr());
  if (id == nullptr && PyErr_Occurred() != nullptr) PyErr_Clear();  // a str subclass with a hash of its own
  return id;
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
      wheels_turned(nb::object(given.attr("wheels_turned"))),
      pose_between_points(nb::object(given.attr("pose_between_points"))),
      by_policy(nb::object(given.attr("by_policy"))),
      notify(nb::object(given.attr("notify"))),
      warn_of_dropped(nb::object(given.attr("warn_of_dropped"))),
      as_transform(nb::object(given.attr("as_transform"))),
      as_joint_covariance(nb::object(given.attr("as_joint_covariance"))),
      as_joint_covariances(nb::object(given.attr("as_joint_covariances"))),
      with_row(nb::object(given.attr("with_row"))) {}

void remember(StoreCore& world, nb::handle name) {
  const FrameId id = world.forest->find_frame(text_of(name));
  if (id != kNone) world.ids[name] = id;
}

nb::object admitted(Self self, nb::handle name) {
  if (known_id(core(self), name) != nullptr) return nb::borrow(name);
  return core(self).upcalls.admit_name(self, name);
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

void sync_catalog(StoreCore& world) {
  const RelationId made = world.forest->relations_made();
  if (made != nb::len(world.catalog)) ++world.edits;
  for (auto id = static_cast<RelationId>(nb::len(world.catalog)); id < made; ++id) {
    const std::optional<RelationInfo> info = world.forest->relation(id);
    world.catalog.append(info ? nb::object(nb::make_tuple(info->of, info->in_frame, info->source)) : nb::none());
  }
}

void sync_bodies(StoreCore& world) {
  const std::vector<std::string> declared = world.forest->body_names();
  for (std::size_t i = nb::len(world.bodies); i < declared.size(); ++i) world.bodies.append(nb::cast(declared[i]));
}

bool recalls(Self self, nb::handle name) {
  if (known_id(core(self), name) != nullptr) return true;
  return core(self).upcalls.recall_name.or_null(self, name).is_valid();
}

FrameId frame_id(Self self, nb::handle name, nb::object* spelt) {
  StoreCore& world = core(self);
  if (PyObject* id = known_id(world, name)) return static_cast<FrameId>(PyLong_AsUnsignedLong(id));
  const nb::object stored = world.upcalls.recall_name(self, name);
  if (spelt != nullptr) *spelt = stored;
  if (PyObject* id = known_id(world, stored)) return static_cast<FrameId>(PyLong_AsUnsignedLong(id));
  remember(world, stored);
  return world.forest->find_frame(text_of(stored));
}

}  // namespace armillary::python
