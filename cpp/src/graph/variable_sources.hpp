#pragma once

#include "armillary/graph/variable_reading.hpp"

namespace armillary {

/// What a source says around an instant, over all of its channels; what is older than `history` is forgotten.
[[nodiscard]] SampleBracket around_of(const VariableSource& of_source, Duration history, Stamp at);

}  // namespace armillary
