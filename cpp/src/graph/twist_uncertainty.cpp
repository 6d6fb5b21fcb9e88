#include "graph/twist_uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "armillary/graph/variable_reading.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/evaluate.hpp"
#include "math/arc.hpp"

namespace armillary {

// -- The errors of one edge

namespace {

/// The error of one sample; null, and the list marked, where nobody knows how large it is.
ErrorEffect* add_row(const EdgePose& here, const Row& row, ErrorList& errors) {
  const bool is_own = row.side != nullptr && !std::isnan(row.side[0]);
  if (!is_own && !here.fallback) {
    errors.is_known = false;
    return nullptr;
  }
  const std::span<const double, Covariance::kPacked> packed(row.side, Covariance::kPacked);
  return &errors.add(here.edge.relation, {row.stamp_ns()}, is_own ? Symmetric6::unpack(packed) : Symmetric6::of(*here.fallback));
}

void add_unmoved(const EdgePose& here, const Row& row, ErrorList& errors) {
  if (ErrorEffect* effect = add_row(here, row, errors)) effect->on_pose = Upper6::identity();
}

/// One error for the whole of it: a prediction, or what a mechanism states of itself.
void add_as_evaluated(const EdgePose& here, ErrorList& errors) {
  QueryContext context = here.context;
  context.want_covariance = true;
  context.held = nullptr;
  Evaluation again;
  const Bracket* rows = here.edge.provider.kind == ProviderKind::sampled ? &here.rows : nullptr;
  const FailureKind kind = evaluate_edge(here.edge, rows, here.at, context, here.fallback, again);
  if (kind != FailureKind::none || again.certainty == Certainty::unknown) {
    errors.is_known = false;
  } else if (again.certainty == Certainty::known) {
    errors.add(here.edge.relation, here.at, Symmetric6::of(again.covariance)).on_pose = Upper6::identity();
  }
}

/// The errors of one row of joints as independent ones of size one: its covariance is F F^T, and this is F.
class RowFactor {
 public:
  explicit RowFactor(const RowError& first) : n_(first.channel->covered(first.channel->width)), entries_(n_ * n_) {
    for (std::uint32_t i = 0; i < n_; ++i)
      for (std::uint32_t j = 0; j <= i; ++j) factor(first, i, j);
  }

  [[nodiscard]] double at(std::uint32_t i, std::uint32_t j) const { return entries_[i * n_ + j]; }

 private:
  /// Cholesky's method; what has no error of its own, and what nobody knows, is left out.
  void factor(const RowError& row, std::uint32_t i, std::uint32_t j) {
    double left = row.channel->covariance(row.row, i, j);
    for (std::uint32_t k = 0; k < j; ++k) left -= at(i, k) * at(j, k);
    const double pivot = i == j ? std::sqrt(std::max(left, 0.0)) : at(j, j);
    const double value = i == j ? pivot : pivot > 0.0 ? left / pivot : 0.0;
    entries_[i * n_ + j] = std::isnan(value) ? 0.0 : value;
  }

