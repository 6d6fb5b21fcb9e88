#pragma once

// Checks at the border: numbers become values here, or are refused.

#include <nanobind/nanobind.h>

#include <array>
#include <optional>
#include <string>

#include "armillary/math/transform.hpp"
#include "numpy_array.hpp"

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

/// Points as rows of three numbers, whatever their form.
struct PointRows {
  explicit PointRows(nb::handle points);
  /// An array for as many mapped points, whose numbers `out` points to.
  [[nodiscard]] nb::object empty_like(double** out) const;
  /// Mapped rows in the form that the points had.
  [[nodiscard]] nb::object restored(const nb::object& mapped) const;

  /// Three numbers a row.
  [[nodiscard]] const double* data() const { return is_few ? few.data() : view.data(); }

  nb::object rows;  // (N, 3), or (3,)
  nb::object form;  // armillary.transforms.conversions.PointForm; None for float64 rows and for plain numbers
  ArrayView view;   // of the rows
  std::array<double, 3> few{};
  bool is_few = false;  // one point as a tuple or list of plain numbers, which are in `few`
  std::size_t count = 0;
};

/// Maps points of any form: (3,), (N, 3), (H, W, 3) ...
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

/// A Transform, a float64 array of shape (4, 4), or a Rotation; nothing for anything else.
[[nodiscard]] std::optional<Transform> transform_in(nb::handle value);
/// The matrices that a value of another library holds; the value itself where it is none of those.
[[nodiscard]] nb::object matrices_in(nb::handle value);

/// A Rotation, or one of another library, or an error that says how to make one.
[[nodiscard]] Rotation as_rotation(nb::handle value);
/// The matrix of a value, as numpy asks for it: always a new array.
[[nodiscard]] nb::object as_numpy(const nb::object& matrix, nb::handle dtype, nb::handle copy);
/// A Transform, or an error that says how to make one.
[[nodiscard]] const Transform& as_transform(nb::handle value);

}  // namespace armillary::python
