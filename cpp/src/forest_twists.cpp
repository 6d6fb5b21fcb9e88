// Questions about motion: measured twists from body to body, else the motions of the edges between two frames.

#include <algorithm>
#include <forward_list>

#include "edge_twist.hpp"
#include "forest_state.hpp"
#include "twist_legs.hpp"
#include "twist_uncertainty.hpp"

namespace armillary {

namespace {

/// A chain of frames for the uncertainty, with the memory behind its pointers.
class Chain {
 public:
  void clear() { steps_.clear(); }

  /// From `in_frame` to `of` of a path whose edges have these values; only their poses count.
  void append(const Path& path, const std::vector<Evaluation>& values) {
    for_each(path, [&](const PathEdge& edge, std::size_t i, bool upwards) {
      steps_.push_back({edge.relation, upwards, values[i].value, {}, kept(values[i].certainty, values[i].covariance)});
    });
  }

  void append(const Path& path, const std::vector<Motion>& motions) {
    for_each(path, [&](const PathEdge& edge, std::size_t i, bool upwards) {
      const Motion& motion = motions[i];
      steps_.push_back({edge.relation, upwards, motion.pose.value, motion.body_form(),
                        kept(motion.pose.certainty, motion.pose.covariance), kept(motion.certainty, motion.covariance)});
    });
  }

  /// A motion that is known where the chain has come to.
  void append(RelationId relation, const Velocity& body_form, const Covariance& covariance) {
    steps_.push_back({relation, false, {}, body_form, nullptr, kept(Certainty::known, covariance)});
  }

  [[nodiscard]] const std::vector<ChainStep>& steps() const { return steps_; }

 private:
  template <typename Visit>
  static void for_each(const Path& path, Visit visit) {
    for (std::size_t i = 0; i < path.down.size(); ++i) visit(path.down[i], path.up.size() + i, true);
    for (std::size_t i = path.up.size(); i-- > 0;) visit(path.up[i], i, false);
  }
  const Covariance* kept(Certainty certainty, const Covariance& covariance) {
    return certainty == Certainty::known ? &kept_.emplace_front(covariance) : nullptr;
  }

  std::vector<ChainStep> steps_;
  std::forward_list<Covariance> kept_;
};

/// One question, in one version of the structure.
class MotionSearch {
 public:
  MotionSearch(const Topology& topology, const TwistQuestion& question, const ForestOptions& options)
      : topology_(topology),
        question_(question),
        reference_body_(question.reference == kNone ? question.relative_to : topology.node(question.reference).body),
        fallback_(options.default_covariance),
        strict_(question.context),
        given_(question.context),
        scratch_(Scratch::of_this_thread()) {
    strict_.outside = Outside::raise;
    strict_.prediction = nullptr;
    strict_.measured_in = given_.measured_in = question.with_measured ? &topology : nullptr;
    if (given_.outside == Outside::predict) given_.prediction = &options.prediction;
    of_body_ = topology.node(question.of).body;
    point_ = question.point == kNone ? question.of : question.point;
  }

  /// What covers the instant comes before what must be held or predicted, measured before differentiated.
  Failure answer(TwistAnswer& out) {
    out.body = of_body_;
    out.reference_body = reference_body_;
    if (of_body_ == reference_body_) {
      out.certainty = Certainty::exact;
      return {};
    }
    Failure failure = measured_or_along_poses(strict_, out);
    const bool can_extend = given_.outside != Outside::raise && !question_.at.latest;
    if (failure && can_extend && failure.kind() != FailureKind::ambiguous_path) failure = measured_or_along_poses(given_, out);
    return failure;
  }

 private:
  Failure measured_or_along_poses(const QueryContext& context, TwistAnswer& out) {
    if (follows_the_poses(context)) {
      const FrameId axes = question_.expressed_in == kNone ? question_.reference : question_.expressed_in;
      return sum_along_poses(question_.reference, axes, question_.at.at, context, out);
    }
    if (find_measured(context)) {
      if (const BodyVisit* contested = first_contested())
        return rivals(link_of(*contested), question_.at.latest ? Stamp::never() : question_.at.at);
      if (sum_measured(context, out)) return {};
    }
    reset(out);
    return along_poses(context, out);
  }

