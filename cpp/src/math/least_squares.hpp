#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace armillary {

/// The largest of all magnitudes; infinite where one is no number.
inline double largest(const double* values, std::size_t count) {
  double most = 0.0;
  for (std::size_t i = 0; i < count; ++i) most = std::isfinite(values[i]) ? std::max(most, std::abs(values[i])) : HUGE_VAL;
  return most;
}

/// slope^T slope and slope^T residual beside it, as k rows of k + 1.
inline void make_normal(const double* slope, const double* residual, std::size_t rows, std::size_t k, double* out) {
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j <= k; ++j) {
      double sum = 0.0;
      for (std::size_t row = 0; row < rows; ++row) sum += slope[row * k + i] * (j < k ? slope[row * k + j] : residual[row]);
      out[i * (k + 1) + j] = sum;
    }
}

/// The magnitudes of what was divided by.
struct Pivots {
  double smallest = HUGE_VAL, largest = 0.0;
};

/// Gauss with pivots, in place; the solution stands in the last column. It is not determined where a pivot is zero.
inline Pivots solve(double* m, std::size_t k) {
  const std::size_t width = k + 1;
  Pivots pivots;
  for (std::size_t i = 0; i < k; ++i) {
    std::size_t pivot = i;
    for (std::size_t row = i + 1; row < k; ++row)
      if (std::abs(m[row * width + i]) > std::abs(m[pivot * width + i])) pivot = row;
    const double size = std::abs(m[pivot * width + i]);
    pivots = {std::isnan(size) ? 0.0 : std::min(pivots.smallest, size), std::max(pivots.largest, size)};
    if (!(pivots.smallest > 0.0)) return pivots;
    std::swap_ranges(m + i * width, m + (i + 1) * width, m + pivot * width);
    for (std::size_t row = 0; row < k; ++row) {
      if (row == i) continue;
      const double factor = m[row * width + i] / m[i * width + i];
      for (std::size_t column = i; column <= k; ++column) m[row * width + column] -= factor * m[i * width + column];
    }
  }
  for (std::size_t i = 0; i < k; ++i) m[i * width + k] /= m[i * width + i];
  return pivots;
}

}  // namespace armillary
