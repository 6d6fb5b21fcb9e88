#include "graph/fusing.hpp"

#include <algorithm>
#include <cmath>

#include "armillary/graph/driven_link.hpp"
#include "armillary/math/fusion_vectors.hpp"

namespace armillary {

namespace {

constexpr std::uint32_t kDerived = 0;  // the cluster of all that may rest on the same data

/// Numbers the frames of a question; with two times the fixed frame alone is the same at both.
class Vertices {
 public:
  explicit Vertices(const Question& question) : question_(question) {
    const bool is_one_instant = !question.at.latest && !question.of_at.latest && question.at.at == question.of_at.at;
    is_one_time_ = question.fixed_frame == kNone || is_one_instant;
  }

  [[nodiscard]] std::uint32_t number(FrameId frame, std::uint8_t segment) {
    const std::uint8_t kept = is_one_time_ || frame == question_.fixed_frame ? 0 : segment;
    const auto found = std::ranges::find(known_, std::pair(frame, kept));
    if (found != known_.end()) return static_cast<std::uint32_t>(found - known_.begin());
    known_.emplace_back(frame, kept);
    return static_cast<std::uint32_t>(known_.size() - 1);
  }

 private:
  const Question& question_;
  bool is_one_time_;
  std::vector<std::pair<FrameId, std::uint8_t>> known_;
};

bool is_same_error(const CandidateEdge& a, const CandidateEdge& b) {
  return a.relation == b.relation && a.provider == b.provider && a.at == b.at;
}

/// Errors that several edges have.
class SharedErrors {
 public:
  SharedErrors(const PathSearch& search, const QueryContext& context, Judgement& judgement)
      : search_(search), context_(context), judgement_(judgement) {}

  /// One relation at one instant on both sides of a fixed frame has one error.
  void share_repeated() {
    std::vector<std::int64_t> errors;
    for (std::size_t i = 0; i < judgement_.graph.size(); ++i) {
      std::size_t first = 0;
      while (!is_same_error(given(i), given(first))) ++first;
      errors.push_back(static_cast<std::int64_t>(first));
    }
    count_ = share_errors(judgement_.graph, errors);
  }

  /// A joint that drives several edges has one error.
  void share_joints() {
    collect_joints();
    if (errors_.empty() || !has_common_joint()) return;
    std::vector<double> root = root_of_joints();
    const std::size_t n = joints_.size();
    for (const auto& [edge, errors] : errors_) {
      Covariance by_joints;
      add_covariance(errors, by_joints);
      FusionEdge& fused = judgement_.graph[edge];
      fused.covariance = given(edge).predicted ? fused.covariance + -1.0 * by_joints : Covariance{};
      for (std::size_t k = 0; k < n; ++k) {
        SharedEffect one{count_ + static_cast<std::uint32_t>(k), {}};
        for (const VariableError& error : errors)
          for (std::size_t row = 0; row < 6; ++row) one.effect[row] += error.effect[row] * root[joint(error) * n + k];
        if (std::ranges::any_of(one.effect, [](double value) { return value != 0.0; })) fused.shared.push_back(one);
      }
    }
    count_ += static_cast<std::uint32_t>(n);
  }

 private:
  [[nodiscard]] const CandidateEdge& given(std::size_t edge) const { return judgement_.found.edges[judgement_.edges[edge]]; }

  void collect_joints() {
    for (std::size_t i = 0; i < judgement_.graph.size(); ++i) {
      const PathEdge& edge = search_.path_edges()[judgement_.edges[i]];
      const bool is_shared = !judgement_.graph[i].shared.empty();
      if (edge.provider.kind != ProviderKind::driven || given(i).certainty != Certainty::known || is_shared) continue;
      std::vector<VariableError> errors;
      if (given(i).at >= edge.opens) edge.provider.driven().add_errors(given(i).at, context_, errors);
      if (!errors.empty()) errors_.emplace_back(i, std::move(errors));
    }
    for (const auto& [edge, errors] : errors_)
      for (const VariableError& error : errors)
        if (joint(error) == joints_.size()) joints_.push_back(error);
  }

  /// The place of the joint among those collected, or their number.
  [[nodiscard]] std::size_t joint(const VariableError& error) const {
    const auto same = [&](const VariableError& other) {
      return other.variable == error.variable && other.part == error.part &&
             other.around.before.stamp_ns() == error.around.before.stamp_ns() && other.u == error.u;
    };
    return static_cast<std::size_t>(std::ranges::find_if(joints_, same) - joints_.begin());
  }

