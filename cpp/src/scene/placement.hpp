#pragma once

#include <map>
#include <set>

#include "armillary/scene/frames.hpp"
#include "armillary/scene/past.hpp"

namespace armillary::scene {

/// The parent of a frame from `from` on.
struct ParentInterval {
  Stamp from = Stamp::always();
  std::string in_frame{};                        ///< empty: no parent
  std::shared_ptr<const Placement> placement{};  ///< of a Transform; else by identity
  Stamp created_at{};                            ///< of a Transform
  Signature incarnation{};                       ///< of a Transform: which of its incarnations
  friend bool operator==(const ParentInterval&, const ParentInterval&) = default;
};

/// The assertions of one source about one frame.
struct Track {
  std::string of, source;
  std::vector<ParentInterval> intervals{};
  friend bool operator==(const Track&, const Track&) = default;
};

/// The frames of a node and their parents, at all times.
struct NodePlacement {
  std::vector<std::string> frames{};
  std::vector<Track> tracks{};
  friend bool operator==(const NodePlacement&, const NodePlacement&) = default;
};

/// The placement of nodes in a version: it depends on nothing else, so that replicas of a scene agree on it. With `since` that
/// from then on, and of what was before the last instant alone: the rest is not looked at.
/// What it finds out of a node counts for those below, so that from the top down each costs its own edges.
///
/// A Transform that only ever was in one thing is placed in the frame of that. Whatever was in several has a hub, a frame
/// that is placed by identity in that of each for as long as it is in it: one source a parent. For places there was no time
/// before a node was added: it has always been in what it was added to.
class PlacementResolver {
 public:
  PlacementResolver(VersionPtr version, const FrameNames& names, Stamp since = Stamp::always())
      : version_(std::move(version)), names_(names), since_(since) {}

  [[nodiscard]] NodePlacement placement_of(const NodeId& id);

 private:
  friend class NodeResolver;
  [[nodiscard]] const Past& at(Stamp at);

  VersionPtr version_;
  const FrameNames& names_;
  Stamp since_;
  std::map<Stamp, Past> pasts_;
  std::unordered_map<NodeId, std::set<Stamp>> change_points_;
  std::unordered_map<NodeId, bool> always_existed_;
};

/// Whether a node has a frame of its own; whether that is placed in another one, which is placed in those of its parents.
[[nodiscard]] bool wants_frame(const NodeRecord& record);
[[nodiscard]] bool wants_mount(const NodeRecord& record);

/// The frame that a Transform is placed in; empty where none is known.
[[nodiscard]] std::string base_of(const VersionPtr& version, const FrameNames& names, const NodeRecord& record);

}  // namespace armillary::scene
