#pragma once

// Names of joints, and the channels that their values are written to.

#include "world.hpp"

namespace armillary::python {

/// The variable, or UnknownVariable / InvalidName.
[[nodiscard]] VariablePtr joint_of(Self self, nb::handle name);
[[nodiscard]] std::vector<VariablePtr> joints_of(Self self, nb::handle names);

/// A channel as Python writes it: which names, in which order, have which of its columns.
struct JointChannel {
  std::vector<nb::object> names;  // as they were given
  nb::object source;              // of the values
  ChannelName name;               // its `source` is unused here
  ChannelId id = kNone;
  std::vector<std::uint32_t> columns;  // of each name
  std::size_t positions = 0;           // so many names have positions; the others are velocities alone

  [[nodiscard]] std::size_t width() const { return names.size(); }
  /// The column of the name at `place`, or of another one of its names; none: it has no such name.
  [[nodiscard]] std::optional<std::uint32_t> column_of(std::size_t place, nb::handle name) const;
};

/// The channel of these names, found by pointer where they came in the same order before.
[[nodiscard]] std::shared_ptr<const JointChannel> joint_channel(Self self, const std::vector<nb::handle>& names,
                                                                std::size_t positions, nb::handle source, const RowForm& form);

/// Raises what a failure of writing means; `row` is named for batches.
[[noreturn]] void raise_joint_failure(Self self, const Failure& failure, bool is_batch);

}  // namespace armillary::python
