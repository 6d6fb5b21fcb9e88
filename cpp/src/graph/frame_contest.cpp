#include "graph/frame_contest.hpp"

#include <algorithm>
#include <cmath>

#include "armillary/series/pose_row.hpp"
#include "graph/fusing.hpp"
#include "graph/path_search.hpp"
#include "math/fusion_floor.hpp"
#include "math/pair_sum.hpp"
#include "math/tangents.hpp"

namespace armillary {

namespace {

bool has_constant_pose(const PathEdge& edge) { return edge.provider.kind == ProviderKind::fixed; }

/// Whether its error is its own: not driven by joints that others share.
bool is_simple(const PathEdge& edge) {
  return (has_constant_pose(edge) || edge.provider.kind == ProviderKind::sampled) && edge.opens == Stamp::always();
}

bool has_covariance(const Row& row) { return row.side != nullptr && !std::isnan(row.side[0]); }

/// The product of edges from the left, and the covariance of their errors in the tangent of its end.
struct UncertainProduct {
  Transform value{};
  Symmetric6 covariance{};
  bool is_exact = true;

  /// parent_T_child, passed towards the child.
  void add(const Transform& step, const Symmetric6* error) {
    carry(step);
    if (error != nullptr) add_error(*error);
  }
  /// parent_T_child, passed towards the parent.
  void add_inverse(const Transform& edge, const Symmetric6* error) {
    carry(edge.inverse());
    if (error != nullptr) add_error(propagated(*error, upper_adjoint(edge)));
  }

 private:
  void carry(const Transform& step) {
    value = value * step;
    if (!is_exact) covariance = propagated(covariance, upper_adjoint(step.inverse()));
  }
  void add_error(const Symmetric6& error) {
    covariance = is_exact ? error : sum(covariance, error);
    is_exact = false;
  }
};

}  // namespace

/// Takes the first source everywhere, and notes which frames are contested by which.
class ContestedPath::FirstSource final : public Selector {
 public:
  explicit FirstSource(Memory& memory) : memory_(memory) { memory.contested.clear(); }

  [[nodiscard]] std::uint32_t choose(FrameId frame, const std::vector<const Track*>& open, Stamp) const override {
    if (has(frame)) return 0;
    for (const Track* track : open) memory_.contested.emplace_back(frame, track);
    return 0;
  }
  [[nodiscard]] bool has(FrameId frame) const {
    return std::ranges::any_of(memory_.contested, [frame](const auto& one) { return one.first == frame; });
  }

