// The frame of a thing that comes and goes: what others assert of it is kept as asserted, and holds where the thing is there.
// Runs are cut when they are published, and where it matters what of them holds.

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/journal.hpp"

namespace armillary {

void Forest::State::note_inactive_intervals(const std::string& of, InactiveIntervalsPtr noted) {
  const auto known = inactive_intervals.find(of);
  if (is_kept_to_put_back())
    journal->inactive_intervals.try_emplace(of, known == inactive_intervals.end() ? nullptr : known->second);
  if (const FrameId frame = find_frame(of); frame != kNone) {
    touch(frame);
    frames[frame].inactive_intervals = noted;
  }
  put_back_inactive_intervals(of, std::move(noted));
}

void Forest::State::put_back_inactive_intervals(const std::string& of, InactiveIntervalsPtr kept) {
  if (kept)
    inactive_intervals.insert_or_assign(of, std::move(kept));
  else
    inactive_intervals.erase(of);
}

Failure Forest::State::apply(const SetInactiveIntervals& edit) {
  const auto known = inactive_intervals.find(edit.of);
  const bool is_known = known == inactive_intervals.end() ? edit.inactive_intervals.empty() : *known->second == edit;
  if (is_known) return {};
  const FrameId of = find_frame(edit.of);
  const auto is_cut_now = [&](const auto& track) { return is_cut(*track); };
  const bool was_cut = of != kNone && std::ranges::any_of(frames[of].tracks, is_cut_now);
  note_inactive_intervals(edit.of, edit.inactive_intervals.empty() ? nullptr : std::make_shared<SetInactiveIntervals>(edit));
  if (of == kNone || !(was_cut || std::ranges::any_of(frames[of].tracks, is_cut_now))) return {};
  bool may_be_on_cycle = false;
  for (const auto& track : frames[of].tracks) {
    may_be_on_cycle = may_be_on_cycle || track->may_be_on_cycle;
    if (Failure failure = track->may_be_on_cycle && !tolerates_cycles ? check_cycles(*track) : Failure{}) return failure;
  }
  publish(of);
  if (may_be_on_cycle && !watching.empty())  // where a cycle is cut depends on all of its data
    std::ranges::for_each(circular, [this](FrameId id) { structure_watches.frame_changed(id); });
  return {};
}

bool Forest::has_inactive_intervals(const std::string& of) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  return state_->inactive_intervals.contains(of);
}

// -- Parts of runs

Row RunPart::first_row() const {
  if (!is_sampled()) return {};
  const Series& series = *run->series();
  const Row row = rows.from == Stamp::always() ? series.first_row() : series.bracket({rows.from.ns - 1}).after;
  return row && row.stamp_ns() < rows.to.ns ? row : Row{};
}

Row RunPart::last_row() const {
  if (!is_sampled()) return {};
  const Row row = run->series()->bracket({rows.to.ns - 1}).before;
  return row && row.stamp_ns() >= rows.from.ns ? row : Row{};
}

bool RunPart::is_given_at(Stamp at) const {
  if (from == at || !is_sampled()) return from == at;
  const Row row = run->series()->bracket(at).before;
  return row && row.stamp_ns() == at.ns && !run->series()->is_computed(at);
}

Stamp RunPart::given_after(Stamp at) const {
  if (!is_sampled()) return Stamp::never();
  const Series& series = *run->series();
  Row row = series.bracket(at).after;
  while (row && series.is_computed({row.stamp_ns()})) row = series.bracket({row.stamp_ns()}).after;
  return row && row.stamp_ns() < rows.to.ns ? Stamp{row.stamp_ns()} : Stamp::never();
}

Interval lasting(const std::vector<RunPart>& parts, std::size_t k) {
  constexpr Interval kNever{Stamp::never(), Stamp::always()};
  const RunPart& part = parts[k];
  if (part.run == nullptr || part.run->is_closed() || part.run->breaks_body()) return kNever;
  const Interval lasts{part.from, k + 1 < parts.size() ? parts[k + 1].from : Stamp::never()};
  if (!part.is_sampled()) return lasts;
  const Row first = part.first_row();
  if (!first) return kNever;
  return common(lasts, {{first.stamp_ns()}, part.run->is_step() ? Stamp::never() : Stamp{part.last_row().stamp_ns() + 1}});
}

Intervals coverage_of(const std::vector<RunPart>& parts, std::size_t k) {
  const Intervals lasts = lasting(parts, k);
  return lasts.empty() || parts[k].run->on_cycle.empty() ? lasts : lasts - parts[k].run->on_cycle;
}