  std::uint32_t n_;
  std::vector<double> entries_;
};

constexpr std::uint32_t kTogether = 3;  // independent errors in one effect: they stand where rotations do

ErrorEffect& effect_of(const RowError& error, std::size_t part, std::size_t first, ErrorList& errors) {
  for (std::size_t i = first; i < errors.effects.size(); ++i)
    if (errors.effects[i].row == error.row.words && errors.effects[i].part == part) return errors.effects[i];
  ErrorEffect& effect = errors.add(kNone, {error.row.stamp_ns()}, {.rr = kIdentity3});
  effect.row = error.row.words;
  effect.part = part;
  return effect;
}

void add_column(const std::array<double, 6>& column, double scale, std::size_t place, Upper6& out) {
  for (std::size_t k = 0; k < 3; ++k) {
    out.tr[3 * k + place] += scale * column[k];
    out.rr[3 * k + place] += scale * column[3 + k];
  }
}

void add_rows(std::span<const RowError> rows, ErrorList& errors) {
  const std::size_t first = errors.effects.size();
  std::optional<RowFactor> factor;
  const std::int64_t* factored = nullptr;
  for (const RowError& error : rows) {
    if (error.row.words != factored) factor.emplace(error);
    factored = error.row.words;
    for (std::uint32_t j = 0; j <= error.index; ++j) {
      const double scale = factor->at(error.index, j);
      if (scale == 0.0) continue;
      ErrorEffect& effect = effect_of(error, j / kTogether, first, errors);
      add_column(error.on_pose, scale, j % kTogether, effect.on_pose);
      add_column(error.on_motion, scale, j % kTogether, effect.on_motion);
    }
  }
}

/// False where nobody knows how large one of them is.
bool add_rows_of(const EdgePose& here, bool with_motion, ErrorList& errors) {
  std::vector<RowError> rows;
  const bool is_known = here.at >= here.edge.opens && !here.pose.predicted &&
                        here.edge.provider.driven().add_row_errors(here.at, here.context, with_motion, rows);
  if (is_known) add_rows(rows, errors);
  return is_known;
}

void add_fixed(const EdgePose& here, ErrorList& errors) {
  const FixedPose& fixed = here.edge.provider.fixed();
  if (fixed.certainty == Certainty::unknown) errors.is_known = false;
  if (fixed.certainty != Certainty::known) return;
  errors.add(here.edge.relation, Stamp::always(), Symmetric6::of(fixed.covariance)).on_pose = Upper6::identity();
}

void add_between(const EdgePose& here, ErrorList& errors) {
  const auto& [before, after, is_cut] = here.rows;
  const Arc arc(pose_of(before), pose_of(after), interpolation_of(here.edge, here.context));
  const EndEffects on_pose = arc.on_pose(fraction(before, after, here.at.ns), here.pose.value.rotation);
  if (ErrorEffect* effect = add_row(here, before, errors)) effect->on_pose = on_pose.first;
  if (ErrorEffect* effect = add_row(here, after, errors)) effect->on_pose = on_pose.second;
}

void add_sampled(const EdgePose& here, ErrorList& errors) {
  const auto& [before, after, is_cut] = here.rows;
  if (before && (here.pose.held || before.stamp_ns() == here.at.ns)) return add_unmoved(here, before, errors);
  if (!before) return add_unmoved(here, after ? after : here.edge.provider.series().first_row(), errors);
  add_between(here, errors);
}

/// A straight line keeps its velocity along the parent's axes, so its body form turns with the pose.
void turn_with_pose(const EdgePose& here, const Velocity& motion, ErrorEffect& effect) {
  if (interpolation_of(here.edge, here.context) == Interpolation::screw) return;
  effect.on_motion.tr = sum(effect.on_motion.tr, crossed(motion.linear, effect.on_pose.rr));
}

void add_end(const EdgePose& end, const Upper6& on_motion, ErrorList& errors) {
  const std::size_t first = errors.effects.size();
  add_pose_errors(end, errors);
  for (std::size_t i = first; i < errors.effects.size(); ++i) {
    ErrorEffect& effect = errors.effects[i];
    effect.on_motion = product(on_motion, effect.on_pose);
    effect.on_pose = {};
  }
}

}  // namespace

void add_pose_errors(const EdgePose& here, ErrorList& errors) {
  if (!errors.is_known) return;
  if (here.edge.provider.kind == ProviderKind::fixed) return add_fixed(here, errors);
  if (here.edge.provider.kind == ProviderKind::driven && add_rows_of(here, false, errors)) return;
  if (here.edge.provider.kind != ProviderKind::sampled || here.pose.predicted) return add_as_evaluated(here, errors);
  add_sampled(here, errors);
}

void add_joint_errors(const EdgePose& here, ErrorList& errors) {
  if (here.pose.held || !add_rows_of(here, true, errors)) errors.is_known = false;
}

void add_derivative_errors(const EdgePose& here, const Bracket& differentiated, const Velocity& motion, ErrorList& errors) {
  const auto& [before, after, is_cut] = differentiated;
  const Arc arc(pose_of(before), pose_of(after), interpolation_of(here.edge, here.context));
  const double per_s = 1e9 / static_cast<double>(after.stamp_ns() - before.stamp_ns());
  const EndEffects on_pose = arc.on_pose(fraction(before, after, here.at.ns), here.pose.value.rotation);
  const EndEffects on_motion = arc.on_motion(per_s, here.pose.value.rotation);
  for (const bool is_first : {true, false}) {
    ErrorEffect* effect = add_row(here, is_first ? before : after, errors);
    if (effect == nullptr) return;
    effect->on_pose = is_first ? on_pose.first : on_pose.second;
    effect->on_motion = is_first ? on_motion.first : on_motion.second;
    turn_with_pose(here, motion, *effect);
  }
}

void add_difference_errors(const EdgePose& here, const EdgePose& from, const EdgePose& to, const Velocity& motion,
                           ErrorList& errors) {
  const std::size_t first = errors.effects.size();
  add_pose_errors(here, errors);
  for (std::size_t i = first; i < errors.effects.size(); ++i) turn_with_pose(here, motion, errors.effects[i]);
  const Arc arc(from.pose.value, to.pose.value, interpolation_of(here.edge, here.context));
  const double per_s = 1e9 / static_cast<double>(to.at.ns - from.at.ns);
  const EndEffects on_motion = arc.on_motion(per_s, here.pose.value.rotation);
  add_end(from, on_motion.first, errors);
  add_end(to, on_motion.second, errors);
}

void add_measured_errors(const EdgePose& here, const EdgeTwist& twist, const Velocity& motion, ErrorList& errors) {
  const std::size_t first = errors.effects.size();
  add_pose_errors(here, errors);
  for (std::size_t i = first; twist.is_reverse && i < errors.effects.size(); ++i)  // seen from the other side of the pose
    errors.effects[i].on_motion = product(upper_bracket(motion.linear, motion.angular), errors.effects[i].on_pose);
  add_reading_errors(twist.reading, here.at, errors);
  if (errors.is_known) errors.effects.back().on_motion = twist.by_reading(here.pose.value);
}

void add_reading_errors(const TwistReading& reading, Stamp at, ErrorList& errors) {
  if (const std::optional<Covariance> covariance = reading.covariance()) {
    errors.add(reading.link->relation, at, Symmetric6::of(*covariance)).on_motion = Upper6::identity();
  } else {
    errors.is_known = false;
  }
}

// -- A chain of frames

void TwistUncertainty::clear() {
  errors.clear();
  steps_.clear();
  marks_.reset();
  names_.clear();
  parts_.clear();
}

void TwistUncertainty::append(const Motion& motion, bool upwards, std::size_t first_further) {
  const bool has_further = first_further < errors.effects.size();
  if (has_further && upwards) append_motion({}, upwards, first_further);
  steps_.push_back({upwards, motion.pose.value, motion.body_form(), motion.first_error, motion.after_error});
  if (has_further && !upwards) append_motion({}, upwards, first_further);
}

void TwistUncertainty::append_pose(const Transform& parent_T_child, bool upwards, std::size_t first_error) {
  steps_.push_back({upwards, parent_T_child, {}, first_error, errors.effects.size()});
}

void TwistUncertainty::append_motion(const Velocity& body_form, bool upwards, std::size_t first_error) {
  steps_.push_back({upwards, {}, body_form, first_error, errors.effects.size()});
}

/// From the end to the begin: what is below every child; then back, with what is above.
void TwistUncertainty::locate() {
  spots_.resize(steps_.size());
  Transform here_T_end;
  Velocity below;  // of the end relative to here, at the end, along the axes here
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const auto& [upwards, parent_T_child, body_form, first_error, after_error] = steps_[i];
    Spot& spot = spots_[i];
    if (upwards) {  // the error lies between the child, against which the parent moves, and the parent
      here_T_end = between(parent_T_child, here_T_end);
      spot.lever = here_T_end.translation;
      spot.below = parent_T_child.rotation.inverse() * below;
      below = spot.below - body_form.at(spot.lever);
    } else {
      spot.lever = here_T_end.translation;
      spot.below = below + body_form.at(spot.lever);
      below = parent_T_child.rotation * spot.below;
      here_T_end = parent_T_child * here_T_end;
    }
  }
  Rotation begin_R_here;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Rotation& turn = steps_[i].parent_T_child.rotation;
    Spot& spot = spots_[i];
    spot.begin_R_child = steps_[i].upwards ? begin_R_here : begin_R_here * turn;
    spot.angular_above = spot.begin_R_child.inverse() * below.angular - spot.below.angular;
    begin_R_here = steps_[i].upwards ? begin_R_here * turn.inverse() : spot.begin_R_child;
  }
}

