// A loop is a loop at one instant. Nearly all structures have none even when time is ignored, and cost nothing;
// where there is a circle, only what covers a common instant counts.

#include <algorithm>
#include <unordered_set>

#include "forest_state.hpp"

namespace armillary {

namespace {

Coverage common(const Coverage& a, const Coverage& b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

/// Depth-first towards the parents, along relations that cover a common part of the time asked for.
struct Climb {
  const std::vector<FrameRecord>& frames;
  FrameId target;
  std::vector<FrameId> path;

  bool from(FrameId frame, const Coverage& when) {
    if (std::ranges::find(path, frame) != path.end()) return false;
    path.push_back(frame);
    if (frame == target) return true;
    for (const auto& track : frames[frame].tracks)
      if (along(*track, when)) return true;
    path.pop_back();
    return false;
  }

  bool along(const TrackRecord& track, const Coverage& when) {
    for (std::size_t k = 0; k < track.runs.size(); ++k) {
      const Coverage both = common(track.coverage(k), when);
      if (!both.empty() && from(track.runs[k].parent, both)) return true;
    }
    return false;
  }
};

}  // namespace

std::vector<FrameId> Forest::State::loop_within(FrameId of, FrameId parent, Coverage when) const {
  Climb climb{frames, of, {}};
  climb.from(parent, when);
  return climb.path;
}

bool Forest::State::reaches(FrameId from, FrameId target) const {
  if (from == target) return true;
  if (frames[target].hanging.empty()) return false;
  std::vector<FrameId> seen{from};
  std::unordered_set<FrameId> known{from};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == target) return true;
    for (const auto& track : frames[seen[i]].tracks)
      for (const RelationId id : track->relations)
        if (known.insert(relations[id]->parent).second) seen.push_back(relations[id]->parent);
  }
  return false;
}

void Forest::State::mark_circle(FrameId of, FrameId parent) {
  if (!reaches(parent, of)) return;
  std::vector<FrameId> marked;
  for (FrameId id = 0; id < frames.size(); ++id) {
    if (!frames[id].alive || !reaches(parent, id) || !reaches(id, of)) continue;
    for (const auto& track : frames[id].tracks) track->may_loop = true;
    marked.push_back(id);
  }
  publish(marked);
}

Failure Forest::State::check_loop(const EdgeName& edge, const RelationRecord* relation, Coverage added) const {
  const FrameId of = find_frame(edge.of), parent = find_frame(edge.in_frame);
  if (of == kNone || parent == kNone || added.empty()) return {};
  if (relation != nullptr ? !relation->track->may_loop : !reaches(parent, of)) return {};
  const std::vector<FrameId> path = loop_within(of, parent, added);
  if (path.empty()) return {};
  return Evidence{.kind = FailureKind::frame_loop, .of = of, .in_frame = parent, .requested = added.first, .path = path};
}

}  // namespace armillary
