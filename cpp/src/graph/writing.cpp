// How samples and runs are written: checked first, then stored, then published, then waits are woken.

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <utility>

#include "armillary/graph/twist_row.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

Stamp Forest::State::newest(const RelationRecord& relation) const {
  Stamp newest = Stamp::always();
  const RunList& runs = relation.track->runs;
  for (std::ptrdiff_t k = runs.last_of(relation.id, runs.size()); k >= 0 && newest == Stamp::always();
       k = runs.last_of(relation.id, static_cast<std::size_t>(k)))
    if (const RunRecord& run = runs[static_cast<std::size_t>(k)]; run.is_sampled()) newest = run.series()->newest();
  return newest;
}

/// Samples of this relation before the result are older than what it remembers.
Stamp Forest::State::oldest_welcome(const RelationRecord& relation, Stamp at) const {
  Stamp welcome = earlier(newest(relation), relation.retention.history);
  std::size_t samples = 0;
  Stamp oldest = Stamp::never();
  for (const RunRecord& run : relation.track->runs) {
    if (run.relation != relation.id || !run.is_sampled()) continue;
    if (run.from <= at) welcome = std::max(welcome, run.series()->floor());
    samples += run.series()->size();
    if (const Row first = run.series()->first_row()) oldest = std::min(oldest, Stamp{first.stamp_ns()});
  }
  const bool is_full = relation.retention.max_samples > 0 && samples >= relation.retention.max_samples;
  return is_full ? std::max(welcome, oldest) : welcome;
}

Failure Forest::State::check_stamps(const RelationRecord* relation, std::span<const std::int64_t> stamps) const {
  const Stamp last = relation == nullptr ? Stamp::always() : newest(*relation);
  for (std::size_t row = 0; row < stamps.size(); ++row) {
    const Stamp at{stamps[row]};
    if (!is_sample_stamp(at)) return Evidence{.kind = FailureKind::stamp_not_a_sample, .requested = at, .row = row};
    if (relation == nullptr || at > last) continue;  // in order: nothing to look up
    const Stamp welcome = oldest_welcome(*relation, at);
    if (at < welcome)
      return Evidence{.kind = FailureKind::before_history,
                      .relation = relation->id,
                      .requested = at,
                      .first = welcome,
                      .last = std::max(last, welcome),
                      .row = row};
  }
  return {};
}

void Forest::State::copy_to_taps(SampleKind kind, std::uint32_t id, Stamp at, const SampleBase* given_on,
                                 std::span<const double> values, std::span<const double> side) {
  std::erase_if(taps, [](const auto& tap) { return tap->is_closed(); });
  for (const auto& tap : taps)
    if (tap->takes_others() || !OthersSamples::are_of_others())
      tap->add(kind, id, at, given_on == nullptr ? base : *given_on, values, side, journal != nullptr);
}

namespace {

std::span<const double> side_of(const double* side) {
  return side == nullptr || std::isnan(side[0]) ? std::span<const double>() : std::span(side, Covariance::kPacked);
}

}  // namespace

namespace {

/// Which of two samples is more, number by number: the same for everybody. One with a covariance is more than one without.
int difference(std::span<const double> a, std::span<const double> side_of_a, std::span<const double> b,
               std::span<const double> side_of_b) {
  const auto sign = [](std::strong_ordering order) { return order < 0 ? -1 : static_cast<int>(order > 0); };
  const auto less = [](double x, double y) { return std::strong_order(x, y); };
  const auto values = std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(), less);
  if (values != 0) return sign(values);
  return sign(
      std::lexicographical_compare_three_way(side_of_a.begin(), side_of_a.end(), side_of_b.begin(), side_of_b.end(), less));
}

}  // namespace

/// Of two samples of one instant the one with the newer base counts; of one base that which is more. Whoever gives one here
/// means to replace what is there: its base is then a newer one, so that everybody else takes it for that.
bool Forest::State::loses_tie(const SampleBase& there, int difference, const SampleBase* given_on) {
  if (given_on != nullptr) return *given_on == there ? difference <= 0 : *given_on < there;
  if (base < there || (base == there && difference != 0)) base = {there.wall_ns, there.count + (difference != 0 ? 1 : 0)};
  return false;
}

