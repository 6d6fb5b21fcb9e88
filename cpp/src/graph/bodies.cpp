// Bodies: which frames are one rigid thing, and what follows for the poses between them.

#include <algorithm>

#include "armillary/graph/body_rule.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

BodyId Forest::State::find_body(std::string_view name) const {
  if (const auto declared = body_ids.find(name); declared != body_ids.end()) return declared->second;
  const FrameId frame = find_named(name);
  return frame == kNone ? kNone : frames[frame].body;
}

std::string Forest::State::body_name(BodyId body) const {
  if (is_declared(body)) return bodies[body - kFirstDeclaredBody].name;
  return body < frames.size() && frames[body].alive ? *frames[body].name : std::string{};
}

bool Forest::State::is_within_body(std::string_view of, std::string_view in_frame) const {
  const BodyId body = find_body(of);
  return is_declared(body) && body == find_body(in_frame);
}

/// The frame of a body that others place: the one that moves it.
FrameId Forest::State::moving_frame_of(BodyId body) const {
  for (const FrameId frame : bodies[body - kFirstDeclaredBody].frames)
    for (const auto& track : frames[frame].tracks)
      for (const RunRecord& run : track->runs)
        if (!run.is_closed() && frames[run.parent].body != body) return frame;
  return kNone;
}

namespace {

PlaceInBody<FrameId> place_of(const RunRecord& run) { return {run.parent, run.fixed() ? &run.fixed()->value : nullptr}; }

}  // namespace

/// Within a body a pose is fixed, once; restating it does no harm.
Failure Forest::State::check_constant(const EdgeName& edge, const FixedPose* pose, bool recalibrate) const {
  if (bodies.empty() || tolerates_cycles || !is_within_body(edge.of, edge.in_frame)) return {};
  const BodyId body = find_body(edge.of);
  const FrameId of = find_frame(edge.of), parent = find_frame(edge.in_frame);
  Evidence refused{.kind = FailureKind::constant_in_body,
                   .of = of,
                   .in_frame = moving_frame_of(body),
                   .name = bodies[body - kFirstDeclaredBody].name};
  if (pose == nullptr) return refused;
  if (recalibrate || of == kNone) return {};
  const PlaceInBody<FrameId> given{parent, &pose->value};
  for (const auto& track : frames[of].tracks)
    for (const RunRecord& run : track->runs)
      if (run.fixed() && frames[run.parent].body == body && contradict(place_of(run), given)) return refused;
  return {};
}

/// Whether these frames, with those that are on the body already, may be one rigid thing.
Failure Forest::State::check_adoption(std::string_view name, std::span<const std::string_view> adopted) const {
  const auto known = body_ids.find(name);
  const BodyId body = known == body_ids.end() ? kNone : known->second;
  std::unordered_set<FrameId> members;
  if (body != kNone)
    members.insert(bodies[body - kFirstDeclaredBody].frames.begin(), bodies[body - kFirstDeclaredBody].frames.end());
  std::vector<std::string_view> all(adopted.begin(), adopted.end());
  all.push_back(name);
  for (const std::string_view frame : all) {
    const BodyId present = find_body(frame);
    if (is_declared(present) && present != body)
      return Evidence{.kind = FailureKind::on_other_body, .name = std::string(frame), .other = body_name(present)};
    if (const FrameId id = find_frame(frame); id != kNone) members.insert(id);
  }
  for (const FrameId id : members) {
    for (const auto& track : frames[id].tracks) {
      const RunRecord* first = nullptr;
      for (const RunRecord& run : track->runs) {
        if (!members.contains(run.parent)) continue;
        if (first == nullptr) first = &run;
        if (contradict(place_of(*first), place_of(run)))
          return Evidence{.kind = FailureKind::moves_in_body, .of = id, .in_frame = run.parent, .name = std::string(name)};
      }
    }
    for (const RelationId twist : frames[id].twists)
      if (const BodyId reference = twists.at(twist)->reference; reference == body || members.contains(reference))
        return Evidence{.kind = FailureKind::moves_in_body,
                        .of = id,
                        .in_frame = is_declared(reference) ? id : reference,
                        .about_twist = true,
                        .name = std::string(name)};
  }
  return {};
}

