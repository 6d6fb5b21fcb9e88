// Waiting without polling: a wait watches the one thing that is missing and is asked again when that changes.

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "forest_state.hpp"
#include "scratch.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

void Forest::State::wake_everybody() {
  structure_watches.fire_all();
  for (const auto& [id, watched] : watching)
    for (TrackRecord* track : watched.tracks) track->watches.fire_all();
}

/// Data older than the history will not be accepted any more: nothing to wait for.
bool Forest::State::is_hopeless(const Failure& failure) const {
  if (!may_pass(failure->kind)) return true;
  if (failure->relation == kNone || !relations[failure->relation] || failure->limiting != kNone) return false;
  return failure->requested < oldest_welcome(*relations[failure->relation], failure->requested);
}

void Forest::State::watch_data(const Failure& failure, const Watch& watch, Watched& watched) {
  const auto on = [&](RelationId id, Stamp from, Stamp to) {
    if (id == kNone || !relations[id]) return;
    TrackRecord* track = relations[id]->track;
    watched.tracks.push_back(track);
    track->watches.add(watch, from, to);
  };
  if (failure->kind == FailureKind::no_samples) return on(failure->relation, Stamp::always(), Stamp::never());
  const bool is_after = failure->requested > failure->last;
  if (is_after) return on(failure->relation, failure->requested, Stamp::never());
  on(failure->relation, Stamp::always(), failure->requested);
  on(failure->limiting, failure->first, Stamp::never());
  if (failure->limiting != kNone || !relations[failure->relation]) return;
  // Once a sample is this much newer, the missing one can never come.
  const std::int64_t history_ns = relations[failure->relation]->retention.history.ns;
  const bool never = failure->requested.ns > kLatestSample.ns - history_ns;
  if (!never) on(failure->relation, {failure->requested.ns + history_ns + 1}, Stamp::never());
}

/// Registers for the one thing that is missing, and for a change of the path that leads there.
void Forest::State::watch_for(const Failure& failure, const Question& question, const Watch& watch) {
  Watched& watched = watching[watch.id];
  if (failure->kind == FailureKind::unknown_frame) {
    watched.name = failure->name;
    return structure_watches.add_name(watch, failure->name);
  }
  const Scratch& scratch = Scratch::of_this_thread();
  watched.frames = {question.of, question.in_frame};
  if (question.fixed_frame != kNone) watched.frames.push_back(question.fixed_frame);
  if (failure->kind == FailureKind::not_connected) watched.frames.insert(watched.frames.end(), {failure->of, failure->in_frame});
  for (const auto* edges : {&scratch.path.up, &scratch.path.down, &scratch.second.up, &scratch.second.down})
    for (const PathEdge& edge : *edges) watched.frames.push_back(edge.child);
  std::ranges::sort(watched.frames);
  watched.frames.erase(std::unique(watched.frames.begin(), watched.frames.end()), watched.frames.end());
  for (const FrameId frame : watched.frames) structure_watches.add_frame(watch, frame);
  if (failure->kind != FailureKind::not_connected) watch_data(failure, watch, watched);
}

void Forest::State::forget_watch(WaitId id) {
  const auto found = watching.find(id);
  if (found == watching.end()) return;
  for (TrackRecord* track : found->second.tracks) track->watches.remove(id);
  for (const FrameId frame : found->second.frames) structure_watches.remove_frame(id, frame);
  if (!found->second.name.empty()) structure_watches.remove_name(id, found->second.name);
  watching.erase(found);
}

Result<PoseAnswer> Forest::answer_or_watch(const NamedQuestion& asked, const Watch& watch) {
  const Guard guard(state_->lock);
  state_->forget_watch(watch.id);
  Scratch::of_this_thread().second.clear();
  Result<PoseAnswer> result;
  if (state_->closed) {
    result.failure = Evidence{.kind = FailureKind::closed};
    return result;
  }
  Question question{.at = asked.at, .of_at = asked.of_at, .context = asked.context};
  const auto resolve = [&](const std::string& name, FrameId& id) {
    id = state_->find_frame(name);
    if (id == kNone && !result.failure) result.failure = Evidence{.kind = FailureKind::unknown_frame, .name = name};
  };
  resolve(asked.of, question.of);
  resolve(asked.in_frame, question.in_frame);
  if (!asked.fixed_frame.empty()) resolve(asked.fixed_frame, question.fixed_frame);
  if (!result.failure) result = pose(question);
  if (result) return result;
  if (state_->is_hopeless(result.failure)) return result;
  if (state_->watching.size() >= state_->options.max_waits) {
    result.failure->kind = FailureKind::limit_reached;
    return result;
  }
  state_->watch_for(result.failure, question, watch);
  return result;
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
  return state_->watching.size();
}

namespace {

/// Wakes one blocked thread.
class Bell : public Watcher {
 public:
  void wake(WaitId) override {
    const Guard guard(mutex_);
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

constexpr std::chrono::milliseconds kSignalCheck{50};  // how often an interrupt is looked for; nothing is asked again then

}  // namespace

WaitId Forest::new_wait_id() { return state_->next_wait.fetch_add(1); }

Result<PoseAnswer> Forest::wait_for_pose(const NamedQuestion& question, std::int64_t timeout_ns,
                                         const std::function<bool()>& keep_waiting, bool* hopeless) {
  using Clock = std::chrono::steady_clock;
  const WaitId id = new_wait_id();
  Bell bell;
  const struct Leave {  // the bell must not be rung after this call, however it ends
    Forest& forest;
    WaitId id;
    ~Leave() { forest.forget_watch(id); }
  } leave{*this, id};
  constexpr std::int64_t longest_ns = std::int64_t{1} << 60;
  const auto deadline =
      timeout_ns < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, longest_ns));
  bool stop = false;
  while (true) {
    Result<PoseAnswer> result = answer_or_watch(question, {id, &bell});
    const bool can_come = is_watching(id);
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

void Forest::close() {
  const Guard guard(state_->lock);
  state_->closed = true;
  state_->wake_everybody();
}

}  // namespace armillary
