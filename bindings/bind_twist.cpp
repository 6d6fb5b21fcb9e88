#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "answers.hpp"
#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

constexpr const char* kMethods[] = {"fixed", "measured", "joints", "differentiated", "mixed"};

const char* twist_method(const Twist& twist) { return kMethods[static_cast<std::size_t>(twist.answer.method)]; }

TwistMethod as_method(nb::handle value) {
  for (std::size_t i = 0; i < std::size(kMethods); ++i)
    if (PyUnicode_Check(value.ptr()) && PyUnicode_CompareWithASCIIString(value.ptr(), kMethods[i]) == 0)
      return static_cast<TwistMethod>(i);
  raise("InvalidArgument", "method must be 'fixed', 'measured', 'joints', 'differentiated' or 'mixed', got " + shown(value) + ".",
        value);
}

std::string twist_repr(const Twist& twist) {
  return "Twist(" + printed(twist.point) + "|" + printed(twist.body) + " relative to " + printed(twist.reference_body) +
         ", in [" + printed(twist.expressed_in) + "])";
}

nb::object array_of(const Vector3& v) { return read_only_array(std::array<double, 3>{v.x, v.y, v.z}.data(), {3}); }

/// Foreign coordinates are read by the class that knows them.
nb::object part(nb::handle self, const char* what, Vector3 Velocity::* which) {
  const Twist& twist = checked<Twist>(self);
  return twist.coordinates.is_valid() ? nb::object(self.attr("foreign_part")(what)) : array_of(twist.answer.velocity.*which);
}

void set_coordinates(Twist& twist, nb::handle coordinates, nb::handle linear, nb::handle angular) {
  const bool has_both = !linear.is_none() && !angular.is_none(), has_any = !linear.is_none() || !angular.is_none();
  if (coordinates.is_none() ? !has_both : has_any)
    raise("InvalidArgument", "A twist takes either linear= and angular=, or coordinates=.", linear);
  if (!coordinates.is_none()) {
    twist.coordinates = nb::borrow(coordinates);
    return;
  }
  twist.answer.velocity = {checked_vector(linear, "linear"), checked_vector(angular, "angular")};
}

void init_twist(Twist* self, nb::handle point, nb::handle reference_body, nb::handle coordinates, nb::handle linear,
                nb::handle angular, nb::handle body, nb::handle expressed_in, nb::handle stamp, nb::handle covariance,
                nb::handle method, nb::handle held, bool predicted, nb::handle relations) {
  new (self) Twist();
  self->point = checked_name(point, "point");
  self->reference_body = checked_name(reference_body, "reference_body");
  self->body = either(optional_name(body, "body"), self->point);
  self->expressed_in = either(optional_name(expressed_in, "expressed_in"), self->reference_body);
  set_coordinates(*self, coordinates, linear, angular);
  if (!stamp.is_none()) self->answer.stamp = {as_stamp(stamp, "stamp")};
  set_covariance(self->answer, covariance);
  self->answer.method = as_method(method);
  self->held = checked_held(held);
  self->answer.predicted = predicted;
  if (PyObject_IsTrue(relations.ptr()) == 1) self->catalog = own_catalog(relations, self->answer.relations);
}

bool same_names(const Twist& a, const Twist& b) {
  return same_name(a.point, b.point) && same_name(a.body, b.body) && same_name(a.reference_body, b.reference_body) &&
         same_name(a.expressed_in, b.expressed_in);
}

bool twists_close(const Twist& a, const Twist& b, double m, double rad) {
  const Velocity apart = a.answer.velocity - b.answer.velocity;
  return same_names(a, b) && norm(apart.linear) <= m && norm(apart.angular) <= rad;
}

bool same_coordinates(const Twist& a, const Twist& b) {
  if (a.coordinates.is_valid() != b.coordinates.is_valid()) return false;
  return a.coordinates.is_valid() ? a.coordinates.equal(b.coordinates) : a.answer.velocity == b.answer.velocity;
}

