#include "armillary/graph/cut_cycles.hpp"

#include <limits>
#include <map>
#include <utility>

namespace armillary {

namespace {

constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();

/// Strongly connected components of the links, time ignored (Tarjan, without recursion): a number for each node.
class Components {
 public:
  Components(std::size_t nodes, const std::vector<Link>& links) : above_(nodes), states_(nodes) {
    for (const Link& link : links) above_[link.child].push_back(link.parent);
    for (std::uint32_t node = 0; node < nodes; ++node)
      if (states_[node].index == kNoNode) explore(node);
  }

  [[nodiscard]] std::uint32_t of(std::uint32_t node) const { return states_[node].component; }

 private:
  struct State {
    std::uint32_t index = kNoNode, low = kNoNode, component = kNoNode;
  };
  struct Visit {
    std::uint32_t node;
    std::size_t next = 0;
  };

  void enter(std::uint32_t node) {
    states_[node].index = states_[node].low = counter_++;
    waiting_.push_back(node);
    visits_.push_back({node});
  }

  void explore(std::uint32_t start) {
    enter(start);
    while (!visits_.empty()) {
      const std::uint32_t node = visits_.back().node;
      if (visits_.back().next < above_[node].size()) {
        const std::uint32_t parent = above_[node][visits_.back().next++];
        if (states_[parent].index == kNoNode)
          enter(parent);
        else if (states_[parent].component == kNoNode)
          states_[node].low = std::min(states_[node].low, states_[parent].index);
        continue;
      }
      visits_.pop_back();
      if (states_[node].low == states_[node].index) close(node);
      if (!visits_.empty()) {
        State& below = states_[visits_.back().node];
        below.low = std::min(below.low, states_[node].low);
      }
    }
  }

  void close(std::uint32_t root) {
    for (;;) {
      const std::uint32_t node = waiting_.back();
      waiting_.pop_back();
      states_[node].component = components_;
      if (node == root) break;
    }
    ++components_;
  }

  std::vector<std::vector<std::uint32_t>> above_;
  std::vector<State> states_;
  std::vector<std::uint32_t> waiting_{};
  std::vector<Visit> visits_{};
  std::uint32_t counter_ = 0, components_ = 0;
};

/// The links of one instant that were taken.
class Taken {
 public:
  void add(const Link& link) { above_[link.child].push_back(link.parent); }

  /// The shortest way from a node up to another one, both included; empty where there is none.
  [[nodiscard]] std::vector<std::uint32_t> way(std::uint32_t from, std::uint32_t to) const {
    std::map<std::uint32_t, std::uint32_t> before{{from, kNoNode}};
    std::vector<std::uint32_t> reached{from};
    for (std::size_t i = 0; i < reached.size() && !before.contains(to); ++i)
      if (const auto found = above_.find(reached[i]); found != above_.end())
        for (const std::uint32_t parent : found->second)
          if (before.emplace(parent, reached[i]).second) reached.push_back(parent);
    std::vector<std::uint32_t> path;
    if (!before.contains(to)) return path;
    for (std::uint32_t node = to; node != kNoNode; node = before.at(node)) path.push_back(node);
    std::ranges::reverse(path);
    return path;
  }

 private:
  std::map<std::uint32_t, std::vector<std::uint32_t>> above_{};
};

/// The greedy rule within one component, between any two change points.
void cut_component(const std::vector<Link>& links, const std::vector<std::size_t>& members, std::vector<Cut>& cuts) {
  std::vector<Stamp> points;
  for (const std::size_t i : members)
    for (const Interval& interval : links[i].when) points.insert(points.end(), {interval.from, interval.to});
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    Taken taken;
    for (const std::size_t i : members) {
      if (!links[i].when.contains(points[k])) continue;
      std::vector<std::uint32_t> path = taken.way(links[i].parent, links[i].child);
      if (path.empty()) {
        taken.add(links[i]);
        continue;
      }
      if (cuts[i].when.empty()) cuts[i].path = std::move(path);
      cuts[i].when = cuts[i].when | Intervals(Interval{points[k], points[k + 1]});
    }
  }
}

}  // namespace

std::vector<Cut> cut_cycles(std::size_t nodes, const std::vector<Link>& links) {
  const Components components(nodes, links);
  std::map<std::uint32_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < links.size(); ++i)
    if (components.of(links[i].child) == components.of(links[i].parent)) members[components.of(links[i].child)].push_back(i);
  std::vector<Cut> cuts(links.size());
  for (const auto& [component, all] : members) cut_component(links, all, cuts);
  return cuts;
}

}  // namespace armillary
