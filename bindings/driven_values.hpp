#pragma once

// Joints, and how they drive poses, in plain values, and back. What comes back may come from anywhere.

#include <nanobind/nanobind.h>

#include <memory>

#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/variables.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// The kind of this name, or InvalidArgument.
[[nodiscard]] VariableKind variable_kind(nb::handle name);

/// ("joint", kind, origin, axes, multiplier, offset, pitch, positions), ("tapes", value, jacobian, positions, velocities)
/// or ("loop", residual, slope, value, jacobian, positions, velocities).
[[nodiscard]] nb::object form_tuple(const DrivenForm* form);
[[nodiscard]] std::shared_ptr<const DrivenForm> form_from(nb::handle value);

}  // namespace armillary::python
