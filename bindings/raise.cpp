#include "raise.hpp"

#include <nanobind/stl/string.h>

#include "gil.hpp"

namespace armillary::python {

nb::object error_class(const char* kind) {
  static const auto* errors = new nb::object(nb::module_::import_("armillary.errors"));  // never ends
  return errors->attr(kind);
}

PyObject* set_error(nb::handle exception) {
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  return nullptr;
}

void raise_object(nb::handle exception) {
  (void)set_error(exception);
  throw nb::python_error();
}

void raise(const char* kind, const std::string& message, nb::handle value) {
  raise_object(call_python([&] { return value.is_valid() ? error_class(kind)(message, value) : error_class(kind)(message); }));
}

std::string printed(nb::handle value) { return nb::cast<std::string>(nb::steal<nb::str>(PyObject_Str(value.ptr()))); }

std::string shown(nb::handle value) {
  constexpr Py_ssize_t longest = 60;
  const nb::object text = nb::steal(PyObject_Repr(value.ptr()));
  if (!text.is_valid()) {
    PyErr_Clear();
    return std::string("an object of type ") + Py_TYPE(value.ptr())->tp_name;
  }
  if (PyUnicode_GET_LENGTH(text.ptr()) <= longest) return nb::cast<std::string>(text);
  return nb::cast<std::string>(nb::steal(PyUnicode_Substring(text.ptr(), 0, longest))) + "...";
}

std::string stamp_text(Stamp stamp) {
  return printed(nb::module_::import_("armillary.errors.format").attr("format_stamp")(stamp.ns, 0));
}

}  // namespace armillary::python
