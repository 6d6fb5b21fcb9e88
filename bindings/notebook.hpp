#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace armillary::python {

/// What makes HTML or LaTeX of a value; Python's, as for every other kind of value.
[[nodiscard]] inline nb::object notebook(const char* function) {
  return nb::module_::import_("armillary.notebook").attr(function);
}

}  // namespace armillary::python
