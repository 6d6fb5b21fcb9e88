#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "armillary/log/inactive.hpp"
#include "armillary/log/slots.hpp"

// The rule of bodies (S4 of resolve.hpp): a frame is on one body, and within a body nothing moves.

namespace armillary::log {

struct ResolvedBodies {
  std::set<std::string> bodies{};           ///< declared
  std::map<std::string, std::string> on{};  ///< the declared body of a frame; a body is on itself
  std::vector<Inactive> inactive{};
  std::set<Dot> breaks{};  ///< assertions that are inactive because of bodies

  /// A frame's declared body, or itself.
  [[nodiscard]] const std::string& of(const std::string& frame) const;
};

/// All declarations of bodies, frames on them, and relations between such frames, the strongest first, but for what
/// contradicts those already taken. Cycles do not matter here.
[[nodiscard]] ResolvedBodies resolve_bodies(const ChangeLog& log);

}  // namespace armillary::log
