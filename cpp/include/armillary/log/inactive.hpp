#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "armillary/log/timestamp.hpp"
#include "armillary/series/intervals.hpp"

namespace armillary::log {

enum class Reason : std::uint8_t {
  cycle,
  on_other_body,
  no_body,
  moves_in_body,
  constant_in_body,
  awaits_variable,
  kind_mismatch,
  parent_removed,
  unreachable,   ///< an edge to an incarnation that is not the present one
  unknown_node,  ///< about an incarnation whose AddNode is not held
};
[[nodiscard]] const char* name_of(Reason reason);

/// A record that does not take effect in a part of the time, or at all.
struct Inactive {
  Dot id{};
  Reason reason = Reason::cycle;
  Intervals when = Intervals::everything();
  std::string frame{};              ///< of a SetBody: which of its frames; empty: the body
  std::string body{};               ///< that is in the way
  std::vector<std::string> path{};  ///< of a cycle: from the parent to the frame or node
};

}  // namespace armillary::log
