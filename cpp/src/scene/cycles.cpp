// Cycles of containment: peers can close one together though none of them did alone.
//
// Which edges are active is a function of the set of edges, at present as at every instant of the past. At an instant:
//   * the incarnation of a node is the one that began last by then;
//   * the links are the edges of those incarnations that hold then and mean the incarnation that their parent has then;
//   * they count in the order of strength, but for those that lead back along links that count already;
//   * alive is what the root or the detached root reaches along those that count.
// The present is the same of the newest incarnations and the edges that were not removed.

#include "scene/cycles.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "armillary/scene/draft.hpp"

namespace armillary::scene {

namespace {

/// Every edge that was not removed and leads to the present incarnation of its parent.
std::vector<Link> links_of(const Version& version) {
  std::vector<Link> links;
  const auto collect = [&](const NodeId& id, const RecordPtr& record) {
    for (const Edge& edge : record->edges) {
      const NodeRecord* parent = edge.removed ? nullptr : version.recall(edge.parent);
      if (parent != nullptr && parent->incarnation == edge.parent_incarnation) links.push_back({edge.signature, id, edge.parent});
    }
  };
  version.alive.for_each(collect);
  version.gone.for_each(collect);
  return links;
}

using Neighbours = std::unordered_map<NodeId, std::vector<NodeId>>;

bool reaches(const Neighbours& up, const NodeId& from, const NodeId& target) {
  std::unordered_set<NodeId> seen{from};
  std::vector<NodeId> waiting{from};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    if (node == target) return true;
    const auto above = up.find(node);
    if (above == up.end()) continue;
    for (const NodeId& parent : above->second)
      if (seen.insert(parent).second) waiting.push_back(parent);
  }
  return false;
}

/// What the root and the detached root reach, parents before children.
std::vector<NodeId> reached(const Version& version, const std::vector<Link>& links, const std::vector<Signature>& closed) {
  Neighbours down;
  for (const Link& link : links)
    if (!std::ranges::binary_search(closed, link.signature)) down[link.parent].push_back(link.node);
  std::vector<NodeId> order{kRootNode, kDetachedNode};
  std::unordered_set<NodeId> seen(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<NodeId> below = down[order[i]];
    for (const NodeId& child : below)
      if (version.recall(child)->has_known_beginning() && seen.insert(child).second) order.push_back(child);
  }
  return order;
}

}  // namespace

std::vector<Signature> closing(std::vector<Link> links) {
  std::ranges::sort(links, {}, [](const Link& link) { return log::strength(link.signature); });
  Neighbours all, taken;
  for (const Link& link : links) all[link.node].push_back(link.parent);
  std::vector<Signature> found;
  for (const Link& link : links) {
    const bool in_a_knot = reaches(all, link.parent, link.node);
    if (in_a_knot && reaches(taken, link.parent, link.node))
      found.push_back(link.signature);
    else if (in_a_knot)
      taken[link.node].push_back(link.parent);
  }
  std::ranges::sort(found);
  return found;
}

/// Decides anew which edges are active, and from it who is alive. Rare: the whole scene is looked at.
void Draft::resolve_cycles(Stamp at) {
  const std::vector<Link> links = links_of(*next_);
  const std::vector<Signature> closed = closing(links);
  const std::vector<NodeId> living = reached(*next_, links, closed);
  next_->cycles = closed.size();
  set_flags(closed, std::unordered_set<NodeId>(living.begin(), living.end()), at);
  move_to(living, at);
}

void Draft::set_flags(const std::vector<Signature>& closed, const std::unordered_set<NodeId>& living, Stamp at) {
  std::vector<NewRecord> edited;
  const auto visit = [&](const NodeId&, const RecordPtr& record) {
    auto copy = NewRecord::make(*record);
    bool differs = false;
    for (Edge& edge : copy->edges) {
      const NodeRecord* parent = edge.removed || !living.contains(edge.parent) ? nullptr : next_->recall(edge.parent);
      const bool is_parent_alive = parent != nullptr && parent->incarnation == edge.parent_incarnation;
      const bool closes = std::ranges::binary_search(closed, edge.signature);
      differs |= edge.parent_is_alive != is_parent_alive || edge.closes_cycle != closes;
      edge.parent_is_alive = is_parent_alive, edge.closes_cycle = closes;
    }
    if (differs) edited.push_back(std::move(copy));
  };
  next_->alive.for_each(visit);
  next_->gone.for_each(visit);
  for (auto& record : edited) {
    events_.push_back({FrameEvent::Kind::joined, record->id, {}, at});
    keep(std::move(record));
  }
}

void Draft::move_to(const std::vector<NodeId>& living, Stamp at) {
  const std::unordered_set<NodeId> stays(living.begin(), living.end());
  std::vector<NodeId> dying;
  next_->alive.for_each([&](const NodeId& id, const RecordPtr&) {
    if (!stays.contains(id)) dying.push_back(id);
  });
  for (const NodeId& id : dying) deactivate(RecordPtr(*next_->alive.find(id)), at);
  for (const NodeId& id : living)
    if (!next_->is_alive(id)) activate(id, at);
}

}  // namespace armillary::scene
