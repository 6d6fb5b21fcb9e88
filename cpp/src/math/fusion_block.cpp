#include "math/fusion_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/fusion_limits.hpp"
#include "math/tangents.hpp"

namespace armillary {

namespace {

constexpr int kMostFrozenRounds = 60;
constexpr double kExactDirection = 1e-13;  // of the largest deviation: a smaller one is none
constexpr double kContradiction = 1e-9;    // [m, rad]: a smaller residual is rounding
constexpr double kFarMisfit = 10.0;        // deviations
constexpr double kFar = 3.0;               // times the first disagreement

/// J S J^T.
Symmetric6 propagated(const Symmetric6& s, const Matrix6& j) { return Symmetric6::of(armillary::propagated(s.covariance(), j)); }

bool is_zero(const Tangent& v) { return v.translation == Vector3{} && v.rotation == Vector3{}; }

}  // namespace

namespace {

double along(const double* a, const double* b) { return std::inner_product(a, a + 6, b, 0.0); }

void take_away(double* row, double times, const double* other) {
  for (std::size_t j = 0; j < 6; ++j) row[j] -= times * other[j];
}

/// Makes exact rows orthonormal, and known ones orthogonal to them. The errors do not reach exact directions, so what known rows
/// say does not change; but they no longer see there, many times enlarged, what rounding and contradictions leave.
void separate_exact(Whitening& whitening) {
  std::array<double*, 6> exact{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    if (!whitening.is_exact[i]) continue;
    double* row = whitening.rows.data() + 6 * i;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < count; ++k) take_away(row, along(row, exact[k]), exact[k]);
      const double size = std::sqrt(along(row, row));
      for (std::size_t j = 0; j < 6; ++j) row[j] /= size;
    }
    exact[count++] = row;
  }
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < count && !whitening.is_exact[i]; ++k) {
      double* row = whitening.rows.data() + 6 * i;
      take_away(row, along(row, exact[k]), exact[k]);
    }
}

}  // namespace

Whitening whitening_of(double* rows, std::size_t width) {
  const auto norm_of = [&](std::size_t i) {
    double square = 0.0;
    for (std::size_t k = 0; k < width; ++k) square += rows[i * width + k] * rows[i * width + k];
    return std::sqrt(square);
  };
  Vector6 norms, sizes;
  for (std::size_t i = 0; i < 6; ++i) {
    norms[i] = norm_of(i);
    if (norms[i] == 0.0) norms[i] = 1.0;
    for (std::size_t k = 0; k < width; ++k) rows[i * width + k] /= norms[i];
  }
  if (width > 6) shorten_rows(rows, width);
  Matrix6 turned;
  orthogonalize_rows(rows, width, turned);
  for (std::size_t i = 0; i < 6; ++i) sizes[i] = norm_of(i);
  const double largest = *std::ranges::max_element(sizes);
  Whitening out;
  for (std::size_t i = 0; i < 6; ++i) {
    out.is_exact[i] = !(sizes[i] > kExactDirection * largest);
    double square = 0.0;
    for (std::size_t j = 0; j < 6; ++j) {
      out.rows[6 * i + j] = turned[6 * i + j] / norms[j];
      square += out.rows[6 * i + j] * out.rows[6 * i + j];
    }
    const double scale = out.is_exact[i] ? 1.0 / std::sqrt(square) : 1.0 / sizes[i];
    for (std::size_t j = 0; j < 6; ++j) out.rows[6 * i + j] *= scale;
  }
  separate_exact(out);
  return out;
}

Whitening whitening_of(const Matrix6& covariance) {
  Whitening out;
  if (inverse_root(covariance, out.rows)) return out;
  Matrix6 root = root_of(covariance);
  return whitening_of(root.data(), 6);
}

double BlockSolver::weight_of(const ChainEdge& edge) const {
  const FusionEdge& given = given_[edge.given];
  if (given.cluster == FusionEdge::kIndependent) return 1.0;
  for (const Group& group : groups_)
    if (group.cluster == given.cluster && group.group == given.group) return group.weight;
  return 1.0;
}

