#pragma once

#include <span>

#include "armillary/graph/ids.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

/// From `from` on, until the next step, a source is preferred.
struct PreferenceStep {
  Stamp from;
  SourceId source;  ///< kNone: no source is

  friend bool operator==(const PreferenceStep&, const PreferenceStep&) = default;
};

/// The source that is preferred at an instant; kNone: none is. `steps`: in the order of time.
[[nodiscard]] SourceId preferred_at(std::span<const PreferenceStep> steps, Stamp at);

}  // namespace armillary
