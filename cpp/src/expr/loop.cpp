#include "armillary/expr/loop.hpp"

#include <algorithm>
#include <cmath>

#include "math/least_squares.hpp"
#include "math/numbers.hpp"

namespace armillary {

namespace {

constexpr int kSteps = 20;
constexpr double kExact = 1e-14;

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
    if (!(solve(normal.data(), k).smallest > 1e-280)) break;
    for (std::size_t i = 0; i < k; ++i) sought[i] -= normal.data()[i * (k + 1) + k];
  }
  residual_.evaluate(positions, residual.data(), scratch.data());
  return largest(residual.data(), rows) <= kClosed;
}

std::string Loop::description() const { return "loop " + hex(residual_.digest()) + " " + hex(slope_.digest()); }

}  // namespace armillary
