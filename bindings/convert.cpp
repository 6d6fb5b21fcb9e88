#include "convert.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "armillary/log/change.hpp"
#include "message_fields.hpp"
#include "raise.hpp"

namespace armillary::python {

namespace {

constexpr std::int64_t kShortestWindow_ns = 2;

nb::object numpy_array(nb::handle value, const char* dtype) {
  return nb::module_::import_("numpy").attr("ascontiguousarray")(value, nb::arg("dtype") = dtype);
}

}  // namespace

nb::object any_array(nb::handle value, const char* name) {
  try {
    return nb::module_::import_("numpy").attr("asarray")(value);
  } catch (const nb::python_error&) {
    raise("InvalidArgument", std::string(name) + " must be an array of numbers, got " + shown(value) + ".", value);
  }
}

namespace {

std::string shape_text(std::initializer_list<Py_ssize_t> shape) {
  std::string text = "(";
  for (const Py_ssize_t length : shape) {
    if (text.size() > 1) text += ", ";
    text += length < 0 ? "N" : std::to_string(length);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool fits(std::span<const Py_ssize_t> sizes, std::initializer_list<Py_ssize_t> shape) {
  return std::ranges::equal(sizes, shape, [](Py_ssize_t size, Py_ssize_t wanted) { return size == wanted || wanted < 0; });
}

void get_buffer(nb::handle array, Py_buffer& view) {
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) throw nb::python_error();
}

}  // namespace

bool read_numbers(nb::handle value, std::span<double> numbers) {
  PyObject* given = value.ptr();
  const bool is_tuple = PyTuple_CheckExact(given);
  if (!is_tuple && !PyList_CheckExact(given)) return false;
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(given) : PyList_GET_SIZE(given);
  if (static_cast<std::size_t>(count) != numbers.size()) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* number = is_tuple ? PyTuple_GET_ITEM(given, i) : PyList_GET_ITEM(given, i);
    if (!PyFloat_CheckExact(number) && !PyLong_CheckExact(number)) return false;
    const double value_of_it = PyFloat_AsDouble(number);
    if (value_of_it == -1.0 && PyErr_Occurred() != nullptr) return PyErr_Clear(), false;
    numbers[static_cast<std::size_t>(i)] = value_of_it;
  }
  return true;
}

bool Doubles::read_few(nb::handle value, std::initializer_list<Py_ssize_t> shape) {
  const auto count = static_cast<std::size_t>(shape.size() == 1 ? *shape.begin() : 0);
  if (count == 0 || count > numbers_.size() || !read_numbers(value, std::span(numbers_).first(count))) return false;
  few_ = count;
  return true;
}

Doubles::Doubles(nb::handle value, const char* name, std::initializer_list<Py_ssize_t> shape) {
  if (read_few(value, shape)) return;
  array_ = nb::borrow(value);
  if (!view_.open(value)) {
    try {
      array_ = numpy_array(value, "float64");
    } catch (const nb::python_error&) {
      raise("InvalidArgument",
            std::string(name) + " must be numbers of shape " + shape_text(shape) + ", got " + shown(value) + ".", value);
    }
    (void)view_.open(array_);
  }
  if (!fits(view_.sizes(), shape))
    raise("InvalidArgument",
          std::string(name) + " must have shape " + shape_text(shape) + ", got " + printed(any_array(value, name).attr("shape")) +
              ".",
          value);
}

namespace {

nb::object stamps_module(const char* name) { return nb::module_::import_("armillary.stamps").attr(name); }

/// Only an array of integers of numpy itself is taken as it is; armillary.stamps knows all other forms.
nb::object int64_array(nb::handle value, const char* name) {
  const bool is_array = nb::ndarray_check(value) && nb::hasattr(value, "dtype") && nb::cast<int>(value.attr("ndim")) == 1;
  const bool is_integer = is_array && printed(value.attr("dtype").attr("kind")) == "i";
  return is_integer ? numpy_array(value, "int64") : stamps_module("as_stamps")(value, name);
}

std::int64_t integer_stamp(PyObject* integer, nb::handle value, const char* name) {
  int overflow = 0;
  const long long ns = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow != 0 || !is_sample_stamp({ns}))
    raise("InvalidStamp", std::string(name) + " = " + shown(value) + " ns is out of range: stamps lie within 146 years of zero.",
          value);
  return ns;
}

}  // namespace

Stamps::Stamps(nb::handle value, const char* name) {
  array_ = int64_array(value, name);
  get_buffer(array_, view_);
  for (std::size_t row = 0; row < span().size(); ++row) {
    if (is_sample_stamp({span()[row]})) continue;
    PyBuffer_Release(&view_);
    view_ = {};
    raise("InvalidStamp",
          std::string(name) + "[" + std::to_string(row) + "] is out of range: stamps lie within 146 years of zero.", value);
  }
}

