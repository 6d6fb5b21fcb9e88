#pragma once

#include <array>
#include <span>

#include "armillary/math/transform.hpp"

namespace armillary {

/// Symmetric 6x6 covariance in (translation, rotation), row-major, of the tangent at a pose:
/// T = mean * Exp(xi), xi ~ N(0, covariance).
struct Covariance {
  std::array<double, 36> values{};

  static constexpr std::size_t kPacked = 21;

  [[nodiscard]] double& at(int row, int column) { return values[static_cast<std::size_t>(6 * row + column)]; }
  [[nodiscard]] double at(int row, int column) const { return values[static_cast<std::size_t>(6 * row + column)]; }
  [[nodiscard]] double trace() const;

  /// The upper triangle row by row.
  void pack(std::span<double, kPacked> out) const;
  static Covariance unpack(std::span<const double, kPacked> packed);
};

[[nodiscard]] Covariance operator+(const Covariance& a, const Covariance& b);
[[nodiscard]] Covariance operator*(double scale, const Covariance& a);

/// 6x6, row-major.
using Matrix6 = std::array<double, 36>;

[[nodiscard]] Matrix6 product(const Matrix6& a, const Matrix6& b);

/// 6x6 row-major Ad(T) = [[R, [p]x R], [0, R]].
[[nodiscard]] std::array<double, 36> adjoint(const Transform& transform);

/// Ad(T) S Ad(T)^T: the same uncertainty seen from the tangent on the other side of T.
[[nodiscard]] Covariance transported(const Covariance& covariance, const Transform& through);

/// J S J^T for any 6x6 J.
[[nodiscard]] Covariance propagated(const Covariance& covariance, const std::array<double, 36>& jacobian);

/// Of `parent_T_child.inverse()`, given that of `parent_T_child`.
[[nodiscard]] inline Covariance inverted(const Covariance& covariance, const Transform& parent_T_child) {
  return transported(covariance, parent_T_child);
}

/// Covariance of the sum of two errors whose correlation is unknown: (1+a)A + (1+1/a)B, never too small.
[[nodiscard]] Covariance bound_of_sum(const Covariance& a, const Covariance& b);

/// Finite, symmetric to 1e-9 and positive semi-definite to rounding.
[[nodiscard]] bool is_covariance(const Covariance& covariance);

}  // namespace armillary
