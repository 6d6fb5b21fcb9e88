#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "armillary/math/transform.hpp"

namespace nb = nanobind;

namespace armillary::python {

// What messages of ROS hold, read field by field without a step in Python. Only plain numbers are read: for all else none is
// returned, and armillary.transforms.conversions and armillary.stamps say what the message is, or what is wrong with it.

/// The pose in a Transform message (translation and rotation), or in a Pose message (position and orientation).
[[nodiscard]] std::optional<Transform> transform_in_message(nb::handle message);

/// The nanoseconds of a Time message: sec and nanosec, or secs and nsecs as ROS 1 calls them.
[[nodiscard]] std::optional<std::int64_t> stamp_in_message(nb::handle message);

}  // namespace armillary::python
