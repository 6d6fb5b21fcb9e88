#include "joint_channels.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <numeric>

#include "convert.hpp"

namespace armillary::python {

namespace {

constexpr std::size_t kRemembered = 16;  // remembered

bool fits(const JointChannel& channel, const std::vector<nb::handle>& names, std::size_t positions, nb::handle source,
          const RowForm& form) {
  const bool is_alike = channel.source.is(source) && channel.positions == positions && channel.width() == names.size() &&
                        static_cast<const RowForm&>(channel.name) == form;
  return is_alike &&
         std::equal(names.begin(), names.end(), channel.names.begin(), [](nb::handle a, nb::handle b) { return a.is(b); });
}

/// Columns are in the order of the variables' numbers.
void arrange(JointChannel& channel, const std::vector<VariablePtr>& variables) {
  std::vector<std::uint32_t> order(variables.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return variables[i]->id; });
  channel.columns.resize(order.size());
  for (std::uint32_t column = 0; column < order.size(); ++column) {
    channel.columns[order[column]] = column;
    channel.name.variables.push_back(variables[order[column]]->id);
  }
}

std::shared_ptr<JointChannel> new_channel(Self self, const std::vector<nb::handle>& names, std::size_t positions,
                                          nb::handle source, const RowForm& form) {
  auto channel = std::make_shared<JointChannel>();
  std::vector<VariablePtr> variables;
  for (nb::handle name : names) {
    variables.push_back(joint_of(self, name));
    if (variables.size() <= positions && variables.back()->kind == VariableKind::velocity)
      raise("InvalidArgument",
            "Joint " + shown(name) + " has a velocity and no position. Give it in velocities=; nothing was stored.");
    channel->names.push_back(nb::borrow(name));
  }
  channel->positions = positions;
  channel->source = nb::borrow(source);
  static_cast<RowForm&>(channel->name) = form;
  arrange(*channel, variables);
  const auto& ids = channel->name.variables;
  if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end())
    raise("InvalidArgument", "A joint is named twice, in two spellings of one name. Nothing was stored.");
  Result<ChannelId> id = core(self).forest->joint_channel(channel->name, text_of(source));
  if (!id) raise_joint_failure(self, id.failure, false);
  channel->id = id.value;
  return channel;
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

std::optional<std::uint32_t> JointChannel::column_of(std::size_t place, nb::handle name) const {
  if (place < names.size() && names[place].is(name)) return columns[place];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].is(name) || names[i].equal(name)) return columns[i];
  return std::nullopt;
}

std::shared_ptr<const JointChannel> joint_channel(Self self, const std::vector<nb::handle>& names, std::size_t positions,
                                                  nb::handle source, const RowForm& form) {
  StoreCore& world = core(self);
  for (const auto& channel : world.joint_channels)
    if (fits(*channel, names, positions, source, form)) return channel;
  std::shared_ptr<JointChannel> channel = new_channel(self, names, positions, source, form);
  if (world.joint_channels.size() >= kRemembered) world.joint_channels.erase(world.joint_channels.begin());
  world.joint_channels.push_back(channel);
  return channel;
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