std::int64_t as_stamp(nb::handle value, const char* name) {
  if (PyLong_CheckExact(value.ptr())) return integer_stamp(value.ptr(), value, name);
  const bool is_integer = PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr());
  nb::object ns = is_integer ? nb::steal(PyNumber_Index(value.ptr())) : nb::object();
  PyErr_Clear();
  if (!ns.is_valid())
    if (const std::optional<std::int64_t> read = stamp_in_message(value); read && is_sample_stamp({*read})) return *read;
  if (!ns.is_valid()) ns = stamps_module("as_instant")(value, name);
  return integer_stamp(ns.ptr(), value, name);
}

nb::object stamp_object(nb::handle value, const char* name) {
  const std::int64_t ns = as_stamp(value, name);
  return PyLong_CheckExact(value.ptr()) ? nb::borrow(value) : nb::object(nb::int_(ns));
}

nb::handle latest() {
  static const PyObject* only = nb::object(nb::module_::import_("armillary.stamps").attr("LATEST")).release().ptr();
  return const_cast<PyObject*>(only);
}

When as_when(nb::handle value, const char* name) {
  if (value.is(latest())) return When::newest();
  return When::exactly({as_stamp(value, name)});
}

Duration as_window(nb::handle value) {
  if (value.is_none()) return {};
  const std::int64_t window_ns = PyIndex_Check(value.ptr()) ? as_stamp(value, "window") : 0;
  if (window_ns < kShortestWindow_ns)
    raise("InvalidArgument",
          "window must be a duration of at least 2 ns, got " + shown(value) +
              ": half of it lies before the instant and half after, and the poses at its two ends are compared. Pass a few "
              "sample periods, as in window=seconds(0.1), or None for the derivative of the interpolated pose.",
          value);
  return {window_ns};
}

std::size_t as_count(nb::handle value, const char* name) {
  const std::size_t count = PyLong_CheckExact(value.ptr()) ? PyLong_AsSize_t(value.ptr()) : static_cast<std::size_t>(-1);
  if (PyErr_Occurred() == nullptr && count != static_cast<std::size_t>(-1)) return count;
  PyErr_Clear();
  raise("InvalidArgument", std::string(name) + " must be how many there are, got " + shown(value) + ".", value);
}

bool as_flag(nb::handle value, const char* name) {
  if (!PyBool_Check(value.ptr()))
    raise("InvalidArgument", std::string(name) + " must be True or False, got " + shown(value) + ".", value);
  return value.is(nb::handle(Py_True));
}

nb::object stamp_or_none(Stamp stamp) {
  if (stamp == Stamp::always() || stamp == Stamp::never()) return nb::none();
  return nb::int_(stamp.ns);
}

std::string_view text_of(nb::handle string) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(string.ptr(), &length);
  if (text == nullptr) {
    PyErr_Clear();
    raise("InvalidName", "The name " + shown(string) + " is not text that can be stored (UTF-8).", string);
  }
  return {text, static_cast<std::size_t>(length)};
}

nb::object new_array(double** out, std::initializer_list<std::size_t> shape) {
  nb::object array = Numpy::get().empty(shape);
  ArrayView view;
  (void)view.open(array, true);
  *out = view.data();
  return array;
}

nb::object read_only_array(const double* values, std::initializer_list<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t length : shape) count *= length;
  auto* memory = new double[count];
  std::memcpy(memory, values, count * sizeof(double));
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const double>(memory, shape.size(), shape.begin(), owner));
}

int dimensions_of(nb::handle value, const char* name) { return nb::cast<int>(any_array(value, name).attr("ndim")); }

Covariance as_covariance(nb::handle value, const char* name) {
  Covariance covariance;
  if (dimensions_of(value, name) == 1) {
    const Doubles variances(value, name, {6});
    for (std::size_t i = 0; i < 6; ++i) covariance.values[7 * i] = variances.data()[i];
  } else {
    const Doubles array(value, name, {6, 6});
    std::memcpy(covariance.values.data(), array.data(), sizeof(covariance.values));
  }
  if (!is_covariance(covariance))
    raise("InvalidArgument",
          std::string(name) +
              " must be finite, symmetric and positive semi-definite: (6, 6), translation then rotation, or six variances.",
          value);
  return covariance;
}

namespace {

/// A read-only array that takes the numbers over: there may be millions.
template <typename Number>
nb::object taken_over(std::vector<Number> numbers, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<Number>(std::move(numbers));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  static const Number none{};
  const Number* data = kept->empty() ? &none : kept->data();
  return nb::cast(nb::ndarray<nb::numpy, const Number>(data, shape.size(), shape.begin(), owner));
}

}  // namespace

nb::tuple arrays_of(SampleTable table) {
  const std::size_t count = table.stamps.size();
  const bool has_covariances = !table.covariances.empty();
  return nb::make_tuple(taken_over(std::move(table.stamps), {count}), taken_over(std::move(table.values), {count, table.width}),
                        has_covariances ? taken_over(std::move(table.covariances), {count, 6, 6}) : nb::none());
}

Rank rank_from(nb::handle rank) {
  for (const Rank one : {Rank::fallback, Rank::plain, Rank::statement})
    if (nb::isinstance<nb::str>(rank) && text_of(rank) == log::name_of(one)) return one;
  raise("InvalidArgument", "rank must be 'fallback', 'plain' or 'statement', got " + shown(rank) + ".", rank);
}

}  // namespace armillary::python
