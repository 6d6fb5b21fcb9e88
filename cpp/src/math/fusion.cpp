// The graph of a fusion: chains between junctions, cut vertices, blocks, and the product of what the blocks give.

#include "armillary/math/fusion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "math/fusion_block.hpp"
#include "math/fusion_floor.hpp"

namespace armillary {

/// Edges between two junctions of the graph, in the order in which they are passed.
struct FusionLink {
  std::uint32_t from, to;
  std::vector<LinkStep> steps;
};

namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

bool has_error(const FusionEdge& edge) {
  return std::ranges::any_of(edge.covariance.values, [](double value) { return value != 0.0; });
}

/// The graph without what leads nowhere, as links between junctions.
class ReducedGraph {
 public:
  ReducedGraph(std::span<const FusionEdge> edges, std::uint32_t first, std::uint32_t last)
      : edges_(edges), first_(first), last_(last) {
    std::uint32_t count = std::max(first, last) + 1;
    for (const FusionEdge& edge : edges) count = std::max({count, edge.from + 1, edge.to + 1});
    degree_.assign(count, 0);
    for (const FusionEdge& edge : edges)
      if (edge.from != edge.to) ++degree_[edge.from], ++degree_[edge.to];
    begin_.assign(count + 1, 0);
    for (std::uint32_t v = 0; v < count; ++v) begin_[v + 1] = begin_[v] + degree_[v];
    listed_.resize(begin_[count]);
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      if (edges[i].from == edges[i].to) continue;
      listed_[next[edges[i].from]++] = i;
      listed_[next[edges[i].to]++] = i;
    }
    is_used_.assign(edges.size(), false);
    prune();
    for (const std::uint32_t start : {first, last}) walk_from(start);
    for (std::uint32_t v = 0; v < count; ++v)
      if (is_junction(v)) walk_from(v);
  }

  std::vector<FusionLink> links;

  [[nodiscard]] std::size_t vertices() const { return degree_.size(); }

 private:
  [[nodiscard]] std::span<const std::uint32_t> around(std::uint32_t v) const {
    return std::span(listed_).subspan(begin_[v], begin_[v + 1] - begin_[v]);
  }
  [[nodiscard]] std::uint32_t unused_at(std::uint32_t v) const {
    return *std::ranges::find_if(around(v), [this](std::uint32_t e) { return !is_used_[e]; });
  }
  [[nodiscard]] bool is_junction(std::uint32_t v) const {
    return v == first_ || v == last_ || (degree_[v] != 2 && degree_[v] != 0);
  }
  [[nodiscard]] std::uint32_t other_end(std::uint32_t edge, std::uint32_t v) const {
    return edges_[edge].from == v ? edges_[edge].to : edges_[edge].from;
  }

  void prune() {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t v = 0; v < degree_.size(); ++v)
      if (degree_[v] == 1) ends.push_back(v);
    while (!ends.empty()) {
      const std::uint32_t v = ends.back();
      ends.pop_back();
      if (v == first_ || v == last_ || degree_[v] != 1) continue;
      const std::uint32_t edge = unused_at(v);
      is_used_[edge] = true;
      degree_[v] = 0;
      const std::uint32_t next = other_end(edge, v);
      if (--degree_[next] == 1) ends.push_back(next);
    }
  }

  void walk_from(std::uint32_t start) {
    for (const std::uint32_t begin : around(start)) {
      if (is_used_[begin]) continue;
      FusionLink link{start, start, {}};
      for (std::uint32_t edge = begin;;) {
        is_used_[edge] = true;
        link.steps.push_back({edge, edges_[edge].to == link.to});
        link.to = other_end(edge, link.to);
        if (is_junction(link.to)) break;
        edge = unused_at(link.to);
      }
      if (link.from != link.to) links.push_back(std::move(link));
    }
  }

  std::span<const FusionEdge> edges_;
  std::uint32_t first_, last_;
  std::vector<std::uint32_t> degree_, begin_, listed_;  // the edges at v: listed_, from begin_[v] on
  std::vector<bool> is_used_;
};

/// Links between two cut vertices, or ends.
struct Block {
  std::uint32_t first, last;
  std::vector<const FusionLink*> links;
};

