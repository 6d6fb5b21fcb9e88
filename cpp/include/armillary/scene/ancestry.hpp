#pragma once

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "armillary/log/node_id.hpp"

namespace armillary::scene {

/// Which nodes are below some others, however deep; where there is no cycle it remembers what it found on the way.
class Ancestry {
 public:
  Ancestry(std::initializer_list<NodeId> ancestors) {
    for (const NodeId& id : ancestors) known_[id] = true;
  }

  /// `above(id)`: the parents of a node.
  template <typename Above>
  [[nodiscard]] bool has(const NodeId& id, Above above) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    std::vector<Step> steps{step(id, above)};
    while (!steps.empty()) {
      if (steps.back().parents.empty()) {
        steps.pop_back();
        continue;
      }
      const NodeId parent = steps.back().parents.back();
      steps.back().parents.pop_back();
      const auto known = known_.find(parent);
      if (known == known_.end()) steps.push_back(step(parent, above));
      if (known != known_.end() && known->second) return learn(steps);
    }
    return false;
  }

 private:
  struct Step {
    NodeId node;
    std::vector<NodeId> parents;  // that were not looked at yet
  };

  template <typename Above>
  [[nodiscard]] Step step(const NodeId& id, Above above) {
    known_[id] = false;  // until it turns out otherwise
    return {id, above(id)};
  }

  bool learn(const std::vector<Step>& steps) {
    for (const Step& step : steps) known_[step.node] = true;
    return true;
  }

  std::unordered_map<NodeId, bool> known_;
};

}  // namespace armillary::scene
