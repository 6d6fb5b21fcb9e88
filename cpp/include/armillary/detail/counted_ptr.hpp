#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace armillary::detail {

/// How many share a value, counted by any thread. It begins with one.
class ShareCount {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether it was the last. Nobody can share what its last holder drops, so that this needs no atomic step.
  [[nodiscard]] bool drop() {
    if (!is_one()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_.store(0, std::memory_order_relaxed);
    return true;
  }
  /// False where it would be the last: then it is still counted.
  [[nodiscard]] bool drop_unless_last() {
    std::uint32_t count = count_.load(std::memory_order_relaxed);
    while (count > 1)
      if (count_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
    return false;
  }
  [[nodiscard]] bool is_one() const { return count_.load(std::memory_order_acquire) == 1; }
  [[nodiscard]] bool is_none() const { return count_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

/// Base of what a CountedPtr points to. A copy of it is not shared yet.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) {}
  Counted& operator=(const Counted&) { return *this; }

 protected:
  ~Counted() = default;

 private:
  template <typename T>
  friend class CountedPtr;

  mutable ShareCount shares_;
};

/// As std::shared_ptr, half as wide: the count is in the value.
template <typename T>
class CountedPtr {
 public:
  CountedPtr() = default;
  CountedPtr(std::nullptr_t) {}
  CountedPtr(const CountedPtr& other) noexcept : value_(shared(other.value_)) {}
  CountedPtr(CountedPtr&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  template <typename Other>
    requires std::is_convertible_v<Other*, T*>
  CountedPtr(const CountedPtr<Other>& other) noexcept : value_(shared(other.value_)) {}
  template <typename Other>
    requires std::is_convertible_v<Other*, T*>
  CountedPtr(CountedPtr<Other>&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  CountedPtr& operator=(CountedPtr other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~CountedPtr() {
    if (value_ != nullptr && value_->shares_.drop()) delete value_;
  }

  template <typename... Parts>
  [[nodiscard]] static CountedPtr make(Parts&&... parts) {
    CountedPtr made;
    made.value_ = new T(std::forward<Parts>(parts)...);
    return made;
  }

  [[nodiscard]] T* get() const { return value_; }
  [[nodiscard]] T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() const { return value_; }
  [[nodiscard]] explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] bool is_sole() const { return value_->shares_.is_one(); }
  friend bool operator==(const CountedPtr&, const CountedPtr&) = default;
  friend bool operator==(const CountedPtr& pointer, std::nullptr_t) { return pointer.value_ == nullptr; }

 private:
  template <typename Other>
  friend class CountedPtr;

  static T* shared(T* value) {
    if (value != nullptr) value->shares_.add();
    return value;
  }

  T* value_ = nullptr;
};

/// Whether a value may be moved by copying its bytes and forgetting the original.
template <typename T>
inline constexpr bool kIsRelocatable = std::is_trivially_copyable_v<T>;
template <typename T>
inline constexpr bool kIsRelocatable<CountedPtr<T>> = true;

}  // namespace armillary::detail