  void reset(TwistAnswer& out) const {
    out = {};
    out.body = of_body_;
    out.reference_body = reference_body_;
  }

  /// Where every edge between the two frames is measured, and no shorter chain of bodies is, the sum along the poses is
  /// the same and much cheaper: each pose is evaluated once. (One link alone may need no pose at all.)
  /// Leaves the path in scratch.
  bool follows_the_poses(const QueryContext& context) {
    if (!question_.with_measured || question_.at.latest || question_.reference == kNone || topology_.bodies() == nullptr)
      return false;
    const Stamp at = question_.at.at;
    if (scratch_.finder.find(topology_, question_.of, question_.reference, at, context, scratch_.path)) return false;
    std::size_t measured = 0;
    for (const auto* edges : {&scratch_.path.up, &scratch_.path.down})
      for (const PathEdge& edge : *edges) {
        if (edge.provider.kind == ProviderKind::fixed) continue;
        if (!twist_of(edge, at, context)) return false;
        ++measured;
      }
    return measured > 1 && fewest_links(context) == measured;
  }

  /// Of any chain of bodies, whether it has data for the instant, and poses that carry it, or not.
  std::size_t fewest_links(const QueryContext& context) {
    needs_poses_ = false;
    const bool found = find_measured(context);
    needs_poses_ = true;
    std::size_t links = 0;
    if (found) for_each_link([&](const BodyVisit&) { ++links; });
    return links;
  }

  // -- Measured: a chain of bodies

  [[nodiscard]] const TwistLink& link_of(const BodyVisit& visit) const { return topology_.bodies()->link(visit.link); }

  /// The instant at which a link is to be read for the one asked for; none where it has nothing to say.
  [[nodiscard]] std::optional<Stamp> usable_at(const TwistLink& link, const QueryContext& context) const {
    if (!needs_poses_) return question_.at.at;
    const Series& series = *link.series;
    if (series.empty()) return std::nullopt;
    if (question_.at.latest) return series.newest();
    const Stamp at = question_.at.at;
    if (covers(series, at)) return at;
    const bool is_after = at > series.newest();
    if (context.outside == Outside::hold) return is_after ? series.newest() : Stamp{series.first_row().stamp_ns()};
    const bool goes_on =
        context.prediction != nullptr && is_after && at.ns - series.newest().ns <= context.prediction->horizon.ns;
    return goes_on ? std::optional(series.newest()) : std::nullopt;
  }

  [[nodiscard]] bool is_connected(FrameId head, const QueryContext& context) {
    const Stamp at = question_.at.latest ? Stamp::never() : question_.at.at;
    for (const FrameId other : {point_, axes()})
      if (other != kNone && scratch_.finder.find(topology_, head, other, at, context, scratch_.second)) return false;
    return true;
  }

  [[nodiscard]] FrameId axes() const { return question_.expressed_in == kNone ? question_.reference : question_.expressed_in; }

  /// Breadth first from the moving body; leaves the visits in scratch, the goal last.
  bool find_measured(const QueryContext& context) {
    const BodyGraph* graph = topology_.bodies();
    scratch_.visits.clear();
    if (graph == nullptr || graph->links_at(of_body_).empty() || graph->links_at(reference_body_).empty()) return false;
    if (axes() == kNone || !question_.with_measured) return false;
    scratch_.visits.push_back({.body = of_body_});
    for (std::uint32_t i = 0; i < scratch_.visits.size(); ++i)
      if (expand(*graph, i, context)) return true;
    return false;
  }

  bool expand(const BodyGraph& graph, std::uint32_t from, const QueryContext& context) {
    const BodyId body = scratch_.visits[from].body;
    const std::vector<std::uint32_t>& near = graph.links_at(body);
    for (std::size_t i = 0; i < near.size();) {
      BodyVisit next{.from = from};
      const std::size_t end = choose_among_rivals(graph, near, i, context, next);
      const bool found = end > i && next.body != kNone;
      i = std::max(end, i + 1);
      if (!found) continue;
      const TwistLink& link = graph.link(next.link);
      next.is_reference = link.body == body;
      next.body = next.is_reference ? link.reference : link.body;
      if (is_reached(next.body)) continue;
      scratch_.visits.push_back(next);
      if (next.body == reference_body_) return true;
    }
    return false;
  }

