#pragma once

// What a transaction under way has touched, as it was before: put back when one of its edits fails.

#include <optional>

#include "graph/forest_state.hpp"

namespace armillary {

struct TrackBefore {
  SourceId source = kNone;
  bool is_stale = false, may_be_on_cycle = false;
  RunList runs{};  // they share their values with the runs under edit
  std::vector<RelationRecord> relations{};
  Histories waiting{};
};

struct FrameBefore {
  std::shared_ptr<const std::string> name{};  // null: there was no such frame
  std::uint64_t sequence = 0;
  std::vector<PreferenceStep> preferences{};
  BodyId body = kNone;
  InactiveIntervalsPtr inactive_intervals{};
  std::vector<TrackBefore> tracks{};
  std::vector<RelationId> child_relations{}, twists{};
};

/// Bodies and twist relations: few, and kept only where an edit concerns them.
struct BodiesBefore {
  std::vector<BodyRecord> bodies{};
  NameTable body_ids{};
  std::vector<TwistRecord> twists{};
};

struct Journal {
  bool puts_back = true;  // false: of one edit that by itself changes all or nothing; what it publishes is gathered all the same
  // how far lists reached that only grow
  std::size_t frames_made = 0, relations_made = 0, sources_made = 0, variables_made = 0;
  std::size_t runs_unlinked = 0, twists_unlinked = 0, names_gone = 0;
  std::uint64_t next_sequence = 0;
  bool bodies_changed = false;
  std::unordered_set<FrameId> circular{};
  CycleOrder cycle_order{};
  std::vector<ClosingRun> loops{};

  // kept when first touched
  std::unordered_map<FrameId, FrameBefore> frames{};
  std::optional<std::deque<FrameId>> free_frames{};
  std::optional<BodiesBefore> bodies{};
  std::optional<std::vector<bool>> hidden_variables{};
  InactiveIntervals inactive_intervals{};  // null: there were none

  std::vector<FrameId> to_publish{};  // some more than once
};

}  // namespace armillary
