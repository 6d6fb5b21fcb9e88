#include "raise.hpp"

#include <nanobind/stl/string.h>

namespace armillary::python {

nb::object error_class(const char* kind) { return nb::module_::import_("armillary.errors").attr(kind); }

void raise_object(nb::handle exception) {
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

void raise(const char* kind, const std::string& message) { raise_object(error_class(kind)(message)); }

std::string printed(nb::handle value) { return nb::cast<std::string>(nb::steal<nb::str>(PyObject_Str(value.ptr()))); }

std::string shown(nb::handle value) {
  std::string text = nb::cast<std::string>(nb::repr(value));
  constexpr std::size_t longest = 60;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace armillary::python