 private:
  Memory& memory_;
};

bool ContestedPath::find(const Question& question, Stamp at) {
  const bool is_plain = question.fixed_frame == kNone && question.context.outside != Outside::predict;
  if (!is_plain || question.context.selector != nullptr) return false;
  question_ = question;
  at_ = at;
  const FirstSource first(memory_);
  QueryContext context = question.context;
  context.selector = &first;
  Scratch& scratch = Scratch::of_this_thread();
  if (scratch.finder.find(topology_, question.of, question.in_frame, at, context, path_)) return false;
  FrameId contested = kNone;
  for (std::size_t i = 0; i < length(); ++i) {
    const PathEdge& edge = step(i);
    if (!is_simple(edge) || topology_.node(edge.child).may_be_on_cycle) return false;
    if (!first.has(edge.child)) continue;
    if (contested != kNone) return false;
    contested = edge.child;
    place_ = i;
  }
  return contested != kNone && list_rivals(contested);
}

/// False where they do not place the frame in the same parent.
bool ContestedPath::list_rivals(FrameId contested) {
  rivals_.clear();
  memory_.sources.clear();
  memory_.brackets.assign(length(), {});
  for (const auto& [frame, track] : memory_.contested) {
    if (frame != contested) continue;
    const Run* run = track->run_at(at_);
    if (run == nullptr || run->is_closed()) return false;
    if (rivals_.empty()) parent_ = run->parent;
    rivals_.push_back({contested, run->relation, run->provider});
    memory_.sources.push_back(track->source);
    if (run->parent != parent_ || !is_simple(rivals_.back())) return false;
  }
  return true;
}

FrameId ContestedPath::parent_of(const PathEdge& edge) const {
  const FrameNode& node = topology_.node(edge.child);
  if (node.tracks == nullptr) return node.parent;
  for (const Track& track : node.tracks->tracks)
    if (const Run* run = track.run_at(at_); run != nullptr && run->relation == edge.relation) return run->parent;
  return kNone;
}

/// False where it has no answer, or its error is unknown or not independent of others.
bool ContestedPath::add_edge(const PathEdge& edge, FrameId parent, Judgement& judgement) const {
  CandidateEdge& added = judgement.found.edges.emplace_back();
  QueryContext context = question_.context;
  context.want_covariance = true;
  evaluate_candidate(topology_, edge, at_, context, options_.default_covariance, added);
  added.parent = parent;
  return added.failure == FailureKind::none && added.certainty != Certainty::unknown && !added.is_derived && parent != kNone;
}

bool ContestedPath::fuse(PolicyAnswer& out) {
  auto judgement = std::make_shared<Judgement>();
  judgement->found.edges.reserve(length() + rivals_.size() - 1);
  for (std::size_t i = 0; i < length(); ++i)
    if (!add_edge(step(i), i == place_ ? parent_ : parent_of(step(i)), *judgement)) return false;
  for (std::size_t k = 1; k < rivals_.size(); ++k)
    if (!add_edge(rivals_[k], parent_, *judgement)) return false;
  poses_.clear();
  for (std::size_t k = 0; k < rivals_.size(); ++k) {
    CandidateEdge& rival = judgement->found.edges[k == 0 ? place_ : length() + k - 1];
    rival.is_contested = true;
    rival.rank = static_cast<std::uint32_t>(k);
    if (rival.certainty != Certainty::known) return false;
    std::optional<ParallelPose> pose = ParallelPose::of(rival.value, rival.covariance);
    if (!pose) return false;
    poses_.push_back(*pose);
  }
  const std::optional<ParallelEstimate> estimate = fuse_parallel(poses_, question_.context.want_covariance);
  if (!estimate) return false;
  add_product(*judgement, *estimate, judgement->fusion);
  PoseAnswer& answer = out.pose;
  answer.transform = judgement->fusion.value;
  answer.certainty = Certainty::unknown;
  if (question_.context.want_covariance) {
    answer.certainty = Certainty::known;
    answer.covariance = std::make_unique<Covariance>(judgement->fusion.covariance);
  }
  answer.relations.reserve(judgement->found.edges.size());
  for (const CandidateEdge& edge : judgement->found.edges) {
    answer.relations.push_back(edge.relation);
    add_held(edge.held, answer.held);
    answer.newest = std::max(answer.newest, edge.sampled_at);
    if (edge.at != Stamp::always()) answer.stamp = at_;
  }
  answer.body = topology_.node(question_.of).body;
  answer.reference_body = topology_.node(question_.in_frame).body;
  judgement->is_fused = true;
  judgement->has_answers = false;
  judgement->contest = std::make_unique<FrameContest>(FrameContest{
      question_.of, question_.in_frame, at_, static_cast<std::uint32_t>(place_), static_cast<std::uint32_t>(length()),
      static_cast<std::uint32_t>(path_.up.size()), memory_.sources, answer.body, answer.reference_body});
  out.judgement = std::move(judgement);
  return true;
}

/// With the floor as it is in the frame whose name comes first, so that the inverse question has the inverse answer.
Symmetric6 ContestedPath::floored(const Symmetric6& covariance, const Transform& value) const {
  if (*topology_.node(question_.in_frame).name < *topology_.node(question_.of).name) return with_floor(covariance, value);
  const Transform back = value.inverse();
  return propagated(with_floor(propagated(covariance, upper_adjoint(value)), back), upper_adjoint(back));
}

/// The product from `in_frame` to `of`, with the estimate in place of the contested edge.
void ContestedPath::add_product(const Judgement& judgement, const ParallelEstimate& estimate, Fusion& out) const {
  UncertainProduct product;
  const bool with_errors = question_.context.want_covariance;
  for (std::size_t i = length(); i-- > 0;) {
    const CandidateEdge& edge = judgement.found.edges[i];
    if (i == place_ && is_downward(i)) {
      const Transform back = estimate.value.inverse();
      const Symmetric6 error = propagated(estimate.covariance, upper_adjoint(estimate.value));
      product.add(back, with_errors ? &error : nullptr);
    } else if (i == place_) {
      product.add(estimate.value, with_errors ? &estimate.covariance : nullptr);
    } else {
      const bool is_uncertain = with_errors && edge.certainty == Certainty::known;
      const Symmetric6 error = is_uncertain ? Symmetric6::of(edge.covariance) : Symmetric6{};
      if (is_downward(i))
        product.add_inverse(edge.value, is_uncertain ? &error : nullptr);
      else
        product.add(edge.value, is_uncertain ? &error : nullptr);
    }
  }
  out.value = product.value;
  out.value.rotation = out.value.rotation.normalized();
  if (with_errors) out.covariance = floored(product.covariance, out.value).covariance();
  const Matrix3& turn = product.covariance.rr;
  out.is_beyond_first_order = estimate.is_beyond_first_order || std::max({turn[0], turn[4], turn[8]}) > 1.0;
}

// -- Many instants

const Bracket& ContestedPath::bracket_of(std::size_t i, Stamp at) {
  Bracket& bracket = memory_.brackets[i];
  const bool is_same = bracket.before && bracket.after && bracket.before.stamp_ns() <= at.ns && at.ns < bracket.after.stamp_ns();
  if (!is_same) bracket = step(i).provider.series().bracket(at);
  return bracket;
}

/// Whether what all candidates share has a value whose covariance is known.
bool ContestedPath::is_known_at(Stamp at) {
  for (std::size_t i = 0; i < length(); ++i) {
    const PathEdge& edge = step(i);
    if (i == place_) continue;
    if (has_constant_pose(edge)) {
      if (edge.provider.fixed().certainty == Certainty::unknown) return false;
      continue;
    }
    const auto& [before, after, is_cut] = bracket_of(i, at);
    const bool is_exact_hit = before && before.stamp_ns() == at.ns;
    if (!before || (!after && !is_exact_hit) || edge.provider.series().rests_on_computed(at)) return false;
    const bool has_rows = has_covariance(before) && (is_exact_hit || has_covariance(after));
    if (!has_rows && !options_.default_covariance) return false;
  }
  return true;
}

std::optional<Transform> ContestedPath::edge_at(Stamp at) {
  switch (question_.context.policy) {
    case Policy::fuse:
      return fused_at(at);
    case Policy::latest:
      return newest_at(at);
    case Policy::most_certain:
      return surest_at(at);
    case Policy::unique:
      break;
  }
  return std::nullopt;
}

std::optional<Transform> ContestedPath::fused_at(Stamp at) {
  if (!is_known_at(at)) return std::nullopt;
  QueryContext context = question_.context;
  context.want_covariance = true;
  poses_.clear();
  Evaluation value;
  for (const PathEdge& rival : rivals_) {
    const bool is_computed = !has_constant_pose(rival) && rival.provider.series().rests_on_computed(at);
    const FailureKind kind = evaluate_edge(rival, nullptr, at, context, options_.default_covariance, value);
    if (is_computed || kind != FailureKind::none || value.certainty != Certainty::known) return std::nullopt;
    const std::optional<ParallelPose> pose = ParallelPose::of(value.value, value.covariance);
    if (!pose) return std::nullopt;
    poses_.push_back(*pose);
  }
  const std::optional<ParallelEstimate> estimate = fuse_parallel(poses_, false);
  return estimate ? std::optional(estimate->value) : std::nullopt;
}

/// The source whose path rests on the newest data: the oldest datum of each counts, of equals the first by name.
std::optional<Transform> ContestedPath::newest_at(Stamp at) {
  Stamp shared = Stamp::never();  // the oldest datum of what they share
  bool is_timeless = true;
  for (std::size_t i = 0; i < length(); ++i) {
    if (i == place_ || has_constant_pose(step(i))) continue;
    const auto& [before, after, is_cut] = bracket_of(i, at);
    if (!before || (!after && before.stamp_ns() != at.ns)) return std::nullopt;
    shared = std::min(shared, Stamp{before.stamp_ns()});
    is_timeless = false;
  }
  QueryContext context = question_.context;
  context.want_covariance = false;
  std::optional<Transform> best;
  std::pair<Stamp, Stamp> newest;
  Evaluation value;
  for (const PathEdge& rival : rivals_) {
    const Bracket bracket = has_constant_pose(rival) ? Bracket{} : rival.provider.series().bracket(at);
    if (!has_constant_pose(rival) && !bracket.before) return std::nullopt;
    const FailureKind kind =
        evaluate_edge(rival, has_constant_pose(rival) ? nullptr : &bracket, at, context, options_.default_covariance, value);
    if (kind != FailureKind::none) return std::nullopt;
    const Stamp oldest = has_constant_pose(rival) ? shared : std::min(shared, Stamp{bracket.before.stamp_ns()});
    const bool is_always = is_timeless && has_constant_pose(rival);
    const std::pair<Stamp, Stamp> age{is_always ? Stamp::always() : at, oldest == Stamp::never() ? Stamp::always() : oldest};
    if (best && !(newest < age)) continue;
    best = value.value;
    newest = age;
  }
  return best;
}

/// The errors of what all candidates share before the contested edge, in the tangent of the frame where that begins. False where
/// one is unknown.
bool ContestedPath::add_errors_before(Stamp at, const QueryContext& context, Symmetric6& total) {
  PairSum rows;
  Transform behind;
  Evaluation value;
  for (std::size_t i = place_ + 1; i < length(); ++i) {
    const PathEdge& edge = step(i);
    const Bracket bracket = has_constant_pose(edge) ? Bracket{} : bracket_of(i, at);
    const auto& [before, after, is_cut] = bracket;
    const bool is_between = before && after && before.stamp_ns() != at.ns && !edge.provider.is_step();
    if (is_between && has_covariance(before) && has_covariance(after)) {
      value.value = interpolate_rows(before, after, at.ns, interpolation_of(edge, context));
      const double u = fraction(before, after, at.ns);
      rows.add({before.values(), before.side, 1.0 - u}, {after.values(), after.side, u},
               is_downward(i) ? behind : value.value * behind);
    } else {
      const FailureKind kind =
          evaluate_edge(edge, has_constant_pose(edge) ? nullptr : &bracket, at, context, options_.default_covariance, value);
      if (kind != FailureKind::none || value.certainty == Certainty::unknown) return false;
      const Transform to_end = is_downward(i) ? between(behind, value.value) : behind.inverse();
      if (value.certainty == Certainty::known)
        total = sum(total, propagated(Symmetric6::of(value.covariance), upper_adjoint(to_end)));
    }
    behind = is_downward(i) ? between(value.value, behind) : value.value * behind;
  }
  total = sum(total, rows.total());
  return true;
}

/// The source whose path has the smallest trace of its covariance, of equals the first by name. What is behind the contested
/// edge adds the same to all.
std::optional<Transform> ContestedPath::surest_at(Stamp at) {
  QueryContext context = question_.context;
  context.want_covariance = true;
  Symmetric6 before{};
  if (!add_errors_before(at, context, before)) return std::nullopt;
  Evaluation value;
  Transform behind;
  for (std::size_t i = 0; i < place_; ++i) {
    const FailureKind kind = evaluate_edge(step(i), nullptr, at, context, options_.default_covariance, value);
    if (kind != FailureKind::none || value.certainty == Certainty::unknown) return std::nullopt;
    behind = is_downward(i) ? between(value.value, behind) : value.value * behind;
  }
  std::optional<Transform> surest;
  double least = 0.0;
  for (const PathEdge& rival : rivals_) {
    const FailureKind kind = evaluate_edge(rival, nullptr, at, context, options_.default_covariance, value);
    if (kind != FailureKind::none || value.certainty == Certainty::unknown) return std::nullopt;
    const Transform passed = is_downward(place_) ? value.value.inverse() : value.value;
    const Symmetric6 own = value.certainty == Certainty::known ? Symmetric6::of(value.covariance) : Symmetric6{};
    const Symmetric6 error = is_downward(place_) ? propagated(own, upper_adjoint(value.value)) : own;
    const Symmetric6 whole = sum(propagated(before, upper_adjoint(passed.inverse())), error);
    const double trace = trace_of(place_ == 0 ? whole : propagated(whole, upper_adjoint(behind.inverse())));
    if (surest && !(trace < least)) continue;
    surest = value.value;
    least = trace;
  }
  return surest;
}

// -- The paths, once somebody asks for them

/// Makes the candidate paths of a contest from its edges.
static void list_paths(Judgement& judgement) {
  const std::unique_ptr<FrameContest> contest = std::move(judgement.contest);
  const Question question{.of = contest->of, .in_frame = contest->in_frame, .at = When::exactly(contest->at)};
  const FrameId frame = judgement.found.edges[contest->place].child;
  for (std::uint32_t k = 0; k < contest->sources.size(); ++k) {
    Candidate& path = judgement.found.paths.emplace_back();
    path.sources.believe(frame, contest->sources[k]);
    path.at = question.at;
    for (std::uint32_t i = 0; i < contest->length; ++i)
      path.steps.push_back({i == contest->place && k > 0 ? contest->length + k - 1 : i, i >= contest->up});
    summarize(judgement.found, question, path);
    path.answer.body = contest->body;
    path.answer.reference_body = contest->reference_body;
    judgement.answered.push_back(k);
    judgement.used.push_back(k);
  }
  list_graph(question, judgement);
}

void complete_paths(Judgement& judgement) {
  if (judgement.contest) list_paths(judgement);
}

}  // namespace armillary
