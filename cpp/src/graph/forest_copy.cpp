// An independent copy of a forest.

#include "armillary/graph/twist_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {
using Guard = std::lock_guard<std::mutex>;
}

void Forest::become(const Forest& other) {
  const std::scoped_lock guard(state_->lock, other.state_->lock);
  state_->become(*other.state_);
}

/// The caller holds both locks; this one is empty.
void Forest::State::become(const State& other) {
  sources = other.sources;
  source_ids = other.source_ids;
  frame_ids = other.frame_ids;
  free_frames = other.free_frames;
  bodies = other.bodies;
  body_ids = other.body_ids;
  next_sequence = other.next_sequence;
  circular = other.circular;
  cycle_order = other.cycle_order;
  loops = other.loops;
  inactive_intervals = other.inactive_intervals;
  inactive_runs = loops.size();
  base = other.base;
  while (relations.size() < other.relations.size()) relations.skip();
  other.relations.for_each(
      [this](const RelationRecord& relation) { relations.put(relation.id, std::make_unique<RelationRecord>(relation)); });
  for (const FrameRecord& frame : other.frames) frames.push_back(copy_of(frame));
  for (const auto& [id, twist] : other.twists) twists[id] = std::make_unique<TwistRecord>(copy_of(*twist));
  variables.become(other.variables, retired);
  drives = other.drives;
  drive_by_own_variables();
  bodies_changed = rigid.is_stale = true;
  std::vector<FrameId> all(frames.size());
  for (FrameId id = 0; id < frames.size(); ++id) all[id] = id;
  publish(all);
}

FrameRecord Forest::State::copy_of(const FrameRecord& frame) {
  FrameRecord twin{.name = frame.name,
                   .sequence = frame.sequence,
                   .alive = frame.alive,
                   .preferences = frame.preferences,
                   .body = frame.body,
                   .inactive_intervals = frame.inactive_intervals,
                   .child_relations = frame.child_relations,
                   .twists = frame.twists};
  for (const auto& track : frame.tracks) {
    auto copied = std::make_unique<TrackRecord>(copy_of(*track));
    copied->relations = track->relations;
    for (const RelationId id : copied->relations) relations[id]->track = copied.get();
    twin.tracks.push_back(std::move(copied));
  }
  return twin;
}

TwistRecord Forest::State::copy_of(const TwistRecord& twist) {
  TwistRecord twin{.id = twist.id,
                   .of = twist.of,
                   .reference = twist.reference,
                   .named = twist.named,
                   .source = twist.source,
                   .is_inactive = twist.is_inactive,
                   .retention = twist.retention,
                   .series = std::make_shared<Series>(kTwistRowWidth, twist.retention)};
  twin.axes = twist.axes;
  twin.bases = twist.bases;
  twin.forgotten = twist.forgotten;
  if (twist.series->floor() != Stamp::always()) twin.series->begin_forgotten(twist.series->floor());
  twist.series->for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    twin.series->insert({row.stamp_ns()}, {row.values(), kTwistRowWidth}, row.side, retired);
  });
  return twin;
}

std::vector<FixedInfo> Forest::fixed_poses() const {
  const Guard guard(state_->lock);
  std::vector<FixedInfo> found;
  for (const FrameRecord& frame : state_->frames)
    for (const auto& track : frame.tracks)
      for (const RunRecord& run : track->runs)
        if (run.fixed())
          found.push_back(
              {*frame.name, *state_->frames[run.parent].name, state_->sources[track->source], run.from, *run.fixed()});
  return found;
}

}  // namespace armillary
