// The frame of a thing that comes and goes: what others assert of it is kept as asserted, and holds where the thing is there.

#include <algorithm>

#include "graph/journal.hpp"

namespace armillary {

void Forest::State::note_inactive_intervals(const std::string& of, std::optional<SetInactiveIntervals> noted) {
  if (journal != nullptr && !journal->inactive_intervals.contains(of)) {
    const auto known = inactive_intervals.find(of);
    journal->inactive_intervals.emplace(of, known == inactive_intervals.end() ? std::nullopt : std::optional(known->second));
  }
  put_back_inactive_intervals(of, std::move(noted));
}

void Forest::State::put_back_inactive_intervals(const std::string& of, std::optional<SetInactiveIntervals> kept) {
  if (kept)
    inactive_intervals.insert_or_assign(of, std::move(*kept));
  else
    inactive_intervals.erase(of);
}

Failure Forest::State::apply(const SetInactiveIntervals& edit) {
  note_inactive_intervals(edit.of, edit.inactive_intervals.empty() ? std::nullopt : std::optional(edit));
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return {};
  for (const auto& track : frames[of].tracks) {
    const bool is_of_thing = std::ranges::find(edit.but, sources[track->source]) != edit.but.end();
    if (is_of_thing && std::ranges::none_of(track->runs, &RunRecord::is_by_interval)) continue;
    if (Failure failure = renew_runs(*track)) return failure;
    on_poses_inserted(*track, Stamp::always(), Stamp::never());
  }
  return {};
}

/// Removes the derived runs: those that were asserted remain.
void Forest::State::drop_inactive_intervals(TrackRecord& track) {
  for (std::size_t k = track.runs.size(); k-- > 0;) {
    if (!track.runs[k].is_by_interval) continue;
    erase_run(track, k);
    if (k > 0) join_runs(track, k - 1);
  }
}

void Forest::State::add_inactive_intervals(TrackRecord& track) {
  if (inactive_intervals.empty()) return;
  const auto known = inactive_intervals.find(*frames[track.of].name);
  if (known == inactive_intervals.end()) return;
  const std::vector<std::string>& but = known->second.but;
  if (std::ranges::find(but, sources[track.source]) != but.end()) return;
  for (const SetInactiveIntervals::Interval& interval : known->second.inactive_intervals) add_inactive_interval(track, interval);
}

namespace {

/// Whether a run begins at `at`, or has a sample there: that holds, inactive or not.
bool is_given(const RunRecord& run, Stamp at) {
  if (run.from == at || !run.is_sampled()) return run.from == at;
  const Row row = run.series()->bracket(at).before;
  return row && row.stamp_ns() == at.ns;
}

}  // namespace

void Forest::State::add_inactive_interval(TrackRecord& track, const SetInactiveIntervals::Interval& interval) {
  const std::ptrdiff_t holds = track.run_at(interval.from);
  if (holds < 0) return;
  const RunRecord& run = track.runs[static_cast<std::size_t>(holds)];
  if (run.is_closed() || run.is_placeholder() || is_given(run, interval.from)) return;
  place_run(track, {.from = interval.from, .is_by_interval = true, .asserted_from = interval.from});
  const std::ptrdiff_t last = track.run_at(interval.until);
  const bool is_back = interval.until != Stamp::never() && track.runs[static_cast<std::size_t>(last)].from == interval.from;
  if (is_back) resume_after(track, static_cast<std::size_t>(last), interval.until);
}

/// What held before run `ended` was closed holds again from `at` on; where samples follow, as one with them.
void Forest::State::resume_after(TrackRecord& track, std::size_t ended, Stamp at) {
  RunRecord again = track.runs[ended - 1];
  again.asserted_from = again.since();
  again.from = at;
  again.is_by_interval = !again.is_sampled();
  const std::size_t next = ended + 1;
  if (again.is_sampled()) {
    const std::shared_ptr<Series> before = again.series();
    again = again.with(new_series(again.relation));
    copy_last(*before, at, *again.series(), retired);
    if (next < track.runs.size() && track.runs[next].is_sampled() && track.runs[next].relation == again.relation) {
      const Series& later = *track.runs[next].series();
      later.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) { copy_row(later, row, *again.series(), retired); });
      erase_run(track, next);
    }
  }
  track.runs.insert(track.runs.begin() + static_cast<std::ptrdiff_t>(next), std::move(again));
}

}  // namespace armillary
