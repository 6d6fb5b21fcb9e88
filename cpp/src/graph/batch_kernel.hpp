#pragma once

#include <cstddef>
#include <vector>

namespace armillary::batch {

inline constexpr std::size_t kBlock = 128;

/// `kBlock` poses side by side: w x y z, then the translation.
struct alignas(64) Poses {
  double q[4][kBlock];
  double t[3][kBlock];
};

/// The two rows around each instant, how far between them it is, and the `cosine_between` their rotations.
struct alignas(64) Ends {
  Poses before, after;
  double u[kBlock];
  double cosine[kBlock];
};

/// One arithmetic, equal but for rounding, compiled for several instruction sets; chosen once, at run time.
struct Kernel {
  /// Shortest-arc slerp and straight line; whole blocks, unused places hold identities.
  void (*interpolate)(const Ends& ends, Poses& out);
  /// right = left * right.
  void (*compose)(const Poses& left, Poses& right);
};

extern const Kernel base_kernel;
extern const Kernel avx2_kernel;

/// The kernels that this processor can run, the fastest last.
[[nodiscard]] std::vector<Kernel> kernels();
[[nodiscard]] const Kernel& kernel();

}  // namespace armillary::batch
