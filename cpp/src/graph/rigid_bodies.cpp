// What moves as one: frames that are fixed to one another for always, and those of a declared body.

#include <algorithm>

#include "graph/forest_state.hpp"

namespace armillary {

/// The pose by which a frame is fixed to its parent for always, and by nobody placed elsewhere; null where it may move.
const RunRecord* Forest::State::lasting_mount(FrameId frame) const {
  const RunRecord* only = nullptr;
  for (const auto& track : frames[frame].tracks) {
    if (track->may_be_on_cycle) return nullptr;
    if (track->runs.empty()) continue;
    if (only != nullptr || track->runs.size() != 1 || is_cut(*track)) return nullptr;
    only = &track->runs.front();
  }
  const bool lasts = only != nullptr && only->fixed() != nullptr && only->from == Stamp::always() && only->inactive().empty();
  return lasts ? only : nullptr;
}

FrameId Forest::State::mounted_on(FrameId frame) const {
  const RunRecord* mount = lasting_mount(frame);
  return mount == nullptr ? kNone : mount->parent;
}

/// Within a transaction frames may be fixed to one another in a cycle that is resolved in the end: any of them, until then.
FrameId Forest::State::root_of_mounts(FrameId frame) const {
  std::size_t left = frames.size();
  for (FrameId on = mounted_on(frame); on != kNone && left > 0; on = mounted_on(frame), --left) frame = on;
  return frame;
}

BodyId Forest::State::rigid_body_of(BodyId body) const {
  if (!is_declared(body) && body != kNone && body < frames.size()) body = root_of_mounts(body);
  if (rigid.is_stale) refresh_rigid_bodies();
  const auto found = rigid.bodies.find(body);
  return found == rigid.bodies.end() ? body : found->second;
}

BodyId Forest::State::rigid_body(FrameId frame) const { return rigid_body_of(frame); }

/// The frames of a rigid body that are not themselves fixed to others: only these are ever placed anew.
std::vector<FrameId> Forest::State::roots_on(BodyId body) const {
  if (rigid.is_stale) refresh_rigid_bodies();
  if (const auto found = rigid.roots.find(body); found != rigid.roots.end()) return found->second;
  return is_declared(body) ? std::vector<FrameId>{} : std::vector{body};
}

namespace {

/// Joins declared bodies and frames; the one declared first by name stands for all.
class RigidGroups {
 public:
  explicit RigidGroups(const std::vector<BodyId>& declared) {
    for (std::size_t i = 0; i < declared.size(); ++i) rank_.emplace(declared[i], i);
  }

  void join(BodyId a, BodyId b) {
    a = first(a), b = first(b);
    if (a == b) return;
    if (rank_of(b) < rank_of(a)) std::swap(a, b);
    above_[b] = a;
  }
  [[nodiscard]] BodyId first(BodyId body) const {
    for (auto found = above_.find(body); found != above_.end(); found = above_.find(body)) body = found->second;
    return body;
  }
  [[nodiscard]] RigidBodies all() const {
    RigidBodies firsts;
    for (const auto& [body, above] : above_) firsts.emplace(body, first(above));
    return firsts;
  }

 private:
  [[nodiscard]] std::size_t rank_of(BodyId body) const {
    const auto found = rank_.find(body);
    return found == rank_.end() ? rank_.size() : found->second;
  }
  std::unordered_map<BodyId, std::size_t> rank_;
  RigidBodies above_;
};

}  // namespace

void Forest::State::refresh_rigid_bodies() const {
  rigid.is_stale = false;
  rigid.mounts.clear(), rigid.roots.clear(), rigid.twists.clear();
  const auto carrier_of = [this](FrameId frame) {
    std::size_t left = frames.size();  // as in `root_of_mounts`
    for (FrameId on = mounted_on(frame);; frame = on, on = mounted_on(frame)) {
      rigid.mounts[frame] = on;
      if (on == kNone || left-- == 0) return frame;
    }
  };
  std::vector<BodyId> declared;
  for (const auto& [name, body] : body_ids) declared.push_back(body);
  std::ranges::sort(declared, {}, [this](BodyId body) -> const std::string& { return bodies[body - kFirstDeclaredBody].name; });
  RigidGroups groups(declared);
  for (const BodyId body : declared)
    for (const FrameId frame : bodies[body - kFirstDeclaredBody].frames) groups.join(body, carrier_of(frame));
  for (const auto& [id, twist] : twists) {
    carrier_of(twist->of);
    if (!is_declared(twist->reference)) carrier_of(twist->reference);
  }
  rigid.bodies = groups.all();
  for (const auto& [frame, on] : rigid.mounts)
    if (on == kNone) rigid.roots[rigid_body(frame)].push_back(frame);
  for (auto& [body, roots] : rigid.roots)
    std::ranges::sort(roots, {}, [this](FrameId frame) -> const std::string& { return *frames[frame].name; });
  for (const auto& [id, twist] : twists)
    for (const BodyId body : {rigid_body(twist->of), rigid_body_of(twist->reference)}) rigid.twists[body].push_back(id);
}

/// Frames that were edited: whether something is fixed to something else now.
void Forest::State::note_mounts(std::span<const FrameId> changed) {
  if (rigid.mounts.empty()) return;
  for (const FrameId frame : changed) {
    const auto known = rigid.mounts.find(frame);
    if (known == rigid.mounts.end() || known->second == mounted_on(frame)) continue;
    rigid.is_stale = rigid.has_moved = bodies_changed = true;
  }
}

/// A pose by what is fixed at an instant; none where something may move in between.
std::optional<Transform> Forest::State::pose_on_mounts(FrameId of, FrameId in_frame, Stamp at) const {
  const auto fixed_at = [&](FrameId frame) -> const RunRecord* {
    for (const auto& track : frames[frame].tracks) {
      const std::ptrdiff_t k = track->run_at(at);
      const RunRecord* run = k < 0 ? nullptr : &track->runs[static_cast<std::size_t>(k)];
      if (run != nullptr && run->fixed() != nullptr && run->inactive().empty()) return run;
    }
    return nullptr;
  };
  std::vector<std::pair<FrameId, Transform>> passed{{of, {}}};  // frame_T_of
  while (passed.back().first != in_frame && passed.size() <= frames.size()) {
    const RunRecord* mount = fixed_at(passed.back().first);
    if (mount == nullptr) break;
    passed.emplace_back(mount->parent, mount->fixed()->value * passed.back().second);
  }
  Transform frame_T_in;
  for (std::size_t steps = 0; steps <= frames.size(); ++steps) {
    const auto met = std::ranges::find(passed, in_frame, &std::pair<FrameId, Transform>::first);
    if (met != passed.end()) return between(frame_T_in, met->second);
    const RunRecord* mount = fixed_at(in_frame);
    if (mount == nullptr) return std::nullopt;
    frame_T_in = mount->fixed()->value * frame_T_in;
    in_frame = mount->parent;
  }
  return std::nullopt;
}

/// What was integrated from twists that moved other frames before mounts were changed.
void Forest::State::integrate_after_mounts() {
  if (!std::exchange(rigid.has_moved, false)) return;
  std::vector<std::pair<FrameId, SourceId>> moved;
  for (FrameId frame = 0; frame < frames.size(); ++frame)
    for (const auto& track : frames[frame].tracks) {
      const auto is_of_source = [&](const auto& entry) { return entry.second->source == track->source; };
      if (std::ranges::any_of(twists, is_of_source)) moved.emplace_back(frame, track->source);
    }
  for (const auto& [frame, source] : moved) integrate_anew(frame, source);
}

}  // namespace armillary
