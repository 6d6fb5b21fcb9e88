#pragma once

#include <array>
#include <cmath>

namespace armillary {

struct Vector3 {
  double x = 0.0, y = 0.0, z = 0.0;

  friend bool operator==(const Vector3&, const Vector3&) = default;
};

inline Vector3 operator+(const Vector3& a, const Vector3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector3 operator-(const Vector3& a, const Vector3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector3 operator-(const Vector3& a) { return {-a.x, -a.y, -a.z}; }
inline Vector3 operator*(double s, const Vector3& a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(const Vector3& a, const Vector3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(const Vector3& a) { return std::sqrt(dot(a, a)); }

/// Row-major 3x3 matrix.
using Matrix3 = std::array<double, 9>;

/// A rotation as a unit quaternion, scalar first. q and -q are the same rotation.
struct Rotation {
  double w = 1.0, x = 0.0, y = 0.0, z = 0.0;

  friend bool operator==(const Rotation&, const Rotation&) = default;

  static Rotation exp(const Vector3& angle_axis);
  /// `matrix` must be a rotation; small errors are averaged out.
  static Rotation from_matrix(const Matrix3& matrix);
  /// R = Rz(yaw) Ry(pitch) Rx(roll).
  static Rotation from_rpy(const Vector3& roll_pitch_yaw);

  [[nodiscard]] Vector3 log() const;
  [[nodiscard]] Matrix3 matrix() const;
  [[nodiscard]] Vector3 rpy() const;
  [[nodiscard]] Rotation inverse() const { return {w, -x, -y, -z}; }
  [[nodiscard]] Rotation normalized() const;
  [[nodiscard]] double squared_norm() const { return w * w + x * x + y * y + z * z; }
  /// Angle of the rotation that leads from this one to `other`, in [0, pi].
  [[nodiscard]] double angle_to(const Rotation& other) const;
};

inline double dot(const Rotation& a, const Rotation& b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }

inline Rotation operator*(const Rotation& a, const Rotation& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

inline Vector3 operator*(const Rotation& q, const Vector3& p) {
  const Vector3 axis{q.x, q.y, q.z};
  const Vector3 twice = 2.0 * cross(axis, p);
  return p + q.w * twice + cross(axis, twice);
}

/// How much of each end a slerp takes; `second` carries the sign that picks the shorter arc.
struct SlerpWeights {
  double first, second;
};

namespace detail {

/// sin(u*theta)/sin(theta) as a series in cos(theta) - 1, exact to rounding where it is used
/// (D. Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011).
template <int Terms>
[[nodiscard]] inline double slerp_weight(double u, double cosine_minus_one) {
  const double u_squared = u * u;
  double sum = 1.0;
  for (int i = Terms; i >= 1; --i)
    sum = 1.0 + (u_squared - static_cast<double>(i * i)) * (1.0 / static_cast<double>(i * (2 * i + 1))) * cosine_minus_one * sum;
  return u * sum;
}

/// For larger angles.
[[nodiscard]] SlerpWeights slerp_weights_far(double cosine, double u);

}  // namespace detail

/// The dot product of two unit quaternions, whose sign says which of the two arcs between them is the shorter one.
/// Of half a turn both are as long, and its last bit decides: it is computed here for everybody, and never fused. Where
/// it is 0 the way is that of the quaternion as it was given, as in tf2; -0 is none.
[[nodiscard]] inline double cosine_between(const Rotation& a, const Rotation& b) { return dot(a, b) + 0.0; }

/// Weights of a shortest-arc slerp between unit quaternions whose dot product is `cosine`.
[[nodiscard]] inline SlerpWeights slerp_weights(double cosine, double u) {
  const double m = std::abs(cosine) - 1.0;
  if (m <= -5e-4) return detail::slerp_weights_far(cosine, u);
  return {detail::slerp_weight<4>(1.0 - u, m), std::copysign(detail::slerp_weight<4>(u, m), cosine)};
}

/// Shortest-arc spherical interpolation: `a` at u = 0, `b` at u = 1.
[[nodiscard]] inline Rotation slerp(const Rotation& a, const Rotation& b, double u) {
  const SlerpWeights k = slerp_weights(cosine_between(a, b), u);
  return {k.first * a.w + k.second * b.w, k.first * a.x + k.second * b.x, k.first * a.y + k.second * b.y,
          k.first * a.z + k.second * b.z};
}

/// `(a.inverse() * b).log()`, quick where the two are near each other, as neighbouring samples are.
[[nodiscard]] inline Vector3 short_log(const Rotation& a, const Rotation& b) {
  const Rotation difference = a.inverse() * b;
  const double s2 = difference.x * difference.x + difference.y * difference.y + difference.z * difference.z;
  if (s2 > 1e-2) return difference.log();
  // Twice the arc sine of s over s, exact to rounding below 0.2 rad.
  double sum = 143.0 / 10240.0;
  for (const double term : {231.0 / 13312.0, 63.0 / 2816.0, 35.0 / 1152.0, 5.0 / 112.0, 3.0 / 40.0, 1.0 / 6.0, 1.0})
    sum = term + s2 * sum;
  const double scale = std::copysign(2.0 * sum, difference.w);
  return {scale * difference.x, scale * difference.y, scale * difference.z};
}

}  // namespace armillary
