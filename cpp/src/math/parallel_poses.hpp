#pragma once

// The simplest fusion: several poses between the same two frames, each with an independent error in every direction.

#include <optional>
#include <span>

#include "armillary/math/transform.hpp"
#include "math/factors.hpp"
#include "math/upper6.hpp"

namespace armillary {

/// One of several poses between the same two frames.
struct ParallelPose {
  Transform value{};
  Matrix6 whitening{};  ///< lower triangular W with W S W^T = I
  double trace = 0.0;   ///< of its covariance
  Tangent error{};      ///< with which it fits: filled by `fuse_parallel`

  /// None where a direction is exact, or nearly so.
  [[nodiscard]] static std::optional<ParallelPose> of(const Transform& value, const Covariance& covariance);
};

/// What several poses give together.
struct ParallelEstimate {
  Transform value{};
  Symmetric6 covariance{};             ///< in the tangent of `value`, where it is wanted
  bool is_beyond_first_order = false;  ///< a pose is nearly half a turn away
};

/// The least squares estimate: their information adds up. Allocates nothing. None where it does not converge, or where squares
/// lose too many digits: then the general way is to be taken, by orthogonal transformations.
[[nodiscard]] std::optional<ParallelEstimate> fuse_parallel(std::span<ParallelPose> poses, bool want_covariance);

}  // namespace armillary
