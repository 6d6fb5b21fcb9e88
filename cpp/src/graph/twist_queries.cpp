// Questions about motion: from measured twists where they lead from body to body, else from the poses between two frames.

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/body_search.hpp"
#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"
#include "graph/twist.hpp"
#include "graph/twist_uncertainty.hpp"

namespace armillary {

namespace {

/// One question, in one version of the structure.
class MotionSearch {
 public:
  MotionSearch(const Topology& topology, const TwistQuestion& question, const ForestOptions& options)
      : topology_(topology),
        question_(question),
        ends_(ends_of(topology, question)),
        fallback_(options.default_covariance),
        strict_(question.context),
        given_(question.context),
        scratch_(Scratch::of_this_thread()),
        search_(topology, ends_, scratch_) {
    strict_.outside = Outside::raise;
    strict_.prediction = nullptr;
    strict_.measured_in = given_.measured_in = question.with_measured ? &topology : nullptr;
    strict_.want_covariance = given_.want_covariance = false;  // that of a pose is of no use here, only its errors are
    if (given_.outside == Outside::predict) given_.prediction = &options.prediction;
    strict_.held = given_.held = &scratch_.held;
  }

  /// What covers the instant comes before what must be held or predicted, measured before differentiated.
  Failure answer(TwistAnswer& out) {
    name_bodies(out);
    if (ends_.of == ends_.reference) {
      out.certainty = Certainty::exact;
      return {};
    }
    Failure failure = measured_or_along_poses(strict_, out);
    const bool can_extend = given_.outside != Outside::raise && !question_.at.latest;
    if (failure && can_extend && failure.kind() != FailureKind::ambiguous_path) failure = measured_or_along_poses(given_, out);
    if (!failure) out.held = held_in(scratch_);
    return failure;
  }

 private:
  static MotionEnds ends_of(const Topology& topology, const TwistQuestion& question) {
    const BodyGraph* graph = topology.bodies();
    const auto rigid = [&](FrameId id) { return graph == nullptr ? topology.node(id).body : topology.rigid_body(id); };
    return {.of = rigid(question.of),
            .reference = question.reference == kNone ? graph->rigid_body(question.relative_to) : rigid(question.reference),
            .point = question.point == kNone ? question.of : question.point,
            .axes = question.expressed_in == kNone ? question.reference : question.expressed_in,
            .at = question.at};
  }

  Failure measured_or_along_poses(const QueryContext& context, TwistAnswer& out) {
    scratch_.held.clear();
    if (follows_the_poses(context)) return sum_along_poses(question_.reference, ends_.axes, question_.at.at, context, out);
    if (question_.with_measured && search_.find(context)) {
      if (const BodyVisit* contested = search_.first_contested())
        return rivals(search_.link_of(*contested), question_.at.latest ? Stamp::never() : question_.at.at);
      if (sum_measured(context, out)) return {};
    }
    reset(out);
    return along_poses(context, out);
  }

  void reset(TwistAnswer& out) const {
    out = {};
    scratch_.held.clear();
    name_bodies(out);
  }

  [[nodiscard]] BodyId reference_body() const {
    return question_.reference == kNone ? question_.relative_to : topology_.node(question_.reference).body;
  }

  void name_bodies(TwistAnswer& out) const {
    out.body = topology_.node(question_.of).body;
    out.reference_body = reference_body();
  }

  static Failure rivals(const TwistLink& contested, Stamp at) {
    return Evidence{.kind = FailureKind::ambiguous_path,
                    .of = contested.head,
                    .relation = contested.relation,
                    .requested = at,
                    .about_twist = true};
  }

  [[nodiscard]] bool is_known() const { return question_.context.want_covariance && scratch_.uncertainty.errors.is_known; }

