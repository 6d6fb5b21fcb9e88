#include "armillary/graph/path.hpp"

#include <algorithm>
#include <string_view>

#include "armillary/graph/demands.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/bridge.hpp"
#include "graph/prediction.hpp"
#include "graph/scratch.hpp"
#include "math/pair_sum.hpp"

namespace armillary {

namespace {

/// A visited mark: which search, which end, and after how many steps.
constexpr std::uint64_t mark_of(std::uint64_t generation, std::uint64_t side, std::uint64_t steps) {
  return generation << 32 | side << 31 | steps;
}
constexpr std::uint64_t generation_of(std::uint64_t mark) { return mark >> 32; }
constexpr std::uint64_t side_of(std::uint64_t mark) { return mark >> 31 & 1; }
constexpr std::uint64_t steps_of(std::uint64_t mark) { return mark & 0x7fffffff; }

/// The run that opens first is used before any is open: so the path is found and the edge gives the reason.
const Run* earliest_run(const TrackSet& set) {
  const Run* earliest = nullptr;
  for (const Track& track : set.tracks) {
    const auto first = std::ranges::find_if_not(track.runs(), &Run::is_closed);
    if (first != track.runs().end() && (earliest == nullptr || first->from < earliest->from)) earliest = &*first;
  }
  return earliest;
}

}  // namespace

PathFinder::Step PathFinder::choose_run(const TrackSet& set, FrameId frame, Stamp at, Duration rival_timeout,
                                        const QueryContext& context, Path& path, PathEdge& edge, FrameId& parent) {
  selection_.choose(set, at, rival_timeout);
  path.valid_from = std::max(path.valid_from, selection_.valid().from);
  path.valid_to = std::min(path.valid_to, selection_.valid().to);
  path.newest = std::max(path.newest, selection_.newest());
  path.has_rivals = path.has_rivals || set.tracks.size() > 1;
  path.is_guess = path.is_guess || (set.tracks.size() > 1 && selection_.is_guess());
  if (set.tracks.size() > 1 && selection_.unreceived() != kNone) {
    path.unreceived = selection_.unreceived();
    return Step::unreceived;
  }
  const std::vector<const Track*>& tracks = selection_.tracks();
  std::uint32_t choice = 0;
  if (tracks.size() > 1) {
    choice = context.selector == nullptr ? kNone : context.selector->choose(frame, tracks, at);
    if (choice == kNone) return Step::contested;
  }
  const Run* chosen = tracks.empty() ? nullptr : selection_.runs()[choice];
  if (chosen == nullptr && !set.closed_since(at)) chosen = earliest_run(set);
  if (chosen == nullptr) return Step::root;
  edge = {frame, chosen->relation, chosen->provider, chosen->from > at ? chosen->from : Stamp::always(), selection_.valid().from};
  parent = chosen->parent;
  return Step::moved;
}

PathFinder::Step PathFinder::parent_edge(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context,
                                         Path& path, PathEdge& edge, FrameId& parent) {
  const FrameNode& node = topology.node(frame);
  const Step step = choose_parent(topology, frame, at, context, path, edge, parent);
  if (context.measured_in != nullptr && topology.bodies() != nullptr && step == Step::moved && !node.is_mounted())
    edge.links = topology.bodies()->between(topology.rigid_body(frame), topology.rigid_body(parent));
  if (!node.may_be_on_cycle || step != Step::moved) return step;
  path.valid_from = at;
  path.valid_to = at == Stamp::never() ? at : Stamp{at.ns + 1};
  return is_cut(topology, frame, at, context, edge, parent) ? Step::root : step;
}

namespace {

std::pair<int, std::int64_t> weakness_of(const Coverage& held, Stamp at) {
  if (held.empty()) return {3, 0};
  if (held.first > at) return {2, held.first.ns};
  if (held.last < at) return {1, -held.last.ns};
  return {0, 0};
}

}  // namespace

PathFinder::Weakness PathFinder::weakness(const PathEdge& edge, Stamp at) {
  const auto [found, is_new] = weaknesses_.try_emplace(edge.relation);
  if (is_new) found->second = weakness_of(coverage_of(edge), at);
  return found->second;
}

/// Edges that do not cover `at` may form a cycle. It is cut at the weakest one, for every question alike:
/// covering edges stay, then those that ended last, then those that begin first; of equals the last by name goes.
bool PathFinder::is_cut(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, const PathEdge& edge,
                        FrameId parent) {
  Path ignored;
  const auto rank = [&](FrameId id) { return std::string_view(*topology.node(id).name); };
  const auto mine = weakness(edge, at);
  bool weakest = true;
  FrameId next = parent;
  for (std::uint32_t steps = 0; next != frame; ++steps) {
    PathEdge other;
    FrameId above = kNone;
    const Step step = choose_parent(topology, next, at, context, ignored, other, above);
    if (step != Step::moved || steps > topology.frames()) return false;
    const auto theirs = weakness(other, at);
    weakest = weakest && (theirs < mine || (theirs == mine && rank(next) < rank(frame)));
    next = above;
  }
  return weakest;
}

PathFinder::Step PathFinder::choose_parent(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context,
                                           Path& path, PathEdge& edge, FrameId& parent) {
  const FrameNode& node = topology.node(frame);
  if (node.tracks != nullptr) return choose_run(*node.tracks, frame, at, topology.rival_timeout(), context, path, edge, parent);
  if (node.parent == kNone) return Step::root;
  edge = {frame, node.relation, node.provider};
  parent = node.parent;
  return Step::moved;
}

bool PathFinder::step(const Topology& topology, FrameId frame, Stamp at, const QueryContext& context, PathEdge& edge,
                      FrameId& parent) {
  Path ignored;
  return parent_edge(topology, frame, at, context, ignored, edge, parent) == Step::moved;
}

/// One end of the search on its way up.
struct PathFinder::Climber {
  FrameId frame;
  std::uint64_t side;
  std::vector<PathEdge>* edges;
  bool stopped = false;
  bool contested = false;
  RelationId unreceived = kNone;
};

Failure PathFinder::find(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, const QueryContext& context,
                         Path& path) {
  path.clear();
  if (of == in_frame) return {};
  restart();
  if (marks_.size() < topology.frames()) marks_.resize(topology.frames(), 0);
  if (++generation_ == 0xffffffff) {
    std::ranges::fill(marks_, 0);
    generation_ = 1;
  }
  Climber ends[2] = {{of, 0, &path.up}, {in_frame, 1, &path.down}};
  marks_[of] = mark_of(generation_, 0, 0);
  marks_[in_frame] = mark_of(generation_, 1, 0);
  while (!ends[0].stopped || !ends[1].stopped) {
    for (Climber& end : ends) {
      if (end.stopped) continue;
      PathEdge edge;
      FrameId parent = kNone;
      const Step step = parent_edge(topology, end.frame, at, context, path, edge, parent);
      if (step != Step::moved) {
        end.stopped = true;
        end.contested = step == Step::contested;
        end.unreceived = step == Step::unreceived ? path.unreceived : kNone;
        continue;
      }
      end.edges->push_back(edge);
      const std::uint64_t mark = marks_[parent];
      if (generation_of(mark) == generation_) {
        if (side_of(mark) != end.side) {
          ends[1 - end.side].edges->resize(steps_of(mark));
          return {};
        }
        end.stopped = true;  // edges that do not cover `at` may form a cycle
        continue;
      }
      marks_[parent] = mark_of(generation_, end.side, end.edges->size());
      end.frame = parent;
    }
  }
  Evidence failure{.kind = FailureKind::not_connected, .of = ends[0].frame, .in_frame = ends[1].frame, .requested = at};
  for (const Climber& end : ends) {
    const TrackSet* tracks = topology.node(end.frame).tracks;
    const std::optional<Stamp> closed = tracks == nullptr ? std::nullopt : tracks->closed_since(at);
    if (closed) failure.ended = end.frame, failure.last = *closed;
  }
  for (const Climber& end : ends)
    if (end.contested) failure = {.kind = FailureKind::ambiguous_path, .of = end.frame, .requested = at};
  for (const Climber& end : ends)
    if (end.unreceived != kNone) {
      failure = {.kind = FailureKind::not_received, .of = end.frame, .relation = end.unreceived, .requested = at};
      for (const Track& track : topology.node(end.frame).tracks->tracks)
        if (const Run* run = track.run_at(at); run != nullptr && !run->is_closed())
          failure.demand = std::max(failure.demand, demand({end.frame, run->relation, run->provider}, at, context));
    }
  return failure;
}

namespace {

void set_certainty(const std::optional<Covariance>& covariance, const std::optional<Covariance>& fallback, Evaluation& out) {
  const std::optional<Covariance>& used = covariance ? covariance : fallback;
  out.certainty = used ? Certainty::known : Certainty::unknown;
  if (used) out.covariance = *used;
}

void set_from_row(const Row& row, const QueryContext& context, const std::optional<Covariance>& fallback, Evaluation& out) {
  out.value = pose_of(row);
  if (context.want_covariance) set_certainty(covariance_of(row), fallback, out);
}

/// Both covariances moved to the tangent of the pose in between, then mixed linearly.
std::optional<Covariance> covariance_between(const Row& before, const Row& after, double u, const Transform& at) {
  const auto is_known = [](const Row& row) { return row.side != nullptr && !std::isnan(row.side[0]); };
  if (!is_known(before) || !is_known(after)) return std::nullopt;
  PairSum both;
  both.add({before.values(), before.side, 1.0 - u}, {after.values(), after.side, u}, at);
  return both.total().covariance();
}

FailureKind outside_kind(const Series& series, FailureKind kind) {
  const Row first = series.first_row();
  if (!first) return FailureKind::no_samples;
  return first.stamp_ns() == series.newest().ns ? FailureKind::single_sample : kind;
}

/// The value of one row, at another instant than its own.
void hold_row(const PathEdge& edge, const Row& row, Stamp at, const QueryContext& context,
              const std::optional<Covariance>& fallback, Evaluation& out) {
  set_from_row(row, context, fallback, out);
  out.held = true;
  context.note_held({.relation = edge.relation, .age = age_of({row.stamp_ns()}, at)});
}

FailureKind hold_or_fail(const PathEdge& edge, const Row& nearest, Stamp at, FailureKind kind, const QueryContext& context,
                         const std::optional<Covariance>& fallback, Evaluation& out) {
  const Series& series = edge.provider.series();
  if (!nearest) return series.is_forgotten() ? FailureKind::before_history : FailureKind::no_samples;
  if (!context.may_hold(at, {nearest.stamp_ns()})) return outside_kind(series, kind);
  hold_row(edge, nearest, at, context, fallback, out);
  return FailureKind::none;
}

/// The last motion goes on; its uncertainty travels along and grows.
FailureKind predict_or_fail(const PathEdge& edge, const Row& last, Stamp at, const QueryContext& context,
                            const std::optional<Covariance>& fallback, Evaluation& out) {
  ErrorList& errors = Scratch::of_this_thread().predicted;
  errors.clear();
  PredictedEdge predicted;
  if (!predict_edge({edge, last, at, context, fallback}, predicted, context.want_covariance ? &errors : nullptr))
    return outside_kind(edge.provider.series(), FailureKind::after_history);
  out.value = predicted.value;
  out.predicted = true;
  if (!context.want_covariance || !errors.is_known) return FailureKind::none;
  out.certainty = Certainty::known;
  out.covariance = covariance_of_pose(errors);
  return FailureKind::none;
}

FailureKind evaluate_sampled(const PathEdge& edge, const Bracket& bracket, Stamp at, const QueryContext& context,
                             const std::optional<Covariance>& fallback, Evaluation& out) {
  const Series& series = edge.provider.series();
  const auto& [before, after, is_cut] = bracket;
  if (before && before.stamp_ns() == at.ns) {
    set_from_row(before, context, fallback, out);
    return FailureKind::none;
  }
  if (is_cut && series.has_ended_before(at)) return FailureKind::not_received;
  if (!before)
    return hold_or_fail(edge, after ? after : series.first_row(), at, FailureKind::before_history, context, fallback, out);
  if (edge.provider.is_step() && !is_cut) {
    hold_row(edge, before, at, context, fallback, out);
    return FailureKind::none;
  }
  if (!after && !is_cut && context.outside == Outside::predict) return predict_or_fail(edge, before, at, context, fallback, out);
  if (!after) return hold_or_fail(edge, before, at, FailureKind::after_history, context, fallback, out);
  BridgeAnswer bridged;
  if (series.guide() != nullptr && follow_twists({series, bracket, at, context.want_covariance, fallback}, bridged)) {
    out.value = bridged.value;
    out.certainty = bridged.covariance ? Certainty::known : Certainty::unknown;
    if (bridged.covariance) out.covariance = *bridged.covariance;
    return FailureKind::none;
  }
  out.value = interpolate_rows(before, after, at.ns, interpolation_of(edge, context));
  if (context.want_covariance) {
    const bool possible = before.side != nullptr && after.side != nullptr;
    set_certainty(possible ? covariance_between(before, after, fraction(before, after, at.ns), out.value) : std::nullopt,
                  fallback, out);
  }
  return FailureKind::none;
}

void evaluate_fixed(const FixedPose& fixed, Evaluation& out) {
  out.value = fixed.value;
  out.certainty = fixed.certainty;
  if (fixed.certainty == Certainty::known) out.covariance = fixed.covariance;
}

FailureKind evaluate_driven(const PathEdge& edge, Stamp at, const QueryContext& context, Evaluation& out) {
  const std::size_t before = context.held == nullptr ? 0 : context.held->size();
  const FailureKind kind = edge.provider.driven().evaluate(at, context, out);
  if (context.held == nullptr) return kind;
  if (kind != FailureKind::none) context.held->resize(before);
  if (kind != FailureKind::none || !out.held) return kind;
  if (context.held->size() == before) context.held->emplace_back();  // it does not tell which joint it was
  for (HeldSample& sample : std::span(*context.held).subspan(before)) sample.relation = edge.relation;
  return kind;
}

}  // namespace

FailureKind evaluate_edge(const PathEdge& edge, const Bracket* bracket, Stamp at, const QueryContext& context,
                          const std::optional<Covariance>& default_covariance, Evaluation& out) {
  out.held = out.predicted = false;
  out.certainty = Certainty::unknown;
  const bool is_early = at < edge.opens && edge.provider.kind != ProviderKind::sampled;
  if (is_early) {
    if (!context.may_hold(at, edge.opens)) return FailureKind::before_history;
    const FailureKind kind =
        evaluate_edge({edge.child, edge.relation, edge.provider}, nullptr, edge.opens, context, default_covariance, out);
    out.held = true;
    context.note_held({.relation = edge.relation, .age = age_of(edge.opens, at)});
    return kind;
  }
  switch (edge.provider.kind) {
    case ProviderKind::fixed:
      evaluate_fixed(edge.provider.fixed(), out);
      return FailureKind::none;
    case ProviderKind::sampled: {
      const Series& series = edge.provider.series();
      return evaluate_sampled(edge, bracket != nullptr ? *bracket : series.bracket(at), at, context, default_covariance, out);
    }
    case ProviderKind::driven:
      return evaluate_driven(edge, at, context, out);
    case ProviderKind::twist:
    case ProviderKind::none:
      break;
  }
  return FailureKind::no_samples;
}

std::uint64_t demand(const PathEdge& edge, Stamp at, const QueryContext& context) {
  std::uint64_t number = 0;
  if (context.demands == nullptr || !has_ended_before(edge, at)) return number;
  if (edge.provider.kind == ProviderKind::sampled)
    return context.demands->add({SampleKind::pose, edge.relation, context.is_waited_for});
  edge.provider.driven().add_demands(at, context, number);
  return number;
}

std::optional<Stamp> newest_covered(const PathEdge& edge, Stamp limit) {
  if (limit < edge.opens && edge.provider.kind != ProviderKind::sampled) return std::nullopt;
  switch (edge.provider.kind) {
    case ProviderKind::fixed:
      return Stamp::never();
    case ProviderKind::sampled: {
      const Series& series = edge.provider.series();
      if (series.empty()) return std::nullopt;
      if (edge.provider.is_step() && series.gap_at(limit) == nullptr)
        return series.first_row().stamp_ns() <= limit.ns ? std::optional(Stamp::never()) : std::nullopt;
      if (series.newest() <= limit) return series.newest();
      const Bracket bracket = series.bracket(limit);
      if (!bracket.before) return std::nullopt;
      return bracket.after ? limit : Stamp{bracket.before.stamp_ns()};
    }
    case ProviderKind::driven: {
      const Coverage coverage = edge.provider.driven().coverage();
      if (coverage.empty() || coverage.first > limit) return std::nullopt;
      return std::min(coverage.last, limit);
    }
    case ProviderKind::twist:
    case ProviderKind::none:
      break;
  }
  return std::nullopt;
}

Coverage coverage_of(const PathEdge& edge) {
  const ProviderRef& provider = edge.provider;
  switch (provider.kind) {
    case ProviderKind::fixed:
      return {edge.opens, Stamp::never()};
    case ProviderKind::sampled: {
      const Row first = provider.series().first_row();
      if (!first) return {};
      return {{first.stamp_ns()}, provider.is_step() ? Stamp::never() : provider.series().newest()};
    }
    case ProviderKind::driven: {
      const Coverage covered = provider.driven().coverage();
      return {std::max(covered.first, edge.opens), covered.last};
    }
    case ProviderKind::twist:
    case ProviderKind::none:
      break;
  }
  return {};
}

}  // namespace armillary
