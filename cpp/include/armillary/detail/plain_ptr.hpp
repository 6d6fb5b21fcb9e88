#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace armillary::detail {

/// Base of what a PlainPtr points to. A copy of it is not shared yet.
class PlainlyShared {
 public:
  PlainlyShared() = default;
  PlainlyShared(const PlainlyShared&) {}
  PlainlyShared& operator=(const PlainlyShared&) { return *this; }

 protected:
  ~PlainlyShared() = default;

 private:
  template <typename T>
  friend class PlainPtr;

  mutable std::uint32_t shares_ = 0;
};

/// As std::shared_ptr, for values that are made, shared and dropped under one lock: without atomic steps, and half as wide.
template <typename T>
class PlainPtr {
 public:
  PlainPtr() = default;
  PlainPtr(std::nullptr_t) {}
  PlainPtr(const PlainPtr& other) noexcept : PlainPtr(other.value_) {}
  PlainPtr(PlainPtr&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  template <typename Other>
    requires std::is_convertible_v<Other*, T*>
  PlainPtr(const PlainPtr<Other>& other) noexcept : PlainPtr(other.value_) {}
  template <typename Other>
    requires std::is_convertible_v<Other*, T*>
  PlainPtr(PlainPtr<Other>&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  PlainPtr& operator=(PlainPtr other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~PlainPtr() {
    if (value_ != nullptr && --value_->shares_ == 0) delete value_;
  }

  template <typename... Parts>
  [[nodiscard]] static PlainPtr make(Parts&&... parts) {
    return PlainPtr(new T(std::forward<Parts>(parts)...));
  }

  [[nodiscard]] T* get() const { return value_; }
  [[nodiscard]] T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() const { return value_; }
  [[nodiscard]] explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] bool is_sole() const { return value_->shares_ == 1; }
  friend bool operator==(const PlainPtr&, const PlainPtr&) = default;
  friend bool operator==(const PlainPtr& pointer, std::nullptr_t) { return pointer.value_ == nullptr; }

 private:
  template <typename Other>
  friend class PlainPtr;
  explicit PlainPtr(T* value) noexcept : value_(value) {
    if (value_ != nullptr) ++value_->shares_;
  }

  T* value_ = nullptr;
};

/// Whether a value may be moved by copying its bytes and forgetting the original.
template <typename T>
inline constexpr bool kIsRelocatable = std::is_trivially_copyable_v<T>;
template <typename T>
inline constexpr bool kIsRelocatable<PlainPtr<T>> = true;

}  // namespace armillary::detail