  /// Where every edge between the two frames is measured, and no shorter chain of bodies is, the sum along the poses is
  /// the same and much cheaper: each pose is evaluated once. (One link alone may need no pose at all.)
  /// Leaves path and readings in scratch.
  bool follows_the_poses(const QueryContext& context) {
    if (!question_.with_measured || question_.at.latest || question_.reference == kNone || topology_.bodies() == nullptr)
      return false;
    const Stamp at = question_.at.at;
    const Path& path = scratch_.path;
    if (scratch_.finder.find(topology_, question_.of, question_.reference, at, context, scratch_.path)) return false;
    if (!read_twists(path, at, context, scratch_)) return false;
    std::size_t measured = 0;
    for (std::size_t i = 0; i < scratch_.readings.size(); ++i) {
      if (edge_at(i).provider.kind == ProviderKind::fixed) continue;
      if (!scratch_.readings[i]) return false;
      ++measured;
    }
    return measured > 1 && search_.is_shortest(path, measured, context);
  }

  /// Edge `i` of the path in scratch, `up` then `down`.
  [[nodiscard]] const PathEdge& edge_at(std::size_t i) const {
    const std::vector<PathEdge>&up = scratch_.path.up, &down = scratch_.path.down;
    return i < up.size() ? up[i] : down[i - up.size()];
  }

  // -- Measured: a chain of bodies

  /// The newest instant that all links and the poses between them cover.
  bool resolve_measured(const QueryContext& context, Stamp& at) {
    at = Stamp::never();
    RelationId limiting = kNone;
    search_.for_each_link([&](const BodyVisit& step) { at = std::min(at, search_.link_of(step).series->newest()); });
    for (Stamp before = Stamp::never(); before != at;) {
      before = at;
      bool fits = true;
      search_.for_each_link([&](const BodyVisit& step) {
        const FrameId head = search_.link_of(step).head;
        fits = fits && !resolve_latest(topology_, head, ends_.axes, context, scratch_, scratch_.second, at, limiting) &&
               !resolve_latest(topology_, ends_.point, head, context, scratch_, scratch_.second, at, limiting);
      });
      if (!fits) return false;
    }
    bool all_cover = true;
    search_.for_each_link([&](const BodyVisit& step) { all_cover = all_cover && covers(*search_.link_of(step).series, at); });
    return all_cover;
  }

  bool sum_measured(const QueryContext& context, TwistAnswer& out) {
    Stamp at = question_.at.at;
    if (question_.at.latest && !resolve_measured(context, at)) return false;
    scratch_.uncertainty.clear();
    bool fits = true;
    search_.for_each_link([&](const BodyVisit& step) { fits = fits && add_measured(step, at, context, out); });
    if (!fits) return false;
    out.stamp = at;
    out.method = TwistMethod::measured;
    set_covariance(out);
    return true;
  }

  /// One link: turned to the axes asked for and moved to the point asked for.
  bool add_measured(const BodyVisit& step, Stamp at, const QueryContext& context, TwistAnswer& out) {
    const TwistLink& link = search_.link_of(step);
    const std::optional<Stamp> read_at = question_.at.latest ? at : search_.usable_at(link, context);
    const TwistReading reading = read_at ? reading_at(link, *read_at) : TwistReading{};
    if (reading.link == nullptr) return false;
    const Velocity twist = step.is_reference ? reading.body_form() : -reading.body_form();
    scratch_.uncertainty.begin_chain();
    Segment to_axes, to_point;
    const bool is_as_given = reading.axes() == ends_.axes && ends_.point == link.head && *read_at == at;
    if (is_as_given ? plain_segment(link.head, ends_.axes, at, context, to_axes, out)
                    : append_segment(link.head, ends_.axes, at, context, to_axes, out))
      return false;
    if (is_known() && is_as_given) append_as_given(reading, at, to_axes.value.rotation);
    if (is_known() && !is_as_given) append_measured(reading, *read_at, !step.is_reference);
    if (append_segment(ends_.point, link.head, at, context, to_point, out)) return false;
    out.velocity = out.velocity + to_axes.value.rotation * twist.at(to_point.value.translation);
    const bool is_held = *read_at != at && context.outside == Outside::hold;
    if (is_held) context.note_held({.relation = link.relation, .age = age_of(*read_at, at)});
    out.predicted = out.predicted || (*read_at != at && context.outside == Outside::predict);
    out.relations.push_back(link.relation);
    if (is_known()) scratch_.uncertainty.end_chain();
    return true;
  }

