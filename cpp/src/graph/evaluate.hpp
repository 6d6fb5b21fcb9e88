#pragma once

// One leg of a question: the product of the edges between two frames at one instant.

#include <optional>

#include "armillary/graph/variable_reading.hpp"
#include "graph/scratch.hpp"

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
  Covariance sum_;
  std::vector<Part> parts_;  // only where edges can repeat
  /// What is read at one instant; at another, nobody knows how errors of the same variables go together.
  struct Instant {
    Stamp at;
    std::vector<VariableError> errors;
  };
  [[nodiscard]] Covariance of_variables() const;
  std::vector<Instant> instants_;  // at most two
};

/// Evaluates one path; keeps what the covariance needs.
struct Segment {
  Transform value;
  Stamp at = Stamp::always();
  Certainty certainty = Certainty::exact;
  bool held = false;
  bool predicted = false;
  bool integrated = false;  ///< what drives an edge was
  bool timeless = true;
};

/// Finds the path, settles LATEST, evaluates. `path` and `scratch.values` then hold the edges and their values.
[[nodiscard]] Failure evaluate_segment(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, bool latest,
                                       const QueryContext& context, const std::optional<Covariance>& fallback, Scratch& scratch,
                                       Path& path, Segment& segment);

/// Lowers `at` to the newest instant that every edge on the path at that instant covers, and leaves that path.
/// From `Stamp::never()` it stays there where all is fixed.
[[nodiscard]] Failure resolve_latest(const Topology& topology, FrameId of, FrameId in_frame, const QueryContext& context,
                                     Scratch& scratch, Path& path, Stamp& at, RelationId& limiting);

/// With what the edge holds as evidence.
[[nodiscard]] Failure edge_failure(FailureKind kind, const PathEdge& edge, Stamp at, const QueryContext& context);

/// Adds the errors of a leg's edges; `after` is the product of everything right of this leg.
void add_uncertainty(const Path& path, const std::vector<Evaluation>& values, const Segment& segment, const QueryContext& context,
                     const Transform& after, CovarianceSum& sum);

}  // namespace armillary
