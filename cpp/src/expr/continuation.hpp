#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/least_squares.hpp"

// Following a zero while what it is a zero of changes: predictor and corrector, in steps small enough to stay on its branch.

namespace armillary {

/// The least-squares solution of slope * x = right for several right sides, by Householder reflections.
class LeastSquares {
 public:
  LeastSquares(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), reduced_(rows * columns), right_(rows), solution_(columns) {}

  /// False where the columns do not determine a solution.
  [[nodiscard]] bool factor(const double* slope) {
    std::copy_n(slope, reduced_.size(), reduced_.data());
    smallest_ = HUGE_VAL, largest_ = 0.0;
    heads_.assign(columns_, 0.0);
    for (std::size_t column = 0; column < columns_; ++column) {
      double squares = 0.0;
      for (std::size_t row = column; row < rows_; ++row) squares += at(row, column) * at(row, column);
      const double size = std::sqrt(squares);
      if (!std::isfinite(size)) return false;
      smallest_ = std::min(smallest_, size), largest_ = std::max(largest_, size);
      if (size == 0.0) return false;
      const double diagonal = at(column, column) > 0.0 ? -size : size;
      at(column, column) -= diagonal;
      heads_[column] = diagonal;
      const double norm = -diagonal * at(column, column);  // half of the square of the reflection
      for (std::size_t other = column + 1; other < columns_; ++other) reflect(column, norm, &at(0, other), columns_);
      norms_.resize(columns_);
      norms_[column] = norm;
    }
    return is_determined();
  }

  [[nodiscard]] bool is_determined() const { return smallest_ > 1e-9 * std::max(largest_, 1.0); }

  /// What `slope * x` comes nearest to `right` with; until the next call.
  [[nodiscard]] const std::vector<double>& solve(const double* right) {
    std::copy_n(right, rows_, right_.data());
    for (std::size_t column = 0; column < columns_; ++column) reflect(column, norms_[column], right_.data(), 1);
    for (std::size_t i = columns_; i-- > 0;) {
      double sum = right_[i];
      for (std::size_t j = i + 1; j < columns_; ++j) sum -= at(i, j) * solution_[j];
      solution_[i] = sum / heads_[i];
    }
    return solution_;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return reduced_[row * columns_ + column]; }

  void reflect(std::size_t column, double norm, double* values, std::size_t stride) {
    double along = 0.0;
    for (std::size_t row = column; row < rows_; ++row) along += at(row, column) * values[row * stride];
    along /= norm;
    for (std::size_t row = column; row < rows_; ++row) values[row * stride] -= along * at(row, column);
  }

  std::size_t rows_, columns_;
  std::vector<double> reduced_, right_, solution_, heads_, norms_;
  double smallest_ = HUGE_VAL, largest_ = 0.0;
};

/// Where following a zero ended.
struct Continued {
  double reached = 0.0;       ///< of the way, from 0 to 1
  bool is_uncertain = false;  ///< it passed where branches meet: which one it is on cannot be told
};

/// Follows the zero of `equations` numbers in `unknowns` of them, from the beginning of a way to its end.
///
/// A step is taken only where it cannot have changed the branch: the predicted point is near its zero, and Newton's method
/// contracts there by a factor of four or more (Deuflhard's affine invariant test; a half is the edge of Kantorovich's theorem).
class Continuation {
 public:
  Continuation(std::size_t equations, std::size_t unknowns)
      : equations_(equations),
        unknowns_(unknowns),
        factored_(equations, unknowns),
        here_(size()),
        there_(size()),
        ahead_(size()) {
    for (auto* some : {&tangent_, &predicted_, &sought_, &first_}) some->resize(unknowns);
  }

  /// How many numbers `evaluate` gives: the residual, then its slope along the unknowns, row-major.
  [[nodiscard]] std::size_t size() const { return equations_ * (1 + unknowns_); }

  /// `evaluate(part, unknowns, out)` at a part of the way. `unknowns` begin at a zero and are moved along.
  template <typename Evaluate>
  [[nodiscard]] Continued follow(double* unknowns, const Evaluate& evaluate) {
    Continued way;
    double step = 1.0;
    evaluate(0.0, unknowns, here_.data());
    while (way.reached < 1.0) {
      step = std::min(step, 1.0 - way.reached);
      double next = 0.0;
      const bool may_cross = step <= kCrossing;
      const Outcome outcome = try_step(unknowns, way.reached, step, may_cross, evaluate, next);
      if (outcome == Outcome::refused) {
        step *= 0.5;
        if (step < kShortest) return way;
        continue;
      }
      way.is_uncertain = way.is_uncertain || outcome == Outcome::crossed;
      way.reached = 1.0 - way.reached - step <= 1e-15 ? 1.0 : way.reached + step;
      std::copy(sought_.begin(), sought_.end(), unknowns);
      std::swap(here_, there_);
      step *= next;
    }
    return way;
  }

