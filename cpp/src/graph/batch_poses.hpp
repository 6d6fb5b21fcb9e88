#pragma once

#include <algorithm>

#include "armillary/series/pose_row.hpp"
#include "graph/batch_kernel.hpp"

// Apart from the kernels: what is inline here must not be compiled for an instruction set that not every machine has.

namespace armillary::batch {

[[nodiscard]] inline Transform pose_at(const Poses& poses, std::size_t i) {
  return {{poses.q[0][i], poses.q[1][i], poses.q[2][i], poses.q[3][i]}, {poses.t[0][i], poses.t[1][i], poses.t[2][i]}};
}

inline void put_pose(Poses& poses, std::size_t i, const Transform& value) {
  const auto values = values_of(value);
  for (std::size_t k = 0; k < 4; ++k) poses.q[k][i] = values[k];
  for (std::size_t k = 0; k < 3; ++k) poses.t[k][i] = values[4 + k];
}

inline void put_row(Poses& poses, std::size_t i, const Row& row) {
  const double* values = row.values();
  for (std::size_t k = 0; k < 4; ++k) poses.q[k][i] = values[k];
  for (std::size_t k = 0; k < 3; ++k) poses.t[k][i] = values[4 + k];
}

inline void fill(Poses& poses, const Transform& value) {
  const auto values = values_of(value);
  for (std::size_t k = 0; k < 4; ++k) std::fill_n(poses.q[k], kBlock, values[k]);
  for (std::size_t k = 0; k < 3; ++k) std::fill_n(poses.t[k], kBlock, values[4 + k]);
}

/// As `cosine_between` computes it: an instruction set that fuses might turn half a turn the other way.
inline void set_cosines(Ends& ends) {
  const auto& a = ends.before.q;
  const auto& b = ends.after.q;
  for (std::size_t i = 0; i < kBlock; ++i)
    ends.cosine[i] = a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i] + a[3][i] * b[3][i] + 0.0;
}

/// To begin with: places that are never used must not take the slow way of large angles.
[[nodiscard]] inline Ends identities() {
  Ends ends{};
  fill(ends.before, {});
  fill(ends.after, {});
  return ends;
}

}  // namespace armillary::batch
