#include "graph/prediction.hpp"

#include <algorithm>
#include <vector>

#include "armillary/graph/twist_row.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/evaluate.hpp"
#include "math/right_jacobian.hpp"

namespace armillary {

namespace {

double seconds_between(Stamp from, Stamp to) { return 1e-9 * static_cast<double>(to.ns - from.ns); }

Tangent negative(const Tangent& x) { return {-x.translation, -x.rotation}; }

/// What the noise of a constant motion adds in its duration: the mean of the noise carried from every instant to the end, by
/// four points of Gauss.
Symmetric6 noise_along(const Tangent& displacement, double duration_s, const Covariance& per_s) {
  constexpr std::array<double, 4> kPlaces{0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263};
  constexpr std::array<double, 4> kWeights{0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692};
  const Symmetric6 noise = Symmetric6::of(duration_s * per_s);
  Symmetric6 total;
  for (std::size_t k = 0; k < kPlaces.size(); ++k) {
    const Tangent rest{-kPlaces[k] * displacement.translation, -kPlaces[k] * displacement.rotation};
    const Symmetric6 carried = propagated(noise, upper_adjoint(Transform::exp(rest)));
    total = sum(total, {scaled(kWeights[k], carried.tt), scaled(kWeights[k], carried.tr), scaled(kWeights[k], carried.rr)});
  }
  return total;
}

/// From `first` on: how the pose at the end moves with errors of the pose at the begin and of the motion in between.
void carry(const Upper6& by_begin, const Upper6& by_motion, std::size_t first, ErrorList& errors) {
  for (std::size_t i = first; i < errors.effects.size(); ++i) {
    ErrorEffect& effect = errors.effects[i];
    effect.on_pose = sum(product(by_begin, effect.on_pose), product(by_motion, effect.on_motion));
  }
}

/// The velocity of a series of twists at one instant, and of which rows it is mixed.
struct Knot {
  Stamp at;
  Velocity velocity{};
  std::size_t first = 0, second = 0;  // rows
  double share = 0.0;                 // of the second one
};

/// The motion between two knots.
struct Stretch {
  double duration_s;
  Tangent displacement;  // in the body form of the child
  Transform end_T_here;  // from its end to that of the whole
  Upper6 by_head;        // how the child's body form moves with that of the twist's head
};

/// Along the twists that are newer than the last sample; the last of them is held.
class AlongTwists {
 public:
  AlongTwists(const PredictionQuestion& question, const EdgeTwist& twist)
      : question_(question), twist_(twist), series_(*twist.reading.link->series), value_(pose_of(question.last)) {
    list_knots();
    for (std::size_t i = 0; i + 1 < knots_.size(); ++i) go(knots_[i], knots_[i + 1]);
    Transform end_T_here;
    for (std::size_t i = stretches_.size(); i-- > 0;) {
      stretches_[i].end_T_here = end_T_here;
      end_T_here = end_T_here * Transform::exp(negative(stretches_[i].displacement));
    }
  }

  void answer(PredictedEdge& out) const {
    out.value = value_;
    out.value.rotation = out.value.rotation.normalized();
    out.motion = child_form(knots_.back().velocity, child_T_head());
    out.twist = twist_.reading.link->relation;
  }

  /// Errors of the twists, and of the poses that carried them to the edge; those of the sample come with `by_sample`.
  void add_errors(ErrorList& errors) const {
    const std::vector<Upper6> effects = effects_of_rows();
    const Upper6 at_end = scaled(sign(), upper_adjoint(child_T_head()));
    for (std::size_t row = 0; row < rows_.size() && errors.is_known; ++row) add_row(row, effects[row], at_end, errors);
    if (twist_.is_mounted_elsewhere()) add_mount(at_end, errors);
    add_noise(errors);
  }

  /// How the pose at the end moves with the error of the sample. That of a frame seen from where it moves against is not
  /// swung by the motion.
  [[nodiscard]] Upper6 by_sample() const {
    if (twist_.is_reverse) return Upper6::identity();
    return upper_adjoint(between(value_, pose_of(question_.last)));
  }

 private:
  [[nodiscard]] Stamp begin() const { return {question_.last.stamp_ns()}; }
  [[nodiscard]] double sign() const { return twist_.is_reverse ? -1.0 : 1.0; }
  [[nodiscard]] Transform child_T_head() const {
    return twist_.is_reverse ? between(value_, twist_.own_T_head) : twist_.own_T_head;
  }
  [[nodiscard]] Velocity child_form(const Velocity& of_head, const Transform& child_T_head) const {
    const Velocity moved = (child_T_head.rotation * of_head).at(-child_T_head.translation);
    return sign() * moved;
  }

