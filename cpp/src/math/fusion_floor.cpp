#include "math/fusion_floor.hpp"

#include <algorithm>
#include <cmath>

#include "math/factors.hpp"

namespace armillary {

namespace {

constexpr double kRounding = 1e-9;     // [m, rad]
constexpr double kNearlyExact = 1e-4;  // of the largest variance, in units of what the second order leaves

double largest_eigenvalue(const Matrix3& m) {
  Matrix3 power = m;
  double scale = std::max({m[0], m[4], m[8], 0.0});
  if (scale == 0.0) return 0.0;
  // Squaring a symmetric matrix separates its largest eigenvalue; sixteen times are enough for a bound to rounding.
  for (double& value : power) value /= scale;
  double logarithm = 0.0, weight = 1.0;
  for (int i = 0; i < 8; ++i) {
    const double size = power[0] + power[4] + power[8];
    if (!(size > 0.0)) return 0.0;
    logarithm += weight * std::log(size);
    for (double& value : power) value /= size;
    power = product(power, power);
    weight *= 0.5;
  }
  return scale * std::exp(logarithm);
}

/// What the second order leaves.
struct Floor {
  double least_m2, least_rad2;
};

/// Given the largest variances.
Floor floor_of(double rotation, double translation, const Transform& value) {
  const double rounding = kRounding * (1.0 + norm(value.translation));
  const double least_rad = 0.5 * rotation;
  return {0.25 * rotation * translation + rounding * rounding, least_rad * least_rad + rounding * rounding};
}

/// Whether every variance surely is: with traces for the largest variances, which are not smaller, S less the floor is positive
/// definite. The usual case, and several times cheaper than eigenvalues.
bool is_above_floor(const Symmetric6& given, const Transform& value) {
  const double rotation = given.rr[0] + given.rr[4] + given.rr[8], translation = given.tt[0] + given.tt[4] + given.tt[8];
  const auto [least_m2, least_rad2] = floor_of(rotation, translation, value);
  Covariance rest = given.covariance();
  for (std::size_t i = 0; i < 6; ++i) rest.values[7 * i] -= i < 3 ? least_m2 : least_rad2;
  return is_definite(rest.values);
}

}  // namespace

Symmetric6 with_floor(const Symmetric6& given, const Transform& value) {
  if (is_above_floor(given, value)) return given;
  const double rotation = largest_eigenvalue(given.rr), translation = largest_eigenvalue(given.tt);
  if (rotation == 0.0 && translation == 0.0) return given;
  const auto [least_m2, least_rad2] = floor_of(rotation, translation, value);
  Vector6 unit;
  for (std::size_t i = 0; i < 6; ++i) unit[i] = std::sqrt(i < 3 ? least_m2 : least_rad2);
  const Covariance whole_given = given.covariance();
  Matrix6 rows, turned;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) rows[6 * i + j] = whole_given.values[6 * i + j] / (unit[i] * unit[j]);
  orthogonalize_rows(rows.data(), 6, turned);
  Vector6 values;
  for (std::size_t k = 0; k < 6; ++k) {
    double value = 0.0;
    for (std::size_t j = 0; j < 6; ++j) value += rows[6 * k + j] * turned[6 * k + j];
    values[k] = value;
  }
  const double nearly_exact = std::min(1.0, kNearlyExact * *std::ranges::max_element(values));
  if (*std::ranges::min_element(values) >= nearly_exact) return given;
  Covariance lifted = whole_given;
  for (std::size_t k = 0; k < 6; ++k) {
    if (values[k] >= nearly_exact) continue;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        lifted.values[6 * i + j] += (1.0 - values[k]) * unit[i] * turned[6 * k + i] * unit[j] * turned[6 * k + j];
  }
  return Symmetric6::of(lifted);
}

}  // namespace armillary
