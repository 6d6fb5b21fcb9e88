#include "graph/edge_errors.hpp"

#include <algorithm>
#include <cmath>

#include "armillary/graph/variable_reading.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/arc.hpp"

namespace armillary {

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

/// One error for the whole of it: a prediction, or what a mechanism says of itself.
void add_as_evaluated(const EdgePose& here, ErrorList& errors) {
  QueryContext context = here.context;
  context.want_covariance = true;
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
  const auto& [before, after] = here.rows;
  const Arc arc(pose_of(before), pose_of(after), here.context.interpolation);
  const EndEffects on_pose = arc.on_pose(fraction(before, after, here.at.ns), here.pose.value.rotation);
  if (ErrorEffect* effect = add_row(here, before, errors)) effect->on_pose = on_pose.first;
  if (ErrorEffect* effect = add_row(here, after, errors)) effect->on_pose = on_pose.second;
}

void add_sampled(const EdgePose& here, ErrorList& errors) {
  const auto& [before, after] = here.rows;
  if (before && (here.pose.held || before.stamp_ns() == here.at.ns)) return add_unmoved(here, before, errors);
  if (!before) return add_unmoved(here, after ? after : here.edge.provider.series().first_row(), errors);
  add_between(here, errors);
}

/// A straight line keeps its velocity along the parent's axes, so its body form turns with the pose.
void turn_with_pose(const EdgePose& here, const Velocity& motion, ErrorEffect& effect) {
  if (here.context.interpolation == Interpolation::screw) return;
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
  const auto& [before, after] = differentiated;
  const Arc arc(pose_of(before), pose_of(after), here.context.interpolation);
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
  const Arc arc(from.pose.value, to.pose.value, here.context.interpolation);
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

}  // namespace armillary
