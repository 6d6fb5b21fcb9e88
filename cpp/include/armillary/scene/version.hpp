#pragma once

#include "armillary/detail/counted_ptr.hpp"
#include "armillary/graph/companion.hpp"
#include "armillary/log/change.hpp"
#include "armillary/scene/persistent_map.hpp"

namespace armillary::scene {

using log::Change;
using log::ChangePtr;
using log::Content;
using log::Dot;
using log::Placement;
using log::Setting;
using log::Signature;

/// The name of an attribute. Texts are kept once and never freed, so that a name is a pointer.
struct Key {
  const std::string* text = nullptr;
};

/// A value that records and the index share.
struct SharedValue : AttributeValue, detail::Counted {
  explicit SharedValue(AttributeValue value)
      : AttributeValue(std::move(value)), index_bits(is_number() ? order_bits() : hash()) {}

  std::uint64_t index_bits;  ///< of a number its place among numbers, of others a hash
};
using ValuePtr = detail::CountedPtr<const SharedValue>;

/// One assertion of an attribute. Of all about a key the one with the highest signature holds.
struct Attribute {
  Key key{};
  ValuePtr value{};  ///< null: it was erased
  Signature signature{};
  Stamp at{};
};

struct NodeRecord;

/// The change that ends an edge. Of several the one that is first in this order does: a function of the set of changes.
struct EdgeRemoval {
  log::Epoch epoch{};
  Stamp at{};  ///< in the time of its epoch
  Signature by{};
  friend auto operator<=>(const EdgeRemoval&, const EdgeRemoval&) = default;
};

/// A parent of a node, from `from` until `until`.
struct Edge {
  NodeId parent{};
  Signature parent_incarnation{};
  Signature signature{};
  Stamp from{};
  Stamp until = Stamp::never();
  std::shared_ptr<const EdgeRemoval> removal{};  ///< the change that ends it at `until`
  bool removed = false;
  bool begins = false;           ///< the node was added with it
  bool is_severed = false;       ///< the frame that its parent stood for was removed later: it never held
  bool closes_cycle = false;     ///< kept, but inactive: older edges lead back
  bool parent_is_alive = false;  ///< and still in the incarnation that was meant

  [[nodiscard]] bool is_in_force() const { return !removed && !closes_cycle && parent_is_alive; }
  [[nodiscard]] bool holds_at(Stamp at) const { return from <= at && at < until; }
  /// Whether it is not removed, and leads to this incarnation of a node.
  [[nodiscard]] bool leads_to(const NodeRecord& record) const;
  /// It still adds its node, and a tombstone of it is still one.
  void sever();
};

/// Maps of scenes are changed under the lock of their store, and may be dropped anywhere.
struct SceneMapTraits {
  static constexpr bool kLends = true;
};
struct NodeSetTraits : NodeIdTraits, SceneMapTraits {};
using NodeSet = PersistentSet<NodeId, NodeSetTraits>;

/// A record that a version holds, and one that is being made.
using RecordPtr = detail::CountedPtr<const NodeRecord>;
using NewRecord = detail::CountedPtr<NodeRecord>;

/// All that is known of one node. Immutable once it is in a version that is published.
struct NodeRecord : detail::Counted {
  NodeId id{};
  NodeKind kind = NodeKind::unknown;  ///< unknown: others name it, but the change that adds it has not arrived
  bool has_frame = false;             ///< in the world; whether it is in it at present: `is_in_own_frame`
  bool has_mount = false;             ///< a Transform with several parents: it is placed in a frame that is placed in each
  Signature incarnation{};
  Stamp created_at{};
  std::shared_ptr<const Content> content{};
  std::shared_ptr<const Placement> placement{};     ///< of a Transform
  std::shared_ptr<const std::string> frame_name{};  ///< of its own frame, or of the frame that it stands for; null: its id
  std::vector<Attribute> attributes{};              ///< by key, then signature: the last of a key holds
  std::vector<Edge> edges{};                        ///< to parents, by signature
  NodeSet children{};                               ///< nodes with an edge that is not removed to this incarnation
  NodeSet past_children{};                          ///< nodes that once had one
  RecordPtr previous{};                             ///< its past incarnation

  [[nodiscard]] bool has_known_beginning() const { return kind != NodeKind::unknown; }
  [[nodiscard]] bool is_transform() const { return armillary::is_transform(kind); }
  /// Whether it has a frame from the beginning: a Transform its own, a stand-in the one that it stands for, others one that
  /// was named.
  [[nodiscard]] bool is_placed() const { return is_transform() || frame_name != nullptr; }
  /// Whether its own frame was given a name.
  [[nodiscard]] bool has_named_frame() const { return frame_name != nullptr && kind != NodeKind::frame; }
  /// Of the changes that began it, the strongest; the first of all where none is known.
  [[nodiscard]] Signature beginning() const;
  [[nodiscard]] bool has_living_parent() const;
  /// Whether it ever had more than one parent, at the same time or one after the other.
  [[nodiscard]] bool had_several_parents() const;
  /// As that, but a parent that was removed and is back is the same: it has the frame that it had.
  [[nodiscard]] bool was_moved() const;
  /// A Transform, the stand-in of a frame, a root, and whatever has several parents; others are in that of their parent.
  [[nodiscard]] bool is_in_own_frame() const;
  [[nodiscard]] std::vector<NodeId> parents() const;  ///< living ones, each once, oldest edge first

  /// Attributes that hold: f(const Attribute&).
  template <typename F>
  void for_each_attribute(F f) const {
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const bool is_last = i + 1 == attributes.size() || attributes[i + 1].key.text != attributes[i].key.text;
      if (is_last && attributes[i].value != nullptr) f(attributes[i]);
    }
  }
};