bool twists_equal(const Twist& a, nb::handle other) {
  const Twist* given = value_of<Twist>(other);
  return given != nullptr && same_names(a, *given) && same_coordinates(a, *given) && a.answer.stamp == given->answer.stamp &&
         same_covariance(a.answer, given->answer);
}

Py_hash_t hash(const Twist& twist) {
  return nb::hash(nb::make_tuple(twist.point, twist.body, twist.reference_body, twist.expressed_in, twist.answer.stamp.ns));
}

nb::tuple twist_state(const Twist& twist) {
  const TwistAnswer& answer = twist.answer;
  const bool known = answer.certainty == Certainty::known;
  return nb::make_tuple(twist.point, twist.body, twist.reference_body, twist.expressed_in, values_of(answer.velocity),
                        answer.stamp.ns, static_cast<int>(answer.certainty),
                        known ? nb::cast(answer.covariance->values) : nb::none(), static_cast<int>(answer.method),
                        held_tuple(twist), answer.predicted, relation_names(answer.relations, twist.catalog),
                        twist.coordinates.is_valid() ? twist.coordinates : nb::none());
}

void restore_twist(Twist& self, const nb::tuple& state) {
  check_state(state, 13);
  new (&self) Twist();
  TwistAnswer& answer = self.answer;
  self.point = checked_name(state[0], "point");
  self.body = checked_name(state[1], "body");
  self.reference_body = checked_name(state[2], "reference_body");
  self.expressed_in = checked_name(state[3], "expressed_in");
  const auto v = nb::cast<std::array<double, 6>>(state[4]);
  answer.velocity = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  answer.stamp = {nb::cast<std::int64_t>(state[5])};
  answer.certainty = nb::cast<int>(state[6]) == static_cast<int>(Certainty::exact) ? Certainty::exact : Certainty::unknown;
  if (!nb::object(state[7]).is_none()) {
    answer.covariance = std::make_unique<Covariance>(Covariance{nb::cast<std::array<double, 36>>(state[7])});
    answer.certainty = Certainty::known;
  }
  const int method = nb::cast<int>(state[8]);
  answer.method = static_cast<TwistMethod>(std::clamp(method, 0, static_cast<int>(std::size(kMethods)) - 1));
  self.held = checked_held(nb::object(state[9]));
  answer.predicted = nb::cast<bool>(state[10]);
  self.catalog = own_catalog(nb::object(state[11]), answer.relations);
  if (!nb::object(state[12]).is_none()) self.coordinates = nb::object(state[12]);
}

}  // namespace

Twist make_twist(const StoreCore& world, TwistAnswer answer, nb::handle of, nb::handle relative_to, nb::handle expressed_in,
                 nb::handle point) {
  Twist twist;
  const auto body_name = [&](BodyId id, nb::handle frame) {
    return is_declared(id) ? nb::object(world.bodies[id - kFirstDeclaredBody]) : plain_text(frame);
  };
  twist.answer = std::move(answer);
  twist.body = body_name(twist.answer.body, of);
  twist.reference_body = body_name(twist.answer.reference_body, relative_to);
  twist.point = plain_text(point.is_none() ? of : point);
  twist.expressed_in = plain_text(expressed_in.is_none() ? relative_to : expressed_in);
  twist.catalog = catalog_with(world, twist.answer.relations.ids());
  return twist;
}

