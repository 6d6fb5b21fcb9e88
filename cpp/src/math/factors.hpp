#pragma once

// Factors of small matrices: roots and inverse roots of covariances, and least squares by orthogonal transformations.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "armillary/math/uncertain.hpp"

namespace armillary {

using Vector6 = std::array<double, 6>;

[[nodiscard]] inline Vector6 product(const Matrix6& m, const Vector6& v) {
  Vector6 result;
  for (std::size_t i = 0; i < 6; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 6; ++k) sum += m[6 * i + k] * v[k];
    result[i] = sum;
  }
  return result;
}

/// m^T v.
[[nodiscard]] inline Vector6 product_of_transposed(const Matrix6& m, const Vector6& v) {
  Vector6 result{};
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t i = 0; i < 6; ++i) result[i] += m[6 * k + i] * v[k];
  return result;
}

/// Calls `visit` with the constants 0 to N - 1: loops of so few steps are worth writing out.
template <std::size_t N, typename Visit>
constexpr void unrolled(Visit&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<N>{});
}

/// The Cholesky factor of a symmetric S, of which the lower triangle counts, with inverted diagonal. False where a pivot is not
/// above `smallest`, a share of its diagonal entry: S is not positive definite, or so nearly singular that squares lose digits.
[[nodiscard]] inline bool factorize_definite(const Matrix6& s, double smallest, Matrix6& c) {
  bool is_definite = true;
  unrolled<6>([&](auto i) {
    double pivot = s[7 * i];
    unrolled<i>([&](auto j) {
      double sum = s[6 * i + j];
      unrolled<j>([&](auto k) { sum -= c[6 * i + k] * c[6 * j + k]; });
      c[6 * i + j] = sum * c[7 * j];
      pivot -= c[6 * i + j] * c[6 * i + j];
    });
    is_definite = is_definite && pivot > smallest * s[7 * i] && pivot > 0.0;
    c[7 * i] = 1.0 / std::sqrt(pivot);
  });
  return is_definite;
}

/// The inverse of a lower triangular matrix, whose diagonal is inverted already.
inline void invert_lower(const Matrix6& c, Matrix6& w) {
  w.fill(0.0);
  unrolled<6>([&](auto i) {
    unrolled<i>([&](auto j) {
      double sum = 0.0;
      unrolled<i - j>([&](auto k) { sum -= c[6 * i + j + k] * w[6 * (j + k) + j]; });
      w[6 * i + j] = sum * c[7 * i];
    });
    w[7 * i] = c[7 * i];
  });
}

/// A lower triangular W with W S W^T = I; false where S is singular, or so nearly that squares lose digits.
[[nodiscard]] inline bool inverse_root(const Matrix6& s, Matrix6& w) {
  constexpr double kSmallestPivot = 1e-7;
  Matrix6 c;
  if (!factorize_definite(s, kSmallestPivot, c)) return false;
  invert_lower(c, w);
  return true;
}

inline constexpr double kSmallestDefinitePivot = 1e-10;  ///< of the diagonal, where digits are not to be squared again

/// Whether a symmetric A is positive definite, with room for rounding.
[[nodiscard]] inline bool is_definite(const Matrix6& a) {
  Matrix6 c;
  return factorize_definite(a, kSmallestDefinitePivot, c);
}

/// x with A x = b for a symmetric positive definite A; false where it is nearly singular.
[[nodiscard]] inline bool solve_definite(const Matrix6& a, const Vector6& b, Vector6& x) {
  Matrix6 c;
  if (!factorize_definite(a, kSmallestDefinitePivot, c)) return false;
  unrolled<6>([&](auto i) {
    double sum = b[i];
    unrolled<i>([&](auto k) { sum -= c[6 * i + k] * x[k]; });
    x[i] = sum * c[7 * i];
  });
  unrolled<6>([&](auto step) {
    constexpr std::size_t i = 5 - step;
    double sum = x[i];
    unrolled<step>([&](auto k) { sum -= c[6 * (i + 1 + k) + i] * x[i + 1 + k]; });
    x[i] = sum * c[7 * i];
  });
  return true;
}