/// Which errors are shared, and which are weighed because nobody knows how they are correlated.
void BlockSolver::number_shared(const std::vector<Chain>& chains) {
  shared_.clear();
  groups_.clear();
  for (const Chain& chain : chains)
    for (const ChainEdge& edge : chain.edges) {
      const FusionEdge& given = given_[edge.given];
      for (const SharedEffect& one : given.shared)
        if (std::ranges::find(shared_, one.error) == shared_.end()) shared_.push_back(one.error);
      if (given.cluster == FusionEdge::kIndependent || !edge.has_error) continue;
      const auto same = [&](const Group& group) { return group.cluster == given.cluster && group.group == given.group; };
      if (std::ranges::none_of(groups_, same)) groups_.push_back({given.cluster, given.group, 1.0});
    }
  std::ranges::sort(shared_);
  shared_values_.assign(shared_.size(), 0.0);
  for (Group& group : groups_)
    group.weight = 1.0 / static_cast<double>(std::ranges::count(groups_, group.cluster, &Group::cluster));
}

/// The covariance of its error as it is weighed, moved to the end of the chain.
Symmetric6 BlockSolver::moved_covariance(const ChainEdge& edge) const {
  const Symmetric6 moved = armillary::propagated(edge.covariance, edge.effect);
  const double weight = weight_of(edge);
  return weight == 1.0
             ? moved
             : Symmetric6{scaled(1.0 / weight, moved.tt), scaled(1.0 / weight, moved.tr), scaled(1.0 / weight, moved.rr)};
}

void BlockSolver::prepare(std::vector<Chain>& chains) {
  number_shared(chains);
  exact_deviation_ = 0.0;
  has_exact_ = false;
  is_frozen_ = false;
  for (Chain& chain : chains) {
    chain.is_exact = {};
    chain.is_regular = !chain.edges.empty() || chain.is_relaxed;
    chain.is_single = chain.edges.size() == 1 && chain.edges[0].has_error && !chain.edges[0].has_shared && !chain.is_relaxed &&
                      given_[chain.edges[0].given].cluster == FusionEdge::kIndependent &&
                      inverse_root(chain.edges[0].covariance.covariance().values, chain.first_whitening);
    for (ChainEdge& edge : chain.edges) edge.error = {};
  }
}

/// The poses of the junctions along the surest chains.
void BlockSolver::start(std::vector<Chain>& chains, std::size_t junctions) {
  junctions_ = junctions;
  poses_.assign(junctions, {});
  std::vector<bool> is_reached(junctions, false);
  std::vector<double> spread;
  for (const Chain& chain : chains) {
    Transform suffix;
    double trace = trace_of(chain.relaxed);
    for (auto edge = chain.edges.rbegin(); edge != chain.edges.rend(); ++edge) {
      if (chain.edges.size() == 1) {
        trace += trace_of(edge->covariance);
      } else {
        trace += trace_of(armillary::propagated(edge->covariance, upper_adjoint(suffix.inverse())));
        suffix = edge->value * suffix;
      }
    }
    spread.push_back(trace);
  }
  is_reached[0] = true;
  for (std::size_t step = 1; step < junctions; ++step) {
    const Chain* surest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < chains.size(); ++i)
      if (is_reached[chains[i].from] != is_reached[chains[i].to] && spread[i] < least) surest = &chains[i], least = spread[i];
    if (surest == nullptr) break;
    const auto [known, found] =
        is_reached[surest->from] ? std::pair(surest->from, surest->to) : std::pair(surest->to, surest->from);
    poses_[found] = poses_[known] * (known == surest->from ? surest->nominal : surest->nominal.inverse());
    is_reached[found] = true;
  }
  first_poses_ = poses_;
}