  void append_measured(const TwistReading& reading, Stamp read_at, bool upwards) {
    TwistUncertainty& uncertainty = scratch_.uncertainty;
    const std::size_t first = uncertainty.errors.effects.size();
    add_reading_errors(reading, read_at, uncertainty.errors);
    add_turn_errors(topology_, reading, fallback_, scratch_, uncertainty.errors);
    uncertainty.append_motion(reading.body_form(), upwards, first);
  }

  /// Along the axes and of the point that were given: the pose that turned it there turns it back, whatever its error.
  void append_as_given(const TwistReading& reading, Stamp at, const Rotation& axes_R_head) {
    ErrorList& errors = scratch_.uncertainty.errors;
    const std::size_t first = errors.effects.size();
    add_reading_errors(reading, at, errors);
    if (errors.is_known) errors.effects.back().on_motion = {axes_R_head.matrix(), {}, axes_R_head.matrix()};
    scratch_.uncertainty.append_motion({}, false, first);
  }

  /// A pose on the way; its relations, flags and errors go into the answer.
  Failure append_segment(FrameId of, FrameId in_frame, Stamp at, const QueryContext& context, Segment& segment,
                         TwistAnswer& out) {
    if (of == in_frame) return {};
    if (!is_known()) return plain_segment(of, in_frame, at, context, segment, out);
    if (Failure failure = append_poses(topology_, of, in_frame, at, context, fallback_, scratch_, segment)) return failure;
    list_segment(segment, out);
    return {};
  }

  /// Evaluates a segment without its errors.
  Failure plain_segment(FrameId of, FrameId in_frame, Stamp at, const QueryContext& context, Segment& segment, TwistAnswer& out) {
    if (Failure failure =
            evaluate_segment(topology_, of, in_frame, at, false, context, fallback_, scratch_, scratch_.second, segment))
      return failure;
    list_segment(segment, out);
    return {};
  }

  void list_segment(const Segment& segment, TwistAnswer& out) const {
    out.predicted = out.predicted || segment.predicted;
    for (const auto* edges : {&scratch_.second.up, &scratch_.second.down})
      for (const PathEdge& edge : *edges) list_once(edge.relation, out.relations);
  }

  static void list_once(RelationId relation, RelationList& list) {
    if (std::ranges::find(list.ids(), relation) == list.ids().end()) list.push_back(relation);
  }

  void set_covariance(TwistAnswer& out) const {
    out.certainty = is_known() ? Certainty::known : Certainty::unknown;
    if (is_known()) out.covariance = std::make_unique<Covariance>(scratch_.uncertainty.total());
  }

  // -- Along the poses

  /// The frame of the reference body that is fewest edges away; the failure of the last one where none is connected.
  Failure nearest_reference(const QueryContext& context, FrameId& nearest) {
    Failure failure = Evidence{.kind = FailureKind::not_connected, .of = question_.of, .in_frame = kNone};
    if (!is_declared(reference_body())) return failure;
    const Stamp at = question_.at.latest ? Stamp::never() : question_.at.at;
    std::size_t fewest = SIZE_MAX;
    for (const FrameId frame : topology_.bodies()->frames_of(reference_body())) {
      if (Failure missed = scratch_.finder.find(topology_, question_.of, frame, at, context, scratch_.path)) {
        if (fewest == SIZE_MAX) failure = std::move(missed);
        continue;
      }
      const std::size_t edges = scratch_.path.up.size() + scratch_.path.down.size();
      if (edges >= fewest) continue;
      fewest = edges;
      nearest = frame;
    }
    return fewest == SIZE_MAX ? std::move(failure) : Failure{};
  }

