#include "graph/evaluate.hpp"

#include <algorithm>

#include "armillary/graph/driven_link.hpp"
#include "armillary/series/pose_row.hpp"

namespace armillary {

void CovarianceSum::add(const Origin& origin, const Covariance& covariance, const std::array<double, 36>& jacobian) {
  if (can_repeat_) {
    parts_.push_back({origin, covariance, jacobian});
  } else {
    sum_ = armillary::sum(sum_, Symmetric6::of(propagated(covariance, jacobian)));
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
  Covariance total = armillary::sum(sum_, rows_.total()).covariance();
  if (!instants_.empty()) total = total + of_variables();
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
  if (!failure || failure->kind != FailureKind::single_sample || failure->requested <= failure->first) return;
  const auto has_moved = [&](const PathEdge& edge) {
    const TrackSet* set = edge.relation == failure->relation ? topology.node(edge.child).tracks : nullptr;
    if (set == nullptr) return false;
    const auto is_its = [&](const Run& run) { return !run.is_closed() && run.relation == edge.relation; };
    const auto is_next = [&](const Run& run) {
      const bool awaits_samples = run.provider.kind == ProviderKind::sampled && run.provider.series().empty();
      return run.from > failure->requested && !run.is_closed() && !awaits_samples && !is_its(run);
    };
    return std::ranges::any_of(set->tracks, [&](const Track& track) {
      return std::ranges::any_of(track.runs(), is_its) && std::ranges::any_of(track.runs(), is_next);
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
  if (edge.provider.kind == ProviderKind::sampled && !held.empty())
    if (const Gap* gap = edge.provider.series().gap_at(at)) evidence.last = std::max(gap->from, held.first);
  if (edge.provider.kind == ProviderKind::driven && at >= edge.opens) edge.provider.driven().explain(evidence);
  if (kind == FailureKind::not_received) evidence.demand = demand(edge, at, context);
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

Failure unreceived(const Path& path, const PathEdge& edge, Stamp at, const QueryContext& context) {
  Failure failure = edge_failure(FailureKind::not_received, edge, at, context);
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& other : *edges) failure->demand = std::max(failure->demand, demand(other, at, context));
  return failure;
}

Failure resolve_latest(const Topology& topology, FrameId of, FrameId in_frame, const QueryContext& context, Scratch& scratch,
                       Path& path, Stamp& at, RelationId& limiting) {
  LatestSearch search(scratch.finder, path, at, limiting);
  do {
    if (Failure failure = search.find_path(topology, of, in_frame, context)) return failure;
    for (const auto* edges : {&path.up, &path.down})
      for (const PathEdge& edge : *edges) {
        if (has_ended_before(edge, Stamp::never())) return unreceived(path, edge, Stamp::never(), context);
        if (!search.take(edge) && never_had_samples(edge))
          return edge_failure(FailureKind::no_samples, edge, search.newest(), {});
      }
  } while (!search.is_resolved());
  return {};
}

Stamp newest_datum(const Path& path) {
  Stamp newest = Stamp::always(), since = Stamp::always();
  for (const auto* edges : {&path.up, &path.down})
    for (const PathEdge& edge : *edges) {
      if (edge.since != Stamp::never()) since = std::max(since, edge.since);
      if (edge.provider.kind == ProviderKind::sampled) newest = std::max(newest, edge.provider.series().newest());
      if (edge.provider.kind == ProviderKind::driven) newest = std::max(newest, edge.provider.driven().newest());
    }
  return newest == Stamp::always() ? Stamp::never() : std::max(newest, since);
}

namespace {

struct Evaluator {
  Stamp at;
  const QueryContext& context;
  const QueryContext& deferring;  // the same, but for the covariance
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
      if (is_plain(edge, bracket)) {
        const double u = fraction(bracket.before, bracket.after, at.ns);
        const Transform value = interpolate_linear(pose_of(bracket.before), pose_of(bracket.after), u);
        result = i == 0 ? value : value * result;
        take_rows(bracket, u, value);
        continue;
      }
      const FailureKind kind = evaluate_edge(edge, sampled ? &bracket : nullptr, at, deferring, fallback, evaluation);
      if (kind != FailureKind::none) {
        failed = i;
        return kind;
      }
      result = i == 0 ? evaluation.value : evaluation.value * result;
      take(edge, evaluation);
      if (context.policy != Policy::unique) note_data(edge, bracket);
    }
    return FailureKind::none;
  }

  /// The usual case, worth a short cut: between two samples, straight interpolation.
  [[nodiscard]] bool is_plain(const PathEdge& edge, const Bracket& bracket) const {
    return bracket.before && bracket.after && is_straight(edge, context) && bracket.before.stamp_ns() != at.ns;
  }

  static bool has_covariance(const Row& row) { return row.side != nullptr && !std::isnan(row.side[0]); }

  void take_rows(const Bracket& bracket, double u, const Transform& value) {
    segment.timeless = false;
    if (context.policy != Policy::unique) note_datum({bracket.before.stamp_ns()});
    if (segment.certainty == Certainty::unknown) return;
    const bool has_rows = has_covariance(bracket.before) && has_covariance(bracket.after);
    const bool is_known = context.want_covariance && (has_rows || fallback);
    segment.certainty = is_known ? Certainty::known : Certainty::unknown;
    if (is_known) scratch.values.push_back({value, Certainty::known, has_rows ? bracket : Bracket{}, u});
  }

  void note_datum(Stamp stamp) {
    segment.newest = std::max(segment.newest, stamp);
    segment.oldest = segment.oldest == Stamp::always() ? stamp : std::min(segment.oldest, stamp);
  }

  void note_data(const PathEdge& edge, const Bracket& bracket) {
    if (edge.provider.kind == ProviderKind::driven) note_datum(std::min(edge.provider.driven().coverage().last, at));
    const Row& used = bracket.before ? bracket.before : bracket.after;
    if (edge.provider.kind == ProviderKind::sampled && used) note_datum({used.stamp_ns()});
  }

  void take(const PathEdge& edge, const Evaluation& evaluation) {
    segment.predicted = segment.predicted || evaluation.predicted;
    segment.integrated = segment.integrated || evaluation.integrated;
    segment.timeless = segment.timeless && edge.provider.kind == ProviderKind::fixed;
    if (evaluation.certainty == Certainty::unknown) segment.certainty = Certainty::unknown;
    if (segment.certainty == Certainty::unknown || !context.want_covariance) return;
    if (evaluation.certainty == Certainty::known) segment.certainty = Certainty::known;
    scratch.values.push_back({evaluation.value, evaluation.certainty, {}, 0.0});
  }
};

Failure evaluate_path(const Path& path, const QueryContext& context, const std::optional<Covariance>& fallback, Scratch& scratch,
                      Segment& segment) {
  scratch.probes.clear();
  scratch.values.clear();
  QueryContext deferring = context;
  deferring.defers_covariance = true;
  Evaluator evaluator{segment.at, context, deferring, fallback, scratch, segment};
  evaluator.probe(path.up);
  evaluator.probe(path.down);
  Transform ancestor_T_of, ancestor_T_in;
  std::size_t failed = 0;
  FailureKind kind = evaluator.product(path.up, scratch.probes.data(), ancestor_T_of, failed);
  const auto failure_of = [&](const PathEdge& edge) {
    return kind == FailureKind::not_received ? unreceived(path, edge, segment.at, context)
                                             : edge_failure(kind, edge, segment.at, context);
  };
  if (kind != FailureKind::none) return failure_of(path.up[failed]);
  kind = evaluator.product(path.down, scratch.probes.data() + path.up.size(), ancestor_T_in, failed);
  if (kind != FailureKind::none) return failure_of(path.down[failed]);
  segment.value = path.down.empty() ? ancestor_T_of : between(ancestor_T_in, ancestor_T_of);
  return {};
}

}  // namespace

void blame_latest(RelationId limiting, Failure& failure) {
  failure->limiting = limiting;
  if (failure->kind == FailureKind::single_sample) failure->kind = FailureKind::before_history;
}

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
  if (failure && latest) blame_latest(limiting, failure);
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

namespace {

/// The errors of the edges of one segment, one after the other.
class ErrorsOfEdges {
 public:
  ErrorsOfEdges(const Segment& segment, const SegmentContext& how, CovarianceSum& sum)
      : segment_(segment), how_(how), sum_(sum) {}

  /// `behind` is the product of all that is right of the edge; an edge that is passed downwards is inverted.
  void add(const PathEdge& edge, const EdgeValue& value, bool is_downward, const Transform& behind) {
    if (value.certainty != Certainty::known) return;
    // X = behind^-1 * (value^-1) * row, the way from the tangent of a row to that of the answer.
    if (value.rows.before && !sum_.can_repeat()) {
      const Row& after = value.rows.after ? value.rows.after : value.rows.before;
      sum_.rows().add({value.rows.before.values(), value.rows.before.side, 1.0 - value.u}, {after.values(), after.side, value.u},
                      is_downward ? behind : value.value * behind);
      return;
    }
    Matrix6 jacobian = adjoint(is_downward ? behind.inverse() * value.value : behind.inverse());
    if (is_downward) std::ranges::transform(jacobian, jacobian.begin(), std::negate{});
    add_whole(edge, jacobian);
  }

 private:
  /// An edge's own error; or, where joints drive it, those of the joints, of which other edges may have their share.
  void add_whole(const PathEdge& edge, const Matrix6& jacobian) {
    const bool is_driven = edge.provider.kind == ProviderKind::driven && segment_.at >= edge.opens;
    std::vector<VariableError> errors;
    if (is_driven) edge.provider.driven().add_errors(segment_.at, how_.context, errors);
    if (errors.empty()) return sum_.add(origin_of(edge, segment_), evaluated(edge).covariance, jacobian);
    if (segment_.predicted) {
      if (const Evaluation whole = evaluated(edge); whole.predicted) {  // beside what the joints do, it grew on the way
        Covariance by_joints;
        add_covariance(errors, by_joints);
        sum_.add(origin_of(edge, segment_), whole.covariance + -1.0 * by_joints, jacobian);
      }
    }
    for (VariableError& error : errors) error.effect = product(jacobian, error.effect);
    sum_.add(segment_.at, std::move(errors));
  }

  [[nodiscard]] Evaluation evaluated(const PathEdge& edge) const {
    Evaluation whole;
    (void)evaluate_edge(edge, nullptr, segment_.at, how_.context, how_.fallback, whole);
    return whole;
  }

  const Segment& segment_;
  const SegmentContext& how_;
  CovarianceSum& sum_;
};

}  // namespace

void add_uncertainty(const Path& path, const std::vector<EdgeValue>& values, const Segment& segment, const SegmentContext& how,
                     const Transform& after, CovarianceSum& sum) {
  ErrorsOfEdges errors(segment, how, sum);
  Transform behind = after;
  for (std::size_t i = 0; i < path.up.size(); ++i) {
    errors.add(path.up[i], values[i], false, behind);
    behind = values[i].value * behind;
  }
  for (std::size_t i = path.down.size(); i-- > 0;) {
    const EdgeValue& edge = values[path.up.size() + i];
    errors.add(path.down[i], edge, true, behind);
    behind = between(edge.value, behind);
  }
}

}  // namespace armillary
