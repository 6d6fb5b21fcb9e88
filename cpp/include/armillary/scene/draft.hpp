#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_set>

#include "armillary/log/assertions.hpp"
#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// The texts of keys, each kept once, for all versions of a scene and of its copies. Bounded.
class KeyPool {
 public:
  static constexpr std::size_t kLimit = 100'000;
  static constexpr std::size_t kOfANode = 1'000;  ///< that one node has or had: each change of it costs as many

  /// What others accepted is never too much: copies must stay equal.
  [[nodiscard]] Key intern(std::string_view text);
  [[nodiscard]] bool has_room_for(std::string_view text) const {
    if (size_.load(std::memory_order_relaxed) < kLimit) return true;
    const std::lock_guard guard(lock_);
    return texts_.contains(text);
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::atomic<std::size_t> size_ = 0;
  mutable std::mutex lock_;                                       // guards `texts_`; no other is taken under it
  std::unordered_set<std::string, Hash, std::equal_to<>> texts_;  // nodes of it never move
};

/// What a draft did that concerns frames, in the order it happened.
struct FrameEvent {
  enum class Kind : std::uint8_t { activated, deactivated, joined, left };
  Kind kind;
  NodeId node;
  NodeId parent{};  ///< of `joined` and `left`
  Stamp at{};
};

/// A change of an earlier time epoch as it counts in the present one: what held last holds since always.
[[nodiscard]] Change hoisted(Change change);

/// The next version while it is made, under the lock of its store. Dropped, nothing has happened.
///
/// Its effects never refuse and do not depend on the order in which changes arrive: two drafts that took the same set
/// of changes are equal in all that a digest covers.
class Draft {
 public:
  /// `log`: what is known of frames. A merge appends to it first: removals of frames void older changes that come later.
  Draft(VersionPtr base, KeyPool& keys, const log::ChangeLog& log);

  [[nodiscard]] const Version& version() const { return *next_; }
  /// The version itself, to be published; nothing may be taken any more.
  [[nodiscard]] VersionPtr share() const { return next_; }
  [[nodiscard]] const VersionPtr& base() const { return base_; }
  [[nodiscard]] const std::vector<FrameEvent>& events() const { return events_; }
  /// Nodes whose containment changed, in any of their incarnations.
  [[nodiscard]] const std::vector<NodeId>& moved() const { return moved_; }
  /// The earliest instant at which nodes that are in both versions may be in something else than before.
  [[nodiscard]] Stamp moved_since() const { return moved_since_; }

  /// Whether a new time epoch began: nothing of the one before is on the time axis.
  [[nodiscard]] bool restarts_time() const { return next_->epoch != base_->epoch; }
  /// The newest removal of the frame that a node stands for.
  [[nodiscard]] std::optional<Signature> barrier_of(const NodeId& stand_in) const;

  /// Takes a change that was not taken before. Of those of frames, removals and new time epochs concern nodes.
  void take(const Change& change);

  /// Marks a node of this version as one that has a frame, a mount, a relation.
  template <typename Edit>
  void edit_record(const NodeId& id, Edit edit);

  /// Forgets of one node what ended before `oldest`; true where nothing is left of it.
  bool forget(const NodeId& id, Stamp oldest);
  /// Removals that were forgotten: who has not seen them takes what they ended for living.
  [[nodiscard]] const std::vector<Dot>& forgotten() const { return forgotten_; }

 private:
  void note_moved(const NodeId& node, Stamp at);
  void note_moved_since(Stamp at) { moved_since_ = std::min(moved_since_, at); }
  [[nodiscard]] NewRecord incarnation_of(const NodeId& id, const Signature& incarnation);
  /// Edits an incarnation that is over, because the id was used again: kept for questions about the past alone.
  template <typename Edit>
  void edit_past_incarnation(const NodeId& id, const Signature& incarnation, Edit edit);
  void note_past_child(const NodeId& parent, const Signature& incarnation, const NodeId& child);
  void keep(NewRecord record);

