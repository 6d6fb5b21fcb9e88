#pragma once

#include "armillary/scene/change.hpp"

namespace armillary::scene {

/// A containment that may be active: it holds, and means the present incarnation of its parent.
struct Link {
  HybridTimestamp timestamp;
  NodeId node, parent;
};

/// The timestamps of those that close a cycle, sorted: links count in the order of precedence, and one that would lead back
/// along those that count does not. Links outside of every knot (a strongly connected set of nodes) never do.
[[nodiscard]] std::vector<HybridTimestamp> closing(std::vector<Link> links);

}  // namespace armillary::scene