/// The vertices on a shortest way between the ends; empty where there is none that avoids `without`.
std::vector<std::uint32_t> shortest_way(const std::vector<FusionLink>& links, std::size_t vertices, std::uint32_t first,
                                        std::uint32_t last, std::uint32_t without) {
  std::vector<std::uint32_t> before(vertices, kNobody);
  std::vector<std::uint32_t> next{first};
  before[first] = first;
  for (std::size_t k = 0; k < next.size() && before[last] == kNobody; ++k) {
    const std::uint32_t v = next[k];
    for (const FusionLink& link : links) {
      if (link.from != v && link.to != v) continue;
      const std::uint32_t other = link.from == v ? link.to : link.from;
      if (other == without || before[other] != kNobody) continue;
      before[other] = v;
      next.push_back(other);
    }
  }
  std::vector<std::uint32_t> way;
  if (before[last] == kNobody) return way;
  for (std::uint32_t v = last; v != first; v = before[v]) way.push_back(v);
  way.push_back(first);
  std::ranges::reverse(way);
  return way;
}

/// The ends and the vertices that every way between them passes, in their order.
std::vector<std::uint32_t> cut_vertices(const std::vector<FusionLink>& links, std::size_t vertices, std::uint32_t first,
                                        std::uint32_t last) {
  std::vector<std::uint32_t> cuts{first};
  const auto joins = [](const FusionLink& link, std::uint32_t a, std::uint32_t b) {
    return (link.from == a && link.to == b) || (link.from == b && link.to == a);
  };
  if (!std::ranges::all_of(links, [&](const FusionLink& link) { return joins(link, first, last); }))
    for (const std::uint32_t v : shortest_way(links, vertices, first, last, kNobody))
      if (v != first && v != last && shortest_way(links, vertices, first, last, v).empty()) cuts.push_back(v);
  cuts.push_back(last);
  return cuts;
}

std::vector<Block> blocks_between(const std::vector<FusionLink>& links, const std::vector<std::uint32_t>& cuts) {
  std::vector<Block> blocks;
  std::vector<bool> is_taken(links.size(), false);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    Block& block = blocks.emplace_back(Block{cuts[i], cuts[i + 1], {}});
    std::vector<std::uint32_t> inside{cuts[i]};
    for (std::size_t k = 0; k < inside.size(); ++k)
      for (std::size_t l = 0; l < links.size(); ++l) {
        if (is_taken[l] || (links[l].from != inside[k] && links[l].to != inside[k])) continue;
        is_taken[l] = true;
        block.links.push_back(&links[l]);
        const std::uint32_t other = links[l].from == inside[k] ? links[l].to : links[l].from;
        if (other != block.last) inside.push_back(other);
      }
  }
  return blocks;
}

/// Which blocks have a shared error, by its number.
void unite_sharing(std::span<const FusionEdge> edges, const std::vector<FusionLink>& links, std::vector<std::uint32_t>& cuts,
                   std::vector<Block>& blocks) {
  const auto has = [&](const Block& block, std::uint32_t error) {
    for (const FusionLink* link : block.links)
      for (const LinkStep& step : link->steps)
        if (std::ranges::find(edges[step.edge].shared, error, &SharedEffect::error) != edges[step.edge].shared.end()) return true;
    return false;
  };
  std::vector<std::uint32_t> errors;
  for (const FusionEdge& edge : edges)
    for (const SharedEffect& one : edge.shared)
      if (std::ranges::find(errors, one.error) == errors.end()) errors.push_back(one.error);
  for (const std::uint32_t error : errors) {
    std::size_t begin = blocks.size(), end = 0;
    bool is_contested = false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!has(blocks[i], error)) continue;
      begin = std::min(begin, i), end = i;
      is_contested = is_contested || blocks[i].links.size() > 1;
    }
    if (!is_contested || begin >= end) continue;
    // What a contest teaches of the error counts wherever else it is: the blocks are solved as one.
    cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(begin) + 1, cuts.begin() + static_cast<std::ptrdiff_t>(end) + 1);
    blocks = blocks_between(links, cuts);
  }
}

Upper6 negated(const Upper6& m) { return scaled(-1.0, m); }

