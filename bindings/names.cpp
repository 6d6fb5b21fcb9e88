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
    : admit_name(given.attr("admit_name")),
      declare_name(given.attr("declare_name")),
      recall_name(given.attr("recall_name")),
      knows_name(given.attr("knows_name")),
      recall_joint(given.attr("recall_joint")),
      check_new_pose(given.attr("check_new_pose")),
      read_twist(given.attr("read_twist")),
      store_twist(given.attr("store_twist")),
      resolve_pending(given.attr("store_pending")),
      complete_joints(given.attr("complete_joints")),
      complete_joint_series(given.attr("complete_joint_series")),
      wheels_turned(given.attr("wheels_turned")),
      pose_between_points(given.attr("pose_between_points")),
      by_policy(given.attr("by_policy")),
      notify(given.attr("notify")),
      as_transform(given.attr("as_transform")),
      as_joint_covariance(given.attr("as_joint_covariance")),
      with_row(given.attr("with_row")) {}

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