/// Whether a sample does not count, because of that which its track has for its instant.
bool Forest::State::gives_way(const TrackRecord& track, const RelationRecord& relation, const Sample& sample) {
  const std::ptrdiff_t k = track.run_at(sample.at);
  const RunRecord* run = k < 0 ? nullptr : &track.runs[static_cast<std::size_t>(k)];
  if (run == nullptr || !run->is_sampled() || relation.is_of_scene) return false;
  const Row row = run->series()->bracket(sample.at).before;
  if (!row || row.stamp_ns() != sample.at.ns || run->series()->is_computed(sample.at)) return false;
  const RelationRecord& there = *relations[run->relation];
  if (there.is_of_scene) return false;
  const int by_parent = frames[relation.parent].name->compare(*frames[there.parent].name);
  const int by_values = difference(sample.values, side_of(sample.side), {row.values(), kPoseWidth}, side_of(row.side));
  return loses_tie(there.bases.at(sample.at), by_parent != 0 ? by_parent : by_values, sample.base);
}

bool Forest::State::gives_way(const TwistRecord& twist, Stamp at, const BodyTwist& given, const SampleBase* given_on) {
  const Row row = at <= twist.series->newest() ? twist.series->bracket(at).before : Row{};
  if (!row || row.stamp_ns() != at.ns) return false;
  std::array<double, Covariance::kPacked> side;
  if (given.covariance) given.covariance->pack(side);
  const std::span<const double> packed = given.covariance ? std::span<const double>(side) : std::span<const double>();
  const auto held = values_of(velocity_of(row)), values = values_of(given.body_form);
  return loses_tie(twist.bases.at(at), difference(values, packed, held, side_of(row.side)), given_on);
}

/// One parent for all time and no cycle: the sample changes nothing but its series.
bool Forest::State::write_in_place(RelationRecord& relation, const Sample& sample) {
  TrackRecord& track = *relation.track;
  if (track.runs.size() != 1 || track.may_be_on_cycle || track.is_stale || is_cut(track)) return false;
  const RunRecord& run = track.runs.front();
  if (run.relation != relation.id || !run.is_sampled() || run.is_placeholder() || run.breaks_body()) return false;
  if (sample.at <= run.series()->newest() && gives_way(track, relation, sample)) return true;
  if (sample.at < run.from) {
    // rivals are distinguished by when they begin, and an inactive interval may begin later
    if (frames[track.of].tracks.size() > 1 || frames[track.of].inactive_intervals) return false;
    track.runs.edit(0).from = sample.at;
  }
  run.series()->insert(sample.at, sample.values, sample.side, retired);
  relation.bases.set(sample.at, sample.base == nullptr ? base : *sample.base);
  track.watches.inserted(sample.at);
  if (!taps.empty() && !relation.is_of_scene)
    copy_to_taps(SampleKind::pose, relation.id, sample.at, sample.base, sample.values, side_of(sample.side));
  if (!twists.empty() && sample.at == run.series()->newest_given()) on_poses_inserted(track, sample.at, sample.at);
  return true;
}

/// Edits the runs of a track that has the relation, or will have it.
template <typename Edit>
Failure Forest::State::edit_track(const EdgeName& edge, Edit edit) {
  const bool is_new = find_relation(edge) == nullptr;
  RelationRecord& relation = make_relation(edge);
  const bool closes_cycle = is_new && reaches(relation.parent, relation.of);
  return edit_runs(*relation.track, closes_cycle ? relation.parent : kNone, [&](TrackRecord& track) { edit(track, relation); });
}

/// Edits the runs of a track. Where a cycle is possible the edit is tried on a copy, and kept only if at no
/// instant it closes one. `new_parent` is set where the track has a relation that closes a new cycle.
template <typename Edit>
Failure Forest::State::edit_runs(TrackRecord& track, FrameId new_parent, Edit edit) {
  const FrameId of = track.of;
  touch(of);
  const std::shared_ptr<const Runs> before = track.runs.published();
  const std::size_t relations_before = track.relations.size(), moves_before = moves.size();
  const bool closes_cycle = new_parent != kNone;
  const bool was_stale = std::exchange(track.is_stale, true);
  if ((track.may_be_on_cycle || closes_cycle) && !tolerates_cycles) {
    TrackRecord draft = copy_of(track);
    edit(draft);
    if (Failure failure = check_cycles(draft)) {
      while (moves.size() > moves_before) moves.pop_back();
      track.is_stale = was_stale;
      drop_unused_relations(track);
      drop_empty_tracks(of);
      return failure;
    }
    discard_all(track);
    track.runs = std::move(draft.runs);
  } else {
    edit(track);
  }
  drop_unused_relations(track);
  if (closes_cycle) mark_cycle(of, new_parent);
  const bool is_changed = was_stale || is_cut(track) || *track.runs.published() != *before;
  if (is_changed) publish(of);
  track.is_stale = false;
  if (closes_cycle) publish(std::vector<FrameId>(circular.begin(), circular.end()));
  if (!circular.empty() && track.relations.size() < relations_before) refresh_cycles();
  // Where a cycle is cut depends on all of its data.
  if (track.may_be_on_cycle && !watching.empty())
    std::ranges::for_each(circular, [this](FrameId id) { structure_watches.frame_changed(id); });
  if (journal == nullptr && !loops.empty()) resolve_cycles(nullptr);  // what was in the way may have ended
  return {};
}

