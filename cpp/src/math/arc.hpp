#pragma once

// The motion between two poses, and how it moves with their errors.

#include "math/upper6.hpp"

namespace armillary {

/// How an answer moves with an error on the right of the first pose, and of the second.
struct EndEffects {
  Upper6 first, second;
};

/// Interpolation from `a` to `b`, differentiated by the errors of both: T = mean * Exp(xi) at either end, and at the
/// pose in between.
class Arc {
 public:
  Arc(const Transform& a, const Transform& b, Interpolation kind);

  /// On the pose at the fraction `u`, whose rotation is `here`.
  [[nodiscard]] EndEffects on_pose(double u, const Rotation& here) const;

  /// On the constant motion that leads from `a` to `b`: its body form along the axes of `here`, those axes unmoved.
  [[nodiscard]] EndEffects on_motion(double per_s, const Rotation& here) const;

 private:
  Rotation first_, second_;
  Tangent difference_;  // of a straight line only the rotation counts
  Interpolation kind_;
};

}  // namespace armillary