/// An error of the pose turns what is below and swings another lever round what is above; one of the motion is seen at
/// the end of the lever.
void TwistUncertainty::spread(const Step& step, const Spot& spot) {
  const Matrix3 begin_R_child = scaled(step.upwards ? -1.0 : 1.0, spot.begin_R_child.matrix());
  const Matrix3 swing = scaled(-1.0, sum(cross_matrix(spot.below.linear), crossed(spot.angular_above, cross_matrix(spot.lever))));
  for (std::size_t i = step.first_error; i < step.after_error; ++i) {
    const auto& [tt, tr, rr] = errors.effects[i].on_pose;
    Upper6 here = errors.effects[i].on_motion;
    here.tr = sum(here.tr, crossed(-spot.lever, here.rr));
    if (errors.effects[i].on_pose != Upper6{}) {
      here.tt = sum(here.tt, crossed(spot.angular_above, tt));
      here.tr = sum(here.tr, sum(crossed(spot.angular_above, tr), product(swing, rr)));
      here.rr = sum(here.rr, crossed(-spot.below.angular, rr));
    }
    add_part(i, {product(begin_R_child, here.tt), product(begin_R_child, here.tr), product(begin_R_child, here.rr)});
  }
}

void TwistUncertainty::add_part(std::size_t error, const Upper6& effect) {
  const ErrorEffect& effect_of = errors.effects[error];
  const Name name{effect_of.relation, effect_of.stamp, effect_of.row, effect_of.part};
  const std::size_t same = find(name);
  if (same < names_.size()) {
    parts_[same].effect = sum(parts_[same].effect, effect);
  } else {
    names_.push_back(name);
    parts_.push_back({error, effect});
  }
}

