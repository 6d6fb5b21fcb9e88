#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "armillary/graph/errors.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// Raises armillary.errors.<kind>(message, value): `value` is what was given and cannot be taken, where it is one thing.
[[noreturn]] void raise(const char* kind, const std::string& message, nb::handle value = {});

/// Raises the given exception object.
[[noreturn]] void raise_object(nb::handle exception);

/// Sets the given exception object as the Python error, without a C++ exception, and returns null.
PyObject* set_error(nb::handle exception);

/// armillary.errors.<kind>
[[nodiscard]] nb::object error_class(const char* kind);

/// str(value).
[[nodiscard]] std::string printed(nb::handle value);

/// "{value!r}", shortened.
[[nodiscard]] std::string shown(nb::handle value);

/// A stamp in seconds, with every digit that is not zero.
[[nodiscard]] std::string stamp_text(Stamp stamp);

}  // namespace armillary::python
