#include "armillary/expr/loop.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "expr/continuation.hpp"
#include "math/least_squares.hpp"
#include "math/numbers.hpp"

namespace armillary {

namespace {

constexpr int kSteps = 20;
constexpr double kExact = 1e-14;
constexpr double kNear = 0.1, kContracts = 0.25, kNothing = 1e-9;

}  // namespace

bool Loop::fits(const Tape& residual, const Tape& slope) {
  const std::size_t rows = residual.outputs();
  return rows > 0 && slope.inputs() == residual.inputs() && slope.outputs() > 0 && slope.outputs() % rows == 0 &&
         slope.outputs() / rows <= std::min<std::size_t>(rows, residual.inputs());
}

/// Whole steps of Newton's method, where they cannot lead to another branch: the first is short, and the second much shorter.
bool Loop::close_nearby(double* positions) const {
  const std::size_t rows = residual_.outputs(), k = dependents();
  double* const sought = positions + residual_.inputs() - k;
  Numbers scratch(std::max(residual_.scratch(), slope_.scratch()));
  Numbers residual(rows), slope(rows * k), normal(k * (k + 1));
  double open = HUGE_VAL, before = HUGE_VAL;
  for (int step = 0; step < kSteps; ++step) {
    residual_.evaluate(positions, residual.data(), scratch.data());
    const double now = largest(residual.data(), rows);
    if (now <= kExact || (now >= open && now <= kClosed)) return true;
    open = now;
    slope_.evaluate(positions, slope.data(), scratch.data());
    make_normal(slope.data(), residual.data(), rows, k, normal.data());
    if (!(solve(normal.data(), k).smallest > 1e-280)) break;
    double squares = 0.0;
    for (std::size_t i = 0; i < k; ++i) squares += normal.data()[i * (k + 1) + k] * normal.data()[i * (k + 1) + k];
    const double length = std::sqrt(squares);
    if (!(step == 0 ? length <= kNear : step > 1 || length <= kContracts * before || length <= kNothing)) return false;
    before = length;
    for (std::size_t i = 0; i < k; ++i) sought[i] -= normal.data()[i * (k + 1) + k];
  }
  residual_.evaluate(positions, residual.data(), scratch.data());
  return largest(residual.data(), rows) <= kClosed;
}

/// What the loop is open by is taken away bit by bit, and the dependents follow.
bool Loop::close_by_continuation(double* positions) const {
  const std::size_t rows = residual_.outputs(), k = dependents(), drivers = residual_.inputs() - k;
  std::vector<double> scratch(std::max(residual_.scratch(), slope_.scratch())), at(residual_.inputs()), open(rows);
  residual_.evaluate(positions, open.data(), scratch.data());
  std::copy_n(positions, drivers, at.data());
  const auto evaluate = [&](double part, const double* unknowns, double* out) {
    std::copy_n(unknowns, k, at.data() + drivers);
    residual_.evaluate(at.data(), out, scratch.data());
    for (std::size_t i = 0; i < rows; ++i) out[i] -= (1.0 - part) * open[i];
    slope_.evaluate(at.data(), out + rows, scratch.data());
  };
  return std::isfinite(largest(open.data(), rows)) && Continuation(rows, k).follow(positions + drivers, evaluate).reached == 1.0;
}

bool Loop::close(double* positions) const {
  const std::size_t k = dependents();
  double* const sought = positions + residual_.inputs() - k;
  Numbers begin(k);
  std::copy_n(sought, k, begin.data());
  if (close_nearby(positions)) return true;
  std::copy_n(begin.data(), k, sought);
  return close_by_continuation(positions);
}

std::string Loop::description() const { return "loop " + hex(residual_.digest()) + " " + hex(slope_.digest()); }

}  // namespace armillary
