#pragma once

#include <cstdint>

#include "armillary/tape_op.hpp"

namespace armillary {

/// A step over places of the working memory.
struct TapeStep {
  TapeOp op;
  std::uint32_t target, a, b;
  std::uint32_t c = 0;  // what is beside a product, or where the cosine goes that is computed with a sine
};

}  // namespace armillary
