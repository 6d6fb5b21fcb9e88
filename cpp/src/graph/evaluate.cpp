#include "graph/evaluate.hpp"

#include <algorithm>

#include "armillary/graph/driven_link.hpp"
#include "armillary/series/pose_row.hpp"

namespace armillary {

void CovarianceSum::add(const Origin& origin, const Covariance& covariance, const std::array<double, 36>& jacobian) {
  if (can_repeat_) {
    parts_.push_back({origin, covariance, jacobian});
  } else {
    sum_ = sum_ + propagated(covariance, jacobian);
  }
}

void CovarianceSum::add(Stamp at, std::vector<VariableError> errors) {
  auto instant = std::ranges::find(instants_, at, &Instant::at);
  if (instant == instants_.end()) instant = instants_.insert(instant, {at, {}});
  instant->errors.insert(instant->errors.end(), errors.begin(), errors.end());
}

static bool share_a_variable(const std::vector<VariableError>& a, const std::vector<VariableError>& b) {
  return std::ranges::any_of(
      a, [&](const VariableError& error) { return std::ranges::find(b, error.variable, &VariableError::variable) != b.end(); });
}

Covariance CovarianceSum::of_variables() const {
  Covariance first, second;
  if (!instants_.empty()) add_covariance(instants_[0].errors, first);
  if (instants_.size() < 2) return first;
  add_covariance(instants_[1].errors, second);
  return share_a_variable(instants_[0].errors, instants_[1].errors) ? bound_of_sum(first, second) : first + second;
}

Covariance CovarianceSum::total() const {
  Covariance total = sum_ + of_variables();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const auto same = [&](const Part& other) { return other.origin.relation == part.origin.relation; };
    const auto before = std::find_if(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(i), same);
    if (before != parts_.begin() + static_cast<std::ptrdiff_t>(i)) continue;  // counted with its twin
    const auto twin = std::find_if(parts_.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts_.end(), same);
    if (twin == parts_.end()) {
      total = total + propagated(part.covariance, part.jacobian);
    } else if (twin->origin == part.origin) {
      // One and the same error enters twice: its two effects add before they are squared.
      std::array<double, 36> both = part.jacobian;
      std::ranges::transform(both, twin->jacobian, both.begin(), std::plus{});
      total = total + propagated(part.covariance, both);
    } else {
      // Two errors of one relation at two instants: correlated, nobody knows how.
      total = total + bound_of_sum(propagated(part.covariance, part.jacobian), propagated(twin->covariance, twin->jacobian));
    }
  }
  return total;
}

void name_gap(const Topology& topology, const Path& path, Failure& failure) {
  if (!failure || failure->kind != FailureKind::single_sample) return;
  const auto has_moved = [&](const PathEdge& edge) {
    const TrackSet* set = edge.relation == failure->relation ? topology.node(edge.child).tracks : nullptr;
    if (set == nullptr) return false;
    const auto is_its = [&](const Run& run) { return !run.is_closed() && run.relation == edge.relation; };
    const auto is_next = [&](const Run& run) {
      const bool awaits_samples = run.provider.kind == ProviderKind::sampled && run.provider.series().empty();
      return run.from > failure->requested && !run.is_closed() && !awaits_samples && !is_its(run);
    };
    return std::ranges::any_of(set->tracks, [&](const Track& track) {
      return std::ranges::any_of(track.runs, is_its) && std::ranges::any_of(track.runs, is_next);
    });
  };
  if (std::ranges::any_of(path.up, has_moved) || std::ranges::any_of(path.down, has_moved))
    failure->kind = FailureKind::after_history;
}

Failure edge_failure(FailureKind kind, const PathEdge& edge, Stamp at, const QueryContext& context) {
  const Coverage held = coverage_of(edge);
  const bool is_too_far = context.prediction != nullptr && kind == FailureKind::after_history;
  const bool is_too_old = context.outside == Outside::hold && context.hold_up_to != kHoldForEver && !held.empty();
  Evidence evidence{.kind = kind,
                    .relation = edge.relation,
                    .requested = at,
                    .first = held.first,
                    .last = held.last,
                    .horizon_ns = is_too_far ? context.prediction->horizon.ns : -1,
                    .hold_up_to_ns = is_too_old ? context.hold_up_to.ns : -1};
  if (edge.provider.is_step() && !held.empty()) evidence.last = edge.provider.series().newest();
  if (edge.provider.kind == ProviderKind::driven && at >= edge.opens) edge.provider.driven().explain(evidence);
  return evidence;
}

