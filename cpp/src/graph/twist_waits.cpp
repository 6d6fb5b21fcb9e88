// Waiting for a motion: for poses on the way, and for measured twists that may come to lead from body to body.

#include "graph/blocking.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

/// A pose that is needed: its way, and what it lacks.
void Forest::State::watch_segment(const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch,
                                  Watched& watched) {
  if (wanted.of == wanted.in_frame) return;
  watched.frames.insert(watched.frames.end(), {wanted.of, wanted.in_frame});
  watch_path(wanted, context, watch, watched);
  const Result<PoseAnswer> answer = pose_now({.of = wanted.of, .in_frame = wanted.in_frame, .at = wanted.at, .context = context});
  if (!answer && answer.failure->relation != kNone) watch_data(answer.failure, context, watch, watched);
}

/// With all bodies that measured motions connect them with.
std::unordered_set<BodyId> Forest::State::bodies_linked_to(std::unordered_set<BodyId> bodies_reached) const {
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const auto& [id, twist] : twists) {
      const BodyId head = frames[twist->of].body, reference = twist->reference;
      if (bodies_reached.contains(head) == bodies_reached.contains(reference)) continue;
      bodies_reached.insert({head, reference});
      has_grown = true;
    }
  }
  return bodies_reached;
}

/// For what would make it cover the instant.
void Forest::State::watch_twist(TwistRecord& twist, const TwistQuestion& question, const Watch& watch, Watched& watched) {
  const Series& series = *twist.series;
  Stamp from = Stamp::always(), to = Stamp::never();
  const bool has_an_end = !question.at.latest && question.context.outside == Outside::raise && !series.empty();
  if (has_an_end && question.at.at > series.newest()) from = question.at.at;
  if (has_an_end && question.at.at < Stamp{series.first_row().stamp_ns()}) to = question.at.at;
  twist.watches.add(watch, from, to);
  watched.twists.push_back(twist.id);
}

/// A chain of measured motions closes with a twist between bodies that hang together with either end, and with the poses
/// that carry it.
void Forest::State::watch_links(const TwistQuestion& question, const Watch& watch, Watched& watched) {
  const BodyId reference = question.reference == kNone ? question.relative_to : frames[question.reference].body;
  const FrameId axes = question.expressed_in == kNone ? question.reference : question.expressed_in;
  const FrameId point = question.point == kNone ? question.of : question.point;
  const std::unordered_set<BodyId> reached = bodies_linked_to({frames[question.of].body, reference});
  for (const auto& [id, twist] : twists) {
    if (!reached.contains(twist->reference)) continue;
    watch_twist(*twist, question, watch, watched);
    if (axes != kNone) watch_segment({twist->of, axes, question.at}, question.context, watch, watched);
    watch_segment({point, twist->of, question.at}, question.context, watch, watched);
  }
  for (const BodyId body : reached) {
    if (!is_declared(body)) {
      watched.frames.push_back(body);
      continue;
    }
    const std::vector<FrameId>& members = bodies[body - kFirstDeclaredBody].frames;
    watched.frames.insert(watched.frames.end(), members.begin(), members.end());
  }
}

void Forest::State::watch_for(const Failure& failure, const TwistQuestion& question, const Watch& watch) {
  Watched& watched = watching[watch.id];
  if (failure->kind == FailureKind::unknown_frame) {
    watched.name = failure->name;
    return structure_watches.add_name(watch, failure->name);
  }
  std::vector<FrameId> references{question.reference};
  if (question.reference == kNone) {
    const BodyRecord& body = bodies[question.relative_to - kFirstDeclaredBody];
    references = body.frames;
    watched.name = body.name;  // it may get more frames
    structure_watches.add_name(watch, body.name);
  }
  for (const FrameId reference : references) {
    watch_segment({question.of, reference, question.at}, question.context, watch, watched);
    if (question.expressed_in != kNone)
      watch_segment({reference, question.expressed_in, question.at}, question.context, watch, watched);
  }
  if (question.point != kNone) watch_segment({question.point, question.of, question.at}, question.context, watch, watched);
  if (question.with_measured) watch_links(question, watch, watched);
  watch_frames(watch, watched);
  // Any other sample makes one sample a motion.
  if (failure->kind == FailureKind::single_sample)
    return watch_track(failure->relation, Stamp::always(), Stamp::never(), watch, watched);
  if (failure->relation != kNone) watch_data(failure, question.context, watch, watched);
}

Result<TwistAnswer> Forest::answer_or_watch(const NamedTwistQuestion& asked, const Watch& watch) {
  const Guard guard(state_->lock);
  state_->forget_watch(watch.id);
  Result<TwistAnswer> result;
  if (state_->closed) {
    result.failure = Evidence{.kind = FailureKind::closed};
    return result;
  }
  TwistQuestion question{.at = asked.at, .window = asked.window, .with_measured = asked.with_measured, .context = asked.context};
  const auto resolve = [&](const std::string& name, FrameId& id) {
    if (name.empty()) return;
    id = state_->find_frame(name);
    if (id == kNone && !result.failure) result.failure = Evidence{.kind = FailureKind::unknown_frame, .name = name};
  };
  resolve(asked.of, question.of);
  const BodyId body = state_->find_body(asked.relative_to);
  const bool is_only_a_body = is_declared(body) && state_->find_frame(asked.relative_to) == kNone;
  if (is_only_a_body) {
    question.relative_to = body;
  } else {
    resolve(asked.relative_to, question.reference);
  }
  resolve(asked.expressed_in, question.expressed_in);
  resolve(asked.point, question.point);
  if (!result.failure) result = twist(question);
  if (result || state_->is_hopeless(result.failure)) return result;
  if (state_->watching.size() >= state_->options.max_waits) {
    result.failure->kind = FailureKind::limit_reached;
    return result;
  }
  state_->watch_for(result.failure, question, watch);
  return result;
}

Result<TwistAnswer> Forest::wait_for_twist(const NamedTwistQuestion& question, std::int64_t timeout_ns,
                                           const std::function<bool()>& keep_waiting, bool* hopeless) {
  return wait_until_answered<TwistAnswer>(*this, question, timeout_ns, keep_waiting, hopeless);
}

}  // namespace armillary
