// Answers by a policy: which of several paths is taken, or what is made of them.

#include <algorithm>

#include "graph/forest_state.hpp"
#include "graph/frame_contest.hpp"
#include "graph/fusing.hpp"
#include "graph/path_search.hpp"

namespace armillary {

namespace {

bool is_known(const CandidateSet& set, const Candidate& path) {
  return std::ranges::all_of(path.steps,
                             [&](const CandidateStep& step) { return set.edges[step.edge].certainty != Certainty::unknown; });
}

/// Which of the paths are used, for one question in one version of the structure.
class Chooser {
 public:
  /// `ask` answers a question along the one path that its selector leaves.
  Chooser(const ForestOptions& options, const Topology& topology, const Question& question, PathSearch::Ask ask)
      : options_(options), topology_(topology), question_(question), ask_(std::move(ask)) {}

  /// Finds the paths, and which of them the policy uses. The caller has pinned the version.
  Failure choose();
  /// The answer that the used paths give.
  Failure answer(PolicyAnswer& out);

  /// What was fused, again for other instants; none where that has to be decided anew.
  [[nodiscard]] std::optional<Transform> fused_again(Stamp at);

  [[nodiscard]] const Judgement& judgement() const { return *judgement_; }
  [[nodiscard]] const Candidate& used(std::size_t i = 0) const { return judgement_->found.paths[judgement_->used[i]]; }

 private:
  [[nodiscard]] Failure find();
  [[nodiscard]] Failure sort_out();
  [[nodiscard]] Failure leave_out_unknown();
  [[nodiscard]] When common_instant() const;
  [[nodiscard]] std::uint32_t newest() const;
  [[nodiscard]] std::uint32_t surest() const;
  Failure fuse_used(PoseAnswer& out);

  const ForestOptions& options_;
  const Topology& topology_;
  Question question_;
  Question searched_;  // the same, with covariances
  const PathSearch::Ask ask_;
  [[nodiscard]] bool is_plannable() const;

