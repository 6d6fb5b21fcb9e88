#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"

namespace armillary {

/// One of the errors that several edges share: a number of variance one, and what it does in the tangent of an edge.
struct SharedEffect {
  std::uint32_t error = 0;
  std::array<double, 6> effect{};
};

/// A pose between two vertices of the graph that is fused, with its error.
struct FusionEdge {
  static constexpr std::uint32_t kIndependent = 0xffffffff;

  std::uint32_t from = 0, to = 0;
  Transform value{};                     ///< from_T_to
  Covariance covariance{};               ///< of its own error, in the tangent of `to`; zero: it has none
  std::uint32_t cluster = kIndependent;  ///< how the errors of the groups of one cluster are correlated is unknown
  std::uint32_t group = 0;               ///< within the cluster; errors of one group are independent of each other
  std::vector<SharedEffect> shared{};    ///< errors beside its own, which other edges have as well
};

/// What no error can explain: the ends of a chain of edges, and how far it misses them.
struct FusionResidual {
  std::vector<std::uint32_t> edges;  ///< of the chain, as they were given
  std::array<double, 6> residual;    ///< in the tangent of its end: translation [m], rotation [rad]
};

/// How much is to be said of an estimate.
enum class FusionQuality : std::uint8_t {
  plain,
  relaxed,      ///< exact parts led far away from all that was measured: they count as uncertain as they disagree
  approximate,  ///< the errors did not converge: those of the first order only
};

/// The pose that fits best to all edges, and how surely.
struct Fusion {
  Transform value{};        ///< first_T_last
  Covariance covariance{};  ///< in the tangent of `last`
  FusionQuality quality = FusionQuality::plain;
  double contradiction = 0.0;               ///< the largest part of a residual that no error explains [m, rad]
  std::vector<FusionResidual> residuals{};  ///< of the chains that contradict each other
  std::vector<Matrix6> effects{};           ///< of the error of each edge on the answer; filled where they are asked for
  bool is_beyond_first_order = false;       ///< rotations near half a turn apart, or uncertain by more than a radian
  bool is_too_large = false;                ///< more junctions in one block than `kMostJunctions`: there is no answer
};

/// What is computed beside the value.
struct FusionOptions {
  bool want_covariance = true;
  bool want_effects = false;  ///< of the error of each edge on the answer
};

inline constexpr std::size_t kMostFusionJunctions = 64;

/// Edges with equal numbers have one and the same error, each in its own tangent: it becomes shared. Returns how many shared
/// errors there are then, numbered from zero.
std::uint32_t share_errors(std::span<FusionEdge> edges, std::span<const std::int64_t> errors);

/// The least squares estimate of the pose of `last` in `first` from a graph of edges.
///
/// Every edge should be on a path between the two. Cut vertices between the ends split the graph into a chain of blocks:
/// what all paths share teaches nothing, and a contradiction does not leave its block. In a block the unknowns are the poses
/// of the junctions; chains of edges between them are compared with these. Exact edges are met exactly; where they contradict
/// each other the answer is their mean, with the spread as covariance. The result is a function of the list of edges: who
/// wants it independent of an order sorts them. Cost: linear in the edges for parallel chains.
[[nodiscard]] Fusion fuse(std::span<const FusionEdge> edges, std::uint32_t first, std::uint32_t last,
                          const FusionOptions& options = {});

/// The same for edges whose values and errors change, and whose graph does not: it is looked through once.
class FusionPlan {
 public:
  FusionPlan(std::span<const FusionEdge> edges, std::uint32_t first, std::uint32_t last);
  ~FusionPlan();
  FusionPlan(const FusionPlan&) = delete;
  FusionPlan& operator=(const FusionPlan&) = delete;

  /// Edges with the same ends and the same shared errors as those it was made of.
  [[nodiscard]] Fusion fuse(std::span<const FusionEdge> edges, const FusionOptions& options = {}) const;

  /// For each edge, whether it is compared with others: the errors of the rest do not move the estimate.
  [[nodiscard]] std::vector<bool> compared() const;

  struct Structure;

 private:
  std::size_t edges_;
  std::unique_ptr<Structure> structure_;
};

}  // namespace armillary
