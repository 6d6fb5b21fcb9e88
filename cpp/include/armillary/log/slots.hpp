#pragma once

#include <map>
#include <optional>
#include <set>

#include "armillary/log/assertions.hpp"
#include "armillary/series/intervals.hpp"

// What a source asserts of a frame, and which frames exist: of one track or frame at a time.

namespace armillary::log {

/// What a source asserts of a frame from `since` on: the winner of a slot, in the present epoch.
struct Slot {
  Stamp since{};
  ChangePtr record{};
  const Assert* payload = nullptr;  ///< in the record
  bool is_boundary = true;          ///< false: samples of a known relation, which change nothing at `since`

  [[nodiscard]] const std::string& parent() const { return parent_of(payload->value); }
  template <typename Value>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Value>(payload->value);
  }
};

/// A track as its slots leave it.
struct TrackSlots {
  std::vector<Slot> slots{};         ///< by since; of those of one instant the newest is the boundary; none is empty or severed
  std::vector<ChangePtr> severed{};  ///< their parent was removed later: they keep their slot, and leave nothing

  /// Whether its frame exists because of it.
  [[nodiscard]] bool names_frame(const Epoch& epoch) const;
};

[[nodiscard]] TrackSlots slots_of(const ChangeLog& log, const TrackEntry& track);
/// Empty where nothing was asserted.
[[nodiscard]] std::vector<Slot> slots_of(const ChangeLog& log, const Track& track);

/// The slot that decides how samples under this parent are interpolated: the newest that chose a way, else any; none where
/// nobody asserted samples.
[[nodiscard]] std::optional<Slot> samples_slot(const std::vector<Slot>& slots, const std::string& parent);
/// By parent: what was chosen for its samples.
[[nodiscard]] std::map<std::string, SampleInterpolation> interpolations_of(const std::vector<Slot>& slots);

/// Whether a body of this name is declared.
[[nodiscard]] bool is_declared_body(const ChangeLog& log, const std::string& name);
/// Whether a slot names its parent as a frame: a motion may be relative to a body instead.
[[nodiscard]] bool names_parent(const ChangeLog& log, const Slot& slot);

/// What is left aside when one asks whether a frame is named: assertions, and declarations of frames.
struct Superseded {
  std::set<Dot> assertions{};
  std::set<std::string> declarations{};
};

/// Whether a record names a frame: then the frame exists. Nodes of the scene are not looked at.
[[nodiscard]] bool is_named(const ChangeLog& log, const std::string& frame, const Superseded& but = {});

/// A source that is preferred for a while.
struct PreferenceStep {
  Interval when{};
  std::string source{};
};

/// What is preferred when, of the preferences of one subject; `records`: the oldest first. What was preferred last in an earlier
/// epoch is so at all times.
[[nodiscard]] std::vector<PreferenceStep> preference_steps(const ChangeLog& log, const std::vector<ChangePtr>& records);

/// Whether a removal of a frame is newer than a change.
[[nodiscard]] bool is_removed_later(const ChangeLog& log, const std::string& frame, const Change& than);

}  // namespace armillary::log