void BlockSolver::evaluate_single(Chain& chain) {
  const Tangent error = between(chain.nominal, chain.relative).log();
  chain.edges[0].error = error;
  chain.missing = values_of(error);
  chain.residual = {};
  chain.whitening = product(chain.first_whitening, inverse_right_jacobian(error));
  chain.whitened = armillary::product(chain.first_whitening, chain.missing);
  double square = 0.0;
  for (const double value : chain.whitened) square += value * value;
  chain.misfit = std::sqrt(square);
}

void BlockSolver::evaluate_whole(Chain& chain) {
  Transform behind;
  Tangent missing{};
  for (auto edge = chain.edges.rbegin(); edge != chain.edges.rend(); ++edge) {
    const bool is_moved = !is_zero(edge->error);
    const Upper6 carry = upper_adjoint(behind.inverse());
    edge->effect = is_moved ? armillary::product(carry, right_jacobian(edge->error)) : carry;
    if (is_moved) missing = missing + product(edge->effect, edge->error);
    behind = (is_moved ? edge->value * Transform::exp(edge->error) : edge->value) * behind;
  }
  const Tangent residual = between(chain.edges.empty() ? chain.nominal : behind, chain.relative).log();
  chain.residual = values_of(residual);
  chain.missing = values_of(residual + missing);
  if (chain.is_regular) {
    Symmetric6 total = chain.relaxed;
    for (const ChainEdge& edge : chain.edges) total = armillary::sum(total, moved_covariance(edge));
    chain.is_regular = inverse_root(total.covariance().values, chain.whitening);
  }
  if (!chain.is_regular) whiten_singular(chain);
}

/// Directions without an error get a row of length one for now.
void BlockSolver::whiten_singular(Chain& chain) {
  const std::size_t width = std::max<std::size_t>(6, 6 * (chain.edges.size() + (chain.is_relaxed ? 1 : 0)));
  rows_.assign(6 * width, 0.0);
  const auto place = [&](std::size_t k, const Matrix6& root) {
    for (std::size_t i = 0; i < 6; ++i) std::copy_n(root.data() + 6 * i, 6, rows_.data() + i * width + 6 * k);
  };
  for (std::size_t k = 0; k < chain.edges.size(); ++k) {
    const ChainEdge& edge = chain.edges[k];
    if (!edge.has_error) continue;
    Matrix6 root = armillary::product(whole(edge.effect), root_of(edge.covariance.covariance().values));
    const double scale = 1.0 / std::sqrt(weight_of(edge));
    for (double& value : root) value *= scale;
    place(k, root);
  }
  if (chain.is_relaxed) place(chain.edges.size(), root_of(chain.relaxed.covariance().values));
  const Whitening whitening = whitening_of(rows_.data(), width);
  chain.whitening = whitening.rows;
  chain.is_exact = whitening.is_exact;
}

void BlockSolver::evaluate(std::vector<Chain>& chains) {
  for (Chain& chain : chains) {
    chain.relative = between(poses_[chain.from], poses_[chain.to]);
    if (chain.is_single) {
      evaluate_single(chain);
    } else if (!is_frozen_) {
      evaluate_whole(chain);
    } else {
      const Tangent residual = between(chain.nominal, chain.relative).log();
      chain.residual = chain.missing = values_of(residual);
      chain.whitening = product(chain.first_whitening, inverse_right_jacobian(residual));
      chain.whitened = armillary::product(chain.first_whitening, chain.missing);
    }
  }
  if (!is_frozen_) weigh_exact_rows(chains);
}

