#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>

#include "convert.hpp"
#include "gil.hpp"
#include "keywords.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

bool is_text(nb::handle value, const char* text) {
  return PyUnicode_Check(value.ptr()) && PyUnicode_CompareWithASCIIString(value.ptr(), text) == 0;
}

Duration as_hold_limit(nb::handle limit, Outside outside) {
  const double seconds = PyBool_Check(limit.ptr()) ? -1.0 : PyFloat_AsDouble(limit.ptr());
  PyErr_Clear();
  if (!(seconds >= 0.0))
    raise("InvalidArgument", "hold_up_to_s must be a number of seconds, at least 0, or None, got " + shown(limit) + ".", limit);
  if (outside != Outside::hold)
    raise("InvalidArgument", "hold_up_to_s limits what outside='hold' accepts: pass outside='hold' with it.", limit);
  constexpr double kLongest = 9e9;
  return seconds > kLongest ? kHoldForEver : Duration{static_cast<std::int64_t>(std::llround(1e9 * seconds))};
}

}  // namespace

const Words& words() {
  static const Words* only = new Words;  // lives as long as the interpreter
  return *only;
}

bool is_unique_policy(nb::handle policy) {
  return policy.is(words().unique) || is_text(policy, "unique") || nb::isinstance<PathChoice>(policy);
}

namespace {

std::optional<Policy> policy_of(nb::handle policy) {
  struct Names {
    nb::object fuse = nb::steal(PyUnicode_InternFromString("fuse"));
    nb::object latest = nb::steal(PyUnicode_InternFromString("latest"));
    nb::object most_certain = nb::steal(PyUnicode_InternFromString("most_certain"));
  };
  static const auto* names = new Names;  // lives as long as the interpreter
  if (policy.is(words().unique)) return Policy::unique;
  if (policy.is(names->fuse)) return Policy::fuse;
  if (policy.is(names->latest)) return Policy::latest;
  if (policy.is(names->most_certain)) return Policy::most_certain;
  if (is_unique_policy(policy)) return Policy::unique;
  if (is_text(policy, "fuse")) return Policy::fuse;
  if (is_text(policy, "latest")) return Policy::latest;
  if (is_text(policy, "most_certain")) return Policy::most_certain;
  return std::nullopt;
}

}  // namespace

bool is_native_policy(nb::handle policy) { return policy_of(policy).has_value(); }

QueryContext as_context(const StoreCore& world, nb::handle outside, nb::handle policy, nb::handle interpolation,
                        nb::handle hold_up_to_s) {
  QueryContext context = world.defaults;
  if (!outside.is(words().raise) && !is_text(outside, "raise")) {
    const bool predicts = is_text(outside, "predict");
    if (!predicts && !is_text(outside, "hold"))
      raise("InvalidArgument", "outside must be 'raise', 'hold' or 'predict', got " + shown(outside) + ".", outside);
    context.outside = predicts ? Outside::predict : Outside::hold;
  }
  if (!policy.is(words().unique)) {
    const std::optional<Policy> kind = policy_of(policy);
    if (!kind) raise("InvalidArgument", "A policy that is a callable is not possible here, got " + shown(policy) + ".", policy);
    context.policy = *kind;
    if (*kind == Policy::unique && nb::isinstance<PathChoice>(policy))
      context.selector = &nb::inst_ptr<PathChoice>(policy)->sources;
  }
  if (!hold_up_to_s.is_none()) context.hold_up_to = as_hold_limit(hold_up_to_s, context.outside);
  if (!interpolation.is_none()) {
    context.overrides_screw = true;
    if (is_text(interpolation, "screw")) {
      context.interpolation = Interpolation::screw;
    } else if (is_text(interpolation, "linear")) {
      context.interpolation = Interpolation::linear;
    } else {
      raise("InvalidArgument", "interpolation must be 'linear' or 'screw', got " + shown(interpolation) + ".", interpolation);
    }
  }
  return context;
}

std::string signature(const char* head, const char* answer) {
  constexpr const char* kContext =
      "outside: str = 'raise', policy: str | Callable[..., Any] = 'unique', interpolation: str | None = None, "
      "hold_up_to_s: float | None = None";
  return std::string(head) + ", " + kContext + ") -> " + answer;
}