  void take(const Change& change, const log::AddNode& payload);
  void take(const Change& change, const log::AddEdge& payload);
  void take(const Change& change, const log::RemoveEdges& payload);
  void take(const Change& change, const log::SetAttributes& payload);
  void take(const Change& change, const log::RemoveFrames& payload);
  void take(const Change& change, const log::ResetTime& payload);
  [[nodiscard]] Edge edge_from(const Change& change, const log::Edge& given) const;
  [[nodiscard]] bool is_dead(const NodeId& node, const Signature& change) const;
  void add_leaf(const Change& change, const log::AddNode& payload);
  void begin(NodeRecord& record, const Change& change, const log::AddNode& payload);
  void add_edge(const NodeId& node, const Signature& incarnation, const Edge& edge);
  void enter(NodeRecord& record, const Edge& edge);
  [[nodiscard]] bool has_ever_had_children(const NodeId& id) const;
  void connect(const NodeId& node, const Edge& edge);
  void set_attribute(NodeRecord& record, const Setting& setting, const Change& change);
  void remove_edges(NewRecord record, const std::vector<Dot>& dots, const Change& change);
  bool remove_edge(NodeRecord& record, const Dot& dot, const Change& change);
  void drop_before(const NodeId& stand_in, const Signature& barrier, Stamp at);
  void sever_edges(const NodeId& child, const NodeId& stand_in, const Signature& barrier);
  void note_moved_below(const NodeId& node);
  void begin_epoch(const log::Epoch& epoch);
  void disconnect(const NodeRecord& record, const NodeId& parent, Stamp at);

  RecordPtr activate(const NodeId& id, Stamp at);
  void deactivate(const RecordPtr& record, Stamp at);
  void detach_children(const NodeRecord& gone, Stamp at);
  void reactivate(const NodeId& id, Stamp at);
  void remove_recursive(const NodeId& id, Stamp at);
  void set_parent_alive(const NodeId& child, const NodeRecord& parent, bool alive);
  void set_in_force(const NodeId& id, const NodeId& parent, Stamp at);
  void resolve_cycles(Stamp at);
  void set_flags(const std::vector<Signature>& closed, const std::unordered_set<NodeId>& living, Stamp at);
  void move_to(const std::vector<NodeId>& living, Stamp at);

  void drop_claims(const NodeRecord& newest);
  void add_to_index(const NodeRecord& record);
  void remove_from_index(const NodeRecord& record);
  void index_value(const NodeId& id, const Attribute& attribute, bool present);

  VersionPtr base_;
  std::shared_ptr<Version> next_;
  KeyPool& keys_;
  const log::ChangeLog& log_;
  std::map<NodeId, Signature> barriers_;  // of frames that this draft removes
  std::vector<FrameEvent> events_;
  Stamp taking_at_{};  // valid time of the change that is being taken
  std::vector<NodeId> moved_;
  Stamp moved_since_ = Stamp::never();
  std::vector<Dot> forgotten_;
};

template <typename Edit>
void Draft::edit_record(const NodeId& id, Edit edit) {
  const RecordPtr* living = next_->alive.find(id);
  Records& records = living != nullptr ? next_->alive : next_->gone;
  const RecordPtr* own = records.find_own(id);
  // What was made in this draft nobody else has seen.
  if (own != nullptr && own->is_sole()) return edit(const_cast<NodeRecord&>(**own)), void();
  auto record = NewRecord::make(living != nullptr ? **living : **next_->gone.find(id));
  edit(*record);
  records.set(id, std::move(record));
}

template <typename Edit>
void Draft::edit_past_incarnation(const NodeId& id, const Signature& incarnation, Edit edit) {
  note_moved_since(Stamp::always());
  std::vector<RecordPtr> newer;
  const RecordPtr* held = next_->alive.find(id);
  RecordPtr older = held != nullptr ? *held : *next_->gone.find(id);
  for (; older != nullptr && older->incarnation > incarnation; older = older->previous) newer.push_back(older);
  const bool is_known = older != nullptr && older->incarnation == incarnation;
  auto record = is_known ? NewRecord::make(*older) : NewRecord::make();
  if (!is_known) record->id = id, record->incarnation = incarnation, record->previous = older;
  edit(*record);
  for (auto next = newer.rbegin(); next != newer.rend(); ++next) {
    auto above = NewRecord::make(**next);
    above->previous = std::move(record);
    record = std::move(above);
  }
  keep(std::move(record));
}

}  // namespace armillary::scene
