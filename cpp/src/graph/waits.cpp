// Waiting without polling: a wait watches the one thing that is missing and is asked again when that changes.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "armillary/graph/forest.hpp"
#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"
#include "graph/scratch.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

namespace {

/// Wakes one blocked thread.
class Bell : public Watcher {
 public:
  void wake(WaitId) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    rung_ = true;
    condition_.notify_all();
  }

  /// True when it rang; forgets that it did.
  bool wait_until(std::chrono::steady_clock::time_point when) {
    std::unique_lock<std::mutex> guard(mutex_);
    const bool rang = condition_.wait_until(guard, when, [this] { return rung_; });
    rung_ = false;
    return rang;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
};

constexpr std::chrono::milliseconds kSignalCheck{50};  // how often an interrupt is looked for; nothing is asked then

/// `Forest::wait_for_pose` and its like.
template <typename Answer, typename Question>
Result<Answer> wait_until_answered(Forest& forest, const Question& question, std::int64_t timeout_ns,
                                   const std::function<bool()>& keep_waiting, bool* hopeless) {
  using Clock = std::chrono::steady_clock;
  const WaitId id = forest.new_wait_id();
  Bell bell;
  const struct Leave {  // the bell must not be rung after this call, however it ends
    Forest& forest;
    WaitId id;
    ~Leave() { forest.forget_watch(id); }
  } leave{forest, id};
  constexpr std::int64_t longest_ns = std::int64_t{1} << 60;
  const auto deadline =
      timeout_ns < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, longest_ns));
  bool stop = false;
  while (true) {
    Result<Answer> result = forest.answer_or_watch(question, {id, &bell});
    const bool can_come = forest.is_watching(id);
    if (result || !can_come || stop) {
      if (hopeless != nullptr) *hopeless = !result && !can_come;
      return result;
    }
    bool rang = false;
    while (!rang && !stop) {  // asked once more afterwards, also at the deadline: what came in time counts
      const auto now = Clock::now();
      rang = bell.wait_until(deadline - now > kSignalCheck ? now + kSignalCheck : deadline);
      stop = Clock::now() >= deadline || (keep_waiting && !keep_waiting());
    }
  }
}

}  // namespace

void Forest::State::wake_everybody() {
  structure_watches.fire_all();
  for (const auto& [id, twist] : twists) twist->watches.fire_all();
  for (const auto& [id, watched] : watching)
    for (TrackRecord* track : watched.tracks) track->watches.fire_all();
}

bool Forest::State::has_driver_forgotten(const RelationRecord& relation, Stamp at) const {
  const std::ptrdiff_t k = relation.track->run_at(at);
  if (k < 0) return false;
  const RunRecord& run = relation.track->runs[static_cast<std::size_t>(k)];
  return run.relation == relation.id && run.driven() && run.driven()->has_forgotten(at);
}

/// Data older than the history will not be accepted any more: nothing to wait for.
bool Forest::State::is_hopeless(const Failure& failure) const {
  if (!may_pass(failure->kind)) return true;
  if (failure->kind == FailureKind::not_received) return false;
  if (failure->relation == kNone || !relations[failure->relation] || failure->limiting != kNone) return false;
  if (has_driver_forgotten(*relations[failure->relation], failure->requested)) return true;
  return failure->requested < oldest_welcome(*relations[failure->relation], failure->requested);
}

void Forest::State::watch_track(RelationId relation, Stamp from, Stamp to, const Watch& watch, Watched& watched) {
  if (relation == kNone || !relations[relation]) return;
  TrackRecord* track = relations[relation]->track;
  watched.tracks.push_back(track);
  track->watches.add(watch, from, to);
}

void Forest::State::watch_data(const Failure& failure, const QueryContext& context, const Watch& watch, Watched& watched) {
  const auto on = [&](RelationId id, Stamp from, Stamp to) { watch_track(id, from, to, watch, watched); };
  const bool is_any = failure->kind == FailureKind::no_samples || failure->kind == FailureKind::not_received;
  if (is_any) return on(failure->relation, Stamp::always(), Stamp::never());
  const Duration held = failure->hold_up_to_ns < 0 ? Duration{} : Duration{failure->hold_up_to_ns};
  const bool is_after = failure->requested > failure->last;
  if (is_after) {  // a prediction begins earlier than what it reaches
    const Duration reach = context.outside == Outside::predict ? options.prediction.horizon : held;
    return on(failure->relation, earlier(failure->requested, reach), Stamp::never());
  }
  if (failure->limiting != kNone) {  // the two approach each other from both sides
    on(failure->relation, Stamp::always(), failure->first);
    return on(failure->limiting, failure->first, Stamp::never());
  }
  on(failure->relation, Stamp::always(), later(failure->requested, held));
  const bool is_counted = relations[failure->relation] && relations[failure->relation]->retention.max_samples > 0;
  if (is_counted) on(failure->relation, {failure->requested.ns + 1}, Stamp::never());  // until it is full: then it is too late
}

