#include "graph/bridge.hpp"

#include <algorithm>
#include <vector>

#include "armillary/graph/twist_row.hpp"
#include "armillary/series/pose_row.hpp"
#include "math/factors.hpp"
#include "math/right_jacobian.hpp"
#include "math/upper6.hpp"

namespace armillary {

namespace bridging {

static double seconds_between(Stamp from, Stamp to) { return 1e-9 * static_cast<double>(to.ns - from.ns); }

static Tangent part(double share, const Tangent& x) { return {share * x.translation, share * x.rotation}; }

static Symmetric6 part(double share, const Symmetric6& s) {
  return {scaled(share, s.tt), scaled(share, s.tr), scaled(share, s.rr)};
}

/// The velocity at an instant, and how surely it is known.
struct Knot {
  Stamp at;
  Velocity velocity;
  Symmetric6 density;  // of its error, over time
};

/// What was reached: the pose, and what the errors of the twists have added on the way.
struct Reached {
  Transform pose;
  Symmetric6 spread{};
};

class Bridge {
 public:
  explicit Bridge(const BridgeQuestion& question)
      : question_(question),
        guide_(*question.series.guide()),
        begin_{question.rows.before.stamp_ns()},
        end_{question.rows.after.stamp_ns()},
        is_computed_(question.series.is_computed(end_)) {
    start_ = own(pose_of(question.rows.before));
    goal_ = own(pose_of(question.rows.after));
  }

  [[nodiscard]] bool list_twists() {
    const Series& twists = *guide_.twists;
    if (twists.empty()) return false;
    if (const Row row = twists.bracket(begin_).before) rows_.push_back(row);
    twists.for_each({begin_.ns + 1}, end_, [this](const Row& row) { rows_.push_back(row); });
    if (const Row row = twists.bracket(end_).after) rows_.push_back(row);
    return is_computed_ ? !rows_.empty() : is_covered();
  }

  [[nodiscard]] bool answer(BridgeAnswer& out) {
    list_knots();
    Reached reached{start_}, here{start_};
    for (std::size_t i = 0; i + 1 < knots_.size(); ++i) {
      if (knots_[i].at == question_.at) here = reached;
      reached = gone(reached, knots_[i], knots_[i + 1]);
    }
    const std::optional<Transform> found = is_computed_ ? std::optional(here.pose) : met(reached, here, out);
    if (!found) return false;
    out.value = own(*found);
    out.value.rotation = out.value.rotation.normalized();
    if (is_computed_) add_spread(here, out);
    if (out.covariance && guide_.is_reverse)
      out.covariance = propagated(Symmetric6::of(*out.covariance), upper_adjoint(out.value.inverse())).covariance();
    return true;
  }

 private:
  /// What moves by right multiplication: the pose, or its inverse where the parent is what moves.
  [[nodiscard]] Transform own(const Transform& pose) const { return guide_.is_reverse ? pose.inverse() : pose; }

  /// Begin and end are no farther from a twist than twice the usual time between two.
  [[nodiscard]] bool is_covered() {
    const auto is_inside = [this](const Row& row) { return row.stamp_ns() >= begin_.ns && row.stamp_ns() <= end_.ns; };
    if (rows_.size() < 2 || std::ranges::none_of(rows_, is_inside)) return false;
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 0; i + 1 < rows_.size(); ++i) gaps.push_back(rows_[i + 1].stamp_ns() - rows_[i].stamp_ns());
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::ranges::nth_element(gaps, middle);
    const std::int64_t most = 2 * *middle;
    if (!is_inside(rows_.front()) && rows_[1].stamp_ns() - rows_[0].stamp_ns() > most) rows_.erase(rows_.begin());
    if (rows_.size() > 1 && !is_inside(rows_.back()) && rows_.back().stamp_ns() - rows_[rows_.size() - 2].stamp_ns() > most)
      rows_.pop_back();
    return rows_.front().stamp_ns() - begin_.ns <= most && end_.ns - rows_.back().stamp_ns() <= most;
  }

