// The track of one frame by one source: runs of parents that depend only on the set of samples.
// Nothing here is seen by readers before it is published, but for rows added to a series they hold already.

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

Stamp TrackRecord::own_since(std::size_t k) const {
  Stamp since = Stamp::always();
  for (std::size_t i = 0; i < k; ++i)
    if (runs[i].relation == runs[k].relation && runs[i].is_sampled() && !runs[i].series()->empty())
      since = std::max(since, {runs[i].series()->newest().ns + 1});
  return since;
}

std::size_t TrackRecord::own_samples(std::size_t k) const {
  const Series& series = *runs[k].series();
  const Row first = series.first_row();
  if (!first || first.stamp_ns() >= own_since(k).ns) return series.size();
  std::size_t count = 0;
  series.for_each(own_since(k), Stamp::never(), [&](const Row&) { ++count; });
  return count;
}

void copy_row(const Series& from, const Row& row, Series& to, RetireList& retired) {
  if (from.is_computed({row.stamp_ns()})) {
    to.insert_computed({row.stamp_ns()}, {row.values(), kPoseWidth}, row.side, retired);
  } else {
    to.insert({row.stamp_ns()}, {row.values(), kPoseWidth}, row.side, retired);
  }
}

/// Two, where there are: one alone would not show that there were more, nor how it moved.
void copy_last(const Series& from, Stamp before, Series& to, RetireList& retired) {
  Stamp at{before.ns - 1};
  for (int i = 0; i < 2; ++i) {
    const Row row = from.bracket(at).before;
    if (!row) return;
    copy_row(from, row, to, retired);
    at = {row.stamp_ns() - 1};
  }
}

std::shared_ptr<Series> Forest::State::new_series(RelationId relation) {
  auto series = std::make_shared<Series>(kPoseWidth, relations[relation]->kept());
  if (!relations[relation]->gaps.empty()) series->set_gaps(relations[relation]->gaps, retired);
  return series;
}

void Forest::State::erase_run(TrackRecord& track, std::size_t k) {
  discard(track.runs.edit(k));
  track.runs.erase(k);
}

/// Two neighbouring runs under the same parent are one. A new series: readers keep the two they see.
void Forest::State::join_runs(TrackRecord& track, std::size_t k) {
  if (k + 1 >= track.runs.size()) return;
  const RunRecord &left = track.runs[k], &right = track.runs[k + 1];
  if (!left.is_sampled() || !right.is_sampled() || left.relation != right.relation) return;
  RunRecord both = left.with(new_series(left.relation));
  both.on_cycle = left.on_cycle | right.on_cycle;
  const Stamp floor = left.series()->empty() ? std::max(left.series()->floor(), right.series()->floor()) : left.series()->floor();
  if (floor != Stamp::always()) both.series()->begin_forgotten(floor);
  for (const RunRecord* run : {&left, &right})
    run->series()->for_each(Stamp::always(), Stamp::never(),
                            [&](const Row& row) { copy_row(*run->series(), row, *both.series(), retired); });
  erase_run(track, k + 1);
  RunRecord& joined = track.runs.edit(k);
  discard(joined);
  joined = std::move(both);
}

/// The rows before and after `at` become two runs; a row at `at` is dropped.
void Forest::State::split_run(TrackRecord& track, std::size_t k, Stamp at) {
  const RunRecord& whole = track.runs[k];
  RunRecord left = whole.with(new_series(whole.relation)), right = whole.with(new_series(whole.relation));
  whole.series()->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    if (row.stamp_ns() != at.ns)
      copy_row(*whole.series(), row, row.stamp_ns() < at.ns ? *left.series() : *right.series(), retired);
  });
  const bool left_was_forgotten = left.series()->empty() && whole.from < at;
  if (left_was_forgotten) left.series()->begin_forgotten(at);
  erase_run(track, k);
  if (!left.series()->empty() || left_was_forgotten) track.runs.insert(k++, std::move(left));
  if (right.series()->empty()) return;
  right.from = {right.series()->first_row().stamp_ns()};
  if (right.rank == Rank::fallback) right.rank = Rank::plain;  // the pose that a node was made with is the first one
  track.runs.insert(k, std::move(right));
}

/// There is one event per instant: what was given for `at` goes, unless it is a sample of `unless`.
void Forest::State::remove_event(TrackRecord& track, Stamp at, RelationId unless) {
  const std::ptrdiff_t found = track.run_at(at);
  if (found < 0) return;
  const auto k = static_cast<std::size_t>(found);
  const RunRecord& run = track.runs[k];
  if (run.is_sampled()) {
    const Row row = run.series()->bracket(at).before;
    const bool is_given = row && row.stamp_ns() == at.ns;
    const bool was_given = run.series()->empty() && run.from == at;  // and is forgotten since
    if (run.relation == unless || !(is_given || was_given)) return;
    const bool was_only = run.series()->size() <= 1 && run.from == at;
    split_run(track, k, at);
    if (was_only && k > 0) join_runs(track, k - 1);
  } else if (run.from == at && at != Stamp::always()) {
    erase_run(track, k);
    if (k > 0) join_runs(track, k - 1);
  }
}

