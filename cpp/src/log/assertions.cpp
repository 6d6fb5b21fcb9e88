#include "armillary/log/assertions.hpp"

#include <algorithm>

namespace armillary::log {

namespace {

bool is_older(const ChangePtr& change, const Signature& than) { return change->signature() < than; }

bool is_newer(const ChangePtr& a, const ChangePtr& b) { return newer(a->signature(), b->signature()); }

/// Whether newer preferences of its epoch cover all of the interval of one. `all`: the oldest first.
bool is_covered(const Change& change, const std::vector<ChangePtr>& all) {
  const Prefer& own = std::get<Prefer>(change.payload);
  std::vector<std::pair<Stamp, Stamp>> newer_ones;
  for (const ChangePtr& other : all)
    if (other->epoch == change.epoch && newer(other->signature(), change.signature())) {
      const Prefer& prefer = std::get<Prefer>(other->payload);
      newer_ones.emplace_back(prefer.start, prefer.end);
    }
  std::ranges::sort(newer_ones);
  Stamp reached = own.start;
  for (const auto& [start, end] : newer_ones)
    if (start <= reached) reached = std::max(reached, end);
  return reached >= own.end;
}

/// Whether a newer Forget is about all that another one is about.
bool forgets_no_less(const Change& newer_one, const Change& other) {
  if (newer_one.epoch != other.epoch || !newer(newer_one.signature(), other.signature())) return false;
  const Forget &a = std::get<Forget>(newer_one.payload), &b = std::get<Forget>(other.payload);
  const auto covers = [](const auto& one, const auto& another) { return !one || one == another; };
  return covers(a.kind, b.kind) && covers(a.in_frame, b.in_frame) && covers(a.source, b.source) && a.start <= b.start &&
         b.end <= a.end;
}

}  // namespace

// -- Keeping and dropping

bool ChangeLog::append(ChangePtr change) {
  if (held_.contains(change->id)) return false;
  held_.add(change->id);
  newest_ = std::max(newest_, change->time);
  epoch_ = std::max(epoch_, change->epoch);
  kept_.emplace(change->id, Kept{change, 1});  // while it is looked at
  std::visit([&](const auto& payload) { take(change, payload); }, change->payload);
  release(change);
  return true;
}

void ChangeLog::release(const ChangePtr& change) {
  const auto found = kept_.find(change->id);
  if (--found->second.uses == 0) kept_.erase(found);
}

void ChangeLog::add(std::vector<ChangePtr>& list, const ChangePtr& change) {
  list.push_back(change);
  ++kept_.at(change->id).uses;
}

/// Invariant of every slot: it holds the newest write.
void ChangeLog::write(ChangePtr& slot, const ChangePtr& change) {
  if (slot && !is_newer(change, slot)) return;
  if (slot) release(slot);
  slot = change;
  ++kept_.at(change->id).uses;
}

template <typename List>
void ChangeLog::drop_older(List& list, const Signature& than) {
  const auto record_of = [](const auto& entry) -> const ChangePtr& {
    if constexpr (requires { entry.second; })
      return entry.second;
    else
      return entry;
  };
  std::erase_if(list, [&](const auto& entry) {
    if (!is_older(record_of(entry), than)) return false;
    release(record_of(entry));
    return true;
  });
}

std::vector<ChangePtr> ChangeLog::records() const {
  std::vector<ChangePtr> all;
  for (const auto& [id, kept] : kept_) all.push_back(kept.record);
  return all;
}

const Change* ChangeLog::find(const Dot& id) const {
  const auto found = kept_.find(id);
  return found == kept_.end() ? nullptr : found->second.record.get();
}

const FrameEntry* ChangeLog::find_frame(const std::string& name) const {
  const auto found = frames_.find(name);
  return found == frames_.end() ? nullptr : &found->second;
}

std::optional<Signature> ChangeLog::removal_of(const NodeId& stand_in) const {
  const auto found = removed_nodes_.find(stand_in);
  return found == removed_nodes_.end() ? std::nullopt : std::optional(find_frame(found->second)->barrier->signature());
}

const TrackCounts* ChangeLog::find_driven(const std::string& variable) const {
  const auto found = driven_.find(variable);
  return found == driven_.end() ? nullptr : &found->second;
}

// -- Frames

void ChangeLog::take(const ChangePtr& change, const SetFrames& payload) {
  for (const std::string& name : payload.names) {
    FrameEntry& frame = frames_[name];
    if (frame.barrier && is_older(change, frame.barrier->signature())) continue;
    write(frame.declared, change);
  }
}

void ChangeLog::take(const ChangePtr& change, const RemoveFrames& payload) {
  for (const std::string& name : payload.names) {
    FrameEntry& frame = frames_[name];
    write(frame.barrier, change);
    removed_nodes_[stand_in_of(name)] = name;
    drop_before(name, frame, frame.barrier->signature());
    removed_.push_back(name);
  }
  forget_removed();
}

/// A removal goes where too many came after it, and nothing names the frame.
void ChangeLog::forget_removed() {
  for (; removed_.size() > limits_.max_removed; removed_.pop_front()) {
    const auto frame = frames_.find(removed_.front());
    if (frame == frames_.end() || !frame->second.barrier) continue;
    FrameEntry& entry = frame->second;
    const bool is_bare = !entry.declared && entry.tracks.empty() && entry.claims.empty() && entry.preferences.empty() &&
                         entry.forgets.empty() && entry.children.empty();
    if (!is_bare) continue;
    dropped_.add(entry.barrier->id);
    dropped_.join_oldest(kMostDroppedRanges);
    release(entry.barrier);
    removed_nodes_.erase(stand_in_of(frame->first));
    frames_.erase(frame);
  }
}

void ChangeLog::drop_before(const std::string& name, FrameEntry& frame, const Signature& barrier) {
  if (frame.declared && is_older(frame.declared, barrier)) release(std::exchange(frame.declared, nullptr));
  for (auto& [key, track] : frame.tracks)
    drop_slots({key.first, name, key.second}, track, [&](const auto& slot) { return is_older(slot.second, barrier); });
  std::erase_if(frame.tracks, [&](const auto& entry) {
    const TrackEntry& track = entry.second;
    return track.slots.empty() && (!track.always || *track.always < barrier);
  });
  drop_older(frame.claims, barrier);
  drop_older(frame.preferences, barrier);
  drop_older(frame.forgets, barrier);
}

void ChangeLog::take(const ChangePtr& change, const Assert& payload) {
  FrameEntry& frame = frames_[payload.track.of];
  if (frame.barrier && is_older(change, frame.barrier->signature())) return;
  TrackEntry& track = frame.tracks[{payload.track.kind, payload.track.source}];
  if (track.always && is_older(change, *track.always)) return;
  if (payload.since == Stamp::always()) {
    track.always = change->signature();
    drop_slots(payload.track, track, [&](const auto& slot) { return is_older(slot.second, *track.always); });
  }
  write_slot(payload.track, track, change, payload);
}

void ChangeLog::write_slot(const Track& track, TrackEntry& entry, const ChangePtr& change, const Assert& payload) {
  const auto [place, is_new] = entry.slots.try_emplace({change->epoch, payload.since, sampled_in(payload.value)});
  ChangePtr& slot = place->second;
  if (slot && !is_newer(change, slot)) return;
  if (is_new && !place->first.sampled_in.empty()) ++entry.of_samples;
  if (slot) note_slot(track, *slot, -1);
  write(slot, change);
  note_slot(track, *change, 1);
  if (entry.slots.size() <= limits_.max_slots) return;
  drop_slot(track, entry, *entry.slots.begin());
  entry.slots.erase(entry.slots.begin());
}

template <typename IsDropped>
void ChangeLog::drop_slots(const Track& track, TrackEntry& entry, IsDropped is_dropped) {
  std::erase_if(entry.slots, [&](const auto& slot) {
    if (!is_dropped(slot)) return false;
    drop_slot(track, entry, slot);
    return true;
  });
}

/// What is kept of it elsewhere.
void ChangeLog::drop_slot(const Track& track, TrackEntry& entry, const std::pair<const SlotKey, ChangePtr>& slot) {
  note_slot(track, *slot.second, -1);
  release(slot.second);
  if (!slot.first.sampled_in.empty()) --entry.of_samples;
}

/// Keeps the indexes by parent and by variable.
void ChangeLog::note_slot(const Track& track, const Change& change, int more) {
  const AssertedValue& value = std::get<Assert>(change.payload).value;
  if (const std::string& parent = parent_of(value); !parent.empty()) note(frames_[parent].children, track, more);
  const Driven* driven = std::get_if<Driven>(&value);
  if (driven == nullptr) return;
  for (const auto* variables : {&driven->form->positions, &driven->form->velocities})
    for (const std::string& name : *variables) {
      TrackCounts& counts = driven_[name];
      note(counts, track, more);
      if (counts.empty()) driven_.erase(name);
    }
}

void ChangeLog::note(TrackCounts& counts, const Track& track, int more) {
  std::size_t& count = counts[track];
  count = more > 0 ? count + 1 : count - 1;
  if (count == 0) counts.erase(track);
}

void ChangeLog::take(const ChangePtr& change, const SetBody& payload) {
  if (payload.present || payload.frames.empty()) write(bodies_[payload.body], change);
  for (const std::string& name : payload.frames) {
    FrameEntry& frame = frames_[name];
    if (frame.barrier && is_older(change, frame.barrier->signature())) continue;
    write(frame.claims[payload.body], change);
  }
}

void ChangeLog::take(const ChangePtr& change, const Forget& payload) {
  FrameEntry& frame = frames_[payload.of];
  if (frame.barrier && is_older(change, frame.barrier->signature())) return;
  const auto is_covered = [&](const ChangePtr& other) { return forgets_no_less(*other, *change); };
  if (std::ranges::any_of(frame.forgets, is_covered)) return;
  std::erase_if(frame.forgets, [&](const ChangePtr& other) {
    if (!forgets_no_less(*change, *other)) return false;
    release(other);
    return true;
  });
  add(frame.forgets, change);
  if (frame.forgets.size() <= limits_.max_slots) return;
  const auto oldest = std::ranges::min_element(frame.forgets, {}, [](const ChangePtr& one) { return one->signature(); });
  dropped_.add((*oldest)->id);
  release(*oldest);
  frame.forgets.erase(oldest);
}

// -- Preferences, variables, time

void ChangeLog::take(const ChangePtr& change, const Prefer& payload) {
  if (payload.subject.kind == Subject::Kind::variable) return add_preference(preferences_[payload.subject.name], change);
  FrameEntry& frame = frames_[payload.subject.name];
  if (frame.barrier && is_older(change, frame.barrier->signature())) return;
  add_preference(frame.preferences, change);
}

void ChangeLog::add_preference(std::vector<ChangePtr>& list, const ChangePtr& change) {
  if (is_covered(*change, list)) return;
  list.insert(std::ranges::upper_bound(list, change->signature(), {}, [](const ChangePtr& one) { return one->signature(); }),
              change);
  ++kept_.at(change->id).uses;
  std::vector<ChangePtr> left;
  for (auto one = list.rbegin(); one != list.rend(); ++one) {  // the newest first: what covers is there
    if (is_covered(**one, left))
      release(*one);
    else
      left.insert(left.begin(), *one);
  }
  list = std::move(left);
}

void ChangeLog::take(const ChangePtr& change, const SetVariables& payload) {
  for (const VariableSetting& setting : payload.variables) write(variables_[setting.name], change);
}

void ChangeLog::take(const ChangePtr& change, const ResetTime&) {
  const auto later =
      std::ranges::upper_bound(resets_, change->signature(), {}, [](const ChangePtr& one) { return one->signature(); });
  resets_.insert(later, change);
  epoch_ = std::max(epoch_, Epoch(change->signature()));
  ++kept_.at(change->id).uses;
}

}  // namespace armillary::log
