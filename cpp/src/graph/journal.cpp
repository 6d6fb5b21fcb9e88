// All or nothing: a transaction keeps what it touches as it was, and puts it back when one of its edits fails.

#include "graph/journal.hpp"

#include <algorithm>

namespace armillary {

void Forest::State::begin(Journal& empty, bool puts_back) {
  empty.puts_back = puts_back;
  empty.relations_made = relations.size();
  empty.sources_made = sources.size();
  journal = &empty;
  if (!puts_back) return;
  empty.frames_made = frames.size();
  empty.variables_made = variables.size();
  empty.runs_unlinked = unlinked.size();
  empty.twists_unlinked = unlinked_twists.size();
  empty.names_gone = names_gone.size();
  empty.next_sequence = next_sequence;
  empty.bodies_changed = bodies_changed;
  empty.circular = circular;
  empty.cycle_order = cycle_order;
  empty.loops = loops;
}

void Forest::State::remember(FrameId id) {
  if (!journal->puts_back) return;
  const auto [place, is_new] = journal->frames.try_emplace(id);
  if (!is_new) return;
  FrameBefore& before = place->second;
  const FrameRecord& frame = frames[id];
  before = {.name = frame.name,
            .sequence = frame.sequence,
            .preferences = frame.preferences,
            .body = frame.body,
            .inactive_intervals = frame.inactive_intervals,
            .child_relations = frame.child_relations,
            .twists = frame.twists};
  for (const auto& track : frame.tracks) {
    TrackBefore& kept = before.tracks.emplace_back(TrackBefore{
        .source = track->source, .is_stale = track->is_stale, .may_be_on_cycle = track->may_be_on_cycle, .runs = track->runs});
    for (const RelationId relation : track->relations) kept.relations.push_back(*relations[relation]);
    kept.waiting = track->waiting;
  }
}

bool Forest::State::is_kept_to_put_back() const { return journal != nullptr && journal->puts_back; }

void Forest::State::remember_free_frames() {
  if (is_kept_to_put_back() && !journal->free_frames) journal->free_frames = free_frames;
}

void Forest::State::remember_variables() {
  if (is_kept_to_put_back() && !journal->hidden_variables) journal->hidden_variables = variables.hidden();
}

namespace {

/// Without the waits: they stay with the record that they know.
TwistRecord kept_of(const TwistRecord& twist) {
  return {.id = twist.id,
          .of = twist.of,
          .reference = twist.reference,
          .named = twist.named,
          .source = twist.source,
          .is_inactive = twist.is_inactive,
          .retention = twist.retention,
          .series = twist.series,
          .axes = twist.axes,
          .forgotten = twist.forgotten,
          .bases = twist.bases};
}

}  // namespace

void Forest::State::remember_bodies() {
  if (!is_kept_to_put_back() || journal->bodies) return;
  journal->bodies = BodiesBefore{.bodies = bodies, .body_ids = body_ids};
  for (const auto& [id, twist] : twists) {
    remember(twist->of);
    journal->bodies->twists.push_back(kept_of(*twist));
  }
}

namespace {

/// Shortens a list that grew.
template <typename List>
void cut(List& list, std::size_t size) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
}

}  // namespace

/// No reader has seen anything of it: what was made is freed, what was taken out is put back.
void Forest::State::roll_back() {
  Journal& before = *std::exchange(journal, nullptr);
  relations.cut(before.relations_made);
  for (std::size_t i = before.sources_made; i < sources.size(); ++i) source_ids.erase(sources[i]);
  cut(sources, before.sources_made);
  if (!before.puts_back) return;
  for (const auto& [id, kept] : before.frames)
    if (frames[id].alive) frame_ids.erase(*frames[id].name);
  for (auto& [id, kept] : before.frames) put_back(id, kept);
  cut(frames, before.frames_made);
  if (before.free_frames) free_frames = std::move(*before.free_frames);
  if (before.bodies) put_back(*before.bodies);
  forget_drives(before.relations_made, before.variables_made);
  if (before.hidden_variables) variables.cut(before.variables_made, std::move(*before.hidden_variables));
  for (auto& [name, kept] : before.inactive_intervals) put_back_inactive_intervals(name, std::move(kept));
  cut(unlinked, before.runs_unlinked);
  cut(unlinked_twists, before.twists_unlinked);
  cut(names_gone, before.names_gone);
  next_sequence = before.next_sequence;
  bodies_changed = before.bodies_changed;
  rigid.is_stale = !rigid.mounts.empty();
  rigid.has_moved = false;
  circular = std::move(before.circular);
  cycle_order = std::move(before.cycle_order);
  loops = std::move(before.loops);
  inactive_runs = loops.size();
}

/// Tracks that are still there stay where they are: waits know them.
void Forest::State::put_back(FrameId id, FrameBefore& before) {
  FrameRecord restored{.name = before.name,
                       .sequence = before.sequence,
                       .alive = before.name != nullptr,
                       .preferences = before.preferences,
                       .body = before.body,
                       .inactive_intervals = std::move(before.inactive_intervals),
                       .child_relations = std::move(before.child_relations),
                       .twists = std::move(before.twists)};
  for (TrackBefore& kept : before.tracks) {
    const auto is_it = [&](const auto& track) { return track != nullptr && track->source == kept.source; };
    const auto present = std::ranges::find_if(frames[id].tracks, is_it);
    const bool is_there = present != frames[id].tracks.end();
    restored.tracks.push_back(is_there ? std::move(*present)
                                       : std::make_unique<TrackRecord>(TrackRecord{.of = id, .source = kept.source}));
    put_back(*restored.tracks.back(), kept);
  }
  frames[id] = std::move(restored);
  if (frames[id].alive) frame_ids.emplace(*frames[id].name, id);
}

void Forest::State::put_back(TrackRecord& track, TrackBefore& before) {
  track.runs = std::move(before.runs);
  track.is_stale = before.is_stale;
  track.may_be_on_cycle = before.may_be_on_cycle;
  track.waiting = std::move(before.waiting);
  track.relations.clear();
  for (RelationRecord& kept : before.relations) {
    kept.track = &track;
    track.relations.push_back(kept.id);
    relations.put(kept.id, std::make_unique<RelationRecord>(std::move(kept)));
  }
}

void Forest::State::put_back(BodiesBefore& before) {
  bodies = std::move(before.bodies);
  body_ids = std::move(before.body_ids);
  std::erase_if(twists, [&](const auto& entry) {
    return std::ranges::none_of(before.twists, [&](const TwistRecord& kept) { return kept.id == entry.first; });
  });
  for (TwistRecord& kept : before.twists) {
    std::unique_ptr<TwistRecord>& twist = twists[kept.id];
    if (twist) kept.watches = std::move(twist->watches);
    twist = std::make_unique<TwistRecord>(std::move(kept));
  }
}

/// After publication: values that no run has any more. Those that another record shares are that one's to retire.
void Forest::State::retire_replaced(Journal& done) {
  for (auto& [id, frame] : done.frames)
    for (TrackBefore& track : frame.tracks)
      track.runs.for_each_unshared([this](RunRecord& run) {
        if (run.is_last_owner()) retired.retire(new RunRecord(std::move(run)));
        run.provider = Closed{};
      });
}

}  // namespace armillary
