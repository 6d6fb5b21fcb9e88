#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

nb::object either(const nb::object& given, const nb::object& otherwise) { return given.is_valid() ? given : otherwise; }

nb::object covariance(const Pose& pose) {
  switch (pose.answer.certainty) {
    case Certainty::unknown:
      return nb::none();
    case Certainty::exact:
      return read_only_array(Covariance{}.values.data(), {6, 6});
    case Certainty::known:
      return read_only_array(pose.answer.covariance->values.data(), {6, 6});
  }
  return nb::none();
}

nb::tuple relations(const Pose& pose) {
  nb::list names;
  if (pose.catalog.is_valid())
    for (const RelationId id : pose.answer.relations.ids()) names.append(pose.catalog[id]);
  return nb::tuple(names);
}

std::string repr(const Pose& pose) {
  const Vector3& t = pose.answer.transform.translation;
  const Vector3 rpy = pose.answer.transform.rotation.rpy();
  char numbers[200], when[60] = "";
  std::snprintf(numbers, sizeof numbers, "xyz=(%.6g, %.6g, %.6g), rpy=(%.6g, %.6g, %.6g)", t.x, t.y, t.z, rpy.x, rpy.y, rpy.z);
  if (!pose.answer.is_timeless())
    std::snprintf(when, sizeof when, " at %.9g s", 1e-9 * static_cast<double>(pose.answer.stamp.ns));
  const std::string flags = pose.answer.held ? ", held" : pose.answer.predicted ? ", predicted" : "";
  return "Pose(" + std::string(text_of(pose.of)) + " in " + std::string(text_of(pose.in_frame)) + when + ": " + numbers + flags +
         ")";
}

/// A str, and no subclass of it.
nb::object plain_text(nb::handle text) {
  return PyUnicode_CheckExact(text.ptr()) ? nb::borrow(text) : nb::steal(PyUnicode_FromObject(text.ptr()));
}

bool has_control_character(nb::handle text) {
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text.ptr()); ++i) {
    const Py_UCS4 letter = PyUnicode_READ_CHAR(text.ptr(), i);
    if (letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || (letter >= 0xd800 && letter < 0xe000)) return true;
  }
  return false;
}

nb::object checked_name(nb::handle value, const char* name) {
  if (!PyUnicode_Check(value.ptr()))
    raise("InvalidName", std::string(name) + " must be a frame name (str), got " + shown(value) + ".", value);
  if (PyUnicode_GET_LENGTH(value.ptr()) == 0)
    raise("InvalidName", std::string(name) + " cannot be empty. Name the frame.", value);
  if (PyUnicode_READ_CHAR(value.ptr(), 0) == '/')
    raise("InvalidName", std::string(name) + " = " + shown(value) + " begins with '/'. Drop it.", value);
  if (has_control_character(value))
    raise("InvalidName", std::string(name) + " = " + shown(value) + " has a control character.", value);
  return plain_text(value);
}

void init(Pose* self, nb::handle of, nb::handle in_frame, nb::handle transform, nb::handle stamp, nb::handle covariance) {
  new (self) Pose();
  self->of = checked_name(of, "of");
  self->in_frame = checked_name(in_frame, "in_frame");
  self->answer.transform = as_transform(transform);
  if (!stamp.is_none()) self->answer.stamp = {as_stamp(stamp, "stamp")};
  if (covariance.is_none()) return;
  self->answer.covariance = std::make_unique<Covariance>(as_covariance(covariance, "covariance"));
  self->answer.certainty = Certainty::known;
}

bool same_names(const Pose& a, const Pose& b) { return a.of.equal(b.of) && a.in_frame.equal(b.in_frame); }

bool is_close(const Pose& a, const Pose& b, double m, double rad) {
  return same_names(a, b) && norm(a.answer.transform.translation - b.answer.transform.translation) <= m &&
         a.answer.transform.rotation.angle_to(b.answer.transform.rotation) <= rad;
}

bool equal(const Pose& a, nb::handle other) {
  const Pose* given = value_of<Pose>(other);
  if (given == nullptr) return false;
  const Pose& b = *given;
  const bool same_covariance =
      a.answer.certainty == b.answer.certainty &&
      (a.answer.certainty != Certainty::known || a.answer.covariance->values == b.answer.covariance->values);
  return same_names(a, b) && a.answer.transform == b.answer.transform && a.answer.stamp == b.answer.stamp && same_covariance;
}

nb::tuple state(const Pose& pose) {
  const bool known = pose.answer.certainty == Certainty::known;
  return nb::make_tuple(pose.of, pose.in_frame, pose.answer.transform, pose.answer.stamp.ns,
                        static_cast<int>(pose.answer.certainty), known ? nb::cast(pose.answer.covariance->values) : nb::none(),
                        pose.answer.held, pose.answer.predicted, relations(pose));
}