/// A link as the solver takes it: exact edges become part of their neighbours.
Chain chain_of(std::span<const FusionEdge> edges, const FusionLink& link, bool with_errors) {
  Chain chain;
  chain.steps = link.steps;
  Transform pending;
  bool is_pending = false;
  for (std::size_t i = 0; i < link.steps.size(); ++i) {
    const auto [number, is_backward] = link.steps[i];
    const FusionEdge& given = edges[number];
    const Transform value = is_backward ? given.value.inverse() : given.value;
    chain.nominal = i == 0 ? value : chain.nominal * value;
    const bool is_uncertain = has_error(given);
    if (!with_errors || (!is_uncertain && given.shared.empty())) {
      pending = is_pending ? pending * value : value;
      is_pending = true;
      continue;
    }
    if (is_pending && !chain.edges.empty()) {
      // Behind an error: T Exp(xi) P = T P Exp(Ad(P^-1) xi).
      ChainEdge& before = chain.edges.back();
      before.value = before.value * pending;
      before.carry = product(upper_adjoint(pending.inverse()), before.carry);
      is_pending = false;
    }
    ChainEdge& edge = chain.edges.emplace_back();
    edge.given = number;
    edge.value = is_pending ? pending * value : value;
    is_pending = false;
    if (is_backward) edge.carry = negated(upper_adjoint(given.value));
    edge.has_error = is_uncertain;
    edge.has_shared = !given.shared.empty();
  }
  if (is_pending && !chain.edges.empty()) {
    ChainEdge& before = chain.edges.back();
    before.value = before.value * pending;
    before.carry = product(upper_adjoint(pending.inverse()), before.carry);
  }
  if (!with_errors) return chain;
  for (ChainEdge& edge : chain.edges) {
    const Symmetric6 given = Symmetric6::of(edges[edge.given].covariance);
    edge.covariance = edge.carry == Upper6::identity() ? given : propagated(given, edge.carry);
  }
  return chain;
}

/// A block of one chain: nothing is compared.
BlockEstimate passed_on(std::span<const FusionEdge> edges, const Chain& chain, const FusionOptions& options) {
  BlockEstimate out;
  out.value = chain.nominal;
  if (!options.want_covariance) return out;
  Transform behind;
  for (auto edge = chain.edges.rbegin(); edge != chain.edges.rend(); ++edge) {
    const Upper6 effect = upper_adjoint(behind.inverse());
    const FusionEdge& given = edges[edge->given];
    const Matrix6 on_end = whole(product(effect, edge->carry));
    const bool is_clustered = given.cluster != FusionEdge::kIndependent;
    if (!is_clustered && edge->has_error) out.covariance = sum(out.covariance, propagated(edge->covariance, effect));
    if (edge->has_error && (is_clustered || options.want_effects)) out.edges.push_back({edge->given, on_end});
    for (const SharedEffect& one : given.shared) {
      const Vector6 moved = product(on_end, one.effect);
      const auto same = std::ranges::find(out.shared, one.error, &SharedEffect::error);
      if (same == out.shared.end()) {
        out.shared.push_back({one.error, moved});
      } else {
        for (std::size_t i = 0; i < 6; ++i) same->effect[i] += moved[i];
      }
    }
    behind = edge->value * behind;
  }
  return out;
}

/// The blocks one behind the other, and how their errors add up.
class Assembly {
 public:
  Assembly(std::span<const FusionEdge> edges, const FusionOptions& options) : edges_(edges), options_(options) {
    if (options.want_effects) out_.effects.assign(edges.size(), Matrix6{});
  }

  void add(BlockEstimate block) {
    const bool is_first = std::exchange(is_empty_, false);
    out_.value = is_first ? block.value : out_.value * block.value;
    note(block);
    if (!options_.want_covariance) return;
    const Upper6 carry = upper_adjoint(block.value.inverse());
    if (!is_first) {
      total_ = propagated(total_, carry);
      const Matrix6 moved = whole(carry);
      for (auto& [edge, effect] : effects_) effect = product(moved, effect);
      for (SharedEffect& one : shared_) one.effect = product(moved, one.effect);
    }
    total_ = sum(total_, block.covariance);
    for (auto& [edge, effect] : block.edges) effects_.push_back({edge, effect});
    for (const SharedEffect& one : block.shared) {
      const auto same = std::ranges::find(shared_, one.error, &SharedEffect::error);
      if (same == shared_.end()) {
        shared_.push_back(one);
      } else {
        for (std::size_t i = 0; i < 6; ++i) same->effect[i] += one.effect[i];
      }
    }
  }

