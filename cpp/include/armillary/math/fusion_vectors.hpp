#pragma once

// The best estimate of one vector from several, by generalised least squares.

#include <array>
#include <span>
#include <vector>

#include "armillary/math/uncertain.hpp"

namespace armillary {

struct VectorEstimate {
  std::array<double, 6> value{};
  Covariance covariance{};
};

/// Independent estimates, or, where they are correlated, the bound of covariance intersection. An exact direction is taken as it
/// is; where exact ones differ, the mean of them.
[[nodiscard]] VectorEstimate fuse_vectors(std::span<const VectorEstimate> given, bool are_correlated);

}  // namespace armillary
