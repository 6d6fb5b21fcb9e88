#include "graph/twist.hpp"

#include <algorithm>
#include <tuple>

#include "armillary/series/pose_row.hpp"
#include "graph/evaluate.hpp"
#include "graph/prediction.hpp"
#include "graph/scratch.hpp"
#include "graph/twist_uncertainty.hpp"

namespace armillary {

// -- Measured twists

Velocity TwistReading::body_form() const {
  if (!after) return velocity_of(before);
  return (1.0 - u) * velocity_of(before) + u * velocity_of(after);
}

std::optional<Covariance> TwistReading::covariance() const {
  const std::optional<Covariance> first = covariance_of(before);
  if (!after || !first) return first;
  const std::optional<Covariance> second = covariance_of(after);
  return second ? std::optional((1.0 - u) * *first + u * *second) : std::nullopt;
}

std::array<TurnedTwist, 2> TwistReading::turns() const {
  std::array<TurnedTwist, 2> turns;
  turns[0] = {axes_of(before), {before.stamp_ns()}, (after ? 1.0 - u : 1.0) * velocity_of(before)};
  if (after) turns[1] = {axes_of(after), {after.stamp_ns()}, u * velocity_of(after)};
  return turns;
}

TwistReading reading_at(const TwistLink& link, Stamp at) {
  auto [before, after, is_cut] = link.series->bracket(at);
  if (!before) return {};
  const bool is_exact = before.stamp_ns() == at.ns;
  if (!is_exact && !after) return {};
  if (is_exact) return {.link = &link, .before = before};
  return {.link = &link, .before = before, .after = after, .u = fraction(before, after, at.ns)};
}

namespace {

/// The product of fixed poses, last edge leftmost; none where one of them is not fixed then.
std::optional<Transform> fixed_product(const std::vector<PathEdge>& edges, Stamp at) {
  Transform product;
  for (const PathEdge& edge : edges) {
    if (edge.provider.kind != ProviderKind::fixed || at < edge.opens) return std::nullopt;
    product = edge.provider.fixed().value * product;
  }
  return product;
}

/// Finds where the head is on its body, seen from the edge. False where fixed poses do not lead there.
bool find_mount(const Topology& topology, Stamp at, EdgeTwist& twist) {
  if (!twist.is_mounted_elsewhere()) return true;
  Scratch& scratch = Scratch::of_this_thread();
  if (scratch.finder.find(topology, twist.reading.link->head, twist.own, at, {}, scratch.mount)) return false;
  const std::optional<Transform> top_T_head = fixed_product(scratch.mount.up, at);
  const std::optional<Transform> top_T_own = fixed_product(scratch.mount.down, at);
  if (!top_T_head || !top_T_own) return false;
  twist.own_T_head = between(*top_T_own, *top_T_head);
  return true;
}

FrameId parent_of(const Topology& topology, const PathEdge& edge) {
  const FrameNode& node = topology.node(edge.child);
  if (node.tracks == nullptr) return node.parent;
  for (const Track& track : node.tracks->tracks)
    for (const Run& run : track.runs())
      if (run.relation == edge.relation) return run.parent;
  return kNone;
}

EdgeTwist mounted(const PathEdge& edge, const TwistReading& reading, Stamp at, const Topology& topology) {
  EdgeTwist twist{.reading = reading, .is_reverse = reading.link->body != topology.rigid_body(edge.child)};
  twist.own = twist.is_reverse ? parent_of(topology, edge) : edge.child;
  return twist.own != kNone && find_mount(topology, at, twist) ? twist : EdgeTwist{};
}

}  // namespace

EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context) {
  EdgeTwist found;
  if (edge.links == nullptr) return found;
  const TwistLink* before = nullptr;
  for (const TwistLink* link = edge.links; link->rivals(*edge.links); ++link) {
    const auto preference = [&](const TwistLink& one) { return one.preference_at(at, context.is_chosen(one.relation)); };
    if (before != nullptr && preference(*link) < preference(*before)) continue;
    const TwistReading reading = reading_at(*link, at);
    const bool has_reading = reading.link != nullptr;
    const EdgeTwist twist = has_reading ? mounted(edge, reading, at, *context.measured_in) : EdgeTwist{};
    if (has_reading ? !twist : !link->is_open_at(at, context.measured_in->rival_timeout())) continue;
    const bool is_equal = before != nullptr && preference(*link) == preference(*before);
    if (!is_equal) found = twist;
    if (!is_equal) before = link;
    found.is_contested = is_equal;
  }
  if (found.is_contested) found.reading.link = nullptr;
  return found;
}