namespace {

/// Rows are stored as they come: their quaternions must be unit ones already.
Failure check_rows(std::size_t count, const double* rows) {
  for (std::size_t row = 0; row < count; ++row, rows += kPoseWidth) {
    const double squared = rows[0] * rows[0] + rows[1] * rows[1] + rows[2] * rows[2] + rows[3] * rows[3];
    const bool is_pose = std::abs(squared - 1.0) <= 1e-6 && std::isfinite(rows[4] + rows[5] + rows[6]);
    if (!is_pose) return Evidence{.kind = FailureKind::not_a_pose, .row = row};
  }
  return {};
}

/// Row numbers by stamp; of equal stamps the later row comes later, and so wins.
std::vector<std::size_t> order_of(std::span<const std::int64_t> stamps) {
  std::vector<std::size_t> order(stamps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return stamps[row]; });
  return order;
}

/// Everything to the end of the one run: the lane for bulk loading.
bool can_append(const TrackRecord& track, const RelationRecord& relation, std::int64_t after_ns) {
  if (track.runs.size() != 1) return false;
  const RunRecord& run = track.runs.front();
  return run.relation == relation.id && run.is_sampled() && run.series()->newest().ns == after_ns;
}

/// A sample at an instant at which its run is inactive is to be refused: the first such instant counts as active.
void activate_first(RunRecord& run, std::span<const std::int64_t> stamps) {
  Stamp first = Stamp::never();
  for (const std::int64_t ns : stamps)
    if (run.on_cycle.contains({ns})) first = std::min(first, Stamp{ns});
  if (first != Stamp::never()) run.on_cycle = run.on_cycle - Intervals({first, {first.ns + 1}});
}

}  // namespace

Failure Forest::State::write(const EdgeName& edge, std::span<const std::int64_t> stamps, const double* rows, const double* sides,
                             const SampleBase* given_on) {
  if (edge.of == edge.in_frame) return Evidence{.kind = FailureKind::frame_in_itself, .name = std::string(edge.of)};
  if (stamps.empty()) return {};
  if (Failure failure = check_constant(edge, nullptr, false)) return failure;
  if (Failure failure = check_rows(stamps.size(), rows)) return failure;
  if (Failure failure = check_stamps(find_relation(edge), stamps)) return failure;
  const bool in_order = strictly_increasing(stamps);
  const std::vector<std::size_t> order = in_order ? std::vector<std::size_t>{} : order_of(stamps);
  std::vector<std::int64_t> left_out;
  Failure failure = edit_track(edge, [&](TrackRecord& track, RelationRecord& relation) {
    for (std::size_t k = track.runs.has_inactive() ? track.runs.size() : 0; k-- > 0;)
      if (track.runs[k].relation == relation.id && !track.runs[k].on_cycle.empty()) activate_first(track.runs.edit(k), stamps);
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      if (i == 1 && in_order && sides == nullptr && can_append(track, relation, stamps[0]))
        return track.runs[0].series()->append(stamps.subspan(1), rows + kPoseWidth, retired);
      const std::size_t row = in_order ? i : order[i];
      Sample sample{{stamps[row]}, {}, sides == nullptr ? nullptr : sides + row * Covariance::kPacked, given_on};
      std::copy_n(rows + row * kPoseWidth, kPoseWidth, sample.values.begin());
      if (gives_way(track, relation, sample)) {
        left_out.push_back(stamps[row]);
        continue;
      }
      place_sample(track, relation, sample);
      expire_runs(track, relation);
    }
  });
  if (failure) return failure;
  RelationRecord* relation = find_relation(edge);
  if (relation == nullptr) return {};
  const auto is_stored = [&](std::int64_t stamp) { return std::ranges::find(left_out, stamp) == left_out.end(); };
  for (const std::int64_t stamp : stamps)
    if (is_stored(stamp)) relation->bases.set({stamp}, given_on == nullptr ? base : *given_on);
  for (std::size_t row = 0; row < stamps.size() && !taps.empty() && !relation->is_of_scene; ++row)
    if (is_stored(stamps[row]))
      copy_to_taps(SampleKind::pose, relation->id, {stamps[row]}, given_on, {rows + row * kPoseWidth, kPoseWidth},
                   side_of(sides == nullptr ? nullptr : sides + row * Covariance::kPacked));
  if (!relation->track->watches.empty())
    for (const std::int64_t stamp : stamps) relation->track->watches.inserted({stamp});
  if (twists.empty()) return {};
  const auto [first, last] = std::ranges::minmax(stamps);
  on_poses_inserted(*relation->track, {first}, {last});
  return {};
}

