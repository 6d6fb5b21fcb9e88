#include "graph/motion.hpp"

#include <algorithm>
#include <tuple>

#include "armillary/series/pose_row.hpp"
#include "graph/edge_errors.hpp"

namespace armillary {

namespace {

/// Along the straight line, or along the screw, between two poses.
void differentiate(const Transform& a, const Transform& b, double per_s, Interpolation kind, Motion& out) {
  out.method = TwistMethod::differentiated;
  if (kind == Interpolation::linear) {
    out.linear = per_s * (b.translation - a.translation);
    out.angular = per_s * short_log(a.rotation, b.rotation);
  } else {
    const Tangent difference = between(a, b).log();
    out.set_body_form({per_s * difference.translation, per_s * difference.rotation});
  }
}

double per_second(const Row& a, const Row& b) { return 1e9 / static_cast<double>(b.stamp_ns() - a.stamp_ns()); }

/// One edge that is being evaluated at one instant.
struct EdgeMotion {
  const PathEdge& edge;
  const EdgeRows& rows;
  Stamp at;
  const MotionContext& context;
  Motion& out;

  [[nodiscard]] bool wants_errors() const { return context.errors != nullptr && context.errors->is_known; }
  [[nodiscard]] EdgePose here() const { return {edge, at, rows.poses, out.pose, context.query, context.fallback}; }

  void has_unknown_error() const {
    if (context.errors != nullptr) context.errors->is_known = false;
  }

  void take_measured() const {
    const Velocity body_form = rows.twist.body_form(out.pose.value);
    out.set_body_form(body_form);
    out.method = TwistMethod::measured;
    out.twist = rows.twist.reading.link->relation;
    out.measured = &rows.twist;
    if (wants_errors()) add_measured_errors(here(), rows.twist, body_form, *context.errors);
  }

  /// The motion that a prediction goes on with.
  void take_predicted() const {
    const Series& series = edge.provider.series();
    const Row last = series.last_row();
    Velocity body{};
    (void)last_motion(edge, series, last, context.query, body);
    out.set_body_form(body);
    const EdgeTwist twist = twist_of(edge, {last.stamp_ns()}, context.query);
    out.method = twist ? TwistMethod::measured : TwistMethod::differentiated;
    out.twist = twist ? twist.reading.link->relation : kNone;
    has_unknown_error();
  }

  /// Between two rows of the series.
  [[nodiscard]] FailureKind differentiate_rows() const {
    Bracket interval = rows.poses;
    if (!interval.after) interval = {row_before(edge.provider.series(), at), rows.poses.before};
    if (!interval.before || !interval.after) return FailureKind::single_sample;
    const auto& [before, after] = interval;
    differentiate(pose_of(before), pose_of(after), per_second(before, after), context.query.interpolation, out);
    if (wants_errors()) add_derivative_errors(here(), interval, out.body_form(), *context.errors);
    return FailureKind::none;
  }

  /// Central difference over the window, as far as the edge covers it.
  [[nodiscard]] FailureKind differentiate_window() const {
    const Coverage covered = coverage_of(edge);
    const Duration half{context.window.ns / 2};
    const Stamp from = std::max(earlier(at, half), covered.first), to = std::min(Stamp{at.ns + half.ns}, covered.last);
    if (to <= from) return FailureKind::single_sample;
    QueryContext inside = context.query;
    inside.outside = Outside::raise;
    Evaluation a, b;
    const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
    Bracket at_from, at_to;
    if (is_sampled) std::tie(at_from, at_to) = edge.provider.series().brackets(from, to);
    FailureKind kind = evaluate_edge(edge, is_sampled ? &at_from : nullptr, from, inside, context.fallback, a);
    if (kind != FailureKind::none) return kind;
    kind = evaluate_edge(edge, is_sampled ? &at_to : nullptr, to, inside, context.fallback, b);
    if (kind != FailureKind::none) return kind;
    differentiate(a.value, b.value, 1e9 / static_cast<double>(to.ns - from.ns), inside.interpolation, out);
    if (wants_errors())
      add_difference_errors(here(), {edge, from, at_from, a, inside, context.fallback},
                            {edge, to, at_to, b, inside, context.fallback}, out.body_form(), *context.errors);
    return FailureKind::none;
  }

  [[nodiscard]] FailureKind velocity_of_driven() const {
    const bool is_inside = !out.pose.held && !out.pose.predicted;
    if (context.window.ns > 0 && is_inside) return differentiate_window();
    Velocity body;
    const FailureKind kind = edge.provider.driven().velocity(at, context.query, body);
    if (kind == FailureKind::no_velocity && out.pose.held) return hold_still();
    if (kind != FailureKind::none) return kind;
    out.set_body_form(body);
    out.method = TwistMethod::joints;
    if (wants_errors()) add_joint_errors(here(), *context.errors);
    return FailureKind::none;
  }

  [[nodiscard]] FailureKind hold_still() const {
    out.method = TwistMethod::differentiated;
    has_unknown_error();
    return FailureKind::none;
  }

  [[nodiscard]] FailureKind move() const {
    if (rows.twist) {
      take_measured();
      return FailureKind::none;
    }
    if (edge.provider.kind == ProviderKind::driven) return velocity_of_driven();
    if (out.pose.held) return hold_still();
    if (out.pose.predicted) {
      take_predicted();
      return FailureKind::none;
    }
    return context.window.ns > 0 ? differentiate_window() : differentiate_rows();
  }
};

}  // namespace

Prediction::Prediction() {
  for (int i = 0; i < 6; ++i) noise_per_s.at(i, i) = 1e-4;
}

bool last_motion(const PathEdge& edge, const Series& series, const Row& last, const QueryContext& context, Velocity& body_form) {
  if (const EdgeTwist twist = twist_of(edge, {last.stamp_ns()}, context)) {
    body_form = twist.body_form(pose_of(last));
    return true;
  }
  const Row before = row_before(series, {last.stamp_ns()});
  if (!before) return false;
  Motion motion;
  motion.pose.value = pose_of(last);
  differentiate(pose_of(before), motion.pose.value, per_second(before, last), context.interpolation, motion);
  body_form = motion.body_form();
  return true;
}

FailureKind evaluate_motion(const PathEdge& edge, const EdgeRows& rows, Stamp at, const MotionContext& context, Motion& out) {
  out.method = TwistMethod::fixed;
  out.twist = kNone;
  out.linear = out.angular = {};
  out.measured = nullptr;
  const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
  FailureKind kind = evaluate_edge(edge, is_sampled ? &rows.poses : nullptr, at, context.query, context.fallback, out.pose);
  if (kind != FailureKind::none) return kind;
  const EdgeMotion motion{edge, rows, at, context, out};
  if (context.errors != nullptr) out.first_error = context.errors->effects.size();
  if (edge.provider.kind != ProviderKind::fixed) {
    kind = motion.move();
  } else if (motion.wants_errors()) {
    add_pose_errors(motion.here(), *context.errors);
  }
  if (context.errors != nullptr) out.after_error = context.errors->effects.size();
  return kind;
}

}  // namespace armillary
