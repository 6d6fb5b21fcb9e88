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

namespace {

constexpr std::size_t kFewPoints = 1000;  // so long others may wait for the GIL

nb::object conversion(const char* name) { return nb::module_::import_("armillary.transforms.conversions").attr(name); }

bool is_row_of_three(const ArrayView& view) { return view.dimensions() >= 1 && view.dimensions() <= 2 && view.columns() == 3; }

}  // namespace

PointRows::PointRows(nb::handle points) : rows(nb::borrow(points)), form(nb::none()) {
  is_few = read_numbers(points, few);
  if (is_few) {
    count = 1;
    return;
  }
  if (!view.open(points) || !is_row_of_three(view)) {
    form = conversion("PointForm")(points);
    rows = form.attr("rows");
    (void)view.open(rows);
  }
  count = view.dimensions() == 1 ? 1 : view.rows();
}

nb::object PointRows::empty_like(double** out) const {
  return is_few || view.dimensions() == 1 ? new_array(out, {3}) : new_array(out, {count, 3});
}

nb::object PointRows::restored(const nb::object& mapped) const {
  return form.is_none() ? mapped : nb::object(form.attr("restored")(mapped));
}

nb::object map_points(const Transform& a_T_b, nb::handle b_points) {
  const PointRows given(b_points);
  double* out = nullptr;
  nb::object mapped = given.empty_like(&out);
  const auto map_all = [&] {
    const double* from = given.data();
    for (std::size_t i = 0; i < given.count; ++i) {
      const Vector3 point = a_T_b * Vector3{from[3 * i], from[3 * i + 1], from[3 * i + 2]};
      out[3 * i] = point.x, out[3 * i + 1] = point.y, out[3 * i + 2] = point.z;
    }
    return true;
  };
  (void)(given.count < kFewPoints ? map_all() : without_gil(map_all));
  return given.restored(mapped);
}

nb::object as_numpy(const nb::object& matrix, nb::handle dtype, nb::handle copy) {
  if (copy.is(nb::handle(Py_False)))
    throw nb::value_error("The matrix is made when it is asked for: without a copy there is none. Leave copy=False out.");
  return matrix.attr("astype")(dtype.is_none() ? nb::object(matrix.attr("dtype")) : nb::borrow(dtype));
}

std::optional<Transform> transform_in(nb::handle value) {
  if (const Transform* transform = value_of<Transform>(value)) return *transform;
  if (const Rotation* rotation = value_of<Rotation>(value)) return Transform{*rotation, {}};
  ArrayView view;
  if (!view.open(value) || view.dimensions() != 2 || view.rows() != 4 || view.columns() != 4) return {};
  return checked_matrix(view.data());
}

nb::object matrices_in(nb::handle value) {
  ArrayView view;
  return view.open(value) ? nb::borrow(value) : nb::object(conversion("matrices_in")(value));
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

Transform from_matrix(nb::handle value) { return checked_matrix(Doubles(matrices_in(value), "matrix", {4, 4}).data()); }

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
bool is_points(nb::handle other) {
  const bool is_plain = PyTuple_CheckExact(other.ptr()) || PyList_CheckExact(other.ptr());
  return is_plain || nb::hasattr(other, "__array__") || !nb::hasattr(other, "__rmatmul__");
}

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
  static PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(refuse_to_construct)}, {0, nullptr}};
  nb::class_<Transform> type(
      m, "Transform", nb::type_slots(slots),
      "A rigid motion: `parent_T_child` maps child coordinates into parent.\n\n"
      "Frozen. `a_T_b @ b_T_c` composes, `a_T_b @ points` maps points in any form that `world.map_points` takes.\n"
      "`numpy.asarray(a_T_b)` is its (4, 4) matrix.");
  type.def_static(
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
          [](nb::handle rotation, nb::handle xyz) { return Transform{as_rotation(rotation), checked_vector(xyz, "xyz")}; },
          "rotation"_a.none(), nb::kw_only(), "xyz"_a = nb::make_tuple(0, 0, 0),
          nb::sig("def from_rotation(rotation: Rotation | RotationCoordinates, *, xyz: ArrayLike = (0, 0, 0)) -> Transform"),
          "From a rotation, ours or that of another library (scipy, pinocchio, jaxlie ...), and a translation.")
      .def_static(
          "from_translation", [](nb::handle xyz) { return Transform{{}, checked_vector(xyz, "xyz")}; }, "xyz"_a,
          nb::sig("def from_translation(xyz: ArrayLike) -> Transform"), "From a translation, without a rotation.")
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
          "__array__",
          [](const Transform& t, nb::handle dtype, nb::handle copy) {
            return as_numpy(read_only_array(t.matrix().data(), {4, 4}), dtype, copy);
          },
          "dtype"_a = nb::none(), nb::kw_only(), "copy"_a = nb::none(),
          nb::sig("def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> NDArray[Any]"),
          "The homogeneous matrix, shape (4, 4): always a new array.")
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
  nb::setattr(type, "__array_ufunc__", nb::none());  // `array @ transform` is refused, not taken for a product of matrices
}

}  // namespace armillary::python
