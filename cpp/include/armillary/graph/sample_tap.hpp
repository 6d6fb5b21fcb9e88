#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/sample_base.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

enum class SampleKind : std::uint8_t { pose, twist, joints };

/// Samples of one relation, or of one channel of joints, in the order in which they were stored.
struct SampleBatch {
  SampleKind kind = SampleKind::pose;
  std::uint32_t id = 0;     ///< of the relation, or of the channel
  std::uint32_t width = 0;  ///< numbers a row
  SampleBase base{};        ///< of all of them
  std::vector<std::int64_t> stamps{};
  std::vector<double> rows{};
};

/// Copies of samples as they are stored, for who forwards or records them. What comes in while nobody takes it out is kept up
/// to a limit of bytes; beyond it new samples are dropped, and counted.
///
/// Lock: guards all that is below it. It is taken under the lock of a forest, and no other lock is taken under it.
class SampleTap {
 public:
  /// `with_others`: also samples that `OthersSamples` marks.
  SampleTap(std::size_t max_bytes, bool with_others) : max_bytes_(max_bytes), with_others_(with_others) {}

  [[nodiscard]] bool takes_others() const { return with_others_; }

  /// Adds one row; `side` are numbers behind the first ones, or none.
  void add(SampleKind kind, std::uint32_t id, Stamp at, const SampleBase& base, std::span<const double> values,
           std::span<const double> side, bool is_held);
  /// What was held belongs to a transaction, which passed or failed.
  void end_held(bool passed);
  /// Takes out what there is: one batch for each relation or channel, width and base, in the order of their first samples.
  [[nodiscard]] std::vector<SampleBatch> drain();
  /// Blocks until there is something, or it is closed, or the time is over (negative: no limit). Whether there is something.
  [[nodiscard]] bool wait(double timeout_s);
  /// Nothing is added any more, and nobody waits.
  void close();
  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  /// Samples that did not fit since the beginning.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    SampleKind kind;
    std::uint32_t id, width;
    std::int64_t stamp_ns;
    SampleBase base;
  };
  struct Rows {
    std::vector<Entry> entries{};
    std::vector<double> values{};
    [[nodiscard]] std::size_t bytes() const { return entries.size() * sizeof(Entry) + values.size() * sizeof(double); }
  };

  const std::size_t max_bytes_;
  const bool with_others_;
  std::atomic<bool> is_closed_{false};
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;
  std::condition_variable came_;
  Rows ready_, held_;
  detail::AtFork at_fork_{{.try_hold = [this] { return mutex_.try_lock(); },
                           .release = [this] { mutex_.unlock(); },
                           .renew =
                               [this] {
                                 new (&came_) std::condition_variable;  // the old one counts sleepers that are gone
                                 mutex_.unlock();
                               }}};
};

/// While it lives, samples that its thread stores are marked as those of others.
class OthersSamples {
 public:
  OthersSamples() : before_(are_of_others()) { are_of_others() = true; }
  ~OthersSamples() { are_of_others() = before_; }
  OthersSamples(const OthersSamples&) = delete;
  OthersSamples& operator=(const OthersSamples&) = delete;

  [[nodiscard]] static bool& are_of_others() {
    static thread_local bool marked = false;
    return marked;
  }

 private:
  bool before_;
};

}  // namespace armillary
