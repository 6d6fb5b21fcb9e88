#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "convert.hpp"
#include "modules.hpp"
#include "notebook.hpp"
#include "raise.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

Rotation checked_quaternion(double w, double x, double y, double z) {
  const Rotation q{w, x, y, z};
  const double n2 = q.squared_norm();
  if (!std::isfinite(n2))
    raise("InvalidTransform", "The quaternion has a NaN or infinite component. Check where it was computed.",
          nb::make_tuple(w, x, y, z));
  if (std::abs(n2 - 1.0) > 0.01) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "A rotation needs a unit quaternion; this one (w %.4g, x %.4g, y %.4g, z %.4g) has squared norm %.6g. "
                  "Normalise it, and check the order: from_wxyz or from_xyzw.",
                  w, x, y, z, n2);
    raise("InvalidTransform", text, nb::make_tuple(w, x, y, z));
  }
  return n2 == 1.0 ? q : q.normalized();
}

Rotation checked_rotation_matrix(const double* m, std::size_t stride, const std::string& prefix) {
  Matrix3 r;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) r[3 * i + j] = m[stride * i + j];
  double worst = 0.0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = i == j ? -1.0 : 0.0;
      for (std::size_t k = 0; k < 3; ++k) sum += r[3 * k + i] * r[3 * k + j];
      worst = std::isfinite(sum) ? std::max(worst, std::abs(sum)) : HUGE_VAL;
    }
  const double det = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
  if (worst > 0.01 || det < 0.0)
    raise("InvalidTransform",
          prefix + (det < 0.0 ? "This 3x3 matrix is a reflection (determinant below zero): swap or negate an axis."
                              : "The columns of a rotation matrix must be finite unit vectors at right angles; these are not."));
  return Rotation::from_matrix(r);
}

Vector3 checked_vector(nb::handle value, const char* name) {
  const Doubles v(value, name, {3});
  const Vector3 vector{v.data()[0], v.data()[1], v.data()[2]};
  if (!std::isfinite(vector.x + vector.y + vector.z))
    raise("InvalidTransform", std::string(name) + " = " + shown(value) + " has a NaN or infinite component.", value);
  return vector;
}

Rotation as_rotation(nb::handle value) {
  if (const Rotation* rotation = value_of<Rotation>(value)) return *rotation;
  return checked_rotation_matrix(Doubles(matrices_in(value), "rotation", {3, 3}).data(), 3);
}