  void list_knots() {
    if (const Row row = series_.bracket(begin()).before) rows_.push_back(row);
    series_.for_each({begin().ns + 1}, question_.at, [this](const Row& row) { rows_.push_back(row); });
    if (const Row row = series_.bracket(question_.at).after) rows_.push_back(row);
    knots_.push_back(knot_at(begin()));
    for (const Row& row : rows_)
      if (row.stamp_ns() > begin().ns && row.stamp_ns() < question_.at.ns) knots_.push_back(knot_at({row.stamp_ns()}));
    knots_.push_back(knot_at(question_.at));
  }

  /// Linear between two rows, held before the first and after the last.
  [[nodiscard]] Knot knot_at(Stamp at) const {
    const auto after = std::ranges::find_if(rows_, [at](const Row& row) { return row.stamp_ns() > at.ns; });
    const auto next = static_cast<std::size_t>(after - rows_.begin());
    if (next == 0 || next == rows_.size()) {
      const std::size_t only = next == 0 ? 0 : next - 1;
      return {at, velocity_of(rows_[only]), only, only, 0.0};
    }
    const double u = fraction(rows_[next - 1], rows_[next], at.ns);
    return {at, (1.0 - u) * velocity_of(rows_[next - 1]) + u * velocity_of(rows_[next]), next - 1, next, u};
  }

  /// Of a velocity that changes linearly, to third order in the duration.
  void go(const Knot& from, const Knot& to) {
    const double h = seconds_between(from.at, to.at);
    const auto& [va, wa] = from.velocity;
    const auto& [vb, wb] = to.velocity;
    const Velocity bracket{cross(wa, vb) + cross(va, wb), cross(wa, wb)};
    const Velocity mean = 0.5 * (from.velocity + to.velocity) + (h / 12.0) * bracket;
    const Transform carrier = child_T_head();
    const Tangent displacement = child_form(mean, carrier).during(h);
    stretches_.push_back({h, displacement, {}, scaled(sign(), upper_adjoint(carrier))});
    value_ = value_ * Transform::exp(displacement);
  }

  /// How the pose at the end moves with the error of every row.
  [[nodiscard]] std::vector<Upper6> effects_of_rows() const {
    std::vector<Upper6> effects(rows_.size());
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& stretch = stretches_[i];
      const Upper6 by_motion = scaled(stretch.duration_s, product(right_jacobian(stretch.displacement), stretch.by_head));
      const Upper6 half = scaled(0.5, twist_.is_reverse ? by_motion : product(upper_adjoint(stretch.end_T_here), by_motion));
      for (const Knot* knot : {&knots_[i], &knots_[i + 1]}) {
        effects[knot->first] = sum(effects[knot->first], scaled(1.0 - knot->share, half));
        if (knot->share > 0.0) effects[knot->second] = sum(effects[knot->second], scaled(knot->share, half));
      }
    }
    return effects;
  }

  /// The part of a row in the velocity at the end.
  [[nodiscard]] double share_at_end(std::size_t row) const {
    const Knot& end = knots_.back();
    return (end.first == row ? 1.0 - end.share : 0.0) + (end.second == row ? end.share : 0.0);
  }

  void add_row(std::size_t row, const Upper6& on_pose, const Upper6& at_end, ErrorList& errors) const {
    const std::size_t first = errors.effects.size();
    const TwistReading reading{.link = twist_.reading.link, .before = rows_[row]};
    add_reading_errors(reading, {rows_[row].stamp_ns()}, errors);
    add_turn_errors(*question_.context.measured_in, reading, question_.fallback, Scratch::of_this_thread(), errors);
    const Upper6 on_motion = scaled(share_at_end(row), at_end);
    for (std::size_t i = first; i < errors.effects.size(); ++i) {
      errors.effects[i].on_pose = product(on_pose, errors.effects[i].on_motion);
      errors.effects[i].on_motion = product(on_motion, errors.effects[i].on_motion);
    }
  }

  /// The mount is the same all the way: as if the whole had been one constant motion.
  void add_mount(const Upper6& at_end, ErrorList& errors) const {
    const double duration_s = seconds_between(begin(), question_.at);
    const Tangent whole = between(pose_of(question_.last), value_).log();
    const Transform head_T_child = child_T_head().inverse();
    const Velocity in_child{(sign() / duration_s) * whole.translation, (sign() / duration_s) * whole.rotation};
    const Velocity of_head = (head_T_child.rotation * in_child).at(-head_T_child.translation);
    const std::size_t first = errors.effects.size();
    add_mount_errors(*question_.context.measured_in, twist_, of_head, at_end, begin(), question_.fallback,
                     Scratch::of_this_thread(), errors);
    carry(Upper6{}, scaled(duration_s, right_jacobian(whole)), first, errors);
  }