/// What is exact counts as so much surer than all that is known that it is met.
void BlockSolver::weigh_exact_rows(std::vector<Chain>& chains) {
  const auto row_size = [](const Chain& chain, std::size_t i) {
    double square = 0.0;
    for (std::size_t j = 0; j < 6; ++j) square += chain.whitening[6 * i + j] * chain.whitening[6 * i + j];
    return std::sqrt(square);
  };
  for (const Chain& chain : chains)
    has_exact_ = has_exact_ || (!chain.is_regular && std::ranges::count(chain.is_exact, true) > 0);
  if (has_exact_ && exact_deviation_ == 0.0) {
    double least = std::numeric_limits<double>::infinity();
    for (const Chain& chain : chains) {
      for (std::size_t i = 0; i < 6; ++i)
        if (!chain.is_exact[i]) least = std::min(least, 1.0 / row_size(chain, i));
      for (const ChainEdge& edge : chain.edges)
        for (const SharedEffect& one : given_[edge.given].shared) {
          const Tangent moved = product(edge.effect, product(edge.carry, tangent_of(one.effect)));
          const double size = std::sqrt(dot(moved.translation, moved.translation) + dot(moved.rotation, moved.rotation));
          if (size > 0.0) least = std::min(least, size);
        }
    }
    exact_deviation_ = std::isfinite(least) ? kExactShare * least : 1.0;
  }
  for (Chain& chain : chains) {
    if (chain.is_single) continue;
    for (std::size_t i = 0; i < 6; ++i)
      if (chain.is_exact[i])
        for (std::size_t j = 0; j < 6; ++j) chain.whitening[6 * i + j] /= exact_deviation_;
    chain.whitened = armillary::product(chain.whitening, chain.missing);
  }
}

void BlockSolver::add_rows(const std::vector<Chain>& chains) {
  const std::size_t unknowns = 6 * (junctions_ - 1), all = unknowns + shared_.size();
  least_squares_.clear(all);
  for (const Chain& chain : chains) {
    const Matrix6 start = chain.from == 0 ? Matrix6{} : product(chain.whitening, upper_adjoint(chain.relative.inverse()));
    std::size_t first = least_squares_.rows();
    for (std::size_t i = 0; i < 6; ++i) {
      double* row = least_squares_.add_row();
      if (chain.to != 0) std::copy_n(chain.whitening.data() + 6 * i, 6, row + 6 * (chain.to - 1));
      if (chain.from != 0)
        for (std::size_t j = 0; j < 6; ++j) row[6 * (chain.from - 1) + j] -= start[6 * i + j];
      row[all] = -chain.whitened[i];
    }
    for (const ChainEdge& edge : chain.edges)
      for (const SharedEffect& one : given_[edge.given].shared) {
        const std::size_t column = unknowns + place_of(one.error);
        const Vector6 moved =
            armillary::product(chain.whitening, values_of(product(edge.effect, product(edge.carry, tangent_of(one.effect)))));
        for (std::size_t i = 0; i < 6; ++i) least_squares_.row(first + i)[column] -= moved[i];
      }
  }
  for (std::size_t i = 0; i < shared_.size(); ++i) least_squares_.add_row()[unknowns + i] = 1.0;
}

std::size_t BlockSolver::place_of(std::uint32_t error) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(shared_, error) - shared_.begin());
}

/// What the shared errors, as they are estimated, do to an edge.
Tangent BlockSolver::shared_error(const ChainEdge& edge) const {
  Tangent total{};
  for (const SharedEffect& one : given_[edge.given].shared) {
    const double value = shared_values_[place_of(one.error)];
    const Tangent moved = product(edge.carry, tangent_of(one.effect));
    total = total + Tangent{value * moved.translation, value * moved.rotation};
  }
  return total;
}

