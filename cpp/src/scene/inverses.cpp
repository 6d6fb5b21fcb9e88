// Undo of what was asserted about frames: the slots as they were before a change, and whether others changed them since.

#include <algorithm>

#include "armillary/scene/assertion_log.hpp"

namespace armillary::scene {

namespace {

bool is_empty(const ChangePtr& record) {
  return std::holds_alternative<log::Empty>(std::get<log::Assert>(record->payload).value);
}

template <typename Payload>
bool is_present(const ChangePtr& record) {
  return record && std::get<Payload>(record->payload).present;
}

/// Corrections within a body are no contradictions when they are taken back.
log::Assert restated(const log::Assert& payload) {
  log::Assert again = payload;
  again.recalibrate = true;
  return again;
}

/// The oldest first: a pose for always voids what was asserted before it.
std::vector<Restated> in_their_order(std::vector<ChangePtr> records) {
  std::ranges::sort(records, {}, [](const ChangePtr& record) { return record->signature(); });
  std::vector<Restated> all;
  for (const ChangePtr& record : records) {
    const auto* asserted = std::get_if<log::Assert>(&record->payload);
    all.push_back({asserted == nullptr ? record->payload : log::Payload(restated(*asserted)), record->epoch});
  }
  return all;
}

void append(std::vector<Restated>& to, std::vector<Restated> more) { std::ranges::move(more, std::back_inserter(to)); }

/// Whether two assertions give their slot the same value.
bool have_same_value(const log::Assert& a, const log::Assert& b) {
  const auto text = [](const log::Assert& payload) {
    return log::write_json(*log::field_of(log::Change{.payload = payload}, "value"));
  };
  return a.rank == b.rank && text(a) == text(b);
}

}  // namespace

/// Whether a slot has to be asserted again to be as it is now: one whose parent was removed since leaves nothing.
bool AssertionLog::is_restated(const ChangePtr& record) const {
  const std::string& parent = log::parent_of(std::get<log::Assert>(record->payload).value);
  return !is_empty(record) && (parent.empty() || !log::is_removed_later(log_, parent, *record));
}

const log::TrackEntry* AssertionLog::find_track(const log::Track& track) const {
  const log::FrameEntry* frame = log_.find_frame(track.of);
  if (frame == nullptr) return nullptr;
  const auto found = frame->tracks.find({track.kind, track.source});
  return found == frame->tracks.end() ? nullptr : &found->second;
}

/// With assertions that are made again also those that would otherwise be behind them: newer ones of the same instant, and of a
/// pose for always all newer ones of its track, which it would void.
std::vector<ChangePtr> AssertionLog::with_newer(const std::vector<ChangePtr>& records) const {
  std::map<Dot, ChangePtr> all;
  for (const ChangePtr& record : records) {
    all.emplace(record->id, record);
    const auto& payload = std::get<log::Assert>(record->payload);
    const log::TrackEntry* track = find_track(payload.track);
    if (track == nullptr) continue;
    for (const auto& [key, other] : track->slots) {
      const bool concerns = payload.since == Stamp::always() || (key.epoch == record->epoch && key.since == payload.since);
      if (concerns && log::newer(other->signature(), record->signature()) && is_restated(other)) all.emplace(other->id, other);
    }
  }
  std::vector<ChangePtr> found;
  for (const auto& [id, record] : all) found.push_back(record);
  return found;
}

std::vector<std::pair<log::SlotKey, ChangePtr>> AssertionLog::slots_of_relations(const log::Forget& about) const {
  std::vector<std::pair<log::SlotKey, ChangePtr>> found;
  const log::FrameEntry* frame = log_.find_frame(about.of);
  if (frame == nullptr) return found;
  for (const auto& [key, track] : frame->tracks)
    for (const auto& [slot, record] : track.slots) {
      const std::string& parent = log::parent_of(std::get<log::Assert>(record->payload).value);
      if (!parent.empty() && about.concerns(key.first, parent, key.second) && is_restated(record))
        found.emplace_back(slot, record);
    }
  return found;
}

bool AssertionLog::takes_back(const RelationName& relation, Stamp at, const SampleBase& base) const {
  const auto is_since = [&](const log::HybridTimestamp& time) { return base < SampleBase{time.wall_ns, time.count}; };
  if (log_.epoch() && is_since(log_.epoch()->time)) return true;
  const auto is_removed = [&](const log::FrameEntry* entry) {
    return entry != nullptr && entry->barrier && is_since(entry->barrier->time);
  };
  const log::FrameEntry* frame = log_.find_frame(relation.of);
  if (is_removed(frame) || is_removed(log_.find_frame(relation.in_frame))) return true;
  const log::TrackEntry* track = find_track({log::TrackKind::pose, relation.of, relation.source});
  if (track != nullptr && track->always && is_since(track->always->time)) return true;
  return frame != nullptr && std::ranges::any_of(frame->forgets, [&](const ChangePtr& record) {
           const auto& forget = std::get<log::Forget>(record->payload);
           return record->epoch == log_.epoch() && is_since(record->time) && forget.start <= at && at < forget.end &&
                  forget.concerns(log::TrackKind::pose, relation.in_frame, relation.source);
         });
}

/// A frame that only a relation names whose parent was removed: that relation does not come back, the frame does.
std::vector<Restated> AssertionLog::naming_again(const std::string& frame, const ChangePtr& severed) const {
  if (is_empty(severed) || !has_frame(frame)) return {};
  return {{log::SetFrames{.names = {frame}}}};
}

/// Frames that a change names for the first time go with it, though an undo of something later declared them again.
std::vector<Restated> AssertionLog::without_new_frames(const log::Payload& payload) const {
  if (!names_frames(payload)) return {};
  log::SetFrames gone{.present = false};
  std::ranges::copy_if(frames_in(payload), std::back_inserter(gone.names),
                       [this](const std::string& name) { return !has_frame(name); });
  return gone.names.empty() ? std::vector<Restated>{} : std::vector<Restated>{{std::move(gone)}};
}

/// Variables that were there stay, and come back as they were.
Inverse AssertionLog::inverse_of(const Change&, const log::SetVariables& payload) const {
  log::SetVariables back;
  for (const log::VariableSetting& setting : payload.variables)
    if (const std::optional<VariableKind> before = variable(setting.name); before.has_value() != setting.kind.has_value())
      back.variables.push_back({setting.name, before});
  if (back.variables.empty()) return Inverse(std::in_place);
  return std::vector<Restated>{{std::move(back)}};
}

/// The slot as it was before: its value, or empty. What is written for always takes all other slots of its track back: they
/// are asserted again, one by one. With a relation of samples its samples go.
Inverse AssertionLog::inverse_of(const Change& change, const log::Assert& payload) const {
  const log::TrackEntry* track = find_track(payload.track);
  log::Assert empty{.track = payload.track, .since = payload.since, .recalibrate = true};
  if (payload.since == Stamp::always()) {
    std::vector<ChangePtr> known;
    std::vector<Restated> back;
    if (track != nullptr)
      for (const auto& [key, record] : track->slots)
        if (is_restated(record))
          known.push_back(record);
        else if (back.empty())
          append(back, naming_again(payload.track.of, record));
    if (!std::holds_alternative<log::Empty>(payload.value)) back.push_back({std::move(empty)});
    append(back, in_their_order(std::move(known)));
    append(back, without_new_frames(payload));
    return back;
  }
  const std::string& sampled_in = log::sampled_in(payload.value);
  ChangePtr before;
  if (track != nullptr)
    if (const auto slot = track->slots.find({change.epoch, payload.since, sampled_in}); slot != track->slots.end())
      before = slot->second;
  if (before && is_restated(before)) return in_their_order(with_newer({before}));
  if (std::holds_alternative<log::Empty>(payload.value)) return Inverse(std::in_place);
  empty.value = log::Empty{sampled_in};
  std::vector<Restated> back = before ? naming_again(payload.track.of, before) : std::vector<Restated>{};
  const RelationName relation{payload.track.of, sampled_in, payload.track.source};
  const bool is_twist = payload.track.kind == log::TrackKind::twist;
  const bool is_new = !sampled_in.empty() && !(is_twist ? has_twist(relation) : has_samples_in(relation));
  if (is_new)
    back.push_back({log::Forget{
        .of = payload.track.of, .kind = payload.track.kind, .in_frame = sampled_in, .source = payload.track.source}});
  back.push_back({std::move(empty), change.epoch});
  append(back, without_new_frames(payload));
  return back;
}

Inverse AssertionLog::inverse_of(const Change&, const log::SetFrames& payload) const {
  log::SetFrames back{.present = !payload.present};
  for (const std::string& name : payload.names) {
    const log::FrameEntry* frame = log_.find_frame(name);
    const bool was_declared = frame != nullptr && is_present<log::SetFrames>(frame->declared);
    if (was_declared != payload.present) back.names.push_back(name);
  }
  if (back.names.empty()) return Inverse(std::in_place);
  return std::vector<Restated>{{std::move(back)}};
}

/// All that was asserted of the frames, and of what was in them, once more.
Inverse AssertionLog::inverse_of(const Change&, const log::RemoveFrames& payload) const {
  const std::set<std::string> names(payload.names.begin(), payload.names.end());
  std::vector<Restated> back;
  log::SetFrames declared;
  std::map<Dot, ChangePtr> records;  // each once, though it is about two of the frames
  bool is_named_otherwise = false;
  const auto note = [&](const ChangePtr& record) {
    records.emplace(record->id, record);
    is_named_otherwise = true;
  };
  for (const std::string& name : names) {
    const log::FrameEntry* frame = log_.find_frame(name);
    if (frame == nullptr) continue;
    is_named_otherwise = false;
    for (const auto& [key, track] : frame->tracks)
      for (const auto& [slot, record] : track.slots)
        if (is_restated(record)) note(record);
    for (const auto& [track, count] : frame->children)
      if (const log::TrackEntry* below = find_track(track))
        for (const auto& [slot, record] : below->slots)
          if (log::parent_of(std::get<log::Assert>(record->payload).value) == name && is_restated(record)) note(record);
    for (const auto& [body, claim] : frame->claims)
      if (is_present<log::SetBody>(claim)) {
        back.push_back({log::SetBody{.body = body, .frames = {name}}});
        is_named_otherwise = true;
      }
    if (is_present<log::SetFrames>(frame->declared) || (has_frame(name) && !is_named_otherwise)) declared.names.push_back(name);
  }
  std::vector<ChangePtr> all;
  for (const auto& [id, record] : records) all.push_back(record);
  append(back, in_their_order(with_newer(all)));
  for (const std::string& name : names)
    if (const log::FrameEntry* frame = log_.find_frame(name)) append(back, in_their_order(frame->preferences));
  if (!declared.names.empty()) back.insert(back.begin(), Restated{std::move(declared)});
  return back;
}

/// Frames that were on the body stay there.
Inverse AssertionLog::inverse_of(const Change&, const log::SetBody& payload) const {
  std::vector<Restated> back;
  log::SetBody frames{.body = payload.body, .present = !payload.present};
  for (const std::string& name : payload.frames) {
    const log::FrameEntry* frame = log_.find_frame(name);
    const auto claim = frame == nullptr ? std::map<std::string, ChangePtr>::const_iterator{} : frame->claims.find(payload.body);
    const bool was_on = frame != nullptr && claim != frame->claims.end() && is_present<log::SetBody>(claim->second);
    if (was_on != payload.present) frames.frames.push_back(name);
  }
  const bool was_declared = log::is_declared_body(log_, payload.body);
  const bool is_about_body = payload.present || payload.frames.empty();
  if (!payload.present && is_about_body && was_declared) back.push_back({log::SetBody{.body = payload.body}});
  if (!frames.frames.empty()) back.push_back({std::move(frames)});
  if (payload.present && !was_declared) back.push_back({log::SetBody{.body = payload.body, .present = false}});
  append(back, without_new_frames(payload));
  return back;
}

Inverse AssertionLog::inverse_of(const Change&, const log::Prefer& payload) const {
  const Interval whole{payload.start, payload.end};
  std::vector<Restated> back;
  Intervals free(whole);
  for (const log::PreferenceStep& step : preference_steps(payload.subject)) {
    const Interval part = common(step.when, whole);
    if (part.empty()) continue;
    back.push_back({log::Prefer{payload.subject, step.source, part.from, part.to}});
    free = free - Intervals(part);
  }
  for (const Interval& part : free) back.push_back({log::Prefer{payload.subject, std::nullopt, part.from, part.to}});
  return back;
}

/// Samples do not come back.
Inverse AssertionLog::inverse_of(const Change&, const log::Forget&) const { return Inverse(std::in_place); }

Inverse AssertionLog::inverse(const Change& change) const {
  return std::visit(
      [&](const auto& payload) -> Inverse {
        if constexpr (requires { inverse_of(change, payload); })
          return inverse_of(change, payload);
        else
          return std::nullopt;
      },
      change.payload);
}

bool AssertionLog::still_holds(const Change& change, const std::function<bool(const Signature&)>& is_own) const {
  const auto is_own_record = [&](const ChangePtr& record) { return is_own(record->signature()); };
  if (const auto* prefer = std::get_if<log::Prefer>(&change.payload)) {
    const auto is_undisputed = [&](const ChangePtr& record) {
      const auto& other = std::get<log::Prefer>(record->payload);
      const bool overlaps = other.start < prefer->end && prefer->start < other.end;
      return !overlaps || !log::newer(record->signature(), change.signature()) || is_own_record(record);
    };
    if (prefer->is_of_joint()) {
      const auto known = log_.preferences().find(prefer->subject.name);
      return known == log_.preferences().end() || std::ranges::all_of(known->second, is_undisputed);
    }
    const log::FrameEntry* frame = log_.find_frame(prefer->subject.name);
    if (frame == nullptr) return true;
    const bool is_gone = frame->barrier && log::newer(frame->barrier->signature(), change.signature());
    if (is_gone && !is_own_record(frame->barrier)) return false;
    return std::ranges::all_of(frame->preferences, is_undisputed);
  }
  if (const auto* variables = std::get_if<log::SetVariables>(&change.payload))
    return std::ranges::all_of(variables->variables, [&](const log::VariableSetting& one) {
      return is_own_record(log_.variables().at(one.name)) || variable(one.name) == one.kind;
    });
  if (const auto* body = std::get_if<log::SetBody>(&change.payload))
    return std::ranges::all_of(body->frames, [&](const std::string& name) {
      const log::FrameEntry* frame = log_.find_frame(name);
      const auto claim = frame == nullptr ? std::map<std::string, ChangePtr>::const_iterator{} : frame->claims.find(body->body);
      if (frame == nullptr || claim == frame->claims.end()) return !body->present;
      return is_own_record(claim->second) || is_present<log::SetBody>(claim->second) == body->present;
    });
  if (const auto* removed = std::get_if<log::RemoveFrames>(&change.payload))
    return std::ranges::none_of(removed->names, [&](const std::string& name) { return has_frame(name); });
  const auto* payload = std::get_if<log::Assert>(&change.payload);
  if (payload == nullptr) return true;
  const log::FrameEntry* frame = log_.find_frame(payload->track.of);
  if (frame == nullptr) return true;
  const log::TrackEntry* track = find_track(payload->track);
  if (track == nullptr) return !frame->barrier || is_own_record(frame->barrier);  // gone with its frame
  const auto slot = track->slots.find({change.epoch, payload->since, log::sampled_in(payload->value)});
  if (slot != track->slots.end())
    return is_own_record(slot->second) || have_same_value(std::get<log::Assert>(slot->second->payload), *payload);
  const bool is_over = track->always && change.signature() < *track->always;
  return is_over ? is_own(*track->always) : !frame->barrier || is_own_record(frame->barrier);
}

}  // namespace armillary::scene
