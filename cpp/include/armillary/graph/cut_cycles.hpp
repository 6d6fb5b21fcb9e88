#pragma once

#include <cstdint>
#include <vector>

#include "armillary/series/intervals.hpp"

namespace armillary {

/// A link from a child to a parent while it holds. Children and parents are numbers below the count that is given.
struct Link {
  std::uint32_t child = 0, parent = 0;
  Intervals when{};
};

/// When a link is left out because stronger ones lead from its parent to its child, and the way of the first such instant,
/// from the parent to the child.
struct Cut {
  Intervals when{};
  std::vector<std::uint32_t> path{};
};

/// At each instant by itself: links are taken in the order given, the strongest first, but for those that would close a cycle
/// with links already taken. What is taken is acyclic at every instant. Returns the cut of each link.
///
/// Only links within a strongly connected component (time ignored) are looked at: without one the cost is linear.
[[nodiscard]] std::vector<Cut> cut_cycles(std::size_t nodes, const std::vector<Link>& links);

}  // namespace armillary
