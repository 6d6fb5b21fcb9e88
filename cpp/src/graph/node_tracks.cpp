// All runs of a frame by one source at once: new runs in place of those before, with their samples.

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/journal.hpp"

namespace armillary {

namespace {

using Piece = PlaceRuns::Piece;

bool is_open(const Piece& piece) { return !piece.in_frame.empty(); }
bool is_fixed(const RunRecord& run) { return run.fixed() != nullptr; }

/// The pose with its quaternion as it is stored.
FixedPose fixed_of(const Piece& piece) {
  FixedPose pose{.value = piece.in_frame_T_of};
  std::array<double, 7> values{};
  if (!to_values(pose.value, values)) pose.value.rotation = {values[0], values[1], values[2], values[3]};
  if (piece.covariance) {
    pose.covariance = *piece.covariance;
    pose.certainty = Certainty::known;
  }
  return pose;
}

/// The pose of a piece, or of a late sample, as a row.
template <typename Given>
void write_row(const Given& given, Stamp at, Series& series, RetireList& retired) {
  std::array<double, 7> values{};
  std::array<double, Covariance::kPacked> side{};
  if (Failure failure = to_values(given.in_frame_T_of, values)) return;  // checked before
  if (given.covariance) given.covariance->pack(side);
  series.insert(at, values, given.covariance ? side.data() : nullptr, retired);
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

/// Whose samples a run has; what was given before any thing was placed is of the last one.
PlaceRuns::Thing thing_of(const PlaceRuns& edit, const RunRecord& run) {
  const Piece* found = nullptr;
  for (const Piece& piece : edit.before)
    if (is_open(piece) && (found == nullptr || piece.from <= run.from)) found = &piece;
  if (found == nullptr && !edit.after.empty()) found = &edit.after.back();
  return found == nullptr ? PlaceRuns::Thing{} : found->thing;
}

bool is_placed(const std::vector<Piece>& pieces, const PlaceRuns::Thing& thing) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) { return is_open(piece) && piece.thing == thing; });
}

/// Where nothing is divided nor joined, the samples stay as they are.
std::shared_ptr<Series> only_series(const PlaceRuns& edit, const std::vector<RunRecord>& before) {
  const auto place = std::ranges::find_if(edit.after, is_open);
  if (!edit.late.empty() || std::ranges::count_if(edit.after, is_open) != 1 || place->first_sample) return nullptr;
  const auto run = std::ranges::find_if(before, &RunRecord::is_sampled);
  const bool is_one = std::ranges::count_if(before, &RunRecord::is_sampled) == 1;
  return is_one && thing_of(edit, *run) == place->thing ? run->series() : nullptr;
}

/// The last place of a thing.
const Piece* last_place(const PlaceRuns& edit, const PlaceRuns::Thing& thing) {
  const Piece* found = nullptr;
  for (const Piece& piece : edit.after)
    if (is_open(piece) && piece.thing == thing) found = &piece;
  return found;
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
  for (const PlaceRuns::Late& late : edit.late)
    if (Failure failure = check_late(edit, late)) return failure;
  return {};
}

Failure Forest::State::check_late(const PlaceRuns& edit, const PlaceRuns::Late& late) const {
  std::array<double, 7> values{};
  if (Failure failure = to_values(late.in_frame_T_of, values)) return failure;
  const Piece* place = last_place(edit, late.thing);
  if (place == nullptr) return {};
  const EdgeName edge{edit.of, place->in_frame, edit.source};
  if (Failure failure = check_constant(edge, nullptr, false)) return failure;
  return check_stamps(find_relation(edge), {&late.at.ns, 1});
}

/// Others may have moved the frame to where this source did not: that stays.
bool Forest::State::is_replaced(const PlaceRuns& edit, const RunRecord& run) const {
  if (run.is_closed() || run.is_of_node()) return true;
  if (is_fixed(run)) return false;
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
    std::erase(frames[free.parent].child_relations, id);
    frames[parent].child_relations.push_back(id);
    free.parent = parent;
    return free;
  }
  return make_relation({edit.of, in_frame, edit.source});
}

