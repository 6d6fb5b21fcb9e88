#pragma once

#include <cstddef>

#include "armillary/expr/tape.hpp"

namespace armillary {

/// Closes a loop for many values of its drivers, each search from where the one before ended.
///
/// `closure`: from all positions, the dependents behind the others, to `equations` numbers that must be zero and, behind them,
/// their derivative along the dependents, row-major. `rows`: `count` times all positions; the dependents of the first are
/// where its search begins, and all are moved to where the loop is closed.
///
/// Gives how many rows are closed, from the first on. The one behind them is where whole steps of Newton do not come nearer,
/// or where the dependents are hardly determined: it wants a more careful search, or none succeeds.
[[nodiscard]] std::size_t close_rows(const Tape& closure, std::size_t equations, std::size_t count, double* rows);

}  // namespace armillary