/// A cleared track keeps its last parent until something new is given.
void Forest::State::drop_placeholder(TrackRecord& track, RelationId unless) {
  if (track.runs.size() != 1 || track.runs[0].from != Stamp::always()) return;
  if (track.runs[0].is_placeholder() && track.runs[0].relation != unless) erase_run(track, 0);
}

/// Samples that are to come, from `since` on. Where samples are given for that instant already, there is no need to wait. Of
/// what is asserted for one instant the last counts; what is fixed under the same parent before it holds until the first sample.
void Forest::State::await_run(TrackRecord& track, const RelationRecord& relation, Stamp since) {
  drop_placeholder(track, relation.id);
  if (const std::ptrdiff_t present = track.run_at(since); present >= 0) {
    const auto k = static_cast<std::size_t>(present);
    const RunRecord& before = track.runs[k];
    const Row row = before.is_sampled() ? before.series()->bracket(since).before : Row{};
    const bool is_its = before.relation == relation.id;
    if (is_run_of_node(before) || (row && row.stamp_ns() == since.ns)) return;
    if (before.from == since) {
      if (before.is_sampled() && (is_its || !before.is_awaited())) return;
      erase_run(track, k);
    } else if (is_its && !before.is_sampled()) {
      return;
    } else if (before.is_sampled() && before.series()->newest() > since) {
      split_run(track, k, since);
    }
  }
  RunRecord run = relation.sampled_run(since, {.series = new_series(relation.id), .is_awaited = true});
  track.runs.insert(static_cast<std::size_t>(track.run_at(since) + 1), std::move(run));
}

/// The first sample of a relation is there: its run begins with that.
void Forest::State::end_waiting(TrackRecord& track, RelationId relation) {
  const std::ptrdiff_t found = track.runs.awaited_of(relation);
  if (found < 0) return;
  const auto k = static_cast<std::size_t>(found);
  erase_run(track, k);
  if (k > 0) join_runs(track, k - 1);
}

void Forest::State::place_sample(TrackRecord& track, const RelationRecord& relation, const Sample& sample) {
  drop_placeholder(track, relation.id);
  end_waiting(track, relation.id);
  const std::ptrdiff_t present = track.run_at(sample.at);
  const bool moves = present >= 0 && track.runs[static_cast<std::size_t>(present)].relation != relation.id;
  if (moves) drop_integrated(track, sample.at);  // else they are integrated anew, in their places
  remove_event(track, sample.at, relation.id);
  const auto write = [&](std::size_t k) {
    unshare(track, k);
    track.runs[k].series()->insert(sample.at, sample.values, sample.side, retired);
  };
  const std::ptrdiff_t current = track.run_at(sample.at);
  if (current >= 0) {
    const auto k = static_cast<std::size_t>(current);
    const RunRecord& run = track.runs[k];
    if (run.relation == relation.id && run.is_sampled()) {
      if (run.from == Stamp::always()) track.runs.edit(k).from = sample.at;  // the first sample after a clear
      return write(k);
    }
    if (run.is_sampled() && run.series()->newest() > sample.at) split_run(track, k, sample.at);
  }
  const auto next = static_cast<std::size_t>(track.run_at(sample.at) + 1);
  if (next < track.runs.size() && track.runs[next].relation == relation.id && track.runs[next].is_sampled()) {
    track.runs.edit(next).from = sample.at;
    return write(next);
  }
  RunRecord fresh = relation.sampled_run(sample.at, {new_series(relation.id)});
  fresh.series()->insert(sample.at, sample.values, sample.side, retired);
  if (!track.runs.empty()) note_move(relation, sample.at);
  track.runs.insert(next, std::move(fresh));
}

/// A fixed, driven or closed run from `run.from` on, until the next run.
void Forest::State::place_run(TrackRecord& track, RunRecord run) {
  if (run.from == Stamp::always()) {
    for (const RunRecord& gone : track.runs) taken_back += gone.is_sampled() ? given_rows(*gone.series()) : 0;
    discard_all(track);
    track.runs.push_back(std::move(run));
    return;
  }
  drop_placeholder(track, kNone);
  drop_integrated(track, run.from);
  remove_event(track, run.from, kNone);
  const std::ptrdiff_t current = track.run_at(run.from);
  if (current >= 0) {
    const RunRecord& before = track.runs[static_cast<std::size_t>(current)];
    if (before.is_sampled() && before.series()->newest() > run.from)
      split_run(track, static_cast<std::size_t>(current), run.from);
  }
  const auto place = static_cast<std::size_t>(track.run_at(run.from) + 1);
  track.runs.insert(place, std::move(run));
}

