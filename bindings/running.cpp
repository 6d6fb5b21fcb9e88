#include "running.hpp"

#include <functional>
#include <string>

#include "gil.hpp"
#include "raise.hpp"

namespace armillary::python {

const char* const kRunDocumentation =
    "run($self, values, out=None)\n--\n\n"
    "The outputs for one set of inputs, or for many.\n\n"
    "Args:\n"
    "    values: (n,), or (N, n) for N sets in one call, which does not hold the GIL.\n"
    "    out: Where the results go: float64 in C order, of the shape of the result, apart from `values`.\n\n"
    "Returns:\n"
    "    (outputs,) or (N, outputs): `out` if it was given, otherwise a new array.";

namespace {

struct Numpy {
  nb::object empty, asarray, float64, c_order;
};

const Numpy& numpy() {
  static const Numpy* const only = [] {
    const nb::module_ module = nb::module_::import_("numpy");
    return new Numpy{module.attr("empty"), module.attr("asarray"), module.attr("float64"), nb::str("C")};
  }();
  return *only;
}

/// The memory of a float64 array in C order, for as long as this lives.
class View {
 public:
  View() = default;
  ~View() { close(); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// False: `array` is not of that kind.
  [[nodiscard]] bool open(nb::handle array, int flags = 0) {
    close();
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) == 0)
      return view_.format[0] == 'd' && view_.format[1] == '\0';
    PyErr_Clear();
    return false;
  }

  [[nodiscard]] double* data() const { return static_cast<double*>(view_.buf); }
  [[nodiscard]] int dimensions() const { return view_.ndim; }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(view_.shape[0]); }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(view_.shape[view_.ndim - 1]); }
  [[nodiscard]] bool overlaps(const View& other) const {
    const std::less<const double*> before;
    return before(data(), other.end()) && before(other.data(), end());
  }

 private:
  [[nodiscard]] const double* end() const { return data() + static_cast<std::size_t>(view_.len) / sizeof(double); }
  void close() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  Py_buffer view_{};
};

nb::object converted(nb::handle values, std::size_t inputs) {
  PyObject* const args[] = {values.ptr(), numpy().float64.ptr(), numpy().c_order.ptr()};
  nb::object array = nb::steal(PyObject_Vectorcall(numpy().asarray.ptr(), args, 3, nullptr));
  if (array.is_valid()) return array;
  PyErr_Clear();
  const std::string n = std::to_string(inputs);
  raise("InvalidArgument", "values must be numbers of shape (" + n + ",) or (N, " + n + "), got " + shown(values) + ".", values);
}

void check_shape(const View& view, nb::handle values, std::size_t inputs) {
  const int dimensions = view.dimensions();
  if ((dimensions == 1 || dimensions == 2) && view.columns() == inputs) return;
  const std::string n = std::to_string(inputs);
  const std::string shape = nb::hasattr(values, "shape") ? printed(values.attr("shape")) : shown(values);
  raise("InvalidArgument", "values must have shape (" + n + ",), or (N, " + n + ") for many at once, got " + shape + ".", values);
}

std::string shape_text(const View& values, std::size_t outputs) {
  const std::string columns = std::to_string(outputs);
  const std::string rows = values.dimensions() == 1 ? std::string() : std::to_string(values.rows()) + ", ";
  return std::string("(").append(rows).append(columns).append(values.dimensions() == 1 ? ",)" : ")");
}

nb::object new_result(const View& values, std::size_t outputs) {
  nb::object shape = nb::steal(PyLong_FromSize_t(outputs));
  if (values.dimensions() == 2) shape = nb::make_tuple(values.rows(), shape);
  PyObject* const args[] = {shape.ptr()};
  nb::object result = nb::steal(PyObject_Vectorcall(numpy().empty.ptr(), args, 1, nullptr));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

void check_out(const View& out, nb::handle given, const View& values, std::size_t outputs) {
  const bool fits = out.dimensions() == values.dimensions() && out.columns() == outputs &&
                    (values.dimensions() == 1 || out.rows() == values.rows());
  if (!fits)
    raise("InvalidArgument",
          "out must have the shape of the result, " + shape_text(values, outputs) + ", got " + printed(given.attr("shape")) + ".",
          given);
  if (out.overlaps(values))
    raise("InvalidArgument", "out shares memory with values: give an array of its own, or none, for the results.", given);
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
    PyErr_SetString(PyExc_TypeError, "run() takes values and, where wanted, out: run(values, out=None)");
    throw nb::python_error();
  }
  return {given[0], given[1] == nullptr ? nb::handle(Py_None) : nb::handle(given[1])};
}

nb::object run(const Running& running, nb::handle values, nb::handle out) {
  View in, results;
  nb::object array;
  if (!in.open(values)) {
    array = converted(values, running.inputs);
    if (!in.open(array)) throw nb::python_error();
  }
  check_shape(in, values, running.inputs);
  nb::object result = out.is_none() ? new_result(in, running.outputs) : nb::borrow(out);
  if (!results.open(result, PyBUF_WRITABLE))
    raise("InvalidArgument", "out must be a float64 array in C order that can be written to, got " + shown(out) + ".", out);
  if (!out.is_none()) check_out(results, out, in, running.outputs);
  if (in.dimensions() == 1)
    running.one(running.self, in.data(), results.data());
  else
    without_gil([&] { running.rows(running.self, in.rows(), in.data(), results.data()); });
  return result;
}

}  // namespace armillary::python
