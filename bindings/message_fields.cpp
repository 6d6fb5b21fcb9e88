#include "message_fields.hpp"

#include <array>
#include <cmath>

#include "values.hpp"

namespace armillary::python {

namespace {

/// A name of an attribute, kept for the life of the process.
PyObject* field_name(const char* text) { return PyUnicode_InternFromString(text); }

nb::object field_of(nb::handle message, PyObject* name) {
  PyObject* value = PyObject_GetAttr(message.ptr(), name);
  if (value == nullptr) PyErr_Clear();
  return nb::steal(value);
}

template <std::size_t N>
bool read_fields(nb::handle message, const std::array<PyObject*, N>& names, std::size_t count, std::array<double, N>& numbers) {
  for (std::size_t i = 0; i < count; ++i) {
    const nb::object number = field_of(message, names[i]);
    if (!number.is_valid() || !PyFloat_CheckExact(number.ptr())) return false;
    numbers[i] = PyFloat_AS_DOUBLE(number.ptr());
  }
  return true;
}

std::optional<Transform> transform_of_parts(nb::handle linear, nb::handle angular) {
  static const std::array names{field_name("x"), field_name("y"), field_name("z"), field_name("w")};
  std::array<double, 4> xyz{}, q{};
  if (!read_fields(linear, names, 3, xyz) || !read_fields(angular, names, 4, q)) return {};
  if (!std::isfinite(xyz[0] + xyz[1] + xyz[2])) return {};
  return Transform{checked_quaternion(q[3], q[0], q[1], q[2]), {xyz[0], xyz[1], xyz[2]}};
}

std::optional<std::int64_t> nanoseconds_of(nb::handle message, PyObject* whole, PyObject* rest) {
  const nb::object sec = field_of(message, whole);
  if (!sec.is_valid() || !PyLong_CheckExact(sec.ptr())) return {};
  const nb::object nanosec = field_of(message, rest);
  if (!nanosec.is_valid() || !PyLong_CheckExact(nanosec.ptr())) return {};
  constexpr long long most = 1LL << 32;  // of both fields, in every message
  int overflow = 0, overflow_of_rest = 0;
  const long long s = PyLong_AsLongLongAndOverflow(sec.ptr(), &overflow);
  const long long ns = PyLong_AsLongLongAndOverflow(nanosec.ptr(), &overflow_of_rest);
  if (overflow != 0 || overflow_of_rest != 0 || s > most || s < -most || ns > most || ns < -most) return {};
  return s * 1'000'000'000 + ns;
}

}  // namespace

std::optional<Transform> transform_in_message(nb::handle message) {
  static PyObject *const translation = field_name("translation"), *const rotation = field_name("rotation");
  static PyObject *const position = field_name("position"), *const orientation = field_name("orientation");
  nb::object linear = field_of(message, translation);
  const bool is_transform = linear.is_valid();
  if (!is_transform) linear = field_of(message, position);
  if (!linear.is_valid()) return {};
  const nb::object angular = field_of(message, is_transform ? rotation : orientation);
  return angular.is_valid() ? transform_of_parts(linear, angular) : std::nullopt;
}

std::optional<std::int64_t> stamp_in_message(nb::handle message) {
  static PyObject *const sec = field_name("sec"), *const nanosec = field_name("nanosec");
  static PyObject *const secs = field_name("secs"), *const nsecs = field_name("nsecs");
  const std::optional<std::int64_t> stamp = nanoseconds_of(message, sec, nanosec);
  return stamp ? stamp : nanoseconds_of(message, secs, nsecs);
}

}  // namespace armillary::python
