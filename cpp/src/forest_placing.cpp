// All that one source says of a frame at once: new runs in place of those before, with their samples.

#include <algorithm>

#include "forest_journal.hpp"

namespace armillary {

namespace {

using Piece = PlaceRuns::Piece;

bool is_open(const Piece& piece) { return !piece.in_frame.empty(); }

FixedPose fixed_of(const Piece& piece) {
  FixedPose pose{.value = piece.in_frame_T_of};
  if (piece.covariance) {
    pose.covariance = *piece.covariance;
    pose.certainty = Certainty::known;
  }
  return pose;
}

/// The sample that a piece begins with.
void write_first(const Piece& piece, Series& series, RetireList& retired) {
  std::array<double, 7> values{};
  std::array<double, Covariance::kPacked> side{};
  if (Failure failure = to_values(piece.in_frame_T_of, values)) return;  // checked before
  if (piece.covariance) piece.covariance->pack(side);
  series.insert(*piece.first_sample, values, piece.covariance ? side.data() : nullptr, retired);
}

bool is_in(const std::vector<Piece>& pieces, const std::string& frame) {
  return std::ranges::find(pieces, frame, &Piece::in_frame) != pieces.end();
}

bool is_first_of_thing(const std::vector<Piece>& pieces, std::size_t k) {
  return std::none_of(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](const Piece& piece) { return is_open(piece) && piece.thing == pieces[k].thing; });
}

/// Until when samples of its thing go to piece `k`: until the next one.
Stamp end_of_samples(const std::vector<Piece>& pieces, std::size_t k) {
  for (std::size_t i = k + 1; i < pieces.size(); ++i)
    if (is_open(pieces[i]) && pieces[i].thing == pieces[k].thing) return pieces[i].from;
  return Stamp::never();
}

/// Whose samples a run has; what was said before any thing was placed is of the last one.
std::size_t thing_of(const PlaceRuns& edit, const RunRecord& run) {
  const Piece* found = nullptr;
  for (const Piece& piece : edit.before)
    if (is_open(piece) && (found == nullptr || piece.from <= run.from)) found = &piece;
  return found == nullptr ? edit.after.back().thing : found->thing;
}

/// Where nothing is divided nor joined, the samples stay as they are.
std::shared_ptr<Series> only_series(const PlaceRuns& edit, const std::vector<RunRecord>& before) {
  const auto is_new = [](const Piece& piece) { return piece.first_sample.has_value(); };
  if (std::ranges::count_if(edit.after, is_open) != 1 || std::ranges::any_of(edit.after, is_new)) return nullptr;
  const auto first = std::ranges::find_if(before, &RunRecord::is_sampled);
  return std::ranges::count_if(before, &RunRecord::is_sampled) == 1 ? first->series : nullptr;
}

}  // namespace

Failure Forest::State::check_pieces(const PlaceRuns& edit) const {
  for (const Piece& piece : edit.after) {
    if (!is_open(piece)) continue;
    std::array<double, 7> values{};
    if (Failure failure = to_values(piece.in_frame_T_of, values)) return failure;
    const FixedPose pose = fixed_of(piece);
    if (Failure failure = check_constant({edit.of, piece.in_frame, edit.source}, piece.is_fixed ? &pose : nullptr, false))
      return failure;
  }
  return {};
}

/// Others may have moved the frame to where this source did not: that stays.
bool Forest::State::is_replaced(const PlaceRuns& edit, const RunRecord& run) const {
  if (run.is_closed() || run.is_of_scene) return true;
  if (run.fixed) return false;
  const std::string& parent = *frames[run.parent].name;
  return is_in(edit.before, parent) || is_in(edit.after, parent);
}

/// The one there is, or one that is not needed where it was: it keeps its number.
RelationRecord& Forest::State::relation_of(const PlaceRuns& edit, const std::string& in_frame) {
  const FrameId of = find_frame(edit.of), parent = add_frame(in_frame);
  if (RelationRecord* known = find_relation(of, parent, find_source(edit.source))) return *known;
  for (const RelationId id : find_track(of, find_source(edit.source))->relations) {
    RelationRecord& free = *relations[id];
    const std::string& old = *frames[free.parent].name;
    if (is_in(edit.after, old) || !is_in(edit.before, old)) continue;
    for (const FrameId touched : {free.parent, parent}) touch(touched);
    std::erase(frames[free.parent].hanging, id);
    frames[parent].hanging.push_back(id);
    free.parent = parent;
    return free;
  }
  return make_relation({edit.of, in_frame, edit.source});
}

