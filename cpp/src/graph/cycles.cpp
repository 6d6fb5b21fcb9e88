// A loop is a loop at one instant. Nearly all structures have none even when time is ignored, and cost nothing;
// where there is a cycle, only what covers a common instant counts.

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "graph/forest_state.hpp"

namespace armillary {

namespace {

Coverage common(const Coverage& a, const Coverage& b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

bool contains(const Coverage& outer, const Coverage& inner) { return outer.first <= inner.first && inner.last <= outer.last; }

/// A search towards the parents, along relations that cover a common part of the time asked for.
/// A frame is looked at again only for time that was not looked at before.
class Climb {
 public:
  Climb(const std::vector<FrameRecord>& frames, const std::vector<std::string>& sources, FrameId target)
      : frames_(frames), sources_(sources), target_(target) {}

  struct CyclePath {
    std::vector<FrameId> frames;  // empty: there is none
    Stamp at;                     // the first instant at which all of it holds
  };

  /// The way from `start` to the target.
  CyclePath from(FrameId start, const Coverage& when) {
    visit(start, when, kStart);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].frame == target_) return {path_to(i), steps_[i].when.first};
      for (const TrackRecord* track : tracks_of(steps_[i].frame)) follow(*track, i);
    }
    return {};
  }

 private:
  static constexpr std::size_t kStart = std::numeric_limits<std::size_t>::max();

  struct Step {
    FrameId frame;
    Coverage when;
    std::size_t before;
  };

  /// By name: which path is found must not depend on the order of arrival.
  [[nodiscard]] std::vector<const TrackRecord*> tracks_of(FrameId frame) const {
    std::vector<const TrackRecord*> tracks;
    for (const auto& track : frames_[frame].tracks) tracks.push_back(track.get());
    std::ranges::sort(tracks, {}, [this](const TrackRecord* track) -> const std::string& { return sources_[track->source]; });
    return tracks;
  }

  void visit(FrameId frame, const Coverage& when, std::size_t before) {
    std::vector<Coverage>& seen = seen_[frame];
    if (std::ranges::any_of(seen, [&](const Coverage& earlier) { return contains(earlier, when); })) return;
    seen.push_back(when);
    steps_.push_back({frame, when, before});
  }

  void follow(const TrackRecord& track, std::size_t step) {
    for (std::size_t k = 0; k < track.runs.size(); ++k) {
      const Coverage both = common(track.coverage(k), steps_[step].when);
      if (!both.empty()) visit(track.runs[k].parent, both, step);
    }
  }

  [[nodiscard]] std::vector<FrameId> path_to(std::size_t step) const {
    std::vector<FrameId> path;
    for (; step != kStart; step = steps_[step].before) path.push_back(steps_[step].frame);
    std::ranges::reverse(path);
    return path;
  }

  const std::vector<FrameRecord>& frames_;
  const std::vector<std::string>& sources_;
  FrameId target_;
  std::vector<Step> steps_;
  std::unordered_map<FrameId, std::vector<Coverage>> seen_;
};

}  // namespace

namespace {

/// Everything that can be reached from `start`, itself included; `next(frame, visit)` names the neighbours.
template <typename Next>
std::unordered_set<FrameId> reachable(FrameId start, Next next) {
  std::unordered_set<FrameId> known{start};
  std::vector<FrameId> waiting{start};
  while (!waiting.empty()) {
    const FrameId frame = waiting.back();
    waiting.pop_back();
    next(frame, [&](FrameId other) {
      if (known.insert(other).second) waiting.push_back(other);
    });
  }
  return known;
}

}  // namespace

/// Whether `target` is an ancestor of `from` when time is ignored.
bool Forest::State::reaches(FrameId from, FrameId target) const {
  if (from == target) return true;
  return !frames[target].child_relations.empty() && ancestors_of(from).contains(target);
}

std::unordered_set<FrameId> Forest::State::ancestors_of(FrameId frame) const {
  return reachable(frame, [this](FrameId id, auto visit) {
    for (const auto& track : frames[id].tracks)
      for (const RelationId relation : track->relations) visit(relations[relation]->parent);
  });
}

std::unordered_set<FrameId> Forest::State::descendants_of(FrameId frame) const {
  return reachable(frame, [this](FrameId id, auto visit) {
    for (const RelationId relation : frames[id].child_relations) visit(relations[relation]->of);
  });
}

/// Marks the frames of the cycles that the relation `of` in `parent` closes, time ignored.
void Forest::State::mark_cycle(FrameId of, FrameId parent) {
  const std::unordered_set<FrameId> above = ancestors_of(parent), below = descendants_of(of);
  for (const FrameId id : above) {
    if (!below.contains(id)) continue;
    touch(id);
    for (const auto& track : frames[id].tracks) track->may_be_on_cycle = true;
    circular.insert(id);
  }
}

/// Removes the marks where the cycle is gone.
void Forest::State::refresh_cycles() {
  std::vector<FrameId> freed;
  for (const FrameId id : circular) {
    const bool closed = std::ranges::any_of(frames[id].tracks, [&](const auto& track) {
      return std::ranges::any_of(track->relations, [&](RelationId relation) { return reaches(relations[relation]->parent, id); });
    });
    if (!closed) freed.push_back(id);
  }
  for (const FrameId id : freed) {
    touch(id);
    for (const auto& track : frames[id].tracks) track->may_be_on_cycle = false;
    circular.erase(id);
  }
  if (!freed.empty()) publish(freed);
}

Failure Forest::State::check_cycles(const TrackRecord& track) const {
  for (std::size_t k = 0; k < track.runs.size(); ++k)
    if (Failure failure = check_cycle(track, k)) return failure;
  return {};
}

Failure Forest::State::check_cycle(const TrackRecord& track, std::size_t k) const {
  const Coverage covered = track.coverage(k);
  if (covered.empty()) return {};
  const FrameId parent = track.runs[k].parent;
  auto [path, at] = Climb(frames, sources, track.of).from(parent, covered);
  if (path.empty()) return {};
  return Evidence{.kind = FailureKind::frame_loop, .of = track.of, .in_frame = parent, .requested = at, .path = std::move(path)};
}

}  // namespace armillary