struct RecordTraits : NodeIdTraits, SceneMapTraits {
  static Digest digest(const NodeId& id, const RecordPtr& record);
};
using Records = PersistentMap<NodeId, RecordPtr, RecordTraits>;

/// A text that maps share.
struct SharedText : detail::Counted {
  explicit SharedText(std::string_view given) : text(given), hash(std::hash<std::string_view>{}(given)) {}

  std::string text;
  std::uint64_t hash;
};
using TextPtr = detail::CountedPtr<const SharedText>;

struct TextTraits : SceneMapTraits {
  static std::uint64_t hash(const TextPtr& text) { return text->hash; }
  static bool equal(const TextPtr& a, const TextPtr& b) { return a == b || a->text == b->text; }
};
/// Which nodes have, or had, frames of which name.
using FrameClaims = PersistentMap<TextPtr, NodeSet, TextTraits>;

struct ValueTraits : SceneMapTraits {
  static std::uint64_t hash(const ValuePtr& value) { return value->index_bits; }
  static bool equal(const ValuePtr& a, const ValuePtr& b) { return a == b || *a == *b; }
};

/// Which nodes have which value of one key: numbers in their order, the rest by hash.
struct KeyIndex {
  using Values = PersistentMap<ValuePtr, NodeSet, ValueTraits>;
  Values numbers{}, others{};

  [[nodiscard]] Values& of(const AttributeValue& value) { return value.is_number() ? numbers : others; }
  [[nodiscard]] const Values& of(const AttributeValue& value) const { return value.is_number() ? numbers : others; }

  [[nodiscard]] bool empty() const { return numbers.empty() && others.empty(); }
};
}  // namespace armillary::scene

/// Maps are relocatable.
template <>
inline constexpr bool armillary::detail::kIsRelocatable<armillary::scene::KeyIndex> = true;

namespace armillary::scene {

struct KeyTraits : SceneMapTraits {
  static std::uint64_t hash(const Key& key);
  static bool equal(const Key& a, const Key& b) { return *a.text == *b.text; }
};
using Index = PersistentMap<Key, KeyIndex, KeyTraits>;

/// Whose changes are one's own: a copy of a replica inherits those that the replica had made by then.
struct Authorship {
  std::uint64_t author = 0;
  log::VersionVector inherited{};  ///< of those whose copy it is

  [[nodiscard]] bool wrote(const Signature& signature) const {
    return signature.id.author == author || inherited.contains(signature.id);
  }
  /// `held`: all changes that were taken by now.
  [[nodiscard]] Authorship copy(std::uint64_t new_author, const log::VersionVector& held) const;
};

/// A scene at one moment. Immutable: readers hold it as long as they like.
///
/// A node is alive while the root reaches it (or the detached root, which holds the roots of others until they are mounted).
struct Version : Companion {
  Records alive{};
  Records gone{};                       ///< removed, or not added yet: kept for the past, and for changes that may still come
  Index index{};                        ///< of the attributes of what is alive
  FrameClaims frame_claims{};           ///< of frames that were given a name
  log::Epoch epoch{};                   ///< the newest that a change names: stamps are on its time axis
  Stamp oldest_past = Stamp::always();  ///< before it the past was forgotten
  std::uint64_t number = 0;             ///< grows by one with each commit
  std::size_t cycles = 0;               ///< edges that close one
  bool may_be_circular = false;         ///< whether edges ran in a cycle, be it at different times

  [[nodiscard]] const NodeRecord* find(const NodeId& id) const;    ///< alive, or null
  [[nodiscard]] const NodeRecord* recall(const NodeId& id) const;  ///< alive or gone, or null
  [[nodiscard]] const NodeRecord* recall(const NodeId& id,
                                         const Signature& incarnation) const;  ///< one of its incarnations, or null
  [[nodiscard]] bool is_alive(const NodeId& id) const { return alive.find(id) != nullptr; }
  /// The node whose frame has this name. Of several, one that is alive before one that was removed; of those the one that was
  /// added by the strongest change, of these the newest. Null where no node has it.
  [[nodiscard]] const NodeRecord* named(std::string_view frame) const;
  /// How many nodes were given, or had been given, a frame of this name.
  [[nodiscard]] std::size_t claims_of(std::string_view frame) const;
  [[nodiscard]] std::string frame_called(std::string_view name) const override;
  [[nodiscard]] std::vector<NodeId> children(const NodeRecord& record) const;  ///< living ones, oldest edge first
  /// The oldest active parent; of a removed node, the oldest of all. Nil where none is known.
  [[nodiscard]] NodeId main_parent(const NodeRecord& record) const;
  /// The node whose frame the node is in: itself, or the nearest ancestor that has one.
  [[nodiscard]] const NodeRecord& framed(const NodeRecord& record) const;
  /// Whether `ancestor` is above `from`, or is it, along edges that were not removed.
  [[nodiscard]] bool leads_up(const NodeId& from, const NodeId& ancestor) const;
  /// Whether `ancestor` was above `from` along edges that ever were, in any incarnation.
  [[nodiscard]] bool ever_led_up(const NodeId& from, const NodeId& ancestor) const;
  /// A path from `from` up to `ancestor`, both included, that is there at one instant not before `since`; empty where none is.
  [[nodiscard]] std::vector<NodeId> path_up(const NodeId& from, const NodeId& ancestor, Stamp since) const;
};
using VersionPtr = std::shared_ptr<const Version>;

}  // namespace armillary::scene
