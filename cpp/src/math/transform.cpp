#include "armillary/math/transform.hpp"

namespace armillary {

namespace {

constexpr double kSeriesBelow = 0.1;  // [rad]; above it the closed forms lose fewer than four digits

/// (1 - cos a) / a^2.
double one_minus_cosine(double angle) {
  const double a2 = angle * angle;
  if (angle < kSeriesBelow) return 0.5 - a2 / 24.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0 * (1.0 - a2 / 90.0)));
  const double half_sine = std::sin(0.5 * angle);
  return 2.0 * half_sine * half_sine / a2;
}

/// (a - sin a) / a^3.
double angle_minus_sine(double angle) {
  const double a2 = angle * angle;
  if (angle < kSeriesBelow) return 1.0 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0 * (1.0 - a2 / 110.0))));
  return (angle - std::sin(angle)) / (a2 * angle);
}

/// (1 - (a/2) cot(a/2)) / a^2.
double inverse_factor(double angle) {
  const double a2 = angle * angle;
  if (angle < kSeriesBelow)
    return 1.0 / 12.0 + a2 * (1.0 / 720.0 + a2 * (1.0 / 30240.0 + a2 * (1.0 / 1209600.0 + a2 / 47900160.0)));
  const double half = 0.5 * angle;
  return (1.0 - half * std::cos(half) / std::sin(half)) / a2;
}

}  // namespace

Transform Transform::exp(const Tangent& tangent) {
  const double angle = norm(tangent.rotation);
  const Vector3 once = cross(tangent.rotation, tangent.translation);
  const Vector3 twice = cross(tangent.rotation, once);
  return {Rotation::exp(tangent.rotation),
          tangent.translation + one_minus_cosine(angle) * once + angle_minus_sine(angle) * twice};
}

Tangent Transform::log() const {
  const Vector3 angle_axis = rotation.log();
  const Vector3 once = cross(angle_axis, translation);
  const Vector3 twice = cross(angle_axis, once);
  return {translation + (-0.5) * once + inverse_factor(norm(angle_axis)) * twice, angle_axis};
}

Matrix4 Transform::matrix() const {
  const Matrix3 r = rotation.matrix();
  return {r[0], r[1], r[2], translation.x, r[3], r[4], r[5], translation.y, r[6], r[7], r[8], translation.z, 0.0, 0.0, 0.0, 1.0};
}

Transform interpolate(const Transform& a, const Transform& b, double u, Interpolation kind) {
  if (kind == Interpolation::linear) return interpolate_linear(a, b, u);
  const Tangent difference = between(a, b).log();
  return a * Transform::exp({u * difference.translation, u * difference.rotation});
}

}  // namespace armillary