  /// What is exact in the tangent of a mean is not exact beyond: where something was compared, the whole answer has a floor.
  [[nodiscard]] Fusion taken(bool is_compared) {
    out_.value.rotation = out_.value.rotation.normalized();
    if (!options_.want_covariance) return std::move(out_);
    out_.covariance = total_.covariance();
    for (const SharedEffect& one : shared_)
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 6; ++j) out_.covariance.values[6 * i + j] += one.effect[i] * one.effect[j];
    add_clusters();
    if (is_compared) out_.covariance = with_floor(Symmetric6::of(out_.covariance), out_.value).covariance();
    for (const auto& [edge, effect] : effects_)
      if (options_.want_effects) std::ranges::transform(out_.effects[edge], effect, out_.effects[edge].begin(), std::plus{});
    const double turn = std::max({out_.covariance.at(3, 3), out_.covariance.at(4, 4), out_.covariance.at(5, 5)});
    out_.is_beyond_first_order = out_.is_beyond_first_order || turn > 1.0;
    return std::move(out_);
  }

 private:
  /// What is to be said of the answer because of one block.
  void note(const BlockEstimate& block) {
    out_.quality = std::max(out_.quality, block.quality);
    out_.contradiction = std::max(out_.contradiction, block.contradiction);
    out_.residuals.insert(out_.residuals.end(), block.residuals.begin(), block.residuals.end());
    out_.is_beyond_first_order = out_.is_beyond_first_order || block.is_beyond_first_order;
  }

  /// The bound for every correlation between the groups of a cluster: (sum of sqrt(trace)) * sum of S / sqrt(trace).
  void add_clusters() {
    struct Group {
      std::uint32_t cluster, group;
      Covariance covariance;
    };
    std::vector<Group> groups;
    for (const auto& [edge, effect] : effects_) {
      const FusionEdge& given = edges_[edge];
      if (given.cluster == FusionEdge::kIndependent) continue;
      const auto same = [&](const Group& group) { return group.cluster == given.cluster && group.group == given.group; };
      auto group = std::ranges::find_if(groups, same);
      if (group == groups.end()) group = groups.insert(group, {given.cluster, given.group, {}});
      group->covariance = group->covariance + propagated(given.covariance, effect);
    }
    for (const Group& group : groups) {
      double total = 0.0;
      for (const Group& other : groups)
        if (other.cluster == group.cluster) total += std::sqrt(std::max(other.covariance.trace(), 0.0));
      const double own = std::sqrt(std::max(group.covariance.trace(), 0.0));
      if (own > 0.0) out_.covariance = out_.covariance + (total / own) * group.covariance;
    }
  }

  struct EdgeEffect {
    std::uint32_t edge;
    Matrix6 effect;
  };
  std::span<const FusionEdge> edges_;
  const FusionOptions& options_;
  bool is_empty_ = true;
  Fusion out_;
  Symmetric6 total_{};
  std::vector<EdgeEffect> effects_;
  std::vector<SharedEffect> shared_;
};

}  // namespace

std::uint32_t share_errors(std::span<FusionEdge> edges, std::span<const std::int64_t> errors) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto first = static_cast<std::size_t>(std::ranges::find(errors, errors[i]) - errors.begin());
    const bool is_first_of_several = first == i && std::ranges::count(errors, errors[i]) > 1;
    if (!is_first_of_several || !has_error(edges[i])) continue;
    const Matrix6 root = root_of(edges[i].covariance.values);
    for (std::size_t j = i; j < edges.size(); ++j) {
      if (errors[j] != errors[i]) continue;
      edges[j].covariance = {};
      for (std::uint32_t k = 0; k < 6; ++k) {
        SharedEffect& one = edges[j].shared.emplace_back(SharedEffect{count + k, {}});
        for (std::size_t row = 0; row < 6; ++row) one.effect[row] = root[6 * row + k];
      }
    }
    count += 6;
  }
  return count;
}

/// The blocks between the ends, which depend on the graph alone.
struct FusionPlan::Structure {
  struct NumberedLink {
    FusionLink link;
    std::uint32_t from = 0, to = 0;  // junctions of the block
  };
  struct NumberedBlock {
    std::vector<NumberedLink> links;
    std::size_t junctions = 2;
  };
  std::vector<NumberedBlock> blocks;
  bool is_too_large = false;
  bool is_turned_round = false;  // solved from the last to the first
};

