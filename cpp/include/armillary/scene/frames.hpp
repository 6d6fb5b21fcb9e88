#pragma once

#include "armillary/graph/forest.hpp"
#include "armillary/graph/frame_edit.hpp"
#include "armillary/scene/draft.hpp"

namespace armillary::scene {

/// Names of the frames of nodes.
class FrameNames {
 public:
  explicit FrameNames(std::string root_frame) : root_frame_(std::move(root_frame)) {}

  [[nodiscard]] std::string own(const NodeRecord& record) const;  ///< whether it has one or not
  /// The frame that a node is in: its own, or that of the nearest ancestor which has one.
  [[nodiscard]] std::string of(const Version& version, const NodeRecord& record) const;
  /// The frame that a Transform with several parents is placed in: each parent's frame is a parent of it.
  [[nodiscard]] std::string mount(const NodeRecord& record) const;
  /// The frame whose parents are those of the node's parents: its mount, or its own.
  [[nodiscard]] std::string hub(const NodeRecord& record) const { return record.has_mount ? mount(record) : own(record); }
  /// The frames that were made for a node, in whichever of its incarnations.
  [[nodiscard]] std::vector<std::string> all(const NodeRecord& record) const;
  /// Whether a frame was made for a node, in whichever of its incarnations.
  [[nodiscard]] static bool has_frame(const NodeRecord& record);
  /// The frame that a Transform is placed in.
  [[nodiscard]] std::string base(const VersionPtr& version, const NodeRecord& record) const;

 private:
  std::string root_frame_;
};

/// Where a Transform is at one instant, on its way to its history.
struct NodeSample {
  NodeId node{};
  Signature incarnation{};  ///< which of its incarnations
  Stamp at{};
  FixedPose pose{};
};

/// Whether a draft means anything for the frames of the world at all. Most nodes that come and go have none.
[[nodiscard]] bool has_frames_to_plan(const Draft& draft);
/// What a draft means for the frames of the world; notes in the draft which nodes now have which.
[[nodiscard]] std::vector<FrameEdit> frame_edits(Draft& draft, const FrameNames& names, const Forest& forest);
/// Adds once more what follows from where the nodes are that have these frames: others may have used their sources.
void add_placements_again(const VersionPtr& version, std::span<const std::string> frames, const FrameNames& names,
                          std::vector<FrameEdit>& edits);
/// All samples of one incarnation of a Transform.
[[nodiscard]] SampleTable samples_of(const VersionPtr& version, const NodeRecord& record, const FrameNames& names,
                                     const Forest& forest);
/// A sample at the end of the history of a Transform.
[[nodiscard]] PlaceSample new_sample(const VersionPtr& version, const NodeSample& sample, const FrameNames& names);
/// Samples of one Transform, at any instants: its whole history is laid out anew with them.
[[nodiscard]] PlaceRuns late_samples(const VersionPtr& version, std::span<const NodeSample> samples, const FrameNames& names);

}  // namespace armillary::scene
