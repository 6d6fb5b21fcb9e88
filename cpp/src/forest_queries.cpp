// Questions. No lock is taken: one Pin, one version of the structure.

#include <algorithm>

#include "forest_state.hpp"
#include "legs.hpp"

namespace armillary {

namespace {

bool is_alive(const Topology& topology, FrameId id) { return id < topology.frames() && topology.node(id).alive; }

Failure check_frames(const Topology& topology, const Question& question) {
  for (const FrameId id : {question.of, question.in_frame})
    if (!is_alive(topology, id)) return {.kind = FailureKind::unknown_frame, .of = id};
  if (question.fixed_frame != kNone && !is_alive(topology, question.fixed_frame))
    return {.kind = FailureKind::unknown_frame, .of = question.fixed_frame};
  return {};
}

void list_relations(const Path& path, RelationList& list) {
  for (const PathEdge& edge : path.up) list.push_back(edge.relation);
  for (auto edge = path.down.rbegin(); edge != path.down.rend(); ++edge) list.push_back(edge->relation);
}

void set_covariance(const CovarianceSum& sum, PoseAnswer& answer) {
  answer.covariance = std::make_unique<Covariance>(sum.total());
}

/// One instant for both ends.
Failure answer_at_one_time(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback,
                           Scratch& scratch, PoseAnswer& answer) {
  Leg leg;
  if (Failure failure = answer_leg(topology, question.of, question.in_frame, question.at.at, question.at.latest, question.context,
                                   fallback, scratch, scratch.path, leg))
    return failure;
  answer.transform = leg.value;
  answer.held = leg.held;
  answer.predicted = leg.predicted;
  answer.certainty = leg.certainty;
  const bool same_frame = question.of == question.in_frame && !question.at.latest;
  answer.stamp = leg.timeless && !same_frame ? Stamp::always() : leg.at;
  answer.relations.reserve(scratch.path.up.size() + scratch.path.down.size());
  list_relations(scratch.path, answer.relations);
  if (leg.certainty == Certainty::known && question.context.want_covariance) {
    CovarianceSum sum(false);
    add_uncertainty(scratch.path, scratch.values, leg, {}, sum);
    set_covariance(sum, answer);
  }
  return {};
}

Stamp stamp_of_two(const Question& question, const Leg& far, const Leg& near) {
  if (far.timeless && near.timeless) return Stamp::always();
  if (!question.at.latest) return question.at.at;
  return near.timeless ? far.at : near.at;
}

/// `of` at one instant, `in_frame` at another, through a frame that stood still.
Failure answer_at_two_times(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback,
                            Scratch& scratch, PoseAnswer& answer) {
  Leg far, near;
  if (Failure failure = answer_leg(topology, question.of, question.fixed_frame, question.of_at.at, question.of_at.latest,
                                   question.context, fallback, scratch, scratch.path, far))
    return failure;
  CovarianceSum sum(true);
  const bool far_known = far.certainty != Certainty::unknown && question.context.want_covariance;
  if (far_known) add_uncertainty(scratch.path, scratch.values, far, {}, sum);
  if (Failure failure = answer_leg(topology, question.fixed_frame, question.in_frame, question.at.at, question.at.latest,
                                   question.context, fallback, scratch, scratch.second, near))
    return failure;
  const bool all_known = far_known && near.certainty != Certainty::unknown;
  if (all_known) add_uncertainty(scratch.second, scratch.values, near, far.value, sum);
  answer.transform = near.value * far.value;
  answer.held = near.held || far.held;
  answer.predicted = near.predicted || far.predicted;
  answer.stamp = stamp_of_two(question, far, near);
  const bool exact = far.certainty == Certainty::exact && near.certainty == Certainty::exact;
  answer.certainty = exact ? Certainty::exact : all_known ? Certainty::known : Certainty::unknown;
  if (answer.certainty == Certainty::known) set_covariance(sum, answer);
  answer.relations.reserve(scratch.path.up.size() + scratch.path.down.size() + scratch.second.up.size() + scratch.second.down.size());
  list_relations(scratch.path, answer.relations);
  list_relations(scratch.second, answer.relations);
  return {};
}

}  // namespace

Result<PoseAnswer> Forest::pose(const Question& question) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  Result<PoseAnswer> result;
  result.failure = check_frames(topology, question);
  if (result.failure) return result;
  Scratch& scratch = Scratch::of_this_thread();
  const std::optional<Covariance>& fallback = state_->options.default_covariance;
  result.failure = question.fixed_frame == kNone ? answer_at_one_time(topology, question, fallback, scratch, result.value)
                                                 : answer_at_two_times(topology, question, fallback, scratch, result.value);
  if (result.failure.kind == FailureKind::not_connected || result.failure.kind == FailureKind::none) return result;
  if (result.failure.in_frame == kNone) result.failure.in_frame = question.in_frame;
  return result;
}

bool Forest::can_pose(const Question& question) const {
  Question plain = question;
  plain.context.want_covariance = false;
  return static_cast<bool>(pose(plain));
}

