#pragma once

// One edge at one instant: where the child is and how it moves.

#include <optional>

#include "graph/edge_twist.hpp"
#include "graph/error_list.hpp"

namespace armillary {

/// How the velocity of an edge is to be found.
struct MotionContext {
  const QueryContext& query;                  ///< for the poses; it wants no covariance
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
  Duration window{};                          ///< 0: derivative of the interpolant; else a central difference over it
  ErrorList* errors = nullptr;                ///< what the answer depends on goes here, where somebody wants to know
};

struct Motion {
  Evaluation pose;    ///< parent_T_child and its flags
  Vector3 linear{};   ///< of the child's origin, along the parent's axes [m/s]
  Vector3 angular{};  ///< along the child's axes [rad/s]
  TwistMethod method = TwistMethod::fixed;
  RelationId twist = kNone;                      ///< the twist relation it was measured by
  std::size_t first_error = 0, after_error = 0;  ///< the errors of pose and motion in the list
  const EdgeTwist* measured = nullptr;           ///< what it was measured as; its errors are further ones

  [[nodiscard]] Velocity body_form() const { return {pose.value.rotation.inverse() * linear, angular}; }
  void set_body_form(const Velocity& body) {
    linear = pose.value.rotation * body.linear;
    angular = body.angular;
  }
};

/// What an edge has around an instant: rows of a sampled one, and its measured twist.
struct EdgeRows {
  Bracket poses;
  const EdgeTwist& twist;
};

/// Pose and velocity of an edge. Returns the failures of `evaluate_edge`, or `no_velocity`.
[[nodiscard]] FailureKind evaluate_motion(const PathEdge& edge, const EdgeRows& rows, Stamp at, const MotionContext& context,
                                          Motion& out);

}  // namespace armillary
