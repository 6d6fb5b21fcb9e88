#include "armillary/scene/assertion_log.hpp"

#include <algorithm>

namespace armillary::scene {

// -- What a change is about

bool is_of_frames(const log::Payload& payload) {
  return !std::holds_alternative<log::AddNode>(payload) && !std::holds_alternative<log::AddEdge>(payload) &&
         !std::holds_alternative<log::RemoveEdges>(payload) && !std::holds_alternative<log::SetAttributes>(payload);
}

namespace {

bool is_since(const log::Assert& payload) {
  return payload.track.kind == log::TrackKind::pose && !std::holds_alternative<log::Sampled>(payload.value);
}

}  // namespace

const log::Assert* as_since(const log::Payload& payload) {
  const log::Assert* asserted = std::get_if<log::Assert>(&payload);
  return asserted != nullptr && is_since(*asserted) ? asserted : nullptr;
}

std::vector<std::string> frames_in(const log::Payload& payload) {
  if (const auto* frames = std::get_if<log::SetFrames>(&payload)) return frames->names;
  if (const auto* frames = std::get_if<log::RemoveFrames>(&payload)) return frames->names;
  if (const auto* body = std::get_if<log::SetBody>(&payload)) return body->frames;
  if (const auto* prefer = std::get_if<log::Prefer>(&payload))
    return prefer->is_of_joint() ? std::vector<std::string>{} : std::vector{prefer->subject.name};
  if (const auto* forget = std::get_if<log::Forget>(&payload)) return {forget->of};
  const auto* asserted = std::get_if<log::Assert>(&payload);
  if (asserted == nullptr) return {};
  const std::string& parent = log::parent_of(asserted->value);
  return parent.empty() ? std::vector{asserted->track.of} : std::vector{asserted->track.of, parent};
}

bool names_frames(const log::Payload& payload) {
  if (const auto* frames = std::get_if<log::SetFrames>(&payload)) return frames->present;
  if (const auto* body = std::get_if<log::SetBody>(&payload)) return body->present;
  const auto* asserted = std::get_if<log::Assert>(&payload);
  return asserted != nullptr && !std::holds_alternative<log::Empty>(asserted->value);
}

// -- What holds

std::optional<bool> AssertionLog::is_named(const std::string& name) const {
  if (has_frame(name)) return true;
  const log::FrameEntry* frame = log_.find_frame(name);
  return frame != nullptr && frame->barrier ? std::optional(false) : std::nullopt;
}

std::vector<log::Slot> AssertionLog::pose_slots(const std::string& of, const std::string& source) const {
  return log::slots_of(log_, {log::TrackKind::pose, of, source});
}

bool AssertionLog::knows(const std::string& of, const std::string& source) const {
  const log::FrameEntry* frame = log_.find_frame(of);
  return frame != nullptr && frame->tracks.contains({log::TrackKind::pose, source});
}

bool AssertionLog::has_samples(const std::string& of, const std::string& source) const {
  const log::FrameEntry* frame = log_.find_frame(of);
  const auto track = frame == nullptr ? decltype(frame->tracks.end()){} : frame->tracks.find({log::TrackKind::pose, source});
  if (frame == nullptr || track == frame->tracks.end() || track->second.of_samples == 0) return false;
  return std::ranges::any_of(pose_slots(of, source), [](const log::Slot& slot) { return slot.is<log::Sampled>(); });
}

bool AssertionLog::has_samples_in(const RelationName& relation) const {
  return std::ranges::any_of(pose_slots(relation.of, relation.source), [&](const log::Slot& slot) {
    return slot.is<log::Sampled>() && slot.parent() == relation.in_frame;
  });
}

bool AssertionLog::has_relation(const RelationName& relation) const {
  return std::ranges::any_of(pose_slots(relation.of, relation.source),
                             [&](const log::Slot& slot) { return slot.parent() == relation.in_frame; });
}

bool AssertionLog::has_twist(const RelationName& relation) const {
  const std::string& reference = bodies_.of(relation.in_frame);
  return std::ranges::any_of(log::slots_of(log_, {log::TrackKind::twist, relation.of, relation.source}),
                             [&](const log::Slot& slot) { return bodies_.of(slot.parent()) == reference; });
}

std::vector<RelationName> AssertionLog::twists_relative_to(const std::string& name) const {
  std::vector<RelationName> found;
  if (const log::FrameEntry* frame = log_.find_frame(name))
    for (const auto& [track, count] : frame->children)
      if (track.kind == log::TrackKind::twist) found.push_back({track.of, name, track.source});
  return found;
}

bool AssertionLog::is_latest(const Change& change, const log::Assert& payload) const {
  const log::FrameEntry* frame = log_.find_frame(payload.track.of);
  if (frame == nullptr || payload.since != Stamp::always()) return false;
  const auto track = frame->tracks.find({payload.track.kind, payload.track.source});
  return track != frame->tracks.end() && track->second.always == change.signature();
}

std::vector<log::Track> AssertionLog::tracks() const {
  std::vector<log::Track> found;
  for (const auto& [name, frame] : log_.frames())
    for (const auto& [key, track] : frame.tracks) found.push_back({key.first, name, key.second});
  return found;
}

std::vector<log::Track> AssertionLog::tracks_at(const std::set<std::string>& frames) const {
  std::vector<log::Track> found;
  for (const std::string& name : frames) {
    const log::FrameEntry* frame = log_.find_frame(name);
    if (frame == nullptr) continue;
    for (const auto& [key, track] : frame->tracks) found.push_back({key.first, name, key.second});
    for (const auto& [track, count] : frame->children) found.push_back(track);
  }
  return found;
}

std::set<log::Track> AssertionLog::tracks_driven_by(const log::SetVariables& variables) const {
  std::set<log::Track> found;
  for (const log::VariableSetting& setting : variables.variables)
    if (const log::TrackCounts* driven = log_.find_driven(setting.name))
      for (const auto& [track, count] : *driven) found.insert(track);
  return found;
}

std::optional<VariableKind> AssertionLog::variable(const std::string& name) const {
  const auto found = log_.variables().find(name);
  if (found == log_.variables().end()) return std::nullopt;
  const auto& settings = std::get<log::SetVariables>(found->second->payload).variables;
  return std::ranges::find(settings, name, &log::VariableSetting::name)->kind;
}

bool AssertionLog::has_preference(const std::string& of) const {
  const log::FrameEntry* frame = log_.find_frame(of);
  return frame != nullptr && !frame->preferences.empty();
}

std::vector<log::PreferenceStep> AssertionLog::preference_steps(const log::Subject& subject) const {
  if (subject.kind == log::Subject::Kind::variable) {
    const auto known = log_.preferences().find(subject.name);
    if (known == log_.preferences().end()) return {};
    return log::preference_steps(log_, known->second);
  }
  if (!has_preference(subject.name)) return {};
  return log::preference_steps(log_, log_.find_frame(subject.name)->preferences);
}

PreferSources AssertionLog::preferences(const log::Subject& subject) const {
  PreferSources edit{.of = subject.name, .is_of_joint = subject.kind == log::Subject::Kind::variable};
  for (const log::PreferenceStep& step : preference_steps(subject)) {
    if (!edit.steps.empty() && edit.steps.back().from == step.when.from) edit.steps.pop_back();  // where the one before ended
    edit.steps.push_back({step.when.from, step.source});
    if (step.when.to != Stamp::never()) edit.steps.push_back({step.when.to, std::nullopt});
  }
  return edit;
}

std::vector<std::pair<std::string, log::PreferenceStep>> AssertionLog::joint_preferences() const {
  std::vector<std::pair<std::string, log::PreferenceStep>> all;
  for (const auto& [name, records] : log_.preferences())
    for (log::PreferenceStep& step : log::preference_steps(log_, records)) all.emplace_back(name, std::move(step));
  return all;
}

bool AssertionLog::is_known_body(const log::Payload& payload) const {
  const auto* body = std::get_if<log::SetBody>(&payload);
  if (body == nullptr || !body->present || !log::is_declared_body(log_, body->body)) return false;
  return std::ranges::all_of(body->frames, [&](const std::string& name) {
    const log::FrameEntry* frame = log_.find_frame(name);
    if (frame == nullptr || bodies_.of(name) != body->body) return false;
    const auto claim = frame->claims.find(body->body);
    return claim != frame->claims.end() && std::get<log::SetBody>(claim->second->payload).present;
  });
}

std::vector<InactiveAssertion> AssertionLog::inactive() const {
  std::vector<InactiveAssertion> all;
  for (const log::Inactive& row : bodies_.inactive) {
    InactiveAssertion one{.payload = log_.find(row.id)->payload, .reason = row.reason, .body = row.body};
    if (auto* body = std::get_if<log::SetBody>(&one.payload)) {
      body->frames.clear();
      if (!row.frame.empty()) body->frames.push_back(row.frame);
    }
    all.push_back(std::move(one));
  }
  return all;
}

namespace {

/// Adds the slots of a track that an assertion would supersede. A pose of the same instant gives way to samples from then on;
/// relations of samples stay known.
void add_superseded(const log::TrackEntry& track, const log::Epoch& epoch, const log::Assert& payload,
                    std::vector<ChangePtr>& out) {
  if (payload.since == Stamp::always()) {
    for (const auto& [key, record] : track.slots) out.push_back(record);
    return;
  }
  const std::string& sampled_in = log::sampled_in(payload.value);
  const bool says_nothing = std::holds_alternative<log::Empty>(payload.value);
  for (auto slot = track.slots.lower_bound({epoch, payload.since, {}}); slot != track.slots.end(); ++slot) {
    const log::SlotKey& key = slot->first;
    if (key.epoch != epoch || key.since != payload.since) return;
    if (key.sampled_in == sampled_in || (key.sampled_in.empty() && !says_nothing)) out.push_back(slot->second);
  }
}

}  // namespace

std::vector<ChangePtr> AssertionLog::superseded_by(const Change& change) const {
  std::vector<ChangePtr> out;
  if (const auto* payload = std::get_if<log::Assert>(&change.payload)) {
    const log::FrameEntry* frame = log_.find_frame(payload->track.of);
    if (frame == nullptr) return out;
    const auto track = frame->tracks.find({payload->track.kind, payload->track.source});
    if (track != frame->tracks.end()) add_superseded(track->second, change.epoch, *payload, out);
  } else if (const auto* removed = std::get_if<log::RemoveFrames>(&change.payload)) {
    for (const std::string& name : removed->names) {
      const log::FrameEntry* frame = log_.find_frame(name);
      if (frame == nullptr) continue;
      for (const auto& [key, track] : frame->tracks)
        for (const auto& [slot, record] : track.slots) out.push_back(record);
    }
  }
  std::erase_if(out, [&](const ChangePtr& record) { return log::newer(record->signature(), change.signature()); });
  return out;
}

}  // namespace armillary::scene