  Failure resolve_poses(FrameId reference, FrameId axes, const QueryContext& context, Stamp& at, RelationId& limiting) {
    const auto resolve = [&](FrameId of, FrameId in_frame, Path& path) {
      return resolve_latest(topology_, of, in_frame, context, scratch_, path, at, limiting);
    };
    at = Stamp::never();
    for (Stamp before = Stamp::always(); before != at;) {
      before = at;
      if (ends_.point != question_.of)
        if (Failure failure = resolve(ends_.point, question_.of, scratch_.second)) return failure;
      if (axes != reference)
        if (Failure failure = resolve(reference, axes, scratch_.second)) return failure;
      if (Failure failure = resolve(question_.of, reference, scratch_.path)) return failure;
    }
    if (at != Stamp::never()) return {};
    at = newest_datum(scratch_.path);
    if (scratch_.path.holds_at(at)) return {};
    return scratch_.finder.find(topology_, question_.of, reference, at, context, scratch_.path);
  }

  Failure along_poses(const QueryContext& context, TwistAnswer& out) {
    FrameId reference = question_.reference;
    if (reference == kNone)
      if (Failure failure = nearest_reference(context, reference)) return failure;
    const FrameId axes = question_.expressed_in == kNone ? reference : question_.expressed_in;
    Stamp at = question_.at.at;
    RelationId limiting = kNone;
    Failure failure = question_.at.latest ? resolve_poses(reference, axes, context, at, limiting)
                                          : scratch_.finder.find(topology_, question_.of, reference, at, context, scratch_.path);
    if (!failure && !read_measured(at, context)) failure = rivals(*edge_at(scratch_.readings.size() - 1).links, at);
    if (!failure) failure = sum_along_poses(reference, axes, at, context, out);
    if (failure && question_.at.latest && failure->kind == FailureKind::before_history) failure->limiting = limiting;
    return failure;
  }

  bool read_measured(Stamp at, const QueryContext& context) {
    scratch_.readings.clear();
    return topology_.bodies() == nullptr || !question_.with_measured || read_twists(scratch_.path, at, context, scratch_);
  }

  /// Sums the motions along the path in scratch, measured where there are readings.
  Failure sum_along_poses(FrameId reference, FrameId axes, Stamp at, const QueryContext& context, TwistAnswer& out) {
    TwistSegment segment;
    scratch_.uncertainty.clear();
    const MotionContext motions{context, fallback_, question_.window,
                                question_.context.want_covariance ? &scratch_.uncertainty.errors : nullptr};
    if (Failure failure = evaluate_twist_segment(scratch_.path, at, motions, scratch_, out.relations, segment)) {
      name_gap(topology_, scratch_.path, failure);
      return failure;
    }
    out.predicted = segment.predicted;
    out.method = segment.methods.together();
    for (const auto* edges : {&scratch_.path.up, &scratch_.path.down})
      for (const PathEdge& edge : *edges) out.relations.push_back(edge.relation);
    if (segment.timeless) {
      out.certainty = Certainty::exact;
      return {};
    }
    out.stamp = at;
    out.velocity = segment.velocity;
    return move_to_point_and_axes(segment, reference, axes, at, context, out);
  }

  /// From the origin of `of` and the axes of `reference` to what was asked for.
  Failure move_to_point_and_axes(const TwistSegment& segment, FrameId reference, FrameId axes, Stamp at,
                                 const QueryContext& context, TwistAnswer& out) {
    scratch_.uncertainty.begin_chain();
    Segment from_axes, to_point;
    const bool is_body_form = axes == question_.of && !is_known();
    if (!is_body_form)
      if (Failure failure = append_segment(reference, axes, at, context, from_axes, out)) return failure;
    if (is_known()) append_motions(topology_, at, fallback_, scratch_);
    if (Failure failure = append_segment(ends_.point, question_.of, at, context, to_point, out)) return failure;
    out.velocity = out.velocity.at(segment.in_T_of.rotation * to_point.value.translation);
    out.velocity = (is_body_form ? segment.in_T_of.rotation.inverse() : from_axes.value.rotation) * out.velocity;
    if (is_known()) scratch_.uncertainty.end_chain();
    set_covariance(out);
    return {};
  }

