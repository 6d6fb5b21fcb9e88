#pragma once

#include <cstdint>
#include <vector>

#include "armillary/series/series.hpp"

namespace armillary {

/// Which of `rows` to keep so that every dropped one is reproduced, by interpolating between its kept
/// neighbours, within the bounds. The first and the last are always kept; covariances must be equal too.
[[nodiscard]] std::vector<std::uint32_t> rows_to_keep(const std::vector<Row>& rows, const Retention& bounds);

}  // namespace armillary
