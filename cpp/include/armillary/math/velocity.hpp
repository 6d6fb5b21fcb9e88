#pragma once

#include <array>
#include <cstdint>

#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"

namespace armillary {

/// How a body moves: the velocity of one of its points, and its angular velocity, along the same axes.
struct Velocity {
  Vector3 linear{}, angular{};

  friend bool operator==(const Velocity&, const Velocity&) = default;

  /// The velocity of the point that lies at `lever` from the present one; the lever is along the same axes.
  [[nodiscard]] Velocity at(const Vector3& lever) const { return {linear + cross(angular, lever), angular}; }
  /// The motion `duration_s` long, as a tangent; for a body form.
  [[nodiscard]] Tangent during(double duration_s) const { return {duration_s * linear, duration_s * angular}; }
};

inline Velocity operator+(const Velocity& a, const Velocity& b) { return {a.linear + b.linear, a.angular + b.angular}; }
inline Velocity operator-(const Velocity& a, const Velocity& b) { return {a.linear - b.linear, a.angular - b.angular}; }
inline Velocity operator-(const Velocity& a) { return {-a.linear, -a.angular}; }
inline Velocity operator*(double s, const Velocity& a) { return {s * a.linear, s * a.angular}; }
/// The motion `b` along other axes.
inline Velocity operator*(const Rotation& a_R_b, const Velocity& b) { return {a_R_b * b.linear, a_R_b * b.angular}; }

/// Linear, then angular.
inline constexpr std::uint32_t kTwistWidth = 6;

[[nodiscard]] inline std::array<double, kTwistWidth> values_of(const Velocity& velocity) {
  const auto& [v, w] = velocity;
  return {v.x, v.y, v.z, w.x, w.y, w.z};
}

}  // namespace armillary
