#pragma once

// Poses as steps of a chain of frames whose errors count.

#include "graph/evaluate.hpp"

namespace armillary {

/// As `evaluate_segment`, at one instant; the edges go into `scratch.uncertainty` as steps from `in_frame` to `of`, with their
/// errors. Leaves the path in `scratch.second`.
[[nodiscard]] Failure append_poses(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, const QueryContext& context,
                                   const std::optional<Covariance>& fallback, Scratch& scratch, Segment& segment);

/// The motions of `scratch.path` as steps from `in_frame` to `of`.
void append_motions(const Topology& topology, Stamp at, const std::optional<Covariance>& fallback, Scratch& scratch);

/// Where it was said along other axes: those of the poses that turned it, as they move its body form. Uses
/// `scratch.second`.
void add_turn_errors(const Topology& topology, const TwistReading& reading, const std::optional<Covariance>& fallback,
                     Scratch& scratch);

}  // namespace armillary
