#pragma once

// Checks at the border: numbers become values here, or are refused.

#include <nanobind/nanobind.h>

#include <string>

#include "armillary/math/transform.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// Unit to 0.01 of its squared norm, then normalised.
[[nodiscard]] Rotation checked_quaternion(double w, double x, double y, double z);
/// A refusal begins with `prefix`.
[[nodiscard]] Rotation checked_rotation_matrix(const double* matrix, std::size_t stride, const std::string& prefix = "");
/// Of sixteen values.
[[nodiscard]] Transform checked_matrix(const double* matrix, const std::string& prefix = "");
[[nodiscard]] Vector3 checked_vector(nb::handle value, const char* name);

/// One Newton step back to unit length: rounding must not add up in long products.
[[nodiscard]] Rotation nearly_unit(const Rotation& q);

/// Maps (3,) or (N, 3).
[[nodiscard]] nb::object map_points(const Transform& a_T_b, nb::handle b_points);

/// The value behind a Python object of that very type; null for anything else, and for one that was never made.
template <typename T>
[[nodiscard]] const T* value_of(nb::handle object) {
  return nb::isinstance<T>(object) && nb::inst_ready(object) ? nb::inst_ptr<T>(object) : nullptr;
}

/// The same, or a TypeError: its class forgot to call the constructor of ours.
template <typename T>
[[nodiscard]] const T& checked(nb::handle object) {
  const T* value = value_of<T>(object);
  if (value == nullptr) throw nb::type_error("This object has no value: its __init__ never called super().__init__(...).");
  return *value;
}

/// What was pickled has this many parts, or it is not ours.
inline void check_state(const nb::tuple& state, std::size_t parts) {
  if (nb::len(state) != parts) throw nb::type_error("This state is none of ours: it was cut, or pickled by another version.");
}

/// A Transform, or an error that says how to make one.
[[nodiscard]] const Transform& as_transform(nb::handle value);

}  // namespace armillary::python
