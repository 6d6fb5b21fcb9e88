#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "answers.hpp"
#include "convert.hpp"
#include "keywords.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

std::string pose_repr(const Pose& pose) {
  const Vector3& t = pose.answer.transform.translation;
  const Vector3 rpy = pose.answer.transform.rotation.rpy();
  char numbers[200];
  std::snprintf(numbers, sizeof numbers, "xyz=(%.6g, %.6g, %.6g), rpy=(%.6g, %.6g, %.6g)", t.x, t.y, t.z, rpy.x, rpy.y, rpy.z);
  const std::string when = pose.answer.is_timeless() ? "" : " at " + stamp_text(pose.answer.stamp);
  const std::string flags = is_held(pose) ? ", held: " + held_text(held_tuple(pose)) : pose.answer.predicted ? ", predicted" : "";
  return "Pose(" + std::string(text_of(pose.of)) + " in " + std::string(text_of(pose.in_frame)) + when + ": " + numbers + flags +
         ")";
}

struct Names {
  nb::handle point, body, reference_point, reference_body, expressed_in;
};

/// Names that say nothing new are not kept.
nb::object kept_name(nb::handle value, const char* what, const nb::object& otherwise) {
  nb::object name = optional_name(value, what);
  return name.is_valid() && same_name(name, otherwise) ? nb::object() : name;
}

void set_names(Pose& pose, const Names& names) {
  pose.point = kept_name(names.point, "point", pose.of);
  pose.body = kept_name(names.body, "body", pose.of);
  pose.reference_point = kept_name(names.reference_point, "reference_point", pose.in_frame);
  pose.reference_body = kept_name(names.reference_body, "reference_body", pose.in_frame);
  pose.expressed_in = kept_name(names.expressed_in, "expressed_in", pose.in_frame);
}

void set_coordinates(Pose& pose, nb::handle transform, nb::handle coordinates) {
  if (transform.is_none() == coordinates.is_none())
    raise("InvalidArgument", "A pose takes either transform= or coordinates=, and one of them.", transform);
  const nb::handle given = transform.is_none() ? coordinates : transform;
  if (!transform.is_none() || value_of<Transform>(given) != nullptr) {
    pose.answer.transform = as_transform(given);
  } else {
    pose.coordinates = nb::borrow(given);
  }
}

void init_pose(Pose* self, nb::handle of, nb::handle in_frame, nb::handle transform, nb::handle coordinates, nb::handle point,
               nb::handle body, nb::handle reference_point, nb::handle reference_body, nb::handle expressed_in, nb::handle stamp,
               nb::handle covariance, nb::handle held, bool predicted, bool integrated, nb::handle relations) {
  new (self) Pose();
  self->of = checked_name(of, "of");
  self->in_frame = checked_name(in_frame, "in_frame");
  set_names(*self, {point, body, reference_point, reference_body, expressed_in});
  set_coordinates(*self, transform, coordinates);
  if (!stamp.is_none()) self->answer.stamp = {as_stamp(stamp, "stamp")};
  set_covariance(self->answer, covariance);
  self->held = checked_held(held);
  self->answer.predicted = predicted;
  self->answer.integrated = integrated;
  if (PyObject_IsTrue(relations.ptr()) == 1) self->catalog = own_catalog(relations, self->answer.relations);
}

nb::object point(const Pose& p) { return either(p.point, p.of); }
nb::object body(const Pose& p) { return either(p.body, p.of); }
nb::object reference_point(const Pose& p) { return either(p.reference_point, p.in_frame); }
nb::object reference_body(const Pose& p) { return either(p.reference_body, p.in_frame); }
nb::object expressed_in(const Pose& p) { return either(p.expressed_in, p.in_frame); }

bool same_names(const Pose& a, const Pose& b) {
  if (!same_name(a.of, b.of) || !same_name(a.in_frame, b.in_frame)) return false;
  for (nb::object (*name)(const Pose&) : {&point, &body, &reference_point, &reference_body, &expressed_in})
    if (!same_name(name(a), name(b))) return false;
  return true;
}

bool poses_close(const Pose& a, const Pose& b, double m, double rad) {
  return same_names(a, b) && norm(a.answer.transform.translation - b.answer.transform.translation) <= m &&
         a.answer.transform.rotation.angle_to(b.answer.transform.rotation) <= rad;
}

bool same_coordinates(const Pose& a, const Pose& b) {
  if (a.coordinates.is_valid() != b.coordinates.is_valid()) return false;
  return a.coordinates.is_valid() ? a.coordinates.equal(b.coordinates) : a.answer.transform == b.answer.transform;
}

bool poses_equal(const Pose& a, nb::handle other) {
  const Pose* given = value_of<Pose>(other);
  return given != nullptr && same_names(a, *given) && same_coordinates(a, *given) && a.answer.stamp == given->answer.stamp &&
         same_covariance(a.answer, given->answer);
}

