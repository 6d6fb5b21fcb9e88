#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "armillary/log/slots.hpp"

// The rule of bodies: a frame is on one body, and within a body nothing moves.

namespace armillary::log {

/// Why an assertion is not active.
enum class Reason : std::uint8_t { cycle, on_other_body, no_body, moves_in_body, constant_in_body };
[[nodiscard]] const char* name_of(Reason reason);

/// A record that does not take effect because of bodies.
struct Inactive {
  Dot id{};
  Reason reason = Reason::on_other_body;
  std::string frame{};  ///< of a SetBody: which of its frames; empty: the body
  std::string body{};   ///< that is in the way
};

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
