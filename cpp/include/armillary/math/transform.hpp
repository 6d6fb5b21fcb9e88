#pragma once

#include <array>
#include <cstdint>

#include "armillary/math/rotation.hpp"

namespace armillary {

/// Row-major 4x4 matrix.
using Matrix4 = std::array<double, 16>;

/// A tangent of SE(3): translation first, then rotation.
struct Tangent {
  Vector3 translation, rotation;
};

/// `parent_T_child`: the pose of child in parent; it maps child coordinates into parent.
struct Transform {
  Rotation rotation;
  Vector3 translation;

  friend bool operator==(const Transform&, const Transform&) = default;

  static Transform exp(const Tangent& tangent);
  [[nodiscard]] Tangent log() const;
  [[nodiscard]] Matrix4 matrix() const;
  [[nodiscard]] Transform inverse() const {
    const Rotation back = rotation.inverse();
    return {back, -(back * translation)};
  }
};

inline Transform operator*(const Transform& a_T_b, const Transform& b_T_c) {
  return {a_T_b.rotation * b_T_c.rotation, a_T_b.translation + a_T_b.rotation * b_T_c.translation};
}

inline Vector3 operator*(const Transform& a_T_b, const Vector3& b_p) { return a_T_b.translation + a_T_b.rotation * b_p; }

/// `a.inverse() * b` without the intermediate value.
inline Transform between(const Transform& a, const Transform& b) {
  const Rotation back = a.rotation.inverse();
  return {back * b.rotation, back * (b.translation - a.translation)};
}

enum class Interpolation {
  linear,  ///< translation linear, rotation along the shortest arc, independently: tf2's
  screw,   ///< both along the one screw motion that joins the ends
};

/// How the samples of one relation follow one another.
enum class SampleInterpolation : std::uint8_t {
  linear,  ///< as the question has it, or the world: `linear` unless something else was chosen
  screw,
  step,  ///< each holds until the next one comes: a correction
};

/// Straight line and shortest arc: `a` at u = 0 and `b` at u = 1, both exactly.
[[nodiscard]] inline Transform interpolate_linear(const Transform& a, const Transform& b, double u) {
  return {slerp(a.rotation, b.rotation, u), a.translation + u * (b.translation - a.translation)};
}

/// `a` at u = 0, `b` at u = 1.
[[nodiscard]] Transform interpolate(const Transform& a, const Transform& b, double u, Interpolation kind);

}  // namespace armillary