void bind_twist(nb::module_& m) {
  nb::class_<Twist>(m, "Twist",
                    "How `body` moves relative to `reference_body`: the velocity of `point` and the angular velocity. Frozen.")
      .def("__init__", &init_twist, nb::kw_only(), "point"_a, "reference_body"_a, "coordinates"_a = nb::none(),
           "linear"_a = nb::none(), "angular"_a = nb::none(), "body"_a = nb::none(), "expressed_in"_a = nb::none(),
           "stamp"_a = nb::none(), "covariance"_a = nb::none(), "method"_a = "measured", "held"_a = nb::make_tuple(),
           "predicted"_a = false, "relations"_a = nb::make_tuple(),
           nb::sig("def __init__(self, *, point: str, reference_body: str, coordinates: Any = None, linear: ArrayLike | None = "
                   "None, angular: ArrayLike | None = None, body: str | None = None, expressed_in: str | None = None, stamp: int "
                   "| None = None, covariance: ArrayLike | None = None, method: str = 'measured', held: Sequence[HeldSample] = "
                   "(), predicted: "
                   "bool = False, relations: tuple[tuple[str, str, str], ...] = ()) -> None"))
      .def_prop_ro(
          "point", [](const Twist& t) { return t.point; }, nb::sig("def point(self) -> str"),
          "The point whose velocity this is, named like the frame whose origin it is.")
      .def_prop_ro(
          "body", [](const Twist& t) { return t.body; }, nb::sig("def body(self) -> str"), "The body that moves.")
      .def_prop_ro(
          "reference_body", [](const Twist& t) { return t.reference_body; }, nb::sig("def reference_body(self) -> str"),
          "The body it moves relative to.")
      .def_prop_ro(
          "expressed_in", [](const Twist& t) { return t.expressed_in; }, nb::sig("def expressed_in(self) -> str"),
          "The frame whose axes the numbers are along.")
      .def_prop_ro(
          "linear", [](nb::handle self) { return part(self, "linear", &Velocity::linear); },
          nb::sig("def linear(self) -> NDArray[float64]"), "The velocity of the point [m/s], shape (3,), read-only.")
      .def_prop_ro(
          "angular", [](nb::handle self) { return part(self, "angular", &Velocity::angular); },
          nb::sig("def angular(self) -> NDArray[float64]"), "The angular velocity [rad/s], shape (3,), read-only.")
      .def_prop_ro(
          "coordinates", [](const Twist& t) { return t.coordinates.is_valid() ? t.coordinates : nb::none(); },
          nb::sig("def coordinates(self) -> Any"), "What was given in place of linear and angular; None where those are all.")
      .def_prop_ro(
          "stamp", [](const Twist& t) { return stamp_or_none(t.answer.stamp); }, nb::sig("def stamp(self) -> int | None"),
          "The instant [ns]; None where nothing can move.")
      .def_prop_ro(
          "covariance", [](const Twist& t) { return covariance_array(t.answer); },
          nb::sig("def covariance(self) -> NDArray[float64] | None"),
          "Shape (6, 6), linear then angular, at the point and along `expressed_in`; None where unknown.")
      .def_prop_ro("method", &twist_method, "How it was obtained: fixed, measured, joints, differentiated or mixed.")
      .def_prop_ro(
          "held", [](const Twist& t) { return held_tuple(t); }, nb::sig("def held(self) -> tuple[HeldSample, ...]"),
          "The samples that were used at another instant than their own: which relation, and for how long; empty where\n"
          "there was none.")
      .def_prop_ro(
          "predicted", [](const Twist& t) { return t.answer.predicted; }, "Whether something was extrapolated.")
      .def_prop_ro(
          "relations", [](const Twist& t) { return relation_names(t.answer.relations, t.catalog); },
          nb::sig("def relations(self) -> tuple[tuple[str, str, str], ...]"),
          "What it was computed from: (of, in_frame, source); of a twist, `in_frame` is the body it is relative to.")
      .def("is_close", &twists_close, "other"_a, nb::kw_only(), "m"_a = 1e-9, "rad"_a = 1e-9,
           "Same names, and at most `m` metres and `rad` radians a second apart.")
      .def("__eq__", &twists_equal, "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &hash)
      .def("__getstate__", &twist_state, nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def("__setstate__", &restore_twist, nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"))
      .def("__repr__", &twist_repr);
}

}  // namespace armillary::python