/// Once a sample is so much newer, what is missing around `at` can never come, and what is there is forgotten.
void Forest::State::watch_expiry(RelationId relation, Stamp at, const Watch& watch, Watched& watched) {
  if (!relations[relation]) return;
  const std::int64_t history_ns = relations[relation]->retention.history.ns;
  const bool never = at.ns > kLatestSample.ns - history_ns;
  if (!never) watch_track(relation, {at.ns + history_ns + 1}, Stamp::never(), watch, watched);
}

/// Watches the sources that may place a frame at an instant: which of them are open changes with their samples.
void Forest::State::watch_rivals(FrameId frame, const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch,
                                 Watched& watched) {
  if (frame == kNone || frames[frame].tracks.size() < 2) return;
  const bool is_exact = !wanted.at.latest && context.outside == Outside::raise;
  const Stamp from = is_exact ? earlier(wanted.at.at, options.rival_timeout) : Stamp::always();
  for (const auto& track : frames[frame].tracks) {
    watched.tracks.push_back(track.get());
    track->watches.add(watch, from, Stamp::never());
  }
}

/// Watches the frames whose parents decide the path. LATEST is resolved step by step, each time on the path of an earlier
/// instant: data that lifts the instant beyond such a path leads to another one, and is watched as well.
void Forest::State::watch_path(const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch, Watched& watched) {
  const Topology& version = *topology.load();  // the lock is held: it stays
  Scratch& scratch = Scratch::of_this_thread();
  Path& path = scratch.path;
  RelationId limiting = kNone;
  Stamp at = wanted.at.latest ? Stamp::never() : wanted.at.at;
  LatestSearch search(scratch.finder, path, at, limiting);
  const auto watch_ends = [&](const Failure& failure) {
    if (!failure) return;
    watched.frames.insert(watched.frames.end(), {failure->of, failure->in_frame});
    watch_rivals(failure->of, wanted, context, watch, watched);
    watch_rivals(failure->in_frame, wanted, context, watch, watched);
  };
  if (wanted.at.latest) {  // where that leads nowhere, the search begins elsewhere
    watch_ends(scratch.finder.find(version, wanted.of, wanted.in_frame, at, context, path));
    for (const auto* edges : {&path.up, &path.down})
      for (const PathEdge& edge : *edges) {
        watched.frames.push_back(edge.child);
        watch_rivals(edge.child, wanted, context, watch, watched);
      }
  }
  bool is_last = false;
  do {
    const Failure failure = search.find_path(version, wanted.of, wanted.in_frame, context);
    watch_ends(failure);
    if (limiting != kNone) watch_track(limiting, path.valid_to, Stamp::never(), watch, watched);
    for (const auto* edges : {&path.up, &path.down}) {
      for (const PathEdge& edge : *edges) {
        watched.frames.push_back(edge.child);
        watch_rivals(edge.child, wanted, context, watch, watched);
        if (!wanted.at.latest) watch_expiry(edge.relation, at, watch, watched);
        search.take(edge);
      }
    }
    is_last = failure || !wanted.at.latest;
  } while (!search.is_resolved() && !is_last);
}

/// Watches every frame that was collected, each once.
void Forest::State::watch_frames(const Watch& watch, Watched& watched) {
  // Edges that do not cover the instant may form a cycle, and anything on it decides where that is cut.
  if (std::ranges::any_of(watched.frames, [this](FrameId frame) { return circular.contains(frame); }))
    watched.frames.insert(watched.frames.end(), circular.begin(), circular.end());
  std::ranges::sort(watched.frames);
  watched.frames.erase(std::unique(watched.frames.begin(), watched.frames.end()), watched.frames.end());
  for (const FrameId frame : watched.frames) structure_watches.add_frame(watch, frame);
}

/// Registers for the one thing that is missing, and for a change of the path that leads there.
void Forest::State::watch_for(const Failure& failure, const Question& question, const Watch& watch) {
  Watched& watched = watching[watch.id];
  if (failure->kind == FailureKind::unknown_frame) {
    watched.name = failure->name;
    return structure_watches.add_name(watch, failure->name);
  }
  watch_segments(question, watch, watched);
  const bool is_structure = failure->kind == FailureKind::not_connected || failure->kind == FailureKind::ambiguous_path;
  if (!is_structure) watch_data(failure, question.context, watch, watched);
}

