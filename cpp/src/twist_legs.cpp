#include "twist_legs.hpp"

#include "armillary/pose_row.hpp"

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

struct Walker {
  Stamp at;
  const MotionContext& context;
  std::vector<Motion>& motions;
  RelationList& twists;
  TwistLeg& leg;
  Motion motion{};

  FailureKind carry(const std::vector<PathEdge>& edges, const Series::Probe* probes, Carried& out, std::size_t& failed) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const PathEdge& edge = edges[i];
      const bool sampled = edge.provider.kind == ProviderKind::sampled;
      const Bracket bracket = sampled ? Series::settle(probes[i], at) : Bracket{};
      if (is_plain(edge, bracket)) {
        climb_plain(bracket, out);
        continue;
      }
      const FailureKind kind = evaluate_motion(edge, sampled ? &bracket : nullptr, at, context, motion);
      if (kind != FailureKind::none) {
        failed = i;
        return kind;
      }
      out.climb(motion.pose.value, motion.linear, motion.angular);
      take(edge);
    }
    return FailureKind::none;
  }

  /// The usual case, worth a short cut: between two samples, no covariance, straight interpolation, nothing measured.
  [[nodiscard]] bool is_plain(const PathEdge& edge, const Bracket& bracket) const {
    return bracket.before && bracket.after && bracket.before.side == nullptr && !context.fallback && edge.links == nullptr &&
           context.window.ns == 0 && context.query.interpolation == Interpolation::linear && bracket.before.stamp_ns() != at.ns;
  }

  void climb_plain(const Bracket& bracket, Carried& out) {
    const Transform a = pose_of(bracket.before), b = pose_of(bracket.after);
    const double per_ns = 1.0 / static_cast<double>(bracket.after.stamp_ns() - bracket.before.stamp_ns());
    const double per_s = 1e9 * per_ns, u = static_cast<double>(at.ns - bracket.before.stamp_ns()) * per_ns;
    out.climb(interpolate_linear(a, b, u), per_s * (b.translation - a.translation), per_s * short_log(a.rotation, b.rotation));
    leg.methods.differentiated = true;
    leg.timeless = false;
    leg.certainty = Certainty::unknown;
  }

  void take(const PathEdge& edge) {
    leg.held = leg.held || motion.pose.held;
    leg.predicted = leg.predicted || motion.pose.predicted;
    leg.timeless = leg.timeless && edge.provider.kind == ProviderKind::fixed;
    leg.methods.add(motion.method);
    if (motion.twist != kNone) twists.push_back(motion.twist);
    const bool is_unknown = motion.certainty == Certainty::unknown || motion.pose.certainty == Certainty::unknown;
    if (is_unknown) leg.certainty = Certainty::unknown;
    if (leg.certainty == Certainty::unknown || !context.query.want_covariance) return;
    const bool is_exact = motion.certainty == Certainty::exact && motion.pose.certainty == Certainty::exact;
    if (!is_exact) leg.certainty = Certainty::known;
    motions.push_back(motion);
  }
};

}  // namespace

Failure evaluate_twist_leg(const Path& path, Stamp at, const MotionContext& context, Scratch& scratch,
                           std::vector<Motion>& motions, RelationList& twists, TwistLeg& leg) {
  scratch.probes.clear();
  motions.clear();
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges) {
      Series::Probe& probe = scratch.probes.emplace_back();
      if (edge.provider.kind == ProviderKind::sampled) edge.provider.series().probe(at, probe);
    }
  Walker walker{at, context, motions, twists, leg};
  Carried of, in;
  std::size_t failed = 0;
  FailureKind kind = walker.carry(path.up, scratch.probes.data(), of, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.up[failed], at, context.query);
  kind = walker.carry(path.down, scratch.probes.data() + path.up.size(), in, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.down[failed], at, context.query);
  if (path.down.empty()) {
    leg.in_T_of = of.top_T_begin;
    leg.velocity = of.velocity;
    return {};
  }
  leg.in_T_of = between(in.top_T_begin, of.top_T_begin);
  const Vector3 lever = of.top_T_begin.translation - in.top_T_begin.translation;
  leg.velocity = in.top_T_begin.rotation.inverse() * (of.velocity - in.velocity.at(lever));
  return {};
}

}  // namespace armillary
