#include "joint_doors.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <numeric>

#include "convert.hpp"

namespace armillary::python {

namespace {

constexpr std::size_t kDoors = 16;  // remembered

bool fits(const JointDoor& door, const std::vector<nb::handle>& names, std::size_t positions, nb::handle source,
          const RowForm& form) {
  const bool is_alike = door.source.is(source) && door.positions == positions && door.width() == names.size() &&
                        static_cast<const RowForm&>(door.channel) == form;
  return is_alike &&
         std::equal(names.begin(), names.end(), door.names.begin(), [](nb::handle a, nb::handle b) { return a.is(b); });
}

/// Columns are in the order of the variables' numbers.
void arrange(JointDoor& door, const std::vector<VariablePtr>& variables) {
  std::vector<std::uint32_t> order(variables.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return variables[i]->id; });
  door.columns.resize(order.size());
  for (std::uint32_t column = 0; column < order.size(); ++column) {
    door.columns[order[column]] = column;
    door.channel.variables.push_back(variables[order[column]]->id);
  }
}

std::shared_ptr<JointDoor> new_door(Self self, const std::vector<nb::handle>& names, std::size_t positions, nb::handle source,
                                    const RowForm& form) {
  auto door = std::make_shared<JointDoor>();
  std::vector<VariablePtr> variables;
  for (nb::handle name : names) {
    variables.push_back(joint_of(self, name));
    if (variables.size() <= positions && variables.back()->kind == VariableKind::velocity)
      raise("InvalidArgument",
            "Joint " + shown(name) + " has a velocity and no position. Give it in velocities=; nothing was stored.");
    door->names.push_back(nb::borrow(name));
  }
  door->positions = positions;
  door->source = nb::borrow(source);
  static_cast<RowForm&>(door->channel) = form;
  arrange(*door, variables);
  const auto& ids = door->channel.variables;
  if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end())
    raise("InvalidArgument", "A joint is named twice, in two spellings of one name. Nothing was stored.");
  Result<ChannelId> channel = core(self).forest->joint_channel(door->channel, text_of(source));
  if (!channel) raise_joint_failure(self, channel.failure, false);
  door->id = channel.value;
  return door;
}

}  // namespace

VariablePtr joint_of(Self self, nb::handle name) {
  StoreCore& world = core(self);
  PyObject* known = PyUnicode_Check(name.ptr()) ? PyDict_GetItemWithError(world.joint_places.ptr(), name.ptr()) : nullptr;
  if (known != nullptr) return world.joints[PyLong_AsSize_t(known)];
  PyErr_Clear();  // a str subclass with a hash of its own
  const nb::object stored = world.upcalls.recall_joint(self, name);
  VariablePtr variable = world.forest->find_variable(text_of(stored));
  world.joints.push_back(variable);
  world.joint_places[stored] = world.joints.size() - 1;
  return variable;
}

std::vector<VariablePtr> joints_of(Self self, nb::handle names) {
  std::vector<VariablePtr> found;
  for (nb::handle name : names) found.push_back(joint_of(self, name));
  return found;
}

std::optional<std::uint32_t> JointDoor::column_of(std::size_t place, nb::handle name) const {
  if (place < names.size() && names[place].is(name)) return columns[place];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].is(name) || names[i].equal(name)) return columns[i];
  return std::nullopt;
}

std::shared_ptr<const JointDoor> joint_door(Self self, const std::vector<nb::handle>& names, std::size_t positions,
                                            nb::handle source, const RowForm& form) {
  StoreCore& world = core(self);
  for (const auto& door : world.doors)
    if (fits(*door, names, positions, source, form)) return door;
  std::shared_ptr<JointDoor> door = new_door(self, names, positions, source, form);
  if (world.doors.size() >= kDoors) world.doors.erase(world.doors.begin());
  world.doors.push_back(door);
  return door;
}

void raise_joint_failure(Self self, const Failure& failure, bool is_batch) {
  const std::string row = is_batch ? " in row " + std::to_string(failure->row) : std::string();
  const std::string joint = "'" + failure->joint + "'";
  switch (failure->kind) {
    case FailureKind::not_a_position:
      raise("InvalidArgument", "Joint " + joint + " has no finite numbers" + row +
                                   ", or is part of a rotation that is no unit quaternion. Nothing was stored.");
    case FailureKind::part_of_rotation:
      raise("InvalidArgument",
            "A rotation is said with all of its four joints, and " + joint + " is missing. Nothing was stored.");
    default:
      if (is_batch) raise_batch_failure(self, failure, nb::none(), nb::none(), true);
      raise_failure(core(self), failure, nb::none(), nb::none(), true);
  }
}

}  // namespace armillary::python