  /// Of the rivals that begin at `first`, those who say something that poses carry; returns the index behind all of them.
  std::size_t list_rivals(const BodyGraph& graph, const std::vector<std::uint32_t>& near, std::size_t first,
                          const QueryContext& context) {
    scratch_.rivals.clear();
    std::size_t i = first;
    for (; i < near.size() && graph.link(near[i]).rivals(graph.link(near[first])); ++i) {
      const TwistLink& link = graph.link(near[i]);
      if (usable_at(link, context) && (!needs_poses_ || is_connected(link.head, context))) scratch_.rivals.push_back(near[i]);
    }
    return i;
  }

  /// At LATEST only who covers the newest instant that any of them has is a rival: the others have ended.
  [[nodiscard]] bool has_ended(const BodyGraph& graph, const TwistLink& link) const {
    if (!question_.at.latest) return false;
    return std::ranges::any_of(scratch_.rivals,
                               [&](std::uint32_t other) { return graph.link(other).series->newest() > link.series->newest(); });
  }

  /// As `list_rivals`. `next.body` is set where one is usable.
  std::size_t choose_among_rivals(const BodyGraph& graph, const std::vector<std::uint32_t>& near, std::size_t first,
                                  const QueryContext& context, BodyVisit& next) {
    const std::size_t end = list_rivals(graph, near, first, context);
    int preference = -1;
    for (const std::uint32_t rival : scratch_.rivals) {
      const TwistLink& link = graph.link(rival);
      if (link.preference < preference || has_ended(graph, link)) continue;
      next.is_contested = link.preference == preference;
      if (!next.is_contested) next.link = rival;
      next.body = link.body;
      preference = link.preference;
    }
    return end;
  }

  [[nodiscard]] bool is_reached(BodyId body) const {
    return std::ranges::any_of(scratch_.visits, [body](const BodyVisit& visit) { return visit.body == body; });
  }

  template <typename Visit>
  void for_each_link(Visit visit) const {
    for (const BodyVisit* step = &scratch_.visits.back(); step != &scratch_.visits.front(); step = &scratch_.visits[step->from])
      visit(*step);
  }

  [[nodiscard]] const BodyVisit* first_contested() const {
    const BodyVisit* found = nullptr;
    for_each_link([&](const BodyVisit& step) { found = step.is_contested ? &step : found; });
    return found;
  }

  [[nodiscard]] static Failure rivals(const TwistLink& contested, Stamp at) {
    return Evidence{.kind = FailureKind::ambiguous_path,
                    .of = contested.head,
                    .relation = contested.relation,
                    .requested = at,
                    .about_twist = true};
  }

  /// The newest instant that all links and the poses between them cover.
  bool settle_measured(const QueryContext& context, Stamp& at) {
    at = Stamp::never();
    RelationId limiting = kNone;
    for_each_link([&](const BodyVisit& step) { at = std::min(at, link_of(step).series->newest()); });
    for (Stamp before = Stamp::never(); before != at;) {
      before = at;
      bool fits = true;
      for_each_link([&](const BodyVisit& step) {
        const FrameId head = link_of(step).head;
        fits = fits && !settle_latest(topology_, head, axes(), context, scratch_, scratch_.second, at, limiting) &&
               !settle_latest(topology_, point_, head, context, scratch_, scratch_.second, at, limiting);
      });
      if (!fits) return false;
    }
    bool all_cover = true;
    for_each_link([&](const BodyVisit& step) { all_cover = all_cover && covers(*link_of(step).series, at); });
    return all_cover;
  }