const char* pose_method(const Pose& pose) {
  const PoseAnswer& answer = pose.answer;
  if (answer.is_timeless()) return "fixed";
  return answer.predicted ? "predicted" : is_held(pose) ? "held" : answer.integrated ? "integrated" : "sampled";
}

/// Foreign coordinates are read by the class that knows them.
nb::object foreign(nb::handle self, const char* what) { return self.attr("foreign_part")(what); }

const Transform& native_transform(const Pose& pose) {
  if (pose.is_frame_form()) return pose.answer.transform;
  raise_object(error_class("NotRepresentable")(
      "operation"_a = "transform", "asked"_a = "give " + printed(pose.in_frame) + "_T_" + printed(pose.of),
      "expected"_a = "one transform needs the origins and axes of its two frames", "found"_a = "of other points or axes",
      "hint"_a = "Read .xyz and .rotation, or ask for the pose without point=, reference_point= and expressed_in=."));
}

nb::object transform(nb::handle self) {
  const Pose& pose = checked<Pose>(self);
  return pose.coordinates.is_valid() ? foreign(self, "transform") : nb::cast(native_transform(pose));
}

nb::object xyz(nb::handle self) {
  const Pose& pose = checked<Pose>(self);
  if (pose.coordinates.is_valid()) return foreign(self, "xyz");
  const Vector3& t = pose.answer.transform.translation;
  return read_only_array(std::array<double, 3>{t.x, t.y, t.z}.data(), {3});
}

nb::object rotation(nb::handle self) {
  const Pose& pose = checked<Pose>(self);
  return pose.coordinates.is_valid() ? foreign(self, "rotation") : nb::cast(pose.answer.transform.rotation);
}

nb::object coordinates(const Pose& pose) {
  return pose.coordinates.is_valid() ? pose.coordinates : nb::cast(pose.answer.transform);
}

nb::object stored(const nb::object& name) { return name.is_valid() ? name : nb::none(); }

nb::tuple pose_state(const Pose& pose) {
  const PoseAnswer& answer = pose.answer;
  const bool known = answer.certainty == Certainty::known;
  return nb::make_tuple(pose.of, pose.in_frame, answer.transform, answer.stamp.ns, static_cast<int>(answer.certainty),
                        known ? nb::cast(answer.covariance->values) : nb::none(), held_tuple(pose), answer.predicted,
                        relation_names(answer.relations, pose.catalog), stored(pose.point), stored(pose.body),
                        stored(pose.reference_point), stored(pose.reference_body), stored(pose.expressed_in),
                        stored(pose.coordinates), answer.integrated);
}

void restore_pose(Pose& self, const nb::tuple& state) {
  check_state(state, 16);
  new (&self) Pose();
  PoseAnswer& answer = self.answer;
  self.of = checked_name(state[0], "of");
  self.in_frame = checked_name(state[1], "in_frame");
  answer.transform = as_transform(state[2]);
  answer.stamp = {nb::cast<std::int64_t>(state[3])};
  if (nb::object(state[5]).is_none()) {
    const bool exact = nb::cast<int>(state[4]) == static_cast<int>(Certainty::exact);
    answer.certainty = exact ? Certainty::exact : Certainty::unknown;
  } else {
    answer.covariance = std::make_unique<Covariance>(Covariance{nb::cast<std::array<double, 36>>(state[5])});
    answer.certainty = Certainty::known;
  }
  self.held = checked_held(nb::object(state[6]));
  answer.predicted = nb::cast<bool>(state[7]);
  self.catalog = own_catalog(nb::object(state[8]), answer.relations);
  set_names(self,
            {nb::object(state[9]), nb::object(state[10]), nb::object(state[11]), nb::object(state[12]), nb::object(state[13])});
  if (!nb::object(state[14]).is_none()) self.coordinates = nb::object(state[14]);
  answer.integrated = nb::cast<bool>(state[15]);
}

// -- Composition

bool is_listed(const RelationList& list, RelationId id) { return std::ranges::find(list.ids(), id) != list.ids().end(); }

bool share_relations(const Pose& a, const Pose& b) {
  return std::ranges::any_of(a.answer.relations.ids(), [&](RelationId id) { return is_listed(b.answer.relations, id); });
}

/// The usual case: two frame forms of numbers whose names, stamps and origins fit.
bool fits(const Pose& a, const Pose& b) {
  const bool same_origin = !a.catalog.is_valid() || !b.catalog.is_valid() || a.catalog.is(b.catalog);
  const bool same_time = a.answer.stamp == b.answer.stamp || a.answer.is_timeless() || b.answer.is_timeless();
  return same_origin && same_time && !a.coordinates.is_valid() && !b.coordinates.is_valid() && a.is_frame_form() &&
         b.is_frame_form() && same_name(a.of, b.in_frame) && same_name(body(a), reference_body(b));
}