  std::optional<PathSearch> search_;
  std::shared_ptr<Judgement> judgement_;
  std::optional<FusionPlan> plan_;
  std::vector<bool> is_compared_;  // edges of the graph whose covariance matters
};

Failure Chooser::find() {
  const bool is_fusing = question_.context.policy == Policy::fuse;
  searched_ = question_;
  searched_.context.want_covariance = true;
  search_.emplace(topology_, searched_, options_.default_covariance, is_fusing ? PathSearch::Ask{} : ask_, options_.max_paths);
  Result<CandidateSet> found = search_->search();
  judgement_ = std::make_shared<Judgement>();
  judgement_->found = std::move(found.value);
  judgement_->has_answers = !is_fusing;
  return found.failure ? std::move(found.failure) : sort_out();
}

/// Paths with an answer, and those without. A failure where no path has one: that of the first by name.
Failure Chooser::sort_out() {
  Candidate* unconnected = nullptr;
  for (std::uint32_t i = 0; i < judgement_->found.paths.size(); ++i) {
    Candidate& path = judgement_->found.paths[i];
    if (!path.failure) {
      judgement_->answered.push_back(i);
    } else if (path.failure.kind() != FailureKind::not_connected) {
      judgement_->lost.push_back(i);
    } else if (unconnected == nullptr) {
      unconnected = &path;
    }
  }
  if (!judgement_->answered.empty()) return {};
  Candidate& first = judgement_->lost.empty() ? *unconnected : judgement_->found.paths[judgement_->lost[0]];
  return std::move(first.failure);
}

/// The newest instant that all paths cover, where they differ in their newest.
When Chooser::common_instant() const {
  Stamp least = Stamp::never(), most = Stamp::always();
  for (const std::uint32_t i : judgement_->answered) {
    const Stamp stamp = judgement_->found.paths[i].answer.stamp;
    if (stamp == Stamp::always()) continue;
    least = std::min(least, stamp);
    most = std::max(most, stamp);
  }
  return least < most ? When::exactly(least) : When::newest();
}

Failure Chooser::leave_out_unknown() {
  const CandidateSet& found = judgement_->found;
  for (const std::uint32_t i : judgement_->answered)
    (is_known(found, found.paths[i]) ? judgement_->used : judgement_->left_out).push_back(i);
  if (!judgement_->used.empty()) return {};
  Evidence unknown{.kind = FailureKind::unknown_covariance, .limit = judgement_->answered.size()};
  for (const std::uint32_t i : judgement_->left_out)
    for (const CandidateStep& step : found.paths[i].steps) {
      const CandidateEdge& edge = found.edges[step.edge];
      const bool is_named = std::ranges::find(unknown.relations, edge.relation) != unknown.relations.end();
      if (edge.certainty == Certainty::unknown && !is_named) unknown.relations.push_back(edge.relation);
    }
  return unknown;
}

std::uint32_t Chooser::newest() const {
  const auto age = [&](std::uint32_t i) {
    const PoseAnswer& answer = judgement_->found.paths[i].answer;
    return std::pair(answer.stamp, answer.oldest);
  };
  return *std::ranges::max_element(judgement_->answered, std::ranges::less{}, age);
}

std::uint32_t Chooser::surest() const {
  const auto trace = [&](std::uint32_t i) {
    const PoseAnswer& answer = judgement_->found.paths[i].answer;
    return answer.covariance ? answer.covariance->trace() : 0.0;
  };
  return *std::ranges::min_element(judgement_->used, std::ranges::less{}, trace);
}

Failure Chooser::choose() {
  if (Failure failure = find()) return failure;
  const Policy policy = question_.context.policy;
  if (policy == Policy::fuse && question_.at.latest) {
    if (const When common = common_instant(); !common.latest) {
      question_.at = common;
      if (Failure failure = find()) return failure;
    }
  }
  if (judgement_->answered.size() == 1 || policy == Policy::latest) {
    judgement_->used = {newest()};
    return {};
  }
  if (Failure failure = leave_out_unknown()) return failure;
  if (policy == Policy::most_certain) judgement_->used = {surest()};
  judgement_->is_fused = judgement_->used.size() > 1;
  return {};
}

Failure Chooser::fuse_used(PoseAnswer& out) {
  build_graph(*search_, question_, *judgement_);
  judgement_->fusion = fuse(judgement_->graph, judgement_->first, judgement_->last);
  Fusion& fusion = judgement_->fusion;
  if (fusion.is_too_large) return Evidence{.kind = FailureKind::too_many_paths, .limit = kMostFusionJunctions};
  out.transform = fusion.value;
  out.certainty = question_.context.want_covariance ? Certainty::exact : Certainty::unknown;
  if (question_.context.want_covariance &&
      std::ranges::any_of(fusion.covariance.values, [](double value) { return value != 0.0; })) {
    out.certainty = Certainty::known;
    out.covariance = std::make_unique<Covariance>(fusion.covariance);
  }
  for (const std::uint32_t i : judgement_->used) {
    const PoseAnswer& path = judgement_->found.paths[i].answer;
    out.stamp = std::max(out.stamp, path.stamp);
    out.newest = std::max(out.newest, path.newest);
    if (path.held) add_held(*path.held, out.held);
    out.predicted = out.predicted || path.predicted;
    out.integrated = out.integrated || path.integrated;
    out.body = path.body;
    out.reference_body = path.reference_body;
  }
  for (const std::uint32_t edge : edges_along_paths(*judgement_)) out.relations.push_back(judgement_->found.edges[edge].relation);
  return {};
}

/// Whether other instants differ in nothing but values and covariances.
bool Chooser::is_plannable() const {
  const auto is_plain = [](const FusionEdge& edge) { return edge.shared.empty() && edge.cluster == FusionEdge::kIndependent; };
  return judgement_->is_fused && question_.fixed_frame == kNone && judgement_->lost.empty() && judgement_->left_out.empty() &&
         std::ranges::all_of(judgement_->graph, is_plain);
}

std::optional<Transform> Chooser::fused_again(Stamp at) {
  if (!plan_) {
    if (!is_plannable()) return std::nullopt;
    plan_.emplace(judgement_->graph, judgement_->first, judgement_->last);
    is_compared_ = plan_->compared();
  }
  if (!search_->holds_at(at)) return std::nullopt;
  QueryContext context = question_.context;
  Evaluation value;
  for (std::size_t i = 0; i < judgement_->graph.size(); ++i) {
    const PathEdge& edge = search_->path_edges()[judgement_->edges[i]];
    const bool is_computed = edge.provider.kind == ProviderKind::sampled && edge.provider.series().rests_on_computed(at);
    if (edge.provider.kind == ProviderKind::fixed) continue;
    if (edge.provider.kind != ProviderKind::sampled || is_computed) return std::nullopt;
    context.want_covariance = is_compared_[i];
    const FailureKind kind = evaluate_edge(edge, nullptr, at, context, options_.default_covariance, value);
    const bool is_known = !is_compared_[i] || value.certainty == Certainty::known;
    if (kind != FailureKind::none || value.predicted || !is_known) return std::nullopt;
    judgement_->graph[i].value = value.value;
    if (is_compared_[i]) judgement_->graph[i].covariance = value.covariance;
  }
  return plan_->fuse(judgement_->graph, {.want_covariance = false}).value;
}

Failure Chooser::answer(PolicyAnswer& out) {
  out.judgement = judgement_;
  if (judgement_->is_fused) return fuse_used(out.pose);
  Question exact = question_;
  exact.at = used().at;
  exact.of_at = used().of_at;
  exact.context.selector = &used().sources;
  exact.context.policy = Policy::unique;
  Result<PoseAnswer> one = ask_(exact);
  one.value.newest = used().answer.newest;
  one.value.oldest = used().answer.oldest;
  out.pose = std::move(one.value);
  return std::move(one.failure);
}

}  // namespace

void complete_answers(Judgement& judgement) {
  complete_paths(judgement);
  for (const std::uint32_t i : judgement.answered) {
    Candidate& path = judgement.found.paths[i];
    Transform total;
    for (const auto& [number, is_downward] : path.steps) {
      const Transform& value = judgement.found.edges[number].value;
      total = is_downward ? between(value, total) : value * total;
    }
    path.answer.transform = total;
    path.answer.certainty = Certainty::unknown;
    if (!is_known(judgement.found, path)) continue;
    std::vector<FusionEdge> alone;
    for (std::size_t k = 0; k < judgement.graph.size(); ++k)
      if (std::ranges::find(path.steps, judgement.edges[k], &CandidateStep::edge) != path.steps.end())
        alone.push_back(judgement.graph[k]);
    path.answer.certainty = Certainty::known;
    path.answer.covariance = std::make_unique<Covariance>();
    if (alone.size() == path.steps.size()) {
      *path.answer.covariance = fuse(alone, judgement.first, judgement.last).covariance;
      continue;
    }
    const std::vector<Matrix6> jacobians = jacobians_of(judgement.found, path);
    for (std::size_t k = 0; k < jacobians.size(); ++k) {
      const CandidateEdge& edge = judgement.found.edges[path.steps[k].edge];
      if (edge.certainty == Certainty::known)
        *path.answer.covariance = *path.answer.covariance + propagated(edge.covariance, jacobians[k]);
    }
  }
  judgement.has_answers = true;
}

Result<PolicyAnswer> Forest::State::pose_by_policy(const Topology& now, const Question& question) const {
  Question plain = question;
  Result<PolicyAnswer> result;
  {
    Result<PoseAnswer> unique = pose_in(now, plain);
    result = {{std::move(unique.value), nullptr}, std::move(unique.failure)};
  }
  if (question.context.policy == Policy::unique || !is_contested_frame(result.failure)) return result;
  return contested_pose(now, question);
}

Result<PolicyAnswer> Forest::State::contested_pose(const Topology& now, const Question& question) const {
  Result<PolicyAnswer> result;
  if (question.context.policy == Policy::fuse && !question.at.latest) {
    ContestedPath path(now, options);
    if (path.find(question, question.at.at) && path.fuse(result.value)) return result;
  }
  Chooser chooser(options, now, question, [&](const Question& asked) { return pose_in(now, asked); });
  result.failure = chooser.choose();
  if (!result.failure) result.failure = chooser.answer(result.value);
  return result;
}

Result<std::vector<Transform>> Forest::State::contested_rows(const Topology& now, const Question& question,
                                                             std::span<const std::int64_t> stamps) const {
  Question first = question;
  first.at = When::exactly({stamps[0]});
  Chooser chooser(options, now, first, [&](const Question& asked) { return pose_in(now, asked); });
  PolicyAnswer answer;
  Result<std::vector<Transform>> result;
  result.failure = chooser.choose();
  if (!result.failure) result.failure = chooser.answer(answer);
  if (result.failure) return result;
  result.value.push_back(answer.pose.transform);
  for (const std::int64_t stamp : stamps.subspan(1)) {
    const std::optional<Transform> next = chooser.fused_again({stamp});
    if (!next) break;
    result.value.push_back(*next);
  }
  return result;
}

Result<PolicyAnswer> Forest::pose_by_policy(const Question& question) const {
  const Pin pin;
  const Topology& now = *state_->topology.load();
  Question complete = question;
  complete.context = state_->completed(question.context, now);
  return state_->pose_by_policy(now, complete);
}

// -- Motion

namespace {

/// The question for the poses that a motion is computed from.
Question poses_of(const TwistQuestion& question, FrameId of) {
  Question poses{.of = of, .in_frame = question.reference, .at = question.at, .context = question.context};
  poses.context.want_covariance = true;
  poses.context.selector = nullptr;
  return poses;
}

/// A frame of the body; all of them turn as it does.
FrameId frame_on(const Topology& topology, BodyId body) {
  for (FrameId id = 0; id < topology.frames(); ++id)
    if (topology.node(id).alive && topology.node(id).body == body) return id;
  return kNone;
}

bool share_a_relation(const std::vector<TwistAnswer>& twists) {
  for (std::size_t a = 0; a < twists.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (const RelationId id : twists[a].relations.ids())
        if (std::ranges::find(twists[b].relations.ids(), id) != twists[b].relations.ids().end()) return true;
  return false;
}

/// The measured twists of one motion, by several sources.
std::vector<const TwistLink*> rivals_of(const Topology& topology, RelationId twist) {
  std::vector<const TwistLink*> rivals;
  const BodyGraph& graph = *topology.bodies();
  for (FrameId id = 0; id < topology.frames() && rivals.empty(); ++id) {
    if (!topology.has(id)) continue;
    for (const std::uint32_t index : graph.links_at(topology.rigid_body(id))) {
      if (graph.link(index).relation != twist) continue;
      const TwistLink& first = *graph.between(graph.link(index).body, graph.link(index).reference);
      for (const TwistLink* link = &first; link->rivals(first); ++link) rivals.push_back(link);
    }
  }
  return rivals;
}

bool is_contested_motion(const Failure& failure) {
  return failure.kind() == FailureKind::ambiguous_path && failure->about_twist && failure->relation != kNone;
}

/// Answers a question about motion; where several sources measure one, by the policy.
class MeasuredByPolicy {
 public:
  MeasuredByPolicy(const Forest& forest, const Topology& topology, Policy policy)
      : forest_(forest), topology_(topology), policy_(policy) {}

  [[nodiscard]] Result<TwistAnswer> answer(const TwistQuestion& question) {
    Result<TwistAnswer> result = forest_.twist(question);
    constexpr std::size_t kMostChoices = 16;
    if (policy_ == Policy::unique || !is_contested_motion(result.failure) || chosen_.size() >= kMostChoices) return result;
    const std::vector<const TwistLink*> rivals = rivals_of(topology_, result.failure->relation);
    TwistQuestion asked = question;
    asked.context.measured_by = &chosen_;
    if (policy_ == Policy::latest) {
      const auto newest = [&](const TwistLink* link) {
        const Row row = question.at.latest ? link->series->last_row() : link->series->bracket(question.at.at).before;
        return row ? row.stamp_ns() : Stamp::always().ns;
      };
      return with(**std::ranges::max_element(rivals, {}, newest), asked);
    }
    asked.context.want_covariance = true;
    if (policy_ == Policy::fuse && question.at.latest) asked.at = When::exactly(common_end(rivals));
    return of_all(rivals, asked, std::move(result));
  }

 private:
  [[nodiscard]] Result<TwistAnswer> with(const TwistLink& link, const TwistQuestion& asked) {
    chosen_.push_back(link.relation);
    Result<TwistAnswer> result = answer(asked);
    chosen_.pop_back();
    return result;
  }

  static Stamp common_end(const std::vector<const TwistLink*>& rivals) {
    Stamp end = Stamp::never();
    for (const TwistLink* link : rivals)
      if (!link->series->empty()) end = std::min(end, link->series->newest());
    return end;
  }

  [[nodiscard]] Result<TwistAnswer> of_all(const std::vector<const TwistLink*>& rivals, const TwistQuestion& asked,
                                           Result<TwistAnswer> contested) {
    std::vector<TwistAnswer> known;
    Evidence unknown{.kind = FailureKind::unknown_covariance};
    for (const TwistLink* link : rivals) {
      Result<TwistAnswer> one = with(*link, asked);
      if (!one) continue;
      if (one.value.certainty != Certainty::unknown) {
        known.push_back(std::move(one.value));
      } else {
        unknown.relations.push_back(link->relation);
      }
    }
    if (known.empty() && unknown.relations.empty()) return contested;
    unknown.limit = rivals.size();
    if (known.empty()) return {{}, unknown};
    const auto trace = [](const TwistAnswer& one) { return one.covariance == nullptr ? 0.0 : one.covariance->trace(); };
    if (policy_ == Policy::most_certain || known.size() == 1) return {std::move(*std::ranges::min_element(known, {}, trace)), {}};
    const bool are_correlated = share_a_relation(known);
    return {fused_twist(std::move(known), are_correlated), {}};
  }

  const Forest& forest_;
  const Topology& topology_;
  const Policy policy_;
  std::vector<RelationId> chosen_;
};

}  // namespace

Result<TwistAnswer> Forest::twist_by_policy(const TwistQuestion& question) const {
  TwistQuestion plain = question;
  plain.context.policy = Policy::unique;
  Result<TwistAnswer> result = twist(plain);
  const bool is_contested = is_contested_frame(result.failure) || is_contested_motion(result.failure);
  if (question.context.policy == Policy::unique || !is_contested) return result;
  const Pin pin;
  const Topology& now = *state_->topology.load();
  MeasuredByPolicy measured(*this, now, question.context.policy);
  if (is_contested_motion(result.failure)) {
    result = measured.answer(plain);
    if (!is_contested_frame(result.failure)) return result;
  }
  TwistQuestion asked = question;
  asked.context = state_->completed(question.context, now);
  if (asked.reference == kNone) asked.reference = frame_on(now, asked.relative_to);
  if (asked.reference == kNone || !now.has(asked.of) || !now.has(asked.reference)) return result;
  const auto ask = [&](const Question& pose) { return state_->pose_in(now, pose); };
  Chooser chooser(state_->options, now, poses_of(asked, asked.of), ask);
  if (Failure failure = chooser.choose()) return {{}, std::move(failure)};
  ChosenSources others;  // for axes and points: where paths are fused, the first
  for (const FrameId other : {asked.expressed_in, asked.point}) {
    if (other == kNone) continue;
    Chooser along(state_->options, now, poses_of(asked, other), ask);
    if (Failure failure = along.choose()) return {{}, std::move(failure)};
    others = others.joined(along.used().sources);
  }
  std::vector<TwistAnswer> twists;
  Evidence unknown{.kind = FailureKind::unknown_covariance};
  const bool is_fused = chooser.judgement().is_fused;
  if (is_fused && plain.at.latest && !chooser.used().at.latest) plain.at = chooser.used().at;
  for (std::size_t i = 0; i < chooser.judgement().used.size(); ++i) {
    const ChosenSources sources = chooser.used(i).sources.joined(others);
    plain.context.selector = &sources;
    plain.context.want_covariance = is_fused || question.context.want_covariance;
    result = measured.answer(plain);
    if (!result || !is_fused) return result;
    if (result.value.certainty == Certainty::unknown) {
      for (const RelationId id : result.value.relations.ids()) unknown.relations.push_back(id);
    } else {
      twists.push_back(std::move(result.value));
    }
  }
  unknown.limit = chooser.judgement().used.size();
  if (twists.empty()) return {{}, unknown};
  if (twists.size() == 1) return {std::move(twists[0]), {}};
  const bool are_correlated = share_a_relation(twists);
  return {fused_twist(std::move(twists), are_correlated), {}};
}

}  // namespace armillary
