#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "expr/tape_step.hpp"

namespace armillary::tape {

inline constexpr std::size_t kLanes = 32;

/// One place of the working memory, for as many rows as are computed side by side.
struct alignas(64) Lanes {
  double of[kLanes];
};

inline constexpr std::size_t kTurnsAtOnce = 8;

/// One arithmetic, equal to the last bit, compiled for several instruction sets.
struct Kernel {
  /// Runs the steps for all lanes.
  void (*run)(std::span<const TapeStep> steps, Lanes* work);
  /// Puts sines in the place of angles, whose count is a multiple of `kTurnsAtOnce`, and cosines beside them.
  void (*turn)(std::size_t count, double* angles_to_sines, double* cosines);
};

extern const Kernel base_kernel;
extern const Kernel avx2_kernel;

/// The kernels that this processor can run, the fastest last.
[[nodiscard]] std::vector<Kernel> kernels();
[[nodiscard]] const Kernel& fastest_kernel() noexcept;

}  // namespace armillary::tape