/// All samples of each thing, wherever they were until now.
Histories Forest::State::histories_of(const PlaceRuns& edit, const std::vector<RunRecord>& before, const Histories& waiting) {
  Histories all;
  const auto of = [&](const PlaceRuns::Thing& thing) -> Series& {
    std::shared_ptr<Series>& history = all[thing];
    if (!history) history = std::make_shared<Series>(kPoseWidth, Retention{.history = kWithoutEnd});
    return *history;
  };
  const auto add = [&](const PlaceRuns::Thing& thing, const Series& samples) {
    Series& history = of(thing);
    if (samples.floor() > history.floor()) history.begin_forgotten(samples.floor());
    samples.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) { copy_row(samples, row, history, retired); });
  };
  for (const Piece& piece : edit.after)
    if (piece.first_sample && !waiting.contains(piece.thing)) write_row(piece, *piece.first_sample, of(piece.thing), retired);
  for (const auto& [thing, samples] : waiting) add(thing, *samples);
  for (const RunRecord& run : before)
    if (run.is_sampled()) add(thing_of(edit, run), *run.series());
  for (const PlaceRuns::Late& late : edit.late) write_row(late, late.at, of(late.thing), retired);
  return all;
}

/// Every sample is in one run, and the last ones before a run was closed in that which goes on from them as well.
std::shared_ptr<Series> Forest::State::samples_of(const PlaceRuns& edit, std::size_t k, const Series& all, RelationId relation) {
  const bool is_first = is_first_of_thing(edit.after, k);
  const Stamp from = is_first ? Stamp::always() : edit.after[k].from, end = end_of_samples(edit.after, k);
  std::shared_ptr<Series> samples = new_series(relation);
  if (is_first && all.floor() != Stamp::always()) samples->begin_forgotten(all.floor());
  if (!is_first) copy_last(all, from, *samples, retired);
  all.for_each(from, {end.ns - 1}, [&](const Row& row) { copy_row(all, row, *samples, retired); });
  return samples;
}

/// Adds the runs of one piece: a constant pose holds until the first sample of its thing.
void Forest::State::add_runs(const PlaceRuns& edit, std::size_t k, const std::shared_ptr<Series>& samples,
                             const RelationRecord& relation, std::vector<RunRecord>& runs) {
  const Piece& piece = edit.after[k];
  const RunRecord run{
      .from = piece.from, .parent = relation.parent, .relation = relation.id, .origin = Origin::containment, .rank = piece.rank};
  const Row first = samples ? samples->first_row() : Row{};
  const Stamp next = k + 1 < edit.after.size() ? edit.after[k + 1].from : Stamp::never();
  const bool holds_samples = first && first.stamp_ns() < next.ns;
  if (piece.is_fixed && !(holds_samples && first.stamp_ns() <= piece.from.ns))
    runs.emplace_back(run).provider = Fixed{std::make_shared<const FixedPose>(fixed_of(piece))};
  if (piece.is_fixed && !holds_samples) return;
  RunRecord& sampled = runs.emplace_back(run.with(samples ? samples : new_series(relation.id)));
  if (holds_samples) sampled.from = std::max(piece.from, {first.stamp_ns()});
  if (sampled.rank != Rank::statement) sampled.rank = piece.made_at == sampled.from ? Rank::fallback : Rank::plain;
}

/// Samples that no run has are kept for when the thing has a parent again.
void Forest::State::keep_waiting(TrackRecord& track, const PlaceRuns::Thing& thing, const std::shared_ptr<Series>& samples) {
  if (samples->empty()) return;
  std::shared_ptr<Series>& kept = track.waiting[thing];
  if (!kept) {
    kept = samples;
    return;
  }
  const auto both = std::make_shared<Series>(kPoseWidth, Retention{.history = kWithoutEnd});
  for (const Series* one : {kept.get(), samples.get()})
    one->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) { copy_row(*one, row, *both, retired); });
  kept = both;
}

/// New runs in place of those before.
std::vector<RunRecord> Forest::State::merged_runs(TrackRecord& track, const PlaceRuns& edit,
                                                  const std::vector<RunRecord>& before) {
  std::vector<RunRecord> runs;
  const Histories waiting = std::exchange(track.waiting, {});
  const std::shared_ptr<Series> only = waiting.empty() ? only_series(edit, before) : nullptr;
  const Histories histories = only ? Histories{} : histories_of(edit, before, waiting);
  for (std::size_t k = 0; k < edit.after.size(); ++k) {
    const Piece& piece = edit.after[k];
    if (!is_open(piece)) {
      runs.push_back({.from = piece.from, .origin = Origin::containment});
      continue;
    }
    RelationRecord& relation = relation_of(edit, piece.in_frame);
    relation.is_of_scene = true;
    const auto history = histories.find(piece.thing);
    std::shared_ptr<Series> samples = only;
    if (!only && history != histories.end()) samples = samples_of(edit, k, *history->second, relation.id);
    add_runs(edit, k, samples, relation, runs);
    if (samples && !runs.back().is_sampled()) keep_waiting(track, piece.thing, samples);
  }
  for (const auto& [thing, history] : histories)
    if (!is_placed(edit.after, thing)) keep_waiting(track, thing, history);
  return runs;
}

