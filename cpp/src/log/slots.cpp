#include "armillary/log/slots.hpp"

#include <algorithm>

namespace armillary::log {

namespace {

/// What held last before the present epoch began: of the newest earlier one that says something the latest slot.
std::optional<Slot> held_last(const std::vector<Slot>& earlier) {
  if (earlier.empty() || earlier.back().is<Ended>()) return std::nullopt;
  Slot last = earlier.back();
  last.since = Stamp::always();
  last.is_boundary = !last.is<Sampled>();
  return last;
}

/// Of several slots of one instant the newest says what is so from then on; of the others relations of samples stay known.
void pick_boundaries(std::vector<Slot>& slots) {
  for (auto first = slots.begin(); first != slots.end();) {
    const auto end = std::find_if(first, slots.end(), [&](const Slot& slot) {
      return slot.since != first->since || slot.record->epoch != first->record->epoch;
    });
    const auto newest =
        std::max_element(first, end, [](const Slot& a, const Slot& b) { return a.record->signature() < b.record->signature(); });
    for (auto slot = first; slot != end; ++slot) slot->is_boundary = slot == newest;
    first = end;
  }
  std::erase_if(slots, [](const Slot& slot) { return !slot.is_boundary && !slot.is<Sampled>(); });
}

template <typename Payload>
bool is_present(const ChangePtr& record) {
  return record && std::get<Payload>(record->payload).present;
}

}  // namespace

bool is_removed_later(const ChangeLog& log, const std::string& frame, const Change& than) {
  const FrameEntry* entry = log.find_frame(frame);
  return entry != nullptr && entry->barrier && newer(entry->barrier->signature(), than.signature());
}

bool TrackSlots::names_frame(const Epoch& epoch) const {
  return !slots.empty() || std::ranges::any_of(severed, [&](const ChangePtr& record) { return record->epoch == epoch; });
}

TrackSlots slots_of(const ChangeLog& log, const TrackEntry& track) {
  const Epoch epoch = log.epoch();
  TrackSlots found;
  std::vector<Slot> earlier;  // by epoch and since
  for (const auto& [key, record] : track.slots) {
    const Assert& payload = std::get<Assert>(record->payload);
    const std::string& parent = parent_of(payload.value);
    if (!parent.empty() && is_removed_later(log, parent, *record))
      found.severed.push_back(record);
    else if (!std::holds_alternative<Empty>(payload.value))
      (key.epoch == epoch ? found.slots : earlier).push_back({key.since, record, &payload});
  }
  pick_boundaries(found.slots);
  pick_boundaries(earlier);
  std::erase_if(earlier, [](const Slot& slot) { return !slot.is_boundary; });
  const bool is_hidden = !found.slots.empty() && found.slots.front().since == Stamp::always();
  if (std::optional<Slot> last = held_last(earlier); last && !is_hidden) found.slots.insert(found.slots.begin(), *last);
  return found;
}

namespace {

/// Null where nothing was asserted.
const TrackEntry* find_entry(const ChangeLog& log, const Track& track) {
  const FrameEntry* frame = log.find_frame(track.of);
  if (frame == nullptr) return nullptr;
  const auto found = frame->tracks.find({track.kind, track.source});
  return found == frame->tracks.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<Slot> slots_of(const ChangeLog& log, const Track& track) {
  const TrackEntry* entry = find_entry(log, track);
  return entry == nullptr ? std::vector<Slot>{} : slots_of(log, *entry).slots;
}

namespace {

bool has_choice(const Slot& slot) {
  return slot.is<Sampled>() && std::get<Sampled>(slot.payload->value).interpolation != SampleInterpolation::linear;
}

}  // namespace

std::optional<Slot> samples_slot(const std::vector<Slot>& slots, const std::string& parent) {
  std::optional<Slot> found;
  for (const Slot& slot : slots) {
    if (!slot.is<Sampled>() || slot.parent() != parent) continue;
    const bool counts = !found || std::pair(has_choice(*found), found->record->signature()) <
                                      std::pair(has_choice(slot), slot.record->signature());
    if (counts) found = slot;
  }
  return found;
}

std::map<std::string, SampleInterpolation> interpolations_of(const std::vector<Slot>& slots) {
  std::map<std::string, SampleInterpolation> chosen;
  for (const Slot& slot : slots)
    if (has_choice(slot))
      chosen[slot.parent()] = std::get<Sampled>(samples_slot(slots, slot.parent())->payload->value).interpolation;
  return chosen;
}

bool is_declared_body(const ChangeLog& log, const std::string& name) {
  const auto found = log.bodies().find(name);
  return found != log.bodies().end() && is_present<SetBody>(found->second);
}

bool names_parent(const ChangeLog& log, const Slot& slot) {
  const bool is_relative_to_body = slot.payload->track.kind == TrackKind::twist && is_declared_body(log, slot.parent());
  return !slot.is<Ended>() && !is_relative_to_body;
}

namespace {

/// Whether a slot of the present epoch that is alone at its instant counts: found from the newest on, most often at once.
template <typename Counts>
bool has_lone_slot(const ChangeLog& log, const TrackEntry& track, Counts counts) {
  for (auto slot = track.slots.rbegin(); slot != track.slots.rend() && slot->first.epoch == log.epoch(); ++slot) {
    const auto& [key, record] = *slot;
    const auto before = std::next(slot);
    const bool is_first = before == track.slots.rend() || before->first.since != key.since || before->first.epoch != key.epoch;
    const bool is_last = slot == track.slots.rbegin() || std::prev(slot)->first.since != key.since;
    const Assert& payload = std::get<Assert>(record->payload);
    if (!is_first || !is_last || std::holds_alternative<Empty>(payload.value)) continue;
    const std::string& parent = parent_of(payload.value);
    const bool is_severed = !parent.empty() && is_removed_later(log, parent, *record);
    if (!is_severed && counts(Slot{key.since, record, &payload})) return true;
  }
  return false;
}

}  // namespace

bool is_named(const ChangeLog& log, const std::string& frame, const Superseded& but) {
  const FrameEntry* entry = log.find_frame(frame);
  if (entry == nullptr) return false;
  const auto counts = [&](const ChangePtr& record) { return !but.assertions.contains(record->id); };
  if (is_present<SetFrames>(entry->declared) && !but.declarations.contains(frame)) return true;
  for (const auto& [body, claim] : entry->claims)
    if (is_present<SetBody>(claim)) return true;
  for (const auto& [key, track] : entry->tracks) {
    if (has_lone_slot(log, track, [&](const Slot& slot) { return counts(slot.record); })) return true;
    const TrackSlots all = slots_of(log, track);
    if (std::ranges::any_of(all.slots, counts, &Slot::record)) return true;
    if (all.slots.empty() && all.names_frame(log.epoch()) && std::ranges::any_of(all.severed, counts)) return true;
  }
  const auto names_it = [&](const Slot& slot) {
    return slot.parent() == frame && counts(slot.record) && names_parent(log, slot);
  };
  for (const auto& [track, count] : entry->children) {
    const TrackEntry* child = find_entry(log, track);
    if (child == nullptr) continue;
    if (has_lone_slot(log, *child, names_it) || std::ranges::any_of(slots_of(log, *child).slots, names_it)) return true;
  }
  return false;
}

std::vector<PreferenceStep> preference_steps(const ChangeLog& log, const std::vector<ChangePtr>& records) {
  ChangePtr last;
  for (const ChangePtr& record : records) {
    const bool lasts = std::get<Prefer>(record->payload).end == Stamp::never();
    if (record->epoch != log.epoch() && lasts && (!last || last->epoch <= record->epoch)) last = record;
  }
  std::vector<PreferenceStep> steps;
  Intervals decided;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const Prefer& prefer = std::get<Prefer>((*record)->payload);
    if ((*record)->epoch != log.epoch() && *record != last) continue;
    const Intervals when(*record == last ? Interval{} : Interval{prefer.start, prefer.end});
    if (prefer.source)
      for (const Interval& part : when - decided) steps.push_back({part, *prefer.source});
    decided = decided | when;
  }
  std::ranges::sort(steps, {}, [](const PreferenceStep& step) { return step.when.from; });
  std::vector<PreferenceStep> joined;
  for (PreferenceStep& step : steps) {
    const bool goes_on = !joined.empty() && joined.back().when.to == step.when.from && joined.back().source == step.source;
    if (goes_on)
      joined.back().when.to = step.when.to;
    else
      joined.push_back(std::move(step));
  }
  return joined;
}

}  // namespace armillary::log
