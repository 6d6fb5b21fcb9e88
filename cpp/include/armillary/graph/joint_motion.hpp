#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "armillary/math/velocity.hpp"

namespace armillary {

/// How a joint moves, as a closed form.
enum class JointKind : std::uint8_t {
  revolute,     ///< an angle about the axis
  prismatic,    ///< a way along the axis
  screw,        ///< an angle about the axis, and with it `pitch` metres a radian along it
  planar,       ///< x, y and an angle in the plane whose normal is the axis
  cylindrical,  ///< an angle about the axis and a way along it
  universal,    ///< an angle about the axis, then one about the second axis
  ball,         ///< a unit quaternion: w, x, y, z
  floating,     ///< x, y, z, then a unit quaternion: w, x, y, z
};

/// The kind of joint of this name, none for another name; "continuous" is revolute.
[[nodiscard]] std::optional<JointKind> joint_kind_named(std::string_view name);
[[nodiscard]] const char* to_string(JointKind kind);
/// How many variables drive it.
[[nodiscard]] std::uint32_t variables_of(JointKind kind);

/// parent_T_child = origin * motion(multiplier * q + offset); axes have length one, in the frame of `origin`.
///
/// In a plane x and y are the axes that the shortest turn from z to the normal makes of the parent's own.
/// Multiplier and offset are for joints of one variable: others have 1 and 0.
struct JointMotion {
  static constexpr std::uint32_t kMostVariables = 7;
  /// Row-major 6 x n, linear then angular: what the velocity of each variable adds to the body form.
  using Jacobian = std::array<double, std::size_t{6} * kMostVariables>;

  JointKind kind = JointKind::revolute;
  Transform origin{};
  Vector3 axis{0.0, 0.0, 1.0}, second_axis{1.0, 0.0, 0.0};
  double multiplier = 1.0, offset = 0.0, pitch = 0.0;

  [[nodiscard]] Transform pose(const double* positions) const;
  /// The velocity of the child relative to the parent, at its origin and along its axes.
  [[nodiscard]] Velocity body_velocity(const double* positions, const double* velocities) const;
  [[nodiscard]] Jacobian body_jacobian(const double* positions) const;

  /// A text that is equal for equal ones alone, to the last bit.
  [[nodiscard]] std::string description() const;
};

}  // namespace armillary
