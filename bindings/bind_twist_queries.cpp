#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.hpp"
#include "keywords.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// What moves, relative to what, with the names as they are stored.
struct Asked {
  TwistQuestion question;
  nb::object of, relative_to, expressed_in, point;  // set where the stored spelling differs
};

FrameId optional_frame(Self self, nb::handle name, nb::object* spelt) {
  return name.is_none() ? kNone : frame_id(self, name, spelt);
}

/// A frame of that name stands for its body; a declared body without such a frame is found by its own name.
void set_reference(Self self, nb::handle relative_to, bool has_axes, Asked& asked) {
  const WorldCore& world = core(self);
  const bool is_only_a_body = known_id(world, relative_to) == nullptr && PyUnicode_Check(relative_to.ptr()) &&
                              nb::len(world.bodies) > 0 && nb::cast<bool>(self.attr("_is_only_a_body")(relative_to));
  if (!is_only_a_body) {
    asked.question.reference = frame_id(self, relative_to, &asked.relative_to);
    return;
  }
  asked.relative_to = self.attr("_stored_name")(relative_to);
  asked.question.relative_to = world.forest->find_body(text_of(asked.relative_to));
  if (!has_axes)
    raise("InvalidArgument",
          "relative_to=" + shown(relative_to) +
              " is a body without a frame of that name, so its axes are not known. Pass expressed_in=, or name one of its "
              "frames in relative_to=.",
          relative_to);
}

Duration as_window(nb::handle value) {
  if (value.is_none()) return {};
  const std::int64_t window_ns = as_stamp(value, "window");
  if (window_ns <= 0) raise("InvalidArgument", "window must be a duration above zero [ns], got " + shown(value) + ".", value);
  return {window_ns};
}

bool as_flag(nb::handle value, const char* name) {
  if (!PyBool_Check(value.ptr()))
    raise("InvalidArgument", std::string(name) + " must be True or False, got " + shown(value) + ".", value);
  return value.is(nb::handle(Py_True));
}

nb::handle spelt_or(const nb::object& spelt, nb::handle given) { return spelt.is_valid() ? nb::handle(spelt) : given; }

PyObject* twist_call(PyObject* self_object, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  static const auto* expected = new Keywords<10>("twist", {{{"of", nullptr},
                                                            {"relative_to", nullptr},
                                                            {"expressed_in", Py_None},
                                                            {"point", Py_None},
                                                            {"at", latest().ptr()},
                                                            {"window", Py_None},
                                                            {"outside", words().raise.ptr()},
                                                            {"policy", words().unique.ptr()},
                                                            {"interpolation", Py_None},
                                                            {"measured", Py_True}}});
  return guarded([&] {
    const auto [of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, measured] =
        expected->read(args, positional, keywords);
    const Self self(self_object);
    const WorldCore& world = core(self);
    Asked asked;
    asked.question.context = as_context(world, outside, policy, interpolation);
    asked.question.of = frame_id(self, of, &asked.of);
    set_reference(self, relative_to, !expressed_in.is_none(), asked);
    asked.question.expressed_in = optional_frame(self, expressed_in, &asked.expressed_in);
    asked.question.point = optional_frame(self, point, &asked.point);
    asked.question.at = as_when(at, "at");
    asked.question.window = as_window(window);
    asked.question.with_measured = as_flag(measured, "measured");
    Result<TwistAnswer> result = world.forest->twist(asked.question);
    if (!result) raise_failure(world, result.failure, of, relative_to);
    const nb::handle names[] = {spelt_or(asked.of, of), spelt_or(asked.relative_to, relative_to),
                                spelt_or(asked.expressed_in, expressed_in), spelt_or(asked.point, point)};
    return new_twist([&] { return make_twist(world, std::move(result.value), names[0], names[1], names[2], names[3]); })
        .release()
        .ptr();
  });
}

/// A twist as it was said: copied, checked, its names as they will be stored.
struct SaidTwist {
  nb::object of, relative_to, expressed_in, source;
  Velocity velocity;
  Stamp at;
  std::optional<Covariance> covariance;

  [[nodiscard]] TwistName name() const { return {text_of(of), text_of(relative_to), text_of(source)}; }
  [[nodiscard]] TwistSample sample() const {
    return {
        .at = at, .expressed_in = text_of(expressed_in), .velocity = velocity, .covariance = covariance ? &*covariance : nullptr};
  }
};

/// Held while a relation of twists is made, and while twists wait: what is checked stays true until it is written.
class TwistLock {
 public:
  explicit TwistLock(Self self) : lock_(self.attr("_twist_lock")) { lock_.attr("acquire")(); }
  ~TwistLock() { lock_.attr("release")(); }
  TwistLock(const TwistLock&) = delete;
  TwistLock& operator=(const TwistLock&) = delete;

 private:
  nb::object lock_;
};

/// Whether a refused twist may be stored later, when poses have come.
bool may_still_come(Self self, const Failure& failure) { return failure && !core(self).forest->is_hopeless(failure); }

