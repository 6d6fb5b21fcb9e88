#pragma once

#include <span>
#include <vector>

#include "expr/tape_step.hpp"

namespace armillary {

/// The same steps with products joined to the sums behind them, where nobody else reads the product. What is written below
/// `first_register` is never joined away: outputs are read by whoever asked.
[[nodiscard]] std::vector<TapeStep> joined_steps(std::span<const TapeStep> steps, std::size_t first_register, std::size_t places);

}  // namespace armillary
