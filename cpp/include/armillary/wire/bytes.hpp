#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace armillary::wire {

using Bytes = std::span<const std::byte>;

template <typename Number>
[[nodiscard]] Number load(const std::byte* from, bool is_big_endian = false) {
  std::array<std::byte, sizeof(Number)> raw;
  std::memcpy(raw.data(), from, sizeof(Number));
  if (is_big_endian != (std::endian::native == std::endian::big)) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<Number>(raw);
}

/// Reads numbers and texts one after the other. What would reach beyond the end sets `failed`, and is zero or empty.
class Reader {
 public:
  explicit Reader(Bytes data, bool is_big_endian = false) : data_(data), is_big_endian_(is_big_endian) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] std::size_t left() const { return data_.size() - place_; }

  template <typename Number>
  [[nodiscard]] Number number() {
    if (!has(sizeof(Number))) return Number{};
    const auto value = load<Number>(data_.data() + place_, is_big_endian_);
    place_ += sizeof(Number);
    return value;
  }

  [[nodiscard]] Bytes bytes(std::uint64_t count) {
    if (!has(count)) return {};
    const Bytes found = data_.subspan(place_, count);
    place_ += count;
    return found;
  }

  [[nodiscard]] std::string_view text(std::uint64_t count) {
    const Bytes found = bytes(count);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }

  void skip(std::uint64_t count) { (void)bytes(count); }

  /// Goes to the next multiple of `size`, counted from `origin`.
  void align(std::size_t size, std::size_t origin) { skip((size - (place_ - origin) % size) % size); }

  /// A number of protobuf in seven bits a byte.
  [[nodiscard]] std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto next = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
      if (failed_ || (next & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }

 private:
  [[nodiscard]] bool has(std::uint64_t count) {
    failed_ = failed_ || count > left();
    return !failed_;
  }

  Bytes data_;
  bool is_big_endian_;
  std::size_t place_ = 0;
  bool failed_ = false;
};

}  // namespace armillary::wire
