#pragma once

#include <array>
#include <cstdint>

#include "armillary/graph/ids.hpp"
#include "armillary/math/velocity.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

/// A twist in a series: its numbers in the body form (point and axes of the moving frame); then the frame along
/// whose axes it was given, where that is another one and the rotation between them was not exact.
inline constexpr std::uint32_t kTwistRowWidth = 7;

[[nodiscard]] inline Velocity velocity_of(const Row& row) {
  const double* v = row.values();
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// kNone: its own axes, or they are as good.
[[nodiscard]] inline FrameId axes_of(const Row& row) { return static_cast<FrameId>(row.values()[6]); }

[[nodiscard]] inline std::array<double, kTwistRowWidth> twist_values(const Velocity& body_form, FrameId axes) {
  const auto& [v, w] = body_form;
  return {v.x, v.y, v.z, w.x, w.y, w.z, static_cast<double>(axes)};
}

}  // namespace armillary
