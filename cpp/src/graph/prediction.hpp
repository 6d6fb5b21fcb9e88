#pragma once

// Where an edge goes on to after its last sample: along the twists that are newer, then with the newest motion known.

#include "graph/twist_uncertainty.hpp"

namespace armillary {

/// What is to be predicted: an edge beyond `last`, its newest sample, and how.
struct PredictionQuestion {
  const PathEdge& edge;
  const Row& last;
  Stamp at;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
};

struct PredictedEdge {
  Transform value{};         ///< parent_T_child
  Velocity motion{};         ///< body form of the child relative to the parent, at the instant asked for
  RelationId twist = kNone;  ///< that the motion was measured by; none: the poses were differentiated
};

/// False where nothing is known of its motion, or the newest datum is farther away than a prediction reaches. Where `errors` is
/// not null, all that the answer depends on is added to it: samples, twists, and what the prediction itself adds.
[[nodiscard]] bool predict_edge(const PredictionQuestion& question, PredictedEdge& out, ErrorList* errors);

/// Of a pose that depends on these errors; one that is in several places of the list is one error.
[[nodiscard]] Covariance covariance_of_pose(const ErrorList& errors);

}  // namespace armillary
