#pragma once

#include "armillary/scene/change.hpp"

namespace armillary::scene {

/// A containment that may count: it holds, and the life of the parent that it means is the one that there is.
struct Link {
  HybridTimestamp timestamp;
  NodeId node, parent;
};

/// The marks of those that close a circle, sorted: links count in the order of precedence, and one that would lead back
/// along those that count does not. Links outside of every knot (a strongly connected set of nodes) never do.
[[nodiscard]] std::vector<HybridTimestamp> closing(std::vector<Link> links);

}  // namespace armillary::scene
