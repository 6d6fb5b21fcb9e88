// What one source says of one frame, as runs of parents that depend only on the set of samples.

#include <algorithm>

#include "armillary/pose_row.hpp"
#include "forest_state.hpp"

namespace armillary {

std::ptrdiff_t TrackRecord::run_at(Stamp at) const {
  return std::ranges::upper_bound(runs, at, {}, &RunRecord::from) - runs.begin() - 1;
}

std::vector<Run> TrackRecord::published() const {
  std::vector<Run> copies;
  for (const RunRecord& run : runs) copies.push_back({run.from, run.parent, run.relation, run.provider()});
  return copies;
}

Coverage TrackRecord::coverage(std::size_t k) const {
  const RunRecord& run = runs[k];
  if (run.is_sampled()) {
    const Row first = run.series->first_row();
    return first ? Coverage{{first.stamp_ns()}, run.series->newest()} : Coverage{};
  }
  const Stamp next = k + 1 < runs.size() ? runs[k + 1].from : Stamp::never();
  return {run.from, next == Stamp::never() ? next : Stamp{next.ns - 1}};
}

std::unique_ptr<Series> Forest::State::new_series(const RelationRecord& relation) const {
  return std::make_unique<Series>(kPoseWidth, relation.retention);
}

Stamp Forest::State::newest(const RelationRecord& relation) const {
  Stamp newest = Stamp::always();
  for (const RunRecord& run : relation.track->runs)
    if (run.relation == relation.id && run.is_sampled()) newest = std::max(newest, run.series->newest());
  return newest;
}

void Forest::State::discard(RunRecord& run) {
  retired.retire(run.series.release());
  retired.retire(run.fixed.release());
  if (run.driven) retired.retire(new std::shared_ptr<DrivenProvider>(std::move(run.driven)));
}

void Forest::State::erase_run(TrackRecord& track, std::size_t k) {
  discard(track.runs[k]);
  track.runs.erase(track.runs.begin() + static_cast<std::ptrdiff_t>(k));
}

/// Two neighbouring runs under the same parent are one.
void Forest::State::join_runs(TrackRecord& track, std::size_t k) {
  if (k + 1 >= track.runs.size()) return;
  RunRecord &left = track.runs[k], &right = track.runs[k + 1];
  if (!left.is_sampled() || !right.is_sampled() || left.relation != right.relation) return;
  right.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    left.series->insert({row.stamp_ns()}, {row.values(), kPoseWidth}, row.side, retired);
  });
  erase_run(track, k + 1);
}

/// The rows before and after `at` become two runs; a row at `at` is dropped.
/// Copies: readers of the previous version keep the series they see.
void Forest::State::split_run(TrackRecord& track, std::size_t k, Stamp at) {
  RunRecord& whole = track.runs[k];
  RunRecord right{.parent = whole.parent, .relation = whole.relation, .series = new_series(*relations[whole.relation])};
  RunRecord left{.from = whole.from, .parent = whole.parent, .relation = whole.relation, .series = new_series(*relations[whole.relation])};
  whole.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    if (row.stamp_ns() == at.ns) return;
    Series& side = row.stamp_ns() < at.ns ? *left.series : *right.series;
    side.insert({row.stamp_ns()}, {row.values(), kPoseWidth}, row.side, retired);
  });
  discard(whole);
  const auto place = track.runs.erase(track.runs.begin() + static_cast<std::ptrdiff_t>(k));
  const auto next = left.series->empty() ? place : std::next(track.runs.insert(place, std::move(left)));
  if (right.series->empty()) return;
  right.from = {right.series->first_row().stamp_ns()};
  track.runs.insert(next, std::move(right));
}

/// One thing is said per instant: whatever was said for `at` goes, unless it is a sample of `unless`.
void Forest::State::remove_event(TrackRecord& track, Stamp at, RelationId unless) {
  const std::ptrdiff_t found = track.run_at(at);
  if (found < 0) return;
  const auto k = static_cast<std::size_t>(found);
  const RunRecord& run = track.runs[k];
  if (run.is_sampled()) {
    const Row row = run.series->bracket(at).before;
    if (run.relation == unless || !row || row.stamp_ns() != at.ns) return;
    const bool was_only = run.series->size() == 1;
    split_run(track, k, at);
    if (was_only && k > 0) join_runs(track, k - 1);
  } else if (run.from == at && at != Stamp::always()) {
    erase_run(track, k);
    if (k > 0) join_runs(track, k - 1);
  }
}

/// A cleared track keeps its last parent until something new is said.
void Forest::State::drop_placeholder(TrackRecord& track, RelationId unless) {
  if (track.runs.size() == 1 && track.runs[0].is_placeholder() && track.runs[0].relation != unless) erase_run(track, 0);
}

