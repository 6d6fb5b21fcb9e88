#include "armillary/scene/past.hpp"

#include <algorithm>
#include <unordered_set>

#include "scene/cycles.hpp"

namespace armillary::scene {

const NodeRecord* Past::incarnation_of(const NodeId& id) const {
  const NodeRecord* first = nullptr;
  for (const NodeRecord* record = version_->recall(id); record != nullptr; record = record->previous.get()) {
    if (!record->has_known_beginning()) continue;
    if (record->created_at <= at_) return record;
    first = record;
  }
  return beginnings_ == Beginnings::are_ignored ? first : nullptr;
}

bool is_first(const NodeRecord& record, const Edge& edge) {
  const auto first = std::ranges::find_if(record.edges, [](const Edge& one) { return one.parent != NodeId{}; });
  return first != record.edges.end() && first->signature == edge.signature;
}

bool Past::held(const NodeRecord& record, const Edge& edge) const {
  if (edge.holds_at(at_)) return true;
  return beginnings_ == Beginnings::are_ignored && at_ < edge.from && edge.from < edge.until && is_first(record, edge);
}

/// Whether an edge held then, and meant the incarnation that its parent had then.
bool Past::is_link(const NodeRecord& record, const Edge& edge) const {
  if (!held(record, edge)) return false;
  const NodeRecord* parent = incarnation_of(edge.parent);
  return parent != nullptr && parent->incarnation == edge.parent_incarnation;
}

bool Past::counts(const NodeRecord& record, const Edge& edge) const {
  return is_link(record, edge) && !(version_->may_be_circular && closes_cycle(record, edge));
}

/// A knot that the node is in is among what is above it.
bool Past::closes_cycle(const NodeRecord& record, const Edge& edge) const {
  std::vector<Link> links;
  std::vector<NodeId> above{record.id};
  std::unordered_set<NodeId> seen{record.id};
  for (std::size_t i = 0; i < above.size(); ++i)
    for (const Edge& one : incarnation_of(above[i])->edges) {
      if (!is_link(*incarnation_of(above[i]), one)) continue;
      links.push_back({one.signature, above[i], one.parent});
      if (seen.insert(one.parent).second) above.push_back(one.parent);
    }
  return std::ranges::binary_search(closing(std::move(links)), edge.signature);
}

const NodeRecord* Past::find(const NodeId& id) const {
  const auto above = [this](const NodeId& node) {
    std::vector<NodeId> found;
    if (const NodeRecord* record = incarnation_of(node))
      for (const Edge& edge : record->edges)
        if (counts(*record, edge)) found.push_back(edge.parent);
    return found;
  };
  return alive_.has(id, above) ? incarnation_of(id) : nullptr;
}

std::vector<NodeId> Past::parents(const NodeRecord& record) const {
  std::vector<NodeId> found;
  for (const Edge& edge : record.edges)
    if (counts(record, edge) && find(edge.parent) != nullptr && std::ranges::find(found, edge.parent) == found.end())
      found.push_back(edge.parent);
  return found;
}

std::vector<NodeId> Past::children(const NodeRecord& record) const {
  std::vector<std::pair<Signature, NodeId>> found;
  const auto look_at = [&](const NodeId& id, const Nothing&) {
    const NodeRecord* child = incarnation_of(id);
    if (child == nullptr) return;
    for (const Edge& edge : child->edges)
      if (edge.parent == record.id && counts(*child, edge)) return found.emplace_back(edge.signature, id), void();
  };
  record.children.for_each(look_at);
  record.past_children.for_each(look_at);
  std::ranges::sort(found);
  std::vector<NodeId> ids;
  for (const auto& [signature, id] : found)
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  return ids;
}

const NodeRecord& Past::framed(const NodeRecord& record) const {
  const NodeRecord* node = &record;
  for (std::vector<NodeId> above = parents(*node); !node->is_placed() && !node->was_moved() && node->id != kRootNode;
       above = parents(*node)) {
    if (above.size() != 1 || above.front() == kDetachedNode) break;
    node = incarnation_of(above.front());
  }
  return *node;
}

std::vector<NodeId> Past::subtree(const NodeId& under) const {
  std::vector<NodeId> found{under};
  std::unordered_set<NodeId> seen{under};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NodeId& child : children(*incarnation_of(found[i])))
      if (seen.insert(child).second) found.push_back(child);
  return found;
}

std::vector<NodeId> Past::find(std::span<const Condition> conditions, const NodeId& under) const {
  std::vector<NodeId> found;
  for (const NodeId& id : subtree(under)) {
    const NodeRecord& record = *incarnation_of(id);
    const bool all = std::ranges::all_of(conditions, [&](const Condition& condition) {
      const AttributeValue* value = nullptr;
      for_each_attribute(record, [&](const Attribute& attribute) {
        if (*attribute.key.text == condition.key) value = attribute.value.get();
      });
      return holds(condition, value);
    });
    if (all) found.push_back(id);
  }
  return found;
}

}  // namespace armillary::scene
