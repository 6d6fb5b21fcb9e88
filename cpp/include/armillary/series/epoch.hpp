#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace armillary {

/// While a Pin lives, nothing that was reachable when it was made is freed.
///
/// Readers pay one store to enter and one to leave, and never wait. Pins may nest.
class Pin {
 public:
  Pin();
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
};

/// What one writer has unlinked and readers may still look at.
///
/// Every pointer that leads to retired memory must be stored and loaded with sequential consistency:
/// either the reader sees the new pointer, or `collect` sees the reader.
/// Not thread-safe: it belongs to whoever holds the writer lock.
class RetireList {
 public:
  RetireList() = default;
  ~RetireList();
  RetireList(const RetireList&) = delete;
  RetireList& operator=(const RetireList&) = delete;

  template <typename T>
  void retire(const T* pointer) {
    if (pointer != nullptr) add(const_cast<T*>(pointer), [](void* p) { delete static_cast<T*>(p); });
  }

  /// `pointer` was unlinked before this call; `free` runs once no reader can hold it.
  void add(void* pointer, void (*free)(void*));

  /// Frees what no pinned reader can reach. Called by `add` now and then.
  void collect();

  [[nodiscard]] std::size_t size() const { return retired_.size(); }

 private:
  struct Retired {
    std::uint64_t epoch;
    void* pointer;
    void (*free)(void*);
  };
  static constexpr std::size_t kCollectAt = 8;  // few: what is freed soon is still in the cache

  std::vector<Retired> retired_;  // oldest first
  std::size_t collect_at_ = kCollectAt;
};

}  // namespace armillary
