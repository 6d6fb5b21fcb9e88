#include "armillary/graph/joint_motion.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace armillary {

namespace {

constexpr std::array<std::pair<std::string_view, JointKind>, 9> kNames{{{"revolute", JointKind::revolute},
                                                                        {"continuous", JointKind::revolute},
                                                                        {"prismatic", JointKind::prismatic},
                                                                        {"screw", JointKind::screw},
                                                                        {"planar", JointKind::planar},
                                                                        {"cylindrical", JointKind::cylindrical},
                                                                        {"universal", JointKind::universal},
                                                                        {"ball", JointKind::ball},
                                                                        {"floating", JointKind::floating}}};

Rotation turn_about(const Vector3& axis, double angle) {
  const double sine = std::sin(0.5 * angle);
  return {std::cos(0.5 * angle), sine * axis.x, sine * axis.y, sine * axis.z};
}

Rotation quaternion(const double* wxyz) { return {wxyz[0], wxyz[1], wxyz[2], wxyz[3]}; }

/// The shortest turn from z to the normal; about x where the normal is -z.
Rotation plane_of(const Vector3& normal) {
  if (normal.z < -1.0 + 1e-12) return {0.0, 1.0, 0.0, 0.0};
  return Rotation{1.0 + normal.z, -normal.y, normal.x, 0.0}.normalized();
}

/// Body form of the angular velocity that changes of the quaternion make.
Vector3 angular_of(const Rotation& q, const Rotation& rate) {
  const Rotation half = q.inverse() * rate;
  return {2.0 * half.x, 2.0 * half.y, 2.0 * half.z};
}

}  // namespace

std::optional<JointKind> joint_kind_named(std::string_view name) {
  for (const auto& [known, kind] : kNames)
    if (known == name) return kind;
  return std::nullopt;
}

const char* to_string(JointKind kind) {
  for (const auto& [name, named] : kNames)
    if (named == kind) return name.data();
  return "none";
}

std::uint32_t variables_of(JointKind kind) {
  switch (kind) {
    case JointKind::revolute:
    case JointKind::prismatic:
    case JointKind::screw:
      return 1;
    case JointKind::cylindrical:
    case JointKind::universal:
      return 2;
    case JointKind::planar:
      return 3;
    case JointKind::ball:
      return 4;
    case JointKind::floating:
      return 7;
  }
  return 0;
}

Transform JointMotion::pose(const double* q) const {
  const double x = multiplier * q[0] + offset;
  switch (kind) {
    case JointKind::revolute:
      return {origin.rotation * turn_about(axis, x), origin.translation};
    case JointKind::prismatic:
      return {origin.rotation, origin * (x * axis)};
    case JointKind::screw:
      return {origin.rotation * turn_about(axis, x), origin * (pitch * x * axis)};
    case JointKind::cylindrical:
      return {origin.rotation * turn_about(axis, q[0]), origin * (q[1] * axis)};
    case JointKind::universal:
      return {origin.rotation * (turn_about(axis, q[0]) * turn_about(second_axis, q[1])), origin.translation};
    case JointKind::planar:
      return {origin.rotation * turn_about(axis, q[2]), origin * (plane_of(axis) * Vector3{q[0], q[1], 0.0})};
    case JointKind::ball:
      return {origin.rotation * quaternion(q), origin.translation};
    case JointKind::floating:
      return {origin.rotation * quaternion(q + 3), origin * Vector3{q[0], q[1], q[2]}};
  }
  return origin;
}

Velocity JointMotion::body_velocity(const double* q, const double* v) const {
  const double speed = multiplier * v[0];
  switch (kind) {
    case JointKind::revolute:
      return {{}, speed * axis};
    case JointKind::prismatic:
      return {speed * axis, {}};
    case JointKind::screw:
      return {pitch * speed * axis, speed * axis};
    case JointKind::cylindrical:
      return {v[1] * axis, v[0] * axis};
    case JointKind::universal:
      return {{}, v[0] * (turn_about(second_axis, q[1]).inverse() * axis) + v[1] * second_axis};
    case JointKind::planar:
      return {turn_about(axis, q[2]).inverse() * (plane_of(axis) * Vector3{v[0], v[1], 0.0}), v[2] * axis};
    case JointKind::ball:
      return {{}, angular_of(quaternion(q), quaternion(v))};
    case JointKind::floating:
      return {quaternion(q + 3).inverse() * Vector3{v[0], v[1], v[2]}, angular_of(quaternion(q + 3), quaternion(v + 3))};
  }
  return {};
}

JointMotion::Jacobian JointMotion::body_jacobian(const double* q) const {
  Jacobian jacobian{};
  const std::uint32_t n = variables_of(kind);
  for (std::uint32_t column = 0; column < n; ++column) {
    std::array<double, kMostVariables> unit{};
    unit[column] = 1.0;
    const auto moved = values_of(body_velocity(q, unit.data()));
    for (std::uint32_t row = 0; row < kTwistWidth; ++row) jacobian[row * n + column] = moved[row];
  }
  return jacobian;
}

std::string JointMotion::description() const {
  std::string text = to_string(kind);
  const auto& [r, t] = origin;
  for (const double value : {r.w, r.x, r.y, r.z, t.x, t.y, t.z, axis.x, axis.y, axis.z, second_axis.x, second_axis.y,
                             second_axis.z, multiplier, offset, pitch}) {
    char digits[32];
    std::snprintf(digits, sizeof digits, " %a", value + 0.0);
    text += digits;
  }
  return text;
}

}  // namespace armillary