  void add_noise(ErrorList& errors) const {
    const Covariance& per_s = question_.context.prediction->noise_per_s;
    Symmetric6 total;
    if (twist_.is_reverse) total = Symmetric6::of(seconds_between(begin(), question_.at) * per_s);
    for (const Stretch& stretch : stretches_) {
      if (twist_.is_reverse) break;  // the motion does not swing what is wrong here
      const Symmetric6 noise = noise_along(stretch.displacement, stretch.duration_s, per_s);
      total = sum(total, propagated(noise, upper_adjoint(stretch.end_T_here)));
    }
    errors.add(question_.edge.relation, question_.at, total).on_pose = Upper6::identity();
  }

  const PredictionQuestion& question_;
  const EdgeTwist& twist_;
  const Series& series_;
  Transform value_;  // at the knot that was reached
  std::vector<Row> rows_;
  std::vector<Knot> knots_;
  std::vector<Stretch> stretches_;
};

/// The motion between the last two samples goes on.
void go_on(const PredictionQuestion& question, const Row& before, PredictedEdge& out, ErrorList* errors) {
  const auto& [edge, last, at, context, fallback] = question;
  const Stamp from{last.stamp_ns()};
  const double ahead_s = seconds_between(from, at);
  out.motion = motion_between(before, last, interpolation_of(edge, context));
  const Tangent displacement = out.motion.during(ahead_s);
  out.value = pose_of(last) * Transform::exp(displacement);
  if (errors == nullptr) return;
  const std::size_t first = errors->effects.size();
  const Bracket interval{before, last};
  Evaluation pose;
  pose.value = pose_of(last);
  add_derivative_errors({edge, from, interval, pose, context, fallback}, interval, out.motion, *errors);
  carry(upper_adjoint(Transform::exp(negative(displacement))), scaled(ahead_s, right_jacobian(displacement)), first, *errors);
  errors->add(edge.relation, at, noise_along(displacement, ahead_s, context.prediction->noise_per_s)).on_pose =
      Upper6::identity();
}

/// The error of the last sample alone, moved to the end.
void add_sample_error(const PredictionQuestion& question, const Upper6& on_pose, ErrorList& errors) {
  const std::size_t first = errors.effects.size();
  const Bracket rows{question.last, {}};
  Evaluation pose;
  pose.value = pose_of(question.last);
  add_pose_errors({question.edge, {question.last.stamp_ns()}, rows, pose, question.context, question.fallback}, errors);
  carry(on_pose, {}, first, errors);
}

}  // namespace

bool predict_edge(const PredictionQuestion& question, PredictedEdge& out, ErrorList* errors) {
  const auto& [edge, last, at, context, fallback] = question;
  if (context.prediction == nullptr) return false;
  const Row before = row_before(edge.provider.series(), {last.stamp_ns()});
  const Stamp since = before ? Stamp{before.stamp_ns()} : earlier({last.stamp_ns()}, context.prediction->horizon);
  const EdgeTwist twist = newest_twist_of(edge, since, at, context);
  const std::int64_t newest_ns = twist ? std::max(last.stamp_ns(), twist.reading.before.stamp_ns()) : last.stamp_ns();
  if (at.ns - newest_ns > context.prediction->horizon.ns || (!twist && !before)) return false;
  if (!twist) {
    go_on(question, before, out, errors);
    return true;
  }
  const AlongTwists way(question, twist);
  way.answer(out);
  if (errors == nullptr) return true;
  add_sample_error(question, way.by_sample(), *errors);
  way.add_errors(*errors);
  return true;
}

Covariance covariance_of_pose(const ErrorList& errors) {
  Symmetric6 total;
  const std::vector<ErrorEffect>& effects = errors.effects;
  const auto is_same = [](const ErrorEffect& a, const ErrorEffect& b) {
    return a.relation == b.relation && a.stamp == b.stamp && a.row == b.row && a.part == b.part;
  };
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const auto same = [&](const ErrorEffect& other) { return is_same(effects[i], other); };
    const auto here = effects.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(effects.begin(), here, same)) continue;  // counted with the first
    Upper6 on_pose = effects[i].on_pose;
    for (auto twin = std::find_if(here + 1, effects.end(), same); twin != effects.end();
         twin = std::find_if(twin + 1, effects.end(), same))
      on_pose = sum(on_pose, twin->on_pose);
    total = sum(total, propagated(effects[i].covariance, on_pose));
  }
  return total.covariance();
}

}  // namespace armillary