/// All samples of the thing that piece `k` is about.
std::shared_ptr<Series> Forest::State::history_of(const PlaceRuns& edit, std::size_t k, const std::vector<RunRecord>& before,
                                                  RelationId relation) {
  const Piece& piece = edit.after[k];
  std::shared_ptr<Series> all = new_series(relation);
  for (const RunRecord& run : before) {
    if (!run.is_sampled() || thing_of(edit, run) != piece.thing) continue;
    if (run.series->floor() > all->floor()) all->begin_forgotten(run.series->floor());
    run.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) { copy_row(*run.series, row, *all, retired); });
  }
  if (piece.first_sample) write_first(piece, *all, retired);
  return all;
}

/// Every sample is in one run, and the last ones before a run was closed in that which goes on from them as well.
std::shared_ptr<Series> Forest::State::samples_of(const PlaceRuns& edit, std::size_t k, const std::vector<RunRecord>& before,
                                                  RelationId relation) {
  if (const std::shared_ptr<Series> all = only_series(edit, before)) return all;
  const std::shared_ptr<Series> all = history_of(edit, k, before, relation);
  const bool is_first = is_first_of_thing(edit.after, k);
  const Stamp from = is_first ? Stamp::always() : edit.after[k].from, end = end_of_samples(edit.after, k);
  if (is_first && end == Stamp::never()) return all;
  std::shared_ptr<Series> samples = new_series(relation);
  if (is_first && all->floor() != Stamp::always()) samples->begin_forgotten(all->floor());
  if (!is_first) copy_last(*all, from, *samples, retired);
  all->for_each(from, {end.ns - 1}, [&](const Row& row) { copy_row(*all, row, *samples, retired); });
  return samples;
}

RunRecord Forest::State::run_of(const PlaceRuns& edit, std::size_t k, const std::vector<RunRecord>& before) {
  const Piece& piece = edit.after[k];
  RunRecord run{.from = piece.from, .is_of_scene = true};
  if (!is_open(piece)) return run;
  RelationRecord& relation = relation_of(edit, piece.in_frame);
  relation.is_of_scene = true;
  run.parent = relation.parent;
  run.relation = relation.id;
  if (piece.is_fixed) {
    auto pose = std::make_shared<FixedPose>(fixed_of(piece));
    std::array<double, 7> values{};
    (void)to_values(pose->value, values);
    pose->value.rotation = {values[0], values[1], values[2], values[3]};
    run.fixed = std::move(pose);
    return run;
  }
  run.series = samples_of(edit, k, before, relation.id);
  const Row first = run.series->first_row();
  const Stamp next = k + 1 < edit.after.size() ? edit.after[k + 1].from : Stamp::never();
  if (first && first.stamp_ns() < next.ns) run.from = std::max(run.from, {first.stamp_ns()});
  return run;
}

/// Said by others: where it comes among the new runs is a matter of when.
void Forest::State::place_again(TrackRecord& track, RunRecord run) {
  if (!run.is_sampled()) return place_run(track, std::move(run));
  run.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    Sample sample{{row.stamp_ns()}, {}, row.side};
    std::copy_n(row.values(), sample.values.size(), sample.values.begin());
    place_sample(track, *relations[run.relation], sample);
  });
}

Failure Forest::State::apply(const PlaceRuns& edit) {
  if (Failure failure = check_pieces(edit)) return failure;
  const FrameId of = add_frame(edit.of);
  touch(of);
  TrackRecord& track = make_track(of, add_source(edit.source));
  std::vector<RunRecord> before, others;
  for (RunRecord& run : track.runs) (is_replaced(edit, run) ? before : others).push_back(run);
  std::vector<RunRecord> runs;
  for (std::size_t k = 0; k < edit.after.size(); ++k) runs.push_back(run_of(edit, k, before));
  for (RunRecord& run : track.runs) discard(run);
  track.runs = std::move(runs);
  for (RunRecord& run : others) place_again(track, std::move(run));
  bound_runs(track);
  drop_unused_relations(track);
  publish(of);
  poses_said(track, Stamp::always(), Stamp::never());
  return {};
}

/// All is in place: at no instant may it run in a circle.
Failure Forest::State::check_placed(const PlaceRuns& edit) {
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return {};  // a later edit erased it
  TrackRecord& track = make_track(of, find_source(edit.source));
  const std::vector<RelationId> hung = track.relations;
  for (const RelationId id : hung)
    if (reaches(relations[id]->parent, track.of)) mark_circle(track.of, relations[id]->parent);
  if (track.may_loop) {
    if (Failure failure = tolerates_loops ? Failure{} : check_loops(track)) return failure;
    publish(std::vector<FrameId>(circular.begin(), circular.end()));
  }
  if (!circular.empty()) refresh_circles();
  return {};
}

}  // namespace armillary