Rotation nearly_unit(const Rotation& q) {
  const double scale = 1.5 - 0.5 * q.squared_norm();
  return {q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

namespace {

nb::object vector_array(const Vector3& v) {
  const double values[3] = {v.x, v.y, v.z};
  return read_only_array(values, {3});
}

std::string rotation_repr(const Rotation& q) {
  const Vector3 rpy = q.rpy();
  char text[120];
  std::snprintf(text, sizeof text, "Rotation(rpy=(%.6g, %.6g, %.6g))", rpy.x, rpy.y, rpy.z);
  return text;
}

nb::object apply_rotation(const Rotation& rotation, nb::handle other) {
  if (const Rotation* next = value_of<Rotation>(other)) return nb::cast(nearly_unit(rotation * *next));
  return map_points(Transform{rotation, {}}, other);
}

}  // namespace

void bind_rotation(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(refuse_to_construct)}, {0, nullptr}};
  nb::class_<Rotation> type(
      m, "Rotation", nb::type_slots(slots),
      "A rotation. Frozen; `a @ b` composes, `a @ points` turns points. `numpy.asarray(a)` is its (3, 3) matrix.");
  type.def_static(
          "identity", [] { return Rotation{}; }, "No rotation.")
      .def_static(
          "from_wxyz",
          [](nb::handle wxyz) {
            const Doubles q(wxyz, "wxyz", {4});
            return checked_quaternion(q.data()[0], q.data()[1], q.data()[2], q.data()[3]);
          },
          "wxyz"_a, nb::sig("def from_wxyz(wxyz: ArrayLike) -> Rotation"), "From a unit quaternion, scalar first.")
      .def_static(
          "from_xyzw",
          [](nb::handle xyzw) {
            const Doubles q(xyzw, "xyzw", {4});
            return checked_quaternion(q.data()[3], q.data()[0], q.data()[1], q.data()[2]);
          },
          "xyzw"_a, nb::sig("def from_xyzw(xyzw: ArrayLike) -> Rotation"), "From a unit quaternion, scalar last.")
      .def_static(
          "from_matrix",
          [](nb::handle matrix) {
            const Doubles r(matrices_in(matrix), "matrix", {3, 3});
            return checked_rotation_matrix(r.data(), 3);
          },
          "matrix"_a, nb::sig("def from_matrix(matrix: ArrayLike) -> Rotation"), "From a rotation matrix, shape (3, 3).")
      .def_static(
          "from_rpy", [](nb::handle rpy) { return Rotation::from_rpy(checked_vector(rpy, "rpy")); }, "rpy"_a,
          nb::sig("def from_rpy(rpy: ArrayLike) -> Rotation"), "From roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll).")
      .def_static(
          "exp", [](nb::handle v) { return Rotation::exp(checked_vector(v, "v")); }, "v"_a,
          nb::sig("def exp(v: ArrayLike) -> Rotation"), "From a rotation vector: axis times angle [rad].")
      .def(
          "log", [](const Rotation& q) { return vector_array(q.log()); }, nb::sig("def log(self) -> NDArray[float64]"),
          "The rotation vector: axis times angle [rad], at most pi long.")
      .def("inverse", &Rotation::inverse, "The rotation back.")
      .def("__matmul__", &apply_rotation, nb::is_operator(), nb::sig("def __matmul__(self, other: Rotation | ArrayLike) -> Any"))
      .def(
          "is_close", [](const Rotation& a, const Rotation& b, double rad) { return a.angle_to(b) <= rad; }, "other"_a,
          nb::kw_only(), "rad"_a = 1e-9, "Whether the angle between the two is at most `rad`.")
      .def(
          "__eq__",
          [](const Rotation& a, nb::handle b) -> bool {
            const Rotation* other = value_of<Rotation>(b);
            return other != nullptr && a == *other;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Rotation& q) { return nb::hash(nb::make_tuple(q.w, q.x, q.y, q.z)); })
      .def(
          "__getstate__", [](const Rotation& q) { return nb::make_tuple(q.w, q.x, q.y, q.z); },
          nb::sig("def __getstate__(self) -> tuple[float, ...]"))
      .def(
          "__setstate__",
          [](Rotation& self, const std::array<double, 4>& q) {
            (void)checked_quaternion(q[0], q[1], q[2], q[3]);
            new (&self) Rotation{q[0], q[1], q[2], q[3]};
          },
          nb::sig("def __setstate__(self, state: tuple[float, ...], /) -> None"))
      .def("__repr__", &rotation_repr)
      .def(
          "__array__",
          [](const Rotation& q, nb::handle dtype, nb::handle copy) {
            return as_numpy(read_only_array(q.matrix().data(), {3, 3}), dtype, copy);
          },
          "dtype"_a = nb::none(), nb::kw_only(), "copy"_a = nb::none(),
          nb::sig("def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> NDArray[Any]"),
          "The rotation matrix, shape (3, 3): always a new array.")
      .def(
          "_repr_html_", [](nb::object self) { return notebook("rotation_html")(self); }, nb::sig("def _repr_html_(self) -> str"))
      .def_prop_ro(
          "wxyz",
          [](const Rotation& q) {
            const double values[4] = {q.w, q.x, q.y, q.z};
            return read_only_array(values, {4});
          },
          nb::sig("def wxyz(self) -> NDArray[float64]"), "Unit quaternion, scalar first, shape (4,).")
      .def_prop_ro(
          "xyzw",
          [](const Rotation& q) {
            const double values[4] = {q.x, q.y, q.z, q.w};
            return read_only_array(values, {4});
          },
          nb::sig("def xyzw(self) -> NDArray[float64]"), "Unit quaternion, scalar last, shape (4,).")
      .def_prop_ro(
          "matrix", [](const Rotation& q) { return read_only_array(q.matrix().data(), {3, 3}); },
          nb::sig("def matrix(self) -> NDArray[float64]"), "Rotation matrix, shape (3, 3).")
      .def_prop_ro(
          "rpy", [](const Rotation& q) { return vector_array(q.rpy()); }, nb::sig("def rpy(self) -> NDArray[float64]"),
          "Roll, pitch, yaw [rad], shape (3,): R = Rz(yaw) Ry(pitch) Rx(roll).");
  nb::setattr(type, "__array_ufunc__", nb::none());  // `array @ rotation` is refused, not taken for a product of matrices
}

}  // namespace armillary::python