std::optional<Stamp> newest_of_rivals(const Topology& topology, const Path& path) {
  Selection selection;
  Stamp newest = Stamp::always();
  bool has_rivals = false;
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges) {
      const TrackSet* set = topology.node(edge.child).tracks;
      if (set == nullptr) continue;
      selection.choose(*set, Stamp::never(), topology.rival_timeout());
      newest = std::max(newest, selection.newest());
      has_rivals = has_rivals || set->tracks.size() > 1;
    }
  return has_rivals && newest != Stamp::always() ? std::optional(newest) : std::nullopt;
}

namespace {

bool never_had_samples(const PathEdge& edge) {
  const bool is_forgotten = edge.provider.kind == ProviderKind::sampled && edge.provider.series().is_forgotten();
  return !is_forgotten && coverage_of(edge).empty();
}

}  // namespace

Failure resolve_latest(const Topology& topology, FrameId of, FrameId in_frame, const QueryContext& context, Scratch& scratch,
                       Path& path, Stamp& at, RelationId& limiting) {
  LatestSearch search(scratch.finder, path, at, limiting);
  do {
    if (Failure failure = search.find_path(topology, of, in_frame, context)) return failure;
    for (const auto* edges : {&path.up, &path.down})
      for (const PathEdge& edge : *edges)
        if (!search.take(edge) && never_had_samples(edge))
          return edge_failure(FailureKind::no_samples, edge, search.newest(), {});
  } while (!search.is_resolved());
  return {};
}

Stamp newest_datum(const Path& path) {
  Stamp newest = Stamp::always();
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges) {
      if (edge.provider.kind == ProviderKind::sampled) newest = std::max(newest, edge.provider.series().newest());
      if (edge.provider.kind == ProviderKind::driven) newest = std::max(newest, edge.provider.driven().newest());
    }
  if (newest == Stamp::always()) return Stamp::never();
  return path.valid_from == Stamp::never() ? newest : std::max(newest, path.valid_from);
}

namespace {

struct Evaluator {
  Stamp at;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;
  Scratch& scratch;
  Segment& segment;

  /// Where the rows probably are, for all edges first: their memory is then fetched in parallel.
  void probe(const std::vector<PathEdge>& edges) const {
    for (const PathEdge& edge : edges) {
      Series::Probe& probe = scratch.probes.emplace_back();
      if (edge.provider.kind == ProviderKind::sampled) edge.provider.series().probe(at, probe);
    }
  }

  /// The product of `edges`, last edge leftmost: ancestor_T_start.
  FailureKind product(const std::vector<PathEdge>& edges, const Series::Probe* probes, Transform& result, std::size_t& failed) {
    Evaluation evaluation;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const PathEdge& edge = edges[i];
      const bool sampled = edge.provider.kind == ProviderKind::sampled;
      const Bracket bracket = sampled ? Series::settle(probes[i], at) : Bracket{};
      if (is_plain(edge, bracket) && bracket.before.stamp_ns() != at.ns) {
        const Transform value =
            interpolate_linear(pose_of(bracket.before), pose_of(bracket.after), fraction(bracket.before, bracket.after, at.ns));
        result = i == 0 ? value : value * result;
        segment.timeless = false;
        segment.certainty = Certainty::unknown;
        continue;
      }
      const FailureKind kind = evaluate_edge(edge, sampled ? &bracket : nullptr, at, context, fallback, evaluation);
      if (kind != FailureKind::none) {
        failed = i;
        return kind;
      }
      result = i == 0 ? evaluation.value : evaluation.value * result;
      take(edge, evaluation);
    }
    return FailureKind::none;
  }

  /// The usual case, worth a short cut: between two samples, no covariance, straight interpolation.
  [[nodiscard]] bool is_plain(const PathEdge& edge, const Bracket& bracket) const {
    return bracket.before && bracket.after && bracket.before.side == nullptr && !fallback && is_straight(edge, context);
  }

  void take(const PathEdge& edge, const Evaluation& evaluation) {
    segment.predicted = segment.predicted || evaluation.predicted;
    segment.integrated = segment.integrated || evaluation.integrated;
    segment.timeless = segment.timeless && edge.provider.kind == ProviderKind::fixed;
    if (evaluation.certainty == Certainty::unknown) segment.certainty = Certainty::unknown;
    if (segment.certainty == Certainty::unknown || !context.want_covariance) return;
    if (evaluation.certainty == Certainty::known) segment.certainty = Certainty::known;
    scratch.values.push_back(evaluation);
  }
};