  void list_knots() {
    const bool are_known = std::ranges::all_of(rows_, [](const Row& row) { return covariance_of(row).has_value(); });
    is_known_ = are_known && std::ranges::all_of(rows_, [](const Row& row) { return axes_of(row) == kNone; });
    knots_.push_back(knot_at(begin_));
    for (const Row& row : rows_)
      if (row.stamp_ns() > begin_.ns && row.stamp_ns() < end_.ns) {
        add_instant_before({row.stamp_ns()});
        if (row.stamp_ns() != question_.at.ns) knots_.push_back(knot_at({row.stamp_ns()}));
      }
    add_instant_before(end_);
    knots_.push_back(knot_at(end_));
  }

  void add_instant_before(Stamp next) {
    if (knots_.back().at < question_.at && question_.at <= next && question_.at < end_) knots_.push_back(knot_at(question_.at));
  }

  /// Linear between two twists, held before the first and after the last. Integration holds the last one at its begin.
  [[nodiscard]] Knot knot_at(Stamp at) const {
    const auto after = std::ranges::find_if(rows_, [at](const Row& row) { return row.stamp_ns() > at.ns; });
    const auto next = static_cast<std::size_t>(after - rows_.begin());
    if (next == 0 || next == rows_.size() || (is_computed_ && at == begin_)) return knot_of(at, next == 0 ? 0 : next - 1, 0.0);
    if (is_computed_ && rows_[next - 1].stamp_ns() < begin_.ns) {
      const double u = static_cast<double>(at.ns - begin_.ns) / static_cast<double>(rows_[next].stamp_ns() - begin_.ns);
      return knot_of(at, next - 1, u);
    }
    return knot_of(at, next - 1, fraction(rows_[next - 1], rows_[next], at.ns));
  }

  [[nodiscard]] Knot knot_of(Stamp at, std::size_t row, double u) const {
    Knot knot{at, velocity_of(rows_[row]), {}};
    if (u > 0.0) knot.velocity = (1.0 - u) * knot.velocity + u * velocity_of(rows_[row + 1]);
    knot.velocity = (guide_.own_T_head.rotation * knot.velocity).at(-guide_.own_T_head.translation);
    const std::size_t near = std::min(row, rows_.size() - 2);
    const bool is_alone = rows_.size() < 2;
    const double period_s =
        is_alone ? seconds_between(begin_, end_) : seconds_between({rows_[near].stamp_ns()}, {rows_[near + 1].stamp_ns()});
    Covariance unit;
    for (int i = 0; i < 6; ++i) unit.at(i, i) = 1.0;
    const Covariance error = is_known_ ? period_s * *covariance_of(rows_[row]) : unit;
    knot.density = propagated(Symmetric6::of(error), upper_adjoint(guide_.own_T_head));
    return knot;
  }

  /// Of a velocity that changes linearly, to third order; the noise by Simpson's rule.
  [[nodiscard]] static Reached gone(const Reached& from, const Knot& a, const Knot& b) {
    const double h = seconds_between(a.at, b.at);
    const Velocity bracket{cross(a.velocity.angular, b.velocity.linear) + cross(a.velocity.linear, b.velocity.angular),
                           cross(a.velocity.angular, b.velocity.angular)};
    const Tangent displacement = (0.5 * (a.velocity + b.velocity) + (h / 12.0) * bracket).during(h);
    const Upper6 back = upper_adjoint(Transform::exp(part(-1.0, displacement)));
    const Upper6 half = upper_adjoint(Transform::exp(part(-0.5, displacement)));
    const Symmetric6 density = part(0.5, sum(a.density, b.density));
    const Symmetric6 ends = sum(propagated(density, back), density);
    const Symmetric6 noise = part(h / 6.0, sum(ends, part(4.0, propagated(density, half))));
    return {from.pose * Transform::exp(displacement), sum(propagated(from.spread, back), noise)};
  }