void Forest::State::place_sample(TrackRecord& track, RelationRecord& relation, const Sample& sample) {
  drop_placeholder(track, relation.id);
  remove_event(track, sample.at, relation.id);
  const auto write = [&](RunRecord& run) { run.series->insert(sample.at, sample.values, sample.side, retired); };
  const std::ptrdiff_t current = track.run_at(sample.at);
  if (current >= 0) {
    RunRecord& run = track.runs[static_cast<std::size_t>(current)];
    if (run.relation == relation.id && run.is_sampled()) {
      if (run.from == Stamp::always()) run.from = sample.at;  // the first sample after a clear
      return write(run);
    }
    if (run.is_sampled() && run.series->newest() > sample.at) split_run(track, static_cast<std::size_t>(current), sample.at);
  }
  const auto next = static_cast<std::size_t>(track.run_at(sample.at) + 1);
  if (next < track.runs.size() && track.runs[next].relation == relation.id && track.runs[next].is_sampled()) {
    track.runs[next].from = sample.at;
    return write(track.runs[next]);
  }
  RunRecord fresh{.from = sample.at, .parent = relation.parent, .relation = relation.id, .series = new_series(relation)};
  write(fresh);
  track.runs.insert(track.runs.begin() + static_cast<std::ptrdiff_t>(next), std::move(fresh));
}

/// A fixed or driven run from `run.from` on, until the next run.
void Forest::State::place_run(TrackRecord& track, RunRecord run) {
  if (run.from == Stamp::always()) {
    while (!track.runs.empty()) erase_run(track, 0);
    track.runs.push_back(std::move(run));
    return;
  }
  drop_placeholder(track, kNone);
  remove_event(track, run.from, kNone);
  const std::ptrdiff_t current = track.run_at(run.from);
  if (current >= 0) {
    const RunRecord& before = track.runs[static_cast<std::size_t>(current)];
    if (before.is_sampled() && before.series->newest() > run.from) split_run(track, static_cast<std::size_t>(current), run.from);
  }
  const std::ptrdiff_t place = track.run_at(run.from) + 1;
  track.runs.insert(track.runs.begin() + place, std::move(run));
}

/// Expiry is per relation, against its own newest; the number of runs is bounded too.
void Forest::State::expire_runs(TrackRecord& track, const RelationRecord& relation) {
  const Stamp horizon = earlier(newest(relation), relation.retention.history);
  std::size_t left = relation.retention.max_samples;
  for (std::size_t k = track.runs.size(); k-- > 0;) {
    RunRecord& run = track.runs[k];
    if (run.relation != relation.id || !run.is_sampled()) continue;
    const bool is_full = relation.retention.max_samples > 0 && left == 0;
    if (run.is_placeholder()) continue;
    if (run.series->newest() < horizon || is_full) {
      empty_run(run, relation, {std::max(horizon.ns, run.series->newest().ns + 1)});
      continue;
    }
    run.series->forget_before(horizon, retired);
    left -= std::min(left, run.series->size());
  }
  while (track.runs.size() > options.max_runs || (track.runs.size() > 1 && track.runs[0].is_placeholder())) erase_run(track, 0);
}

/// All its samples are forgotten. It stays where it is: what lay before it must not come back.
void Forest::State::empty_run(RunRecord& run, const RelationRecord& relation, Stamp floor) {
  retired.retire(run.series.release());
  run.series = new_series(relation);
  run.series->begin_forgotten(floor);
}

void Forest::State::drop_unused_relations(TrackRecord& track) {
  std::erase_if(track.relations, [&](RelationId id) {
    const bool used = std::ranges::any_of(track.runs, [id](const RunRecord& run) { return run.relation == id; });
    if (used) return false;
    std::erase(frames[relations[id]->parent].hanging, id);
    relations[id].reset();
    return true;
  });
}

Failure Forest::State::check_stamps(const RelationRecord* relation, std::span<const std::int64_t> stamps) const {
  const Stamp last = relation == nullptr ? Stamp::always() : newest(*relation);
  const Stamp first = last == Stamp::always() ? last : earlier(last, relation->retention.history);
  for (std::size_t row = 0; row < stamps.size(); ++row) {
    const Stamp at{stamps[row]};
    if (!is_sample_stamp(at)) return Evidence{.kind = FailureKind::stamp_not_a_sample, .requested = at, .row = row};
    if (at < first)
      return Evidence{.kind = FailureKind::before_history, .relation = relation->id, .requested = at, .first = first, .last = last, .row = row};
  }
  return {};
}

Failure Forest::State::check_samples(const EdgeName& edge, const RelationRecord* relation,
                                     std::span<const std::int64_t> stamps) const {
  if (edge.of == edge.in_frame) return Evidence{.kind = FailureKind::frame_in_itself, .name = std::string(edge.of)};
  if (Failure failure = check_stamps(relation, stamps)) return failure;
  if (relation != nullptr && !relation->track->may_loop) return {};
  const auto [oldest, newest] = std::ranges::minmax(stamps);
  return check_loop(edge, relation, coverage_added(relation, {{oldest}, {newest}}));
}