/// Whether the source of the frame is that of a node.
bool Forest::State::is_placed_by_node(std::string_view frame, std::string_view source) const {
  const FrameId of = find_frame(frame);
  const TrackRecord* track = of == kNone ? nullptr : find_track(of, find_source(source));
  const auto is_it = [this](RelationId id) { return relations[id]->is_of_scene; };
  return track != nullptr && std::ranges::any_of(track->relations, is_it);
}

/// A fixed or driven pose from `run.from` on.
Failure Forest::State::open_run(const EdgeName& edge, RunRecord run, bool recalibrate) {
  if (edge.of == edge.in_frame) return Evidence{.kind = FailureKind::frame_in_itself, .name = std::string(edge.of)};
  if (Failure failure = check_constant(edge, run.fixed(), recalibrate)) return failure;
  const bool is_of_node = run.from == Stamp::always() && !run.is_of_node() && is_placed_by_node(edge.of, edge.source);
  if (is_of_node) return Evidence{.kind = FailureKind::placed_by_node, .name = std::string(edge.source)};
  const Stamp from = run.from;
  Failure failure = edit_track(edge, [&](TrackRecord& track, RelationRecord& relation) {
    run.parent = relation.parent;
    run.relation = relation.id;
    place_run(track, std::move(run));
    bound_runs(track);
  });
  if (!failure) on_poses_inserted(*find_track(find_frame(edge.of), find_source(edge.source)), from, from);
  return failure;
}

/// From `at` on the frame has no parent by this source, until the source gives something newer.
Failure Forest::State::close_track(FrameId of, SourceId source, Stamp at) {
  Failure failure = edit_runs(make_track(of, source), kNone, [&](TrackRecord& track) {
    place_run(track, {.from = at});
    bound_runs(track);
  });
  if (!failure) on_poses_inserted(*find_track(of, source), at, at);
  return failure;
}

Failure Forest::State::change_runs(TrackRecord& track, const std::function<void(TrackRecord&)>& change) {
  return edit_runs(track, kNone, change);
}

// -- Assertions of others, and their removal

Failure Forest::State::align(TrackRecord& track, const AlignTrack& edit) {
  return edit_runs(track, kNone, [&](TrackRecord& edited) { insert_assertions(edited, edit); });
}

Failure Forest::State::erase_fixed(TrackRecord& track, Stamp since) {
  Failure failure = edit_runs(track, kNone, [&](TrackRecord& edited) {
    const std::ptrdiff_t found = edited.run_at(since);
    if (found < 0) return;
    const auto k = static_cast<std::size_t>(found);
    if (edited.runs[k].from != since || edited.runs[k].is_sampled()) return;
    erase_run(edited, k);
    if (k > 0) join_runs(edited, k - 1);
  });
  if (failure) return failure;
  on_poses_inserted(track, since, since);
  drop_empty_tracks(track.of);
  return {};
}

/// The last runs first: samples mostly go there.
bool Forest::State::has_samples(const RelationRecord& relation) const {
  const RunList& runs = relation.track->runs;
  std::ptrdiff_t k = runs.last_of(relation.id, runs.size());
  while (k >= 0 && !runs[static_cast<std::size_t>(k)].is_sampled()) k = runs.last_of(relation.id, static_cast<std::size_t>(k));
  return relation.is_of_scene || k >= 0;
}

Failure Forest::State::await_samples(const AwaitSamples& edit) {
  const EdgeName edge{edit.of, edit.in_frame, edit.source};
  if (edit.of == edit.in_frame) return Evidence{.kind = FailureKind::frame_in_itself, .name = edit.of};
  if (RelationRecord* known = find_relation(edge)) {
    if (edit.interpolation)
      if (Failure failure = set_interpolation(*known, *edit.interpolation)) return failure;
    if (has_samples(*known)) return {};
    return change_runs(*known->track, [&](TrackRecord& track) { await_run(track, *known, edit.since); });
  }
  if (Failure failure = check_constant(edge, nullptr, false)) return failure;
  return edit_track(edge, [&](TrackRecord& track, RelationRecord& relation) {
    relation.interpolation = edit.interpolation.value_or(SampleInterpolation::linear);
    await_run(track, relation, edit.since);
  });
}