/// Whether inactive intervals may cut its runs.
bool Forest::State::is_cut(const TrackRecord& track) const {
  const InactiveIntervalsPtr& known = frames[track.of].inactive_intervals;
  if (!known || track.runs.empty() || known->inactive_intervals.back().from <= track.runs.front().from) return false;
  return std::ranges::find(known->but, sources[track.source]) == known->but.end();
}

namespace {

/// From which row on a pose goes on after an interval that begins at `at`: two, where there are. One alone would not show that
/// there were more, nor how it moved.
Stamp resumed_rows(const RunPart& part, Stamp at) {
  Stamp begin = at;
  for (int i = 0; i < 2; ++i) {
    const Row row = row_before(*part.run->series(), begin);
    if (!row || row.stamp_ns() < part.rows.from.ns) break;
    begin = {row.stamp_ns()};
  }
  return begin;
}

/// What holds at the begin of the interval ends there. It holds again from its end on, unless something is given between.
void cut_parts(std::vector<RunPart>& parts, const SetInactiveIntervals::Interval& interval) {
  const auto [from, until] = interval;
  const auto next = std::ranges::upper_bound(parts, from, {}, &RunPart::from);
  if (next == parts.begin()) return;
  RunPart& ended = *std::prev(next);
  const bool is_empty = ended.is_sampled() && !ended.first_row();
  if (ended.run == nullptr || ended.run->is_closed() || is_empty || ended.is_given_at(from)) return;
  const Stamp next_from = next == parts.end() ? Stamp::never() : next->from, given = ended.given_after(from);
  RunPart after = ended;
  if (given <= until && given != Stamp::never()) {
    after.from = after.rows.from = given;
  } else {
    after.from = until;
    if (after.is_sampled()) after.rows = {resumed_rows(ended, from), given == Stamp::never() ? from : ended.rows.to};
  }
  if (ended.is_sampled()) ended.rows.to = std::min(ended.rows.to, from);
  const auto closed = parts.insert(next, RunPart{.from = from});
  if (after.from < next_from) parts.insert(std::next(closed), after);
}

}  // namespace

std::vector<RunPart> Forest::State::parts_of(const TrackRecord& track) const {
  std::vector<RunPart> parts;
  parts.reserve(track.runs.size());
  for (const RunRecord& run : track.runs) parts.push_back({run.from, &run, parts.size()});
  if (is_cut(track))
    for (const SetInactiveIntervals::Interval& interval : frames[track.of].inactive_intervals->inactive_intervals)
      cut_parts(parts, interval);
  return parts;
}

/// Whether the frame of `track` has its parent by this relation at `at` or later.
bool Forest::State::holds_from(const TrackRecord& track, RelationId relation, Stamp at) const {
  const std::vector<RunPart> parts = parts_of(track);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool is_over = k + 1 < parts.size() && parts[k + 1].from <= at;
    if (parts[k].is_of(relation) && !is_over) return true;
  }
  return false;
}

// -- Publication

/// The parts of the runs of a track as runs. The last rows of a series stay in it: more may come.
TrackRecord Forest::State::cut_of(const TrackRecord& track, std::vector<std::shared_ptr<const Series>>& copies) {
  TrackRecord cut{.of = track.of, .source = track.source};
  std::vector<std::size_t> copied;
  for (const RunPart& part : parts_of(track)) {
    RunRecord run = part.run == nullptr ? RunRecord{} : *part.run;
    run.from = part.from;
    if (!part.is_sampled() || part.rows.to == Stamp::never()) {
      cut.runs.push_back(std::move(run));
      continue;
    }
    const auto rows = std::make_shared<Series>(kPoseWidth, Retention{.history = kWithoutEnd});
    const Series& all = *part.run->series();
    all.for_each(part.rows.from, {part.rows.to.ns - 1}, [&](const Row& row) { copy_row(all, row, *rows, retired); });
    if (rows->empty()) rows->begin_forgotten(part.rows.to);
    copied.push_back(cut.runs.size());
    cut.runs.push_back(run.with(rows));
  }
  const auto known = twists.empty() ? rigid.twists.end() : rigid.twists.find(rigid_body(track.of));
  for (const RelationId id : known == rigid.twists.end() ? std::vector<RelationId>() : known->second) {
    const TwistRecord& twist = *twists.at(id);
    if (twist.source != track.source || track.may_be_on_cycle || is_led(twist)) continue;
    for (const std::size_t k : copied)
      write_integrated(cut, twist, std::max(cut.runs[k].from, cut.runs[k].series()->newest_given()));
  }
  for (const std::size_t k : copied) copies.push_back(cut.runs[k].series());
  return cut;
}

}  // namespace armillary