Failure write_twist(Self self, const SaidTwist& said) {
  WorldCore& world = core(self);
  Failure failure = world.forest->set_twist(said.name(), said.sample());
  if (failure) return failure;
  for (const nb::object& name : {said.of, said.relative_to})
    if (known_id(world, name) == nullptr) remember(world, name);
  sync_catalog(world);
  return {};
}

/// The caller holds the lock: a relation that is new must not say what its source says already.
Failure write_new_twist(Self self, const SaidTwist& said) {
  const bool is_new = !core(self).forest->has_twist(said.name());
  if (is_new) self.attr("_check_new_twist")(said.of, said.relative_to, said.source, said.at.ns);
  return write_twist(self, said);
}

void keep_pending(Self self, const SaidTwist& said) {
  const auto numbers = [](const Vector3& v) { return nb::make_tuple(v.x, v.y, v.z); };
  self.attr("_keep_pending")(
      "of"_a = said.of, "relative_to"_a = said.relative_to, "expressed_in"_a = said.expressed_in, "source"_a = said.source,
      "at"_a = said.at.ns, "linear"_a = numbers(said.velocity.linear), "angular"_a = numbers(said.velocity.angular),
      "covariance"_a = said.covariance ? read_only_array(said.covariance->values.data(), {6, 6}) : nb::none());
}

/// The caller holds the lock. A later word about the same instant takes the place of one that waits.
/// Whether it was written.
bool write_or_keep(Self self, const SaidTwist& said, bool pending) {
  Failure failure = write_new_twist(self, said);
  if (pending && may_still_come(self, failure)) {
    keep_pending(self, said);
    failure = write_new_twist(self, said);  // its poses may have come before it was kept
    if (may_still_come(self, failure)) return false;
  } else if (failure) {
    raise_failure(core(self), failure, said.of, said.relative_to, failure->about_twist);
  }
  self.attr("_drop_pending")(nb::make_tuple(nb::make_tuple(said.of, said.source, said.at.ns)));
  if (failure) raise_failure(core(self), failure, said.of, said.relative_to, failure->about_twist);
  return true;
}

void set_twist(Self self, nb::handle of, nb::handle relative_to, nb::handle expressed_in, nb::handle linear, nb::handle angular,
               nb::handle at, nb::handle source, nb::handle covariance, bool pending) {
  WorldCore& world = core(self);
  SaidTwist said{.velocity = {checked_vector(linear, "linear"), checked_vector(angular, "angular")}, .at = {as_stamp(at, "at")}};
  check_ahead(self, said.at.ns);
  if (!covariance.is_none()) said.covariance = as_covariance(covariance, "covariance");
  said.source = source_of(self, source);
  said.of = admitted(self, of);
  said.relative_to = admitted(self, relative_to);
  said.expressed_in = self.attr("_stored_name")(expressed_in);
  if (!pending && !world.has_pending && world.forest->has_twist(said.name())) {
    if (const Failure failure = write_twist(self, said))
      raise_failure(world, failure, said.of, said.relative_to, failure->about_twist);
    return;
  }
  {
    const TwistLock lock(self);
    if (!write_or_keep(self, said, pending)) return;
  }
  settle_pending(self);
}

/// Whether a twist that waited is stored now; raises what can never be stored any more.
bool retry_twist(Self self, nb::object of, nb::object relative_to, nb::object expressed_in, nb::handle linear, nb::handle angular,
                 nb::handle at, nb::object source, nb::handle covariance) {
  SaidTwist said{.of = of,
                 .relative_to = relative_to,
                 .expressed_in = expressed_in,
                 .source = source,
                 .velocity = {checked_vector(linear, "linear"), checked_vector(angular, "angular")},
                 .at = {as_stamp(at, "at")}};
  if (!covariance.is_none()) said.covariance = as_covariance(covariance, "covariance");
  const Failure failure = write_new_twist(self, said);
  const bool waits = may_still_come(self, failure) || (failure && failure->kind == FailureKind::ambiguous_path);
  if (failure && !waits) raise_failure(core(self), failure, of, relative_to, failure->about_twist);
  return !waits;
}

void add_body(Self self, nb::handle name, const std::vector<nb::object>& frames) {
  WorldCore& world = core(self);
  std::vector<std::string_view> names;
  for (const nb::object& frame : frames) names.push_back(text_of(frame));
  if (const Failure failure = world.forest->add_body(text_of(name), names)) raise_failure(world, failure, name, name);
  for (const nb::object& frame : frames) remember(world, frame);
  const std::vector<std::string> declared = world.forest->body_names();
  for (std::size_t i = nb::len(world.bodies); i < declared.size(); ++i) world.bodies.append(nb::cast(declared[i]));
}

