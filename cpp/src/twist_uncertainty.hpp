#pragma once

// How uncertain a velocity is: first order in the errors of every pose and every motion it was computed from.

#include "motion.hpp"

namespace armillary {

/// One step of a chain of frames, from the axes a velocity is along to the point it is of.
struct ChainStep {
  RelationId relation = kNone;
  bool upwards = false;                      ///< walked from child to parent
  Transform value{};                         ///< parent_T_child
  Velocity body_form{};                      ///< of child relative to parent; zero where only the pose counts
  const Covariance* pose_error = nullptr;    ///< null: exact
  const Covariance* motion_error = nullptr;  ///< null: exact
};

/// Gathers how each error moves the answer. An edge that is used more than once makes one error, not several; the
/// error of an edge's pose and that of its motion count as independent.
class TwistUncertainty {
 public:
  /// The answer's part that this chain carries: the sum of its motions at its end, along the axes of its begin.
  void add(const std::vector<ChainStep>& chain);
  [[nodiscard]] Covariance total() const;

 private:
  struct Part {
    RelationId relation;
    const Covariance* pose_error;
    const Covariance* motion_error;
    Matrix6 by_pose{}, by_motion{};
  };
  Part& part_of(const ChainStep& step);
  std::vector<Part> parts_;
};

}  // namespace armillary