namespace {

/// Which of two twists of the same motion goes on: more preferred, then newer; where a policy weighs errors, surer first.
bool goes_before(const EdgeTwist& one, const EdgeTwist& other, const QueryContext& context) {
  const Stamp at{one.reading.before.stamp_ns()}, other_at{other.reading.before.stamp_ns()};
  const int preference = one.reading.link->preference_at(at), others = other.reading.link->preference_at(other_at);
  if (preference != others) return preference > others;
  const bool weighs_errors = context.policy == Policy::most_certain || context.policy == Policy::fuse;
  const std::optional<Covariance> mine = one.reading.covariance(), theirs = other.reading.covariance();
  if (weighs_errors && (mine || theirs)) return mine && (!theirs || mine->trace() < theirs->trace());
  return at > other_at;
}

}  // namespace

EdgeTwist newest_twist_of(const PathEdge& edge, Stamp since, Stamp at, const QueryContext& context) {
  EdgeTwist found;
  if (edge.links == nullptr) return found;
  for (const TwistLink* link = edge.links; link->rivals(*edge.links); ++link) {
    const Row newest = link->series->bracket(at).before;
    if (!newest || newest.stamp_ns() <= since.ns) continue;
    const EdgeTwist twist = mounted(edge, {.link = link, .before = newest}, {newest.stamp_ns()}, *context.measured_in);
    if (twist && (!found || goes_before(twist, found, context))) found = twist;
  }
  return found;
}

Velocity EdgeTwist::body_form(const Transform& parent_T_child) const {
  const Velocity of_head = reading.body_form();
  if (!is_reverse && !is_mounted_elsewhere()) return of_head;
  const Transform carried = child_T_head(parent_T_child);
  const Velocity moved = (carried.rotation * of_head).at(-carried.translation);
  return is_reverse ? -moved : moved;
}

Upper6 EdgeTwist::by_reading(const Transform& parent_T_child) const {
  return scaled(is_reverse ? -1.0 : 1.0, upper_adjoint(child_T_head(parent_T_child)));
}

// -- One edge

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
    PredictedEdge predicted;
    ErrorList* const errors = wants_errors() ? context.errors : nullptr;
    (void)predict_edge({edge, rows.poses.before, at, context.query, context.fallback}, predicted, errors);
    out.set_body_form(predicted.motion);
    out.method = predicted.twist == kNone ? TwistMethod::differentiated : TwistMethod::measured;
    out.twist = predicted.twist;
  }

  /// Between two rows of the series.
  [[nodiscard]] FailureKind differentiate_rows() const {
    Bracket interval = rows.poses;
    if (!interval.after) interval = {row_before(edge.provider.series(), at), rows.poses.before};
    if (!interval.before || !interval.after) return FailureKind::single_sample;
    const auto& [before, after, is_cut] = interval;
    differentiate(pose_of(before), pose_of(after), per_second(before, after), interpolation_of(edge, context.query), out);
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
    inside.held = nullptr;
    Evaluation a, b;
    const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
    Bracket at_from, at_to;
    if (is_sampled) std::tie(at_from, at_to) = edge.provider.series().brackets(from, to);
    FailureKind kind = evaluate_edge(edge, is_sampled ? &at_from : nullptr, from, inside, context.fallback, a);
    if (kind != FailureKind::none) return kind;
    kind = evaluate_edge(edge, is_sampled ? &at_to : nullptr, to, inside, context.fallback, b);
    if (kind != FailureKind::none) return kind;
    differentiate(a.value, b.value, 1e9 / static_cast<double>(to.ns - from.ns), interpolation_of(edge, inside), out);
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

  /// A correction does not move: it is another one from the next sample on.
  [[nodiscard]] FailureKind stay() const {
    if (wants_errors()) add_pose_errors(here(), *context.errors);
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
    if (edge.provider.is_step()) return stay();
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

Velocity motion_between(const Row& before, const Row& last, Interpolation kind) {
  Motion motion;
  motion.pose.value = pose_of(last);
  differentiate(pose_of(before), motion.pose.value, per_second(before, last), kind, motion);
  return motion.body_form();
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

// -- A path

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
      if (is_plain(edge, rows) && climb_plain(edge, rows, out)) continue;
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
  [[nodiscard]] bool is_plain(const PathEdge& edge, const EdgeRows& rows) const {
    const auto& [before, after, is_cut] = rows.poses;
    return before && after && before.stamp_ns() != at.ns && before.side == nullptr && !context.fallback &&
           is_straight(edge, context.query);
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
  const auto failure_of = [&](const PathEdge& edge) {
    return kind == FailureKind::not_received ? unreceived(path, edge, at, context.query)
                                             : edge_failure(kind, edge, at, context.query);
  };
  if (kind != FailureKind::none) return failure_of(path.up[failed]);
  kind = walker.carry(path.down, path.up.size(), in, failed);
  if (kind != FailureKind::none) return failure_of(path.down[failed]);
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
