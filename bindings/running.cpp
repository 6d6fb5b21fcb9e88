#include "running.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "gil.hpp"
#include "numpy_array.hpp"
#include "raise.hpp"

namespace armillary::python {

const char* const kRunDocumentation =
    "($self, values, out=None)\n--\n\n"
    "The outputs for one set of inputs, or for many.\n\n"
    "Args:\n"
    "    values: (n,), or (N, n) for N sets in one call, which does not hold the GIL.\n"
    "    out: Where the results go: float64 in C order, of the shape of the result, apart from `values`.\n\n"
    "Returns:\n"
    "    The answer, or N of them: `out` if it was given, otherwise a new array.";

namespace {

nb::object converted(nb::handle values, std::size_t inputs) {
  nb::object array = Numpy::get().converted(values);
  if (array.is_valid()) return array;
  const std::string n = std::to_string(inputs);
  raise("InvalidArgument", "values must be numbers of shape (" + n + ",) or (N, " + n + "), got " + shown(values) + ".", values);
}

void check_shape(const ArrayView& view, nb::handle values, std::size_t inputs) {
  const int dimensions = view.dimensions();
  if ((dimensions == 1 || dimensions == 2) && view.columns() == inputs) return;
  const std::string n = std::to_string(inputs);
  const std::string shape = nb::hasattr(values, "shape") ? printed(values.attr("shape")) : shown(values);
  raise("InvalidArgument", "values must have shape (" + n + ",), or (N, " + n + ") for many at once, got " + shape + ".", values);
}

/// The sizes of the whole result: those of one answer, behind the number of rows where there are many.
class ResultShape {
 public:
  ResultShape(const ArrayView& values, const AnswerShape& answer) : count_(values.dimensions() - 1 + answer.dimensions) {
    if (values.dimensions() == 2) sizes_[0] = values.rows();
    std::ranges::copy(answer.all(), sizes_.begin() + values.dimensions() - 1);
  }

  [[nodiscard]] std::span<const std::size_t> sizes() const { return {sizes_.data(), count_}; }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::size_t size : sizes()) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "(" + text + (count_ == 1 ? ",)" : ")");
  }

 private:
  std::array<std::size_t, 3> sizes_{};
  std::size_t count_;
};

void check_out(const ArrayView& out, nb::handle given, const ArrayView& values, const ResultShape& wanted) {
  if (!std::ranges::equal(out.sizes(), wanted.sizes(), std::ranges::equal_to{},
                          [](Py_ssize_t size) { return static_cast<std::size_t>(size); }))
    raise("InvalidArgument",
          "out must have the shape of the result, " + wanted.text() + ", got " + printed(given.attr("shape")) + ".", given);
  if (out.overlaps(values))
    raise("InvalidArgument", "out shares memory with values: give an array of its own, or none, for the results.", given);
}

nb::object number(const Running& running, const ArrayView& values) {
  double result;
  running.one(running.self, values.data(), &result);
  return Numpy::get().number(result);
}

}  // namespace

RunArguments run_arguments(PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  static PyObject* const names[] = {PyUnicode_InternFromString("values"), PyUnicode_InternFromString("out")};
  PyObject* given[] = {positional > 0 ? args[0] : nullptr, positional > 1 ? args[1] : nullptr};
  bool understood = positional <= 2;
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < named && understood; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    const int which = PyUnicode_Compare(name, names[0]) == 0 ? 0 : PyUnicode_Compare(name, names[1]) == 0 ? 1 : 2;
    understood = which < 2 && given[which] == nullptr;
    if (understood) given[which] = args[positional + k];
  }
  if (!understood || given[0] == nullptr) {
    PyErr_SetString(PyExc_TypeError, "The arguments are values and, where wanted, out: (values, out=None)");
    throw nb::python_error();
  }
  return {given[0], given[1] == nullptr ? nb::handle(Py_None) : nb::handle(given[1])};
}

nb::object run(const Running& running, nb::handle values, nb::handle out) {
  ArrayView in, results;
  nb::object array;
  if (!in.open(values)) {
    array = converted(values, running.inputs);
    if (!in.open(array)) throw nb::python_error();
  }
  check_shape(in, values, running.inputs);
  if (out.is_none() && in.dimensions() == 1 && running.shape.dimensions == 0) return number(running, in);
  const ResultShape shape(in, running.shape);
  nb::object result = out.is_none() ? Numpy::get().empty(shape.sizes()) : nb::borrow(out);
  if (!results.open(result, true))
    raise("InvalidArgument", "out must be a float64 array in C order that can be written to, got " + shown(out) + ".", out);
  if (!out.is_none()) check_out(results, out, in, shape);
  if (in.dimensions() == 1)
    running.one(running.self, in.data(), results.data());
  else
    without_gil([&] { running.rows(running.self, in.rows(), in.data(), results.data()); });
  return result;
}

}  // namespace armillary::python
