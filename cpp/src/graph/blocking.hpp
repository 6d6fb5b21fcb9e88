#pragma once

// A thread that blocks until a question has an answer.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "armillary/graph/forest.hpp"

namespace armillary {

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

inline constexpr std::chrono::milliseconds kSignalCheck{50};  // how often an interrupt is looked for; nothing is asked then

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

}  // namespace armillary