constexpr const char* kTwistDocumentation =
    "twist($self, *, of, relative_to, expressed_in=None, point=None, at=..., window=None, outside='raise', "
    "policy='unique', interpolation=None, measured=True)\n--\n\n"
    "How a body moved relative to another, at one instant.\n\n"
    "Measured twists (`set_twist`) that lead from one body to the other are added up. Where there are none, the motions\n"
    "of the edges between the two are: measured ones, and derivatives of the interpolated poses; `.method` says which.\n\n"
    "Args:\n"
    "    of: Frame whose body moves, and whose origin is the point.\n"
    "    relative_to: A body, or any frame on it.\n"
    "    expressed_in: Frame along whose axes the numbers are; `relative_to` if not given.\n"
    "    point: Frame whose origin is the point instead, as if fixed to the moving body.\n"
    "    at: Instant [ns]. `LATEST`: the newest instant that everything on the way covers.\n"
    "    window: Duration [ns]: central difference over it, edge by edge; None: derivative of the interpolated pose. At a\n"
    "        sample that is the interval after it, at the last one the interval before.\n"
    "    outside: 'raise'; 'hold' takes the nearest sample, 'predict' goes on with the last motion; the answer says so.\n"
    "    policy: 'unique': a frame that two sources place, or a motion that two measure, is an error.\n"
    "    interpolation: 'linear' or 'screw'; the world's own if not given.\n"
    "    measured: False: from the poses alone, as if nobody had measured a twist.\n\n"
    "Raises:\n"
    "    UnknownFrame: One of the names does not exist.\n"
    "    NotConnected: No chain of twists or poses leads from one to the other.\n"
    "    StampOutOfRange: An edge on the path has no samples around `at`; SingleSample: nothing to differentiate.\n"
    "    AmbiguousPath: Several sources place a frame on the path, or measure one motion.";

}  // namespace

void bind_world_twists(nb::class_<WorldCore>& world) {
  static PyMethodDef twist_method{"twist", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(twist_call)),
                                  METH_FASTCALL | METH_KEYWORDS, kTwistDocumentation};
  world.attr("twist") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(world.ptr()), &twist_method));
  world
      .def("set_twist", &set_twist, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a, "linear"_a, "angular"_a, "at"_a,
           "source"_a = nb::none(), "covariance"_a = nb::none(), "pending"_a = false,
           nb::sig("def set_twist(self, *, of: str, relative_to: str, expressed_in: str, linear: ArrayLike, angular: ArrayLike, "
                   "at: int, source: str | None = None, covariance: ArrayLike | None = None, pending: bool = False) -> None"),
           "Say how a frame moves at one instant.\n\n"
           "It is kept at the origin and along the axes of `of`: other axes are turned with the poses known for that\n"
           "instant, and what those poses become later does not change it.\n\n"
           "Args:\n"
           "    of: Frame whose origin the linear velocity is of, and whose body moves; made if it is new.\n"
           "    relative_to: The body it moves relative to, or any frame on it; made if it is new.\n"
           "    expressed_in: Frame along whose axes the numbers are; `of` for what the body itself measures.\n"
           "    linear: (3,) [m/s].\n"
           "    angular: (3,) [rad/s].\n"
           "    at: Instant [ns].\n"
           "    source: Who says so; the world's own name if not given.\n"
           "    covariance: (6, 6), linear then angular, along the same axes; unknown if not given.\n"
           "    pending: Keep it until the poses that turn it arrive, instead of refusing it: the call that brings them stores\n"
           "        it too. A later word about the same instant takes its place.\n\n"
           "Raises:\n"
           "    StampOutOfRange, NotConnected, UnknownFrame: The axes cannot be turned at that instant.\n"
           "    ConstraintViolation: A body does not move relative to itself, or this source says that motion already: of\n"
           "        another frame, the other way round, or by a chain of twists. Another source may.\n"
           "    LimitReached: As many twists wait as `max_waits` allows.")
      .def("_retry_twist", &retry_twist, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a, "linear"_a, "angular"_a,
           "at"_a, "source"_a, "covariance"_a.none(),
           nb::sig(
               "def _retry_twist(self, *, of: str, relative_to: str, expressed_in: str, linear: ArrayLike, angular: ArrayLike, "
               "at: int, source: str, covariance: ArrayLike | None) -> bool"))
      .def(
          "_set_has_pending", [](Self self, bool has_pending) { core(self).has_pending = has_pending; }, "has_pending"_a)
      .def("_add_body", &add_body, "name"_a, "frames"_a, nb::sig("def _add_body(self, name: str, frames: list[str]) -> None"))
      .def(
          "bodies", [](Self self) { return nb::tuple(nb::cast(core(self).forest->body_names())); },
          nb::sig("def bodies(self) -> tuple[str, ...]"), "Names of the declared bodies, in the order they came.")
      .def(
          "_frames_of",
          [](Self self, nb::handle body) {
            const Forest& forest = *core(self).forest;
            return nb::tuple(nb::cast(forest.frames_of(forest.find_body(text_of(body)))));
          },
          "body"_a, nb::sig("def _frames_of(self, body: str) -> tuple[str, ...]"))
      .def(
          "_body_of",
          [](Self self, nb::handle frame) {
            const Forest& forest = *core(self).forest;
            return forest.body_name(forest.find_body(text_of(frame)));
          },
          "frame"_a, nb::sig("def _body_of(self, frame: str) -> str"));
}

}  // namespace armillary::python
