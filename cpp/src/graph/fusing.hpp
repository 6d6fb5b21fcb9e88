#pragma once

// The graph that a fusion of candidate paths is about: one edge for each relation and instant, whatever paths share it.

#include "armillary/graph/candidates.hpp"
#include "graph/path_search.hpp"

namespace armillary {

/// The edges of the paths that are used, each once, in the order of the paths.
[[nodiscard]] std::vector<std::uint32_t> edges_along_paths(const Judgement& judgement);
/// Fills `graph`, `edges`, `first` and `last` of the judgement from the paths that it uses, as if all errors were independent.
void list_graph(const Question& question, Judgement& judgement);

/// The same, with what is known of the correlation of errors.
void build_graph(const PathSearch& search, const Question& question, Judgement& judgement);

/// The best estimate of twists of one point along the same axes; `are_correlated` where two rest on one relation, so that the
/// correlation of their errors is unknown. Each has a covariance.
[[nodiscard]] TwistAnswer fused_twist(std::vector<TwistAnswer> twists, bool are_correlated);

}  // namespace armillary