Failure evaluate_path(const Path& path, const QueryContext& context, const std::optional<Covariance>& fallback, Scratch& scratch,
                      Segment& segment) {
  scratch.probes.clear();
  scratch.values.clear();
  Evaluator evaluator{segment.at, context, fallback, scratch, segment};
  evaluator.probe(path.up);
  evaluator.probe(path.down);
  Transform ancestor_T_of, ancestor_T_in;
  std::size_t failed = 0;
  FailureKind kind = evaluator.product(path.up, scratch.probes.data(), ancestor_T_of, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.up[failed], segment.at, context);
  kind = evaluator.product(path.down, scratch.probes.data() + path.up.size(), ancestor_T_in, failed);
  if (kind != FailureKind::none) return edge_failure(kind, path.down[failed], segment.at, context);
  segment.value = path.down.empty() ? ancestor_T_of : between(ancestor_T_in, ancestor_T_of);
  return {};
}

}  // namespace

Failure evaluate_segment(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, bool latest,
                         const QueryContext& context, const std::optional<Covariance>& fallback, Scratch& scratch, Path& path,
                         Segment& segment) {
  RelationId limiting = kNone;
  segment.at = latest ? Stamp::never() : at;
  Failure failure = latest ? resolve_latest(topology, of, in_frame, context, scratch, path, segment.at, limiting)
                           : scratch.finder.find(topology, of, in_frame, at, context, path);
  if (!failure && latest && segment.at == Stamp::never()) {
    segment.at = newest_datum(path);
    if (!path.holds_at(segment.at)) failure = scratch.finder.find(topology, of, in_frame, segment.at, context, path);
  }
  if (!failure) failure = evaluate_path(path, context, fallback, scratch, segment);
  if (failure && latest) {
    failure->limiting = limiting;
    // At the newest common instant an edge can only fail by beginning after it.
    if (failure->kind == FailureKind::single_sample) failure->kind = FailureKind::before_history;
  }
  name_gap(topology, path, failure);
  return failure;
}

static CovarianceSum::Origin origin_of(const PathEdge& edge, const Segment& segment) {
  const bool fixed = edge.provider.kind == ProviderKind::fixed;
  return {edge.relation, edge.provider.pointer, fixed ? Stamp::always() : segment.at};
}

static std::array<double, 6> product(const Matrix6& matrix, const std::array<double, 6>& vector) {
  std::array<double, 6> result{};
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < 6; ++i) result[row] += matrix[6 * row + i] * vector[i];
  return result;
}

/// An edge's own error; or, where joints drive it, those of the joints, of which other edges may have their share.
static void add_error(const PathEdge& edge, const Evaluation& value, const Segment& segment, const QueryContext& context,
                      const Matrix6& jacobian, CovarianceSum& sum) {
  const bool is_driven = edge.provider.kind == ProviderKind::driven && segment.at >= edge.opens;
  std::vector<VariableError> errors;
  if (is_driven) edge.provider.driven().add_errors(segment.at, context, errors);
  if (errors.empty()) return sum.add(origin_of(edge, segment), value.covariance, jacobian);
  if (value.predicted) {  // beside what the joints do, it grew on the way
    Covariance by_joints;
    add_covariance(errors, by_joints);
    sum.add(origin_of(edge, segment), value.covariance + -1.0 * by_joints, jacobian);
  }
  for (VariableError& error : errors) error.effect = product(jacobian, error.effect);
  sum.add(segment.at, std::move(errors));
}

void add_uncertainty(const Path& path, const std::vector<Evaluation>& values, const Segment& segment, const QueryContext& context,
                     const Transform& after, CovarianceSum& sum) {
  Transform behind = after;
  for (std::size_t i = 0; i < path.up.size(); ++i) {
    const Evaluation& edge = values[i];
    if (edge.certainty == Certainty::known) add_error(path.up[i], edge, segment, context, adjoint(behind.inverse()), sum);
    behind = edge.value * behind;
  }
  for (std::size_t i = path.down.size(); i-- > 0;) {
    const Evaluation& edge = values[path.up.size() + i];
    if (edge.certainty == Certainty::known) {
      std::array<double, 36> jacobian = adjoint(behind.inverse() * edge.value);
      std::ranges::transform(jacobian, jacobian.begin(), std::negate{});
      add_error(path.down[i], edge, segment, context, jacobian, sum);
    }
    behind = between(edge.value, behind);
  }
}

}  // namespace armillary
