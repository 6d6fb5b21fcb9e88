// A loop is a loop at one instant. Nearly all structures have none even when time is ignored, and cost nothing;
// where there is a cycle, only what covers a common instant counts.

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "graph/forest_state.hpp"

namespace armillary {

namespace {

bool contains(const Interval& outer, const Interval& inner) { return outer.from <= inner.from && inner.to <= outer.to; }

}  // namespace

/// A search towards the parents, along relations that cover a common part of the time asked for.
/// A frame is looked at again only for time that was not looked at before.
class Forest::State::Climb {
 public:
  Climb(const State& state, FrameId target) : state_(state), target_(target) {}

  struct CyclePath {
    std::vector<FrameId> frames;  // empty: there is none
    Stamp at;                     // the first instant at which all of it holds
  };

  /// The way from `start` to the target.
  CyclePath from(FrameId start, const Interval& when) {
    visit(start, when, kStart);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].frame == target_) return {path_to(i), steps_[i].when.from};
      for (const TrackRecord* track : tracks_of(steps_[i].frame)) follow(*track, i);
    }
    return {};
  }

 private:
  static constexpr std::size_t kStart = std::numeric_limits<std::size_t>::max();

  struct Step {
    FrameId frame;
    Interval when;
    std::size_t before;
  };

  /// By name: which path is found must not depend on the order of arrival.
  [[nodiscard]] std::vector<const TrackRecord*> tracks_of(FrameId frame) const {
    std::vector<const TrackRecord*> tracks;
    for (const auto& track : state_.frames[frame].tracks) tracks.push_back(track.get());
    std::ranges::sort(tracks, {},
                      [this](const TrackRecord* track) -> const std::string& { return state_.sources[track->source]; });
    return tracks;
  }

  void visit(FrameId frame, const Interval& when, std::size_t before) {
    std::vector<Interval>& seen = seen_[frame];
    if (std::ranges::any_of(seen, [&](const Interval& earlier) { return contains(earlier, when); })) return;
    seen.push_back(when);
    steps_.push_back({frame, when, before});
  }

  void follow(const TrackRecord& track, std::size_t step) {
    const std::vector<RunPart> parts = state_.parts_of(track);
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (const Interval& covered : coverage_of(parts, k))
        if (const Interval both = common(covered, steps_[step].when); !both.empty()) visit(parts[k].run->parent, both, step);
  }

  [[nodiscard]] std::vector<FrameId> path_to(std::size_t step) const {
    std::vector<FrameId> path;
    for (; step != kStart; step = steps_[step].before) path.push_back(steps_[step].frame);
    std::ranges::reverse(path);
    return path;
  }

  const State& state_;
  FrameId target_;
  std::vector<Step> steps_;
  std::unordered_map<FrameId, std::vector<Interval>> seen_;
};

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

/// Checks that no run of the track closes a cycle at an instant at which it is not known to.
Failure Forest::State::check_cycles(const TrackRecord& track) const {
  const std::vector<RunPart> parts = parts_of(track);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (const Interval& covered : coverage_of(parts, k)) {
      const FrameId parent = parts[k].run->parent;
      if (auto [path, at] = Climb(*this, track.of).from(parent, covered); !path.empty())
        return Evidence{
            .kind = FailureKind::frame_loop, .of = track.of, .in_frame = parent, .requested = at, .path = std::move(path)};
    }
  return {};
}

}  // namespace armillary
