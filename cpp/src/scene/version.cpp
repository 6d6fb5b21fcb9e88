#include "armillary/scene/version.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "armillary/scene/ancestry.hpp"

namespace armillary::scene {

Authorship Authorship::copy(std::uint64_t new_author, const log::VersionVector& held) const {
  Authorship twin{new_author, inherited};
  twin.inherited.add(held.of(author));
  return twin;
}

// -- One node

bool Edge::leads_to(const NodeRecord& record) const {
  return !removed && parent == record.id && parent_incarnation == record.incarnation;
}

void Edge::sever() {
  removed = is_severed = true;
  until = from;
  closes_cycle = false;
}

bool NodeRecord::has_living_parent() const {
  return std::ranges::any_of(edges, [](const Edge& edge) { return edge.is_in_force(); });
}

namespace {

/// Whether edges lead to different parents, as `are_different` has it; an edge that is not known yet leads to none.
template <typename Different>
bool has_different_parents(const std::vector<Edge>& edges, Different are_different) {
  const Edge* first = nullptr;
  for (const Edge& edge : edges) {
    if (edge.parent == NodeId{} || edge.parent == kDetachedNode) continue;
    if (first == nullptr) first = &edge;
    if (are_different(edge, *first)) return true;
  }
  return false;
}

}  // namespace

bool NodeRecord::had_several_parents() const {
  return has_different_parents(
      edges, [](const Edge& a, const Edge& b) { return a.parent != b.parent || a.parent_incarnation != b.parent_incarnation; });
}

bool NodeRecord::was_moved() const {
  return has_different_parents(edges, [](const Edge& a, const Edge& b) { return a.parent != b.parent; });
}

bool NodeRecord::is_in_own_frame() const {
  if (is_placed() || was_moved() || id == kRootNode || id == kDetachedNode) return true;
  const Edge* first = nullptr;
  for (const Edge& edge : edges) {
    if (!edge.is_in_force()) continue;
    if (first != nullptr && edge.parent != first->parent) return true;
    first = &edge;
  }
  return first != nullptr && first->parent == kDetachedNode;
}

Signature NodeRecord::beginning() const {
  const Edge* strongest = nullptr;
  for (const Edge& edge : edges)
    if (edge.begins && (strongest == nullptr || log::stronger(edge.signature, strongest->signature))) strongest = &edge;
  return strongest == nullptr ? Signature{} : strongest->signature;
}

std::vector<NodeId> NodeRecord::parents() const {
  std::vector<NodeId> found;
  for (const Edge& edge : edges)
    if (edge.is_in_force() && std::ranges::find(found, edge.parent) == found.end()) found.push_back(edge.parent);
  return found;
}

Digest RecordTraits::digest(const NodeId& id, const RecordPtr& record) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(id.bytes)));
  hash.add(static_cast<std::uint64_t>(record->kind));
  record->for_each_attribute([&](const Attribute& attribute) {
    hash.add(std::uint64_t{attribute.key.text->size()});
    hash.add(*attribute.key.text);
    attribute.value->add_to(hash);
  });
  std::vector<NodeId> parents = record->parents();
  std::ranges::sort(parents);
  hash.add(std::uint64_t{parents.size()});
  for (const NodeId& parent : parents) hash.add(std::as_bytes(std::span(parent.bytes)));
  if (record->content) hash.add(record->content->digest);
  if (record->has_named_frame()) {
    hash.add(std::uint64_t{record->frame_name->size()});
    hash.add(*record->frame_name);
  }
  return hash.finish();
}

std::uint64_t KeyTraits::hash(const Key& key) { return std::hash<std::string>{}(*key.text); }

// -- Many nodes

const NodeRecord* Version::find(const NodeId& id) const {
  const RecordPtr* record = alive.find(id);
  return record == nullptr ? nullptr : record->get();
}

const NodeRecord* Version::recall(const NodeId& id) const {
  if (const NodeRecord* record = find(id)) return record;
  const RecordPtr* record = gone.find(id);
  return record == nullptr ? nullptr : record->get();
}

const NodeRecord* Version::recall(const NodeId& id, const Signature& incarnation) const {
  const NodeRecord* record = recall(id);
  while (record != nullptr && record->incarnation != incarnation) record = record->previous.get();
  return record;
}

namespace {

/// What ends the name of the frame in which a Transform with several parents is placed.
constexpr std::string_view kMountEnding = "/mount";

}  // namespace

const NodeRecord* Version::named(std::string_view frame) const {
  const NodeSet* claims = frame_claims.empty() ? nullptr : frame_claims.find(TextPtr::make(frame));
  if (claims == nullptr) return nullptr;
  const NodeRecord* owner = nullptr;
  const auto goes_before = [this](const NodeRecord& a, const NodeRecord& b) {
    if (is_alive(a.id) != is_alive(b.id)) return is_alive(a.id);
    return is_alive(a.id) ? log::stronger(a.beginning(), b.beginning()) : a.beginning() > b.beginning();
  };
  claims->for_each([&](const NodeId& id, const Nothing&) {
    const NodeRecord* record = recall(id);
    if (record == nullptr || !record->has_named_frame() || *record->frame_name != frame) return;  // it has another name now
    if (owner == nullptr || goes_before(*record, *owner)) owner = record;
  });
  return owner;
}

