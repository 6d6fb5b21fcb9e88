#pragma once

// Joints, and how they drive poses, in plain values, and back. What comes back may come from anywhere.

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/variables.hpp"

namespace nb = nanobind;

namespace armillary::python {

using JointKinds = std::vector<std::pair<std::string, VariableKind>>;

[[nodiscard]] const char* name_of(VariableKind kind);

/// ((name, kind), ...).
[[nodiscard]] nb::object joints_tuple(const JointKinds& joints);
[[nodiscard]] JointKinds joints_from(nb::handle value);

/// ("joint", kind, origin, axes, multiplier, offset, pitch, positions), ("tapes", value, jacobian, positions, velocities)
/// or ("loop", residual, slope, value, jacobian, positions, velocities).
[[nodiscard]] nb::object form_tuple(const DrivenForm* form);
[[nodiscard]] std::shared_ptr<const DrivenForm> form_from(nb::handle value);

}  // namespace armillary::python
