// Several poses at one instant.

#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

/// Lowers `at` to the newest instant that the paths of all pairs cover; `never` where all is fixed.
Failure resolve_all(const Topology& topology, std::span<const FramePair> pairs, const QueryContext& context, Stamp& at,
                    RelationId& limiting) {
  Scratch& scratch = Scratch::of_this_thread();
  for (Stamp before = Stamp::always(); before != at;) {
    before = at;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Failure failure = resolve_latest(topology, pairs[i].of, pairs[i].in_frame, context, scratch, scratch.path, at, limiting);
      if (!failure) continue;
      failure->row = i;
      return failure;
    }
  }
  return {};
}

/// At the newest common instant an edge can only fail by beginning after it.
void blame(RelationId limiting, Failure& failure) {
  failure->limiting = limiting;
  if (failure->kind == FailureKind::single_sample) failure->kind = FailureKind::before_history;
}

Failure unknown_among(const Topology& topology, std::span<const FramePair> pairs) {
  for (const auto& [of, in_frame] : pairs)
    for (const FrameId id : {of, in_frame})
      if (!topology.has(id)) return Evidence{.kind = FailureKind::unknown_frame, .of = id};
  return {};
}

}  // namespace

Result<std::vector<PoseAnswer>> Forest::poses_at_once(std::span<const FramePair> pairs, When at,
                                                      const QueryContext& given) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  const QueryContext context = state_->completed(given, topology);
  Result<std::vector<PoseAnswer>> result;
  RelationId limiting = kNone;
  Stamp instant = at.latest ? Stamp::never() : at.at;
  result.failure = unknown_among(topology, pairs);
  if (!result.failure && at.latest) result.failure = resolve_all(topology, pairs, context, instant, limiting);
  if (result.failure) return result;
  const When when = instant == Stamp::never() ? When::newest() : When::exactly(instant);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Result<PoseAnswer> answer =
        state_->pose_in(topology, {.of = pairs[i].of, .in_frame = pairs[i].in_frame, .at = when, .context = context});
    if (answer) {
      result.value.push_back(std::move(answer.value));
      continue;
    }
    if (at.latest) blame(limiting, answer.failure);
    answer.failure->row = i;
    result.failure = std::move(answer.failure);
    break;
  }
  return result;
}

}  // namespace armillary
