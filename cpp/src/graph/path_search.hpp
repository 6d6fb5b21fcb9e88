#pragma once

// The search for every path between two frames, where sources disagree on the way.

#include <functional>
#include <vector>

#include "armillary/graph/candidates.hpp"
#include "armillary/graph/forest.hpp"
#include "graph/evaluate.hpp"

namespace armillary {

/// The tracks of a contested frame that are candidates at an instant: those that are open, after preferences and ranks.
[[nodiscard]] std::vector<const Track*> candidate_tracks(const Topology& topology, FrameId frame, Stamp at);

/// Whether several sources place a frame on the path, so that a policy may choose. Of a joint or a measured motion that several
/// sources contest there is no path to choose.
[[nodiscard]] bool is_contested_frame(const Failure& failure);

/// The value of an edge of a candidate, and what is to be said of it; `out.failure` where it has none.
void evaluate_candidate(const Topology& topology, const PathEdge& edge, Stamp at, const QueryContext& context,
                        const std::optional<Covariance>& fallback, CandidateEdge& out);

/// What the answer of a path says beside its value, from its edges.
void summarize(const CandidateSet& found, const Question& question, Candidate& candidate);

/// A search through the choices that contested frames leave open. At every one it asks, and where a frame is in the way
/// that nobody decided, it tries each of the sources that place it. Cost: for each path its edges, times the contested
/// frames on it; every edge is evaluated once.
class PathSearch {
 public:
  /// Answers the question along one path; null: the answers are not wanted one by one.
  using Ask = std::function<Result<PoseAnswer>(const Question&)>;

  PathSearch(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback, Ask ask,
             std::size_t max_paths)
      : topology_(topology), question_(question), fallback_(fallback), ask_(std::move(ask)), max_paths_(max_paths) {}

  /// Sorted by the names of relations, so that no answer depends on an order of arrival.
  [[nodiscard]] Result<CandidateSet> search();

  /// Whether the same paths lead on at another instant.
  [[nodiscard]] bool holds_at(Stamp at) const { return valid_from_ <= at && at < valid_to_; }

  /// The edges of the set as they were found; valid until the pin is released.
  [[nodiscard]] const std::vector<PathEdge>& path_edges() const { return path_edges_; }

  /// By the names of frames, then of sources, then by instants.
  [[nodiscard]] bool is_edge_before(const CandidateEdge& a, const CandidateEdge& b) const;

 private:
  void explore();
  void branch(FrameId frame, Stamp at);
  Failure walk(Candidate& candidate);
  Failure add_segment(std::uint8_t number, FrameId of, FrameId in_frame, When& when, const QueryContext& context,
                      Candidate& candidate);
  std::uint32_t add_edge(const PathEdge& edge, std::uint8_t segment, Stamp at, const QueryContext& context);
  void place_edge(const PathEdge& edge, CandidateEdge& out) const;
  [[nodiscard]] bool is_before(const Candidate& a, const Candidate& b) const;

  const Topology& topology_;
  const Question& question_;
  const std::optional<Covariance>& fallback_;
  const Ask ask_;
  const std::size_t max_paths_;
  ChosenSources chosen_;
  std::size_t ends_ = 0;
  Stamp valid_from_ = Stamp::always(), valid_to_ = Stamp::never();
  Path path_;
  std::vector<PathEdge> path_edges_;
  CandidateSet found_;
};

}  // namespace armillary
