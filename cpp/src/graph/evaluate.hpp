#pragma once

// Evaluating one segment of a question: the product of the edges between two frames at one instant.

#include <algorithm>
#include <memory>
#include <optional>

#include "armillary/graph/variable_reading.hpp"
#include "graph/scratch.hpp"
#include "math/pair_sum.hpp"

namespace armillary {

/// How uncertain a product of edges is, edge by edge; edges used twice are correlated.
class CovarianceSum {
 public:
  explicit CovarianceSum(bool can_repeat) : can_repeat_(can_repeat) {}

  /// The error of one edge, mapped to the tangent of the whole product by `jacobian`.
  /// Two errors are one and the same when relation, origin and instant are.
  struct Origin {
    RelationId relation;
    const void* provider;
    Stamp at;
    friend bool operator==(const Origin&, const Origin&) = default;
  };

  void add(const Origin& origin, const Covariance& covariance, const std::array<double, 36>& jacobian);
  /// Whether an edge may be there twice, so that errors have to be kept one by one.
  [[nodiscard]] bool can_repeat() const { return can_repeat_; }
  /// Where edges do not repeat: the errors of rows, moved to the tangent of the whole product.
  [[nodiscard]] PairSum& rows() { return rows_; }
  /// Errors of variables at one instant, in the tangent of the whole product: one variable may drive several edges.
  void add(Stamp at, std::vector<VariableError> errors);
  [[nodiscard]] Covariance total() const;

 private:
  struct Part {
    Origin origin;
    Covariance covariance;
    std::array<double, 36> jacobian;
  };
  bool can_repeat_;
  PairSum rows_;
  Symmetric6 sum_;
  std::vector<Part> parts_;  // only where edges can repeat
  /// Errors read at one instant; how errors of the same variables at two instants are correlated is unknown.
  struct Instant {
    Stamp at;
    std::vector<VariableError> errors;
  };
  [[nodiscard]] Covariance of_variables() const;
  std::vector<Instant> instants_;  // at most two
};

/// The value of one path at one instant.
struct Segment {
  Transform value;
  Stamp at = Stamp::always();
  Certainty certainty = Certainty::exact;
  bool predicted = false;
  bool integrated = false;  ///< the joints that drive an edge were integrated from speeds
  bool timeless = true;
  Stamp newest = Stamp::always(), oldest = Stamp::always();  ///< of the data it rests on; for policies alone
};

/// What was held by the question at hand, each once; null where nothing was.
[[nodiscard]] inline std::unique_ptr<HeldSamples> held_in(const Scratch& scratch) {
  if (scratch.held.empty()) return nullptr;
  auto each = std::make_unique<HeldSamples>();
  for (const HeldSample& sample : scratch.held)
    if (std::ranges::find(*each, sample) == each->end()) each->push_back(sample);
  return each;
}

/// Finds the path, resolves LATEST, evaluates. `path` and `scratch.values` then hold the edges and their values.
[[nodiscard]] Failure evaluate_segment(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, bool latest,
                                       const QueryContext& context, const std::optional<Covariance>& fallback, Scratch& scratch,
                                       Path& path, Segment& segment);

/// The newest instant at which anything was given about the frames of a path of which sources contest one; else none.
[[nodiscard]] std::optional<Stamp> newest_of_rivals(const Topology& topology, const Path& path);

/// The fix-point behind LATEST, for those who answer it and those who wait for it: finds the path at `at`, lowers `at` to what
/// its edges cover, and again while that leads to another path. A step is `find_path`, `take` for every edge, `is_resolved`.
class LatestSearch {
 public:
  LatestSearch(PathFinder& finder, Path& path, Stamp& at, RelationId& limiting)
      : finder_(finder), path_(path), at_(at), limiting_(limiting) {}

  /// Where all sources of a frame are silent, who places it is a guess: where that leads nowhere, the path is looked for at the
  /// newest instant that something was given for.
  Failure find_path(const Topology& topology, FrameId of, FrameId in_frame, const QueryContext& context) {
    Failure failure = finder_.find(topology, of, in_frame, at_, context, path_);
    const bool is_guess = at_ == Stamp::never() && path_.is_guess && failure.kind() == FailureKind::not_connected;
    if (is_guess && path_.newest != Stamp::always()) {
      at_ = path_.newest;
      failure = finder_.find(topology, of, in_frame, at_, context, path_);
    }
    newest_ = at_;
    topology_ = &topology;
    return failure;
  }

  /// Lowers what is covered to what the edge covers, which is then the limiting one. False where it has nothing so early:
  /// it lowers nothing then, for a path of an earlier instant may do without it.
  bool take(const PathEdge& edge) {
    const std::optional<Stamp> covered = newest_covered(edge, at_);
    if (covered && *covered < newest_) {
      newest_ = *covered;
      limiting_ = edge.relation;
    }
    return covered.has_value();
  }

  /// The newest instant that all edges taken so far cover.
  [[nodiscard]] Stamp newest() const { return newest_; }

  /// Goes to the newest instant covered; false where another path may lead there, and the next step is due. Where all is fixed
  /// that is the newest instant at which a source that contests something of it gave a datum.
  bool is_resolved() {
    if (newest_ == Stamp::never() && path_.has_rivals) newest_ = newest_of_rivals(*topology_, path_).value_or(newest_);
    const bool holds = newest_ == at_ || path_.holds_at(newest_);
    at_ = newest_;
    return holds;
  }

 private:
  PathFinder& finder_;
  Path& path_;
  Stamp& at_;
  RelationId& limiting_;
  Stamp newest_{};
  const Topology* topology_ = nullptr;
};

/// Lowers `at` to the newest instant that every edge on the path at that instant covers, and leaves that path.
/// From `Stamp::never()` it stays there where all is fixed.
[[nodiscard]] Failure resolve_latest(const Topology& topology, FrameId of, FrameId in_frame, const QueryContext& context,
                                     Scratch& scratch, Path& path, Stamp& at, RelationId& limiting);

/// Where what was left holds without an end, from when on it does: the newest sample of the path. `never` where all is fixed.
[[nodiscard]] Stamp newest_datum(const Path& path);

/// At the newest common instant an edge can only fail by beginning after it.
void blame_latest(RelationId limiting, Failure& failure);

/// A failure of one edge, with what the edge covers as evidence.
/// A frame that moved elsewhere after its only sample there: in the gap between two runs that is no single sample.
void name_gap(const Topology& topology, const Path& path, Failure& failure);
/// A failure of an edge of a path that is not received, and a demand for all of the path that are not.
[[nodiscard]] Failure unreceived(const Path& path, const PathEdge& edge, Stamp at, const QueryContext& context);
[[nodiscard]] Failure edge_failure(FailureKind kind, const PathEdge& edge, Stamp at, const QueryContext& context);

/// How a segment was evaluated.
struct SegmentContext {
  const QueryContext& context;
  const std::optional<Covariance>& fallback;
};

/// Adds the errors of a segment's edges, all of which are known; `after` is the product of everything right of the segment.
void add_uncertainty(const Path& path, const std::vector<EdgeValue>& values, const Segment& segment, const SegmentContext& how,
                     const Transform& after, CovarianceSum& sum);

}  // namespace armillary