/// All its samples, those of the past included. Where they hold longer than before they may close a cycle.
Failure Forest::State::set_interpolation(RelationRecord& relation, SampleInterpolation interpolation) {
  if (relation.interpolation == interpolation) return {};
  touch(relation.of);
  const SampleInterpolation before = std::exchange(relation.interpolation, interpolation);
  const RelationId id = relation.id;
  Failure failure = edit_runs(*relation.track, kNone, [&](TrackRecord& track) {
    for (std::size_t k = 0; k < track.runs.size(); ++k)
      if (track.runs[k].relation == id && track.runs[k].is_sampled())
        std::get<Sampled>(track.runs.edit(k).provider).interpolation = interpolation;
  });
  if (failure) {
    relation.interpolation = before;
    return failure;
  }
  for (const RunRecord& run : relation.track->runs)
    if (run.relation == id && run.is_sampled()) run.series()->set_retention(relation.kept(), retired);
  relation.track->watches.fire_all();
  return {};
}

/// Erases the relations whose parent the frame is, their past included.
Failure Forest::State::let_go(FrameId frame) {
  const std::vector<RelationId> child_relations = frames[frame].child_relations;
  for (const RelationId id : child_relations) {
    if (relations[id] == nullptr || relations[id]->is_of_scene) continue;
    TrackRecord& track = *relations[id]->track;
    const FrameId of = track.of;
    Failure failure = edit_runs(track, kNone, [&](TrackRecord& edited) {
      for (std::size_t k = edited.runs.size(); k-- > 0;)
        if (edited.runs[k].relation == id) erase_run(edited, k);
    });
    if (failure) return failure;
    drop_empty_tracks(of);
  }
  return {};
}

/// Whether the place of the frame, or of what is in it, follows from nodes.
bool Forest::State::is_of_scene(FrameId frame) const {
  const auto is_it = [this](RelationId id) { return relations[id]->is_of_scene; };
  return std::ranges::any_of(frames[frame].child_relations, is_it) ||
         std::ranges::any_of(frames[frame].tracks,
                             [&](const auto& track) { return std::ranges::any_of(track->relations, is_it); });
}

/// Erases all tracks of a frame, but for what follows from where nodes are.
Failure Forest::State::strip_frame(FrameId frame) {
  touch(frame);
  remember_bodies();
  for (const auto& track : frames[frame].tracks) {
    Failure failure = edit_runs(*track, kNone, [&](TrackRecord& edited) {
      for (std::size_t k = edited.runs.size(); k-- > 0;) {
        const RunRecord& run = edited.runs[k];
        const bool remains = run.is_of_node() || (run.is_sampled() && relations[run.relation]->is_of_scene);
        if (!remains) erase_run(edited, k);
      }
    });
    if (failure) return failure;
  }
  erase_twists_of(frame);
  leave_body(frame);
  frames[frame].preferences.clear();
  drop_empty_tracks(frame);
  return {};
}

/// Sampled runs are emptied where they are: structure stays. When time restarts only the newest parent counts.
void Forest::State::forget_samples(TrackRecord& track, bool time_restarts) {
  track.waiting.clear();
  track.was_cleared = !time_restarts;
  if (time_restarts && !track.runs.empty() && track.runs.back().is_closed())
    while (!track.runs.empty()) erase_run(track, 0);
  if (track.runs.empty()) return drop_unused_relations(track);
  const bool only_sampled = std::ranges::all_of(track.runs, &RunRecord::is_sampled);
  if (time_restarts || only_sampled) {
    while (track.runs.size() > 1) erase_run(track, 0);
    track.runs.edit(0).from = Stamp::always();
  }
  for (std::size_t k = 0; k < track.runs.size(); ++k)
    if (track.runs[k].is_sampled()) empty_run(track, k, Stamp::always());
  drop_unused_relations(track);
}

void Forest::State::forget_all_samples(bool time_restarts) {
  std::vector<FrameId> changed;
  for (FrameId id = 0; id < frames.size(); ++id) {
    for (const auto& track : frames[id].tracks) forget_samples(*track, time_restarts);
    if (frames[id].alive) changed.push_back(id);
  }
  publish(changed);
}

}  // namespace armillary
