#pragma once

#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/graph/query.hpp"

namespace armillary {

class PoseFilter;

/// What measures the pose of a frame in another over time.
struct MeasuredFrame {
  /// One relation, by poses in a frame, or by twists relative to the body of `in_frame`.
  struct Source {
    RelationId relation = kNone;
    FrameId parent = kNone;    ///< of the poses; none: they are twists
    std::uint32_t number = 0;  ///< of who gives it: of two measurements of one instant the lower comes first
  };

  FrameId in_frame = kNone;
  Stamp from = Stamp::always();   ///< what is older does not count
  std::vector<Source> sources{};  ///< of equal numbers the first comes first
  QueryContext context{};         ///< how the parents are looked up
};

/// How many samples of a source there are, and how many of them are measurements: those whose covariance is known, in
/// `in_frame`.
struct MeasuredCount {
  std::size_t stored = 0, taken = 0;
};

}  // namespace armillary
