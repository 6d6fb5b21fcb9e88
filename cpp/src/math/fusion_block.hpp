#pragma once

// One block of a fusion: chains of edges between junctions, of which none separates the ends.

#include <span>
#include <vector>

#include "armillary/math/fusion.hpp"
#include "math/factors.hpp"
#include "math/parallel_poses.hpp"
#include "math/right_jacobian.hpp"
#include "math/upper6.hpp"

namespace armillary {

inline constexpr double kExactShare = 1e-6;  ///< of the smallest known deviation: that of what is exact
inline constexpr double kSmallestWeight = 1e-9;
inline constexpr double kWeighed = 1e-7;  ///< weights that move less are found
inline constexpr int kMostWeighings = 200;

/// Rows that make errors independent, of deviation one; in an exact direction of length one.
struct Whitening {
  Matrix6 rows{};
  std::array<bool, 6> is_exact{};
};

/// Of errors whose covariance is that of six `rows` of `width` numbers, times their transposed; `rows` is used up.
[[nodiscard]] Whitening whitening_of(double* rows, std::size_t width);
[[nodiscard]] Whitening whitening_of(const Matrix6& covariance);

/// An edge as a chain passes it.
struct LinkStep {
  std::uint32_t edge;
  bool is_backward;
};

/// An edge with an error as a chain goes along it, and the exact ones around it.
struct ChainEdge {
  std::uint32_t given = 0;  ///< which of the edges of the fusion
  Transform value{};
  Upper6 carry = Upper6::identity();  ///< from the tangent of the given edge to that of `value`
  Symmetric6 covariance{};            ///< of its own error
  bool has_error = false;             ///< of its own
  bool has_shared = false;
  Tangent error{};  ///< with which it fits, as far as it is estimated

  Upper6 effect{};  ///< B: from its tangent to that of the chain's end
};

/// Edges between two junctions, one after the other.
struct Chain {
  std::uint32_t from = 0, to = 0;     ///< junctions of the block
  std::vector<ChainEdge> edges{};     ///< those with an error; the exact ones are part of their values
  Transform nominal{};                ///< without errors
  std::span<const LinkStep> steps{};  ///< all edges, exact ones included

  bool is_regular = true;  ///< no direction is exact or nearly so
  bool is_single = false;  ///< regular, and one edge alone has an error, of its own
  Symmetric6 relaxed{};    ///< covariance added to it as a whole
  bool is_relaxed = false;

  Transform relative{};            ///< between the two junctions now
  Matrix6 whitening{};             ///< W
  Matrix6 first_whitening{};       ///< of a single one: at no error
  std::array<bool, 6> is_exact{};  ///< rows of W
  Vector6 missing{};               ///< y, in the tangent of the end
  Vector6 whitened{};              ///< W y
  Vector6 residual{};              ///< r
  double misfit = 0.0;             ///< of its errors, in deviations
};

/// What a block gives.
struct BlockEstimate {
  Transform value{};
  Symmetric6 covariance{};  ///< of the errors that are neither shared nor in a cluster
  struct EdgeEffect {
    std::uint32_t edge;
    Matrix6 effect;
  };
  std::vector<EdgeEffect> edges{};  ///< those in a cluster; all of them where they are asked for
  std::vector<SharedEffect> shared{};
  FusionQuality quality = FusionQuality::plain;
  double contradiction = 0.0;
  std::vector<FusionResidual> residuals{};
  bool is_beyond_first_order = false;
};

/// Solves blocks, one after the other; keeps its memory between them.
class BlockSolver {
 public:
  BlockSolver(std::span<const FusionEdge> edges, const FusionOptions& options) : given_(edges), options_(options) {}

  /// The chains of the block, with junctions numbered from 0, the first end, to `junctions` - 1, the last.
  [[nodiscard]] BlockEstimate solve(std::vector<Chain>& chains, std::size_t junctions);

 private:
  [[nodiscard]] bool solve_bundle(const std::vector<Chain>& chains, BlockEstimate& out);
  void prepare(std::vector<Chain>& chains);
  void number_shared(const std::vector<Chain>& chains);
  void start(std::vector<Chain>& chains, std::size_t junctions);
  [[nodiscard]] bool iterate(std::vector<Chain>& chains);
  [[nodiscard]] bool is_credible(const std::vector<Chain>& chains);
  void measure_disagreement(const std::vector<Chain>& chains);
  void relax(std::vector<Chain>& chains);
  void freeze(std::vector<Chain>& chains);

  void evaluate(std::vector<Chain>& chains);
  void evaluate_single(Chain& chain);
  void evaluate_whole(Chain& chain);
  void whiten_singular(Chain& chain);
  void weigh_exact_rows(std::vector<Chain>& chains);
  void add_rows(const std::vector<Chain>& chains);
  [[nodiscard]] bool move(std::vector<Chain>& chains);
  void fit_errors(Chain& chain);
  [[nodiscard]] bool has_converged() const;
  [[nodiscard]] bool reweigh(const std::vector<Chain>& chains);
  void find_gains();
  [[nodiscard]] Matrix6 gain_of(std::size_t number, const Chain& chain, bool with_exact) const;
  [[nodiscard]] Symmetric6 moved_covariance(const ChainEdge& edge) const;
  [[nodiscard]] Tangent shared_error(const ChainEdge& edge) const;
  [[nodiscard]] Tangent change_of(std::uint32_t junction) const;
  [[nodiscard]] std::size_t place_of(std::uint32_t error) const;
  [[nodiscard]] double weight_of(const ChainEdge& edge) const;
  void collect(const std::vector<Chain>& chains, BlockEstimate& out);
  void add_contradictions(std::vector<Chain>& chains, BlockEstimate& out);

  std::span<const FusionEdge> given_;
  const FusionOptions& options_;
  std::size_t junctions_ = 0;
  std::vector<Transform> poses_, first_poses_;  // of the junctions; the first stays at the identity
  std::vector<std::uint32_t> shared_;           // numbers of the shared errors in this block
  std::vector<double> shared_values_;           // as they are estimated
  struct Group {
    std::uint32_t cluster, group;
    double weight;
  };
  std::vector<Group> groups_;
  double exact_deviation_ = 0.0;  // of exact rows; 0: not known yet
  double disagreement_m_ = 0.0, disagreement_rad_ = 0.0;
  bool has_exact_ = false;
  bool is_frozen_ = false;  // errors stay at zero
  WeightedLeastSquares least_squares_;
  std::vector<double> change_, deviations_, rows_;
  std::vector<ParallelPose> bundle_;
  std::array<std::vector<double>, 6> gains_;
};

}  // namespace armillary