  const Topology& topology_;
  const TwistQuestion& question_;
  const MotionEnds ends_;
  const std::optional<Covariance>& fallback_;
  QueryContext strict_, given_;
  Scratch& scratch_;
  BodySearch search_;
};

}  // namespace

Result<TwistAnswer> Forest::twist(const TwistQuestion& question) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  Result<TwistAnswer> result;
  for (const FrameId id : {question.of, question.reference, question.expressed_in, question.point})
    if ((id != kNone || id == question.of) && !topology.has(id)) {
      result.failure = Evidence{.kind = FailureKind::unknown_frame, .of = id};
      return result;
    }
  result.failure = MotionSearch(topology, question, state_->options).answer(result.value);
  return result;
}

// -- Many instants

namespace {

/// Many instants along one path of straight samples and fixed poses, without what a single answer says besides. What was read of
/// an edge is kept while the instants stay between the same two rows.
class TwistRows {
 public:
  TwistRows(const Topology& topology, const TwistQuestion& question) : topology_(topology), question_(question) {}

  /// Whether the question is about no more than the origin of a frame, along the axes of one of the two.
  [[nodiscard]] bool is_plain() const {
    const bool is_measured = question_.with_measured && topology_.bodies() != nullptr;
    const bool has_axes = question_.expressed_in == kNone || question_.expressed_in == question_.reference || is_body_form();
    return !is_measured && has_axes && question_.reference != kNone && question_.window.ns == 0 &&
           (question_.point == kNone || question_.point == question_.of) && question_.context.outside == Outside::raise &&
           topology_.has(question_.of) && topology_.has(question_.reference);
  }

  /// False where the instant needs more: then the question is asked by itself.
  [[nodiscard]] bool row(Stamp at, double* out) {
    if (!is_found_ || !path_.holds_at(at)) {
      is_found_ = find(at);
      if (!is_found_) return false;
    }
    Place of, in;
    if (!carry(up_, at, of) || !carry(down_, at, in)) return false;
    const Vector3 lever = of.top_T_begin.translation - in.top_T_begin.translation;
    Velocity velocity = of.velocity - in.velocity.at(lever);  // along the axes of the top
    velocity = (is_body_form() ? of : in).top_T_begin.rotation.inverse() * velocity;
    std::ranges::copy(values_of(velocity), out);
    return true;
  }

 private:
  /// An edge with the two rows that were read last, and the motion between them.
  struct Edge {
    const Series* series = nullptr;  // null: fixed
    Transform fixed{};
    std::int64_t from_ns = 0, to_ns = 0;
    Transform before{}, after{};
    Vector3 linear{}, angular{};
    double per_ns = 0.0;

    [[nodiscard]] bool read(Stamp at) {
      if (from_ns <= at.ns && at.ns < to_ns) return true;
      const auto& [first, second, is_cut] = series->bracket(at);
      if (!first || !second) return false;
      from_ns = first.stamp_ns(), to_ns = second.stamp_ns();
      before = pose_of(first), after = pose_of(second);
      per_ns = 1.0 / static_cast<double>(to_ns - from_ns);
      linear = (1e9 * per_ns) * (after.translation - before.translation);
      angular = (1e9 * per_ns) * short_log(before.rotation, after.rotation);
      return true;
    }
  };

  /// The begin of a chain of edges, carried to its top.
  struct Place {
    Transform top_T_begin{};
    Velocity velocity{};
  };

