#include "armillary/scene/draft.hpp"

#include <algorithm>

namespace armillary::scene {

namespace {

constexpr std::ptrdiff_t kPastValues = 100;  // of one attribute, for questions about the past

bool by_key_then_signature(const Attribute& a, const Attribute& b) {
  const int order = a.key.text->compare(*b.key.text);
  return order != 0 ? order < 0 : a.signature < b.signature;
}

bool by_signature(const Edge& a, const Edge& b) { return a.signature < b.signature; }

std::vector<Edge>::iterator edge_of(NodeRecord& record, const Dot& dot) {
  return std::ranges::find_if(record.edges, [&](const Edge& edge) { return edge.signature.id == dot; });
}

}  // namespace

Key KeyPool::intern(std::string_view text) {
  const std::lock_guard guard(lock_);
  auto place = texts_.find(text);
  if (place == texts_.end()) place = texts_.emplace(text).first;
  size_.store(texts_.size(), std::memory_order_relaxed);
  return Key{&*place};
}

Draft::Draft(VersionPtr base, KeyPool& keys, const log::ChangeLog& log)
    : base_(std::move(base)), next_(std::make_shared<Version>(*base_)), keys_(keys), log_(log) {
  ++next_->number;
}

void Draft::take(const Change& change) {
  taking_at_ = change.at;
  if (change.epoch > next_->epoch) begin_epoch(change.epoch);
  std::visit(
      [&](const auto& payload) {
        if constexpr (requires { payload.node; }) {
          if (is_dead(payload.node, change.signature())) return;
          if (change.epoch == next_->epoch) return take(change, payload);
          const Change earlier = hoisted(change);
          take(earlier, std::get<std::remove_cvref_t<decltype(payload)>>(earlier.payload));
        } else if constexpr (requires { take(change, payload); }) {
          take(change, payload);
        }
      },
      change.payload);
}

/// A node was put somewhere, or taken away: what ended may have been part of a cycle.
void Draft::note_moved(const NodeId& node, Stamp at) {
  moved_.push_back(node);
  if (next_->cycles > 0) resolve_cycles(at);
}

// -- Records

void Draft::keep(NewRecord record) {
  const NodeId id = record->id;
  (next_->is_alive(id) ? next_->alive : next_->gone).set(id, std::move(record));
}

/// The record of one incarnation of a node, made where it is new; null for one that is over.
NewRecord Draft::incarnation_of(const NodeId& id, const Signature& incarnation) {
  const NodeRecord* known = next_->recall(id);
  if (known != nullptr && known->incarnation == incarnation) return NewRecord::make(*known);
  if (known != nullptr && known->incarnation > incarnation) return nullptr;
  note_moved_since(Stamp::always());
  auto record = NewRecord::make();
  record->id = id;
  record->incarnation = incarnation;
  if (known == nullptr) return record;
  if (next_->is_alive(id)) remove_recursive(id, taking_at_);
  record->previous = *next_->gone.find(id);
  return record;
}

void Draft::note_past_child(const NodeId& parent, const Signature& incarnation, const NodeId& child) {
  const auto note = [&](NodeRecord& group) { group.past_children.set(child); };
  if (NewRecord record = incarnation_of(parent, incarnation)) {
    note(*record);
    keep(std::move(record));
  } else {
    edit_past_incarnation(parent, incarnation, note);
  }
}

Edge Draft::edge_from(const Change& change, const log::Edge& given) const {
  Edge edge{given.parent, given.parent_incarnation, change.signature(), change.at};
  edge.begins = std::holds_alternative<log::AddNode>(change.payload);
  if (is_dead(given.parent, edge.signature)) edge.sever();
  return edge;
}

void Draft::take(const Change& change, const log::AddNode& payload) {
  const NodeRecord* parent = next_->recall(payload.node) == nullptr ? next_->find(payload.edge.parent) : nullptr;
  if (parent != nullptr && parent->incarnation == payload.edge.parent_incarnation &&
      !is_dead(payload.edge.parent, change.signature())) {
    add_leaf(change, payload);
  } else {
    note_moved_since(Stamp::always());
    if (NewRecord record = incarnation_of(payload.node, payload.incarnation)) {
      const bool is_indexed = next_->is_alive(payload.node);
      if (is_indexed) remove_from_index(*record);
      begin(*record, change, payload);
      if (is_indexed) add_to_index(*record);
      keep(std::move(record));
    } else {
      edit_past_incarnation(payload.node, payload.incarnation, [&](NodeRecord& past) { begin(past, change, payload); });
    }
    add_edge(payload.node, payload.incarnation, edge_from(change, payload.edge));
    reactivate(payload.node, change.at);  // by a parent that was known before
  }
  note_moved(payload.node, change.at);
}

void Draft::take(const Change& change, const log::AddEdge& payload) {
  add_edge(payload.node, payload.incarnation, edge_from(change, payload.edge));
  note_moved(payload.node, change.at);
}

/// The usual case, in as few steps: nothing is known of the node, and its parent is alive.
void Draft::add_leaf(const Change& change, const log::AddNode& payload) {
  auto record = NewRecord::make();
  record->id = payload.node;
  record->incarnation = payload.incarnation;
  begin(*record, change, payload);
  record->edges.push_back(edge_from(change, payload.edge));
  record->edges.back().parent_is_alive = true;
  add_to_index(*record);
  next_->alive.set(payload.node, std::move(record));
  edit_record(payload.edge.parent, [&](NodeRecord& group) { group.children.set(payload.node); });
  events_.push_back({FrameEvent::Kind::activated, payload.node, {}, change.at});
}

/// Others may have begun the same incarnation: then it began with the first of them, and is what the strongest says.
void Draft::begin(NodeRecord& record, const Change& change, const log::AddNode& payload) {
  const auto is_stronger = [&](const Edge& edge) { return edge.begins && log::stronger(edge.signature, change.signature()); };
  record.created_at = record.has_known_beginning() ? std::min(record.created_at, change.at) : change.at;
  if (std::ranges::none_of(record.edges, is_stronger)) {
    record.kind = payload.kind;
    record.content = payload.content;
    record.placement = payload.placement;
    record.frame_name = payload.frame_name.empty() ? nullptr : std::make_shared<const std::string>(payload.frame_name);
  }
  if (record.has_named_frame())
    next_->frame_claims.update(TextPtr::make(*record.frame_name), [&](NodeSet& nodes) { nodes.set(record.id); });
  record.has_frame |= record.is_placed() || payload.edge.parent == kDetachedNode;
  record.attributes.reserve(record.attributes.size() + payload.settings.size());
  for (const Setting& setting : payload.settings) set_attribute(record, setting, change);
}

// -- Containment

void Draft::add_edge(const NodeId& node, const Signature& incarnation, const Edge& edge) {
  next_->may_be_circular = next_->may_be_circular || (has_ever_had_children(node) && next_->ever_led_up(edge.parent, node));
  NewRecord record = incarnation_of(node, incarnation);
  if (record == nullptr) {
    edit_past_incarnation(node, incarnation, [&](NodeRecord& past) { enter(past, edge); });
    if (!edge.is_severed) note_past_child(edge.parent, edge.parent_incarnation, node);
    return;
  }
  enter(*record, edge);
  const bool was_removed = edge_of(*record, edge.signature.id)->removed;
  keep(std::move(record));
  if (edge.is_severed) return;
  NewRecord parent = incarnation_of(edge.parent, edge.parent_incarnation);
  if (parent == nullptr) return note_past_child(edge.parent, edge.parent_incarnation, node);  // never active
  (was_removed ? parent->past_children : parent->children).set(node, {});
  keep(std::move(parent));
  if (!was_removed) connect(node, edge);
}

bool Draft::has_ever_had_children(const NodeId& id) const {
  for (const NodeRecord* record = next_->recall(id); record != nullptr; record = record->previous.get())
    if (!record->children.empty() || !record->past_children.empty()) return true;
  return false;
}

/// Where the edge was removed before it was known, only its removal was kept.
void Draft::enter(NodeRecord& record, const Edge& edge) {
  const auto early = edge_of(record, edge.signature.id);
  const bool is_removed_before = early != record.edges.end();
  Edge entry = edge;
  if (is_removed_before) {
    entry.removed = true;
    entry.until = edge.is_severed ? edge.from : std::max(early->until, edge.from);
    entry.removal = early->removal;
    record.edges.erase(early);
  }
  const auto place = std::ranges::upper_bound(record.edges, entry, by_signature);
  const bool is_newest = !is_removed_before && place == record.edges.end() && place != record.edges.begin();
  note_moved_since(is_newest && !entry.is_severed ? entry.from : Stamp::always());
  record.edges.insert(place, entry);
}

void Draft::connect(const NodeId& node, const Edge& edge) {
  const bool has_children = !next_->recall(node)->children.empty();
  if (has_children && next_->leads_up(edge.parent, node)) return resolve_cycles(edge.from);
  if (next_->is_alive(edge.parent)) set_in_force(node, edge.parent, edge.from);
}

/// The parent is alive: so is the node from now on.
void Draft::set_in_force(const NodeId& id, const NodeId& parent, Stamp at) {
  set_parent_alive(id, *next_->find(parent), true);
  if (next_->is_alive(id))
    events_.push_back({FrameEvent::Kind::joined, id, parent, at});
  else
    reactivate(id, at);
}

void Draft::take(const Change& change, const log::RemoveEdges& payload) {
  if (NewRecord record = incarnation_of(payload.node, payload.incarnation))
    remove_edges(std::move(record), payload.dots, change);
  else
    edit_past_incarnation(payload.node, payload.incarnation, [&](NodeRecord& past) {
      for (const Dot& dot : payload.dots) remove_edge(past, dot, change);
    });
  note_moved(payload.node, change.at);
}

void Draft::remove_edges(NewRecord record, const std::vector<Dot>& dots, const Change& change) {
  const Stamp at = change.at;
  std::vector<NodeId> parents;
  for (const Dot& dot : dots)
    if (remove_edge(*record, dot, change)) parents.push_back(edge_of(*record, dot)->parent);
  const RecordPtr after = record;
  const bool dies = next_->is_alive(after->id) && !record->has_living_parent();
  if (dies)
    deactivate(record, at);
  else
    keep(std::move(record));
  for (const NodeId& parent : parents) disconnect(*after, parent, at);
  if (dies) detach_children(*after, at);
}

/// Removes an edge; false where it is not known, or was removed before: then the earliest end counts, whatever came first.
bool Draft::remove_edge(NodeRecord& record, const Dot& dot, const Change& change) {
  const auto edge = edge_of(record, dot);
  EdgeRemoval removal{change.epoch, taking_at_, change.signature()};
  if (edge == record.edges.end()) {
    Edge early;
    early.from = Stamp::always();
    early.signature.id = dot;
    early.until = change.at;
    early.removed = true;
    early.removal = std::make_shared<const EdgeRemoval>(std::move(removal));
    note_moved_since(Stamp::always());
    record.edges.insert(record.edges.begin(), early);
    return false;
  }
  const bool is_news = !edge->removed;
  const Stamp before = edge->until;
  const bool is_first = edge->removal == nullptr || removal < *edge->removal;
  if (is_first) edge->removal = std::make_shared<const EdgeRemoval>(std::move(removal));
  if (is_first && !edge->is_severed) edge->until = std::max(edge->from, change.at);
  edge->removed = true;
  note_moved_since(edge->from < edge->until ? std::min(before, edge->until) : Stamp::always());  // else it never held
  if (edge->closes_cycle) --next_->cycles;
  edge->closes_cycle = false;
  return is_news;
}

void Draft::disconnect(const NodeRecord& record, const NodeId& parent, Stamp at) {
  const NodeRecord* known = next_->recall(parent);
  if (known == nullptr) return;
  if (std::ranges::any_of(record.edges, [&](const Edge& edge) { return edge.leads_to(*known); })) return;
  edit_record(parent, [&](NodeRecord& group) {
    group.children.erase(record.id);
    group.past_children.set(record.id, {});
  });
  events_.push_back({FrameEvent::Kind::left, record.id, parent, at});
}

// -- Life and death

void Draft::set_parent_alive(const NodeId& child, const NodeRecord& parent, bool alive) {
  edit_record(child, [&](NodeRecord& record) {
    for (Edge& edge : record.edges)
      if (edge.leads_to(parent)) edge.parent_is_alive = alive;
  });
}

RecordPtr Draft::activate(const NodeId& id, Stamp at) {
  RecordPtr record = *next_->gone.find(id);
  next_->gone.erase(id);
  next_->alive.set(id, record);
  add_to_index(*record);
  events_.push_back({FrameEvent::Kind::activated, id, {}, at});
  return record;
}

void Draft::deactivate(const RecordPtr& record, Stamp at) {
  remove_from_index(*record);
  next_->alive.erase(record->id);
  next_->gone.set(record->id, record);
  events_.push_back({FrameEvent::Kind::deactivated, record->id, {}, at});
}

void Draft::reactivate(const NodeId& id, Stamp at) {
  std::vector<NodeId> waiting{id};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    const RecordPtr* gone = next_->gone.find(node);
    if (gone == nullptr || !(*gone)->has_known_beginning() || !(*gone)->has_living_parent()) continue;
    const RecordPtr record = activate(node, at);
    record->children.for_each([&](const NodeId& child, const auto&) {
      set_parent_alive(child, *record, true);
      if (next_->is_alive(child))
        events_.push_back({FrameEvent::Kind::joined, child, node, at});
      else
        waiting.push_back(child);
    });
  }
}

