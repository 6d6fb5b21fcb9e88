#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tape_step.hpp"

namespace armillary::tape {

inline constexpr std::size_t kLanes = 32;

/// One place of the working memory, for as many rows as are computed side by side.
struct alignas(64) Lanes {
  double of[kLanes];
};

/// Runs the steps for all lanes. The same arithmetic, to the last bit, compiled for several instruction sets.
using Kernel = void (*)(std::span<const TapeStep> steps, Lanes* work);

extern const Kernel base_kernel;
extern const Kernel avx2_kernel;

/// Those that this processor can run, the fastest last.
[[nodiscard]] std::vector<Kernel> kernels();

}  // namespace armillary::tape
