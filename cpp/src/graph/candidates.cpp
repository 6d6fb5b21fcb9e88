// Every path between two frames, where sources disagree on the way.

#include "armillary/graph/candidates.hpp"

#include <algorithm>

#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"
#include "graph/path_search.hpp"

namespace armillary {

bool ChosenSources::names(FrameId frame) const {
  return std::ranges::any_of(chosen_, [frame](const auto& choice) { return choice.first == frame; });
}

ChosenSources ChosenSources::joined(const ChosenSources& other) const {
  ChosenSources both = *this;
  both.chosen_.insert(both.chosen_.end(), other.chosen_.begin(), other.chosen_.end());
  return both;
}

std::uint32_t ChosenSources::choose(FrameId frame, const std::vector<const Track*>& open, Stamp) const {
  for (const auto& [contested, source] : chosen_) {
    if (contested != frame) continue;
    const auto track = std::ranges::find(open, source, &Track::source);
    if (track != open.end()) return static_cast<std::uint32_t>(track - open.begin());
  }
  return kNone;
}

bool is_contested_frame(const Failure& failure) {
  return failure.kind() == FailureKind::ambiguous_path && failure->of != kNone && failure->joint.empty() && !failure->about_twist;
}

std::vector<const Track*> candidate_tracks(const Topology& topology, FrameId frame, Stamp at) {
  Selection selection;
  selection.choose(*topology.node(frame).tracks, at, topology.rival_timeout());
  return {selection.tracks().begin(), selection.tracks().end()};
}

std::vector<Matrix6> jacobians_of(const CandidateSet& set, const Candidate& path) {
  std::vector<Matrix6> jacobians;
  Transform behind;
  for (const auto& [number, is_downward] : path.steps) {
    const Transform& value = set.edges[number].value;
    Matrix6& jacobian = jacobians.emplace_back(adjoint(is_downward ? behind.inverse() * value : behind.inverse()));
    if (is_downward) std::ranges::transform(jacobian, jacobian.begin(), std::negate{});
    behind = is_downward ? between(value, behind) : value * behind;
  }
  return jacobians;
}

namespace {

Stamp newest_datum(const PathEdge& edge, const Bracket& bracket, Stamp at) {
  if (edge.provider.kind == ProviderKind::driven) return std::min(edge.provider.driven().coverage().last, at);
  if (edge.provider.kind != ProviderKind::sampled) return Stamp::always();
  const Row used = bracket.before ? bracket.before : edge.provider.series().first_row();
  return used ? Stamp{used.stamp_ns()} : Stamp::always();
}

constexpr std::size_t kFewRivals = 3;  // more make room as they are found

/// The instant that names an error: a fixed pose has one at all times.
Stamp named_instant(const PathEdge& edge, Stamp at) { return edge.provider.kind == ProviderKind::fixed ? Stamp::always() : at; }

bool same_path(const Candidate& a, const Candidate& b) {
  const auto same_step = [](const CandidateStep& x, const CandidateStep& y) { return x.edge == y.edge; };
  return a.failure.kind() == b.failure.kind() && std::ranges::equal(a.steps, b.steps, same_step);
}

}  // namespace

void add_held(const HeldSamples& held, std::unique_ptr<HeldSamples>& to) {
  if (held.empty()) return;
  if (!to) to = std::make_unique<HeldSamples>();
  for (const HeldSample& sample : held)
    if (std::ranges::find(*to, sample) == to->end()) to->push_back(sample);
}

void evaluate_candidate(const Topology& topology, const PathEdge& edge, Stamp at, const QueryContext& context,
                        const std::optional<Covariance>& fallback, CandidateEdge& out) {
  out.relation = edge.relation;
  out.provider = edge.provider.pointer;
  out.child = edge.child;
  out.at = named_instant(edge, at);
  Evaluation value;
  const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
  const Bracket bracket = is_sampled ? edge.provider.series().bracket(at) : Bracket{};
  QueryContext noting = context;
  noting.held = &out.held;
  out.failure = evaluate_edge(edge, is_sampled ? &bracket : nullptr, at, noting, fallback, value);
  if (out.failure != FailureKind::none) return;
  out.sampled_at = newest_datum(edge, bracket, at);
  out.value = value.value;
  out.certainty = value.certainty;
  if (value.certainty == Certainty::known) out.covariance = value.covariance;
  const bool is_computed = is_sampled && edge.provider.series().rests_on_computed(at);
  out.is_derived = value.predicted || is_computed;
  out.predicted = value.predicted;
  out.integrated = value.integrated || (topology.bodies() != nullptr && is_computed);
}

void summarize(const CandidateSet& found, const Question& question, Candidate& candidate) {
  PoseAnswer& answer = candidate.answer;
  bool is_timeless[2] = {true, true};
  for (const CandidateStep& step : candidate.steps) {
    const CandidateEdge& edge = found.edges[step.edge];
    const bool is_fixed = edge.at == Stamp::always();
    is_timeless[edge.segment] = is_timeless[edge.segment] && is_fixed;
    add_held(edge.held, answer.held);
    answer.predicted = answer.predicted || edge.predicted;
    answer.integrated = answer.integrated || edge.integrated;
    answer.relations.push_back(edge.relation);
    if (edge.sampled_at == Stamp::always()) continue;
    answer.newest = std::max(answer.newest, edge.sampled_at);
    answer.oldest = answer.oldest == Stamp::always() ? edge.sampled_at : std::min(answer.oldest, edge.sampled_at);
  }
  const bool is_fixed = is_timeless[0] && is_timeless[1];
  if (is_fixed) {
    answer.stamp = Stamp::always();
  } else if (question.fixed_frame == kNone || !question.at.latest || !is_timeless[1]) {
    answer.stamp = candidate.at.at;
  } else {
    answer.stamp = candidate.of_at.at;
  }
}

Result<CandidateSet> PathSearch::search() {
  explore();
  Result<CandidateSet> result;
  if (ends_ > max_paths_) result.failure = Evidence{.kind = FailureKind::too_many_paths, .limit = max_paths_};
  std::ranges::stable_sort(found_.paths, [this](const Candidate& a, const Candidate& b) { return is_before(a, b); });
  const auto is_unreceived = [](const Candidate& path) { return path.failure.kind() == FailureKind::not_received; };
  if (const auto path = std::ranges::find_if(found_.paths, is_unreceived); path != found_.paths.end() && !result.failure)
    result.failure = std::move(path->failure);
  result.value = std::move(found_);
  return result;
}

void PathSearch::explore() {
  Candidate candidate;
  candidate.sources = chosen_;
  Failure failure = walk(candidate);
  if (is_contested_frame(failure)) return branch(failure->of, failure->requested);
  if (++ends_ > max_paths_) return;
  candidate.failure = std::move(failure);
  const auto is_same = [&](const Candidate& other) { return same_path(candidate, other); };
  if (std::ranges::none_of(found_.paths, is_same)) found_.paths.push_back(std::move(candidate));
}

/// Two sources at every choice: as many choices in a row have more ends than that.
void PathSearch::branch(FrameId frame, Stamp at) {
  if (chosen_.size() >= max_paths_) ends_ = max_paths_ + 1;
  for (const Track* track : candidate_tracks(topology_, frame, at)) {
    if (ends_ > max_paths_) return;
    chosen_.believe(frame, track->source);
    explore();
    chosen_.forget_last();
  }
}

Failure PathSearch::walk(Candidate& candidate) {
  Question exact = question_;
  exact.context.selector = &candidate.sources;
  const bool is_direct = exact.fixed_frame == kNone;
  if (!is_direct)
    if (Failure failure = add_segment(0, exact.of, exact.fixed_frame, exact.of_at, exact.context, candidate)) return failure;
  const FrameId from = is_direct ? exact.of : exact.fixed_frame;
  if (Failure failure = add_segment(is_direct ? 0 : 1, from, exact.in_frame, exact.at, exact.context, candidate)) return failure;
  candidate.at = exact.at;
  candidate.of_at = exact.of_at;
  summarize(found_, question_, candidate);
  candidate.answer.body = topology_.node(question_.of).body;
  candidate.answer.reference_body = topology_.node(question_.in_frame).body;
  if (!ask_) return {};
  Result<PoseAnswer> answered = ask_(exact);
  answered.value.newest = candidate.answer.newest;
  answered.value.oldest = candidate.answer.oldest;
  candidate.answer = std::move(answered.value);
  return std::move(answered.failure);
}

/// Replaces LATEST by its instant, so that all that follows is about one instant.
Failure PathSearch::add_segment(std::uint8_t number, FrameId of, FrameId in_frame, When& when, const QueryContext& context,
                                Candidate& candidate) {
  Scratch& scratch = Scratch::of_this_thread();
  RelationId limiting = kNone;
  Stamp at = when.latest ? Stamp::never() : when.at;
  Failure failure = when.latest ? resolve_latest(topology_, of, in_frame, context, scratch, path_, at, limiting)
                                : scratch.finder.find(topology_, of, in_frame, at, context, path_);
  if (!failure && when.latest && at == Stamp::never()) {
    at = newest_datum(path_);
    if (!path_.holds_at(at)) failure = scratch.finder.find(topology_, of, in_frame, at, context, path_);
  }
  valid_from_ = std::max(valid_from_, path_.valid_from);
  valid_to_ = std::min(valid_to_, path_.valid_to);
  if (is_contested_frame(failure)) return failure;
  const std::size_t passed = path_.up.size() + path_.down.size();
  candidate.steps.reserve(candidate.steps.size() + passed);
  if (found_.edges.empty()) {
    found_.edges.reserve(passed + kFewRivals);
    path_edges_.reserve(passed + kFewRivals);
  }
  const PathEdge* failed = nullptr;
  FailureKind kind = FailureKind::none;
  const auto pass = [&](const PathEdge& edge, bool is_downward) {
    const std::uint32_t index = add_edge(edge, number, at, context);
    candidate.steps.push_back({index, is_downward});
    return found_.edges[index].failure;
  };
  for (const PathEdge& edge : path_.up)
    if (const FailureKind found = pass(edge, false); found != FailureKind::none && failed == nullptr)
      failed = &edge, kind = found;
  const bool has_failed = failed != nullptr;
  for (auto edge = path_.down.rbegin(); edge != path_.down.rend(); ++edge)
    if (const FailureKind found = pass(*edge, true); found != FailureKind::none && !has_failed) failed = &*edge, kind = found;
  if (!failure && failed != nullptr) failure = edge_failure(kind, *failed, at, context);
  if (failure && when.latest) blame_latest(limiting, failure);
  if (when.latest && at != Stamp::never()) when = When::exactly(at);
  return failure;
}

std::uint32_t PathSearch::add_edge(const PathEdge& edge, std::uint8_t segment, Stamp at, const QueryContext& context) {
  const Stamp named_at = named_instant(edge, at);
  for (std::uint32_t i = 0; i < found_.edges.size(); ++i) {
    const CandidateEdge& known = found_.edges[i];
    if (known.relation == edge.relation && known.at == named_at && known.segment == segment &&
        known.provider == edge.provider.pointer)
      return i;
  }
  const auto index = static_cast<std::uint32_t>(found_.edges.size());
  path_edges_.push_back(edge);
  CandidateEdge& added = found_.edges.emplace_back();
  added.segment = segment;
  added.is_contested = chosen_.names(edge.child);
  place_edge(edge, added);
  evaluate_candidate(topology_, edge, at, context, fallback_, added);
  return index;
}

/// Its two frames, and which of the sources of the frame it is.
void PathSearch::place_edge(const PathEdge& edge, CandidateEdge& out) const {
  const FrameNode& node = topology_.node(edge.child);
  out.parent = node.parent;
  if (node.tracks == nullptr) return;
  const std::vector<Track>& tracks = node.tracks->tracks;
  for (std::uint32_t i = 0; i < tracks.size(); ++i)
    for (const Run& run : tracks[i].runs())
      if (run.relation == edge.relation) {
        out.parent = run.parent;
        out.rank = i;
        return;
      }
}

/// By the names of relations: of, in_frame, source.
bool PathSearch::is_edge_before(const CandidateEdge& a, const CandidateEdge& b) const {
  const auto name = [this](FrameId id) { return id == kNone ? std::string_view() : std::string_view(*topology_.node(id).name); };
  if (a.relation == b.relation) return a.at < b.at;
  if (a.child != b.child) return name(a.child) < name(b.child);
  if (a.parent != b.parent) return name(a.parent) < name(b.parent);
  return a.rank < b.rank;
}

bool PathSearch::is_before(const Candidate& a, const Candidate& b) const {
  const auto is_smaller = [&](const CandidateStep& x, const CandidateStep& y) {
    return x.edge != y.edge && is_edge_before(found_.edges[x.edge], found_.edges[y.edge]);
  };
  return std::ranges::lexicographical_compare(a.steps, b.steps, is_smaller);
}

Result<CandidateSet> Forest::candidates(const Question& question, std::size_t max_paths) const {
  const Pin pin;
  const Topology& now = *state_->topology.load();
  Question complete = question;
  complete.context = state_->completed(question.context, now);
  if (Failure unknown = check_frames(now, question)) return {.failure = std::move(unknown)};
  const auto ask = [&](const Question& asked) { return state_->pose_in(now, asked); };
  return PathSearch(now, complete, state_->options.default_covariance, ask, max_paths).search();
}

}  // namespace armillary