void Draft::remove_recursive(const NodeId& id, Stamp at) {
  const RecordPtr record = *next_->alive.find(id);
  deactivate(record, at);
  detach_children(*record, at);
}

/// Deactivates what had no other parent as well.
void Draft::detach_children(const NodeRecord& gone, Stamp at) {
  std::vector<RecordPtr> deactivated;
  const auto leave = [&](const NodeRecord& parent) {
    parent.children.for_each([&](const NodeId& child, const Nothing&) {
      set_parent_alive(child, parent, false);
      const RecordPtr* detached = next_->alive.find(child);
      if (detached == nullptr) return;
      if ((*detached)->has_living_parent()) {
        events_.push_back({FrameEvent::Kind::left, child, parent.id, at});
        return;
      }
      deactivated.push_back(*detached);
      deactivate(deactivated.back(), at);
    });
  };
  leave(gone);
  for (std::size_t i = 0; i < deactivated.size(); ++i) {
    const RecordPtr parent = deactivated[i];  // the list grows
    leave(*parent);
  }
}

// -- Attributes

void Draft::take(const Change& change, const log::SetAttributes& payload) {
  NewRecord record = incarnation_of(payload.node, payload.incarnation);
  if (record == nullptr)
    return edit_past_incarnation(payload.node, payload.incarnation, [&](NodeRecord& past) {
      for (const Setting& setting : payload.settings) set_attribute(past, setting, change);
    });
  const bool alive = next_->is_alive(payload.node);
  if (alive) remove_from_index(*record);
  for (const Setting& setting : payload.settings) set_attribute(*record, setting, change);
  if (alive) add_to_index(*record);
  keep(std::move(record));
}

