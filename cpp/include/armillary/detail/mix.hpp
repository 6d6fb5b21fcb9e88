#pragma once

#include <cstdint>

namespace armillary::detail {

/// Every bit of the result depends on every bit given; no two numbers give the same.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t bits) {
  // Multiplication carries upwards only, the shifts bring the high bits down again. Both factors are odd: it is a bijection.
  bits ^= bits >> 32;
  bits *= 0xd6e8feb86659fd93;
  bits ^= bits >> 32;
  bits *= 0xd6e8feb86659fd93;
  bits ^= bits >> 32;
  return bits;
}

}  // namespace armillary::detail