Tangent BlockSolver::change_of(std::uint32_t junction) const {
  if (junction == 0) return {};
  const double* v = change_.data() + 6 * (junction - 1);
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// The smallest errors with which the chain leads to where its ends will be.
void BlockSolver::fit_errors(Chain& chain) {
  Tangent lacking = tangent_of(chain.missing) + change_of(chain.to);
  if (chain.from != 0) lacking = lacking - product(upper_adjoint(chain.relative.inverse()), change_of(chain.from));
  for (const ChainEdge& edge : chain.edges)
    if (edge.has_shared) lacking = lacking - product(edge.effect, shared_error(edge));
  Vector6 fitted = armillary::product(chain.whitening, values_of(lacking));
  double square = 0.0;
  for (std::size_t i = 0; i < 6; ++i) {
    if (chain.is_exact[i]) fitted[i] = 0.0;
    square += fitted[i] * fitted[i];
  }
  chain.misfit = std::sqrt(square);
  const Tangent back = tangent_of(armillary::product_of_transposed(chain.whitening, fitted));
  for (ChainEdge& edge : chain.edges) {
    const Tangent own = product(edge.covariance, product_of_transposed(edge.effect, back));
    const double scale = 1.0 / weight_of(edge);
    edge.error = Tangent{scale * own.translation, scale * own.rotation};
    if (edge.has_shared) edge.error = edge.error + shared_error(edge);
  }
}

/// Returns whether the step was taken in full.
bool BlockSolver::move(std::vector<Chain>& chains) {
  const std::size_t unknowns = 6 * (junctions_ - 1);
  double turn = 0.0;
  for (std::uint32_t j = 1; j < junctions_; ++j) turn = std::max(turn, norm(change_of(j).rotation));
  const double share = turn > fusion::kLargestTurn ? fusion::kLargestTurn / turn : 1.0;
  for (std::size_t i = 0; i < unknowns; ++i) change_[i] *= share;
  for (std::size_t i = 0; i < shared_.size(); ++i) shared_values_[i] = change_[unknowns + i];
  if (!is_frozen_)
    for (Chain& chain : chains)
      if (!chain.is_single) fit_errors(chain);
  for (std::uint32_t j = 1; j < junctions_; ++j) {
    poses_[j] = poses_[j] * Transform::exp(change_of(j));
    poses_[j].rotation = poses_[j].rotation.normalized();
  }
  return share == 1.0;
}

bool BlockSolver::has_converged() const {
  for (std::uint32_t j = 1; j < junctions_; ++j) {
    const double close = fusion::kConverged * (1.0 + norm(poses_[j].translation));
    for (std::size_t i = 6 * (j - 1); i < 6 * j; ++i)
      if (!(std::abs(change_[i]) < std::max(fusion::kConvergedDeviations * deviations_[i], close))) return false;
  }
  return true;
}

void BlockSolver::find_gains() {
  for (std::size_t i = 0; i < 6; ++i) least_squares_.gain_of(6 * (junctions_ - 2) + i, gains_[i]);
}

/// How the answer moves with what a chain misses in its known directions: G W.
Matrix6 BlockSolver::gain_of(std::size_t number, const Chain& chain, bool with_exact) const {
  Matrix6 result{};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < 6; ++k) {
      if (chain.is_exact[k] && !with_exact) continue;
      const double gain = gains_[i][6 * number + k];
      for (std::size_t j = 0; j < 6; ++j) result[6 * i + j] += gain * chain.whitening[6 * k + j];
    }
  return result;
}

/// The weights of groups under which the answer has the smallest trace; whether they are those that it was computed with.
bool BlockSolver::reweigh(const std::vector<Chain>& chains) {
  const auto is_apart = [&](const Group& group) { return std::ranges::count(groups_, group.cluster, &Group::cluster) > 1; };
  if (std::ranges::none_of(groups_, is_apart)) return true;
  find_gains();
  std::vector<double> traces(groups_.size(), 0.0);
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (const ChainEdge& edge : chains[c].edges) {
      const FusionEdge& given = given_[edge.given];
      if (given.cluster == FusionEdge::kIndependent || !edge.has_error) continue;
      const Symmetric6 on_end = propagated(edge.covariance, product(gain_of(c, chains[c], false), edge.effect));
      for (std::size_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].cluster == given.cluster && groups_[g].group == given.group) traces[g] += trace_of(on_end);
    }
  double moved = 0.0;
  std::vector<double> weights;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    double total = 0.0;
    for (std::size_t other = 0; other < groups_.size(); ++other)
      if (groups_[other].cluster == groups_[g].cluster) total += std::sqrt(traces[other]);
    const double weight = total > 0.0 ? std::sqrt(traces[g]) / total : groups_[g].weight;
    weights.push_back(std::max(weight, kSmallestWeight));
    moved = std::max(moved, std::abs(weights[g] - groups_[g].weight));
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].weight = weights[g];
  return moved < kWeighed;
}