/// Makes six rows of `width` numbers orthogonal by rotations from the left, which are gathered in `turned`: turned * rows_before
/// = rows_after (one-sided Jacobi). Small rows keep their digits.
inline void orthogonalize_rows(double* rows, std::size_t width, Matrix6& turned) {
  constexpr int kMostSweeps = 30;
  constexpr double kOrthogonal = 1e-15;
  turned.fill(0.0);
  for (std::size_t i = 0; i < 6; ++i) turned[7 * i] = 1.0;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool is_done = true;
    for (std::size_t p = 0; p < 5; ++p)
      for (std::size_t q = p + 1; q < 6; ++q) {
        double pp = 0.0, qq = 0.0, pq = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
          const double a = rows[p * width + k], b = rows[q * width + k];
          pp += a * a, qq += b * b, pq += a * b;
        }
        if (std::abs(pq) <= kOrthogonal * std::sqrt(pp * qq) || pq == 0.0) continue;
        is_done = false;
        const double zeta = (qq - pp) / (2.0 * pq);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1.0 + zeta * zeta));
        const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
        const auto rotate = [&](double* first, double* second, std::size_t count) {
          for (std::size_t k = 0; k < count; ++k) {
            const double a = first[k], b = second[k];
            first[k] = c * a - s * b, second[k] = s * a + c * b;
          }
        };
        rotate(rows + p * width, rows + q * width, width);
        rotate(turned.data() + 6 * p, turned.data() + 6 * q, 6);
      }
    if (is_done) return;
  }
}

/// R with R R^T = S for a positive semi-definite S, each entry to its own precision; what rounding left of nothing is nothing.
[[nodiscard]] inline Matrix6 root_of(const Matrix6& s) {
  constexpr double kNothing = 1e-14;
  Vector6 deviation, unit;
  for (std::size_t i = 0; i < 6; ++i) {
    deviation[i] = std::sqrt(std::max(s[7 * i], 0.0));
    unit[i] = deviation[i] > 0.0 ? 1.0 / deviation[i] : 0.0;
  }
  Matrix6 correlation, turned;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) correlation[6 * i + j] = s[6 * i + j] * unit[i] * unit[j];
  // Orthogonal rows of a symmetric matrix are its eigenvectors times their eigenvalues.
  orthogonalize_rows(correlation.data(), 6, turned);
  Matrix6 root;
  for (std::size_t k = 0; k < 6; ++k) {
    double value = 0.0;
    for (std::size_t j = 0; j < 6; ++j) value += correlation[6 * k + j] * turned[6 * k + j];
    const double size = value > kNothing ? std::sqrt(value) : 0.0;
    for (std::size_t i = 0; i < 6; ++i) root[6 * i + k] = deviation[i] * turned[6 * k + i] * size;
  }
  return root;
}

/// Brings six rows of `width` > 6 numbers to six by reflections from the right (LQ), in place; the rest is zero then.
inline void shorten_rows(double* rows, std::size_t width) {
  for (std::size_t i = 0; i < 6; ++i) {
    double* row = rows + i * width;
    double below = 0.0;
    for (std::size_t k = i + 1; k < width; ++k) below += row[k] * row[k];
    if (below == 0.0) continue;
    const double norm = std::copysign(std::sqrt(row[i] * row[i] + below), -row[i]);
    const double head = row[i] - norm;
    const double scale = 2.0 / (head * head + below);
    for (std::size_t j = i + 1; j < 6; ++j) {
      double* other = rows + j * width;
      double along = head * other[i];
      for (std::size_t k = i + 1; k < width; ++k) along += row[k] * other[k];
      along *= scale;
      other[i] -= along * head;
      for (std::size_t k = i + 1; k < width; ++k) other[k] -= along * row[k];
    }
    row[i] = norm;
    std::fill(row + i + 1, row + width, 0.0);
  }
}

/// Least squares of rows with very different weights: rows sorted by size, then reflections with column pivoting.
class WeightedLeastSquares {
 public:
  /// Begins with no rows, for so many unknowns.
  void clear(std::size_t unknowns) {
    unknowns_ = unknowns;
    given_.clear();
  }
  /// One more row of zeros: the coefficients, and behind them the right hand side. Valid until the next.
  [[nodiscard]] double* add_row() {
    given_.resize(given_.size() + unknowns_ + 1, 0.0);
    return given_.data() + given_.size() - unknowns_ - 1;
  }
  [[nodiscard]] double* row(std::size_t i) { return given_.data() + i * (unknowns_ + 1); }
  [[nodiscard]] std::size_t rows() const { return given_.size() / (unknowns_ + 1); }

  /// Into `x`, and the deviation of each unknown for errors of one in every row.
  void solve(std::vector<double>& x, std::vector<double>& deviations);
  /// How one unknown of the solution moves with the right hand sides: one number for each row, in the order they were added.
  void gain_of(std::size_t unknown, std::vector<double>& out) const;

 private:
  void factorize();

  std::size_t unknowns_ = 0;
  std::vector<double> given_, work_, heads_, scales_, inverse_;
  std::vector<std::size_t> order_, columns_;
};

