#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "armillary/math/uncertain.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "modules.hpp"
#include "notebook.hpp"
#include "raise.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

nb::object map_points(const Transform& a_T_b, nb::handle b_points) {
  const nb::object array = any_array(b_points, "points");
  const bool is_one = nb::cast<int>(array.attr("ndim")) == 1;
  const auto map_one = [&](const double* p, double* out) {
    const Vector3 mapped = a_T_b * Vector3{p[0], p[1], p[2]};
    out[0] = mapped.x;
    out[1] = mapped.y;
    out[2] = mapped.z;
  };
  double* out = nullptr;
  if (is_one) {
    const Doubles point(array, "point", {3});
    nb::object result = new_array(&out, {3});
    map_one(point.data(), out);
    return result;
  }
  const Doubles points(array, "points", {-1, 3});
  nb::object result = new_array(&out, {points.rows(), 3});
  (void)without_gil([&] {
    for (std::size_t i = 0; i < points.rows(); ++i) map_one(points.data() + 3 * i, out + 3 * i);
    return true;
  });
  return result;
}

const Transform& as_transform(nb::handle value) {
  const Transform* transform = value_of<Transform>(value);
  if (transform == nullptr)
    raise("InvalidArgument",
          "transform must be a Transform, got " + shown(value) +
              ". Make one with Transform.from_matrix(...) or Transform.from_xyz_wxyz(xyz=, wxyz=).",
          value);
  return *transform;
}

Transform checked_matrix(const double* v, const std::string& prefix) {
  if (std::abs(v[12]) + std::abs(v[13]) + std::abs(v[14]) + std::abs(v[15] - 1.0) > 1e-6 ||
      !std::isfinite(v[12] + v[13] + v[14] + v[15]))
    raise("InvalidTransform",
          prefix + "The last row of a rigid transform is (0, 0, 0, 1); this one is not. Is the matrix transposed?");
  const Vector3 translation{v[3], v[7], v[11]};
  if (!std::isfinite(translation.x + translation.y + translation.z))
    raise("InvalidTransform", prefix + "The translation has a NaN or infinite component.");
  return {checked_rotation_matrix(v, 4, prefix), translation};
}

namespace {

Transform from_matrix(nb::handle value) { return checked_matrix(Doubles(value, "matrix", {4, 4}).data()); }

Transform exp(nb::handle value) {
  const Doubles v(value, "v", {6});
  const double* d = v.data();
  for (std::size_t i = 0; i < 6; ++i)
    if (!std::isfinite(d[i])) raise("InvalidTransform", "The tangent has a NaN or infinite component.", value);
  const Transform result = Transform::exp({{d[0], d[1], d[2]}, {d[3], d[4], d[5]}});
  if (!std::isfinite(result.rotation.squared_norm() + norm(result.translation)))
    raise("InvalidTransform", "The tangent is too large: its motion is not finite.", value);
  return result;
}

nb::object log(const Transform& transform) {
  const auto [t, r] = transform.log();
  const double values[6] = {t.x, t.y, t.z, r.x, r.y, r.z};
  return read_only_array(values, {6});
}

/// Something that numpy can read: what else may multiply is asked itself.
bool is_points(nb::handle other) { return nb::hasattr(other, "__array__") || !nb::hasattr(other, "__rmatmul__"); }

nb::object apply_transform(const Transform& transform, nb::handle other) {
  const Transform* next = value_of<Transform>(other);
  if (next == nullptr) return is_points(other) ? map_points(transform, other) : nb::borrow(Py_NotImplemented);
  Transform product = transform * *next;
  product.rotation = nearly_unit(product.rotation);
  if (!std::isfinite(norm(product.translation)))
    raise("InvalidTransform", "The product of these two is not finite: they are too far apart.");
  return nb::cast(product);
}

nb::object xyz_wxyz(const Transform& transform) {
  const auto& [q, t] = transform;
  const double values[7] = {t.x, t.y, t.z, q.w, q.x, q.y, q.z};
  return read_only_array(values, {7});
}

nb::object translation(const Transform& transform) {
  const double values[3] = {transform.translation.x, transform.translation.y, transform.translation.z};
  return read_only_array(values, {3});
}

bool transforms_close(const Transform& a, const Transform& b, double m, double rad) {
  return norm(a.translation - b.translation) <= m && a.rotation.angle_to(b.rotation) <= rad;
}

std::string transform_repr(const Transform& transform) {
  const Vector3 rpy = transform.rotation.rpy();
  const Vector3& t = transform.translation;
  char text[200];
  std::snprintf(text, sizeof text, "Transform(xyz=(%.6g, %.6g, %.6g), rpy=(%.6g, %.6g, %.6g))", t.x, t.y, t.z, rpy.x, rpy.y,
                rpy.z);
  return text;
}

nb::tuple transform_state(const Transform& transform) {
  const auto& [q, t] = transform;
  return nb::make_tuple(t.x, t.y, t.z, q.w, q.x, q.y, q.z);
}

void restore_transform(Transform& self, const std::array<double, 7>& state) {
  (void)checked_quaternion(state[3], state[4], state[5], state[6]);
  new (&self) Transform{{state[3], state[4], state[5], state[6]}, {state[0], state[1], state[2]}};
}

Transform from_parts(nb::handle xyz, nb::handle quaternion, bool scalar_first) {
  const Doubles q(quaternion, scalar_first ? "wxyz" : "xyzw", {4});
  const double* v = q.data();
  const Rotation rotation =
      scalar_first ? checked_quaternion(v[0], v[1], v[2], v[3]) : checked_quaternion(v[3], v[0], v[1], v[2]);
  return {rotation, checked_vector(xyz, "xyz")};
}

}  // namespace