/// Inserts a run of others among the new ones by its begin. What always was gives way to what follows.
void Forest::State::place_again(TrackRecord& track, RunRecord run) {
  const auto is_always = [](const RunRecord& one) { return one.from == Stamp::always(); };
  if (!run.is_sampled() && is_always(run)) {
    if (std::ranges::none_of(track.runs, is_always)) track.runs.insert(0, std::move(run));
    return;
  }
  if (!run.is_sampled()) return place_run(track, std::move(run));
  run.series()->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    Sample sample{{row.stamp_ns()}, {}, row.side};
    std::copy_n(row.values(), sample.values.size(), sample.values.begin());
    place_sample(track, *relations[run.relation], sample);
  });
}

/// What others asserted by this source stays, as in `merged_runs`.
void Forest::State::place_since(TrackRecord& track, const PlaceRuns& edit) {
  const Stamp since = *edit.since;
  std::vector<RunRecord> others;
  while (!track.runs.empty() && since <= track.runs.back().from) {
    if (const RunRecord& run = track.runs.back(); !is_replaced(edit, run)) others.push_back(run);
    erase_run(track, track.runs.size() - 1);
  }
  for (const Piece& piece : edit.after) {
    if (piece.from < since) continue;
    RunRecord run{.from = piece.from, .origin = Origin::containment};
    if (is_open(piece)) {
      RelationRecord& relation = relation_of(edit, piece.in_frame);
      relation.is_of_scene = true;
      run.parent = relation.parent, run.relation = relation.id, run.rank = piece.rank;
      run.provider = Fixed{std::make_shared<const FixedPose>(fixed_of(piece))};
    }
    track.runs.push_back(std::move(run));
  }
  for (auto run = others.rbegin(); run != others.rend(); ++run) place_again(track, std::move(*run));
  bound_runs(track);
  drop_unused_relations(track);
  publish(track.of);
  on_poses_inserted(track, since, Stamp::never());
}

Failure Forest::State::apply(const PlaceRuns& edit) {
  if (edit.is_again && find_frame(edit.of) == kNone) return {};
  if (Failure failure = check_pieces(edit)) return failure;
  const FrameId of = add_frame(edit.of);
  touch(of);
  TrackRecord& track = make_track(of, add_source(edit.source));
  if (edit.since) return place_since(track, edit), Failure{};
  std::vector<RunRecord> before, others;
  for (const RunRecord& run : track.runs) (is_replaced(edit, run) ? before : others).push_back(run);
  std::vector<RunRecord> runs = merged_runs(track, edit, before);
  discard_all(track);
  track.runs = RunList(std::move(runs));
  for (RunRecord& run : others) place_again(track, std::move(run));
  bound_runs(track);
  drop_unused_relations(track);
  publish(of);
  for (const PlaceRuns::Late& late : edit.late) track.watches.inserted(late.at);
  on_poses_inserted(track, Stamp::always(), Stamp::never());
  return {};
}

/// Checks that the placed runs close no cycle at any instant.
Failure Forest::State::check_placed(const std::string& frame, const std::string& source) {
  const FrameId of = find_frame(frame);
  if (of == kNone) return {};  // a later edit erased it
  TrackRecord& track = make_track(of, find_source(source));
  const std::vector<RelationId> relations_before = track.relations;
  for (const RelationId id : relations_before)
    if (reaches(relations[id]->parent, track.of)) mark_cycle(track.of, relations[id]->parent);
  if (track.may_be_on_cycle) {
    if (Failure failure = tolerates_cycles ? Failure{} : check_cycles(track)) return failure;
    publish(std::vector<FrameId>(circular.begin(), circular.end()));
  }
  if (!circular.empty()) refresh_cycles();
  return {};
}

}  // namespace armillary
