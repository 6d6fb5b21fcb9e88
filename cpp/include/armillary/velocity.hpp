#pragma once

#include "armillary/series.hpp"
#include "armillary/transform.hpp"
#include "armillary/uncertain.hpp"

namespace armillary {

/// How a body moves: the velocity of one of its points, and its angular velocity, along the same axes.
struct Velocity {
  Vector3 linear{}, angular{};

  friend bool operator==(const Velocity&, const Velocity&) = default;

  /// Of the point that lies at `lever` from the present one; the lever is along the same axes.
  [[nodiscard]] Velocity at(const Vector3& lever) const { return {linear + cross(angular, lever), angular}; }
  /// The motion `duration_s` long, as a tangent; for a body form.
  [[nodiscard]] Tangent during(double duration_s) const { return {duration_s * linear, duration_s * angular}; }
};

inline Velocity operator+(const Velocity& a, const Velocity& b) { return {a.linear + b.linear, a.angular + b.angular}; }
inline Velocity operator-(const Velocity& a, const Velocity& b) { return {a.linear - b.linear, a.angular - b.angular}; }
inline Velocity operator-(const Velocity& a) { return {-a.linear, -a.angular}; }
inline Velocity operator*(double s, const Velocity& a) { return {s * a.linear, s * a.angular}; }
/// The same motion along other axes.
inline Velocity operator*(const Rotation& a_R_b, const Velocity& b) { return {a_R_b * b.linear, a_R_b * b.angular}; }

/// A twist in a series: linear, then angular, in the body form (point and axes of the frame it is said of).
inline constexpr std::uint32_t kTwistWidth = 6;

[[nodiscard]] inline Velocity velocity_of(const Row& row) {
  const double* v = row.values();
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

[[nodiscard]] inline std::array<double, kTwistWidth> values_of(const Velocity& velocity) {
  const auto& [v, w] = velocity;
  return {v.x, v.y, v.z, w.x, w.y, w.z};
}

}  // namespace armillary