/// Before a series is written to: what readers see, and a transaction under way may have to put back, stays as it is.
bool Forest::State::unshare(TrackRecord& track, std::size_t k) {
  if (journal == nullptr) return false;
  RunRecord& run = track.runs.edit(k);
  const bool is_shared = run.series().use_count() > 1;
  if (is_shared) std::get<Sampled>(run.provider).series = copy_of(run, Stamp::never(), Stamp::never());
  return is_shared;
}

/// Expiry is per relation, against its own newest.
void Forest::State::expire_runs(TrackRecord& track, const RelationRecord& relation) {
  const Stamp horizon = earlier(newest(relation), relation.retention.history);
  const bool is_counted = relation.retention.max_samples > 0;
  std::size_t left = relation.retention.max_samples;
  // What begins after the horizon is whole, and before one that is all forgotten there is nothing left.
  const auto from = is_counted ? track.runs.size() : static_cast<std::size_t>(track.run_at(horizon) + 1);
  for (std::ptrdiff_t next = track.runs.last_of(relation.id, from); next >= 0;
       next = track.runs.last_of(relation.id, static_cast<std::size_t>(next))) {
    const auto k = static_cast<std::size_t>(next);
    const RunRecord& run = track.runs[k];
    if (!run.is_sampled()) continue;
    if (run.is_placeholder()) {
      if (run.series()->floor() != Stamp::always()) break;
      continue;
    }
    if (run.series()->newest() < horizon || (is_counted && left == 0)) {
      empty_run(track, k, {std::max(horizon.ns, run.series()->newest().ns + 1)});
      continue;
    }
    if (run.series()->floor() < std::min(horizon, run.series()->newest())) unshare(track, k);
    track.runs[k].series()->forget_before(horizon, retired);
    left -= std::min(left, track.runs[k].series()->size());
  }
  bound_runs(track);
}

/// At most `max_runs`, and no forgotten run in front.
void Forest::State::bound_runs(TrackRecord& track) {
  while (track.waiting.size() > options.max_runs) track.waiting.erase(track.waiting.begin());
  const auto is_forgotten = [](const RunRecord& run) { return run.is_placeholder() && !run.is_awaited(); };
  while (track.runs.size() > options.max_runs || (track.runs.size() > 1 && is_forgotten(track.runs[0]))) erase_run(track, 0);
}

/// All its samples are forgotten. It stays where it is: what lay before it must not come back.
void Forest::State::empty_run(TrackRecord& track, std::size_t k, Stamp floor) {
  RunRecord& run = track.runs.edit(k);
  RunRecord emptied = run.with(new_series(run.relation));
  emptied.series()->begin_forgotten(floor);
  emptied.on_cycle = {};
  discard(run);
  run = std::move(emptied);
}

void Forest::State::drop_unused_relations(TrackRecord& track) {
  std::erase_if(track.relations, [&](RelationId id) {
    if (track.runs.has(id)) return false;
    touch(relations[id]->parent);
    std::erase(frames[relations[id]->parent].child_relations, id);
    relations.erase(id);
    return true;
  });
}

/// A run's samples, but for those from `from` until before `to`.
std::shared_ptr<Series> Forest::State::copy_of(const RunRecord& run, Stamp from, Stamp to) {
  std::shared_ptr<Series> twin = new_series(run.relation);
  if (run.series()->floor() != Stamp::always()) twin->begin_forgotten(run.series()->floor());
  run.series()->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    const bool is_left_out = from.ns <= row.stamp_ns() && row.stamp_ns() < to.ns;
    if (!is_left_out) copy_row(*run.series(), row, *twin, retired);
  });
  return twin;
}

/// A track to try an edit on: nothing in it is shared with what readers see.
TrackRecord Forest::State::copy_of(const TrackRecord& track) {
  TrackRecord copy{.of = track.of, .source = track.source, .may_be_on_cycle = track.may_be_on_cycle, .waiting = track.waiting};
  copy.was_cleared = track.was_cleared;
  for (const RunRecord& run : track.runs) {
    RunRecord twin = run;
    if (run.is_sampled()) std::get<Sampled>(twin.provider).series = copy_of(run, Stamp::never(), Stamp::never());
    copy.runs.push_back(std::move(twin));
  }
  return copy;
}

}  // namespace armillary
