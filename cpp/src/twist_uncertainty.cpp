#include "twist_uncertainty.hpp"

#include <algorithm>

namespace armillary {

namespace {

/// A step walked forwards, whichever way the edge points: begin_T_end and the body form of end relative to begin.
struct Forward {
  Transform value;
  Velocity motion;
};

/// Ad(T) v.
Velocity seen_through(const Transform& a_T_b, const Velocity& b) {
  const Velocity rotated = a_T_b.rotation * b;
  return {rotated.linear + cross(a_T_b.translation, rotated.angular), rotated.angular};
}

Forward forward(const ChainStep& step) {
  if (!step.upwards) return {step.value, step.body_form};
  return {step.value.inverse(), -seen_through(step.value, step.body_form)};
}

void put(Matrix6& m, std::size_t row, std::size_t column, const Matrix3& block) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) m[6 * (row + i) + column + j] = block[3 * i + j];
}

Matrix3 cross_matrix(const Vector3& v) { return {0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0}; }

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < 3; ++j) result[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return result;
}

Matrix3 minus(const Matrix3& a, const Matrix3& b) {
  Matrix3 result{};
  std::ranges::transform(a, b, result.begin(), std::minus{});
  return result;
}

Matrix6 both_rotated(const Rotation& rotation) {
  Matrix6 m{};
  put(m, 0, 0, rotation.matrix());
  put(m, 3, 3, rotation.matrix());
  return m;
}

/// Where a step ends, in the begin and seen from the end of the chain, and what moves on either side of it.
struct Spot {
  Rotation begin_R_here;
  Vector3 lever;          ///< from here to the chain's end, along the axes here
  Velocity below;         ///< of the chain's end relative to where this step begins, at the chain's end, along the axes here
  Vector3 angular_above;  ///< of where this step begins relative to the chain's begin, along the axes here
};

/// How an error on the right of this step's value moves the answer: what is below turns with it, what is above swings
/// another lever.
Matrix6 by_pose_here(const Spot& spot) {
  const Matrix3 above = cross_matrix(spot.angular_above);
  Matrix6 here{};
  put(here, 0, 0, above);
  put(here, 0, 3, minus(cross_matrix(-spot.below.linear), product(above, cross_matrix(spot.lever))));
  put(here, 3, 3, cross_matrix(-spot.below.angular));
  return armillary::product(both_rotated(spot.begin_R_here), here);
}

/// How an error of this step's motion moves the answer.
Matrix6 by_motion_here(const Spot& spot) {
  Matrix6 here{};
  put(here, 0, 0, Rotation{}.matrix());
  put(here, 3, 3, Rotation{}.matrix());
  put(here, 0, 3, cross_matrix(-spot.lever));
  return armillary::product(both_rotated(spot.begin_R_here), here);
}

void add_to(Matrix6& sum, const Matrix6& other) { std::ranges::transform(sum, other, sum.begin(), std::plus{}); }

Matrix6 negated(Matrix6 m) {
  std::ranges::transform(m, m.begin(), std::negate{});
  return m;
}

}  // namespace

TwistUncertainty::Part& TwistUncertainty::part_of(const ChainStep& step) {
  const auto known = std::ranges::find(parts_, step.relation, &Part::relation);
  if (known == parts_.end()) return parts_.emplace_back(Part{step.relation, step.pose_error, step.motion_error});
  if (known->motion_error == nullptr) known->motion_error = step.motion_error;
  return *known;
}

void TwistUncertainty::add(const std::vector<ChainStep>& chain) {
  // From the end to the begin: what is below every step; then back, with what is above.
  struct Below {
    Vector3 lever;
    Velocity motion;  // of the chain's end relative to where the step begins, along the axes where it ends
  };
  std::vector<Below> below(chain.size());
  Transform here_T_end;
  Velocity motion;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const Forward step = forward(chain[i]);
    motion = motion + step.motion.at(here_T_end.translation);
    below[i] = {here_T_end.translation, motion};
    here_T_end = step.value * here_T_end;
    motion = step.value.rotation * motion;
  }
  const Vector3 angular_total = motion.angular;
  Rotation begin_R_here;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ChainStep& edge = chain[i];
    begin_R_here = begin_R_here * forward(edge).value.rotation;
    const Vector3 all = begin_R_here.inverse() * angular_total;
    const Spot spot{begin_R_here, below[i].lever, below[i].motion, all - below[i].motion.angular};
    Matrix6 by_pose = by_pose_here(spot), by_motion = by_motion_here(spot);
    if (edge.upwards) {  // both errors are the child's: seen from the parent, and opposite
      const Matrix6 through = adjoint(edge.value), bracket = bracket_with({edge.body_form.linear, edge.body_form.angular});
      by_pose = negated(armillary::product(by_pose, through));
      by_motion = negated(armillary::product(by_motion, through));
      add_to(by_pose, negated(armillary::product(by_motion, bracket)));
    }
    Part& part = part_of(edge);
    add_to(part.by_pose, by_pose);
    if (edge.motion_error != nullptr) add_to(part.by_motion, by_motion);
  }
}

Covariance TwistUncertainty::total() const {
  Covariance total;
  for (const Part& part : parts_) {
    if (part.pose_error != nullptr) total = total + propagated(*part.pose_error, part.by_pose);
    if (part.motion_error != nullptr) total = total + propagated(*part.motion_error, part.by_motion);
  }
  return total;
}

}  // namespace armillary