/// What these samples would add to what their relation covers.
Coverage Forest::State::coverage_added(const RelationRecord* relation, Coverage samples) const {
  if (relation == nullptr) return samples;
  const TrackRecord& track = *relation->track;
  const std::ptrdiff_t k = track.run_at(samples.first);
  const auto next = static_cast<std::size_t>(k + 1);
  if (k >= 0 && track.runs[static_cast<std::size_t>(k)].relation == relation->id) {
    const Coverage covered = track.coverage(static_cast<std::size_t>(k));
    if (!covered.empty()) samples.first = std::min(samples.first, covered.last);
  }
  if (next < track.runs.size() && track.runs[next].relation == relation->id)
    samples.last = std::max(samples.last, track.runs[next].from);
  return samples;
}

/// A fixed or driven pose from `run.from` on.
Failure Forest::State::open_run(const EdgeName& edge, RunRecord run) {
  if (edge.of == edge.in_frame) return Evidence{.kind = FailureKind::frame_in_itself, .name = std::string(edge.of)};
  Coverage covers{run.from, Stamp::never()};
  if (const RelationRecord* known = find_relation(edge); known != nullptr && run.from != Stamp::always()) {
    const auto next = static_cast<std::size_t>(known->track->run_at(run.from) + 1);
    if (next < known->track->runs.size()) covers.last = {known->track->runs[next].from.ns - 1};
  }
  if (Failure failure = check_loop(edge, nullptr, covers)) return failure;
  RelationRecord& relation = make_relation(edge);
  TrackRecord& track = *relation.track;
  const bool had_parent = !track.runs.empty();
  run.parent = relation.parent;
  run.relation = relation.id;
  place_run(track, std::move(run));
  drop_unused_relations(track);
  publish(track.of);
  track.watches.fire_all();
  after_move(track.of, had_parent);
  return {};
}

/// One parent for all time and no circle: the sample changes nothing but its series.
bool Forest::State::write_in_place(RelationRecord& relation, const Sample& sample) {
  TrackRecord& track = *relation.track;
  if (track.runs.size() != 1 || track.may_loop) return false;
  RunRecord& run = track.runs.front();
  if (run.relation != relation.id || !run.is_sampled() || run.is_placeholder()) return false;
  if (sample.at < run.from) {
    if (frames[track.of].tracks.size() > 1) return false;  // rivals are told apart by when they begin
    run.from = sample.at;
  }
  run.series->insert(sample.at, sample.values, sample.side, retired);
  track.watches.inserted(sample.at);
  return true;
}

void Forest::State::write_sample(RelationRecord& relation, const Sample& sample) {
  if (write_in_place(relation, sample)) return;
  TrackRecord& track = *relation.track;
  const std::vector<Run> before = track.published();
  place_sample(track, relation, sample);
  expire_runs(track, relation);
  drop_unused_relations(track);
  const std::vector<Run> after = track.published();
  if (after != before) publish(track.of);
  if (!std::ranges::equal(after, before, {}, &Run::relation, &Run::relation)) after_move(track.of, !before.empty());
  track.watches.inserted(sample.at);
}

void Forest::State::after_move(FrameId frame, bool had_parent) {
  if (had_parent) return wake_everybody();
  structure_watches.parent_changed(frame);
}

/// Fixed runs stay. Where nothing is left, an empty run keeps the last parent.
void Forest::State::forget_samples(TrackRecord& track, bool fixed_is_always) {
  if (track.runs.empty()) return;
  const bool ends_fixed = !track.runs.back().is_sampled();
  if (fixed_is_always && ends_fixed) {
    while (track.runs.size() > 1) erase_run(track, 0);
    track.runs.front().from = Stamp::always();
    return drop_unused_relations(track);
  }
  RunRecord last{.from = Stamp::always(), .parent = track.runs.back().parent, .relation = track.runs.back().relation};
  for (std::size_t k = track.runs.size(); k-- > 0;)
    if (track.runs[k].is_sampled() || fixed_is_always) erase_run(track, k);
  if (track.runs.empty()) {
    last.series = new_series(*relations[last.relation]);
    track.runs.push_back(std::move(last));
  }
  drop_unused_relations(track);
}

void Forest::State::forget_all_samples(bool fixed_is_always) {
  std::vector<FrameId> changed;
  for (FrameId id = 0; id < frames.size(); ++id) {
    for (const auto& track : frames[id].tracks) forget_samples(*track, fixed_is_always);
    if (frames[id].alive) changed.push_back(id);
  }
  publish(changed);
  wake_everybody();
}

}  // namespace armillary
