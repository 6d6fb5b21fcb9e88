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
  if (const auto* prefer = std::get_if<log::Prefer>(&payload)) return {prefer->subject.name};
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

void AssertionLog::take(const ChangePtr& change) {
  if (is_of_frames(change->payload))
    log_.append(change);
  else
    log_.note_held(*change);
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

bool AssertionLog::has_samples(const std::string& of, const std::string& source) const {
  return std::ranges::any_of(pose_slots(of, source), [](const log::Slot& slot) { return slot.is<log::Sampled>(); });
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

std::vector<log::PreferenceStep> AssertionLog::preference_steps(const std::string& of) const {
  if (!has_preference(of)) return {};
  return log::preference_steps(log_, log_.find_frame(of)->preferences);
}

std::vector<PreferSources::Step> AssertionLog::preferences(const std::string& of) const {
  std::vector<PreferSources::Step> steps;
  for (const log::PreferenceStep& step : preference_steps(of)) {
    if (!steps.empty() && steps.back().from == step.when.from) steps.pop_back();  // where the one before ended
    steps.push_back({step.when.from, step.source});
    if (step.when.to != Stamp::never()) steps.push_back({step.when.to, std::nullopt});
  }
  return steps;
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

/// Adds the slots of a track that an assertion would supersede.
void add_superseded(const log::TrackEntry& track, const log::Epoch& epoch, const log::Assert& payload,
                    std::vector<ChangePtr>& out) {
  const auto* sampled = std::get_if<log::Sampled>(&payload.value);
  const std::string sampled_in = sampled == nullptr ? std::string() : sampled->in_frame;
  for (const auto& [key, record] : track.slots)
    if (payload.since == Stamp::always() || key == log::SlotKey{epoch, payload.since, sampled_in}) out.push_back(record);
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

// -- Taking back

/// Variables that were there stay, and come back as they were.
Inverse AssertionLog::inverse_of(const log::SetVariables& payload) const {
  log::SetVariables back;
  for (const log::VariableSetting& setting : payload.variables)
    if (const std::optional<VariableKind> before = variable(setting.name); before.has_value() != setting.kind.has_value())
      back.variables.push_back({setting.name, before});
  if (back.variables.empty()) return Inverse(std::in_place);
  return std::vector<log::Payload>{std::move(back)};
}

/// The slot as it was before: its value, or empty.
Inverse AssertionLog::inverse_of(const log::Assert& payload) const {
  if (const auto* sampled = std::get_if<log::Sampled>(&payload.value); sampled && payload.track.kind == log::TrackKind::pose) {
    const auto slot = log::samples_slot(pose_slots(payload.track.of, payload.track.source), sampled->in_frame);
    const bool is_other = slot && std::get<log::Sampled>(slot->payload->value).interpolation != sampled->interpolation;
    return is_other ? Inverse(std::vector<log::Payload>{*slot->payload}) : Inverse(std::in_place);
  }
  if (!is_since(payload)) return Inverse(std::in_place);
  log::Assert back{.track = payload.track, .since = payload.since, .recalibrate = true};
  std::size_t known = 0;
  for (const log::Slot& slot : pose_slots(payload.track.of, payload.track.source)) {
    ++known;
    if (slot.is<log::Sampled>() || slot.since != payload.since) continue;
    --known;
    back.value = slot.payload->value;
    back.rank = slot.payload->rank;
  }
  if (payload.since == Stamp::always() && known > 0 && !std::holds_alternative<log::Empty>(payload.value))
    return std::nullopt;  // it takes more back than it can restore
  const bool changes_nothing =
      std::holds_alternative<log::Empty>(back.value) && std::holds_alternative<log::Empty>(payload.value);
  if (changes_nothing) return Inverse(std::in_place);
  return std::vector<log::Payload>{std::move(back)};
}

Inverse AssertionLog::inverse_of(const log::SetFrames& payload) const {
  log::SetFrames back{.present = !payload.present};
  for (const std::string& name : payload.names) {
    const log::FrameEntry* frame = log_.find_frame(name);
    const bool was_declared = frame != nullptr && frame->declared && std::get<log::SetFrames>(frame->declared->payload).present;
    if (was_declared != payload.present) back.names.push_back(name);
  }
  if (back.names.empty()) return Inverse(std::in_place);
  return std::vector<log::Payload>{std::move(back)};
}

Inverse AssertionLog::inverse_of(const log::Prefer& payload) const {
  const Interval whole{payload.start, payload.end};
  std::vector<log::Payload> back;
  Intervals free(whole);
  for (const log::PreferenceStep& step : preference_steps(payload.subject.name)) {
    const Interval part = common(step.when, whole);
    if (part.empty()) continue;
    back.emplace_back(log::Prefer{payload.subject, step.source, part.from, part.to});
    free = free - Intervals(part);
  }
  for (const Interval& part : free) back.emplace_back(log::Prefer{payload.subject, std::nullopt, part.from, part.to});
  return back;
}

Inverse AssertionLog::inverse(const Change& change) const {
  return std::visit(
      [this](const auto& payload) -> Inverse {
        if constexpr (requires { inverse_of(payload); })
          return inverse_of(payload);
        else
          return std::nullopt;
      },
      change.payload);
}

bool AssertionLog::is_newest(const Change& change, const std::function<bool(const Signature&)>& is_own) const {
  const auto is_own_record = [&](const ChangePtr& record) { return is_own(record->signature()); };
  if (const auto* prefer = std::get_if<log::Prefer>(&change.payload)) {
    const log::FrameEntry* frame = log_.find_frame(prefer->subject.name);
    return has_preference(prefer->subject.name) && std::ranges::all_of(frame->preferences, [&](const ChangePtr& record) {
             const auto& other = std::get<log::Prefer>(record->payload);
             const bool overlaps = other.start < prefer->end && prefer->start < other.end;
             return !overlaps || !log::newer(record->signature(), change.signature()) || is_own_record(record);
           });
  }
  if (const auto* variables = std::get_if<log::SetVariables>(&change.payload))
    return std::ranges::all_of(variables->variables,
                               [&](const log::VariableSetting& one) { return is_own_record(log_.variables().at(one.name)); });
  const log::Assert* payload = as_since(change.payload);
  if (payload == nullptr) return true;
  const log::FrameEntry* frame = log_.find_frame(payload->track.of);
  if (frame == nullptr) return true;
  const auto track = frame->tracks.find({payload->track.kind, payload->track.source});
  if (track == frame->tracks.end()) return !frame->barrier || is_own_record(frame->barrier);  // gone with its frame
  const auto slot = track->second.slots.find({change.epoch, payload->since, {}});
  if (slot != track->second.slots.end()) return is_own_record(slot->second);
  const bool is_over = track->second.always && change.signature() < *track->second.always;
  return is_over ? is_own(*track->second.always) : !frame->barrier || is_own_record(frame->barrier);
}

}  // namespace armillary::scene