 private:
  enum class Outcome { refused, taken, crossed };
  static constexpr double kShortest = 1e-9, kCrossing = 1e-4, kNear = 0.1, kFar = 1.0, kContracts = 0.25;
  static constexpr double kExact = 1e-14, kClosed = 1e-9, kNothing = 1e-11;
  static constexpr int kPolishing = 20;

  template <typename Evaluate>
  [[nodiscard]] Outcome try_step(const double* unknowns, double from, double step, bool may_cross, const Evaluate& evaluate,
                                 double& next) {
    if (!factored_.factor(slope(here_))) return Outcome::refused;
    set_tangent(unknowns, from, evaluate);
    const double move = step * length(tangent_);
    if (!(move <= kFar)) return Outcome::refused;
    for (std::size_t i = 0; i < unknowns_; ++i) predicted_[i] = unknowns[i] + step * tangent_[i];
    evaluate(from + step, predicted_.data(), there_.data());
    if (!factored_.factor(slope(there_))) return Outcome::refused;
    first_ = factored_.solve(there_.data());
    const double first = length(first_);
    if (!(first <= kNear) || (first > 0.5 * move && first > kNothing)) return Outcome::refused;
    for (std::size_t i = 0; i < unknowns_; ++i) sought_[i] = predicted_[i] - first_[i];
    evaluate(from + step, sought_.data(), there_.data());
    const double second = length(factored_.solve(there_.data()));
    const double contraction = first > kNothing ? second / first : 0.0;
    if (!(contraction <= kContracts) || !(second <= kNear)) return Outcome::refused;
    if (!polish(from + step, evaluate) || distance(sought_, predicted_) > 2.0 * first + kNothing) return Outcome::refused;
    next = std::clamp(0.8 / std::sqrt(std::max({first / kNear, contraction / kContracts, 1e-6})), 0.5, 3.0);
    if (turned() > 0.0) return Outcome::taken;
    return may_cross ? Outcome::crossed : Outcome::refused;
  }

  /// How fast the zero moves along the way: what the equations change by where it stands still, taken back.
  template <typename Evaluate>
  void set_tangent(const double* unknowns, double from, const Evaluate& evaluate) {
    constexpr double kPart = 1e-7;
    evaluate(from + kPart, unknowns, ahead_.data());
    for (std::size_t i = 0; i < equations_; ++i) ahead_[i] = (here_[i] - ahead_[i]) / kPart;
    tangent_ = factored_.solve(ahead_.data());
  }

  /// Newton's method from where the zero is sought; `there_` is evaluated there.
  template <typename Evaluate>
  [[nodiscard]] bool polish(double at, const Evaluate& evaluate) {
    double open = largest(there_.data(), equations_);
    for (int i = 0; i < kPolishing && open > kExact; ++i) {
      if (!factored_.factor(slope(there_))) return open <= kClosed;
      const std::vector<double>& back = factored_.solve(there_.data());
      for (std::size_t k = 0; k < unknowns_; ++k) first_[k] = sought_[k] - back[k];
      evaluate(at, first_.data(), ahead_.data());
      const double now = largest(ahead_.data(), equations_);
      if (!(now < open)) break;
      open = now;
      std::swap(sought_, first_);
      std::swap(there_, ahead_);
    }
    return open <= kClosed;
  }

  /// Positive where the slopes before and after a step have one orientation: no singularity lies between.
  [[nodiscard]] double turned() {
    product_.assign(unknowns_ * unknowns_, 0.0);
    for (std::size_t row = 0; row < equations_; ++row)
      for (std::size_t i = 0; i < unknowns_; ++i)
        for (std::size_t j = 0; j < unknowns_; ++j)
          product_[i * unknowns_ + j] += slope(here_)[row * unknowns_ + i] * slope(there_)[row * unknowns_ + j];
    return determinant_sign(product_.data(), unknowns_);
  }

  [[nodiscard]] static double determinant_sign(double* m, std::size_t k) {
    double sign = 1.0;
    for (std::size_t i = 0; i < k; ++i) {
      std::size_t pivot = i;
      for (std::size_t row = i + 1; row < k; ++row)
        if (std::abs(m[row * k + i]) > std::abs(m[pivot * k + i])) pivot = row;
      if (m[pivot * k + i] == 0.0) return 0.0;
      if (pivot != i) std::swap_ranges(m + i * k, m + (i + 1) * k, m + pivot * k), sign = -sign;
      sign = m[i * k + i] < 0.0 ? -sign : sign;
      for (std::size_t row = i + 1; row < k; ++row) {
        const double factor = m[row * k + i] / m[i * k + i];
        for (std::size_t column = i; column < k; ++column) m[row * k + column] -= factor * m[i * k + column];
      }
    }
    return sign;
  }

  [[nodiscard]] const double* slope(const std::vector<double>& values) const { return values.data() + equations_; }

  [[nodiscard]] static double length(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
  }

  [[nodiscard]] static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  }

  std::size_t equations_, unknowns_;
  LeastSquares factored_;
  std::vector<double> here_, there_, ahead_, tangent_, predicted_, sought_, first_, product_;
};

}  // namespace armillary