std::pair<FrameId, RelationId> Forest::parent_at(FrameId frame, When at) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  if (!is_alive(topology, frame)) return {kNone, kNone};
  const FrameNode& node = topology.node(frame);
  if (node.tracks == nullptr) return {node.parent, node.relation};
  const Stamp when = at.latest ? Stamp::never() : at.at;
  const Run* chosen = nullptr;
  std::size_t open = 0;
  for (const Track& track : node.tracks->tracks) {
    const Run* run = track.run_at(when);
    if (run == nullptr) continue;
    if (track.preferred) return {run->parent, run->relation};
    chosen = run;
    ++open;
  }
  if (open != 1) return {kNone, kNone};
  return {chosen->parent, chosen->relation};
}

Failure Forest::attach(std::string_view of, std::string_view to, std::string_view source, Stamp at, std::string_view own_name) {
  const FrameId of_id = find_frame(of), to_id = find_frame(to);
  if (of_id == kNone) return {.kind = FailureKind::unknown_frame, .name = std::string(of)};
  if (to_id == kNone) return {.kind = FailureKind::unknown_frame, .name = std::string(to)};
  if (of_id == to_id) return {.kind = FailureKind::frame_in_itself, .name = std::string(of)};
  const Result<PoseAnswer> answer = pose({.of = of_id, .in_frame = to_id, .at = When::exactly(at)});
  if (!answer) return answer.failure;
  std::string who(source);
  if (who.empty()) {
    const std::optional<RelationInfo> current = relation(parent_at(of_id, When::exactly(at)).second);
    who = current ? current->source : std::string(own_name);
  }
  FixedPose pose{.value = answer.value.transform, .covariance = {}, .exact = true};
  if (answer.value.covariance) {
    pose.covariance = *answer.value.covariance;
    pose.exact = false;
  }
  return fix({of, to, who}, at, pose);
}

// -- Everything at once

namespace {

/// One pass over all frames. Frames that cover the instant hang together in components.
struct Sweeper {
  struct Place {
    bool visited = false;
    FrameId component = kNone;  // topmost frame reached
    FrameId rigid = kNone;      // topmost frame reached over fixed edges alone
    FrameId fresh = kNone;      // topmost frame reached without holding
    Transform component_T_frame;
  };

  const Topology& topology;
  Stamp at;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;
  std::vector<Place> places;
  PathFinder finder;
  std::vector<FrameId> chain;

  /// The edge above `frame` at this instant, if it can be evaluated.
  bool edge_above(FrameId frame, FrameId& parent, PathEdge& edge, Evaluation& value) {
    return finder.step(topology, frame, at, context, edge, parent) &&
           evaluate_edge(edge, nullptr, at, context, fallback, value) == FailureKind::none;
  }

  void place(FrameId frame) {
    chain.clear();
    while (!places[frame].visited) {
      places[frame].visited = true;
      chain.push_back(frame);
      PathEdge edge;
      Evaluation value;
      FrameId parent = kNone;
      if (!edge_above(frame, parent, edge, value)) {
        places[frame].component = places[frame].rigid = places[frame].fresh = frame;
        chain.pop_back();
        break;
      }
      Place& here = places[frame];
      here.component_T_frame = value.value;
      here.component = parent;
      here.rigid = edge.provider.kind == ProviderKind::fixed ? parent : frame;
      here.fresh = value.held ? frame : parent;
      frame = parent;
    }
    while (!chain.empty()) {
      Place& here = places[chain.back()];
      const Place& above = places[here.component];
      here.component_T_frame = above.component_T_frame * here.component_T_frame;
      if (here.rigid == here.component) here.rigid = above.rigid;
      if (here.fresh == here.component) here.fresh = above.fresh;
      here.component = above.component;
      chain.pop_back();
    }
  }
};

}  // namespace

Sweep Forest::snapshot(FrameId in_frame, When at, const QueryContext& given) const {
  QueryContext context = given;
  context.want_covariance = false;
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  Sweep sweep;
  const auto ask_alone = [&](FrameId id) {
    Result<PoseAnswer> answer = pose({.of = id, .in_frame = in_frame, .at = at, .context = context});
    if (answer) {
      sweep.found.push_back({id, answer.value.transform, answer.value.stamp, answer.value.held});
    } else {
      sweep.missing.emplace_back(id, std::move(answer.failure));
    }
  };
  Sweeper sweeper{topology, at.at, context, state_->options.default_covariance, {}, {}, {}};
  if (!at.latest) {
    sweeper.places.resize(topology.frames());
    sweeper.place(in_frame);
    sweep.found.reserve(topology.frames());
  }
  const Sweeper::Place here = at.latest ? Sweeper::Place{} : sweeper.places[in_frame];
  for (FrameId id = 0; id < topology.frames(); ++id) {
    if (!topology.node(id).alive) continue;
    if (at.latest) {
      ask_alone(id);
      continue;
    }
    sweeper.place(id);
    const Sweeper::Place& there = sweeper.places[id];
    if (there.component != here.component) {
      ask_alone(id);
      continue;
    }
    const bool timeless = there.rigid == here.rigid && id != in_frame;
    sweep.found.push_back({id, between(here.component_T_frame, there.component_T_frame), timeless ? Stamp::always() : at.at,
                           there.fresh != here.fresh});
  }
  return sweep;
}

}  // namespace armillary