/// The errors of the two count as independent, unless they were computed from the same relation.
void compose_covariance(const Pose& a, const Pose& b, PoseAnswer& out) {
  const bool is_known = a.answer.certainty != Certainty::unknown && b.answer.certainty != Certainty::unknown;
  if (!is_known || share_relations(a, b)) return;
  out.certainty = Certainty::exact;
  if (a.answer.certainty == Certainty::exact && b.answer.certainty == Certainty::exact) return;
  out.certainty = Certainty::known;
  out.covariance = std::make_unique<Covariance>();
  if (a.answer.covariance) *out.covariance = transported(*a.answer.covariance, b.answer.transform.inverse());
  if (b.answer.covariance) *out.covariance = *out.covariance + *b.answer.covariance;
}

Pose composed(const Pose& a, const Pose& b) {
  Pose result;
  PoseAnswer& answer = result.answer;
  answer.transform = a.answer.transform * b.answer.transform;
  answer.transform.rotation = nearly_unit(answer.transform.rotation);
  answer.stamp = a.answer.is_timeless() ? b.answer.stamp : a.answer.stamp;
  if (is_held(a) || is_held(b)) result.held = nb::tuple(held_tuple(b) + held_tuple(a));
  answer.predicted = a.answer.predicted || b.answer.predicted;
  answer.integrated = a.answer.integrated || b.answer.integrated;
  compose_covariance(a, b, answer);
  for (const Pose* part : {&b, &a})
    for (const RelationId id : part->answer.relations.ids())
      if (!is_listed(answer.relations, id)) answer.relations.push_back(id);
  result.catalog = either(a.catalog, b.catalog);
  result.of = b.of;
  result.body = b.body;
  result.in_frame = a.in_frame;
  result.reference_body = a.reference_body;
  return result;
}

/// `a @ b` for the interpreter: short for what fits, else whatever `compose` of the class says.
PyObject* matmul(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    const Pose *a = value_of<Pose>(left), *b = value_of<Pose>(right);
    if (a != nullptr && b != nullptr && fits(*a, *b))
      return new_value(nb::handle(Py_TYPE(left)), [&] { return composed(*a, *b); }).release().ptr();
    if (a == nullptr || !nb::hasattr(left, "compose")) Py_RETURN_NOTIMPLEMENTED;
    return nb::object(nb::handle(left).attr("compose")(nb::handle(right))).release().ptr();
  });
}

PyType_Slot slots[] = {{Py_nb_matrix_multiply, reinterpret_cast<void*>(matmul)}, {0, nullptr}};

void use_types(nb::handle pose, nb::handle twist) {
  const auto is_kind = [](nb::handle type, nb::handle base) {
    return PyType_Check(type.ptr()) &&
           PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), reinterpret_cast<PyTypeObject*>(base.ptr())) != 0;
  };
  if (!is_kind(pose, nb::type<Pose>()) || !is_kind(twist, nb::type<Twist>()))
    raise("InvalidArgument", "Answers are made of subclasses of the native Pose and Twist.", pose);
  answer_types() = {nb::borrow(pose), nb::borrow(twist)};
}

}  // namespace

Pose make_pose(const StoreCore& world, PoseAnswer answer, nb::handle of, nb::handle in_frame) {
  Pose pose;
  pose.answer = std::move(answer);
  pose.of = plain_text(of);
  pose.in_frame = plain_text(in_frame);
  pose.catalog = catalog_with(world, pose.answer.relations.ids());
  const auto body_name = [&](BodyId id) {
    return is_declared(id) ? nb::object(world.bodies[id - kFirstDeclaredBody]) : nb::object();
  };
  pose.body = body_name(pose.answer.body);
  pose.reference_body = body_name(pose.answer.reference_body);
  return pose;
}

