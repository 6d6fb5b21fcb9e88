#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "armillary/graph/selection.hpp"

namespace armillary {

/// One step from a frame to its parent, with what gives its value.
struct PathEdge {
  FrameId child;
  RelationId relation;
  ProviderRef provider;
  Stamp opens = Stamp::always();     ///< set where the run begins after the instant asked for
  Stamp since = Stamp::always();     ///< when its frame came to be placed by it, for the last time before that instant
  const TwistLink* links = nullptr;  ///< between the bodies of its two frames; set where the question wants twists
};

/// How samples are interpolated that do not step: as the question asks, else as the relation, else as the world.
[[nodiscard]] inline Interpolation interpolation_of(const PathEdge& edge, const QueryContext& context) {
  const bool is_own = edge.provider.interpolation == SampleInterpolation::screw && !context.overrides_screw;
  return is_own ? Interpolation::screw : context.interpolation;
}

/// Whether samples are interpolated straight: the usual case.
[[nodiscard]] inline bool is_straight(const PathEdge& edge, const QueryContext& context) {
  const bool is_guided = edge.provider.kind == ProviderKind::sampled && edge.provider.series().guide() != nullptr;
  return !is_guided && !edge.provider.is_step() && interpolation_of(edge, context) == Interpolation::linear;
}

/// The edges between two frames and their lowest common ancestor, in one version of the structure.
///
/// Scratch memory of one thread: reused from query to query, so that asking allocates nothing.
struct Path {
  std::vector<PathEdge> up;    ///< from `of` to the common ancestor
  std::vector<PathEdge> down;  ///< from `in_frame` to the common ancestor
  Stamp valid_from = Stamp::always();
  Stamp valid_to = Stamp::never();  ///< the same path answers for every instant in [valid_from, valid_to)
  Stamp newest = Stamp::always();   ///< the newest datum about a frame that the search passed and whose parent depends on time
  bool has_rivals = false;          ///< several sources place one of those
  bool is_guess = false;            ///< all of them are silent
  RelationId unreceived = kNone;    ///< of a frame that several sources place: one whose samples are not received

  void clear() {
    up.clear();
    down.clear();
    valid_from = Stamp::always();
    valid_to = Stamp::never();
    newest = Stamp::always();
    has_rivals = is_guess = false;
    unreceived = kNone;
  }
  [[nodiscard]] bool holds_at(Stamp at) const { return valid_from <= at && at < valid_to; }
};

/// Finds the path at one instant. Cost: at most twice the edges between the frames, whatever their depth.
///
/// Both ends climb in turn, marking what they pass, until one meets the other's marks.
class PathFinder {
 public:
  /// Returns not_connected or ambiguous_path, or nothing.
  [[nodiscard]] Failure find(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, const QueryContext& context,
                             Path& path);

  /// Begins to look at another instant, or at newer data, with `step`.
  void restart() {
    if (!weaknesses_.empty()) weaknesses_.clear();
  }

  /// The edge above one frame at one instant; false for a root and for a contested frame.
  [[nodiscard]] bool step(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, PathEdge& edge,
                          FrameId& parent);

 private:
  struct Climber;
  enum class Step { moved, root, contested, unreceived };

  Step parent_edge(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, Path& path, PathEdge& edge,
                   FrameId& parent);
  Step choose_parent(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, Path& path, PathEdge& edge,
                     FrameId& parent);
  [[nodiscard]] bool is_cut(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, const PathEdge& edge,
                            FrameId parent);
  Step choose_run(const TrackSet& set, FrameId frame, Stamp at, Duration rival_timeout, const QueryContext& context, Path& path,
                  PathEdge& edge, FrameId& parent);

  /// How far an edge is from covering an instant; the larger, the weaker. Read once per search: writers go on.
  using Weakness = std::pair<int, std::int64_t>;
  [[nodiscard]] Weakness weakness(const PathEdge& edge, Stamp at);

  std::vector<std::uint64_t> marks_;
  std::uint64_t generation_ = 0;
  Selection selection_;
  std::unordered_map<RelationId, Weakness> weaknesses_;
};

/// Value of one edge at `at`. Returns none, before/after_history, single_sample or no_samples.
[[nodiscard]] FailureKind evaluate_edge(const PathEdge& edge, const Bracket* bracket, Stamp at, const QueryContext& context,
                                        const std::optional<Covariance>& default_covariance, Evaluation& out);

/// The row before one at `stamp`; none where it was the first, or the first behind a gap.
[[nodiscard]] inline Row row_before(const Series& series, Stamp stamp) {
  const Bracket bracket = series.bracket({stamp.ns - 1});
  return bracket.is_cut ? Row{} : bracket.before;
}

/// Newest instant not after `limit` that the edge covers; `Stamp::never()` where it covers all time;
/// none where it has nothing at or before `limit`.
[[nodiscard]] std::optional<Stamp> newest_covered(const PathEdge& edge, Stamp limit);

/// Whether samples of the edge were given before an instant, after all that are here, which are not received.
[[nodiscard]] inline bool has_ended_before(const PathEdge& edge, Stamp at) {
  if (edge.provider.kind == ProviderKind::sampled) return edge.provider.series().has_ended_before(at);
  return edge.provider.kind == ProviderKind::driven && edge.provider.driven().has_ended_before(at);
}

/// Demands what of an edge is not received; the number of the demand, 0 where there is none.
std::uint64_t demand(const PathEdge& edge, Stamp at, const QueryContext& context);

/// What the edge holds, for the evidence of a failure.
[[nodiscard]] Coverage coverage_of(const PathEdge& edge);

}  // namespace armillary
