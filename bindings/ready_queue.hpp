#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <unordered_set>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/watch.hpp"

namespace armillary::python {

/// Waits that are to be asked again, in the order they were woken. One dispatcher thread takes them out.
class ReadyQueue : public Watcher {
 public:
  void wake(WaitId id) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    ready_.push_back(id);
    condition_.notify_one();
  }

  /// Takes out a wait that has ended. Now and then, so that its cost is small and what is left behind is, too.
  void forget(WaitId id) {
    const std::lock_guard<std::mutex> guard(mutex_);
    gone_.insert(id);
    if (gone_.size() < kFewGone + ready_.size() / 2) return;
    std::erase_if(ready_, [this](WaitId ready) { return gone_.contains(ready); });
    gone_.clear();
  }

  [[nodiscard]] std::size_t size() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return ready_.size();
  }

  /// The next wait, or 0 when `timeout_s` is over.
  WaitId pop(double timeout_s) {
    std::unique_lock<std::mutex> guard(mutex_);
    const auto is_ready = [this] { return !ready_.empty(); };
    if (timeout_s < 0) {
      condition_.wait(guard, is_ready);
    } else if (!condition_.wait_for(guard, std::chrono::duration<double>(std::min(timeout_s, 1e6)), is_ready)) {
      return 0;
    }
    const WaitId id = ready_.front();
    ready_.pop_front();
    return id;
  }

 private:
  static constexpr std::size_t kFewGone = 16;
  std::mutex mutex_;
  std::condition_variable condition_;
  std::deque<WaitId> ready_;
  std::unordered_set<WaitId> gone_;  // waits that have ended; some may stand in `ready_` still
  detail::AtFork at_fork_{{.try_hold = [this] { return mutex_.try_lock(); },
                           .release = [this] { mutex_.unlock(); },
                           .renew =
                               [this] {
                                 new (&condition_) std::condition_variable;  // the old one counts sleepers that are gone
                                 mutex_.unlock();
                               }}};
};

}  // namespace armillary::python