void restore(Pose& self, const nb::tuple& state) {
  new (&self) Pose();
  self.of = checked_name(state[0], "of");
  self.in_frame = checked_name(state[1], "in_frame");
  self.answer.transform = as_transform(state[2]);
  self.answer.stamp = {nb::cast<std::int64_t>(state[3])};
  const bool exact = nb::cast<int>(state[4]) == static_cast<int>(Certainty::exact);
  self.answer.certainty = exact ? Certainty::exact : Certainty::unknown;
  if (!nb::object(state[5]).is_none()) {
    self.answer.covariance = std::make_unique<Covariance>(Covariance{nb::cast<std::array<double, 36>>(state[5])});
    self.answer.certainty = Certainty::known;
  }
  self.answer.held = nb::cast<bool>(state[6]);
  self.answer.predicted = nb::cast<bool>(state[7]);
  const nb::list catalog = nb::steal<nb::list>(PySequence_List(nb::object(state[8]).ptr()));
  self.answer.relations.reserve(nb::len(catalog));
  for (RelationId id = 0; id < nb::len(catalog); ++id) self.answer.relations.push_back(id);
  self.catalog = catalog;
}

}  // namespace

Pose make_pose(const WorldCore& world, PoseAnswer answer, nb::handle of, nb::handle in_frame) {
  Pose pose;
  pose.answer = std::move(answer);
  pose.of = plain_text(of);
  pose.in_frame = plain_text(in_frame);
  pose.catalog = world.catalog;
  const auto listed = static_cast<RelationId>(PyList_GET_SIZE(world.catalog.ptr()));
  const std::span<const RelationId> ids = pose.answer.relations.ids();
  if (std::ranges::any_of(ids, [listed](RelationId id) { return id >= listed; })) sync_catalog(const_cast<WorldCore&>(world));
  return pose;
}

void bind_pose(nb::module_& m) {
  nb::class_<Pose>(m, "Pose", "Where one frame is, seen from another: `in_frame_T_of`, with its stamp and uncertainty. Frozen.")
      .def("__init__", &init, nb::kw_only(), "of"_a, "in_frame"_a, "transform"_a, "stamp"_a = nb::none(),
           "covariance"_a = nb::none(),
           nb::sig("def __init__(self, *, of: str, in_frame: str, transform: Transform, stamp: int | None = None, covariance: "
                   "ArrayLike | None = None) -> None"))
      .def_prop_ro(
          "of", [](const Pose& p) { return p.of; }, nb::sig("def of(self) -> str"), "The frame this is the pose of.")
      .def_prop_ro(
          "in_frame", [](const Pose& p) { return p.in_frame; }, nb::sig("def in_frame(self) -> str"),
          "The frame it is seen from.")
      .def_prop_ro(
          "point", [](const Pose& p) { return either(p.point, p.of); }, nb::sig("def point(self) -> str"),
          "The point whose position this is: the origin of that frame.")
      .def_prop_ro(
          "body", [](const Pose& p) { return either(p.body, p.of); }, nb::sig("def body(self) -> str"),
          "The body that `of` is on.")
      .def_prop_ro(
          "reference_point", [](const Pose& p) { return either(p.reference_point, p.in_frame); },
          nb::sig("def reference_point(self) -> str"), "The point it is measured from: the origin of that frame.")
      .def_prop_ro(
          "reference_body", [](const Pose& p) { return either(p.reference_body, p.in_frame); },
          nb::sig("def reference_body(self) -> str"), "The body that `in_frame` is on.")
      .def_prop_ro(
          "expressed_in", [](const Pose& p) { return either(p.expressed_in, p.in_frame); },
          nb::sig("def expressed_in(self) -> str"), "The frame whose axes the coordinates are along.")
      .def_prop_ro(
          "transform", [](const Pose& p) { return p.answer.transform; }, "`in_frame_T_of`.")
      .def_prop_ro(
          "stamp", [](const Pose& p) { return stamp_or_none(p.answer.stamp); }, nb::sig("def stamp(self) -> int | None"),
          "The instant [ns]; None where everything on the path is fixed.")
      .def_prop_ro(
          "held", [](const Pose& p) { return p.answer.held; },
          "Whether an edge was outside its history and its nearest sample was taken.")
      .def_prop_ro(
          "method",
          [](const Pose& p) {
            return p.answer.is_timeless() ? "fixed" : p.answer.predicted ? "predicted" : p.answer.held ? "held" : "sampled";
          },
          "How it was obtained: fixed, sampled, held or predicted.")
      .def_prop_ro(
          "predicted", [](const Pose& p) { return p.answer.predicted; }, "Whether an edge was extrapolated.")
      .def_prop_ro("covariance", &covariance, nb::sig("def covariance(self) -> NDArray[float64] | None"),
                   "Shape (6, 6), translation then rotation, in the tangent of `of`; None where unknown.")
      .def_prop_ro("relations", &relations, nb::sig("def relations(self) -> tuple[tuple[str, str, str], ...]"),
                   "The relations it was computed from: (of, in_frame, source), from `of` upwards and down to `in_frame`.")
      .def("is_close", &is_close, "other"_a, nb::kw_only(), "m"_a = 1e-9, "rad"_a = 1e-9,
           "Same frames, and transforms at most `m` metres and `rad` radians apart.")
      .def("__eq__", &equal, "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Pose& p) { return nb::hash(nb::make_tuple(p.of, p.in_frame, p.answer.stamp.ns)); })
      .def("__getstate__", &state, nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def("__setstate__", &restore, nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"))
      .def("__repr__", &repr);
}

}  // namespace armillary::python
