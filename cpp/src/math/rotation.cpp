#include "armillary/math/rotation.hpp"

#include <algorithm>
#include <numbers>

namespace armillary {

SlerpWeights detail::slerp_weights_far(double cosine, double u) {
  const double positive = std::abs(cosine);
  if (positive > 0.99)
    return {slerp_weight<7>(1.0 - u, positive - 1.0), std::copysign(slerp_weight<7>(u, positive - 1.0), cosine)};
  const double theta = std::acos(positive), inverse_sine = 1.0 / std::sin(theta);
  return {std::sin((1.0 - u) * theta) * inverse_sine, std::copysign(std::sin(u * theta) * inverse_sine, cosine)};
}

Rotation Rotation::exp(const Vector3& angle_axis) {
  const double half = 0.5 * norm(angle_axis);
  const double h2 = half * half;
  // sin(half)/half, halved: the tangent is the whole angle.
  const double scale = half < 1e-3 ? 0.5 * (1.0 - h2 / 6.0 * (1.0 - h2 / 20.0)) : 0.5 * std::sin(half) / half;
  return {std::cos(half), scale * angle_axis.x, scale * angle_axis.y, scale * angle_axis.z};
}

Vector3 Rotation::log() const {
  const double sign = w < 0.0 ? -1.0 : 1.0;
  const Vector3 axis{sign * x, sign * y, sign * z};
  const double sine = norm(axis);
  const double cosine = sign * w;
  const double ratio = sine / cosine;
  const double scale = sine < 1e-4 ? 2.0 / cosine * (1.0 - ratio * ratio / 3.0) : 2.0 * std::atan2(sine, cosine) / sine;
  return scale * axis;
}

Rotation Rotation::normalized() const {
  const double scale = 1.0 / std::sqrt(squared_norm());
  return {w * scale, x * scale, y * scale, z * scale};
}

double Rotation::angle_to(const Rotation& other) const { return norm((inverse() * other).log()); }

Matrix3 Rotation::matrix() const {
  const double xx = x * x, yy = y * y, zz = z * z, xy = x * y, xz = x * z, yz = y * z, wx = w * x, wy = w * y, wz = w * z;
  return {1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy), 2.0 * (xy + wz),      1.0 - 2.0 * (xx + zz),
          2.0 * (yz - wx),       2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)};
}

Rotation Rotation::from_matrix(const Matrix3& m) {
  // The largest of the four components is computed first, so nothing is divided by a small number
  // (S. W. Shepperd, "Quaternion from rotation matrix", 1978).
  const double trace = m[0] + m[4] + m[8];
  const double largest = std::max({trace, m[0], m[4], m[8]});
  Rotation q;
  if (largest == trace) {
    q = {1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
  } else if (largest == m[0]) {
    q = {m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]};
  } else if (largest == m[4]) {
    q = {m[2] - m[6], m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7]};
  } else {
    q = {m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8]};
  }
  return q.normalized();
}

Rotation Rotation::from_rpy(const Vector3& rpy) {
  const double cr = std::cos(0.5 * rpy.x), sr = std::sin(0.5 * rpy.x);
  const double cp = std::cos(0.5 * rpy.y), sp = std::sin(0.5 * rpy.y);
  const double cy = std::cos(0.5 * rpy.z), sy = std::sin(0.5 * rpy.z);
  return {cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr, cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr};
}

Vector3 Rotation::rpy() const {
  // Half the sum and half the difference of yaw and roll come out separately, so nothing cancels near the poles
  // (E. Bernardes, S. Viollet, "Quaternion to Euler angles conversion", 2022).
  const double half_sum = std::atan2(z + x, w - y), half_difference = std::atan2(z - x, w + y);
  const double up = std::hypot(w + y, z - x), down = std::hypot(w - y, z + x);
  const double pitch = 2.0 * std::atan2(up, down) - std::numbers::pi / 2.0;
  // At a pole roll and yaw turn about one axis: all of it is reported as yaw.
  if (down < 1e-14) return {0.0, pitch, std::remainder(2.0 * half_difference, 2.0 * std::numbers::pi)};
  if (up < 1e-14) return {0.0, pitch, std::remainder(2.0 * half_sum, 2.0 * std::numbers::pi)};
  return {std::remainder(half_sum - half_difference, 2.0 * std::numbers::pi), pitch,
          std::remainder(half_sum + half_difference, 2.0 * std::numbers::pi)};
}

}  // namespace armillary