Question as_question(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at, nb::handle fixed_frame,
                     const QueryContext& context, Spelling& spelling) {
  Question question{.of = frame_id(self, of, &spelling.of),
                    .in_frame = frame_id(self, in_frame, &spelling.in_frame),
                    .at = as_when(at, "at"),
                    .context = context};
  if (of_at.is_none() && fixed_frame.is_none()) return question;
  if (of_at.is_none() || fixed_frame.is_none())
    raise("InvalidArgument", "of_at and fixed_frame go together: where `of` was at of_at, through a frame that stood still.");
  question.of_at = as_when(of_at, "of_at");
  question.fixed_frame = frame_id(self, fixed_frame);
  return question;
}

namespace {

/// Where a frame is at one instant.
Transform transform_at(Self self, nb::handle of, nb::handle in_frame, nb::handle at, QueryContext context) {
  const StoreCore& world = core(self);
  Spelling ignored;
  context.want_covariance = false;
  const Result<PolicyAnswer> result =
      received(world, [&, question = as_question(self, of, in_frame, at, nb::none(), nb::none(), context, ignored)] {
        return world.forest->pose_by_policy(question);
      });
  if (!result) raise_failure(world, result.failure, of, in_frame);
  return result.value.pose.transform;
}

/// A pose with other points or axes than those of its frames: put together in Python.
PyObject* pose_between_points(Self self, const std::array<nb::handle, 13>& given) {
  const auto [of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s, point, reference_point,
              expressed_in, covariance] = given;
  return nb::object(core(self).upcalls.pose_between_points(
                        self, "of"_a = of, "in_frame"_a = in_frame, "point"_a = point, "reference_point"_a = reference_point,
                        "expressed_in"_a = expressed_in, "at"_a = at, "of_at"_a = of_at, "fixed_frame"_a = fixed_frame,
                        "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
                        "hold_up_to_s"_a = hold_up_to_s, "covariance"_a = covariance))
      .release()
      .ptr();
}

/// A pose that several paths may give: Python chooses among them.
nb::object pose_by_policy(Self self, const std::array<nb::handle, 13>& given) {
  return by_policy(self, "pose", "of"_a = given[0], "in_frame"_a = given[1], "at"_a = given[2], "of_at"_a = given[3],
                   "fixed_frame"_a = given[4], "outside"_a = given[5], "policy"_a = given[6], "interpolation"_a = given[7],
                   "hold_up_to_s"_a = given[8]);
}

/// A Pose, or null and the Python error: programs ask until an answer is there, and throwing costs more than asking.
PyObject* pose_or_error(Self self, const std::array<nb::handle, 13>& given) {
  const auto [of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s, point, reference_point,
              expressed_in, covariance] = given;
  const StoreCore& world = core(self);
  QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  context.want_covariance = covariance.is(Py_True) || as_flag(covariance, "covariance");
  if (!recalls(self, of) || !recalls(self, in_frame)) return nullptr;
  Spelling spelling;
  const Question question = as_question(self, of, in_frame, at, of_at, fixed_frame, context, spelling);
  const nb::handle of_name = spelling.of.is_valid() ? nb::handle(spelling.of) : of;
  const nb::handle in_name = spelling.in_frame.is_valid() ? nb::handle(spelling.in_frame) : in_frame;
  if (context.policy == Policy::unique) {
    Result<PoseAnswer> result = received(world, [&] { return world.forest->pose(question); });
    if (!result) return set_error(error_of(world, result.failure, of, in_frame, false));
    return new_pose([&] { return make_pose(world, std::move(result.value), of_name, in_name); }).release().ptr();
  }
  const nb::handle type = policy_pose_type(self);
  Result<PolicyAnswer> result = received(world, [&] { return world.forest->pose_by_policy(question); });
  if (!result) return set_error(error_of(world, result.failure, of, in_frame, false));
  return new_value(type, [&] { return make_policy_pose(world, std::move(result.value), of_name, in_name); }).release().ptr();
}

/// `pose` for the interpreter.
PyObject* pose_call(PyObject* given_self, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  static const auto* expected = new Keywords<13>("pose", {{{"of", nullptr},
                                                           {"in_frame", nullptr},
                                                           {"at", latest().ptr()},
                                                           {"of_at", Py_None},
                                                           {"fixed_frame", Py_None},
                                                           {"outside", words().raise.ptr()},
                                                           {"policy", words().unique.ptr()},
                                                           {"interpolation", Py_None},
                                                           {"hold_up_to_s", Py_None},
                                                           {"point", Py_None},
                                                           {"reference_point", Py_None},
                                                           {"expressed_in", Py_None},
                                                           {"covariance", Py_True}}});
  return guarded([&] {
    const Self self{nb::handle(given_self)};
    const std::array<nb::handle, 13> given = expected->read(args, positional, keywords);
    const auto [of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s, point, reference_point,
                expressed_in, covariance] = given;
    if (!point.is_none() || !reference_point.is_none() || !expressed_in.is_none()) return pose_between_points(self, given);
    if (!is_native_policy(policy)) return pose_by_policy(self, given).release().ptr();
    return pose_or_error(self, given);
  });
}

/// Poses of pairs (of, in_frame), all at one instant.
nb::list poses_at_once(Self self, const std::vector<std::pair<nb::object, nb::object>>& names, nb::handle at, nb::handle outside,
                       nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s) {
  if (!is_native_policy(policy))
    return nb::list(by_policy(self, "poses_at_once", names, "at"_a = at, "outside"_a = outside, "policy"_a = policy,
                              "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s));
  const StoreCore& world = core(self);
  QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  const bool is_unique = std::exchange(context.policy, Policy::unique) == Policy::unique;
  std::vector<Spelling> spelt;
  std::vector<FramePair> pairs;
  for (const auto& [of, in_frame] : names) {
    Spelling& spelling = spelt.emplace_back(Spelling{of, in_frame});
    pairs.push_back({frame_id(self, of, &spelling.of), frame_id(self, in_frame, &spelling.in_frame)});
  }
  Result<std::vector<PoseAnswer>> result =
      received(world, [&, when = as_when(at, "at")] { return world.forest->poses_at_once(pairs, when, context); });
  if (!is_unique && result.failure.kind() == FailureKind::ambiguous_path)
    return nb::list(by_policy(self, "poses_at_once", names, "at"_a = at, "outside"_a = outside, "policy"_a = policy,
                              "interpolation"_a = interpolation));
  if (!result) raise_failure(world, result.failure, spelt[result.failure->row].of, spelt[result.failure->row].in_frame);
  nb::list poses;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    poses.append(new_pose([&] { return make_pose(world, std::move(result.value[i]), spelt[i].of, spelt[i].in_frame); }));
  return poses;
}

/// Missing data is the answer here, not an error: also a name that nobody has used yet.
bool can_pose(Self self, const std::array<nb::handle, 9>& given) {
  const auto [of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s] = given;
  if (!is_native_policy(policy))
    return nb::cast<bool>(by_policy(self, "can_pose", "of"_a = of, "in_frame"_a = in_frame, "at"_a = at, "of_at"_a = of_at,
                                    "fixed_frame"_a = fixed_frame, "outside"_a = outside, "policy"_a = policy,
                                    "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s));
  const StoreCore& world = core(self);
  const QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  (void)as_when(at, "at");
  for (nb::handle name : {of, in_frame, fixed_frame}) {
    const bool is_known =
        name.is_none() || known_id(world, name) != nullptr || nb::cast<bool>(world.upcalls.knows_name(self, name));
    if (!is_known) return false;
  }
  Spelling ignored;
  Question question = as_question(self, of, in_frame, at, of_at, fixed_frame, context, ignored);
  question.context.want_covariance = context.want_covariance && context.policy != Policy::unique;
  if (context.policy != Policy::unique)
    return static_cast<bool>(received(world, [&] { return world.forest->pose_by_policy(question); }));
  return static_cast<bool>(received(world, [&] { return world.forest->pose(question); }));
}

/// `can_pose` for the interpreter.
PyObject* can_pose_call(PyObject* given_self, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  static const auto* expected = new Keywords<9>("can_pose", {{{"of", nullptr},
                                                              {"in_frame", nullptr},
                                                              {"at", latest().ptr()},
                                                              {"of_at", Py_None},
                                                              {"fixed_frame", Py_None},
                                                              {"outside", words().raise.ptr()},
                                                              {"policy", words().unique.ptr()},
                                                              {"interpolation", Py_None},
                                                              {"hold_up_to_s", Py_None}}});
  return guarded([&] {
    const Self self{nb::handle(given_self)};
    return nb::bool_(can_pose(self, expected->read(args, positional, keywords))).release().ptr();
  });
}

nb::object transforms(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle as_, nb::handle outside,
                      nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s) {
  const StoreCore& world = core(self);
  const bool matrix = is_text(as_, "matrix");
  if (!matrix && !is_text(as_, "xyz_wxyz"))
    raise("InvalidArgument", "as_ must be 'matrix' or 'xyz_wxyz', got " + shown(as_) + ".", as_);
  if (!is_native_policy(policy))
    return by_policy(self, "transforms", "of"_a = of, "in_frame"_a = in_frame, "at"_a = at, "as_"_a = as_, "outside"_a = outside,
                     "policy"_a = policy, "interpolation"_a = interpolation, "hold_up_to_s"_a = hold_up_to_s);
  const QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  const FrameId of_id = frame_id(self, of), in_id = frame_id(self, in_frame);
  const Stamps stamps(at, "at");
  const std::size_t count = stamps.span().size();
  double* out = nullptr;
  nb::object result = matrix ? new_array(&out, {count, 4, 4}) : new_array(&out, {count, 7});
  const auto layout = matrix ? Forest::Layout::matrix : Forest::Layout::xyz_wxyz;
  const Failure failure = received(
      world, [&] { return without_gil([&] { return world.forest->poses(of_id, in_id, stamps.span(), context, layout, out); }); });
  if (failure) raise_batch_failure(self, failure, of, in_frame);
  return result;
}

/// Whether there is one instant per point; a numpy scalar is told from an array by its `ndim`.
bool are_stamps(nb::handle at) {
  if (PyLong_Check(at.ptr()) || at.is(latest())) return false;
  return nb::hasattr(at, "ndim") ? nb::cast<int>(at.attr("ndim")) > 0 : PySequence_Check(at.ptr()) && !PyUnicode_Check(at.ptr());
}

nb::object map_points_at(Self self, nb::handle points, nb::handle from_frame, nb::handle to_frame, nb::handle at,
                         nb::handle outside, nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s) {
  if (!is_native_policy(policy))
    return by_policy(self, "map_points", points, "from_frame"_a = from_frame, "to_frame"_a = to_frame, "at"_a = at,
                     "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
                     "hold_up_to_s"_a = hold_up_to_s);
  const StoreCore& world = core(self);
  if (!are_stamps(at))
    return map_points(
        transform_at(self, from_frame, to_frame, at, as_context(world, outside, policy, interpolation, hold_up_to_s)), points);
  const QueryContext context = as_context(world, outside, policy, interpolation, hold_up_to_s);
  const FrameId from = frame_id(self, from_frame), to = frame_id(self, to_frame);
  const PointRows given(points);
  const Stamps stamps(given.form.is_none() ? nb::borrow(at) : nb::object(given.form.attr("flat")(at)), "at");
  if (stamps.span().size() != given.count)
    raise("InvalidArgument", "points has " + std::to_string(given.count) + " rows and at has " +
                                 std::to_string(stamps.span().size()) + " stamps. Give one stamp, or one stamp per point.");
  double* out = nullptr;
  nb::object mapped = given.empty_like(&out);
  const Failure failure = received(world, [&] {
    return without_gil([&] { return world.forest->map_points(from, to, stamps.span(), context, given.data(), out); });
  });
  if (failure) raise_batch_failure(self, failure, from_frame, to_frame);
  return given.restored(mapped);
}

constexpr const char* kPoseDocumentation =
    "pose($self, *, of, in_frame, at=..., of_at=None, fixed_frame=None, outside='raise', policy='unique', "
    "interpolation=None, hold_up_to_s=None, point=None, reference_point=None, expressed_in=None, covariance=True)\n--\n\n"
    "Where one frame was, seen from another, at one instant.\n\n"
    "Between two samples the translation is interpolated linearly and the rotation along the shortest arc.\n"
    "Outside the history it raises unless `outside` says so.\n\n"
    "Args:\n"
    "    of: Frame whose pose is wanted.\n"
    "    in_frame: Frame in which the answer is expressed.\n"
    "    at: Instant [ns]. `LATEST`: the newest instant that every edge on the path covers.\n"
    "    of_at: With `fixed_frame`: where `of` was at this instant, seen from `in_frame` at `at`.\n"
    "    fixed_frame: A frame that stood still between the two instants.\n"
    "    outside: 'raise'; 'hold' takes the nearest sample, 'predict' goes on with the last motion; the answer says so.\n"
    "    policy: 'unique': a frame that two sources place is an error. 'latest', 'most_certain', 'fuse' or a callable\n"
    "        decide among the paths (`armillary.fusion.policies`); the answer then says which it used.\n"
    "    interpolation: 'linear' or 'screw'; if not given, that of each relation, or the world's own.\n"
    "    hold_up_to_s: With outside='hold': refuse samples that are further away than this [s]; if not given, the world's own\n"
    "        limit.\n"
    "    point: Frame whose origin the position is of, on the same body; `of` if not given.\n"
    "    reference_point: Frame from whose origin the position is, on the same body; `in_frame` if not given.\n"
    "    expressed_in: Frame along whose axes the position is; `in_frame` if not given.\n"
    "    covariance: False: it is not computed, and the answer's is None; where every edge has one that saves time.\n\n"
    "Returns:\n"
    "    `in_frame_T_of` with its stamp and, where known, a (6, 6) covariance in the tangent of `of`.\n\n"
    "Raises:\n"
    "    UnknownFrame: One of the names does not exist.\n"
    "    NotConnected: Both exist, but in different trees.\n"
    "    StampOutOfRange: An edge on the path has no sample around `at`.\n"
    "    AmbiguousPath: Several sources place a frame on the path.\n"
    "    UnknownCovariance: With 'most_certain' or 'fuse': several paths, and no covariance is known of any.";

constexpr const char* kCanPoseDocumentation =
    "can_pose($self, *, of, in_frame, at=..., of_at=None, fixed_frame=None, outside='raise', policy='unique', "
    "interpolation=None, hold_up_to_s=None)\n--\n\n"
    "Whether `pose` would answer; never raises for missing data.";

}  // namespace

void bind_world_queries(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face) {
  const nb::object& raise_word = words().raise;
  const nb::object& unique_word = words().unique;
  static PyMethodDef pose_method{"pose", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pose_call)),
                                 METH_FASTCALL | METH_KEYWORDS, kPoseDocumentation};
  static PyMethodDef can_pose_method{"can_pose", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(can_pose_call)),
                                     METH_FASTCALL | METH_KEYWORDS, kCanPoseDocumentation};
  static const std::string transforms_sig = signature(
      "def transforms(self, *, of: str | NodeId, in_frame: str | NodeId, at: ArrayLike, as_: str = 'matrix'", "NDArray[float64]");
  static const std::string points_sig = signature(
      "def map_points(self, points: ArrayLike, *, from_frame: str | NodeId, to_frame: str | NodeId, at: int | Latest | ArrayLike "
      "= LATEST",
      "NDArray[float64]");
  static const std::string at_once_sig = signature(
      "def poses_at_once(self, pairs: list[tuple[str | NodeId, str | NodeId]], *, at: int | Latest", "list[PoseAnswer]");
  const auto define = [&](auto& world) {
    world.attr("pose") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(world.ptr()), &pose_method));
    world.attr("can_pose") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(world.ptr()), &can_pose_method));
    world
        .def("transforms", &transforms, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "as_"_a = "matrix",
             "outside"_a.none() = raise_word, "policy"_a.none() = unique_word, "interpolation"_a = nb::none(),
             "hold_up_to_s"_a = nb::none(), nb::sig(transforms_sig.c_str()),
             "`in_frame_T_of` at many instants, in one native call.\n\n"
             "Args:\n"
             "    of: Frame whose pose is wanted.\n"
             "    in_frame: Frame in which the answer is expressed.\n"
             "    at: (N,) int64 [ns].\n"
             "    as_: 'matrix' for (N, 4, 4), 'xyz_wxyz' for (N, 7).\n"
             "    outside: As for `pose`.\n"
             "    policy: As for `pose`.\n"
             "    interpolation: As for `pose`.\n"
             "    hold_up_to_s: As for `pose`.")
        .def("map_points", &map_points_at, "points"_a, nb::kw_only(), "from_frame"_a, "to_frame"_a, "at"_a = latest(),
             "outside"_a.none() = raise_word, "policy"_a.none() = unique_word, "interpolation"_a = nb::none(),
             "hold_up_to_s"_a = nb::none(), nb::sig(points_sig.c_str()),
             "Points of one frame as coordinates of another.\n\n"
             "Args:\n"
             "    points: (3,), (N, 3), or (H, W, 3); (N, 4), whose fourth number is carried along; or a structured array with\n"
             "        the fields x, y and z, whose other fields are carried along. float32 stays float32.\n"
             "    from_frame: Frame the points are given in.\n"
             "    to_frame: Frame they are wanted in.\n"
             "    at: One instant, or one per point, (N,) or (H, W): a moving scanner's cloud is straightened in one call.\n"
             "    outside: As for `pose`.\n"
             "    policy: As for `pose`.\n"
             "    interpolation: As for `pose`.\n"
             "    hold_up_to_s: As for `pose`.");
  };
  define(store);
  define(face);
  store.def("poses_at_once", &poses_at_once, "pairs"_a, nb::kw_only(), "at"_a, "outside"_a.none() = raise_word,
            "policy"_a.none() = unique_word, "interpolation"_a = nb::none(), "hold_up_to_s"_a = nb::none(),
            nb::sig(at_once_sig.c_str()));
}

}  // namespace armillary::python