std::size_t Version::claims_of(std::string_view frame) const {
  const NodeSet* claims = frame_claims.empty() ? nullptr : frame_claims.find(TextPtr::make(frame));
  return claims == nullptr ? 0 : claims->size();
}

std::string Version::frame_called(std::string_view name) const {
  if (frame_claims.empty()) return {};
  if (const NodeRecord* node = named(name)) return node->id.text();
  if (!name.ends_with(kMountEnding)) return {};
  const NodeRecord* node = named(name.substr(0, name.size() - kMountEnding.size()));
  return node == nullptr ? std::string() : node->id.text() + std::string(kMountEnding);
}

std::vector<NodeId> Version::children(const NodeRecord& record) const {
  std::vector<std::pair<Signature, NodeId>> found;
  record.children.for_each([&](const NodeId& id, const auto&) {
    const NodeRecord* child = find(id);
    if (child == nullptr) return;
    for (const Edge& edge : child->edges)
      if (edge.is_in_force() && edge.parent == record.id) return found.emplace_back(edge.signature, id), void();
  });
  std::ranges::sort(found);
  std::vector<NodeId> ids;
  ids.reserve(found.size());
  for (const auto& [signature, id] : found) ids.push_back(id);
  return ids;
}

NodeId Version::main_parent(const NodeRecord& record) const {
  const auto in_force = std::ranges::find_if(record.edges, &Edge::is_in_force);
  if (in_force != record.edges.end()) return in_force->parent;
  const auto known = std::ranges::find_if(record.edges, [&](const Edge& edge) { return recall(edge.parent) != nullptr; });
  return known == record.edges.end() ? NodeId{} : known->parent;
}

const NodeRecord& Version::framed(const NodeRecord& record) const {
  const NodeRecord* node = &record;
  std::unordered_set<NodeId> passed;  // removed nodes may be in each other
  while (!node->is_in_own_frame()) {
    const NodeRecord* parent = recall(main_parent(*node));
    if (parent == nullptr || (!is_alive(node->id) && !passed.insert(node->id).second)) break;
    node = parent;
  }
  return *node;
}

namespace {

/// One step of a way up, and the time for which all of the way so far is there.
struct Climb {
  NodeId node;
  std::size_t below;  // index of the step before
  Stamp from, until;
};

std::vector<NodeId> traced(const std::vector<Climb>& steps, std::size_t last) {
  std::vector<NodeId> path{steps[last].node};
  while (last != 0) {
    last = steps[last].below;
    path.push_back(steps[last].node);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

std::vector<NodeId> Version::path_up(const NodeId& from, const NodeId& ancestor, Stamp since) const {
  std::vector<Climb> steps{{from, 0, since, Stamp::never()}};
  std::unordered_map<NodeId, std::vector<std::pair<Stamp, Stamp>>> passed;  // and for which time
  const auto is_new = [&](const Climb& climb) {
    auto& times = passed[climb.node];
    const auto covers = [&](const auto& time) { return time.first <= climb.from && climb.until <= time.second; };
    if (std::ranges::any_of(times, covers)) return false;
    times.emplace_back(climb.from, climb.until);
    return true;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Climb at = steps[i];
    if (at.node == ancestor) return traced(steps, i);
    const NodeRecord* record = recall(at.node);
    if (record == nullptr) continue;
    for (const Edge& edge : record->edges) {
      const NodeRecord* parent = recall(edge.parent);
      if (parent == nullptr || parent->incarnation != edge.parent_incarnation) continue;
      const Climb next{edge.parent, i, std::max(at.from, edge.from), std::min(at.until, edge.until)};
      if (next.from < next.until && is_new(next)) steps.push_back(next);
    }
  }
  return {};
}

bool Version::leads_up(const NodeId& from, const NodeId& ancestor) const {
  return Ancestry{ancestor}.has(from, [this](const NodeId& id) {
    std::vector<NodeId> above;
    const NodeRecord* record = recall(id);
    if (record == nullptr) return above;
    for (const Edge& edge : record->edges) {
      const NodeRecord* parent = edge.removed ? nullptr : recall(edge.parent);
      if (parent != nullptr && parent->incarnation == edge.parent_incarnation) above.push_back(edge.parent);
    }
    return above;
  });
}

bool Version::ever_led_up(const NodeId& from, const NodeId& ancestor) const {
  return Ancestry{ancestor}.has(from, [this](const NodeId& id) {
    std::vector<NodeId> above;
    for (const NodeRecord* record = recall(id); record != nullptr; record = record->previous.get())
      for (const Edge& edge : record->edges) above.push_back(edge.parent);
    return above;
  });
}

}  // namespace armillary::scene
