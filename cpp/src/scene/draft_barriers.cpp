// What removals of frames, and new time epochs, void of nodes. Rare: all that is concerned is looked at.

#include <algorithm>
#include <set>

#include "armillary/scene/draft.hpp"

namespace armillary::scene {

// -- Removed frames

std::optional<Signature> Draft::barrier_of(const NodeId& stand_in) const {
  std::optional<Signature> barrier = log_.removal_of(stand_in);
  if (const auto own = barriers_.find(stand_in); own != barriers_.end()) barrier = std::max(barrier, std::optional(own->second));
  return barrier;
}

/// Whether the frame that a node stands for was removed later than a change was made.
bool Draft::is_dead(const NodeId& node, const Signature& change) const {
  const std::optional<Signature> barrier = barrier_of(node);
  return barrier && log::newer(*barrier, change);
}

void Draft::take(const Change& change, const log::RemoveFrames& payload) {
  for (const std::string& name : payload.names) {
    const NodeId stand_in = log::stand_in_of(name);
    note_moved_since(Stamp::always());
    Signature& barrier = barriers_[stand_in];
    barrier = std::max(barrier, change.signature());
    drop_before(stand_in, barrier, change.at);
  }
}

namespace {

/// Drops what was asserted of one incarnation before its frame was removed; false where nothing is left.
bool drop_older(NodeRecord& record, const Signature& barrier) {
  std::erase_if(record.edges,
                [&](const Edge& edge) { return (edge.parent == NodeId{} ? edge.removal->by : edge.signature) < barrier; });
  std::erase_if(record.attributes, [&](const Attribute& attribute) { return attribute.signature < barrier; });
  record.created_at = Stamp::never();
  for (const Edge& edge : record.edges)
    if (edge.begins) record.created_at = std::min(record.created_at, edge.from);
  if (record.created_at == Stamp::never()) record.kind = NodeKind::unknown;
  return !record.edges.empty() || !record.attributes.empty() || !record.children.empty() || !record.past_children.empty();
}

/// Keeps in mind which edges a node has to one incarnation of another.
void note_child(NodeRecord& group, const NodeId& id, const NodeRecord* child) {
  group.children.erase(id);
  group.past_children.erase(id);
  for (; child != nullptr; child = child->previous.get())
    for (const Edge& edge : child->edges) {
      if (edge.is_severed || edge.parent != group.id || edge.parent_incarnation != group.incarnation) continue;
      (edge.removed ? group.past_children : group.children).set(id, {});
    }
}

}  // namespace

/// Drops all that was asserted of a stand-in before its frame was removed. What was in it never was, by that.
void Draft::drop_before(const NodeId& stand_in, const Signature& barrier, Stamp at) {
  if (next_->recall(stand_in) == nullptr) return;
  note_moved_below(stand_in);
  if (next_->is_alive(stand_in)) remove_recursive(stand_in, at);
  std::vector<NewRecord> incarnations;  // the newest first
  std::set<NodeId> above, below;
  for (const NodeRecord* record = next_->recall(stand_in); record != nullptr; record = record->previous.get()) {
    incarnations.push_back(NewRecord::make(*record));
    for (const Edge& edge : record->edges) above.insert(edge.parent);
    for (const NodeSet* inside : {&record->children, &record->past_children})
      inside->for_each([&](const NodeId& child, const Nothing&) { below.insert(child); });
  }
  for (const NodeId& child : below) sever_edges(child, stand_in, barrier);
  RecordPtr left;
  for (auto record = incarnations.rbegin(); record != incarnations.rend(); ++record) {
    for (const NodeId& child : below) note_child(**record, child, next_->recall(child));
    (*record)->previous = left;
    if (drop_older(**record, barrier)) left = *record;
  }
  if (left == nullptr)
    next_->gone.erase(stand_in);
  else
    next_->gone.set(stand_in, left);
  for (const NodeId& parent : above)
    if (next_->recall(parent) != nullptr)
      edit_record(parent, [&](NodeRecord& group) { note_child(group, stand_in, left.get()); });
  reactivate(stand_in, at);
  if (next_->cycles > 0) resolve_cycles(at);
}

void Draft::sever_edges(const NodeId& child, const NodeId& stand_in, const Signature& barrier) {
  const auto sever = [&](NodeRecord& record) {
    for (Edge& edge : record.edges) {
      if (edge.parent != stand_in || !(edge.signature < barrier)) continue;
      if (edge.closes_cycle) --next_->cycles;
      edge.sever();
    }
  };
  const NodeRecord* newest = next_->recall(child);
  if (newest == nullptr) return;
  std::vector<Signature> past;
  for (const NodeRecord* record = newest->previous.get(); record != nullptr; record = record->previous.get())
    past.push_back(record->incarnation);
  edit_record(child, sever);
  for (const Signature& incarnation : past) edit_past_incarnation(child, incarnation, sever);
}

/// A node and all that is or was below it.
void Draft::note_moved_below(const NodeId& node) {
  std::vector<NodeId> all{node};
  std::set<NodeId> seen{node};
  const auto add = [&](const NodeId& id, const Nothing&) {
    if (seen.insert(id).second) all.push_back(id);
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const NodeRecord* record = next_->recall(all[i]); record != nullptr; record = record->previous.get()) {
      record->children.for_each(add);
      record->past_children.for_each(add);
    }
  moved_.insert(moved_.end(), all.begin(), all.end());
}

// -- Time epochs

namespace {

std::shared_ptr<const Placement> fixed_since_always(const std::shared_ptr<const Placement>& given) {
  if (given == nullptr || given->is_fixed) return given;
  return std::make_shared<const Placement>(Placement{given->pose, true, given->source});
}

/// What had ended holds at no time any more; its tombstones stay.
NewRecord hoisted(const NodeRecord& before) {
  NewRecord record = NewRecord::make(before);
  record->created_at = Stamp::always();
  record->placement = fixed_since_always(before.placement);
  for (Edge& edge : record->edges) {
    edge.from = Stamp::always();
    if (edge.removed) edge.until = Stamp::always();
  }
  for (Attribute& attribute : record->attributes) attribute.at = Stamp::always();
  if (before.previous != nullptr) record->previous = hoisted(*before.previous);
  return record;
}

}  // namespace

Change hoisted(Change change) {
  change.at = Stamp::always();
  if (auto* node = std::get_if<log::AddNode>(&change.payload)) node->placement = fixed_since_always(node->placement);
  return change;
}

void Draft::take(const Change& change, const log::ResetTime&) {
  if (log::Epoch(change.signature()) > next_->epoch) begin_epoch(change.signature());
}

void Draft::begin_epoch(const log::Epoch& epoch) {
  note_moved_since(Stamp::always());
  next_->epoch = epoch;
  next_->oldest_past = Stamp::always();
  for (Records* records : {&next_->alive, &next_->gone}) {
    std::vector<NewRecord> all;
    records->for_each([&](const NodeId&, const RecordPtr& record) { all.push_back(hoisted(*record)); });
    for (NewRecord& record : all) {
      const NodeId id = record->id;
      if (!log::is_permanent(id)) moved_.push_back(id);
      records->set(id, std::move(record));
    }
  }
}

}  // namespace armillary::scene
