#pragma once

#include <cstdint>

#include "armillary/tape_op.hpp"

namespace armillary {

/// A step over places of the working memory.
struct TapeStep {
  TapeOp op;
  std::uint32_t target, a, b;
};

}  // namespace armillary
