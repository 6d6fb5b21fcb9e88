// Every path between two frames, where sources disagree on the way.

#include "armillary/graph/candidates.hpp"

#include <algorithm>
#include <functional>

#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"

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

namespace {

using Ask = std::function<Result<PoseAnswer>(const Question&)>;

Stamp newest_datum(const PathEdge& edge, Stamp at) {
  if (edge.provider.kind == ProviderKind::driven) return std::min(edge.provider.driven().coverage().last, at);
  if (edge.provider.kind != ProviderKind::sampled) return Stamp::always();
  const Series& series = edge.provider.series();
  const Row before = series.bracket(at).before;
  const Row used = before ? before : series.first_row();
  return used ? Stamp{used.stamp_ns()} : Stamp::always();
}

/// Whether several sources place a frame on the path, so that the search goes on with each of them. Of a joint that several
/// sources contest there is no path to choose: that path ends with its failure.
bool is_contested_frame(const Failure& failure) {
  return failure.kind() == FailureKind::ambiguous_path && failure->of != kNone && failure->joint.empty();
}

bool same_path(const Candidate& a, const Candidate& b) {
  const auto same_step = [](const CandidateEdge& x, const CandidateEdge& y) { return x.relation == y.relation && x.at == y.at; };
  return a.failure.kind() == b.failure.kind() && std::ranges::equal(a.edges, b.edges, same_step);
}

/// A search through the choices that contested frames leave open. At every one it asks, and where a frame is in the way
/// that nobody decided, it tries each of the sources that place it. Cost: for each path its edges, times the contested
/// frames on it.
class PathSearch {
 public:
  PathSearch(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback, Ask ask,
             std::size_t max_paths)
      : topology_(topology), question_(question), fallback_(fallback), ask_(std::move(ask)), max_paths_(max_paths) {}

  void explore() {
    Candidate candidate;
    candidate.sources = chosen_;
    Failure failure = walk(candidate);
    if (is_contested_frame(failure)) return branch(failure->of, failure->requested);
    if (++ends_ > max_paths_) return;
    candidate.failure = std::move(failure);
    const auto is_same = [&](const Candidate& other) { return same_path(candidate, other); };
    if (std::ranges::none_of(found_, is_same)) found_.push_back(std::move(candidate));
  }

  Result<std::vector<Candidate>> take() {
    Result<std::vector<Candidate>> result{.value = std::move(found_)};
    if (ends_ > max_paths_) result.failure = Evidence{.kind = FailureKind::too_many_paths, .limit = max_paths_};
    return result;
  }

 private:
  /// Two sources at every choice: as many choices in a row have more ends than that.
  void branch(FrameId frame, Stamp at) {
    if (chosen_.size() >= max_paths_) ends_ = max_paths_ + 1;
    Selection selection;
    selection.choose(*topology_.node(frame).tracks, at, topology_.rival_timeout());
    for (const Track* track : selection.tracks()) {
      if (ends_ > max_paths_) return;
      chosen_.believe(frame, track->source);
      explore();
      chosen_.forget_last();
    }
  }

  Failure walk(Candidate& candidate) {
    Question exact = question_;
    exact.context.selector = &candidate.sources;
    const bool is_direct = exact.fixed_frame == kNone;
    Transform after;
    if (!is_direct)
      if (Failure failure = add_segment({exact.of, exact.fixed_frame, {}}, exact.of_at, exact.context, after, candidate))
        return failure;
    const FrameId from = is_direct ? exact.of : exact.fixed_frame;
    if (Failure failure = add_segment({from, exact.in_frame, {}}, exact.at, exact.context, after, candidate)) return failure;
    Result<PoseAnswer> answered = ask_(exact);
    candidate.answer = std::move(answered.value);
    return std::move(answered.failure);
  }

  /// Replaces LATEST by its instant, so that all that follows is about one instant.
  Failure add_segment(const SegmentQuestion& wanted, When& when, const QueryContext& context, Transform& behind,
                      Candidate& candidate) {
    Scratch& scratch = Scratch::of_this_thread();
    Segment segment;
    Failure failure = evaluate_segment(topology_, wanted.of, wanted.in_frame, when.at, when.latest, context, fallback_, scratch,
                                       path_, segment);
    if (is_contested_frame(failure)) return failure;
    for (const PathEdge& edge : path_.up) add_edge(edge, false, segment.at, context, behind, candidate);
    for (auto edge = path_.down.rbegin(); edge != path_.down.rend(); ++edge)
      add_edge(*edge, true, segment.at, context, behind, candidate);
    if (when.latest && segment.at != Stamp::never()) when = When::exactly(segment.at);
    return failure;
  }

  void add_edge(const PathEdge& edge, bool is_downward, Stamp at, const QueryContext& context, Transform& behind,
                Candidate& candidate) {
    const bool is_fixed = edge.provider.kind == ProviderKind::fixed;
    CandidateEdge& step = candidate.edges.emplace_back();
    step.relation = edge.relation;
    step.provider = edge.provider.pointer;
    step.at = is_fixed ? Stamp::always() : at;
    step.is_contested = chosen_.names(edge.child);
    Evaluation value;
    if (evaluate_edge(edge, nullptr, at, context, fallback_, value) != FailureKind::none) return;
    step.sampled_at = newest_datum(edge, at);
    step.certainty = value.certainty;
    if (value.certainty == Certainty::known) step.covariance = value.covariance;
    const bool is_sampled = edge.provider.kind == ProviderKind::sampled;
    step.is_derived = value.predicted || (is_sampled && edge.provider.series().rests_on_computed(at));
    step.jacobian = adjoint(is_downward ? behind.inverse() * value.value : behind.inverse());
    if (is_downward) std::ranges::transform(step.jacobian, step.jacobian.begin(), std::negate{});
    behind = is_downward ? between(value.value, behind) : value.value * behind;
  }

  const Topology& topology_;
  const Question& question_;
  const std::optional<Covariance>& fallback_;
  const Ask ask_;
  const std::size_t max_paths_;
  ChosenSources chosen_;
  std::size_t ends_ = 0;
  Path path_;
  std::vector<Candidate> found_;
};

}  // namespace

Result<std::vector<Candidate>> Forest::candidates(const Question& question, std::size_t max_paths) const {
  const Pin pin;
  const Topology& now = *state_->topology.load();
  Question complete = question;
  complete.context = state_->completed(question.context, now);
  if (Failure unknown = check_frames(now, question)) return {.failure = std::move(unknown)};
  const Ask ask = [&](const Question& asked) { return state_->pose_in(now, asked); };
  PathSearch search(now, complete, state_->options.default_covariance, ask, max_paths);
  search.explore();
  return search.take();
}

}  // namespace armillary
