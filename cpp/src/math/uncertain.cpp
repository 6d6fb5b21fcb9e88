#include "armillary/math/uncertain.hpp"

#include <algorithm>
#include <cmath>

#include "math/upper6.hpp"

namespace armillary {

double Covariance::trace() const {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += at(i, i);
  return sum;
}

void Covariance::pack(std::span<double, kPacked> out) const {
  std::size_t next = 0;
  for (int row = 0; row < 6; ++row)
    for (int column = row; column < 6; ++column) out[next++] = at(row, column);
}

Covariance Covariance::unpack(std::span<const double, kPacked> packed) {
  Covariance result;
  std::size_t next = 0;
  for (int row = 0; row < 6; ++row)
    for (int column = row; column < 6; ++column) result.at(row, column) = result.at(column, row) = packed[next++];
  return result;
}

Covariance operator+(const Covariance& a, const Covariance& b) {
  Covariance sum;
  std::ranges::transform(a.values, b.values, sum.values.begin(), [](double x, double y) { return x + y; });
  return sum;
}

Covariance operator*(double scale, const Covariance& a) {
  Covariance scaled;
  std::ranges::transform(a.values, scaled.values.begin(), [scale](double x) { return scale * x; });
  return scaled;
}

std::array<double, 36> adjoint(const Transform& transform) {
  const Matrix3 r = transform.rotation.matrix();
  const Vector3& p = transform.translation;
  std::array<double, 36> ad{};
  for (std::size_t column = 0; column < 3; ++column) {
    const Vector3 axis{r[column], r[3 + column], r[6 + column]};
    const Vector3 lever = cross(p, axis);
    ad[column] = ad[21 + column] = axis.x;
    ad[6 + column] = ad[27 + column] = axis.y;
    ad[12 + column] = ad[33 + column] = axis.z;
    ad[3 + column] = lever.x;
    ad[9 + column] = lever.y;
    ad[15 + column] = lever.z;
  }
  return ad;
}

Matrix6 product(const Matrix6& a, const Matrix6& b) {
  Matrix6 result{};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      for (std::size_t j = 0; j < 6; ++j) result[6 * i + j] += a[6 * i + k] * b[6 * k + j];
  return result;
}

Covariance propagated(const Covariance& covariance, const std::array<double, 36>& jacobian) {
  std::array<double, 36> half{};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      for (std::size_t j = 0; j < 6; ++j) half[6 * i + j] += jacobian[6 * i + k] * covariance.values[6 * k + j];
  Covariance result;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = i; j < 6; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 6; ++k) sum += half[6 * i + k] * jacobian[6 * j + k];
      result.values[6 * i + j] = result.values[6 * j + i] = sum;
    }
  return result;
}

Covariance transported(const Covariance& covariance, const Transform& through) {
  return propagated(Symmetric6::of(covariance), upper_adjoint(through)).covariance();
}

Covariance bound_of_sum(const Covariance& a, const Covariance& b) {
  const double trace_a = a.trace(), trace_b = b.trace();
  if (trace_a <= 0.0) return b;
  if (trace_b <= 0.0) return a;
  const double ratio = std::sqrt(trace_b / trace_a);
  return (1.0 + ratio) * a + (1.0 + 1.0 / ratio) * b;
}

namespace {

bool is_symmetric(const Covariance& c, double tolerance) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < i; ++j)
      if (std::abs(c.at(i, j) - c.at(j, i)) > tolerance) return false;
  return true;
}

/// LDL^T without pivoting on a slightly lifted diagonal: a negative pivot means a negative eigenvalue.
bool is_positive_semidefinite(Covariance c, double lift) {
  for (int k = 0; k < 6; ++k) {
    const double pivot = c.at(k, k) + lift;
    if (pivot < 0.0) return false;
    if (pivot == 0.0) continue;
    for (int i = k + 1; i < 6; ++i)
      for (int j = k + 1; j < 6; ++j) c.at(i, j) -= c.at(i, k) * c.at(k, j) / pivot;
  }
  return true;
}

}  // namespace

bool is_covariance(const Covariance& covariance) {
  double largest = 0.0;
  for (const double value : covariance.values) {
    if (!std::isfinite(value)) return false;
    largest = std::max(largest, std::abs(value));
  }
  return is_symmetric(covariance, 1e-9 * largest) && is_positive_semidefinite(covariance, 1e-12 * largest + 1e-300);
}

}  // namespace armillary
