#pragma once

// Keyword arguments of the hottest calls, read without a general dispatcher: a third of the cost of a lookup.

#include <nanobind/nanobind.h>

#include <array>
#include <new>
#include <string>

#include "raise.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// Names and default values of keyword-only arguments; `read` fills them in from a vectorcall.
template <std::size_t Count>
class Keywords {
 public:
  struct Spec {
    const char* name;
    PyObject* fallback;  // null: required
  };

  Keywords(const char* function, const std::array<Spec, Count>& specs) : function_(function) {
    for (std::size_t i = 0; i < Count; ++i) {
      names_[i] = PyUnicode_InternFromString(specs[i].name);
      fallbacks_[i] = specs[i].fallback;
      Py_XINCREF(specs[i].fallback);
    }
  }

  [[nodiscard]] std::array<nb::handle, Count> read(PyObject* const* args, Py_ssize_t positional, PyObject* keywords) const {
    if (positional > 0)
      fail(PyExc_TypeError, std::string("takes keyword arguments only, as in ") + PyUnicode_AsUTF8(names_[0]) + "=, " +
                                PyUnicode_AsUTF8(names_[1]) + "=");
    std::array<nb::handle, Count> values;
    const Py_ssize_t given = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < given; ++k) values[position(PyTuple_GET_ITEM(keywords, k), static_cast<std::size_t>(k))] = args[k];
    for (std::size_t i = 0; i < Count; ++i) {
      if (values[i].is_valid()) continue;
      if (fallbacks_[i] == nullptr)
        fail(PyExc_TypeError, std::string("is missing the argument ") + PyUnicode_AsUTF8(names_[i]) + "=");
      values[i] = fallbacks_[i];
    }
    return values;
  }

 private:
  [[nodiscard]] std::size_t position(PyObject* name, std::size_t likely) const {
    if (likely < Count && names_[likely] == name) return likely;
    for (std::size_t i = 0; i < Count; ++i)
      if (names_[i] == name) return i;
    for (std::size_t i = 0; i < Count; ++i)
      if (PyUnicode_Compare(names_[i], name) == 0) return i;
    fail(PyExc_TypeError, "got an unexpected keyword argument " + shown(name));
  }

  [[noreturn]] void fail(PyObject* kind, const std::string& what) const {
    PyErr_SetString(kind, (std::string(function_) + "() " + what).c_str());
    throw nb::python_error();
  }

  const char* function_;
  std::array<PyObject*, Count> names_{};
  std::array<PyObject*, Count> fallbacks_{};
};

/// Runs `body` where C++ exceptions must not pass: a C function called by the interpreter.
template <typename Body>
PyObject* guarded(Body body) {
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace armillary::python
