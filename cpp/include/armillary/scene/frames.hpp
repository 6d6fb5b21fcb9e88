#pragma once

#include "armillary/frame_edit.hpp"
#include "armillary/scene/draft.hpp"

namespace armillary::scene {

/// Names of the frames of nodes.
class FrameNames {
 public:
  explicit FrameNames(std::string root_frame) : root_frame_(std::move(root_frame)) {}

  [[nodiscard]] std::string own(const NodeRecord& record) const;  ///< whether it has one or not
  /// The one it is in: its own, or that of the nearest ancestor which has one.
  [[nodiscard]] std::string of(const Version& version, const NodeRecord& record) const;
  /// The one that hangs under the frames of the parents of a node with a frame.
  [[nodiscard]] std::string hub(const NodeRecord& record) const;
  /// The one that a Transform is placed in.
  [[nodiscard]] std::string base(const Version& version, const NodeRecord& record) const;

 private:
  std::string root_frame_;
};

/// What a draft means for the frames of the world; notes in the draft which nodes now have which.
[[nodiscard]] std::vector<FrameEdit> frame_edits(Draft& draft, const FrameNames& names);

}  // namespace armillary::scene