void bind_transform(nb::module_& m) {
  nb::class_<Transform>(m, "Transform",
                        "A rigid motion: `parent_T_child` maps child coordinates into parent.\n\n"
                        "Frozen. `a_T_b @ b_T_c` composes, `a_T_b @ points` maps points of shape (3,) or (N, 3).")
      .def_static(
          "identity", [] { return Transform{}; }, "No motion.")
      .def_static("from_matrix", &from_matrix, "matrix"_a, nb::sig("def from_matrix(matrix: ArrayLike) -> Transform"),
                  "From a homogeneous matrix, shape (4, 4).")
      .def_static(
          "from_xyz_wxyz", [](nb::handle xyz, nb::handle wxyz) { return from_parts(xyz, wxyz, true); }, nb::kw_only(), "xyz"_a,
          "wxyz"_a, nb::sig("def from_xyz_wxyz(*, xyz: ArrayLike, wxyz: ArrayLike) -> Transform"),
          "From a translation and a unit quaternion, scalar first.")
      .def_static(
          "from_xyz_xyzw", [](nb::handle xyz, nb::handle xyzw) { return from_parts(xyz, xyzw, false); }, nb::kw_only(), "xyz"_a,
          "xyzw"_a, nb::sig("def from_xyz_xyzw(*, xyz: ArrayLike, xyzw: ArrayLike) -> Transform"),
          "From a translation and a unit quaternion, scalar last.")
      .def_static(
          "from_xyz_rpy",
          [](nb::handle xyz, nb::handle rpy) {
            return Transform{Rotation::from_rpy(checked_vector(rpy, "rpy")), checked_vector(xyz, "xyz")};
          },
          nb::kw_only(), "xyz"_a, "rpy"_a, nb::sig("def from_xyz_rpy(*, xyz: ArrayLike, rpy: ArrayLike) -> Transform"),
          "From a translation and roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll).")
      .def_static(
          "from_rotation",
          [](const Rotation& rotation, nb::handle xyz) { return Transform{rotation, checked_vector(xyz, "xyz")}; }, "rotation"_a,
          nb::kw_only(), "xyz"_a, nb::sig("def from_rotation(rotation: Rotation, *, xyz: ArrayLike) -> Transform"),
          "From a Rotation and a translation.")
      .def_static("exp", &exp, "v"_a, nb::sig("def exp(v: ArrayLike) -> Transform"),
                  "Along a tangent v = (translation, rotation), shape (6,).")
      .def("log", &log, nb::sig("def log(self) -> NDArray[float64]"), "The tangent (translation, rotation), shape (6,).")
      .def("inverse", &Transform::inverse, "`child_T_parent`.")
      .def(
          "interpolate",
          [](const Transform& a, const Transform& b, double u, const std::string& kind) {
            if (kind != "linear" && kind != "screw")
              raise("InvalidArgument", "kind must be 'linear' or 'screw', got '" + kind + "'.");
            if (!std::isfinite(u))
              raise("InvalidArgument", "fraction must be a finite number, 0 for this one and 1 for the other.");
            return interpolate(a, b, u, kind == "linear" ? Interpolation::linear : Interpolation::screw);
          },
          "other"_a, "fraction"_a, nb::kw_only(), "kind"_a = "linear",
          nb::sig("def interpolate(self, other: Transform, fraction: float, *, kind: str = 'linear') -> Transform"),
          "This one at fraction 0, `other` at 1. 'linear': straight line and shortest arc; 'screw': one screw motion.")
      .def("__matmul__", &apply_transform, nb::is_operator(),
           nb::sig("@overload\ndef __matmul__(self, other: Transform) -> Transform: ...\n@overload\ndef __matmul__(self, other: "
                   "ArrayLike) -> NDArray[float64]"))
      .def("is_close", &transforms_close, "other"_a, nb::kw_only(), "m"_a = 1e-9, "rad"_a = 1e-9,
           "Whether the two differ by at most `m` metres and `rad` radians.")
      .def(
          "__eq__",
          [](const Transform& a, nb::handle b) -> bool {
            const Transform* other = value_of<Transform>(b);
            return other != nullptr && a == *other;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Transform& t) {
             return nb::hash(nb::make_tuple(t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z, t.translation.x,
                                            t.translation.y, t.translation.z));
           })
      .def("__getstate__", &transform_state, nb::sig("def __getstate__(self) -> tuple[float, ...]"))
      .def("__setstate__", &restore_transform, nb::sig("def __setstate__(self, state: tuple[float, ...], /) -> None"))
      .def("__repr__", &transform_repr)
      .def(
          "_repr_html_", [](nb::object self) { return notebook("transform_html")(self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def(
          "_repr_latex_", [](nb::object self) { return notebook("transform_latex")(self); },
          nb::sig("def _repr_latex_(self) -> str"))
      .def_prop_ro(
          "matrix", [](const Transform& t) { return read_only_array(t.matrix().data(), {4, 4}); },
          nb::sig("def matrix(self) -> NDArray[float64]"), "Homogeneous matrix, shape (4, 4), read-only.")
      .def_prop_ro("translation", &translation, nb::sig("def translation(self) -> NDArray[float64]"), "Shape (3,) [m].")
      .def_prop_ro("rotation", [](const Transform& t) { return t.rotation; })
      .def_prop_ro("xyz_wxyz", &xyz_wxyz, nb::sig("def xyz_wxyz(self) -> NDArray[float64]"),
                   "Translation, then quaternion scalar first, shape (7,).")
      .def_prop_ro(
          "adjoint", [](const Transform& t) { return read_only_array(adjoint(t).data(), {6, 6}); },
          nb::sig("def adjoint(self) -> NDArray[float64]"),
          "Shape (6, 6): moves tangents (translation, rotation) from the right of T to its left.");
}

}  // namespace armillary::python