  [[nodiscard]] bool is_body_form() const { return question_.expressed_in == question_.of; }

  [[nodiscard]] bool find(Stamp at) {
    if (finder_.find(topology_, question_.of, question_.reference, at, question_.context, path_)) return false;
    return list(path_.up, at, up_) && list(path_.down, at, down_);
  }

  [[nodiscard]] bool list(const std::vector<PathEdge>& edges, Stamp at, std::vector<Edge>& out) const {
    out.clear();
    for (const PathEdge& edge : edges) {
      const bool is_fixed = edge.provider.kind == ProviderKind::fixed && at >= edge.opens;
      if (!is_fixed && (edge.provider.kind != ProviderKind::sampled || !is_straight(edge, question_.context))) return false;
      out.push_back({.series = is_fixed ? nullptr : &edge.provider.series()});
      if (is_fixed) out.back().fixed = edge.provider.fixed().value;
    }
    return true;
  }

  [[nodiscard]] static bool carry(std::vector<Edge>& edges, Stamp at, Place& place) {
    for (Edge& edge : edges) {
      if (edge.series == nullptr) {
        place = {edge.fixed * place.top_T_begin, edge.fixed.rotation * place.velocity};
        continue;
      }
      if (!edge.read(at)) return false;
      const double u = static_cast<double>(at.ns - edge.from_ns) * edge.per_ns;
      const Transform pose = interpolate_linear(edge.before, edge.after, u);
      const Vector3 swung = place.velocity.linear + cross(edge.angular, place.top_T_begin.translation);
      place.velocity.linear = pose.rotation * swung + edge.linear;
      place.velocity.angular = pose.rotation * (place.velocity.angular + edge.angular);
      place.top_T_begin = pose * place.top_T_begin;
    }
    return true;
  }

  const Topology& topology_;
  const TwistQuestion& question_;
  PathFinder finder_;
  Path path_;
  bool is_found_ = false;
  std::vector<Edge> up_, down_;
};

}  // namespace

Failure Forest::twists(const TwistQuestion& question, std::span<const std::int64_t> stamps, double* out) const {
  const Pin pin;
  TwistQuestion asked = question;
  asked.context.want_covariance = false;
  const QueryContext plain = asked.context;
  TwistRows rows(*state_->topology.load(), asked);
  const bool is_plain = rows.is_plain();
  for (std::size_t row = 0; row < stamps.size(); ++row, out += kTwistWidth) {
    if (is_plain && rows.row({stamps[row]}, out)) continue;
    asked.at = When::exactly({stamps[row]});
    asked.context = plain;
    Result<TwistAnswer> answer = twist_by_policy(asked);
    if (!answer) {
      answer.failure->row = row;
      return std::move(answer.failure);
    }
    std::ranges::copy(values_of(answer.value.velocity), out);
  }
  return {};
}

Failure Forest::twists(const TwistQuestion& question, std::span<const std::int64_t> stamps, double* out,
                       double* covariances) const {
  const Pin pin;
  TwistQuestion asked = question;
  asked.context.want_covariance = true;
  const QueryContext plain = asked.context;
  for (std::size_t row = 0; row < stamps.size(); ++row, out += kTwistWidth, covariances += kTwistWidth * kTwistWidth) {
    asked.at = When::exactly({stamps[row]});
    asked.context = plain;
    Result<TwistAnswer> answer = twist_by_policy(asked);
    if (!answer) {
      answer.failure->row = row;
      return std::move(answer.failure);
    }
    std::ranges::copy(values_of(answer.value.velocity), out);
    const Certainty certainty = answer.value.certainty;
    if (certainty == Certainty::known && answer.value.covariance != nullptr)
      std::ranges::copy(answer.value.covariance->values, covariances);
    else
      std::fill_n(covariances, kTwistWidth * kTwistWidth, certainty == Certainty::exact ? 0.0 : std::nan(""));
  }
  return {};
}

}  // namespace armillary