void Forest::State::adopt(FrameId frame, BodyId body) {
  if (frames[frame].body == body) return;
  const BodyId before = frames[frame].body;
  frames[frame].body = body;
  bodies[body - kFirstDeclaredBody].frames.push_back(frame);
  for (auto& [id, twist] : twists)
    if (twist->reference == before) twist->reference = body;
  bodies_changed = rigid.is_stale = true;
}

BodyId Forest::State::declare_body(std::string_view name) {
  if (const auto known = body_ids.find(name); known != body_ids.end()) return known->second;
  auto record = std::ranges::find(bodies, name, &BodyRecord::name);
  if (record == bodies.end()) record = bodies.insert(bodies.end(), {.name = std::string(name)});
  const BodyId body = kFirstDeclaredBody + static_cast<BodyId>(record - bodies.begin());
  body_ids.emplace(std::string(name), body);
  bodies_changed = rigid.is_stale = true;
  return body;
}

/// It is alone again.
void Forest::State::leave_body(FrameId frame) {
  if (!is_declared(frames[frame].body)) return;
  touch(frame);
  std::erase(bodies[frames[frame].body - kFirstDeclaredBody].frames, frame);
  frames[frame].body = frame;
  bodies_changed = rigid.is_stale = true;
}

/// Twists are relative to the body that their reference frame is on.
void Forest::State::point_twists() {
  for (auto& [id, twist] : twists) {
    const auto is_gone = [&](BodyId body) { return body_ids.find(bodies[body - kFirstDeclaredBody].name) == body_ids.end(); };
    if (!is_declared(twist->named))
      twist->reference = frames[twist->named].body;
    else if (!is_gone(twist->named))
      twist->reference = twist->named;
  }
}

Failure Forest::State::apply(const AssignBodies& edit) {
  remember_bodies();
  std::vector<FrameId> changed;
  std::vector<BodyId> grown;
  const auto target_of = [&](FrameId frame) -> const std::string* {
    const auto found = edit.on.find(*frames[frame].name);
    return found == edit.on.end() ? nullptr : &found->second;
  };
  for (const BodyRecord& body : bodies) {
    const std::vector<FrameId> members = body.frames;
    for (const FrameId frame : members)
      if (const std::string* target = target_of(frame); target == nullptr || *target != body.name)
        leave_body(frame), changed.push_back(frame);
  }
  std::erase_if(body_ids, [&](const auto& entry) { return !edit.bodies.contains(entry.first); });
  for (const std::string& name : edit.bodies) declare_body(name);
  for (const auto& [name, body_name] : edit.on) {
    const FrameId frame = find_frame(name);
    const BodyId body = body_ids.find(body_name)->second;
    if (frame == kNone || frames[frame].body == body) continue;
    touch(frame);
    adopt(frame, body);
    changed.push_back(frame), grown.push_back(body);
  }
  point_twists();
  for (auto& [id, twist] : twists) {
    const AssignBodies::Twist name{*frames[twist->of].name, named_by(*twist), sources[twist->source]};
    twist->is_inactive = edit.inactive_twists.contains(name);
  }
  bodies_changed = rigid.is_stale = true;
  publish(changed);
  for (const BodyId body : grown) body_grew(body);
  return {};
}

/// A preference for a frame counts for what is measured on its body, most of all at the frame itself.
std::vector<TwistPreference> Forest::State::preferences_of(const TwistRecord& twist) const {
  const BodyId head = rigid_body(twist.of), reference = rigid_body_of(twist.reference);
  const auto concerns = [&](const FrameRecord& frame) {
    if (!frame.alive || frame.preferences.empty()) return false;
    const BodyId body = rigid_body(static_cast<FrameId>(&frame - frames.data()));
    return body == head || body == reference;
  };
  std::vector<const FrameRecord*> concerned;
  std::set<Stamp> steps;
  for (const FrameRecord& frame : frames) {
    if (!concerns(frame)) continue;
    concerned.push_back(&frame);
    for (const PreferenceStep& step : frame.preferences) steps.insert(step.from);
  }
  std::vector<TwistPreference> levels;
  for (const Stamp from : steps) {
    int level = 0;
    for (const FrameRecord* frame : concerned)
      if (preferred_at(frame->preferences, from) == twist.source) level = std::max(level, frame == &frames[twist.of] ? 2 : 1);
    levels.push_back({from, level});
  }
  return levels;
}