  bool sum_measured(const QueryContext& context, TwistAnswer& out) {
    Stamp at = question_.at.at;
    if (question_.at.latest && !settle_measured(context, at)) return false;
    out.certainty = context.want_covariance ? Certainty::known : Certainty::unknown;
    TwistUncertainty uncertainty;
    bool fits = true;
    for_each_link([&](const BodyVisit& step) { fits = fits && add_measured(step, at, context, uncertainty, out); });
    if (!fits) return false;
    out.stamp = at;
    out.method = TwistMethod::measured;
    set_covariance(uncertainty, out);
    return true;
  }

  /// One link: turned to the axes asked for and moved to the point asked for.
  bool add_measured(const BodyVisit& step, Stamp at, const QueryContext& context, TwistUncertainty& uncertainty,
                    TwistAnswer& out) {
    const TwistLink& link = link_of(step);
    const Stamp read_at = question_.at.latest ? at : *usable_at(link, context);
    MeasuredTwist twist = measured_at(*link.series, read_at);
    if (!step.is_reference) twist.body_form = -twist.body_form;
    chain_.clear();
    Leg to_axes, to_point;
    if (!append_leg(link.head, axes(), at, context, to_axes, out)) return false;
    if (twist.certainty == Certainty::known && out.certainty == Certainty::known)
      chain_.append(link.relation, twist.body_form, twist.covariance);
    if (!append_leg(point_, link.head, at, context, to_point, out)) return false;
    out.velocity = out.velocity + to_axes.value.rotation * twist.body_form.at(to_point.value.translation);
    out.held = out.held || (read_at != at && context.outside == Outside::hold);
    out.predicted = out.predicted || (read_at != at && context.outside == Outside::predict);
    out.relations.push_back(link.relation);
    if (twist.certainty == Certainty::unknown) out.certainty = Certainty::unknown;
    if (out.certainty == Certainty::known && context.want_covariance) uncertainty.add(chain_.steps());
    return true;
  }

  /// A pose on the way; its relations, flags and uncertainty go into the answer.
  bool append_leg(FrameId of, FrameId in_frame, Stamp at, const QueryContext& context, Leg& leg, TwistAnswer& out) {
    if (of == in_frame) return true;
    if (answer_leg(topology_, of, in_frame, at, false, context, fallback_, scratch_, scratch_.second, leg)) return false;
    out.held = out.held || leg.held;
    out.predicted = out.predicted || leg.predicted;
    for (const auto* edges : {&scratch_.second.up, &scratch_.second.down})
      for (const PathEdge& edge : *edges) list_once(edge.relation, out.relations);
    if (leg.certainty == Certainty::unknown) out.certainty = Certainty::unknown;
    if (out.certainty == Certainty::known && context.want_covariance) chain_.append(scratch_.second, scratch_.values);
    return true;
  }

  static void list_once(RelationId relation, RelationList& list) {
    if (std::ranges::find(list.ids(), relation) == list.ids().end()) list.push_back(relation);
  }

  static void set_covariance(const TwistUncertainty& uncertainty, TwistAnswer& out) {
    if (out.certainty == Certainty::known) out.covariance = std::make_unique<Covariance>(uncertainty.total());
  }

  // -- Along the poses

