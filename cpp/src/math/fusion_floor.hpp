#pragma once

#include "armillary/math/transform.hpp"
#include "math/upper6.hpp"

namespace armillary {

/// A direction that is exact to the first order, or nearly so beside the others, is not at the second: its variance is at least
/// what that leaves.
[[nodiscard]] Symmetric6 with_floor(const Symmetric6& given, const Transform& value);

}  // namespace armillary
