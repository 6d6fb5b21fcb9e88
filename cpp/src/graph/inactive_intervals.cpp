// The frame of a thing that comes and goes: what others say of it is kept as they said it, and holds where the thing is there.

#include <algorithm>

#include "graph/journal.hpp"

namespace armillary {

void Forest::State::note_absences(const std::string& of, std::optional<KeepAway> noted) {
  if (journal != nullptr && !journal->absences.contains(of)) {
    const auto known = absences.find(of);
    journal->absences.emplace(of, known == absences.end() ? std::nullopt : std::optional(known->second));
  }
  put_back_absences(of, std::move(noted));
}

void Forest::State::put_back_absences(const std::string& of, std::optional<KeepAway> kept) {
  if (kept)
    absences.insert_or_assign(of, std::move(*kept));
  else
    absences.erase(of);
}

Failure Forest::State::apply(const KeepAway& edit) {
  note_absences(edit.of, edit.absences.empty() ? std::nullopt : std::optional(edit));
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return {};
  for (const auto& track : frames[of].tracks) {
    const bool speaks_for_it = std::ranges::find(edit.but, sources[track->source]) != edit.but.end();
    if (speaks_for_it && std::ranges::none_of(track->runs, &RunRecord::is_by_absence)) continue;
    if (Failure failure = renew_runs(*track)) return failure;
    poses_said(*track, Stamp::always(), Stamp::never());
  }
  return {};
}

/// The runs as they were said.
void Forest::State::drop_absences(TrackRecord& track) {
  for (std::size_t k = track.runs.size(); k-- > 0;) {
    if (!track.runs[k].is_by_absence) continue;
    erase_run(track, k);
    if (k > 0) join_runs(track, k - 1);
  }
}

void Forest::State::add_absences(TrackRecord& track) {
  if (absences.empty()) return;
  const auto known = absences.find(*frames[track.of].name);
  if (known == absences.end()) return;
  const std::vector<std::string>& but = known->second.but;
  if (std::ranges::find(but, sources[track.source]) != but.end()) return;
  for (const KeepAway::Absence& absence : known->second.absences) add_absence(track, absence);
}

namespace {

/// Whether something begins at `at`, or is said of it: that holds, whoever is away.
bool is_said(const RunRecord& run, Stamp at) {
  if (run.from == at || !run.is_sampled()) return run.from == at;
  const Row row = run.series->bracket(at).before;
  return row && row.stamp_ns() == at.ns;
}

}  // namespace

void Forest::State::add_absence(TrackRecord& track, const KeepAway::Absence& absence) {
  const std::ptrdiff_t holds = track.run_at(absence.from);
  if (holds < 0) return;
  const RunRecord& run = track.runs[static_cast<std::size_t>(holds)];
  if (run.is_closed() || run.is_placeholder() || is_said(run, absence.from)) return;
  place_run(track, {.from = absence.from, .is_by_absence = true, .said_from = absence.from});
  const std::ptrdiff_t last = track.run_at(absence.until);
  const bool is_back = absence.until != Stamp::never() && track.runs[static_cast<std::size_t>(last)].from == absence.from;
  if (is_back) go_on(track, static_cast<std::size_t>(last), absence.until);
}

/// What held before run `ended` was closed holds again from `at` on; where samples follow, as one with them.
void Forest::State::go_on(TrackRecord& track, std::size_t ended, Stamp at) {
  RunRecord again = track.runs[ended - 1];
  again.said_from = again.since();
  again.from = at;
  again.is_by_absence = !again.is_sampled();
  const std::size_t next = ended + 1;
  if (again.is_sampled()) {
    const std::shared_ptr<Series> before = std::exchange(again.series, new_series(again.relation));
    copy_last(*before, at, *again.series, retired);
    if (next < track.runs.size() && track.runs[next].is_sampled() && track.runs[next].relation == again.relation) {
      const Series& later = *track.runs[next].series;
      later.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) { copy_row(later, row, *again.series, retired); });
      erase_run(track, next);
    }
  }
  track.runs.insert(track.runs.begin() + static_cast<std::ptrdiff_t>(next), std::move(again));
}

}  // namespace armillary
