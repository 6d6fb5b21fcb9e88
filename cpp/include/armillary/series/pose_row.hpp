#pragma once

#include <cmath>
#include <optional>

#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

/// A pose in a series: seven values, quaternion scalar first, then translation; the side column is a covariance.
inline constexpr std::uint32_t kPoseWidth = 7;

[[nodiscard]] inline Transform pose_of(const Row& row) {
  const double* v = row.values();
  return {{v[0], v[1], v[2], v[3]}, {v[4], v[5], v[6]}};
}

[[nodiscard]] inline std::array<double, kPoseWidth> values_of(const Transform& pose) {
  const auto& [q, t] = pose;
  return {q.w, q.x, q.y, q.z, t.x, t.y, t.z};
}

[[nodiscard]] inline double fraction(const Row& before, const Row& after, std::int64_t at_ns) {
  return static_cast<double>(at_ns - before.stamp_ns()) / static_cast<double>(after.stamp_ns() - before.stamp_ns());
}

[[nodiscard]] inline Transform interpolate_rows(const Row& before, const Row& after, std::int64_t at_ns, Interpolation kind) {
  return interpolate(pose_of(before), pose_of(after), fraction(before, after, at_ns), kind);
}

/// The covariance of a row; none where it is unknown.
[[nodiscard]] inline std::optional<Covariance> covariance_of(const Row& row) {
  if (row.side == nullptr || std::isnan(row.side[0])) return std::nullopt;
  return Covariance::unpack(std::span<const double, Covariance::kPacked>(row.side, Covariance::kPacked));
}

}  // namespace armillary