bool BlockSolver::iterate(std::vector<Chain>& chains) {
  const int most = is_frozen_ ? kMostFrozenRounds : groups_.size() > 1 ? kMostWeighings : fusion::kMostRounds;
  for (int round = 0; round < most; ++round) {
    evaluate(chains);
    add_rows(chains);
    least_squares_.solve(change_, deviations_);
    if (!std::ranges::all_of(change_, [](double value) { return std::isfinite(value); })) return false;
    const bool is_whole = move(chains);
    const bool is_done = is_whole && has_converged();
    if ((groups_.empty() || reweigh(chains)) && is_done) return true;
  }
  return false;
}

/// How far the chains are apart at the start, which follows the surest of them.
void BlockSolver::measure_disagreement(const std::vector<Chain>& chains) {
  disagreement_m_ = disagreement_rad_ = 0.0;
  for (const Chain& chain : chains) {
    const Tangent apart = between(chain.nominal, between(first_poses_[chain.from], first_poses_[chain.to])).log();
    disagreement_m_ = std::max(disagreement_m_, norm(apart.translation));
    disagreement_rad_ = std::max(disagreement_rad_, norm(apart.rotation));
  }
}

/// Whether every chain is near where it would lead without errors, or where its errors would be expected.
bool BlockSolver::is_credible(const std::vector<Chain>& chains) {
  const auto is_strained = [](const Chain& chain) { return chain.misfit > kFarMisfit; };
  if (!has_exact_ || std::ranges::none_of(chains, is_strained)) return true;
  measure_disagreement(chains);
  return std::ranges::none_of(chains, [&](const Chain& chain) {
    const Tangent apart = between(chain.nominal, between(poses_[chain.from], poses_[chain.to])).log();
    const bool is_far = norm(apart.translation) > kFar * disagreement_m_ || norm(apart.rotation) > kFar * disagreement_rad_;
    return is_strained(chain) && is_far;
  });
}

void BlockSolver::relax(std::vector<Chain>& chains) {
  measure_disagreement(chains);
  const double m2 = disagreement_m_ * disagreement_m_, rad2 = disagreement_rad_ * disagreement_rad_;
  for (Chain& chain : chains) {
    if (chain.is_regular || std::ranges::count(chain.is_exact, true) == 0) continue;
    chain.relaxed = {{m2, 0, 0, 0, m2, 0, 0, 0, m2}, {}, {rad2, 0, 0, 0, rad2, 0, 0, 0, rad2}};
    chain.is_relaxed = true;
  }
}

/// With the effects that errors have at zero.
void BlockSolver::freeze(std::vector<Chain>& chains) {
  poses_ = first_poses_;
  std::ranges::fill(shared_values_, 0.0);
  for (Chain& chain : chains)
    for (ChainEdge& edge : chain.edges) edge.error = {};
  for (Chain& chain : chains) chain.is_regular = !chain.edges.empty() || chain.is_relaxed;
  evaluate(chains);
  for (Chain& chain : chains)
    if (!chain.is_single) chain.first_whitening = chain.whitening;
  is_frozen_ = true;
}

void BlockSolver::collect(const std::vector<Chain>& chains, BlockEstimate& out) {
  find_gains();
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Chain& chain = chains[c];
    const auto is_clustered = [&](const ChainEdge& edge) { return given_[edge.given].cluster != FusionEdge::kIndependent; };
    const bool is_apart = std::ranges::any_of(chain.edges, is_clustered);
    if (!is_apart) {
      Matrix6 columns{};
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t k = 0; k < 6; ++k) columns[6 * i + k] = chain.is_exact[k] ? 0.0 : gains_[i][6 * c + k];
      out.covariance = armillary::sum(out.covariance, square_of(columns));
    }
    if (!is_apart && !options_.want_effects) continue;
    const Matrix6 gain = gain_of(c, chain, false);
    if (is_apart && chain.is_relaxed) out.covariance = armillary::sum(out.covariance, propagated(chain.relaxed, gain));
    for (const ChainEdge& edge : chain.edges) {
      if (!edge.has_error) continue;
      const Upper6 effect = chain.is_single ? right_jacobian(edge.error) : edge.effect;
      const Matrix6 on_end = product(gain, effect);
      if (is_apart && !is_clustered(edge)) out.covariance = armillary::sum(out.covariance, propagated(edge.covariance, on_end));
      if (options_.want_effects || is_clustered(edge)) out.edges.push_back({edge.given, product(on_end, edge.carry)});
    }
  }
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    SharedEffect& one = out.shared.emplace_back(SharedEffect{shared_[i], {}});
    for (std::size_t k = 0; k < 6; ++k) one.effect[k] = gains_[k][6 * chains.size() + i];
  }
}

