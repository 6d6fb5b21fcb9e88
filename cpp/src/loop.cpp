#include "armillary/loop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numbers.hpp"

namespace armillary {

namespace {

constexpr int kSteps = 20;
constexpr double kExact = 1e-14;

double largest(const double* values, std::size_t count) {
  double most = 0.0;
  for (std::size_t i = 0; i < count; ++i) most = std::isfinite(values[i]) ? std::max(most, std::abs(values[i])) : HUGE_VAL;
  return most;
}

/// slope^T slope and slope^T residual beside it, as k rows of k + 1.
void make_normal(const double* slope, const double* residual, std::size_t rows, std::size_t k, double* out) {
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j <= k; ++j) {
      double sum = 0.0;
      for (std::size_t row = 0; row < rows; ++row) sum += slope[row * k + i] * (j < k ? slope[row * k + j] : residual[row]);
      out[i * (k + 1) + j] = sum;
    }
}

/// Gauss with pivots, in place; the solution stands in the last column. False where it is not determined.
bool solve(double* m, std::size_t k) {
  const std::size_t width = k + 1;
  for (std::size_t i = 0; i < k; ++i) {
    std::size_t pivot = i;
    for (std::size_t row = i + 1; row < k; ++row)
      if (std::abs(m[row * width + i]) > std::abs(m[pivot * width + i])) pivot = row;
    if (!(std::abs(m[pivot * width + i]) > 1e-280)) return false;
    std::swap_ranges(m + i * width, m + (i + 1) * width, m + pivot * width);
    for (std::size_t row = 0; row < k; ++row) {
      if (row == i) continue;
      const double factor = m[row * width + i] / m[i * width + i];
      for (std::size_t column = i; column <= k; ++column) m[row * width + column] -= factor * m[i * width + column];
    }
  }
  for (std::size_t i = 0; i < k; ++i) m[i * width + k] /= m[i * width + i];
  return true;
}

}  // namespace

bool Loop::fits(const Tape& residual, const Tape& slope) {
  const std::size_t rows = residual.outputs();
  return rows > 0 && slope.inputs() == residual.inputs() && slope.outputs() > 0 && slope.outputs() % rows == 0 &&
         slope.outputs() / rows <= std::min<std::size_t>(rows, residual.inputs());
}

bool Loop::close(double* positions) const {
  const std::size_t rows = residual_.outputs(), k = dependents();
  double* const sought = positions + residual_.inputs() - k;
  Numbers scratch(std::max(residual_.scratch(), slope_.scratch()));
  Numbers residual(rows), slope(rows * k), normal(k * (k + 1));
  double open = HUGE_VAL;
  for (int step = 0; step < kSteps; ++step) {
    residual_.evaluate(positions, residual.data(), scratch.data());
    const double now = largest(residual.data(), rows);
    if (now <= kExact || (now >= open && now <= kClosed)) return true;
    open = now;
    slope_.evaluate(positions, slope.data(), scratch.data());
    make_normal(slope.data(), residual.data(), rows, k, normal.data());
    if (!solve(normal.data(), k)) break;
    for (std::size_t i = 0; i < k; ++i) sought[i] -= normal.data()[i * (k + 1) + k];
  }
  residual_.evaluate(positions, residual.data(), scratch.data());
  return largest(residual.data(), rows) <= kClosed;
}

std::string Loop::description() const { return "loop " + hex(residual_.digest()) + " " + hex(slope_.digest()); }

}  // namespace armillary
