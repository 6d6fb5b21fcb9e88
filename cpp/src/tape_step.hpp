#pragma once

#include <cstdint>

#include "armillary/tape_op.hpp"

namespace armillary {

/// A step over places of the working memory.
struct TapeStep {
  TapeOp op;
  std::uint32_t target, a, b;
  std::uint32_t c = 0;  // of a product with a sum: what is beside the product
};

}  // namespace armillary
