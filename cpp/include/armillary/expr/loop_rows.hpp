#pragma once

#include <cstddef>
#include <cstdint>

#include "armillary/expr/tape.hpp"

namespace armillary {

/// Where following a loop through rows ended.
struct FollowedRows {
  std::size_t rows = 0;  ///< that are closed, the first one counted
  double reached = 1.0;  ///< of the way from the last of them to the next one, where there is one
};

/// Closes a loop for many values of its drivers, each on the branch of the one before: along the straight way between their
/// drivers, in steps small enough to stay on it.
///
/// `closure`: from all positions, the dependents behind the others, to `equations` numbers that must be zero and, behind them,
/// their derivative along the dependents, row-major. `rows`: `count` times all positions; the first is closed, and the dependents
/// of the others are found. Where the way cannot be followed to its end, the dependents of the row behind the last that is closed
/// are those of where it was left. `uncertain`: a byte for each row, 1 where branches meet on the way to it.
[[nodiscard]] FollowedRows follow_rows(const Tape& closure, std::size_t equations, std::size_t count, double* rows,
                                       std::uint8_t* uncertain);

}  // namespace armillary