inline void WeightedLeastSquares::factorize() {
  const std::size_t n = unknowns_, width = n + 1, m = rows();
  std::vector<double>& size = heads_;
  size.assign(std::max(m, n), 0.0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) size[i] = std::max(size[i], std::abs(given_[i * width + j]));
  order_.resize(m);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  work_.resize(given_.size());
  for (std::size_t i = 0; i < m; ++i) std::copy_n(given_.data() + order_[i] * width, width, work_.data() + i * width);
  columns_.resize(n);
  std::iota(columns_.begin(), columns_.end(), std::size_t{0});
  scales_.assign(n, 0.0);
  std::vector<double>& norms = inverse_;
  for (std::size_t k = 0; k < n && k < m; ++k) {
    norms.assign(n, 0.0);
    for (std::size_t i = k; i < m; ++i)
      for (std::size_t j = k; j < n; ++j) norms[j] += work_[i * width + j] * work_[i * width + j];
    const auto pivot =
        static_cast<std::size_t>(std::max_element(norms.begin() + static_cast<std::ptrdiff_t>(k), norms.end()) - norms.begin());
    if (pivot != k) {
      for (std::size_t i = 0; i < m; ++i) std::swap(work_[i * width + k], work_[i * width + pivot]);
      std::swap(columns_[k], columns_[pivot]);
      std::swap(norms[k], norms[pivot]);
    }
    if (!(norms[k] > 0.0)) break;
    double& top = work_[k * width + k];
    const double norm = std::copysign(std::sqrt(norms[k]), -top);
    heads_[k] = top - norm;
    double below = 0.0;
    for (std::size_t i = k + 1; i < m; ++i) below += work_[i * width + k] * work_[i * width + k];
    scales_[k] = 2.0 / (heads_[k] * heads_[k] + below);
    norms.assign(width, 0.0);
    for (std::size_t j = k + 1; j < width; ++j) norms[j] = heads_[k] * work_[k * width + j];
    for (std::size_t i = k + 1; i < m; ++i) {
      const double factor = work_[i * width + k];
      if (factor == 0.0) continue;
      for (std::size_t j = k + 1; j < width; ++j) norms[j] += factor * work_[i * width + j];
    }
    for (std::size_t j = k + 1; j < width; ++j) norms[j] *= scales_[k];
    for (std::size_t j = k + 1; j < width; ++j) work_[k * width + j] -= norms[j] * heads_[k];
    for (std::size_t i = k + 1; i < m; ++i) {
      const double factor = work_[i * width + k];
      if (factor == 0.0) continue;
      for (std::size_t j = k + 1; j < width; ++j) work_[i * width + j] -= norms[j] * factor;
    }
    top = norm;
  }
}

inline void WeightedLeastSquares::solve(std::vector<double>& x, std::vector<double>& deviations) {
  factorize();
  const std::size_t n = unknowns_, width = n + 1;
  // R^-1, row by row from below; a column without a pivot is left at zero.
  inverse_.assign(n * n, 0.0);
  for (std::size_t i = n; i-- > 0;) {
    const double pivot = work_[i * width + i];
    if (pivot == 0.0) continue;
    inverse_[i * n + i] = 1.0 / pivot;
    for (std::size_t j = i + 1; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t k = i + 1; k <= j; ++k) sum += work_[i * width + k] * inverse_[k * n + j];
      inverse_[i * n + j] = -sum / pivot;
    }
  }
  x.assign(n, 0.0);
  deviations.assign(n, 0.0);
  for (std::size_t i = n; i-- > 0;) {
    const double pivot = work_[i * width + i];
    if (pivot == 0.0) continue;
    double sum = work_[i * width + n], square = 0.0;
    for (std::size_t k = i + 1; k < n; ++k) sum -= work_[i * width + k] * x[columns_[k]];
    x[columns_[i]] = sum / pivot;
    for (std::size_t k = i; k < n; ++k) square += inverse_[i * n + k] * inverse_[i * n + k];
    deviations[columns_[i]] = std::sqrt(square);
  }
}

inline void WeightedLeastSquares::gain_of(std::size_t unknown, std::vector<double>& out) const {
  const std::size_t n = unknowns_, width = n + 1, m = rows();
  const auto place = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), unknown) - columns_.begin());
  std::vector<double> sorted(m, 0.0);
  for (std::size_t j = place; j < n && j < m; ++j) sorted[j] = inverse_[place * n + j];
  for (std::size_t k = std::min(n, m); k-- > 0;) {
    if (scales_[k] == 0.0) continue;
    double along = heads_[k] * sorted[k];
    for (std::size_t i = k + 1; i < m; ++i) along += work_[i * width + k] * sorted[i];
    along *= scales_[k];
    sorted[k] -= along * heads_[k];
    for (std::size_t i = k + 1; i < m; ++i) sorted[i] -= along * work_[i * width + k];
  }
  out.assign(m, 0.0);
  for (std::size_t i = 0; i < m; ++i) out[order_[i]] = sorted[i];
}

}  // namespace armillary
