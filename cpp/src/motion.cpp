#include "motion.hpp"

#include <algorithm>

#include "armillary/pose_row.hpp"
#include "edge_twist.hpp"

namespace armillary {

namespace {

double seconds_between(const Row& a, const Row& b) { return 1e-9 * static_cast<double>(b.stamp_ns() - a.stamp_ns()); }

/// The constant body form of the motion that joins two poses.
Velocity screw_between(const Transform& a, const Transform& b, double per_s) {
  const Tangent way = between(a, b).log();
  return {per_s * way.translation, per_s * way.rotation};
}

/// J S J^T summed over both ends of log(a^-1 b) / dt, whose errors are independent.
Covariance covariance_of_difference(const Transform& a, const Transform& b, const Covariance& of_a, const Covariance& of_b,
                                    double per_s) {
  const Transform way = between(a, b);
  const std::array<double, 36> to_way = inverse_right_jacobian(way.log());
  const Covariance sum = transported(of_a, way.inverse()) + of_b;
  return (per_s * per_s) * propagated(sum, to_way);
}

std::optional<Covariance> known_covariance(const Row& row, const std::optional<Covariance>& fallback) {
  const std::optional<Covariance> own = covariance_of(row);
  return own ? own : fallback;
}

void differentiate(const Transform& a, const Transform& b, double per_s, Interpolation kind, Motion& out) {
  out.method = TwistMethod::differentiated;
  if (kind == Interpolation::linear) {
    differentiate_linear(a, b, per_s, out);
  } else {
    out.set_body_form(screw_between(a, b, per_s));
  }
}

void set_certainty_of_difference(const Transform& a, const Transform& b, const std::optional<Covariance>& of_a,
                                 const std::optional<Covariance>& of_b, double per_s, Motion& out) {
  out.certainty = of_a && of_b ? Certainty::known : Certainty::unknown;
  if (of_a && of_b) out.covariance = covariance_of_difference(a, b, *of_a, *of_b, per_s);
}

/// Between two rows of the series.
void differentiate_rows(const Row& before, const Row& after, const MotionContext& context, Motion& out) {
  const double per_s = 1.0 / seconds_between(before, after);
  const Transform a = pose_of(before), b = pose_of(after);
  differentiate(a, b, per_s, context.query.interpolation, out);
  if (!context.query.want_covariance) return;
  set_certainty_of_difference(a, b, known_covariance(before, context.fallback), known_covariance(after, context.fallback), per_s,
                              out);
}

/// Central difference over the window, as far as the edge covers it.
FailureKind differentiate_window(const PathEdge& edge, Stamp at, const MotionContext& context, Motion& out) {
  const Coverage covered = coverage_of(edge);
  const Duration half{context.window.ns / 2};
  const Stamp from = std::max(earlier(at, half), covered.first), to = std::min(Stamp{at.ns + half.ns}, covered.last);
  if (to <= from) return FailureKind::single_sample;
  Evaluation a, b;
  QueryContext inside = context.query;
  inside.outside = Outside::raise;
  for (const auto& [when, end] : {std::pair{from, &a}, std::pair{to, &b}}) {
    const FailureKind kind = evaluate_edge(edge, nullptr, when, inside, context.fallback, *end);
    if (kind != FailureKind::none) return kind;
  }
  const double per_s = 1e9 / static_cast<double>(to.ns - from.ns);
  differentiate(a.value, b.value, per_s, context.query.interpolation, out);
  const auto known = [](const Evaluation& end) {
    return end.certainty == Certainty::unknown ? std::nullopt : std::optional(end.covariance);
  };
  if (context.query.want_covariance) set_certainty_of_difference(a.value, b.value, known(a), known(b), per_s, out);
  return FailureKind::none;
}

void take_measured(const EdgeTwist& twist, Stamp at, Motion& out) {
  const MeasuredTwist measured = twist.read(at, out.pose);
  out.set_body_form(measured.body_form);
  out.certainty = measured.certainty;
  out.covariance = measured.covariance;
  out.method = TwistMethod::measured;
  out.twist = twist.link->relation;
}

/// The motion that a prediction goes on with.
void take_predicted(const PathEdge& edge, const QueryContext& context, Motion& out) {
  const Series& series = edge.provider.series();
  const Row last = series.last_row();
  Velocity body{};
  (void)last_motion(edge, series, last, context, body);
  out.set_body_form(body);
  const EdgeTwist twist = twist_of(edge, {last.stamp_ns()}, context);
  out.method = twist ? TwistMethod::measured : TwistMethod::differentiated;
  out.twist = twist ? twist.link->relation : kNone;
}

FailureKind differentiate_sampled(const PathEdge& edge, const Bracket& bracket, Stamp at, const MotionContext& context,
                                  Motion& out) {
  if (context.window.ns > 0) return differentiate_window(edge, at, context, out);
  const Series& series = edge.provider.series();
  const Row before = bracket.after ? bracket.before : row_before(series, at);
  const Row after = bracket.after ? bracket.after : bracket.before;
  if (!before || !after) return FailureKind::single_sample;
  differentiate_rows(before, after, context, out);
  return FailureKind::none;
}

FailureKind velocity_of_driven(const PathEdge& edge, Stamp at, const MotionContext& context, Motion& out) {
  Velocity body;
  if (context.window.ns == 0 && edge.provider.driven().velocity(at, context.query, body)) {
    out.set_body_form(body);
    out.method = TwistMethod::joints;
    return FailureKind::none;
  }
  return context.window.ns > 0 ? differentiate_window(edge, at, context, out) : FailureKind::no_velocity;
}

}  // namespace

Prediction::Prediction() {
  for (int i = 0; i < 6; ++i) noise_per_s.at(i, i) = 1e-4;
}

MeasuredTwist measured_at(const Series& series, Stamp at) {
  const auto [before, after] = series.bracket(at);
  if (!before) return {};
  const bool exact = !after || before.stamp_ns() == at.ns;
  const double u = exact ? 0.0 : fraction(before, after, at.ns);
  MeasuredTwist twist{.body_form = velocity_of(before)};
  if (!exact) twist.body_form = (1.0 - u) * twist.body_form + u * velocity_of(after);
  const std::optional<Covariance> first = covariance_of(before), second = exact ? first : covariance_of(after);
  if (!first || !second) return twist;
  twist.certainty = Certainty::known;
  twist.covariance = exact ? *first : (1.0 - u) * *first + u * *second;
  return twist;
}

bool last_motion(const PathEdge& edge, const Series& series, const Row& last, const QueryContext& context, Velocity& body_form) {
  if (const EdgeTwist twist = twist_of(edge, {last.stamp_ns()}, context)) {
    body_form = twist.read({last.stamp_ns()}, {.value = pose_of(last)}).body_form;
    return true;
  }
  const Row before = row_before(series, {last.stamp_ns()});
  if (!before) return false;
  Motion motion;
  motion.pose.value = pose_of(last);
  differentiate(pose_of(before), motion.pose.value, 1.0 / seconds_between(before, last), context.interpolation, motion);
  body_form = motion.body_form();
  return true;
}

FailureKind evaluate_motion(const PathEdge& edge, const Bracket* bracket, Stamp at, const MotionContext& context, Motion& out) {
  out.method = TwistMethod::fixed;
  out.twist = kNone;
  out.certainty = Certainty::exact;
  out.linear = out.angular = {};
  const FailureKind kind = evaluate_edge(edge, bracket, at, context.query, context.fallback, out.pose);
  if (kind != FailureKind::none || edge.provider.kind == ProviderKind::fixed) return kind;
  out.certainty = Certainty::unknown;
  if (const EdgeTwist twist = twist_of(edge, at, context.query)) {
    take_measured(twist, at, out);
    return kind;
  }
  if (out.pose.held) {  // held still
    out.method = TwistMethod::differentiated;
    return kind;
  }
  if (out.pose.predicted) {
    take_predicted(edge, context.query, out);
    return kind;
  }
  if (edge.provider.kind == ProviderKind::driven) return velocity_of_driven(edge, at, context, out);
  const Bracket rows = bracket != nullptr ? *bracket : edge.provider.series().bracket(at);
  return differentiate_sampled(edge, rows, at, context, out);
}

}  // namespace armillary
