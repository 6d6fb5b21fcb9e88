// A source that gives only twists: its frame's poses are integrated from the last one it said.

#include <algorithm>

#include "armillary/pose_row.hpp"
#include "forest_state.hpp"

namespace armillary {

namespace {

/// One pose and how sure it is, on its way through the twists.
struct Place {
  Stamp at;
  Transform pose;
  std::optional<Covariance> covariance;
};

/// Goes on with the mean of two velocities; the first twist is held over the time before it.
Place moved(const Place& before, const Row& twist, const std::optional<Velocity>& last) {
  const double duration_s = 1e-9 * static_cast<double>(twist.stamp_ns() - before.at.ns);
  const Velocity now = velocity_of(twist), mean = last ? 0.5 * (*last + now) : now;
  const Transform way = Transform::exp(mean.during(duration_s));
  Place after{{twist.stamp_ns()}, before.pose * way, std::nullopt};
  after.pose.rotation = after.pose.rotation.normalized();
  if (const std::optional<Covariance> of_twist = covariance_of(twist); of_twist && before.covariance)
    after.covariance = transported(*before.covariance, way.inverse()) + (duration_s * duration_s) * *of_twist;
  return after;
}

}  // namespace

/// Whether all that `track`'s source says after its first twist are twists.
bool Forest::State::integrates(const TrackRecord& track, const TwistRecord& twist) const {
  return track.source == twist.source && track.said != Stamp::always() && track.said <= twist.first && !track.may_loop;
}

/// The run that twists from `from` on continue: sampled, and in a frame of the body that they are relative to.
RunRecord* Forest::State::run_to_integrate(TrackRecord& track, const TwistRecord& twist, Stamp from, Stamp& end) const {
  const std::ptrdiff_t k = track.run_at(from);
  if (k < 0) return nullptr;
  RunRecord& run = track.runs[static_cast<std::size_t>(k)];
  const bool is_last = static_cast<std::size_t>(k) + 1 == track.runs.size();
  end = is_last ? Stamp::never() : Stamp{track.runs[static_cast<std::size_t>(k) + 1].from.ns - 1};
  const bool fits = run.is_sampled() && !run.is_placeholder() && frames[run.parent].body == twist.reference;
  return fits ? &run : nullptr;
}

/// Poses at the stamps of the twists from `from` on, each from the one before it.
void Forest::State::integrate(TrackRecord& track, const TwistRecord& twist, Stamp from) {
  if (!integrates(track, twist)) return;
  from = std::max(from, Stamp{track.said.ns + 1});
  Stamp end;
  RunRecord* run = run_to_integrate(track, twist, from, end);
  const Row start = run == nullptr ? Row{} : run->series->bracket({from.ns - 1}).before;
  if (!start) return;
  Place place{{start.stamp_ns()}, pose_of(start), covariance_of(start)};
  std::optional<Velocity> last;
  if (const Row before = twist.series->bracket({from.ns - 1}).before) last = velocity_of(before);
  std::array<double, Covariance::kPacked> packed;
  run->series->begin_integrated(track.said);
  twist.series->for_each(from, end, [&](const Row& row) {
    place = moved(place, row, last);
    last = velocity_of(row);
    if (place.covariance) place.covariance->pack(packed);
    run->series->insert(place.at, values_of(place.pose), place.covariance ? packed.data() : nullptr, retired);
    track.watches.inserted(place.at);
  });
}

void Forest::State::twist_said(const TwistRecord& twist, Stamp at) {
  if (TrackRecord* track = find_track(twist.of, twist.source)) integrate(*track, twist, at);
}

void Forest::State::pose_said(TrackRecord& track, Stamp newest) {
  track.said = std::max(track.said, newest);
  for (const RelationId id : frames[track.of].twists) integrate(track, *twists.at(id), track.said);
}

}  // namespace armillary