/// Residuals that no error explains: one of the chains is right, and nobody knows which.
void BlockSolver::add_contradictions(std::vector<Chain>& chains, BlockEstimate& out) {
  if (!has_exact_) return;
  if (!is_frozen_) evaluate(chains);
  std::vector<std::size_t> missing;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Chain& chain = chains[c];
    if (chain.is_regular || std::ranges::count(chain.is_exact, true) == 0) continue;
    double largest = 0.0;
    for (const double value : chain.residual) largest = std::max(largest, std::abs(value));
    if (largest <= kContradiction * (1.0 + norm(chain.relative.translation))) continue;
    missing.push_back(c);
    out.contradiction = std::max(out.contradiction, largest);
    FusionResidual& left = out.residuals.emplace_back(FusionResidual{{}, chain.residual});
    for (const LinkStep& step : chain.steps) left.edges.push_back(step.edge);
  }
  for (const std::size_t c : missing) {
    const Vector6 moved = armillary::product(gain_of(c, chains[c], true), chains[c].residual);
    Matrix6 columns{};
    for (std::size_t i = 0; i < 6; ++i) columns[6 * i] = std::sqrt(static_cast<double>(missing.size())) * moved[i];
    out.covariance = armillary::sum(out.covariance, square_of(columns));
  }
}

/// Parallel chains that are all regular and single need no orthogonal transformations. False where that is not so, or does not
/// converge.
bool BlockSolver::solve_bundle(const std::vector<Chain>& chains, BlockEstimate& out) {
  const bool is_bundle = junctions_ == 2 && std::ranges::all_of(chains, &Chain::is_single);
  if (!is_bundle || options_.want_effects) return false;
  bundle_.clear();
  for (const Chain& chain : chains)
    bundle_.push_back({chain.nominal, chain.first_whitening, trace_of(chain.edges[0].covariance), {}});
  const std::optional<ParallelEstimate> found = fuse_parallel(bundle_, options_.want_covariance);
  if (!found) return false;
  out.value = found->value;
  out.covariance = found->covariance;
  out.is_beyond_first_order = found->is_beyond_first_order;
  return true;
}

BlockEstimate BlockSolver::solve(std::vector<Chain>& chains, std::size_t junctions) {
  BlockEstimate out;
  prepare(chains);
  start(chains, junctions);
  if (solve_bundle(chains, out)) return out;
  bool is_found = iterate(chains) && is_credible(chains);
  if (!is_found && has_exact_) {
    relax(chains);
    out.quality = FusionQuality::relaxed;
    out.contradiction = std::max(disagreement_m_, disagreement_rad_);
    prepare(chains);
    start(chains, junctions);
    is_found = iterate(chains) && is_credible(chains);
  }
  if (!is_found) {
    freeze(chains);
    (void)iterate(chains);
    out.quality = FusionQuality::approximate;
  }
  collect(chains, out);
  add_contradictions(chains, out);
  out.value = poses_[junctions - 1];
  for (const Chain& chain : chains)
    out.is_beyond_first_order =
        out.is_beyond_first_order || chain.nominal.rotation.angle_to(chain.relative.rotation) > fusion::kHalfTurn;
  return out;
}

}  // namespace armillary