/// Watches the structure that decides the path of a question.
void Forest::State::watch_segments(const Question& question, const Watch& watch, Watched& watched) {
  watched.frames.insert(watched.frames.end(), {question.of, question.in_frame});
  const bool is_direct = question.fixed_frame == kNone;
  if (!is_direct) watch_path({question.of, question.fixed_frame, question.of_at}, question.context, watch, watched);
  watch_path({is_direct ? question.of : question.fixed_frame, question.in_frame, question.at}, question.context, watch, watched);
  watch_frames(watch, watched);
}

void Forest::State::forget_watch(WaitId id) {
  const auto found = watching.find(id);
  if (found == watching.end()) return;
  for (TrackRecord* track : found->second.tracks) track->watches.remove(id);
  for (const RelationId twist : found->second.twists)
    if (const auto record = twists.find(twist); record != twists.end()) record->second->watches.remove(id);
  for (const FrameId frame : found->second.frames) structure_watches.remove_frame(id, frame);
  if (!found->second.name.empty()) structure_watches.remove_name(id, found->second.name);
  if (!found->second.is_wait) --mere_watches;
  watching.erase(found);
}

/// Forgets all waits, in the child of a fork: the threads that wait are those of the parent.
void Forest::State::forget_waits() {
  std::vector<WaitId> waits;
  for (const auto& [id, watched] : watching)
    if (watched.is_wait) waits.push_back(id);
  for (const WaitId id : waits) forget_watch(id);
}

/// The first name that no frame has is the failure.
Failure Forest::State::resolve(const NamedQuestion& asked, Question& question) const {
  question = {.at = asked.at, .of_at = asked.of_at, .context = asked.context};
  Failure failure;
  const auto find = [&](const std::string& name, FrameId& id) {
    id = find_named(name);
    if (id == kNone && !failure) failure = Evidence{.kind = FailureKind::unknown_frame, .name = name};
  };
  find(asked.of, question.of);
  find(asked.in_frame, question.in_frame);
  if (!asked.fixed_frame.empty()) find(asked.fixed_frame, question.fixed_frame);
  return failure;
}

/// Resolves the names of a question and answers it.
Result<PoseAnswer> Forest::State::pose_by_name(const NamedQuestion& asked, Question& question) const {
  Result<PoseAnswer> result;
  result.failure = resolve(asked, question);
  return result.failure ? std::move(result) : pose_now(question);
}

Result<PoseAnswer> Forest::answer_or_watch(const NamedQuestion& asked, const Watch& watch) {
  const Guard guard(state_->lock);
  state_->forget_watch(watch.id);
  Result<PoseAnswer> result;
  if (state_->closed) {
    result.failure = Evidence{.kind = FailureKind::closed};
    return result;
  }
  Question question;
  result = state_->pose_by_name(asked, question);
  if (result) return result;
  if (state_->is_hopeless(result.failure)) return result;
  if (state_->waits() >= state_->options.max_waits) {
    result.failure->kind = FailureKind::limit_reached;
    return result;
  }
  state_->watch_for(result.failure, question, watch);
  return result;
}

bool Forest::watch_pose(const NamedQuestion& asked, const Watch& watch) {
  const Guard guard(state_->lock);
  state_->forget_watch(watch.id);
  Question question;
  const Result<PoseAnswer> result = state_->pose_by_name(asked, question);
  const bool is_contested = !result && result.failure->kind == FailureKind::ambiguous_path;
  if (result || (!is_contested && state_->is_hopeless(result.failure))) return false;
  state_->watching[watch.id].is_wait = false;
  ++state_->mere_watches;
  state_->watch_for(result.failure, question, watch);
  return true;
}

Failure Forest::watch_paths(const NamedQuestion& asked, const Watch& watch, std::size_t max_paths) {
  const Guard guard(state_->lock);
  state_->forget_watch(watch.id);
  if (state_->closed) return Evidence{.kind = FailureKind::closed};
  if (state_->waits() >= state_->options.max_waits) return Evidence{.kind = FailureKind::limit_reached};
  Question question;
  if (const Failure unknown = state_->resolve(asked, question)) {
    state_->watch_for(unknown, question, watch);
    return {};
  }
  Result<CandidateSet> found = candidates(question, max_paths);
  if (found.failure) return std::move(found.failure);
  Failure hopeless;
  for (Candidate& path : found.value.paths) {
    question.context.selector = &path.sources;
    if (!path.failure) {
      state_->watch_segments(question, watch, state_->watching[watch.id]);
    } else if (!state_->is_hopeless(path.failure)) {
      state_->watch_for(path.failure, question, watch);
    } else if (!hopeless) {
      hopeless = std::move(path.failure);
    }
  }
  return state_->watching.contains(watch.id) ? Failure{} : std::move(hopeless);
}

