#include "armillary/detail/at_fork.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace armillary::detail {

namespace {

constexpr std::chrono::microseconds kPause{50};

/// All objects that are kept whole, and the lock of their list: held while the process forks.
struct Registry {
  std::mutex lock;
  std::vector<const AtFork*> kept;

  static Registry& get() {
    static Registry* const only = new Registry;  // objects that end with the process still leave it
    return *only;
  }

  [[nodiscard]] bool try_hold() {
    for (auto one = kept.begin(); one != kept.end(); ++one) {
      if ((*one)->actions().try_hold()) continue;
      std::for_each(kept.begin(), one, [](const AtFork* held) { held->actions().release(); });
      return false;
    }
    return true;
  }
};

void hold_all() {
  Registry& registry = Registry::get();
  for (registry.lock.lock(); !registry.try_hold(); registry.lock.lock()) {
    registry.lock.unlock();
    std::this_thread::sleep_for(kPause);
  }
}

void release_all() {
  Registry& registry = Registry::get();
  for (const AtFork* held : registry.kept) held->actions().release();
  registry.lock.unlock();
}

void renew_all() {
  Registry& registry = Registry::get();
  for (const AtFork* held : registry.kept) held->actions().renew();
  registry.lock.unlock();
}

}  // namespace

AtFork::AtFork(Actions actions) : actions_(std::move(actions)) {
  [[maybe_unused]] static const int is_registered = pthread_atfork(&hold_all, &release_all, &renew_all);
  Registry& registry = Registry::get();
  const std::lock_guard guard(registry.lock);
  registry.kept.push_back(this);
}

AtFork::~AtFork() {
  Registry& registry = Registry::get();
  const std::lock_guard guard(registry.lock);
  const auto place = std::ranges::find(registry.kept, this);
  *place = registry.kept.back();
  registry.kept.pop_back();
}

}  // namespace armillary::detail
