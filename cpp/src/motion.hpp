#pragma once

// One edge at one instant: where the child is and how it moves.

#include <optional>

#include "armillary/path.hpp"

namespace armillary {

/// How the velocity of an edge is to be found.
struct MotionContext {
  const QueryContext& query;
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
  Duration window{};                          ///< 0: derivative of the interpolant; else a central difference over it
};

struct Motion {
  Evaluation pose;    ///< parent_T_child, its uncertainty and flags
  Vector3 linear{};   ///< of the child's origin, along the parent's axes [m/s]
  Vector3 angular{};  ///< along the child's axes [rad/s]
  TwistMethod method = TwistMethod::fixed;
  RelationId twist = kNone;                ///< the twist relation it was measured by
  Certainty certainty = Certainty::exact;  ///< of the velocity
  Covariance covariance{};                 ///< of the body form, where certainty is `known`

  [[nodiscard]] Velocity body_form() const { return {pose.value.rotation.inverse() * linear, angular}; }
  void set_body_form(const Velocity& body) {
    linear = pose.value.rotation * body.linear;
    angular = body.angular;
  }
};

/// The constant motion of straight interpolation between two poses.
inline void differentiate_linear(const Transform& a, const Transform& b, double per_s, Motion& out) {
  out.linear = per_s * (b.translation - a.translation);
  out.angular = per_s * short_log(a.rotation, b.rotation);
}

/// Pose and velocity of an edge. `bracket` as for `evaluate_edge`. Returns its failures, or `no_velocity`.
[[nodiscard]] FailureKind evaluate_motion(const PathEdge& edge, const Bracket* bracket, Stamp at, const MotionContext& context,
                                          Motion& out);

/// A measured twist at an instant that its series covers; linear between samples. Body form.
struct MeasuredTwist {
  Velocity body_form{};
  Certainty certainty = Certainty::unknown;
  Covariance covariance{};
};
[[nodiscard]] MeasuredTwist measured_at(const Series& series, Stamp at);

}  // namespace armillary
