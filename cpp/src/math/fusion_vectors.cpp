#include "armillary/math/fusion_vectors.hpp"

#include "math/fusion_block.hpp"

namespace armillary {

namespace {

struct Part {
  Whitening root;
  double weight = 1.0;
};

/// The estimate for given weights, and the trace that each part has in it.
VectorEstimate estimate(std::span<const VectorEstimate> given, std::span<const Part> parts, double exact_deviation,
                        std::vector<double>& traces) {
  WeightedLeastSquares least_squares;
  least_squares.clear(6);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t i = 0; i < 6; ++i) {
      double* row = least_squares.add_row();
      const double scale = parts[p].root.is_exact[i] ? 1.0 / exact_deviation : std::sqrt(parts[p].weight);
      for (std::size_t j = 0; j < 6; ++j) {
        row[j] = scale * parts[p].root.rows[6 * i + j];
        row[6] += row[j] * given[p].value[j];
      }
    }
  std::vector<double> x, deviations;
  least_squares.solve(x, deviations);
  VectorEstimate best;
  std::array<std::vector<double>, 6> gains;
  for (std::size_t i = 0; i < 6; ++i) {
    best.value[i] = x[i];
    least_squares.gain_of(i, gains[i]);
  }
  traces.assign(parts.size(), 0.0);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t k = 0; k < 6; ++k) {
      if (parts[p].root.is_exact[k]) continue;
      for (std::size_t i = 0; i < 6; ++i) {
        traces[p] += parts[p].weight * gains[i][6 * p + k] * gains[i][6 * p + k];
        for (std::size_t j = 0; j < 6; ++j) best.covariance.values[6 * i + j] += gains[i][6 * p + k] * gains[j][6 * p + k];
      }
    }
  return best;
}

}  // namespace

VectorEstimate fuse_vectors(std::span<const VectorEstimate> given, bool are_correlated) {
  std::vector<Part> parts;
  double least = HUGE_VAL;
  for (const VectorEstimate& one : given) {
    Part& part = parts.emplace_back(Part{whitening_of(one.covariance.values)});
    if (are_correlated) part.weight = 1.0 / static_cast<double>(given.size());
    for (std::size_t i = 0; i < 6; ++i) {
      double square = 0.0;
      for (std::size_t j = 0; j < 6; ++j) square += part.root.rows[6 * i + j] * part.root.rows[6 * i + j];
      if (!part.root.is_exact[i]) least = std::min(least, 1.0 / std::sqrt(square));
    }
  }
  const double exact_deviation = std::isfinite(least) ? kExactShare * least : 1.0;
  std::vector<double> traces;
  VectorEstimate best = estimate(given, parts, exact_deviation, traces);
  for (int round = 0; are_correlated && round < kMostWeighings; ++round) {
    double total = 0.0, moved = 0.0;
    for (const double trace : traces) total += std::sqrt(trace);
    if (!(total > 0.0)) break;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const double weight = std::max(std::sqrt(traces[p]) / total, kSmallestWeight);
      moved = std::max(moved, std::abs(weight - parts[p].weight));
      parts[p].weight = weight;
    }
    best = estimate(given, parts, exact_deviation, traces);
    if (moved < kWeighed) break;
  }
  return best;
}

}  // namespace armillary
