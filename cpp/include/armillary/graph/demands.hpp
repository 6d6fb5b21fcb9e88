#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/sample_tap.hpp"

namespace armillary {

/// Something whose samples a question lacks, because they are not received at present.
struct Demand {
  SampleKind kind = SampleKind::pose;
  std::uint32_t id = 0;        ///< of the relation, or of the channel
  bool is_waited_for = false;  ///< somebody waits: what comes is wanted at once

  [[nodiscard]] bool is_about(const Demand& other) const { return kind == other.kind && id == other.id; }
};

/// What questions lack: noted by who answers them, seen to by who can have it sent. Nothing is noted while nobody sees to it.
///
/// Each demand has a number. Who takes demands out says up to which number it has seen to them; who asked waits for that,
/// and asks again.
///
/// Lock: guards all that is below it; no other lock is taken under it.
class Demands {
 public:
  /// The number of the demand; 0 where nobody would see to it.
  std::uint64_t add(Demand demand) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!is_open_ || std::ranges::any_of(refused_, [&](const Demand& one) { return one.is_about(demand); })) return 0;
    const auto same = std::ranges::find_if(noted_, [&](const Demand& one) { return one.is_about(demand); });
    if (same == noted_.end()) {
      noted_.push_back(demand);
    } else {
      same->is_waited_for = same->is_waited_for || demand.is_waited_for;
    }
    came_.notify_all();
    return ++last_;
  }

  /// Takes out what was noted, with the number of the last.
  [[nodiscard]] std::pair<std::vector<Demand>, std::uint64_t> drain() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return {std::exchange(noted_, {}), last_};
  }

  /// Blocks until something is noted, or it is closed or nudged, or the time is over. Whether something is noted.
  [[nodiscard]] bool wait(double timeout_s) {
    std::unique_lock<std::mutex> guard(mutex_);
    came_.wait_for(guard, limited(timeout_s), [this] { return !noted_.empty() || !is_open_ || is_nudged_; });
    is_nudged_ = false;
    return !noted_.empty();
  }

  /// Ends the wait of who sees to demands: there is something else to do.
  void nudge() {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_nudged_ = true;
    came_.notify_all();
  }

  /// Nobody can see to it, until `allow_all`: it is not noted any more.
  void refuse(Demand demand) {
    const std::lock_guard<std::mutex> guard(mutex_);
    refused_.push_back(demand);
  }
  void allow_all() {
    const std::lock_guard<std::mutex> guard(mutex_);
    refused_.clear();
  }

  /// All up to a number were seen to, whether or not that helped.
  void serve(std::uint64_t number) {
    const std::lock_guard<std::mutex> guard(mutex_);
    served_ = std::max(served_, number);
    came_.notify_all();
  }

  /// Blocks until a demand was seen to; false where it was not in time, or nobody does any more.
  [[nodiscard]] bool wait_served(std::uint64_t number, double timeout_s) {
    std::unique_lock<std::mutex> guard(mutex_);
    came_.wait_for(guard, limited(timeout_s), [&] { return served_ >= number || !is_open_; });
    return served_ >= number && is_open_;
  }

  /// How long a question may wait for what it lacks.
  [[nodiscard]] double timeout_s() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return timeout_s_;
  }

  /// Somebody sees to them from now on, or nobody does any more.
  void set_open(bool is_open, double timeout_s) {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_open_ = is_open;
    timeout_s_ = timeout_s;
    noted_.clear();
    refused_.clear();
    came_.notify_all();
  }

 private:
  static std::chrono::duration<double> limited(double timeout_s) {
    return std::chrono::duration<double>(std::clamp(timeout_s, 0.0, 1e6));
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Demand> noted_{}, refused_{};
  std::uint64_t last_ = 0, served_ = 0;
  bool is_open_ = false, is_nudged_ = false;
  double timeout_s_ = 0.0;
  detail::AtFork at_fork_{{.try_hold = [this] { return mutex_.try_lock(); },
                           .release = [this] { mutex_.unlock(); },
                           .renew =
                               [this] {
                                 new (&came_) std::condition_variable;  // the old one counts sleepers that are gone
                                 is_open_ = false;                      // who saw to them is a thread of the parent
                                 mutex_.unlock();
                               }}};
};

}  // namespace armillary