/// Index of a name, or the number of names where it is new. Most are new, and an unset mark shows it.
std::size_t TwistUncertainty::find(const Name& name) {
  const std::uint64_t mixed = (name.relation ^ static_cast<std::uint64_t>(name.stamp.ns) * 31) * 0x9e3779b97f4a7c15;
  const std::size_t mark = mixed >> 54;
  if (!marks_[mark]) {
    marks_[mark] = true;
    return names_.size();
  }
  return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

void TwistUncertainty::end_chain() {
  locate();
  for (std::size_t i = 0; i < steps_.size(); ++i) spread(steps_[i], spots_[i]);
}

Covariance TwistUncertainty::total() const {
  Symmetric6 total;
  for (const Part& part : parts_) total = sum(total, propagated(errors.effects[part.error].covariance, part.effect));
  return total.covariance();
}

// -- Paths as chains

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

/// A path through poses at one instant, whose errors move a motion.
struct Carrier {
  const Topology& topology;
  const std::optional<Covariance>& fallback;
  PathFinder& finder;
  Path& path;  // working memory
  ErrorList& errors;

  /// `by_pose(from_T_child)` is how an error on the right of the child moves the motion. What is missing is unknown.
  template <typename ByPose>
  void add_errors(FrameId to, FrameId from, Stamp at, ByPose by_pose) const {
    const QueryContext context{.want_covariance = false};
    PoseReader reader{at, context, fallback, errors};
    Transform from_T_here;
    Failure failure = finder.find(topology, to, from, at, context, path);
    if (failure) return static_cast<void>(errors.is_known = false);
    failure = walk(path, [&](const PathEdge& edge, bool upwards) -> Failure {
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
    std::vector<ErrorEffect>& effects = errors.effects;
    for (std::size_t i = first; i < effects.size(); ++i) {
      effects[i].on_motion = product(by_pose, effects[i].on_pose);
      effects[i].on_pose = {};
    }
  }
};

}  // namespace

void add_mount_errors(const Topology& topology, const EdgeTwist& twist, const Velocity& of_head, const Upper6& by_reading,
                      Stamp at, const std::optional<Covariance>& fallback, Scratch& scratch, ErrorList& errors) {
  if (!twist.is_mounted_elsewhere() || !errors.is_known) return;
  const Upper6 by_head = scaled(-1.0, product(by_reading, upper_bracket(of_head.linear, of_head.angular)));
  const Carrier carrier{topology, fallback, scratch.finder, scratch.turning, errors};
  carrier.add_errors(twist.reading.link->head, twist.own, at, [&](const Transform& own_T_child) {
    return product(by_head, upper_adjoint(between(twist.own_T_head, own_T_child)));
  });
}

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
      add_turn_errors(topology, motion.measured->reading, fallback, scratch, scratch.uncertainty.errors);
      for (std::size_t i = first; i < effects.size(); ++i) effects[i].on_motion = product(by_reading, effects[i].on_motion);
      add_mount_errors(topology, *motion.measured, motion.measured->reading.body_form(), by_reading, at, fallback, scratch,
                       scratch.uncertainty.errors);
    }
    scratch.uncertainty.append(motion, upwards, first);
  };
  for (std::size_t i = 0; i < path.down.size(); ++i) append(scratch.motions[path.up.size() + i], true);
  for (std::size_t i = path.up.size(); i-- > 0;) append(scratch.motions[i], false);
}

/// As it was turned when it was given: the rotations alone, at its instant.
void add_turn_errors(const Topology& topology, const TwistReading& reading, const std::optional<Covariance>& fallback,
                     Scratch& scratch, ErrorList& errors) {
  const Carrier carrier{topology, fallback, scratch.finder, scratch.turning, errors};
  for (const auto& [axes, at, share] : reading.turns()) {
    if (axes == kNone || !errors.is_known) continue;
    const FrameId head = reading.link->head;
    carrier.add_errors(axes, head, at,
                       [&, by_linear = -share.linear, by_angular = -share.angular](const Transform& head_T_child) {
                         const Matrix3 head_R_child = head_T_child.rotation.matrix();
                         return Upper6{{}, crossed(by_linear, head_R_child), crossed(by_angular, head_R_child)};
                       });
  }
}

}  // namespace armillary