namespace {

FusionLink turned_round(const FusionLink& link) {
  FusionLink turned{link.to, link.from, {link.steps.rbegin(), link.steps.rend()}};
  for (LinkStep& step : turned.steps) step.is_backward = !step.is_backward;
  return turned;
}

/// Junctions numbered from 0, the first end of the block, to the last. Links between the ends lead from the first to the last.
FusionPlan::Structure::NumberedBlock numbered(const Block& block) {
  std::vector<std::uint32_t> inner;
  for (const FusionLink* link : block.links)
    for (const std::uint32_t v : {link->from, link->to})
      if (v != block.first && v != block.last && std::ranges::find(inner, v) == inner.end()) inner.push_back(v);
  std::ranges::sort(inner);
  const auto number = [&](std::uint32_t v) {
    if (v == block.first) return std::uint32_t{0};
    if (v == block.last) return static_cast<std::uint32_t>(inner.size() + 1);
    return static_cast<std::uint32_t>(std::ranges::lower_bound(inner, v) - inner.begin() + 1);
  };
  FusionPlan::Structure::NumberedBlock out{.links = {}, .junctions = inner.size() + 2};
  for (const FusionLink* link : block.links) {
    const bool is_backward = number(link->from) > number(link->to);
    out.links.push_back({is_backward ? turned_round(*link) : *link, 0, 0});
    out.links.back().from = number(out.links.back().link.from);
    out.links.back().to = number(out.links.back().link.to);
  }
  return out;
}

/// (T Exp(xi))^-1 = T^-1 Exp(-Ad(T) xi).
void turn_round(Fusion& fusion) {
  const Matrix6 moved = whole(upper_adjoint(fusion.value));
  fusion.covariance = propagated(fusion.covariance, moved);
  for (Matrix6& effect : fusion.effects) {
    effect = product(moved, effect);
    for (double& value : effect) value = -value;
  }
  fusion.value = fusion.value.inverse();
}

}  // namespace

FusionPlan::FusionPlan(std::span<const FusionEdge> edges, std::uint32_t first, std::uint32_t last)
    : edges_(edges.size()), structure_(std::make_unique<Structure>()) {
  if (first == last) return;
  // A question and its inverse are solved alike: the mean of what contradicts each other depends on where it is looked at from.
  structure_->is_turned_round = first > last;
  if (first > last) std::swap(first, last);
  const ReducedGraph graph(edges, first, last);
  std::vector<std::uint32_t> cuts = cut_vertices(graph.links, graph.vertices(), first, last);
  std::vector<Block> blocks = blocks_between(graph.links, cuts);
  unite_sharing(edges, graph.links, cuts, blocks);
  for (const Block& block : blocks) {
    structure_->blocks.push_back(numbered(block));
    structure_->is_too_large = structure_->is_too_large || structure_->blocks.back().junctions > kMostFusionJunctions;
  }
}

FusionPlan::~FusionPlan() = default;

std::vector<bool> FusionPlan::compared() const {
  std::vector<bool> are(edges_, false);
  for (const Structure::NumberedBlock& block : structure_->blocks)
    for (const auto& [link, from, to] : block.links)
      for (const LinkStep& step : link.steps) are[step.edge] = block.links.size() > 1;
  return are;
}

Fusion FusionPlan::fuse(std::span<const FusionEdge> edges, const FusionOptions& options) const {
  if (structure_->is_too_large) return Fusion{.is_too_large = true};
  Assembly assembly(edges, options);
  BlockSolver solver(edges, options);
  std::vector<Chain> chains;
  bool is_compared = false;
  for (const Structure::NumberedBlock& block : structure_->blocks) {
    chains.clear();
    for (const auto& [link, from, to] : block.links) {
      chains.push_back(chain_of(edges, link, options.want_covariance || block.links.size() > 1));
      chains.back().from = from;
      chains.back().to = to;
    }
    if (chains.size() == 1) {
      assembly.add(passed_on(edges, chains[0], options));
      continue;
    }
    assembly.add(solver.solve(chains, block.junctions));
    is_compared = true;
  }
  Fusion found = assembly.taken(is_compared);
  if (structure_->is_turned_round) turn_round(found);
  return found;
}

Fusion fuse(std::span<const FusionEdge> edges, std::uint32_t first, std::uint32_t last, const FusionOptions& options) {
  return FusionPlan(edges, first, last).fuse(edges, options);
}

}  // namespace armillary