void bind_pose(nb::module_& m) {
  nb::class_<Pose> pose(m, "Pose", nb::type_slots(slots),
                        "Where one frame is, seen from another: `in_frame_T_of`, with its stamp and uncertainty. Frozen.");
  bind_judgement(pose);
  pose.def("__init__", &init_pose, nb::kw_only(), "of"_a, "in_frame"_a, "transform"_a = nb::none(), "coordinates"_a = nb::none(),
           "point"_a = nb::none(), "body"_a = nb::none(), "reference_point"_a = nb::none(), "reference_body"_a = nb::none(),
           "expressed_in"_a = nb::none(), "stamp"_a = nb::none(), "covariance"_a = nb::none(), "held"_a = nb::make_tuple(),
           "predicted"_a = false, "integrated"_a = false, "relations"_a = nb::make_tuple(),
           nb::sig("def __init__(self, *, of: str, in_frame: str, transform: Transform | None = None, coordinates: Any = None, "
                   "point: str | None = None, body: str | None = None, reference_point: str | None = None, reference_body: str | "
                   "None = None, expressed_in: str | None = None, stamp: int | None = None, covariance: ArrayLike | None = None, "
                   "held: Sequence[HeldSample] = (), predicted: bool = False, integrated: bool = False, relations: "
                   "tuple[tuple[str, str, "
                   "str], ...] = ()) -> None"))
      .def_prop_ro(
          "of", [](const Pose& p) { return p.of; }, nb::sig("def of(self) -> str"), "The frame this is the pose of.")
      .def_prop_ro(
          "in_frame", [](const Pose& p) { return p.in_frame; }, nb::sig("def in_frame(self) -> str"),
          "The frame it is seen from.")
      .def_prop_ro("point", &point, nb::sig("def point(self) -> str"),
                   "The point whose position this is: the origin of that frame.")
      .def_prop_ro("body", &body, nb::sig("def body(self) -> str"), "The body that `of` is on.")
      .def_prop_ro("reference_point", &reference_point, nb::sig("def reference_point(self) -> str"),
                   "The point it is measured from: the origin of that frame.")
      .def_prop_ro("reference_body", &reference_body, nb::sig("def reference_body(self) -> str"),
                   "The body that `in_frame` is on.")
      .def_prop_ro("expressed_in", &expressed_in, nb::sig("def expressed_in(self) -> str"),
                   "The frame whose axes the position is along.")
      .def_prop_ro("is_frame_form", &Pose::is_frame_form,
                   "Whether points and axes are those of the two frames: then it is one `in_frame_T_of`.")
      .def_prop_ro("coordinates", &coordinates, nb::sig("def coordinates(self) -> Any"),
                   "What it was made of: a Transform, or what was given in its place.")
      .def_prop_ro("transform", &transform, nb::sig("def transform(self) -> Transform"),
                   "`in_frame_T_of`; refused where points or axes are not those of the two frames.")
      .def_prop_ro("xyz", &xyz, nb::sig("def xyz(self) -> NDArray[float64]"),
                   "From `reference_point` to `point` along `expressed_in` [m], shape (3,), read-only.")
      .def_prop_ro("rotation", &rotation, nb::sig("def rotation(self) -> Rotation"), "`in_frame_R_of`.")
      .def_prop_ro(
          "stamp", [](const Pose& p) { return stamp_or_none(p.answer.stamp); }, nb::sig("def stamp(self) -> int | None"),
          "The instant [ns]; None where everything on the path is fixed.")
      .def_prop_ro(
          "held", [](const Pose& p) { return held_tuple(p); }, nb::sig("def held(self) -> tuple[HeldSample, ...]"),
          "The samples that were used at another instant than their own: which relation, and for how long; empty where\n"
          "there was none.")
      .def_prop_ro("method", &pose_method, "How it was obtained: fixed, sampled, integrated, held or predicted.")
      .def_prop_ro(
          "predicted", [](const Pose& p) { return p.answer.predicted; }, "Whether an edge was extrapolated.")
      .def_prop_ro(
          "integrated", [](const Pose& p) { return p.answer.integrated; }, "Whether an edge's poses were integrated from twists.")
      .def_prop_ro(
          "covariance", [](const Pose& p) { return covariance_array(p.answer); },
          nb::sig("def covariance(self) -> NDArray[float64] | None"),
          "Shape (6, 6), translation then rotation, in the tangent of `of`; None where unknown.")
      .def_prop_ro(
          "relations", [](const Pose& p) { return relation_names(p.answer.relations, p.catalog); },
          nb::sig("def relations(self) -> tuple[tuple[str, str, str], ...]"),
          "The relations it was computed from: (of, in_frame, source), from `of` upwards and down to `in_frame`.")
      .def("is_close", &poses_close, "other"_a, nb::kw_only(), "m"_a = 1e-9, "rad"_a = 1e-9,
           "Same names, and at most `m` metres and `rad` radians apart.")
      .def("__eq__", &poses_equal, "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Pose& p) { return nb::hash(nb::make_tuple(p.of, p.in_frame, p.answer.stamp.ns)); })
      .def("__getstate__", &pose_state, nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def("__setstate__", &restore_pose, nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"))
      .def("__repr__", &pose_repr);
  m.def("_use_types", &use_types, nb::kw_only(), "Pose"_a, "Twist"_a,
        nb::sig("def _use_types(*, Pose: type[PoseAnswer], Twist: type[TwistAnswer]) -> None"),
        "Which classes the answers of worlds are made of: subclasses of the native ones.");
}

}  // namespace armillary::python
