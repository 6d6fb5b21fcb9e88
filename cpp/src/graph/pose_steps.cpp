#include "graph/pose_steps.hpp"

#include "graph/edge_errors.hpp"

namespace armillary {

namespace {

/// Calls `visit(edge, upwards)` from `in_frame` to `of`, until a failure.
template <typename Visit>
Failure walk(const Path& path, Visit visit) {
  for (const PathEdge& edge : path.down)
    if (Failure failure = visit(edge, true)) return failure;
  for (auto edge = path.up.rbegin(); edge != path.up.rend(); ++edge)
    if (Failure failure = visit(*edge, false)) return failure;
  return {};
}

/// The pose of an edge, its errors added to the list.
struct PoseReader {
  Stamp at;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;
  ErrorList& errors;
  Evaluation pose{};

  Failure read(const PathEdge& edge) {
    const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
    const Bracket rows = is_sampled ? edge.provider.series().bracket(at) : Bracket{};
    const FailureKind kind = evaluate_edge(edge, is_sampled ? &rows : nullptr, at, context, fallback, pose);
    if (kind != FailureKind::none) return edge_failure(kind, edge, at, context);
    add_pose_errors({edge, at, rows, pose, context, fallback}, errors);
    return {};
  }
};

/// A way through poses at one instant, whose errors move a motion.
struct Carrier {
  const Topology& topology;
  const std::optional<Covariance>& fallback;
  Scratch& scratch;

  /// `by_pose(from_T_child)` says how an error on the right of the child moves the motion. What is missing is unknown.
  template <typename ByPose>
  void add_errors(FrameId to, FrameId from, Stamp at, ByPose by_pose) const {
    ErrorList& errors = scratch.uncertainty.errors;
    const QueryContext context{.want_covariance = false};
    PoseReader reader{at, context, fallback, errors};
    Transform from_T_here;
    Failure failure = scratch.finder.find(topology, to, from, at, context, scratch.second);
    if (failure) return static_cast<void>(errors.is_known = false);
    failure = walk(scratch.second, [&](const PathEdge& edge, bool upwards) -> Failure {
      const std::size_t first = errors.effects.size();
      if (Failure missing = reader.read(edge)) return missing;
      const Transform from_T_child = upwards ? from_T_here : from_T_here * reader.pose.value;
      move_motion(scaled(upwards ? -1.0 : 1.0, by_pose(from_T_child)), first);
      from_T_here = upwards ? from_T_here * reader.pose.value.inverse() : from_T_child;
      return {};
    });
    if (failure) errors.is_known = false;
  }

  /// From `first` on: the errors of poses are errors of a motion.
  void move_motion(const Upper6& by_pose, std::size_t first) const {
    std::vector<ErrorEffect>& effects = scratch.uncertainty.errors.effects;
    for (std::size_t i = first; i < effects.size(); ++i) {
      effects[i].on_motion = product(by_pose, effects[i].on_pose);
      effects[i].on_pose = {};
    }
  }
};

/// Where it was measured at another frame of the body: those of the poses between, as they move what is seen at the edge.
void add_mount_errors(const Carrier& carrier, const EdgeTwist& twist, const Upper6& by_reading, Stamp at) {
  if (!twist.is_mounted_elsewhere() || !carrier.scratch.uncertainty.errors.is_known) return;
  const Velocity of_head = twist.reading.body_form();
  const Upper6 by_head = scaled(-1.0, product(by_reading, upper_bracket(of_head.linear, of_head.angular)));
  carrier.add_errors(twist.reading.link->head, twist.own, at, [&](const Transform& own_T_child) {
    return product(by_head, upper_adjoint(between(twist.own_T_head, own_T_child)));
  });
}

}  // namespace

Failure append_poses(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, const QueryContext& context,
                     const std::optional<Covariance>& fallback, Scratch& scratch, Segment& segment) {
  if (Failure failure = scratch.finder.find(topology, of, in_frame, at, context, scratch.second)) return failure;
  TwistUncertainty& uncertainty = scratch.uncertainty;
  PoseReader reader{at, context, fallback, uncertainty.errors};
  return walk(scratch.second, [&](const PathEdge& edge, bool upwards) -> Failure {
    const std::size_t first = uncertainty.errors.effects.size();
    if (Failure failure = reader.read(edge)) return failure;
    uncertainty.append_pose(reader.pose.value, upwards, first);
    segment.value = segment.value * (upwards ? reader.pose.value.inverse() : reader.pose.value);
    segment.held = segment.held || reader.pose.held;
    segment.predicted = segment.predicted || reader.pose.predicted;
    return {};
  });
}

void append_motions(const Topology& topology, Stamp at, const std::optional<Covariance>& fallback, Scratch& scratch) {
  const Path& path = scratch.path;
  std::vector<ErrorEffect>& effects = scratch.uncertainty.errors.effects;
  const auto append = [&](const Motion& motion, bool upwards) {
    const std::size_t first = effects.size();
    if (motion.measured != nullptr) {
      const Upper6 by_reading = motion.measured->by_reading(motion.pose.value);
      add_turn_errors(topology, motion.measured->reading, fallback, scratch);
      for (std::size_t i = first; i < effects.size(); ++i) effects[i].on_motion = product(by_reading, effects[i].on_motion);
      add_mount_errors({topology, fallback, scratch}, *motion.measured, by_reading, at);
    }
    scratch.uncertainty.append(motion, upwards, first);
  };
  for (std::size_t i = 0; i < path.down.size(); ++i) append(scratch.motions[path.up.size() + i], true);
  for (std::size_t i = path.up.size(); i-- > 0;) append(scratch.motions[i], false);
}

/// As it was turned when it was said: the rotations alone, at its instant.
void add_turn_errors(const Topology& topology, const TwistReading& reading, const std::optional<Covariance>& fallback,
                     Scratch& scratch) {
  const Carrier carrier{topology, fallback, scratch};
  for (const auto& [axes, at, share] : reading.turns()) {
    if (axes == kNone || !scratch.uncertainty.errors.is_known) continue;
    const FrameId head = reading.link->head;
    carrier.add_errors(axes, head, at,
                       [&, by_linear = -share.linear, by_angular = -share.angular](const Transform& head_T_child) {
                         const Matrix3 head_R_child = head_T_child.rotation.matrix();
                         return Upper6{{}, crossed(by_linear, head_R_child), crossed(by_angular, head_R_child)};
                       });
  }
}

}  // namespace armillary
