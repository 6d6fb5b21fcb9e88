#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.hpp"
#include "frame_changes.hpp"
#include "gil.hpp"
#include "keywords.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

void raise_without_axes(nb::handle body) {
  raise("InvalidArgument",
        "relative_to=" + shown(body) +
            " is a body without a frame of that name, so its axes are not known. Pass expressed_in=, or name one of its frames "
            "in relative_to=.",
        body);
}

namespace {

/// What moves, relative to what, with the names as they are stored.
struct Asked {
  TwistQuestion question;
  nb::object of, relative_to, expressed_in, point;  // set where the stored spelling differs
};

/// Those that are in force.
nb::tuple declared_bodies(const Forest& forest) {
  nb::list names;
  for (const std::string& name : forest.body_names()) {
    const BodyId body = forest.find_body(name);
    if (is_declared(body) && forest.body_name(body) == name) names.append(nb::cast(name));
  }
  return nb::tuple(names);
}

FrameId optional_frame(Self self, nb::handle name, nb::object* spelt) {
  return name.is_none() ? kNone : frame_id(self, name, spelt);
}

/// Whether a declared body has this name, and no frame.
bool is_only_a_body(const StoreCore& world, nb::handle name) {
  const nb::object stored = stored_name(name);
  return world.forest->find_frame(text_of(stored)) == kNone && world.forest->find_body(text_of(stored)) != kNone;
}

/// A frame of that name stands for its body; a declared body without such a frame is found by its own name.
void set_reference(Self self, nb::handle relative_to, bool has_axes, Asked& asked) {
  const StoreCore& world = core(self);
  const bool is_body = known_id(world, relative_to) == nullptr && PyUnicode_Check(relative_to.ptr()) &&
                       nb::len(world.bodies) > 0 && is_only_a_body(world, relative_to);
  if (!is_body) {
    asked.question.reference = frame_id(self, relative_to, &asked.relative_to);
    return;
  }
  asked.relative_to = stored_name(relative_to);
  asked.question.relative_to = world.forest->find_body(text_of(asked.relative_to));
  if (!has_axes) raise_without_axes(relative_to);
}

nb::handle spelt_or(const nb::object& spelt, nb::handle given) { return spelt.is_valid() ? nb::handle(spelt) : given; }

/// The arguments of a question about motion, in their order; `at` is another matter.
struct Given {
  nb::handle of, relative_to, expressed_in, point, window, outside, policy, interpolation, hold_up_to_s, measured;
};

Asked asked_motion(Self self, const Given& given) {
  Asked asked;
  asked.question.context = as_context(core(self), given.outside, given.policy, given.interpolation, given.hold_up_to_s);
  asked.question.of = frame_id(self, given.of, &asked.of);
  set_reference(self, given.relative_to, !given.expressed_in.is_none(), asked);
  asked.question.expressed_in = optional_frame(self, given.expressed_in, &asked.expressed_in);
  asked.question.point = optional_frame(self, given.point, &asked.point);
  asked.question.window = as_window(given.window);
  asked.question.with_measured = as_flag(given.measured, "measured");
  return asked;
}

/// Whether Python adds velocities that were measured alone to the answers.
bool adds_velocities(Self self, nb::handle measured) {
  return core(self).forest->has_velocities() && (!PyBool_Check(measured.ptr()) || measured.is(Py_True));
}

template <bool kPlain>
PyObject* twist_call(PyObject* self_object, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  static const auto* expected = new Keywords<11>("twist", {{{"of", nullptr},
                                                            {"relative_to", nullptr},
                                                            {"expressed_in", Py_None},
                                                            {"point", Py_None},
                                                            {"at", latest().ptr()},
                                                            {"window", Py_None},
                                                            {"outside", words().raise.ptr()},
                                                            {"policy", words().unique.ptr()},
                                                            {"interpolation", Py_None},
                                                            {"hold_up_to_s", Py_None},
                                                            {"measured", Py_True}}});
  return guarded([&] {
    const auto [of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, hold_up_to_s, measured] =
        expected->read(args, positional, keywords);
    const Self self{nb::handle(self_object)};
    if (!kPlain && is_native_policy(policy) && adds_velocities(self, measured))
      return nb::object(core(self).upcalls.with_velocities(
                            self, "twist", "of"_a = of, "relative_to"_a = relative_to, "expressed_in"_a = expressed_in,
                            "point"_a = point, "at"_a = at, "window"_a = window, "outside"_a = outside, "policy"_a = policy,
                            "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured))
          .release()
          .ptr();
    if (!is_native_policy(policy))
      return nb::object(by_policy(self, "twist", "of"_a = of, "relative_to"_a = relative_to, "expressed_in"_a = expressed_in,
                                  "point"_a = point, "at"_a = at, "window"_a = window, "outside"_a = outside, "policy"_a = policy,
                                  "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured))
          .release()
          .ptr();
    const StoreCore& world = core(self);
    Asked asked = asked_motion(
        self, {of, relative_to, expressed_in, point, window, outside, policy, interpolation, hold_up_to_s, measured});
    asked.question.at = as_when(at, "at");
    Result<TwistAnswer> result = received(world, [&] { return world.forest->twist_by_policy(asked.question); });
    if (!result) raise_failure(world, result.failure, of, relative_to);
    const nb::handle names[] = {spelt_or(asked.of, of), spelt_or(asked.relative_to, relative_to),
                                spelt_or(asked.expressed_in, expressed_in), spelt_or(asked.point, point)};
    return new_twist([&] { return make_twist(world, std::move(result.value), names[0], names[1], names[2], names[3]); })
        .release()
        .ptr();
  });
}

nb::object twists(Self self, nb::handle of, nb::handle relative_to, nb::handle at, nb::handle expressed_in, nb::handle point,
                  nb::handle window, nb::handle outside, nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s,
                  nb::handle measured) {
  if (!is_native_policy(policy))
    return by_policy(self, "twists", "of"_a = of, "relative_to"_a = relative_to, "expressed_in"_a = expressed_in,
                     "point"_a = point, "at"_a = at, "window"_a = window, "outside"_a = outside, "policy"_a = policy,
                     "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured);
  if (adds_velocities(self, measured))
    return core(self).upcalls.with_velocities(
        self, "twists", "of"_a = of, "relative_to"_a = relative_to, "expressed_in"_a = expressed_in, "point"_a = point,
        "at"_a = at, "window"_a = window, "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
        "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured);
  const Asked asked =
      asked_motion(self, {of, relative_to, expressed_in, point, window, outside, policy, interpolation, hold_up_to_s, measured});
  const Stamps stamps(at, "at");
  double* out = nullptr;
  nb::object result = new_array(&out, {stamps.span().size(), kTwistWidth});
  const Forest& forest = *core(self).forest;
  const Failure failure =
      received(core(self), [&] { return without_gil([&] { return forest.twists(asked.question, stamps.span(), out); }); });
  if (failure) raise_batch_failure(self, failure, of, relative_to);
  return result;
}

nb::tuple twists_with_covariances(Self self, nb::handle of, nb::handle relative_to, nb::handle at, nb::handle expressed_in,
                                  nb::handle point, nb::handle window, nb::handle outside, nb::handle policy,
                                  nb::handle interpolation, nb::handle hold_up_to_s, nb::handle measured) {
  if (!is_native_policy(policy))
    return nb::tuple(by_policy(self, "twists_with_covariances", "of"_a = of, "relative_to"_a = relative_to,
                               "expressed_in"_a = expressed_in, "point"_a = point, "at"_a = at, "window"_a = window,
                               "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
                               "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured));
  if (adds_velocities(self, measured))
    return nb::tuple(core(self).upcalls.with_velocities(
        self, "twists_with_covariances", "of"_a = of, "relative_to"_a = relative_to, "expressed_in"_a = expressed_in,
        "point"_a = point, "at"_a = at, "window"_a = window, "outside"_a = outside, "policy"_a = policy,
        "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s, "measured"_a = measured));
  const Asked asked =
      asked_motion(self, {of, relative_to, expressed_in, point, window, outside, policy, interpolation, hold_up_to_s, measured});
  const Stamps stamps(at, "at");
  double *out = nullptr, *spreads = nullptr;
  const nb::object values = new_array(&out, {stamps.span().size(), kTwistWidth});
  const nb::object covariances = new_array(&spreads, {stamps.span().size(), kTwistWidth, kTwistWidth});
  const Forest& forest = *core(self).forest;
  const Failure failure = without_gil([&] { return forest.twists(asked.question, stamps.span(), out, spreads); });
  if (failure) raise_batch_failure(self, failure, of, relative_to);
  return nb::make_tuple(values, covariances);
}

void add_body(Self self, nb::handle name, const std::vector<nb::object>& frames) {
  StoreCore& world = core(self);
  std::vector<std::string> keys;
  for (const nb::object& frame : frames) keys.push_back(frame_key(world, frame));
  const Failure failure =
      change_frames(self, request_for(log::SetBody{.body = std::string(text_of(name)), .frames = std::move(keys)}));
  if (failure) raise_failure(world, failure, name, name);
  for (const nb::object& frame : frames) remember(world, frame);
  sync_bodies(world);
}

constexpr const char* kTwistDocumentation =
    "twist($self, *, of, relative_to, expressed_in=None, point=None, at=..., window=None, outside='raise', "
    "policy='unique', interpolation=None, hold_up_to_s=None, measured=True)\n--\n\n"
    "How a body moved relative to another, at one instant.\n\n"
    "Measured twists (`set_twist`) that lead from one body to the other are added up. Where there are none, the motions\n"
    "of the edges between the two are: measured ones, and derivatives of the interpolated poses; `.method` says which.\n\n"
    "Args:\n"
    "    of: Frame whose body moves, and whose origin is the point.\n"
    "    relative_to: A body, or any frame on it.\n"
    "    expressed_in: Frame along whose axes the numbers are; `relative_to` if not given.\n"
    "    point: Frame whose origin is the point instead, as if fixed to the moving body.\n"
    "    at: Instant [ns]. `LATEST`: the newest instant that everything on the way covers.\n"
    "    window: Duration [ns]: central difference over it, half before the instant and half after, edge by edge; None:\n"
    "        derivative of the interpolated pose. At a sample that is the interval after it, at the last one the interval\n"
    "        before.\n"
    "    outside: 'raise'; 'hold' takes the nearest sample, 'predict' goes on with the last motion; the answer says so.\n"
    "    policy: 'unique': a frame that two sources place, or a motion that two measure, is an error; else as for `pose`,\n"
    "        about the paths of poses.\n"
    "    interpolation: 'linear' or 'screw'; if not given, that of each relation, or the world's own.\n"
    "    hold_up_to_s: With outside='hold': refuse samples that are further away than this [s]; if not given, the world's own\n"
    "        limit.\n"
    "    measured: False: from the poses alone, as if nobody had measured a twist.\n\n"
    "Raises:\n"
    "    UnknownFrame: One of the names does not exist.\n"
    "    NotConnected: No chain of twists or poses leads from one to the other.\n"
    "    StampOutOfRange: An edge on the path has no samples around `at`; SingleSample: nothing to differentiate.\n"
    "    AmbiguousPath: Several sources place a frame on the path, or measure one motion.";

}  // namespace

void bind_world_twists(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face) {
  static PyMethodDef twist_method{"twist", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(twist_call<false>)),
                                  METH_FASTCALL | METH_KEYWORDS, kTwistDocumentation};
  static PyMethodDef plain_method{
      "plain_twist", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(twist_call<true>)), METH_FASTCALL | METH_KEYWORDS,
      "plain_twist($self, *, of, relative_to, expressed_in=None, point=None, at=..., window=None, outside='raise', "
      "policy='unique', interpolation=None, hold_up_to_s=None, measured=True)\n--\n\n"
      "As `twist`, without angular and linear velocities that were measured alone."};
  store.attr("plain_twist") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(store.ptr()), &plain_method));
  static const std::string twists_sig = signature(
      "def twists(self, *, of: str | NodeId, relative_to: str | NodeId, at: ArrayLike, expressed_in: str | NodeId | None = None, "
      "point: str | NodeId | None = None, "
      "window: int | None = None, measured: bool = True",
      "NDArray[float64]");
  static const std::string both_sig = signature(
      "def twists_with_covariances(self, *, of: str | NodeId, relative_to: str | NodeId, at: ArrayLike, expressed_in: str | "
      "NodeId | None = None, point: str | NodeId | None = None, window: int | None = None, measured: bool = True",
      "tuple[NDArray[float64], NDArray[float64]]");
  const auto define = [&](auto& world) {
    world.attr("twist") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(world.ptr()), &twist_method));
    world.def("twists", &twists, nb::kw_only(), "of"_a, "relative_to"_a, "at"_a, "expressed_in"_a = nb::none(),
              "point"_a = nb::none(), "window"_a = nb::none(), "outside"_a.none() = words().raise,
              "policy"_a.none() = words().unique, "interpolation"_a = nb::none(), "hold_up_to_s"_a = nb::none(),
              "measured"_a = true, nb::sig(twists_sig.c_str()),
              "How a body moved relative to another at many instants, in one native call.\n\n"
              "Args:\n"
              "    of: As for `twist`.\n"
              "    relative_to: As for `twist`.\n"
              "    at: (N,) int64 [ns].\n"
              "    expressed_in: As for `twist`.\n"
              "    point: As for `twist`.\n"
              "    window: As for `twist`.\n"
              "    outside: As for `twist`.\n"
              "    policy: As for `twist`.\n"
              "    interpolation: As for `twist`.\n"
              "    hold_up_to_s: As for `twist`.\n"
              "    measured: As for `twist`.\n\n"
              "Returns:\n"
              "    (N, 6): the linear velocity [m/s], then the angular one [rad/s].");
    world.def("twists_with_covariances", &twists_with_covariances, nb::kw_only(), "of"_a, "relative_to"_a, "at"_a,
              "expressed_in"_a = nb::none(), "point"_a = nb::none(), "window"_a = nb::none(), "outside"_a.none() = words().raise,
              "policy"_a.none() = words().unique, "interpolation"_a = nb::none(), "hold_up_to_s"_a = nb::none(),
              "measured"_a = true, nb::sig(both_sig.c_str()),
              "Twists at many instants, as `twists` returns them, each with its covariance.\n\n"
              "Returns:\n"
              "    (N, 6), and (N, 6, 6) along the same axes: NaN where the covariance of a row is unknown.");
  };
  define(store);
  define(face);
  store.def(
           "set_has_pending", [](Self self, bool has_pending) { core(self).has_pending = has_pending; }, "has_pending"_a)
      .def("declare_body", &add_body, "name"_a, "frames"_a,
           nb::sig("def declare_body(self, name: str, frames: list[str]) -> None"))
      .def(
          "bodies", [](Self self) { return declared_bodies(*core(self).forest); }, nb::sig("def bodies(self) -> tuple[str, ...]"),
          "Names of the declared bodies, in the order they came.")
      .def(
          "frames_of",
          [](Self self, nb::handle body) {
            const Forest& forest = *core(self).forest;
            return nb::tuple(nb::cast(frame_labels(core(self), forest.frames_of(forest.find_body(frame_key(core(self), body))))));
          },
          "body"_a, nb::sig("def frames_of(self, body: str) -> tuple[str, ...]"))
      .def(
          "body_name",
          [](Self self, nb::handle frame) {
            const Forest& forest = *core(self).forest;
            return core(self).store->frame_label(forest.body_name(forest.find_body(frame_key(core(self), frame))));
          },
          "frame"_a, nb::sig("def body_name(self, frame: str) -> str"));
}

}  // namespace armillary::python