  [[nodiscard]] bool has_common_joint() const {
    for (std::size_t a = 0; a < errors_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        for (const VariableError& one : errors_[a].second)
          for (const VariableError& other : errors_[b].second)
            if (one.variable == other.variable || one.covariance_with(other) != 0.0) return true;
    return false;
  }

  /// Lower triangular; a joint whose error follows from others has no column of its own.
  [[nodiscard]] std::vector<double> root_of_joints() const {
    constexpr double kNothing = 1e-14;
    const std::size_t n = joints_.size();
    std::vector<double> root(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) {
        double sum = joints_[i].covariance_with(joints_[j]);
        const double whole = sum;
        for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
        if (i == j) {
          root[j * n + j] = sum > kNothing * whole ? std::sqrt(sum) : 0.0;
        } else {
          root[i * n + j] = root[j * n + j] > 0.0 ? sum / root[j * n + j] : 0.0;
        }
      }
    return root;
  }

  const PathSearch& search_;
  const QueryContext& context_;
  Judgement& judgement_;
  std::vector<std::pair<std::size_t, std::vector<VariableError>>> errors_;  // by edge of the graph
  std::vector<VariableError> joints_;
  std::uint32_t count_ = 0;
};

/// One relation at several instants, and all that may rest on the same data: how their errors are correlated is unknown. What
/// is derived on the same paths is counted as one.
void find_clusters(Judgement& judgement) {
  const std::vector<CandidateEdge>& edges = judgement.found.edges;
  const auto relation = [&](std::size_t i) { return edges[judgement.edges[i]].relation; };
  const auto paths_with = [&](std::uint32_t edge) {
    std::vector<std::uint32_t> paths;
    for (const std::uint32_t path : judgement.used)
      if (std::ranges::find(judgement.found.paths[path].steps, edge, &CandidateStep::edge) !=
          judgement.found.paths[path].steps.end())
        paths.push_back(path);
    return paths;
  };
  std::vector<std::vector<std::uint32_t>> derived;
  for (std::size_t i = 0; i < judgement.graph.size(); ++i) {
    FusionEdge& fused = judgement.graph[i];
    if (!fused.shared.empty()) continue;
    bool is_derived = false, is_repeated = false;
    for (std::size_t j = 0; j < judgement.graph.size(); ++j) {
      if (relation(j) != relation(i)) continue;
      is_derived = is_derived || edges[judgement.edges[j]].is_derived;
      is_repeated = is_repeated || j != i;
    }
    if (is_repeated) {
      fused.cluster = is_derived ? kDerived : 1 + relation(i);
      fused.group = static_cast<std::uint32_t>(i);
    } else if (is_derived) {
      const std::vector<std::uint32_t> paths = paths_with(judgement.edges[i]);
      const auto known = std::ranges::find(derived, paths);
      fused.cluster = kDerived;
      fused.group = static_cast<std::uint32_t>(judgement.graph.size() + static_cast<std::size_t>(known - derived.begin()));
      if (known == derived.end()) derived.push_back(paths);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> edges_along_paths(const Judgement& judgement) {
  std::vector<bool> is_taken(judgement.found.edges.size(), false);
  std::vector<std::uint32_t> edges;
  edges.reserve(judgement.found.edges.size());
  for (const std::uint32_t path : judgement.used)
    for (const CandidateStep& step : judgement.found.paths[path].steps) {
      if (is_taken[step.edge]) continue;
      is_taken[step.edge] = true;
      edges.push_back(step.edge);
    }
  return edges;
}

namespace {

void number_vertices(const Question& question, Judgement& judgement) {
  Vertices vertices(question);
  judgement.graph.reserve(judgement.edges.size());
  for (const std::uint32_t number : judgement.edges) {
    const CandidateEdge& edge = judgement.found.edges[number];
    FusionEdge& fused = judgement.graph.emplace_back();
    fused.from = vertices.number(edge.parent, edge.segment);
    fused.to = vertices.number(edge.child, edge.segment);
    fused.value = edge.value;
    if (edge.certainty == Certainty::known) fused.covariance = edge.covariance;
  }
  judgement.first = vertices.number(question.in_frame, 1);
  judgement.last = vertices.number(question.of, 0);
}

}  // namespace

void list_graph(const Question& question, Judgement& judgement) {
  judgement.edges = edges_along_paths(judgement);
  number_vertices(question, judgement);
}

void build_graph(const PathSearch& search, const Question& question, Judgement& judgement) {
  judgement.edges = edges_along_paths(judgement);
  // By name: the same for a question and its inverse, whatever arrived first.
  std::ranges::stable_sort(judgement.edges, [&](std::uint32_t a, std::uint32_t b) {
    return search.is_edge_before(judgement.found.edges[a], judgement.found.edges[b]);
  });
  number_vertices(question, judgement);
  const auto is_driven = [&](std::uint32_t edge) { return search.path_edges()[edge].provider.kind == ProviderKind::driven; };
  const bool has_two_times = question.fixed_frame != kNone, has_driven = std::ranges::any_of(judgement.edges, is_driven);
  if (has_two_times || has_driven) {
    SharedErrors shared(search, question.context, judgement);
    if (has_two_times) shared.share_repeated();
    if (has_driven) shared.share_joints();
  }
  const bool has_derived =
      std::ranges::any_of(judgement.edges, [&](std::uint32_t edge) { return judgement.found.edges[edge].is_derived; });
  if (has_two_times || has_derived || question.at.latest) find_clusters(judgement);
}

TwistAnswer fused_twist(std::vector<TwistAnswer> twists, bool are_correlated) {
  std::vector<VectorEstimate> given;
  for (const TwistAnswer& twist : twists)
    given.push_back({values_of(twist.velocity), twist.covariance ? *twist.covariance : Covariance{}});
  const VectorEstimate best = fuse_vectors(given, are_correlated);
  TwistAnswer out = std::move(twists[0]);
  const auto& v = best.value;
  out.velocity = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  out.certainty = Certainty::known;
  out.covariance = std::make_unique<Covariance>(best.covariance);
  for (std::size_t i = 1; i < twists.size(); ++i) {
    if (twists[i].held) add_held(*twists[i].held, out.held);
    out.predicted = out.predicted || twists[i].predicted;
    if (twists[i].method != out.method) out.method = TwistMethod::mixed;
    for (const RelationId id : twists[i].relations.ids())
      if (std::ranges::find(out.relations.ids(), id) == out.relations.ids().end()) out.relations.push_back(id);
  }
  return out;
}

}  // namespace armillary
