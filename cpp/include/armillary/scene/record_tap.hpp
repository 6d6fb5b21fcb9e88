#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/sample_tap.hpp"
#include "armillary/log/change.hpp"
#include "armillary/scene/frames.hpp"

namespace armillary::scene {

/// Change records, and samples of nodes, in the order in which a store took them: for who replicates or records a world.
///
/// What comes in while nobody takes it out is kept up to a limit. Beyond it nothing more is added until it was taken out, and
/// `has_gap` says so then: `changes_since` has what is missing of the records.
///
/// Lock: guards all that is below it. It is taken under the lock of a store, and no other lock is taken under it.
class RecordTap {
 public:
  struct Content {
    std::vector<log::ChangePtr> records{};
    std::vector<NodeSample> samples{};
    bool has_gap = false;
  };

  RecordTap(std::size_t max_count, bool with_others) : max_count_(max_count), with_others_(with_others) {}

  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }

  void add(const std::vector<log::ChangePtr>& records, const std::vector<NodeSample>& samples) {
    if (records.empty() && samples.empty()) return;
    if (!with_others_ && OthersSamples::are_of_others()) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    if (content_.has_gap || is_closed()) return;
    if (content_.records.size() + records.size() + content_.samples.size() + samples.size() > max_count_) {
      content_.has_gap = true;
    } else {
      content_.records.insert(content_.records.end(), records.begin(), records.end());
      content_.samples.insert(content_.samples.end(), samples.begin(), samples.end());
    }
    came_.notify_all();
  }

  [[nodiscard]] Content drain() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::exchange(content_, {});
  }

  /// Blocks until there is something, or it is closed, or the time is over (negative: no limit). Whether there is something.
  [[nodiscard]] bool wait(double timeout_s) {
    std::unique_lock<std::mutex> guard(mutex_);
    const auto is_there = [this] { return has_any() || is_closed(); };
    if (timeout_s < 0)
      came_.wait(guard, is_there);
    else
      came_.wait_for(guard, std::chrono::duration<double>(std::min(timeout_s, 1e6)), is_there);
    return has_any();
  }

  /// Nothing is added any more, and nobody waits.
  void close() {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_closed_ = true;
    came_.notify_all();
  }

 private:
  [[nodiscard]] bool has_any() const { return content_.has_gap || !content_.records.empty() || !content_.samples.empty(); }

  const std::size_t max_count_;
  const bool with_others_;
  std::atomic<bool> is_closed_{false};
  std::mutex mutex_;
  std::condition_variable came_;
  Content content_;
  detail::AtFork at_fork_{{.try_hold = [this] { return mutex_.try_lock(); },
                           .release = [this] { mutex_.unlock(); },
                           .renew =
                               [this] {
                                 new (&came_) std::condition_variable;  // the old one counts sleepers that are gone
                                 mutex_.unlock();
                               }}};
};

}  // namespace armillary::scene
