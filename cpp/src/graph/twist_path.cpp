#include "graph/twist_path.hpp"

#include "armillary/series/pose_row.hpp"

namespace armillary {

void MethodsUsed::add(TwistMethod method) {
  measured = measured || method == TwistMethod::measured;
  joints = joints || method == TwistMethod::joints;
  differentiated = differentiated || method == TwistMethod::differentiated;
}

TwistMethod MethodsUsed::together() const {
  const int kinds = int{measured} + int{joints} + int{differentiated};
  if (kinds == 0) return TwistMethod::fixed;
  if (kinds > 1) return TwistMethod::mixed;
  return measured ? TwistMethod::measured : joints ? TwistMethod::joints : TwistMethod::differentiated;
}

namespace {

/// The begin of a chain of edges, carried to its top.
struct Carried {
  Transform top_T_begin{};
  Velocity velocity{};  // of the begin's origin relative to the top, along the axes of the top

  void climb(const Transform& parent_T_child, const Vector3& linear, const Vector3& angular) {
    const Vector3 swung = velocity.linear + cross(angular, top_T_begin.translation);
    velocity.linear = parent_T_child.rotation * swung + linear;
    velocity.angular = parent_T_child.rotation * (velocity.angular + angular);
    top_T_begin = parent_T_child * top_T_begin;
  }
};

const EdgeTwist kNobody;

struct Walker {
  Stamp at;
  const MotionContext& context;
  Scratch& scratch;
  RelationList& twists;
  TwistSegment& segment;
  Motion motion{};

  /// `first` is the place of the first edge among all that were probed and read.
  FailureKind carry(const std::vector<PathEdge>& edges, std::size_t first, Carried& out, std::size_t& failed) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const PathEdge& edge = edges[i];
      const bool sampled = edge.provider.kind == ProviderKind::sampled;
      const EdgeRows rows{sampled ? Series::settle(scratch.probes[first + i], at) : Bracket{},
                          scratch.readings.empty() ? kNobody : scratch.readings[first + i]};
      if (is_plain(rows) && climb_plain(edge, rows, out)) continue;
      const FailureKind kind = evaluate_motion(edge, rows, at, context, motion);
      if (kind != FailureKind::none) {
        failed = i;
        return kind;
      }
      out.climb(motion.pose.value, motion.linear, motion.angular);
      take(edge);
    }
    return FailureKind::none;
  }

  /// The usual case, worth a short cut: between two samples, no covariance, straight interpolation.
  [[nodiscard]] bool is_plain(const EdgeRows& rows) const {
    const auto& [before, after] = rows.poses;
    return before && after && before.stamp_ns() != at.ns && before.side == nullptr && !context.fallback &&
           context.query.interpolation == Interpolation::linear;
  }

  /// False where the window is not covered.
  bool climb_plain(const PathEdge& edge, const EdgeRows& rows, Carried& out) {
    const Transform pose = between_rows(rows.poses, at);
    if (rows.twist) {
      const Velocity body_form = rows.twist.body_form(pose);
      out.climb(pose, pose.rotation * body_form.linear, body_form.angular);
      twists.push_back(rows.twist.reading.link->relation);
      segment.methods.measured = true;
    } else {
      const bool has_window = context.window.ns > 0;
      if (!(has_window ? climb_window(edge, pose, out) : climb_interval(rows.poses, pose, out))) return false;
      segment.methods.differentiated = true;
    }
    segment.timeless = false;
    if (context.errors != nullptr) context.errors->is_known = false;
    return true;
  }

  static Transform between_rows(const Bracket& rows, Stamp when) {
    return interpolate_linear(pose_of(rows.before), pose_of(rows.after), fraction(rows.before, rows.after, when.ns));
  }

  static void climb_difference(const Transform& a, const Transform& b, double per_s, const Transform& pose, Carried& out) {
    out.climb(pose, per_s * (b.translation - a.translation), per_s * short_log(a.rotation, b.rotation));
  }

  static bool climb_interval(const Bracket& rows, const Transform& pose, Carried& out) {
    const double per_s = 1e9 / static_cast<double>(rows.after.stamp_ns() - rows.before.stamp_ns());
    climb_difference(pose_of(rows.before), pose_of(rows.after), per_s, pose, out);
    return true;
  }

  bool climb_window(const PathEdge& edge, const Transform& pose, Carried& out) const {
    const Duration half{context.window.ns / 2};
    const Stamp from = earlier(at, half), to{at.ns + half.ns};
    const auto [at_from, at_to] = edge.provider.series().brackets(from, to);
    const bool is_covered = at_from.before && at_from.after && at_to.before && at_to.after;
    if (!is_covered || half.ns == 0) return false;
    const double per_s = 1e9 / static_cast<double>(to.ns - from.ns);
    climb_difference(between_rows(at_from, from), between_rows(at_to, to), per_s, pose, out);
    return true;
  }

  void take(const PathEdge& edge) {
    segment.held = segment.held || motion.pose.held;
    segment.predicted = segment.predicted || motion.pose.predicted;
    segment.timeless = segment.timeless && edge.provider.kind == ProviderKind::fixed;
    segment.methods.add(motion.method);
    if (motion.twist != kNone) twists.push_back(motion.twist);
    if (context.errors != nullptr && context.errors->is_known) scratch.motions.push_back(motion);
  }
};

}  // namespace

bool read_twists(const Path& path, Stamp at, const QueryContext& context, Scratch& scratch) {
  scratch.readings.clear();
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges)
      if (scratch.readings.emplace_back(twist_of(edge, at, context)).is_contested) return false;
  return true;
}

Failure evaluate_twist_segment(const Path& path, Stamp at, const MotionContext& context, Scratch& scratch, RelationList& twists,
                               TwistSegment& segment) {
  scratch.probes.clear();
  scratch.motions.clear();
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges) {
      Series::Probe& probe = scratch.probes.emplace_back();
      if (edge.provider.kind == ProviderKind::sampled) edge.provider.series().probe(at, probe);
    }
  Walker walker{at, context, scratch, twists, segment};
  Carried of, in;
  std::size_t failed = 0;
  FailureKind kind = walker.carry(path.up, 0, of, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.up[failed], at, context.query);
  kind = walker.carry(path.down, path.up.size(), in, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.down[failed], at, context.query);
  if (path.down.empty()) {
    segment.in_T_of = of.top_T_begin;
    segment.velocity = of.velocity;
    return {};
  }
  segment.in_T_of = between(in.top_T_begin, of.top_T_begin);
  const Vector3 lever = of.top_T_begin.translation - in.top_T_begin.translation;
  segment.velocity = in.top_T_begin.rotation.inverse() * (of.velocity - in.velocity.at(lever));
  return {};
}

}  // namespace armillary