  /// The pose that meets the goal: what is missing there, shared as the errors of the twists have grown until here.
  [[nodiscard]] std::optional<Transform> met(const Reached& last, const Reached& here, BridgeAnswer& out) const {
    const Tangent missing = between(last.pose, goal_).log();
    const Upper6 to_end = upper_adjoint(between(last.pose, here.pose));  // how an error here arrives at the end
    Matrix6 spread = last.spread.covariance().values;
    double trace = 0.0;
    for (std::size_t i = 0; i < 6; ++i) trace += spread[7 * i];
    for (std::size_t i = 0; i < 6; ++i) spread[7 * i] += 1e-13 * trace;
    const Matrix6 cross_spread = times(here.spread.covariance().values, transposed(whole(to_end)));
    // K = cross_spread / spread, row by row: both are of symmetric matrices
    Matrix6 gain{};
    for (std::size_t row = 0; row < 6; ++row) {
      Vector6 right, solved;
      std::copy_n(cross_spread.begin() + static_cast<std::ptrdiff_t>(6 * row), 6, right.begin());
      if (!solve_definite(spread, right, solved)) return std::nullopt;
      std::ranges::copy(solved, gain.begin() + static_cast<std::ptrdiff_t>(6 * row));
    }
    add_bridge_spread(gain, to_end, last, here, out);
    const std::array<double, 6> e{missing.translation.x, missing.translation.y, missing.translation.z,
                                  missing.rotation.x,    missing.rotation.y,    missing.rotation.z};
    std::array<double, 6> share{};
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) share[i] += gain[6 * i + j] * e[j];
    return here.pose * Transform::exp({{share[0], share[1], share[2]}, {share[3], share[4], share[5]}});
  }

  [[nodiscard]] static Matrix6 times(const Matrix6& a, const Matrix6& b) {
    Matrix6 out{};
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t k = 0; k < 6; ++k)
        for (std::size_t j = 0; j < 6; ++j) out[6 * i + j] += a[6 * i + k] * b[6 * k + j];
    return out;
  }
  [[nodiscard]] static Matrix6 transposed(const Matrix6& a) {
    Matrix6 out;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) out[6 * i + j] = a[6 * j + i];
    return out;
  }

  [[nodiscard]] std::optional<Covariance> spread_of(const Row& row) const {
    std::optional<Covariance> known = covariance_of(row);
    if (!known) known = question_.fallback;
    if (known && guide_.is_reverse) known = propagated(Symmetric6::of(*known), upper_adjoint(pose_of(row))).covariance();
    return known;
  }

  void add_bridge_spread(const Matrix6& gain, const Upper6& to_end, const Reached& last, const Reached& here,
                         BridgeAnswer& out) const {
    if (!question_.wants_covariance || !is_known_) return;
    const std::optional<Covariance> first = spread_of(question_.rows.before), second = spread_of(question_.rows.after);
    if (!first || !second) return;
    const Matrix6 from_begin = whole(upper_adjoint(between(here.pose, start_)));
    const Matrix6 end_from_begin = whole(upper_adjoint(between(last.pose, start_)));
    Matrix6 by_first = times(gain, end_from_begin);
    for (std::size_t i = 0; i < 36; ++i) by_first[i] = from_begin[i] - by_first[i];
    const Matrix6 here_spread = here.spread.covariance().values;
    const Matrix6 taken = times(gain, times(whole(to_end), here_spread));
    Covariance bridge;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        bridge.values[6 * i + j] = here_spread[6 * i + j] - 0.5 * (taken[6 * i + j] + taken[6 * j + i]);
    out.covariance = propagated(*first, by_first) + propagated(*second, gain) + bridge;
  }

  /// Of what was integrated: from its begin alone.
  void add_spread(const Reached& here, BridgeAnswer& out) const {
    if (!question_.wants_covariance || !is_known_) return;
    const std::optional<Covariance> first = spread_of(question_.rows.before);
    if (!first) return;
    const Symmetric6 carried = propagated(Symmetric6::of(*first), upper_adjoint(between(here.pose, start_)));
    out.covariance = sum(carried, here.spread).covariance();
  }

  const BridgeQuestion& question_;
  const Guide& guide_;
  Stamp begin_, end_;
  bool is_computed_;
  bool is_known_ = false;
  Transform start_, goal_;
  std::vector<Row> rows_;
  std::vector<Knot> knots_;
};

}  // namespace bridging

bool follow_twists(const BridgeQuestion& question, BridgeAnswer& out) {
  bridging::Bridge bridge(question);
  return bridge.list_twists() && bridge.answer(out);
}

}  // namespace armillary
