// Calls that nanobind refuses: its list of C++ overloads becomes a sentence, and every function gets a signature.

#include <array>
#include <cstring>
#include <utility>

#include "modules.hpp"

namespace nb = nanobind;

namespace armillary::python {

namespace {

constexpr std::size_t kMost = 12;  // ways in which nanobind calls functions: it has six
std::array<vectorcallfunc, kMost> ways{};

nb::object signatures(const char* function) { return nb::module_::import_("armillary.signatures").attr(function); }

/// Whether nanobind found that no overload takes the arguments; what a function raises by itself is something else.
bool is_refused(PyObject* type, PyObject* error) {
  if (type != PyExc_TypeError) return false;
  const nb::object text = nb::steal(PyObject_Str(error));
  if (!text.is_valid()) return PyErr_Clear(), false;
  const char* message = PyUnicode_AsUTF8(text.ptr());
  if (message == nullptr) return PyErr_Clear(), false;
  return std::strstr(message, "incompatible function arguments") != nullptr;
}

/// Replaces the error that is set by one that says which argument is wrong; any other error stays.
PyObject* explained(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (is_refused(type, error)) {
    try {
      nb::list positional;
      nb::dict named;
      const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(count));
      for (std::size_t i = 0; i < given; ++i) positional.append(nb::handle(arguments[i]));
      const auto keywords = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
      for (std::size_t i = 0; i < keywords; ++i)
        named[nb::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)))] = nb::handle(arguments[given + i]);
      const nb::object better = signatures("refusal")(nb::handle(function), positional, named);
      if (!better.is_none()) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        PyErr_SetObject(better.type().ptr(), better.ptr());
        return nullptr;
      }
    } catch (nb::python_error&) {  // then nanobind's own words must do
    }
  }
  PyErr_Restore(type, error, traceback);
  return nullptr;
}

template <std::size_t Way>
PyObject* call(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* result = ways[Way](function, arguments, count, names);
  return result != nullptr ? result : explained(function, arguments, count, names);
}

template <std::size_t... Way>
constexpr std::array<vectorcallfunc, kMost> calls(std::index_sequence<Way...>) {
  return {&call<Way>...};
}

constexpr std::array<vectorcallfunc, kMost> kCalls = calls(std::make_index_sequence<kMost>());

/// A function is called through a pointer in it (PEP 590): it gets one that looks at errors.
void explain_refusals_of(nb::handle function) {
  auto& way =
      *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) + Py_TYPE(function.ptr())->tp_vectorcall_offset);
  for (std::size_t i = 0; i < kMost; ++i) {
    if (way == kCalls[i]) return;  // a function of two names
    if (ways[i] == nullptr) ways[i] = way;
    if (ways[i] != way) continue;
    way = kCalls[i];
    return;
  }
}

bool is_native(nb::handle value, nb::handle function_type, nb::handle method_type) {
  return value.type().is(function_type) || value.type().is(method_type);
}

/// The types are nanobind's, for this module alone (NB_DOMAIN).
void add_signature(nb::handle type, const char* reader) {
  const nb::object getter = nb::cpp_function([reader](nb::handle function) { return nb::object(signatures(reader)(function)); });
  const nb::object property = nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter);
  if (PyDict_SetItemString(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_dict, "__signature__", property.ptr()) != 0)
    throw nb::python_error();
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

}  // namespace

int refuse_to_construct(PyObject* self, PyObject*, PyObject*) {
  try {
    const nb::object error = signatures("refused_constructor")(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(self))));
    PyErr_SetObject(error.type().ptr(), error.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  }
  return -1;
}

void explain_refusals(nb::module_& m) {
  const nb::object transform = m.attr("Transform");
  const nb::handle function_type = transform.attr("identity").type(), method_type = transform.attr("inverse").type();
  const nb::object one = transform.attr("identity")();
  add_signature(function_type, "signature_of");
  add_signature(method_type, "signature_of");
  add_signature(one.attr("inverse").type(), "signature_of_bound");
  for (const nb::handle value : nb::borrow<nb::dict>(nb::getattr(m, "__dict__")).values()) {
    if (is_native(value, function_type, method_type)) explain_refusals_of(value);
    if (!PyType_Check(value.ptr())) continue;
    for (const nb::handle member : nb::list(nb::getattr(value, "__dict__").attr("values")())) {
      const bool is_static = Py_TYPE(member.ptr()) == &PyStaticMethod_Type;
      const nb::object function = is_static ? nb::object(nb::getattr(member, "__func__")) : nb::borrow(member);
      if (is_native(function, function_type, method_type)) explain_refusals_of(function);
    }
  }
}

}  // namespace armillary::python
