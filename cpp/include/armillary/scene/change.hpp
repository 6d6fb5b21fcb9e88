#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "armillary/detail/sha256.hpp"
#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"
#include "armillary/scene/attribute_value.hpp"
#include "armillary/scene/frame_assertion.hpp"
#include "armillary/scene/node_id.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary::scene {

/// The identity of a change: its author, and which of the author's changes it is. Never used twice.
struct Dot {
  std::uint64_t author = 0;  ///< an `author_key`
  std::uint64_t sequence = 0;
  friend constexpr auto operator<=>(const Dot&, const Dot&) = default;
};

/// When a change was made, in an order on which all replicas agree: hybrid logical clock, authority, author.
struct HybridTimestamp {
  std::int64_t wall_ns = 0;
  std::uint32_t count = 0;
  std::uint8_t authority = 0;  ///< of its author
  Dot dot{};
  friend constexpr auto operator<=>(const HybridTimestamp&, const HybridTimestamp&) = default;
};

/// The order in which contradicting assertions win: more authority first, then the earlier one.
[[nodiscard]] constexpr std::pair<int, HybridTimestamp> precedence(const HybridTimestamp& timestamp) {
  return {-timestamp.authority, timestamp};
}

/// The key of an author name and of a number that tells replicas of that name apart: another process, or a restarted one.
[[nodiscard]] std::uint64_t author_key(std::string_view name, std::uint64_t replica_id);

enum class NodeKind : std::uint8_t { unknown, group, transform, uncertain_transform, geometry, connection, frame };

[[nodiscard]] constexpr bool may_have_children(NodeKind kind) {
  return kind != NodeKind::geometry && kind != NodeKind::connection && kind != NodeKind::unknown;
}

/// What a node carries, opaque to the store: a shape, the ends of a connection.
struct Payload {
  Digest digest{};
  std::shared_ptr<const void> object{};
};

/// Where a Transform is in its parent when it is made, or which frame a node stands for.
struct Placement {
  Transform parent_T_node{};
  std::optional<Covariance> covariance{};
  bool is_fixed = false;
  std::string source{};  ///< its source
  std::string frame{};   ///< of a node that stands for a frame of the world
};

/// A key with its new value; none erases it.
struct Setting {
  std::string key;
  std::optional<AttributeValue> value;
};

enum class ChangeKind : std::uint8_t {
  add_node,
  add_parent,
  remove_parents,
  set_attributes,
  // of frames, beside the nodes:
  add_frame,
  fix,
  unfix,
  add_relation,
  add_twist_relation,
  add_body,
  prefer,
  remove_frame,
  reset_time,
  drive,
  release,
  add_joints,
  remove_joints,
};

[[nodiscard]] constexpr bool is_of_frames(ChangeKind kind) { return kind >= ChangeKind::add_frame; }

/// Whether a change asserts something of a frame from an instant on, beside samples.
[[nodiscard]] constexpr bool is_since(ChangeKind kind) {
  return kind == ChangeKind::fix || kind == ChangeKind::unfix || kind == ChangeKind::drive || kind == ChangeKind::release;
}

/// One change of the structure of a world: authored, ordered, immutable.
///
/// `remove_parents` names the containment edges that its author saw: one that the author did not see stays (add wins).
/// A node is removed with its last parent; what is below it goes by derivation, not by a change of its own.
struct Change {
  ChangeKind kind = ChangeKind::add_node;
  HybridTimestamp timestamp{};
  std::string author{};  ///< whose key, together with `replica_id`, is in the timestamp
  std::uint64_t replica_id = 0;
  Stamp at{};  ///< since when it is true
  NodeId node{};
  HybridTimestamp incarnation{};  ///< which incarnation of the node
  NodeId parent{};
  HybridTimestamp parent_incarnation{};
  bool restores = false;  ///< of `add_parent`: the node was removed before
  NodeKind node_kind = NodeKind::unknown;
  std::shared_ptr<const Payload> payload{};
  std::shared_ptr<const Placement> placement{};
  std::vector<Setting> settings{};
  std::vector<Dot> removed{};
  std::shared_ptr<const FrameAssertion> assertion{};  ///< of a change of frames
};

using ChangePtr = std::shared_ptr<const Change>;

}  // namespace armillary::scene
