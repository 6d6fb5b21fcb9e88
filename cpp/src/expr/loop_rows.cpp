#include "armillary/expr/loop_rows.hpp"

#include <vector>

#include "armillary/expr/loop.hpp"
#include "math/least_squares.hpp"

namespace armillary {

namespace {

constexpr int kRowSteps = 100;
constexpr double kRowExact = 1e-14;
/// Of pivots, which are squares of what determines: far above where a loop counts as singular.
constexpr double kWellDetermined = 1e-10;

double length(const double* values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

/// The memory of one search after the other.
class Search {
 public:
  Search(const Tape& closure, std::size_t equations)
      : closure_(closure),
        equations_(equations),
        dependents_(closure.outputs() / equations - 1),
        scratch_(closure.scratch()),
        here_(closure.outputs()),
        there_(closure.outputs()),
        tried_(closure.inputs()),
        normal_(dependents_ * (dependents_ + 1)) {}

  [[nodiscard]] std::size_t dependents() const { return dependents_; }

  [[nodiscard]] bool close(double* positions) {
    closure_.evaluate(positions, here_.data(), scratch_.data());
    for (int step = 0; step < kRowSteps; ++step) {
      if (!determine()) return false;
      if (open() <= kRowExact) return true;
      if (!go_nearer(positions)) return open() <= Loop::kClosed;
    }
    return open() <= Loop::kClosed;
  }

 private:
  [[nodiscard]] double open() const { return largest(here_.data(), equations_); }

  /// The step towards the zero, where it is well determined.
  [[nodiscard]] bool determine() {
    make_normal(here_.data() + equations_, here_.data(), equations_, dependents_, normal_.data());
    const Pivots pivots = solve(normal_.data(), dependents_);
    return pivots.smallest > kWellDetermined * std::max(pivots.largest, 1.0);
  }

  [[nodiscard]] bool go_nearer(double* positions) {
    const std::size_t first = closure_.inputs() - dependents_;
    std::copy_n(positions, tried_.size(), tried_.data());
    for (std::size_t i = 0; i < dependents_; ++i) tried_[first + i] -= normal_[i * (dependents_ + 1) + dependents_];
    closure_.evaluate(tried_.data(), there_.data(), scratch_.data());
    if (!(length(there_.data(), equations_) < length(here_.data(), equations_))) return false;
    std::copy_n(tried_.data() + first, dependents_, positions + first);
    std::swap(here_, there_);
    return true;
  }

  const Tape& closure_;
  std::size_t equations_, dependents_;
  std::vector<double> scratch_, here_, there_, tried_, normal_;
};

}  // namespace

std::size_t close_rows(const Tape& closure, std::size_t equations, std::size_t count, double* rows) {
  const std::size_t width = closure.inputs();
  Search search(closure, equations);
  for (std::size_t row = 0; row < count; ++row) {
    double* const positions = rows + row * width;
    const std::size_t first = width - search.dependents();
    if (row > 0) std::copy_n(positions - width + first, search.dependents(), positions + first);
    if (!search.close(positions)) return row;
  }
  return count;
}

}  // namespace armillary
