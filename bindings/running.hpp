#pragma once

// `run(values, out=None)` of everything that takes numbers to numbers.

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace nb = nanobind;

namespace armillary::python {

/// The shape of one answer: a number, a row of them, or a matrix.
struct AnswerShape {
  std::array<std::size_t, 2> sizes{};
  std::size_t dimensions = 1;

  [[nodiscard]] std::span<const std::size_t> all() const { return {sizes.data(), dimensions}; }
};

/// A function of `inputs` numbers whose answer has a shape, for as long as what it was taken from lives.
struct Running {
  const void* self;
  std::size_t inputs;
  AnswerShape shape;
  void (*one)(const void* self, const double* in, double* out);
  void (*rows)(const void* self, std::size_t n, const double* in, double* out);
};

/// (n,) gives the shape; (N, n) gives it N times, without the GIL.
[[nodiscard]] nb::object run(const Running& running, nb::handle values, nb::handle out);

/// Makes running `of(self)` a method of a class; it reads its own arguments, which a small tape needs to be worth calling.
template <Running (*of)(nb::handle self)>
void define_run(nb::handle type, const char* name = "run");

/// The arguments of `run`: values, and out or None.
struct RunArguments {
  nb::handle values, out;
};
[[nodiscard]] RunArguments run_arguments(PyObject* const* args, Py_ssize_t positional, PyObject* keywords);

/// What stands behind the name.
extern const char* const kRunDocumentation;

/// How a tape, interpreted or compiled, is run: with one row of numbers as its answer.
[[nodiscard]] Running running_tape(nb::handle tape);
[[nodiscard]] Running running_loaded_tape(nb::handle tape);

}  // namespace armillary::python

#include "keywords.hpp"

namespace armillary::python {

template <Running (*of)(nb::handle self)>
void define_run(nb::handle type, const char* name) {
  constexpr auto call = [](PyObject* self, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) -> PyObject* {
    return guarded([&] {
      const RunArguments given = run_arguments(args, positional, keywords);
      return run(of(self), given.values, given.out).release().ptr();
    });
  };
  static PyObject* (*const function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) = call;
  static const std::string documentation = name + std::string(kRunDocumentation);
  static PyMethodDef method{name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
                            METH_FASTCALL | METH_KEYWORDS, documentation.c_str()};
  type.attr(name) = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
}

}  // namespace armillary::python
