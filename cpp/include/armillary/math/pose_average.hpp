#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"

namespace armillary {

/// The mean of several poses, and how each of them is related to it.
struct PoseAverage {
  /// One of the poses.
  struct Part {
    std::array<double, 6> residual{};  ///< of the mean, in the tangent of the pose
    double distance = 0.0;             ///< the same in standard deviations of the pose
    bool is_used = true;               ///< it is no outlier
    Matrix6 gain{};                    ///< how an error of the pose moves the mean, both in their tangents
  };

  Transform mean{};
  Matrix6 inverse_information{};  ///< of those used: the covariance of the mean, where those of the poses were given
  std::vector<Part> parts{};
  int rounds = 0;
};

/// The mean that minimises the sum of the squared distances to the poses, each in its own standard deviations.
///
/// Iteratively reweighted least squares with the weights of Cauchy come first, from the pose with the least median distance to
/// the others, so that outliers are recognised before anything is averaged (chi-squared, 0.999); the mean is then the plain
/// least squares solution of the others. Without covariances all poses have one and the same, of the size that the medians of
/// the residuals have. At least one pose; as many covariances, or none. Cost: linear in the poses for each round.
[[nodiscard]] PoseAverage average_poses(std::span<const Transform> poses, std::span<const Covariance> covariances);

}  // namespace armillary
