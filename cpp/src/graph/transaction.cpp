// Several edits that readers see at once. Each is the single edit of its kind; publishing waits until all have passed.

#include <algorithm>
#include <variant>

#include "armillary/series/pose_row.hpp"
#include "graph/journal.hpp"

namespace armillary {

namespace {

Failure unknown(const std::string& name) { return Evidence{.kind = FailureKind::unknown_frame, .name = name}; }

bool is_instant(Stamp at) { return at == Stamp::always() || is_sample_stamp(at); }

}  // namespace

Failure Forest::State::apply(const AddFrame& edit) {
  add_frame(edit.of);
  return {};
}

/// Whether the frame has runs by the source of a node from before the node was known.
bool Forest::State::joins_others(const PlaceFixed& edit) const {
  const FrameId known = edit.is_of_scene ? find_frame(edit.of) : kNone;
  const TrackRecord* track = known == kNone ? nullptr : find_track(known, find_source(edit.source));
  const auto is_given = [](const RunRecord& run) { return !run.is_of_node(); };
  return track != nullptr && std::ranges::any_of(track->runs, is_given);
}

/// What other sources gave stays.
Failure Forest::State::apply(const PlaceFixed& edit) {
  if (joins_others(edit)) {
    PlaceRuns::Piece piece{.from = edit.from, .in_frame = edit.in_frame, .in_frame_T_of = edit.pose->value};
    if (edit.pose->certainty == Certainty::known) piece.covariance = edit.pose->covariance;
    piece.rank = edit.rank;
    return apply(PlaceRuns{edit.of, edit.source, {}, {std::move(piece)}});
  }
  const EdgeName edge{edit.of, edit.in_frame, edit.source};
  Failure failure =
      fix(edge, edit.from, edit.pose, edit.recalibrate, edit.rank, edit.is_of_scene ? Origin::containment : Origin::asserted);
  if (!failure && edit.is_of_scene) find_relation(edge)->is_of_scene = true;
  return failure;
}

Failure Forest::State::apply(const PlaceSample& edit) {
  std::array<double, Covariance::kPacked> side;
  if (edit.covariance) edit.covariance->pack(side);
  Sample sample{edit.at, {}, edit.covariance ? side.data() : nullptr, edit.base ? &*edit.base : nullptr};
  if (Failure failure = to_values(edit.in_frame_T_of, sample.values)) return failure;
  if (edit.is_as_stored) sample.values = values_of(edit.in_frame_T_of);
  const EdgeName edge{edit.of, edit.in_frame, edit.source};
  if (RelationRecord* known = journal == nullptr ? find_relation(edge) : nullptr) return write_known(*known, sample);
  Failure failure = write(edge, {&edit.at.ns, 1}, sample.values.data(), sample.side, sample.base);
  if (failure || !edit.is_of_scene) return failure;
  RelationRecord& relation = *find_relation(edge);
  relation.is_of_scene = true;
  RunList& runs = relation.track->runs;
  const std::ptrdiff_t k = runs.run_at(edit.at);
  const RunRecord* run = k < 0 ? nullptr : &runs[static_cast<std::size_t>(k)];
  const bool begins = run != nullptr && run->relation == relation.id && run->is_sampled() && run->from == edit.at;
  if (begins) runs.edit(static_cast<std::size_t>(k)).rank = Rank::fallback;
  return {};
}

Failure Forest::State::apply(const PlaceSamples& edit) {
  return write({edit.of, edit.in_frame, edit.source}, edit.stamps, edit.rows, edit.sides);
}

Failure Forest::State::apply(const PlaceTwist& edit) {
  if (const FrameId of = find_frame(edit.of); of != kNone) touch(of);
  remember_bodies();
  return set_twist({edit.of, edit.relative_to, edit.source}, {.at = edit.at,
                                                              .expressed_in = edit.expressed_in,
                                                              .velocity = edit.velocity,
                                                              .covariance = edit.covariance ? &*edit.covariance : nullptr});
}

/// A frame that was erased meanwhile has no parent already.
Failure Forest::State::apply(const CloseFrame& edit) {
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return {};
  if (!is_instant(edit.at)) return Evidence{.kind = FailureKind::stamp_not_a_sample, .requested = edit.at};
  return close_track(of, add_source(edit.source), edit.at);
}

Failure Forest::State::apply(const EraseFrame& edit) {
  const FrameId of = find_frame(edit.of);
  if (of == kNone && !edit.is_forgotten) return unknown(edit.of);
  Failure failure = of == kNone ? Failure{} : remove(of, false);
  if (!failure && edit.is_forgotten) note_inactive_intervals(edit.of, nullptr);
  return failure;
}

Failure Forest::State::apply(const ExpectNothingUnder& edit) {
  std::vector<FrameId> path = frames_under(edit.frames, edit.at, true);
  if (path.empty()) return {};
  const FrameId of = find_frame(edit.frames.front());
  path.insert(path.begin(), of);
  return Evidence{.kind = FailureKind::frame_in_use, .of = of, .path = std::move(path)};
}

std::vector<FrameId> Forest::State::frames_under(std::span<const std::string> names, Stamp at, bool but_nodes) const {
  std::vector<FrameId> all;
  for (const std::string& name : names)
    if (const FrameId id = find_frame(name); id != kNone) all.push_back(id);
  std::unordered_set<FrameId> known(all.begin(), all.end());
  const auto given = static_cast<std::ptrdiff_t>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const RelationId id : frames[all[i]].child_relations) {
      const RelationRecord& relation = *relations[id];
      if (but_nodes && relation.is_of_scene) continue;
      if (holds_from(*relation.track, id, at) && known.insert(relation.of).second) all.push_back(relation.of);
    }
  all.erase(all.begin(), all.begin() + given);
  std::ranges::sort(all, {}, [this](FrameId id) { return frames[id].sequence; });
  return all;
}

