#include "armillary/series/epoch.hpp"

#include <algorithm>
#include <limits>

#include "armillary/detail/at_fork.hpp"

namespace armillary {

namespace {

constexpr std::uint64_t kIdle = 0;

/// One reading thread. Slots are never freed, only handed to the next thread.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> epoch{kIdle};
  std::atomic<bool> taken{true};
  Slot* next = nullptr;
  unsigned depth = 0;  // touched by the owning thread only
};

std::atomic<std::uint64_t> current_epoch{1};
std::atomic<Slot*> slots{nullptr};

Slot* reuse_slot() {
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    bool free = false;
    if (slot->taken.compare_exchange_strong(free, true)) return slot;
  }
  return nullptr;
}

Slot& own_slot();

/// In the child of a fork the other readers are gone, and must not keep what they looked at.
void forget_other_readers() {
  Slot* own = &own_slot();
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    if (slot == own) continue;
    slot->depth = 0;
    slot->epoch.store(kIdle);
    slot->taken.store(false);
  }
}

Slot* acquire_slot() {
  static const auto* const at_fork [[maybe_unused]] =
      new detail::AtFork({.try_hold = [] { return true; }, .release = [] {}, .renew = &forget_other_readers});
  if (Slot* slot = reuse_slot()) return slot;
  Slot* slot = new Slot;
  slot->next = slots.load();
  while (!slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

struct Registration {
  Slot* slot = acquire_slot();
  Registration() = default;
  ~Registration() {
    slot->epoch.store(kIdle, std::memory_order_release);
    slot->taken.store(false, std::memory_order_release);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
};

Slot& own_slot() {
  thread_local Registration registration;
  return *registration.slot;
}

std::uint64_t oldest_reader() {
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    const std::uint64_t epoch = slot->epoch.load();
    if (epoch != kIdle) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

}  // namespace

Pin::Pin() {
  Slot& slot = own_slot();
  if (slot.depth++ == 0) slot.epoch.store(current_epoch.load());
}

Pin::~Pin() {
  Slot& slot = own_slot();
  if (--slot.depth == 0) slot.epoch.store(kIdle, std::memory_order_release);
}

void RetireList::add(void* pointer, void (*free)(void*)) {
  retired_.push_back({current_epoch.fetch_add(1), pointer, free});
  if (retired_.size() >= collect_at_) collect();
}

void RetireList::collect() {
  const std::uint64_t oldest = oldest_reader();
  const auto kept = std::ranges::find_if(retired_, [oldest](const Retired& r) { return r.epoch >= oldest; });
  std::for_each(retired_.begin(), kept, [](const Retired& r) { r.free(r.pointer); });
  retired_.erase(retired_.begin(), kept);
  collect_at_ = std::max(kCollectAt, 2 * retired_.size());
}

RetireList::~RetireList() {
  // The owner is being destroyed: by contract nobody reads any more.
  for (const Retired& r : retired_) r.free(r.pointer);
}

}  // namespace armillary
