#pragma once

// Between two poses of one source that gives twists as well: along the twists, and meeting both poses.

#include <optional>

#include "armillary/math/uncertain.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

/// What is between two rows of a guided series. Covariances are those of the rows, or `fallback`.
struct BridgeQuestion {
  const Series& series;
  const Bracket& rows;  ///< both are there, and the instant is between them
  Stamp at;
  bool wants_covariance;
  const std::optional<Covariance>& fallback;
};

struct BridgeAnswer {
  Transform value{};
  std::optional<Covariance> covariance{};  ///< none: unknown, or not wanted
};

/// False where the twists do not cover the interval: then it is interpolated as any other.
[[nodiscard]] bool follow_twists(const BridgeQuestion& question, BridgeAnswer& out);

}  // namespace armillary
