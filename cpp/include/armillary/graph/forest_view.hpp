#pragma once

#include "armillary/graph/forest.hpp"
#include "armillary/series/epoch.hpp"

namespace armillary {

/// One version of a forest: every question to it sees the same frames and the same companion.
///
/// Belongs to the thread that made it, and is short-lived: while it lives nothing is freed that was replaced since.
class ForestView {
 public:
  explicit ForestView(const Forest& forest);

  /// Lives as long as the view; null where nobody gave one.
  [[nodiscard]] const Companion* companion() const { return topology_.companion().get(); }
  [[nodiscard]] CompanionPtr keep_companion() const { return topology_.companion(); }

  [[nodiscard]] bool has(FrameId frame) const { return topology_.has(frame); }
  [[nodiscard]] Result<PoseAnswer> pose(const Question& question) const;
  /// By the policy of the context.
  [[nodiscard]] Result<PoseAnswer> pose_by_policy(const Question& question) const;
  [[nodiscard]] Sweep snapshot(FrameId in_frame, When at, const QueryContext& context) const;
  [[nodiscard]] std::pair<FrameId, RelationId> parent_at(FrameId frame, When at) const;
  /// Whether one frame is at one place in the other at every instant: fixed on the way, once and for always.
  [[nodiscard]] bool is_one_place(FrameId of, FrameId in_frame) const;

 private:
  const Pin pin_;
  const Forest& forest_;
  const Topology& topology_;
};

}  // namespace armillary
