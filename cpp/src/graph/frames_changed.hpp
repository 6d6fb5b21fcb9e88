#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace armillary {

/// Which frames were published, in order: so many, the newest. Whoever keeps what follows from poses asks what changed.
class FramesChanged {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(std::shared_ptr<const std::string> name) {
    names_.push_back(std::move(name));
    if (names_.size() > kMost) names_.pop_front();
    number_.fetch_add(1, std::memory_order_release);
  }
  /// How many there were in all; may be asked without a lock.
  [[nodiscard]] std::uint64_t number() const { return number_.load(std::memory_order_acquire); }
  /// Whether all since then are remembered.
  [[nodiscard]] bool remembers(std::uint64_t since) const { return since <= number() && number() - since <= names_.size(); }
  /// Calls f(const std::string&) for those since then, which must be remembered.
  template <typename F>
  void for_each(std::uint64_t since, F f) const {
    for (std::size_t i = names_.size() - (number() - since); i < names_.size(); ++i) f(*names_[i]);
  }

 private:
  std::deque<std::shared_ptr<const std::string>> names_;
  std::atomic<std::uint64_t> number_{0};
};

}  // namespace armillary