/// Frames that the failed transaction made are gone with it: the failure keeps their names.
void Forest::State::keep_names(Evidence& evidence) const {
  std::vector<FrameId> ids = evidence.path;
  ids.insert(ids.end(), {evidence.of, evidence.in_frame});
  for (const FrameId id : ids)
    if (id != kNone && journal->frames.contains(id) && frames[id].alive) evidence.names.emplace_back(id, *frames[id].name);
}

Failure Forest::State::apply_all(std::span<const FrameEdit> edits) {
  const auto for_each = [&](auto pass) -> Failure {
    for (std::size_t i = 0; i < edits.size(); ++i) {
      Failure failure = pass(edits[i]);
      if (!failure) continue;
      failure->edit = i;
      keep_names(*failure.operator->());
      return failure;
    }
    return {};
  };
  Failure failure =
      for_each([this](const FrameEdit& one) { return std::visit([this](const auto& edit) { return apply(edit); }, one); });
  if (failure) return failure;
  integrate_after_mounts();
  return for_each([this](const FrameEdit& one) {
    if (const auto* ranking = std::get_if<ResolveCycles>(&one)) resolve_cycles(ranking);
    if (const auto* runs = std::get_if<PlaceRuns>(&one)) return check_placed(runs->of, runs->source);
    const auto* fixed = std::get_if<PlaceFixed>(&one);
    return fixed != nullptr && joins_others(*fixed) ? check_placed(fixed->of, fixed->source) : Failure{};
  });
}

/// One sample of a relation that exists is seen at once by itself: nothing has to be kept.
const PlaceSample* Forest::State::lone_sample(std::span<const FrameEdit> edits) const {
  const auto* sample = edits.size() == 1 ? std::get_if<PlaceSample>(&edits[0]) : nullptr;
  const bool is_known = sample != nullptr && find_relation({sample->of, sample->in_frame, sample->source}) != nullptr;
  return is_known ? sample : nullptr;
}

namespace {

/// Whether an edit changes all or nothing by itself, so that nothing has to be kept to put it back.
bool is_whole(const FrameEdit& edit) {
  if (const auto* fixed = std::get_if<PlaceFixed>(&edit)) return !fixed->is_of_scene;
  return std::holds_alternative<AddFrame>(edit) || std::holds_alternative<PlaceSamples>(edit) ||
         std::holds_alternative<PlaceTwist>(edit) || std::holds_alternative<PreferSources>(edit) ||
         (std::holds_alternative<PlaceSample>(edit) && !std::get<PlaceSample>(edit).is_of_scene);
}

}  // namespace

Failure Forest::transact(std::span<const FrameEdit> edits, CompanionPtr companion) {
  const std::lock_guard<std::mutex> guard(state_->lock);
  State& state = *state_;
  if (const PlaceSample* sample = companion ? nullptr : state.lone_sample(edits)) return state.apply(*sample);
  if (edits.empty()) return state.publish_now({}, std::move(companion)), Failure{};
  Journal journal;
  state.begin(journal, !(edits.size() == 1 && is_whole(edits.front())));
  state.tolerates_cycles = std::holds_alternative<ResolveCycles>(edits.back());
  struct Undo {  // also where memory runs out
    State& state;
    ~Undo() {
      state.tolerates_cycles = false;
      const bool failed = state.journal != nullptr;
      if (failed) state.roll_back();
      state.end_held_samples(!failed);
    }
  } undo{state};
  if (Failure failure = state.apply_all(edits)) return failure;
  std::vector<FrameId>& changed = journal.to_publish;
  std::ranges::sort(changed);
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  state.publish_now(changed, std::move(companion));
  state.journal = nullptr;
  state.retire_replaced(journal);
  return {};
}

std::vector<std::string> Forest::frames_under(std::span<const std::string> frames, Stamp at) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  std::vector<std::string> names;
  for (const FrameId id : state_->frames_under(frames, at, false)) names.push_back(*state_->frames[id].name);
  return names;
}

bool Forest::ends_with(const EdgeName& edge, Stamp at) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  const RelationRecord* relation = state_->find_relation(edge);
  if (relation == nullptr || relation->track->runs.empty()) return false;
  const RunPart last = state_->parts_of(*relation->track).back();
  return last.from <= at && last.is_of(relation->id);
}

}  // namespace armillary