/// In the order of names, rivals side by side: answers must not depend on the order of arrival.
std::unique_ptr<const BodyGraph> Forest::State::body_graph() const {
  if (rigid.is_stale) refresh_rigid_bodies();
  std::vector<TwistLink> links;
  for (const auto& [id, twist] : twists) {
    const BodyId body = rigid_body(twist->of), reference = rigid_body_of(twist->reference);
    if (twist->is_inactive || body == reference) continue;
    links.push_back({.head = twist->of,
                     .body = body,
                     .reference = reference,
                     .relation = id,
                     .source = twist->source,
                     .preferences = preferences_of(*twist),
                     .series = twist->series.get()});
  }
  std::ranges::sort(links, {}, [this](const TwistLink& link) {
    auto bodies_of = std::minmax({body_name(link.body), body_name(link.reference)});
    return std::tuple(std::move(bodies_of), std::string_view(*frames[link.head].name), std::string_view(sources[link.source]));
  });
  std::vector<std::vector<FrameId>> members;
  for (const BodyRecord& body : bodies) members.push_back(body.frames);
  return std::make_unique<const BodyGraph>(std::move(links), std::move(members), rigid.bodies);
}

Failure Forest::add_body(std::string_view name, std::span<const std::string_view> adopted) {
  const Guard guard(state_->lock);
  return state_->join_body(name, adopted);
}

Failure Forest::State::join_body(std::string_view name, std::span<const std::string_view> adopted) {
  if (Failure failure = check_adoption(name, adopted)) return failure;
  remember_bodies();
  const BodyId body = declare_body(name);
  std::vector<FrameId> changed;
  if (const FrameId named = find_frame(name); named != kNone) changed.push_back(named);
  for (const std::string_view frame : adopted) changed.push_back(add_frame(frame));
  for (const FrameId frame : changed) touch(frame), adopt(frame, body);
  publish(changed);
  structure_watches.frame_added(std::string(name));  // a wait may name the body, too
  body_grew(body);
  return {};
}

RelationId Forest::find_twist(const TwistName& name) const {
  const Guard guard(state_->lock);
  const FrameId of = state_->find_named(name.of);
  const SourceId source = state_->find_source(name.source);
  const BodyId reference = state_->find_body(name.relative_to);
  if (of == kNone || source == kNone || reference == kNone) return kNone;
  const TwistRecord* twist = state_->find_twist(of, reference, source);
  return twist == nullptr ? kNone : twist->id;
}

bool Forest::is_hopeless(const Failure& failure) const {
  const Guard guard(state_->lock);
  return failure->about_twist || state_->is_hopeless(failure);
}

bool Forest::has_bodies() const {
  const Pin pin;
  return state_->topology.load()->bodies() != nullptr;
}

std::vector<Stamp> Forest::moves_after(Stamp from) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  std::vector<Stamp> moves;
  for (FrameId id = 0; id < topology.frames(); ++id) {
    if (topology.node(id).tracks == nullptr) continue;
    for (const Track& track : topology.node(id).tracks->tracks)
      for (const Run& run : track.runs())
        if (run.from > from) moves.push_back(run.from);
  }
  std::ranges::sort(moves);
  moves.erase(std::unique(moves.begin(), moves.end()), moves.end());
  return moves;
}

BodyId Forest::find_body(std::string_view name) const {
  const Guard guard(state_->lock);
  return state_->find_body(name);
}

std::string Forest::body_name(BodyId id) const {
  const Guard guard(state_->lock);
  return state_->body_name(id);
}

std::vector<std::string> Forest::body_names() const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  for (const BodyRecord& body : state_->bodies) names.push_back(body.name);
  return names;
}

std::vector<std::string> Forest::frames_of(BodyId body) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  if (!is_declared(body)) {
    if (body < state_->frames.size() && state_->frames[body].alive && state_->frames[body].body == body)
      names.push_back(*state_->frames[body].name);
    return names;
  }
  for (const FrameId frame : state_->bodies[body - kFirstDeclaredBody].frames) names.push_back(*state_->frames[frame].name);
  return names;
}

}  // namespace armillary
