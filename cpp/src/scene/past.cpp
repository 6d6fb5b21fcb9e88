#include "armillary/scene/past.hpp"

#include <algorithm>
#include <unordered_set>

namespace armillary::scene {

const NodeRecord* Past::life(const NodeId& id) const {
  const NodeRecord* record = version_->recall(id);
  while (record != nullptr && (!record->has_known_beginning() || record->created_at > at_)) record = record->previous.get();
  return record;
}

bool Past::counts(const Edge& edge) const {
  if (edge.closes_a_circle || !edge.holds_at(at_)) return false;
  const NodeRecord* parent = life(edge.parent);
  return parent != nullptr && parent->incarnation == edge.parent_incarnation;
}

const NodeRecord* Past::find(const NodeId& id) const {
  std::vector<NodeId> waiting{id};
  std::unordered_set<NodeId> seen{id};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    if (node == kRootNode || node == kLimboNode) return life(id);
    const NodeRecord* record = life(node);
    if (record == nullptr) continue;
    for (const Edge& edge : record->edges)
      if (counts(edge) && seen.insert(edge.parent).second) waiting.push_back(edge.parent);
  }
  return nullptr;
}

std::vector<NodeId> Past::parents(const NodeRecord& record) const {
  std::vector<NodeId> found;
  for (const Edge& edge : record.edges)
    if (counts(edge) && find(edge.parent) != nullptr && std::ranges::find(found, edge.parent) == found.end())
      found.push_back(edge.parent);
  return found;
}

std::vector<NodeId> Past::children(const NodeRecord& record) const {
  std::vector<std::pair<Mark, NodeId>> found;
  const auto look_at = [&](const NodeId& id, const Nothing&) {
    const NodeRecord* child = life(id);
    if (child == nullptr) return;
    for (const Edge& edge : child->edges)
      if (edge.parent == record.id && counts(edge)) return found.emplace_back(edge.mark, id), void();
  };
  record.children.for_each(look_at);
  record.former_children.for_each(look_at);
  std::ranges::sort(found);
  std::vector<NodeId> ids;
  for (const auto& [mark, id] : found)
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  return ids;
}

const NodeRecord& Past::framed(const NodeRecord& record) const {
  const NodeRecord* node = &record;
  for (std::vector<NodeId> above = parents(*node); node->placement == nullptr && node->id != kRootNode; above = parents(*node)) {
    if (above.size() != 1 || above.front() == kLimboNode) break;
    node = life(above.front());
  }
  return *node;
}

std::vector<NodeId> Past::subtree(const NodeId& under) const {
  std::vector<NodeId> found{under};
  std::unordered_set<NodeId> seen{under};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NodeId& child : children(*life(found[i])))
      if (seen.insert(child).second) found.push_back(child);
  return found;
}

std::vector<NodeId> Past::find(std::span<const Condition> conditions, const NodeId& under) const {
  std::vector<NodeId> found;
  for (const NodeId& id : subtree(under)) {
    const NodeRecord& record = *life(id);
    const bool all = std::ranges::all_of(conditions, [&](const Condition& condition) {
      const AttributeValue* value = nullptr;
      for_each_attribute(record, [&](const Attribute& said) {
        if (*said.key.text == condition.key) value = &said.value;
      });
      return holds(condition, value);
    });
    if (all) found.push_back(id);
  }
  return found;
}

}  // namespace armillary::scene
