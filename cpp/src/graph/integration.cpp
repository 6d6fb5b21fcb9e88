// A source that gives twists of its frame: after each pose it gave, poses are integrated until the next it gave.
// What is integrated depends on the set of what was given, not on the order it came in.

#include <algorithm>
#include <cmath>
#include <tuple>

#include "armillary/graph/twist_row.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"
#include "math/right_jacobian.hpp"
#include "math/upper6.hpp"

namespace armillary {

namespace {

/// One pose and how sure it is, on its way through the twists.
struct Place {
  Stamp at;
  Transform pose;
  std::optional<Covariance> covariance;
};

/// Of a velocity that changes linearly from one to the other, to third order in the duration.
Tangent displacement_of(const Velocity& a, const Velocity& b, double duration_s) {
  const Velocity bracket{cross(a.angular, b.linear) + cross(a.linear, b.angular), cross(a.angular, b.angular)};
  return (0.5 * (a + b) + (duration_s / 12.0) * bracket).during(duration_s);
}

/// Goes on from one velocity to the next; where none is known at the start, the one at the end is held.
Place moved(const Place& before, const std::optional<Velocity>& last, const Row& twist, const TwistCarrier& carrier) {
  const double duration_s = 1e-9 * static_cast<double>(twist.stamp_ns() - before.at.ns);
  const Velocity now = carrier.moved(velocity_of(twist)), then = last ? carrier.moved(*last) : now;
  const Tangent tangent = displacement_of(then, now, duration_s);
  const Transform displacement = Transform::exp(tangent);
  Place after{{twist.stamp_ns()}, carrier.is_reverse ? displacement.inverse() * before.pose : before.pose * displacement, {}};
  after.pose.rotation = after.pose.rotation.normalized();
  // The error of a turn repeats from twist to twist, and nobody knows how: then that of the integral is unknown.
  const bool is_turned = axes_of(twist) != kNone;
  const std::optional<Covariance> of_twist = covariance_of(twist);
  if (!of_twist || !before.covariance || is_turned) return after;
  Upper6 by_twist = scaled(duration_s, product(right_jacobian(tangent), upper_adjoint(carrier.own_T_head)));
  if (carrier.is_reverse) by_twist = product(upper_adjoint(after.pose.inverse()), by_twist);
  const Covariance grown = propagated(Symmetric6::of(*of_twist), by_twist).covariance();
  after.covariance = (carrier.is_reverse ? *before.covariance : transported(*before.covariance, displacement.inverse())) + grown;
  return after;
}

void write_computed(const Place& place, Series& series, RetireList& retired) {
  std::array<double, Covariance::kPacked> packed;
  if (place.covariance) place.covariance->pack(packed);
  series.insert_computed(place.at, values_of(place.pose), place.covariance ? packed.data() : nullptr, retired);
}

/// An absurd velocity leads out of the range of numbers.
bool is_finite(const Transform& pose) {
  const auto values = values_of(pose);
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// Where integration starts when something changed at `from`: from the newest pose that was given, or the last one after it.
Row start_of(const Series& series, Stamp from) {
  const Stamp newest = series.newest_given();
  if (from > newest) return series.bracket({from.ns - 1}).before;
  const Row row = series.bracket(newest).before;
  return row && row.stamp_ns() == newest.ns ? row : Row{};
}

/// Whether poses after `at` were integrated from twists that are forgotten since.
bool outlive_twists(const Series& series, Stamp at, const Series& twists) {
  const Row after = series.bracket(at).after;
  return after && after.stamp_ns() < twists.floor().ns && series.is_computed({after.stamp_ns()});
}

/// Whether a pose is exactly the identity: its child is where its parent is.
bool is_identity(const FixedPose& pose) {
  return pose.certainty == Certainty::exact && values_of(pose.value) == values_of(Transform{});
}

}  // namespace

std::optional<Velocity> TwistRecord::velocity_at(Stamp at) const {
  if (const Row row = series->bracket(at).before) return velocity_of(row);
  return forgotten && forgotten->at <= at ? std::optional(forgotten->velocity) : std::nullopt;
}

Stamp TrackRecord::next_given(Stamp at) const {
  const std::ptrdiff_t k = run_at(at);
  if (k >= 0 && runs[static_cast<std::size_t>(k)].is_sampled()) {
    const Series& series = *runs[static_cast<std::size_t>(k)].series();
    Row row = series.bracket(at).after;
    while (row && series.is_computed({row.stamp_ns()})) row = series.bracket({row.stamp_ns()}).after;
    if (row) return {row.stamp_ns()};
  }
  const auto next = static_cast<std::size_t>(k + 1);
  return next < runs.size() ? runs[next].from : Stamp::never();
}

/// The index of the run that holds at `at`, if it is sampled, and between the two bodies of the twist.
std::ptrdiff_t Forest::State::run_to_integrate(const TrackRecord& track, const TwistRecord& twist, Stamp at) const {
  const std::ptrdiff_t k = track.run_at(at);
  if (k < 0) return k;
  const RunRecord& run = track.runs[static_cast<std::size_t>(k)];
  const BodyId other = rigid_body_of(moves_reference(track, twist) ? twist.of : twist.reference);
  return run.is_sampled() && !run.is_placeholder() && rests_on(run.parent, other, at) ? k : -1;
}

/// Whether the frame is on the body that the twist is relative to, and its parent on the one that is measured.
bool Forest::State::moves_reference(const TrackRecord& track, const TwistRecord& twist) const {
  return rigid_body(track.of) != rigid_body(twist.of);
}

/// Whether a frame is on a rigid body, or below one that is, by identity, at that instant: a frame that came between.
bool Forest::State::rests_on(FrameId frame, BodyId body, Stamp at) const {
  for (std::size_t steps = 0; frame != kNone && steps <= frames.size(); ++steps) {
    if (rigid_body(frame) == body) return true;
    FrameId next = kNone;
    for (const auto& track : frames[frame].tracks) {
      const std::ptrdiff_t k = track->run_at(at);
      const RunRecord* run = k < 0 ? nullptr : &track->runs[static_cast<std::size_t>(k)];
      if (run == nullptr || run->fixed() == nullptr || !is_identity(*run->fixed())) continue;
      if (rigid_body(run->parent) == body) return true;
      next = run->parent;
    }
    frame = next;
  }
  return false;
}

/// Where the head of a twist is, seen from what it moves: the frame, or its parent where it moves that against the frame.
std::optional<TwistCarrier> Forest::State::carrier_of(const TrackRecord& track, const TwistRecord& twist, std::size_t k) const {
  const RunRecord& run = track.runs[k];
  const bool is_reverse = moves_reference(track, twist);
  const std::optional<Transform> own_T_head = pose_on_mounts(twist.of, is_reverse ? run.parent : track.of, run.from);
  return own_T_head ? std::optional(TwistCarrier{*own_T_head, is_reverse}) : std::nullopt;
}

/// Drops what was integrated from `from` until the next that was given. A new series: readers keep the one they see.
bool Forest::State::drop_integrated(TrackRecord& track, Stamp from) {
  const std::ptrdiff_t k = track.run_at(from);
  if (k < 0 || !track.runs[static_cast<std::size_t>(k)].is_sampled()) return false;
  const RunRecord& run = track.runs[static_cast<std::size_t>(k)];
  const Row after = run.series()->bracket(from).after;
  const Row before = run.series()->bracket(from).before;
  const bool is_here = before && before.stamp_ns() == from.ns && run.series()->is_computed(from);
  const bool is_after = after && run.series()->is_computed({after.stamp_ns()});
  if (!is_here && !is_after) return false;
  RunRecord kept = run.with(copy_of(run, is_here ? from : Stamp{from.ns + 1}, track.next_given(from)));
  track.is_stale = true;
  RunRecord& dropped = track.runs.edit(static_cast<std::size_t>(k));
  discard(dropped);
  dropped = std::move(kept);
  return true;
}

/// Poses at the stamps of the twists, each from the one before it, until the next that was given.
void Forest::State::write_integrated(TrackRecord& track, const TwistRecord& twist, Stamp from) {
  const std::ptrdiff_t k = run_to_integrate(track, twist, from);
  const auto series = [&]() -> Series& { return *track.runs[static_cast<std::size_t>(k)].series(); };  // it may be replaced
  const Row start = k < 0 ? Row{} : start_of(series(), from);
  const std::optional<TwistCarrier> carrier = start ? carrier_of(track, twist, static_cast<std::size_t>(k)) : std::nullopt;
  if (!carrier) return;
  Place place{{start.stamp_ns()}, pose_of(start), covariance_of(start)};
  if (outlive_twists(series(), place.at, *twist.series)) drop_integrated(track, {place.at.ns + 1});
  const Stamp end = track.next_given(place.at);
  std::optional<Velocity> last = twist.velocity_at(place.at);
  Row next = twist.series->bracket(place.at).after;
  for (; next && next.stamp_ns() < end.ns; next = twist.series->bracket({next.stamp_ns()}).after) {
    place = moved(place, last, next, *carrier);
    if (!is_finite(place.pose)) return static_cast<void>(drop_integrated(track, place.at));
    write_computed(place, series(), retired);
    last = velocity_of(next);
  }
}

/// Where a cycle is possible: tried on a copy, and kept as far as at no instant it closes one.
void Forest::State::write_integrated_on_cycle(TrackRecord& track, const TwistRecord& twist, Stamp from) {
  TrackRecord draft = copy_of(track);
  write_integrated(draft, twist, from);
  while (const Failure failure = check_cycles(draft))
    if (!drop_integrated(draft, failure->requested)) return;
  track.is_stale = true;
  discard_all(track);
  track.runs = std::move(draft.runs);
}

void Forest::State::integrate(TrackRecord& track, const TwistRecord& twist, Stamp from) {
  const std::ptrdiff_t k = run_to_integrate(track, twist, from);
  if (k < 0) return;
  if (unshare(track, static_cast<std::size_t>(k))) track.is_stale = true;
  if (track.may_be_on_cycle) {
    write_integrated_on_cycle(track, twist, from);
  } else {
    write_integrated(track, twist, from);
  }
  if (track.is_stale || is_cut(track)) publish(track.of);
  track.is_stale = false;
  if (track.may_be_on_cycle && !watching.empty())  // where a cycle is cut depends on all of its data
    std::ranges::for_each(circular, [this](FrameId id) { structure_watches.frame_changed(id); });
  if (track.watches.empty()) return;
  const auto report = [&](const Row& row) { track.watches.inserted({row.stamp_ns()}); };
  twist.series->for_each(from, {track.next_given(from).ns - 1}, report);
}

/// What leads from pose to pose of a run: the twists of the same source between the same bodies.
std::unique_ptr<const Guide> Forest::State::guide_of(const TrackRecord& track, std::size_t k) const {
  const RunRecord& run = track.runs[k];
  const BodyId body = rigid_body(track.of);
  const auto known = rigid.twists.find(body);
  if (known == rigid.twists.end()) return nullptr;
  for (const RelationId id : known->second) {
    const TwistRecord& twist = *twists.at(id);
    if (twist.source != track.source || twist.is_inactive || is_led(twist)) continue;
    const BodyId other = rigid_body_of(moves_reference(track, twist) ? twist.of : twist.reference);
    if (other == body || !rests_on(run.parent, other, run.from)) continue;
    if (const std::optional<TwistCarrier> carrier = carrier_of(track, twist, k))
      return std::make_unique<const Guide>(Guide{twist.series, carrier->own_T_head, carrier->is_reverse});
  }
  return nullptr;
}

void Forest::State::guide_series(FrameId frame) {
  for (const auto& track : frames[frame].tracks)
    for (std::size_t k = 0; k < track->runs.size(); ++k) {
      const RunRecord& run = track->runs[k];
      if (!run.is_sampled()) continue;
      std::unique_ptr<const Guide> guide = guide_of(*track, k);
      const Guide* const before = run.series()->guide();
      if (guide == nullptr ? before == nullptr : before != nullptr && *before == *guide) continue;
      run.series()->set_guide(std::move(guide), retired);
    }
}

/// Before readers see frames that were edited; all of them, where bodies or twists are others than before.
void Forest::State::guide_series(std::span<const FrameId> changed) {
  if (twists.empty() && !has_guides) return;
  has_guides = !twists.empty();
  if (!bodies_changed)
    for (const FrameId id : changed) guide_series(id);
  for (FrameId id = 0; bodies_changed && id < frames.size(); ++id) guide_series(id);
}

/// Of several twists by which one source gives the same motion, one moves the poses: the first by name.
bool Forest::State::is_led(const TwistRecord& twist) const {
  const BodyId head = rigid_body(twist.of), reference = rigid_body_of(twist.reference);
  if (head == reference) return true;
  const auto leads = [&](const TwistRecord& other) {
    if (other.source != twist.source || other.id == twist.id || other.is_inactive) return false;
    const auto ends = std::minmax({rigid_body(other.of), rigid_body_of(other.reference)});
    if (ends != std::minmax({head, reference})) return false;
    return std::tie(*frames[other.of].name, named_by(other)) < std::tie(*frames[twist.of].name, named_by(twist));
  };
  return std::ranges::any_of(rigid.twists[head], [&](RelationId id) { return leads(*twists.at(id)); });
}

/// What follows from a twist: the poses after it, of each frame of the two bodies that its source places.
void Forest::State::on_twist_inserted(const TwistRecord& twist, Stamp at) {
  if (is_led(twist)) return;
  for (const BodyId body : {rigid_body(twist.of), rigid_body_of(twist.reference)})
    for (const FrameId root : roots_on(body))
      if (TrackRecord* track = find_track(root, twist.source)) on_twist_inserted(twist, at, *track);
}

/// In the run of the twist, and in those that begin before the next one.
void Forest::State::on_twist_inserted(const TwistRecord& twist, Stamp at, TrackRecord& track) {
  const Row next = twist.series->bracket(at).after;
  const Stamp until = next ? Stamp{next.stamp_ns()} : Stamp::never();
  const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(track.run_at(at), 0));
  for (std::size_t k = first; k < track.runs.size() && track.runs[k].from < until; ++k) {
    const RunRecord& run = track.runs[k];
    const bool is_over = run.is_sampled() && run.series()->newest_given() >= until;  // a newer twist holds there
    if (!is_over) integrate(track, twist, std::max(at, run.from));
  }
}

/// What follows from the newest pose of every run from the one before `from` to the one at `to`.
void Forest::State::on_poses_inserted(TrackRecord& track, Stamp from, Stamp to) {
  if (twists.empty()) return;
  const BodyId body = rigid_body(track.of);
  const auto known = rigid.twists.find(body);
  if (known == rigid.twists.end()) return;
  const std::vector<RelationId> ids = known->second;
  for (const RelationId id : ids) {
    const TwistRecord& twist = *twists.at(id);
    if (twist.source != track.source || is_led(twist)) continue;
    const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(track.run_at(from) - 1, 0));
    for (std::size_t k = first; k < track.runs.size() && track.runs[k].from <= to; ++k)
      if (track.runs[k].is_sampled())
        integrate(track, twist, std::max(track.runs[k].from, track.runs[k].series()->newest_given()));
  }
}

/// Frames came to a body: twists relative to it, or of it, may move poses in any of them.
void Forest::State::body_grew(BodyId body) {
  const BodyId grown = rigid_body_of(body);
  std::vector<std::pair<FrameId, SourceId>> moved;
  for (const RelationId id : rigid.twists[grown])
    for (const BodyId end : {rigid_body(twists.at(id)->of), rigid_body_of(twists.at(id)->reference)})
      for (const FrameId root : roots_on(end)) moved.emplace_back(root, twists.at(id)->source);
  for (const auto& [root, source] : moved)
    if (TrackRecord* track = find_track(root, source)) on_poses_inserted(*track, Stamp::always(), Stamp::never());
}

}  // namespace armillary
