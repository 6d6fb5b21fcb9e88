// Waiting without polling: a wait watches the one thing that is missing and is asked again when that changes.

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "forest_state.hpp"

namespace armillary {

using Guard = std::lock_guard<std::mutex>;

void Forest::State::wake_everybody() {
  structure_watches.fire_all();
  for (const auto& [id, tracks] : watching)
    for (TrackRecord* track : tracks) track->watches.fire_all();
}

/// Data older than the history will not be accepted any more: nothing to wait for.
bool Forest::State::is_hopeless(const Failure& failure) const {
  if (!may_pass(failure->kind)) return true;
  if (failure->relation == kNone || !relations[failure->relation] || failure->limiting != kNone) return false;
  const RelationRecord& relation = *relations[failure->relation];
  const Stamp last = newest(relation);
  return last != Stamp::always() && failure->requested < earlier(last, relation.retention.history);
}

void Forest::State::watch_for(const Failure& failure, const Watch& watch) {
  std::vector<TrackRecord*>& tracks = watching[watch.id];
  tracks.clear();
  const auto on = [&](RelationId id, Stamp from, Stamp to) {
    TrackRecord* track = relations[id]->track;
    tracks.push_back(track);
    track->watches.add(watch, from, to);
  };
  switch (failure->kind) {
    case FailureKind::unknown_frame: structure_watches.add_name(watch, failure->name); break;
    case FailureKind::not_connected: structure_watches.add_roots(watch, failure->of, failure->in_frame); break;
    case FailureKind::no_samples: on(failure->relation, Stamp::always(), Stamp::never()); break;
    case FailureKind::before_history:
      on(failure->relation, Stamp::always(), failure->requested);
      if (failure->limiting != kNone && relations[failure->limiting]) on(failure->limiting, failure->first, Stamp::never());
      break;
    default:
      if (failure->requested > failure->last) {
        on(failure->relation, failure->requested, Stamp::never());
      } else {
        on(failure->relation, Stamp::always(), failure->requested);
      }
  }
}

Result<PoseAnswer> Forest::answer_or_watch(const NamedQuestion& asked, const Watch& watch) {
  const Guard guard(state_->lock);
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
  if (state_->watching.size() >= state_->options.max_waits && !state_->watching.contains(watch.id)) {
    result.failure->kind = FailureKind::limit_reached;
    return result;
  }
  state_->watch_for(result.failure, watch);
  return result;
}

bool Forest::is_watching(WaitId id) const {
  const Guard guard(state_->lock);
  return state_->watching.contains(id);
}

void Forest::forget_watch(WaitId id) {
  const Guard guard(state_->lock);
  const auto found = state_->watching.find(id);
  if (found == state_->watching.end()) return;
  for (TrackRecord* track : found->second) track->watches.remove(id);
  state_->structure_watches.remove(id);
  state_->watching.erase(found);
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
  const auto deadline = timeout_ns < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::nanoseconds(timeout_ns);
  bool stop = false;
  while (true) {
    Result<PoseAnswer> result = answer_or_watch(question, {id, &bell});
    const bool can_come = is_watching(id);
    if (result || !can_come || stop) {
      if (hopeless != nullptr) *hopeless = !result && !can_come;
      forget_watch(id);
      return result;
    }
    bool rang = false;
    while (!rang && !stop) {
      const auto now = Clock::now();
      rang = bell.wait_until(deadline - now > kSignalCheck ? now + kSignalCheck : deadline);
      stop = Clock::now() >= deadline || (keep_waiting && !keep_waiting());
    }
    forget_watch(id);  // asked once more, also at the deadline: what came in time counts
  }
}

void Forest::close() {
  const Guard guard(state_->lock);
  state_->closed = true;
  state_->wake_everybody();
}

}  // namespace armillary