bool Forest::is_watching(WaitId id) const {
  const Guard guard(state_->lock);
  return state_->watching.contains(id);
}

void Forest::forget_watch(WaitId id) {
  const Guard guard(state_->lock);
  state_->forget_watch(id);
}

std::size_t Forest::waits_pending() const {
  const Guard guard(state_->lock);
  return state_->waits();
}

WaitId Forest::new_wait_id() { return state_->next_wait.fetch_add(1); }

Result<PoseAnswer> Forest::wait_for_pose(const NamedQuestion& question, std::int64_t timeout_ns,
                                         const std::function<bool()>& keep_waiting, bool* hopeless) {
  return wait_until_answered<PoseAnswer>(*this, question, timeout_ns, keep_waiting, hopeless);
}

void Forest::close() {
  const Guard guard(state_->lock);
  state_->closed = true;
  state_->wake_everybody();
}

// -- Motion: poses on the path, and measured twists that may come to lead from body to body

/// Watches a pose that is needed: its path, and what it lacks.
void Forest::State::watch_segment(const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch,
                                  Watched& watched) {
  if (wanted.of == wanted.in_frame) return;
  watched.frames.insert(watched.frames.end(), {wanted.of, wanted.in_frame});
  watch_path(wanted, context, watch, watched);
  const Result<PoseAnswer> answer = pose_now({.of = wanted.of, .in_frame = wanted.in_frame, .at = wanted.at, .context = context});
  if (!answer && answer.failure->relation != kNone) watch_data(answer.failure, context, watch, watched);
}

/// The given bodies and all that measured motions connect them with.
std::unordered_set<BodyId> Forest::State::bodies_linked_to(std::unordered_set<BodyId> bodies_reached) const {
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const auto& [id, twist] : twists) {
      const BodyId head = rigid_body(twist->of), reference = rigid_body_of(twist->reference);
      if (bodies_reached.contains(head) == bodies_reached.contains(reference)) continue;
      bodies_reached.insert({head, reference});
      has_grown = true;
    }
  }
  return bodies_reached;
}

/// Watches for what would make the twist relation cover the instant.
void Forest::State::watch_twist(TwistRecord& twist, const TwistQuestion& question, const Watch& watch, Watched& watched) {
  const Series& series = *twist.series;
  Stamp from = Stamp::always(), to = Stamp::never();
  const bool has_an_end = !question.at.latest && question.context.outside == Outside::raise && !series.empty();
  if (has_an_end && question.at.at > series.newest()) from = question.at.at;
  if (has_an_end && question.at.at < Stamp{series.first_row().stamp_ns()}) to = question.at.at;
  twist.watches.add(watch, from, to);
  watched.twists.push_back(twist.id);
}

/// A chain of measured motions closes with a twist between bodies that are linked with either end, and with the poses
/// that carry it.
void Forest::State::watch_links(const TwistQuestion& question, const Watch& watch, Watched& watched) {
  const BodyId reference = question.reference == kNone ? rigid_body_of(question.relative_to) : rigid_body(question.reference);
  const FrameId axes = question.expressed_in == kNone ? question.reference : question.expressed_in;
  const FrameId point = question.point == kNone ? question.of : question.point;
  const std::unordered_set<BodyId> reached = bodies_linked_to({rigid_body(question.of), reference});
  for (const auto& [id, twist] : twists) {
    if (!reached.contains(rigid_body_of(twist->reference))) continue;
    watch_twist(*twist, question, watch, watched);
    if (axes != kNone) watch_segment({twist->of, axes, question.at}, question.context, watch, watched);
    watch_segment({point, twist->of, question.at}, question.context, watch, watched);
  }
  for (const auto& [frame, on] : rigid.mounts)
    if (reached.contains(rigid_body(frame))) watched.frames.push_back(frame);
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
    id = state_->find_named(name);
    if (id == kNone && !result.failure) result.failure = Evidence{.kind = FailureKind::unknown_frame, .name = name};
  };
  resolve(asked.of, question.of);
  const BodyId body = state_->find_body(asked.relative_to);
  const bool is_only_a_body = is_declared(body) && state_->find_named(asked.relative_to) == kNone;
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
