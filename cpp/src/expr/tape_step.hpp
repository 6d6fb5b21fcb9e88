#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "armillary/expr/tape_op.hpp"

namespace armillary {

/// A step over places of the working memory.
struct TapeStep {
  TapeOp op;
  std::uint32_t target;
  std::array<std::uint32_t, 6> of{};  // what is read; behind an angle the place where its cosine goes
};

/// How many places a step reads.
[[nodiscard]] constexpr std::size_t places_read(TapeOp op) {
  switch (op) {
    case TapeOp::mul_add:
    case TapeOp::mul_sub:
    case TapeOp::sub_mul:
      return 3;
    case TapeOp::two_products:
    case TapeOp::products_apart:
      return 4;
    case TapeOp::three_products:
      return 6;
    default:
      return static_cast<std::size_t>(registers_read(op));
  }
}

}  // namespace armillary
