// Samples that are taken back, and relations with all of theirs: what is left is as if they had never been given.

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/journal.hpp"

namespace armillary {

namespace {

/// Whether a sample of this relation is meant, and was given before it was taken back.
bool is_meant(const Row& row, const SampleBases& bases, const ForgetSamples& edit) {
  const Stamp at{row.stamp_ns()};
  return edit.from <= at && at < edit.to && bases.at(at) < edit.before;
}

}  // namespace

std::size_t given_rows(const Series& series, Stamp from, Stamp to) {
  const bool is_all = from == Stamp::always() && to == Stamp::never();
  if (is_all && series.newest_given() == series.newest()) return series.size();
  std::size_t count = 0;
  if (from < to)
    series.for_each(from, {to.ns - 1}, [&](const Row& row) { count += series.is_computed({row.stamp_ns()}) ? 0 : 1; });
  return count;
}

/// Samples of others, and where nodes are, move nothing that could be taken back here.
void Forest::State::note_move(const RelationRecord& relation, Stamp from) {
  if (journal != nullptr || relation.is_of_scene) return;
  moves.emplace_back(relation.id, from);
  if (moves.size() > options.max_runs) moves.pop_front();
  has_moves.store(true, std::memory_order_relaxed);
}

/// Whether the samples of a run follow from where a node is: then the run stays, though it may be empty.
bool Forest::State::is_run_of_node(const RunRecord& run) const {
  return run.is_of_node() || (run.is_sampled() && relations[run.relation]->is_of_scene);
}

/// The samples of a run without those that are forgotten. What was computed from them goes with them.
std::shared_ptr<Series> Forest::State::remaining(const RunRecord& run, const ForgetSamples& edit) {
  const Series& all = *run.series();
  std::shared_ptr<Series> left = new_series(run.relation);
  if (all.floor() != Stamp::always()) left->begin_forgotten(all.floor());
  const Stamp newest = all.newest_given();
  const Row last = all.bracket(newest).before;
  const SampleBases& bases = relations[run.relation]->bases;
  const bool loses_last = last && last.stamp_ns() == newest.ns && is_meant(last, bases, edit);
  const bool is_of_node = is_run_of_node(run);
  all.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    const Stamp at{row.stamp_ns()};
    const bool is_computed = all.is_computed(at);
    const bool is_kept_by_node = is_of_node && std::ranges::find(edit.but, at) != edit.but.end();
    const bool goes = is_computed ? loses_last && at > newest : is_meant(row, bases, edit) && !is_kept_by_node;
    if (!goes) copy_row(all, row, *left, retired);
  });
  return left;
}

/// A run that has no sample left goes, unless it had older ones, which expired, or is that of a node.
void Forest::State::forget_run(TrackRecord& track, std::size_t k, const ForgetSamples& edit) {
  const RunRecord& run = track.runs[k];
  const std::size_t before = given_rows(*run.series(), edit.from, edit.to);
  if (before == 0) return;
  RunRecord left = run.with(remaining(run, edit));
  const std::size_t after = given_rows(*left.series(), edit.from, edit.to);
  if (after == before) return;
  taken_back += before - after;
  const bool is_of_node = is_run_of_node(run), has_expired = run.series()->floor() > run.from;
  if (left.series()->empty() && !is_of_node && !has_expired) {
    erase_run(track, k);
    if (k > 0) join_runs(track, k - 1);
    return;
  }
  const Row first = left.series()->first_row();
  if (first && !is_of_node && !has_expired && run.from != Stamp::always()) left.from = {first.stamp_ns()};
  RunRecord& replaced = track.runs.edit(k);
  discard(replaced);
  replaced = std::move(left);
}

Failure Forest::State::forget_poses(FrameId of, const ForgetSamples& edit) {
  for (const auto& track : frames[of].tracks) {
    if (edit.source && sources[track->source] != *edit.source) continue;
    Failure failure = change_runs(*track, [&](TrackRecord& edited) {
      for (std::size_t k = edited.runs.size(); k-- > 0;) {
        if (k >= edited.runs.size() || !edited.runs[k].is_sampled()) continue;
        if (!edit.in_frame || *frames[edited.runs[k].parent].name == *edit.in_frame) forget_run(edited, k, edit);
      }
      for (auto& [thing, samples] : edited.waiting) forget_waiting(samples, edit);
    });
    if (failure) return failure;
    on_poses_inserted(*track, Stamp::always(), Stamp::never());
  }
  return {};
}