void Draft::set_attribute(NodeRecord& record, const Setting& setting, const Change& change) {
  const Key key = keys_.intern(setting.key);
  Attribute attribute{key, setting.value ? ValuePtr::make(*setting.value) : nullptr, change.signature(), change.at};
  auto& all = record.attributes;
  all.insert(std::ranges::upper_bound(all, attribute, by_key_then_signature), std::move(attribute));
  const auto by_key = [](const Attribute& one) -> const std::string& { return *one.key.text; };
  const auto first = std::ranges::lower_bound(all, *key.text, {}, by_key);
  const auto last = std::ranges::upper_bound(all, *key.text, {}, by_key);
  if (last - first > kPastValues) all.erase(first);
}

void Draft::add_to_index(const NodeRecord& record) {
  record.for_each_attribute([&](const Attribute& attribute) { index_value(record.id, attribute, true); });
}

void Draft::remove_from_index(const NodeRecord& record) {
  record.for_each_attribute([&](const Attribute& attribute) { index_value(record.id, attribute, false); });
}

void Draft::index_value(const NodeId& id, const Attribute& attribute, bool present) {
  next_->index.update(attribute.key, [&](KeyIndex& index) {
    index.of(*attribute.value).update(attribute.value, [&](NodeSet& nodes) { present ? nodes.set(id) : void(nodes.erase(id)); });
  });
}

