#include "armillary/scene/search.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "armillary/scene/ancestry.hpp"

namespace armillary::scene {

bool holds(const Condition& condition, const AttributeValue* value) {
  if (condition.kind == Condition::Kind::absent) return value == nullptr;
  if (value == nullptr) return false;
  switch (condition.kind) {
    case Condition::Kind::equals:
      return *value == condition.value;
    case Condition::Kind::matches:
      return condition.test(*value);
    case Condition::Kind::between:
      break;
    default:
      return true;
  }
  if (!value->is_number()) return false;
  const auto side = [&](const std::optional<AttributeValue>& bound, bool included, bool is_low) {
    if (!bound) return true;
    const std::strong_ordering order = is_low ? value->compare_number(*bound) : bound->compare_number(*value);
    return order > 0 || (included && order == 0);
  };
  return side(condition.low, condition.low_included, true) && side(condition.high, condition.high_included, false);
}

namespace {

const AttributeValue* value_of(const NodeRecord& record, std::string_view key) {
  const AttributeValue* found = nullptr;
  record.for_each_attribute([&](const Attribute& attribute) {
    if (*attribute.key.text == key) found = attribute.value.get();
  });
  return found;
}

const NodeSet* nodes_with(const KeyIndex& index, const AttributeValue& value) {
  return index.of(value).find(ValuePtr::make(value));
}

/// How many nodes the index gives at most; "all" where that is not cheap to know.
std::size_t expected(const Version& version, const Condition& condition) {
  if (condition.kind == Condition::Kind::absent) return std::numeric_limits<std::size_t>::max();
  const KeyIndex* index = version.index.find(Key{&condition.key});
  if (index == nullptr) return 0;
  if (condition.kind != Condition::Kind::equals) return version.alive.size();
  const NodeSet* nodes = nodes_with(*index, condition.value);
  return nodes == nullptr ? 0 : nodes->size();
}

/// Calls f(const NodeSet&) for every value of which the condition holds.
template <typename F>
void for_each_value(const KeyIndex& index, const Condition& condition, F f) {
  const auto give = [&](const ValuePtr& value, const NodeSet& nodes) {
    if (holds(condition, value.get())) f(nodes);
  };
  if (condition.kind == Condition::Kind::equals) {
    if (const NodeSet* nodes = nodes_with(index, condition.value)) f(*nodes);
    return;
  }
  if (condition.kind != Condition::Kind::between) {
    index.numbers.for_each(give);
    index.others.for_each(give);
    return;
  }
  const std::uint64_t first = condition.low ? condition.low->order_bits() : 0;
  const std::uint64_t last = condition.high ? condition.high->order_bits() : std::numeric_limits<std::uint64_t>::max();
  index.numbers.for_each_between(first, last, give);
}

std::vector<NodeId> candidates(const Version& version, const Condition& condition) {
  std::vector<NodeId> found;
  const KeyIndex* index = version.index.find(Key{&condition.key});
  if (index == nullptr) return found;
  for_each_value(*index, condition,
                 [&](const NodeSet& nodes) { nodes.for_each([&](const NodeId& id, const Nothing&) { found.push_back(id); }); });
  return found;
}

auto parents_in(const Version& version) {
  return [&version](const NodeId& id) { return version.find(id)->parents(); };
}

void keep_those_under(const Version& version, const NodeId& under, std::vector<NodeId>& nodes) {
  if (under == kRootNode && version.find(kDetachedNode)->children.empty()) {
    std::erase(nodes, kDetachedNode);
    return;
  }
  Ancestry ancestry{under};
  std::erase_if(nodes, [&](const NodeId& id) { return !ancestry.has(id, parents_in(version)); });
}

void sort_by_age(const Version& version, std::vector<NodeId>& nodes) {
  std::ranges::sort(nodes, {}, [&](const NodeId& id) { return version.find(id)->incarnation; });
}

}  // namespace

bool is_under(const Version& version, const NodeId& node, const NodeId& ancestor) {
  return Ancestry{ancestor}.has(node, parents_in(version));
}

std::vector<NodeId> find(const Version& version, std::span<const Condition> conditions, const NodeId& under) {
  const auto best = std::ranges::min_element(conditions, {}, [&](const Condition& one) { return expected(version, one); });
  const bool has_index = best != conditions.end() && best->kind != Condition::Kind::absent;
  std::vector<NodeId> found = has_index ? candidates(version, *best) : subtree(version, under);
  std::erase_if(found, [&](const NodeId& id) {
    const NodeRecord& record = *version.find(id);
    return !std::ranges::all_of(
        conditions, [&](const Condition& one) { return (has_index && &one == &*best) || holds(one, value_of(record, one.key)); });
  });
  if (has_index) keep_those_under(version, under, found);
  sort_by_age(version, found);
  return found;
}

std::vector<NodeId> subtree(const Version& version, const NodeId& under) {
  std::vector<NodeId> found{under};
  std::unordered_set<NodeId> seen{under};
  for (std::size_t i = 0; i < found.size(); ++i)
    version.find(found[i])->children.for_each([&](const NodeId& child, const Nothing&) {
      const NodeRecord* record = version.find(child);
      const auto is_here = [&](const Edge& edge) { return edge.is_in_force() && edge.parent == found[i]; };
      if (record != nullptr && std::ranges::any_of(record->edges, is_here) && seen.insert(child).second) found.push_back(child);
    });
  return found;
}

Digest digest(const Version& version, const NodeId& under) {
  if (under == kRootNode) return version.alive.digest();
  Records part;
  for (const NodeId& id : subtree(version, under)) part.set(id, *version.alive.find(id));
  return part.digest();
}

}  // namespace armillary::scene
