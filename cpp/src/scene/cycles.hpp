#pragma once

#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// A containment that may be active: it holds, and means the present incarnation of its parent.
struct Link {
  Signature signature;
  NodeId node, parent;
};

/// The signatures of those that close a cycle, sorted: links count in the order of strength, and one that would lead back
/// along those that count does not. Links outside of every knot (a strongly connected set of nodes) never do.
[[nodiscard]] std::vector<Signature> closing(std::vector<Link> links);

}  // namespace armillary::scene