  /// The frame of the reference body that is fewest edges away; the failure of the last one where none is connected.
  Failure nearest_reference(const QueryContext& context, FrameId& nearest) {
    Failure failure = Evidence{.kind = FailureKind::not_connected, .of = question_.of, .in_frame = kNone};
    if (!is_declared(reference_body_)) return failure;
    const Stamp at = question_.at.latest ? Stamp::never() : question_.at.at;
    std::size_t fewest = SIZE_MAX;
    for (const FrameId frame : topology_.bodies()->frames_of(reference_body_)) {
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

  Failure settle_poses(FrameId reference, FrameId axes, const QueryContext& context, Stamp& at, RelationId& limiting) {
    const auto settle = [&](FrameId of, FrameId in_frame, Path& path) {
      return settle_latest(topology_, of, in_frame, context, scratch_, path, at, limiting);
    };
    at = Stamp::never();
    for (Stamp before = Stamp::always(); before != at;) {
      before = at;
      if (point_ != question_.of)
        if (Failure failure = settle(point_, question_.of, scratch_.second)) return failure;
      if (axes != reference)
        if (Failure failure = settle(reference, axes, scratch_.second)) return failure;
      if (Failure failure = settle(question_.of, reference, scratch_.path)) return failure;
    }
    return {};
  }

  Failure along_poses(const QueryContext& context, TwistAnswer& out) {
    FrameId reference = question_.reference;
    if (reference == kNone)
      if (Failure failure = nearest_reference(context, reference)) return failure;
    const FrameId axes = question_.expressed_in == kNone ? reference : question_.expressed_in;
    Stamp at = question_.at.at;
    RelationId limiting = kNone;
    Failure failure = question_.at.latest ? settle_poses(reference, axes, context, at, limiting)
                                          : scratch_.finder.find(topology_, question_.of, reference, at, context, scratch_.path);
    if (!failure) failure = sum_along_poses(reference, axes, at, context, out);
    if (failure && question_.at.latest && failure->kind == FailureKind::before_history) failure->limiting = limiting;
    return failure;
  }

  Failure sum_along_poses(FrameId reference, FrameId axes, Stamp at, const QueryContext& context, TwistAnswer& out) {
    for (const auto* edges : {&scratch_.path.up, &scratch_.path.down})
      for (const PathEdge& edge : *edges)
        if (twist_of(edge, at, context).is_contested) return rivals(*edge.links, at);
    TwistLeg leg;
    const MotionContext motions{context, fallback_, question_.window};
    if (Failure failure = evaluate_twist_leg(scratch_.path, at, motions, scratch_, scratch_.motions, out.relations, leg))
      return failure;
    out.held = leg.held;
    out.predicted = leg.predicted;
    out.method = leg.methods.together();
    for (const auto* edges : {&scratch_.path.up, &scratch_.path.down})
      for (const PathEdge& edge : *edges) out.relations.push_back(edge.relation);
    if (leg.timeless) {
      out.certainty = Certainty::exact;
      return {};
    }
    out.stamp = at;
    out.velocity = leg.velocity;
    out.certainty = leg.certainty == Certainty::unknown ? Certainty::unknown : Certainty::known;
    return move_to_point_and_axes(leg, reference, axes, at, context, out);
  }

  /// From the origin of `of` and the axes of `reference` to what was asked for.
  Failure move_to_point_and_axes(const TwistLeg& leg, FrameId reference, FrameId axes, Stamp at, const QueryContext& context,
                                 TwistAnswer& out) {
    const bool is_known = out.certainty == Certainty::known && context.want_covariance;
    chain_.clear();
    Leg from_axes, to_point;
    const bool is_body_form = axes == question_.of && !is_known;
    if (!is_body_form && !append_leg(reference, axes, at, context, from_axes, out))
      return leg_failure(reference, axes, at, context);
    if (is_known) chain_.append(scratch_.path, scratch_.motions);
    if (!append_leg(point_, question_.of, at, context, to_point, out)) return leg_failure(point_, question_.of, at, context);
    out.velocity = out.velocity.at(leg.in_T_of.rotation * to_point.value.translation);
    out.velocity = (is_body_form ? leg.in_T_of.rotation.inverse() : from_axes.value.rotation) * out.velocity;
    if (out.certainty != Certainty::known || !context.want_covariance) return {};
    TwistUncertainty uncertainty;
    uncertainty.add(chain_.steps());
    set_covariance(uncertainty, out);
    return {};
  }

  Failure leg_failure(FrameId of, FrameId in_frame, Stamp at, const QueryContext& context) {
    Leg leg;
    return answer_leg(topology_, of, in_frame, at, false, context, fallback_, scratch_, scratch_.second, leg);
  }

  const Topology& topology_;
  const TwistQuestion& question_;
  const BodyId reference_body_;
  const std::optional<Covariance>& fallback_;
  QueryContext strict_, given_;
  bool needs_poses_ = true;  // a link counts only where poses carry it to the point and axes asked for
  Scratch& scratch_;
  BodyId of_body_ = kNone;
  FrameId point_ = kNone;
  Chain chain_;
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

}  // namespace armillary