/// Samples of a node at instants when it has no parent.
void Forest::State::forget_waiting(std::shared_ptr<Series>& samples, const ForgetSamples& edit) {
  auto left = std::make_shared<Series>(samples->width(), samples->retention());
  samples->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    const bool goes = is_meant(row, {}, edit) && std::ranges::find(edit.but, Stamp{row.stamp_ns()}) == edit.but.end();
    taken_back += goes ? 1 : 0;
    if (!goes) copy_row(*samples, row, *left, retired);
  });
  samples = std::move(left);
}

/// What was integrated from twists is integrated anew from those that are left.
void Forest::State::forget_twists(FrameId of, const ForgetSamples& edit) {
  const BodyId reference = edit.in_frame ? find_body(*edit.in_frame) : kNone;
  if (edit.in_frame && reference == kNone) return;
  const std::vector<RelationId> ids = frames[of].twists;
  for (const RelationId id : ids) {
    TwistRecord& twist = *twists.at(id);
    if (edit.source && sources[twist.source] != *edit.source) continue;
    if (edit.in_frame && twist.reference != reference) continue;
    std::size_t count = 0;
    twist.series->for_each(Stamp::always(), Stamp::never(),
                           [&](const Row& row) { count += is_meant(row, twist.bases, edit) ? 1 : 0; });
    if (count == 0) continue;
    touch(of);
    remember_bodies();
    TwistRecord& kept = *twists.at(id);
    auto left = std::make_shared<Series>(kept.series->width(), kept.retention);
    if (kept.series->floor() != Stamp::always()) left->begin_forgotten(kept.series->floor());
    kept.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
      if (!is_meant(row, kept.bases, edit)) left->insert({row.stamp_ns()}, {row.values(), left->width()}, row.side, retired);
    });
    taken_back += count;
    unlinked_twists.push_back(std::exchange(kept.series, std::move(left)));
    if (kept.forgotten && edit.from <= kept.forgotten->at && kept.forgotten->at < edit.to) kept.forgotten.reset();
    bodies_changed = true;
    publish(of);
    std::vector<FrameId> moved{of};
    for (const BodyId body : {rigid_body(kept.of), rigid_body_of(kept.reference)})
      for (const FrameId root : roots_on(body)) moved.push_back(root);
    const SourceId source = kept.source;
    for (const FrameId frame : moved) integrate_anew(frame, source);
  }
}

void Forest::State::integrate_anew(FrameId of, SourceId source) {
  TrackRecord* track = find_track(of, source);
  if (track == nullptr) return;
  touch(of);
  for (std::size_t k = 0; k < track->runs.size(); ++k)
    if (const RunRecord& run = track->runs[k]; run.is_sampled() && !run.series()->empty())
      drop_integrated(*track, std::max(run.from, run.series()->newest_given()));
  publish(of);
  track->is_stale = false;
  on_poses_inserted(*track, Stamp::always(), Stamp::never());
}

Failure Forest::State::apply(const ForgetSamples& edit) {
  const FrameId of = find_frame(edit.of);
  if (of == kNone) return {};
  if (edit.forgets_twists) forget_twists(of, edit);
  Failure failure = edit.forgets_poses ? forget_poses(of, edit) : Failure{};
  if (!failure) drop_empty_tracks(of);
  return failure;
}

/// Samples alone: what is fixed or driven is erased by when it begins.
Failure Forest::State::apply(const EraseRelation& edit) {
  const RelationRecord* relation = find_relation({edit.of, edit.in_frame, edit.source});
  if (relation == nullptr || relation->is_of_scene) return {};
  const FrameId of = relation->of;
  TrackRecord& track = *relation->track;
  const RelationId id = relation->id;
  Failure failure = change_runs(track, [&](TrackRecord& edited) {
    for (std::size_t k = edited.runs.size(); k-- > 0;) {
      if (edited.runs[k].relation != id || !edited.runs[k].is_sampled()) continue;
      taken_back += given_rows(*edited.runs[k].series());
      erase_run(edited, k);
      if (k > 0) join_runs(edited, k - 1);
    }
  });
  if (failure) return failure;
  on_poses_inserted(track, Stamp::always(), Stamp::never());
  drop_empty_tracks(of);
  return {};
}

