#pragma once

// Names of joints, and what a world remembers of them.

#include "world.hpp"

namespace armillary::python {

/// The variable, or UnknownVariable / InvalidName.
[[nodiscard]] VariablePtr joint_of(Self self, nb::handle name);
[[nodiscard]] std::vector<VariablePtr> joints_of(Self self, nb::handle names);

/// The way into one channel: which names, in which order, stand in which of its columns.
struct JointDoor {
  std::vector<nb::object> names;  // as they were given
  nb::object source;              // who speaks
  ChannelName channel;            // its `source` is unused here
  ChannelId id = kNone;
  std::vector<std::uint32_t> columns;  // of each name
  std::size_t positions = 0;           // so many names have positions; the others are velocities alone

  [[nodiscard]] std::size_t width() const { return names.size(); }
  /// The column of the name at `place`, or of another one of its names; none: it has no such name.
  [[nodiscard]] std::optional<std::uint32_t> column_of(std::size_t place, nb::handle name) const;
};

/// The door for these names, by pointer where they came in the same order before.
[[nodiscard]] std::shared_ptr<const JointDoor> joint_door(Self self, const std::vector<nb::handle>& names, std::size_t positions,
                                                          nb::handle source, const RowForm& form);

/// Raises what a failure of writing means; `row` is named for batches.
[[noreturn]] void raise_joint_failure(Self self, const Failure& failure, bool is_batch);

}  // namespace armillary::python
