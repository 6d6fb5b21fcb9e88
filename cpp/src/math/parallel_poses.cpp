#include "math/parallel_poses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/fusion_limits.hpp"
#include "math/right_jacobian.hpp"
#include "math/tangents.hpp"

namespace armillary {

namespace {

constexpr double kNextDeviations = 1e-10;  // a next step that would be shorter is not made
constexpr double kShrinking = 0.1;         // steps that shrink by less foretell nothing
constexpr double kNearly = 1e-7;           // [m, rad] times how uneven the errors are: within it the Jacobians are the same

/// w j, of which w is lower triangular and j as of the right Jacobian.
Matrix6 product_of_lower(const Matrix6& w, const Upper6& j) {
  Matrix6 result;
  unrolled<6>([&](auto i) {
    constexpr std::size_t kHead = std::min<std::size_t>(i + 1, 3), kTail = i + 1 - kHead;
    unrolled<3>([&](auto column) {
      double left = 0.0, right = 0.0;
      unrolled<kHead>([&](auto k) {
        left += w[6 * i + k] * j.tt[3 * k + column];
        right += w[6 * i + k] * j.tr[3 * k + column];
      });
      unrolled<kTail>([&](auto k) { right += w[6 * i + 3 + k] * j.rr[3 * k + column]; });
      result[6 * i + column] = left;
      result[6 * i + 3 + column] = right;
    });
  });
  return result;
}

/// The normal equations of one round: the lower triangle of the information, and what pulls.
struct NormalEquations {
  Matrix6 information{};
  Vector6 pull{};

  /// A pose that misses `error`.
  void add(const Matrix6& whitening, const Tangent& error) {
    const Matrix6 rows = product_of_lower(whitening, inverse_right_jacobian(error));
    const Vector6 missing = values_of(error);
    Vector6 whitened{};
    unrolled<6>([&](auto k) { unrolled<k + 1>([&](auto j) { whitened[k] += whitening[6 * k + j] * missing[j]; }); });
    unrolled<6>([&](auto i) {
      unrolled<6>([&](auto k) { pull[i] -= rows[6 * k + i] * whitened[k]; });
      unrolled<i + 1>([&](auto j) {
        double total = 0.0;
        unrolled<6>([&](auto k) { total += rows[6 * k + i] * rows[6 * k + j]; });
        information[6 * i + j] += total;
      });
    });
  }

  /// A pose that is met.
  void add(const Matrix6& whitening) {
    unrolled<6>([&](auto k) {
      unrolled<k + 1>([&](auto i) {
        unrolled<i + 1>([&](auto j) { information[6 * i + j] += whitening[6 * k + i] * whitening[6 * k + j]; });
      });
    });
  }
};

}  // namespace

std::optional<ParallelPose> ParallelPose::of(const Transform& value, const Covariance& covariance) {
  std::optional<ParallelPose> pose(std::in_place);
  if (!inverse_root(covariance.values, pose->whitening)) return std::nullopt;
  pose->value = value;
  pose->trace = covariance.trace();
  return pose;
}

std::optional<ParallelEstimate> fuse_parallel(std::span<ParallelPose> poses, bool want_covariance) {
  const ParallelPose& first = *std::ranges::min_element(poses, {}, &ParallelPose::trace);
  Transform estimate = first.value;
  double before = std::numeric_limits<double>::max();  // the length of the last step, in deviations
  for (int round = 0; round < fusion::kMostRounds; ++round) {
    NormalEquations equations;
    for (ParallelPose& pose : poses) {
      if (round == 0 && &pose == &first) {
        equations.add(pose.whitening);
        continue;
      }
      pose.error = between(pose.value, estimate).log();
      equations.add(pose.whitening, pose.error);
    }
    Vector6 change;
    if (!solve_definite(equations.information, equations.pull, change)) return std::nullopt;
    const Tangent step = tangent_of(change);
    if (!(norm(step.rotation) <= fusion::kLargestTurn)) return std::nullopt;
    estimate = estimate * Transform::exp(step);
    // In deviations the step is sqrt(step^T A step), and A step is the pull: no part of it is longer in its own deviation.
    double square = 0.0, longest = 0.0, surest = 0.0, vaguest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < 6; ++i) {
      square += change[i] * equations.pull[i];
      longest = std::max(longest, std::abs(change[i]));
      surest = std::max(surest, equations.information[7 * i]);
      vaguest = std::min(vaguest, equations.information[7 * i]);
    }
    const double length = std::sqrt(std::max(square, 0.0));
    const double next = length * length / before;  // steps shrink by the same factor from round to round
    const bool is_last =
        next < kNextDeviations && length < kShrinking * before && longest * std::sqrt(surest / vaguest) < kNearly;
    before = length;
    const bool is_still = longest < fusion::kConverged * (1.0 + norm(estimate.translation));
    if (!(length < fusion::kConvergedDeviations) && !is_last && !is_still) continue;
    std::optional<ParallelEstimate> found(std::in_place);
    found->value = estimate;
    if (want_covariance) {
      Matrix6 root, columns;
      if (!inverse_root(equations.information, root)) return std::nullopt;
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t k = 0; k < 6; ++k) columns[6 * i + k] = root[6 * k + i];
      found->covariance = square_of(columns);
    }
    found->is_beyond_first_order =
        std::ranges::any_of(poses, [](const ParallelPose& pose) { return norm(pose.error.rotation) > fusion::kHalfTurn; });
    return found;
  }
  return std::nullopt;
}

}  // namespace armillary