// -- The past

void Draft::drop_claims(const NodeRecord& newest) {
  const NodeId id = newest.id;
  for (const NodeRecord* record = &newest; record != nullptr; record = record->previous.get())
    if (record->has_named_frame())
      next_->frame_claims.update(TextPtr::make(*record->frame_name), [&](NodeSet& nodes) { nodes.erase(id); });
}

bool Draft::forget(const NodeId& id, Stamp oldest) {
  const RecordPtr* gone = next_->gone.find(id);  // most are: the living are not looked through
  const NodeRecord* known = gone != nullptr ? gone->get() : next_->find(id);
  if (known == nullptr) return true;
  const auto has_ended = [&](const Edge& edge) {
    return edge.removed ? edge.until < oldest : next_->recall(edge.parent) == nullptr;
  };
  const bool is_all_over = gone != nullptr && std::ranges::all_of(known->edges, has_ended);
  const auto is_over = [&](const Edge& edge) { return has_ended(edge) && (is_all_over || !edge.begins); };
  std::vector<NodeId> left;
  for (const Edge& edge : known->edges) {
    if (!is_over(edge)) continue;
    left.push_back(edge.parent);
    if (edge.removal != nullptr) forgotten_.push_back(edge.removal->by.id);
  }
  if (is_all_over) drop_claims(*known);
  if (is_all_over)
    next_->gone.erase(id);
  else
    edit_record(id, [&](NodeRecord& record) { std::erase_if(record.edges, is_over), record.previous = nullptr; });
  for (const NodeId& parent : left)
    if (next_->recall(parent) != nullptr) edit_record(parent, [&](NodeRecord& group) { group.past_children.erase(id); });
  next_->oldest_past = std::max(next_->oldest_past, oldest);
  return is_all_over;
}

}  // namespace armillary::scene