void Forest::set_base(const SampleBase& base) {
  const std::lock_guard<std::mutex> guard(state_->lock);
  state_->base = std::max(state_->base, base);
}

SampleBase Forest::base() const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  return state_->base;
}

std::vector<PlaceSample> Forest::samples_since(const SampleBase& base, std::string_view of, std::string_view source) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  const State& state = *state_;
  std::vector<PlaceSample> found;
  const FrameId only = of.empty() ? kNone : state.find_frame(of);
  if (!of.empty() && only == kNone) return found;
  for (FrameId id = of.empty() ? 0 : only; id < (of.empty() ? state.frames.size() : only + 1); ++id) {
    const FrameRecord& frame = state.frames[id];
    for (const auto& track : frame.tracks) {
      if (!frame.alive || (!source.empty() && state.sources[track->source] != source)) continue;
      for (const RunRecord& run : track->runs) {
        if (!run.is_sampled() || state.is_run_of_node(run)) continue;
        const SampleBases& bases = state.relations[run.relation]->bases;
        if (!bases.any_since(base)) continue;
        run.series()->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
          const Stamp at{row.stamp_ns()};
          if (bases.at(at) < base || run.series()->is_computed(at)) return;
          PlaceSample& sample = found.emplace_back(
              PlaceSample{*frame.name, *state.frames[run.parent].name, state.sources[track->source], at, pose_of(row)});
          sample.covariance = covariance_of(row);
          sample.base = bases.at(at);
        });
      }
    }
  }
  return found;
}

bool Forest::has_moves() const { return state_->has_moves.load(std::memory_order_relaxed); }

std::vector<Forest::Move> Forest::take_moves() {
  if (!has_moves()) return {};
  const std::lock_guard<std::mutex> guard(state_->lock);
  State& state = *state_;
  std::vector<Move> found;
  for (const auto& [id, from] : state.moves) {
    const RelationRecord* relation = state.relations[id];
    if (relation == nullptr) continue;
    found.push_back(
        {*state.frames[relation->of].name, *state.frames[relation->parent].name, state.sources[relation->source], from});
  }
  state.moves.clear();
  state.has_moves.store(false, std::memory_order_relaxed);
  return found;
}

std::size_t Forest::taken_back() const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  return state_->taken_back;
}

std::vector<SampledRelation> Forest::sampled_relations(std::string_view of, Stamp from, Stamp to) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  const State& state = *state_;
  std::vector<SampledRelation> found;
  const FrameId frame = state.find_frame(of);
  if (frame == kNone) return found;
  for (const auto& track : state.frames[frame].tracks)
    for (const RelationId id : track->relations) {
      const RelationRecord& relation = *state.relations[id];
      SampledRelation one{.in_frame = *state.frames[relation.parent].name, .source = state.sources[track->source]};
      one.is_of_node = relation.is_of_scene;
      for (const RunRecord& run : track->runs)
        if (run.relation == id && run.is_sampled()) {
          one.within += given_rows(*run.series(), from, to);
          one.all += given_rows(*run.series());
        }
      found.push_back(std::move(one));
    }
  for (const RelationId id : state.frames[frame].twists) {
    const TwistRecord& twist = *state.twists.at(id);
    found.push_back({.is_twist = true,
                     .in_frame = state.named_by(twist),
                     .source = state.sources[twist.source],
                     .within = given_rows(*twist.series, from, to),
                     .all = twist.series->size()});
  }
  return found;
}

std::optional<std::pair<Stamp, Stamp>> Forest::run_of(const EdgeName& edge, Stamp at) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  const RelationRecord* relation = state_->find_relation(edge);
  if (relation == nullptr) return std::nullopt;
  const RunList& runs = relation->track->runs;
  const std::ptrdiff_t k = relation->track->run_at(at);
  if (k < 0 || runs[static_cast<std::size_t>(k)].relation != relation->id || !runs[static_cast<std::size_t>(k)].is_sampled())
    return std::nullopt;
  const auto next = static_cast<std::size_t>(k + 1);
  return std::pair(runs[static_cast<std::size_t>(k)].from, next < runs.size() ? runs[next].from : Stamp::never());
}

}  // namespace armillary
