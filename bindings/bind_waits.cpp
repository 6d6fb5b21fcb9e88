#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>

#include "convert.hpp"
#include "gil.hpp"
#include "raise.hpp"
#include "ready_queue.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// Checks everything but whether the frames exist: a wait may be asked before they do.
NamedQuestion named_question(const StoreCore& world, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at,
                             nb::handle fixed_frame, nb::handle outside, nb::handle policy, nb::handle interpolation,
                             nb::handle hold_up_to_s) {
  NamedQuestion question{frame_label(world, of),
                         frame_label(world, in_frame),
                         {},
                         as_when(at, "at"),
                         {},
                         as_context(world, outside, policy, interpolation, hold_up_to_s)};
  question.context.is_waited_for = true;
  if (of_at.is_none() != fixed_frame.is_none())
    raise("InvalidArgument", "of_at and fixed_frame go together: where `of` was at of_at, through a frame that stood still.");
  if (fixed_frame.is_none()) return question;
  question.fixed_frame = frame_label(world, fixed_frame);
  question.of_at = as_when(of_at, "of_at");
  return question;
}

void check_question(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at, nb::handle fixed_frame,
                    nb::handle outside, nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s) {
  const bool is_native = is_unique_policy(policy);
  if (!is_native) (void)by_policy(self, "check_policy", policy);
  const nb::handle checked = is_native ? policy : nb::handle(words().unique);
  (void)named_question(core(self), of, in_frame, at, of_at, fixed_frame, outside, checked, interpolation, hold_up_to_s);
}

/// The Pose; None while something is missing that may still come; raises what cannot pass.
nb::object answer_or_watch(Self self, nb::handle_t<ReadyQueue> queue, WaitId id, nb::handle of, nb::handle in_frame,
                           nb::handle at, nb::handle of_at, nb::handle fixed_frame, nb::handle outside, nb::handle policy,
                           nb::handle interpolation, nb::handle hold_up_to_s) {
  if (!is_unique_policy(policy))
    return by_policy(self, "pose_or_watch", queue, id, "of"_a = of, "in_frame"_a = in_frame, "at"_a = at, "of_at"_a = of_at,
                     "fixed_frame"_a = fixed_frame, "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
                     "hold_up_to_s"_a = hold_up_to_s);
  const StoreCore& world = core(self);
  const NamedQuestion question =
      named_question(world, of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s);
  Result<PoseAnswer> result = world.forest->answer_or_watch(question, {id, nb::inst_ptr<ReadyQueue>(queue)});
  if (result) return new_pose([&] { return make_pose(world, std::move(result.value), of, in_frame); });
  if (world.forest->is_watching(id)) return nb::none();
  raise_failure(world, result.failure, of, in_frame);
}

/// Whether something may still come; then the wait is woken by whatever any of the paths lacks.
bool watch_paths(Self self, ReadyQueue& queue, WaitId id, std::size_t max_paths, nb::handle of, nb::handle in_frame,
                 nb::handle at, nb::handle of_at, nb::handle fixed_frame, nb::handle outside, nb::handle interpolation,
                 nb::handle hold_up_to_s) {
  const StoreCore& world = core(self);
  const NamedQuestion question =
      named_question(world, of, in_frame, at, of_at, fixed_frame, outside, words().unique, interpolation, hold_up_to_s);
  const Failure failure = world.forest->watch_paths(question, {id, &queue}, max_paths);
  const bool is_of_the_wait = failure.kind() == FailureKind::closed || failure.kind() == FailureKind::limit_reached;
  if (is_of_the_wait) raise_failure(world, failure, of, in_frame);
  return !failure;
}

/// Signals reach the main thread only; another thread must not take the GIL while the interpreter ends.
std::function<bool()> no_signal() {
  const nb::module_ threading = nb::module_::import_("threading");
  if (!threading.attr("current_thread")().is(threading.attr("main_thread")())) return {};
  return [] {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() == 0;
  };
}

/// The answer that `wait(timeout_ns, no_signal, &hopeless)` blocks for, or the error that ends the wait.
template <typename Wait>
auto waited(const StoreCore& world, double timeout_s, nb::handle of, nb::handle other, const char* what, Wait wait) {
  const std::function<bool()> keep_waiting = no_signal();
  const std::int64_t timeout_ns = timeout_s < 0 ? -1 : static_cast<std::int64_t>(std::min(timeout_s, 1e9) * 1e9);
  bool hopeless = false;
  auto result = without_gil([&] { return wait(timeout_ns, keep_waiting, &hopeless); });
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (result) return std::move(result.value);
  const nb::object reason = error_of(world, result.failure, of, other, false);
  if (hopeless) raise_object(reason);
  raise_object(error_class("WaitTimeout")(of, other, timeout_s, reason, "what"_a = what));
}

nb::object wait_for_pose(Self self, double timeout_s, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at,
                         nb::handle fixed_frame, nb::handle outside, nb::handle policy, nb::handle interpolation,
                         nb::handle hold_up_to_s) {
  if (!is_unique_policy(policy))
    return by_policy(self, "wait_for_pose", timeout_s, "of"_a = of, "in_frame"_a = in_frame, "at"_a = at, "of_at"_a = of_at,
                     "fixed_frame"_a = fixed_frame, "outside"_a = outside, "policy"_a = policy, "interpolation"_a = interpolation,
                     "hold_up_to_s"_a = hold_up_to_s);
  const StoreCore& world = core(self);
  const NamedQuestion question =
      named_question(world, of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation, hold_up_to_s);
  PoseAnswer answer =
      waited(world, timeout_s, of, in_frame, "pose", [&](auto... how) { return world.forest->wait_for_pose(question, how...); });
  return new_pose([&] { return make_pose(world, std::move(answer), of, in_frame); });
}

/// The keyword arguments of a question about motion, in their order.
struct Motion {
  nb::handle of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, hold_up_to_s, measured;
};

std::string text_or_empty(nb::handle name) { return name.is_none() ? std::string() : std::string(text_of(name)); }

/// Checks everything but whether the frames exist.
NamedTwistQuestion named_motion(const StoreCore& world, const Motion& asked) {
  if (!is_unique_policy(asked.policy))
    raise("InvalidArgument",
          "A wait for a motion takes policy='unique' alone, got " + shown(asked.policy) +
              ". Wait for the pose with that policy, and ask for the twist then.",
          asked.policy);
  NamedTwistQuestion question{.of = std::string(text_of(asked.of)),
                              .relative_to = std::string(text_of(asked.relative_to)),
                              .expressed_in = text_or_empty(asked.expressed_in),
                              .point = text_or_empty(asked.point),
                              .at = as_when(asked.at, "at"),
                              .window = as_window(asked.window),
                              .with_measured = as_flag(asked.measured, "measured"),
                              .context = as_context(world, asked.outside, asked.policy, asked.interpolation, asked.hold_up_to_s)};
  question.context.is_waited_for = true;
  const bool is_only_a_body =
      is_declared(world.forest->find_body(question.relative_to)) && world.forest->find_frame(question.relative_to) == kNone;
  if (is_only_a_body && question.expressed_in.empty()) raise_without_axes(asked.relative_to);
  return question;
}

nb::object motion(const StoreCore& world, TwistAnswer answer, const Motion& asked) {
  return new_twist(
      [&] { return make_twist(world, std::move(answer), asked.of, asked.relative_to, asked.expressed_in, asked.point); });
}

void check_motion(Self self, nb::handle of, nb::handle relative_to, nb::handle expressed_in, nb::handle point, nb::handle at,
                  nb::handle window, nb::handle outside, nb::handle policy, nb::handle interpolation, nb::handle hold_up_to_s,
                  nb::handle measured) {
  (void)named_motion(core(self),
                     {of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, hold_up_to_s, measured});
}

/// As `answer_or_watch`, of a Twist.
nb::object twist_or_watch(Self self, ReadyQueue& queue, WaitId id, nb::handle of, nb::handle relative_to, nb::handle expressed_in,
                          nb::handle point, nb::handle at, nb::handle window, nb::handle outside, nb::handle policy,
                          nb::handle interpolation, nb::handle hold_up_to_s, nb::handle measured) {
  const StoreCore& world = core(self);
  const Motion asked{of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, hold_up_to_s, measured};
  Result<TwistAnswer> result = world.forest->answer_or_watch(named_motion(world, asked), {id, &queue});
  if (result) return motion(world, std::move(result.value), asked);
  if (world.forest->is_watching(id)) return nb::none();
  raise_failure(world, result.failure, of, relative_to);
}

nb::object wait_for_twist(Self self, double timeout_s, nb::handle of, nb::handle relative_to, nb::handle expressed_in,
                          nb::handle point, nb::handle at, nb::handle window, nb::handle outside, nb::handle policy,
                          nb::handle interpolation, nb::handle hold_up_to_s, nb::handle measured) {
  const StoreCore& world = core(self);
  const Motion asked{of, relative_to, expressed_in, point, at, window, outside, policy, interpolation, hold_up_to_s, measured};
  const NamedTwistQuestion question = named_motion(world, asked);
  TwistAnswer answer = waited(world, timeout_s, of, relative_to, "twist",
                              [&](auto... how) { return world.forest->wait_for_twist(question, how...); });
  return motion(world, std::move(answer), asked);
}

}  // namespace

void bind_world_waits(nb::module_& m, nb::class_<StoreCore>& world) {
  static const std::string question =
      "*, of: str | NodeId, in_frame: str | NodeId, at: int | Latest, of_at: int | Latest | None, fixed_frame: str | NodeId | "
      "None, outside: str, policy: "
      "str | Callable[..., Any], "
      "interpolation: str | None, hold_up_to_s: float | None) -> ";
  static const std::string answer_sig =
      "def pose_or_watch(self, queue: ReadyQueue, wait_id: int, " + question + "PoseAnswer | None";
  static const std::string wait_sig = "def block_for_pose(self, timeout_s: float, " + question + "PoseAnswer";
  static const std::string check_sig = "def check_question(self, " + question + "None";
  static const std::string motion_question =
      "*, of: str | NodeId, relative_to: str | NodeId, expressed_in: str | NodeId | None, point: str | NodeId | None, at: int | "
      "Latest, window: int | None, "
      "outside: str, policy: str, interpolation: str | None, hold_up_to_s: float | None, measured: bool) -> ";
  static const std::string twist_sig =
      "def twist_or_watch(self, queue: ReadyQueue, wait_id: int, " + motion_question + "TwistAnswer | None";
  static const std::string wait_twist_sig = "def block_for_twist(self, timeout_s: float, " + motion_question + "TwistAnswer";
  static const std::string check_motion_sig = "def check_motion(self, " + motion_question + "None";
  nb::class_<ReadyQueue>(m, "ReadyQueue", "Waits that are to be asked again.")
      .def(nb::init<>())
      .def("wake", &ReadyQueue::wake, "wait_id"_a, "Put a wait in, as the world does when what it watches has changed.")
      .def("forget", &ReadyQueue::forget, "wait_id"_a, "Take out a wait that has ended.")
      .def("__len__", &ReadyQueue::size)
      .def(
          "pop", [](ReadyQueue& queue, double timeout_s) { return without_gil([&] { return queue.pop(timeout_s); }); },
          "timeout_s"_a, "The next wait, or 0 when the time is over; a negative time waits for ever.");
  world.def("new_wait_id", [](Self self) { return core(self).forest->new_wait_id(); })
      .def("pose_or_watch", &answer_or_watch, "queue"_a, "wait_id"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a,
           "of_at"_a.none(), "fixed_frame"_a.none(), "outside"_a.none(), "policy"_a.none(), "interpolation"_a.none(),
           "hold_up_to_s"_a.none(), nb::sig(answer_sig.c_str()))
      .def("block_for_pose", &wait_for_pose, "timeout_s"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(),
           "fixed_frame"_a.none(), "outside"_a.none(), "policy"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(),
           nb::sig(wait_sig.c_str()))
      .def("watch_paths", &watch_paths, "queue"_a, "wait_id"_a, "max_paths"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a,
           "of_at"_a.none(), "fixed_frame"_a.none(), "outside"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(),
           nb::sig("def watch_paths(self, queue: ReadyQueue, wait_id: int, max_paths: int, *, of: str | NodeId, in_frame: str | "
                   "NodeId, at: int | "
                   "Latest, of_at: int | Latest | None, fixed_frame: str | NodeId | None, outside: str, interpolation: str | "
                   "None, hold_up_to_s: float | None) -> "
                   "bool"))
      .def("check_question", &check_question, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(),
           "fixed_frame"_a.none(), "outside"_a.none(), "policy"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(),
           nb::sig(check_sig.c_str()))
      .def("twist_or_watch", &twist_or_watch, "queue"_a, "wait_id"_a, nb::kw_only(), "of"_a, "relative_to"_a,
           "expressed_in"_a.none(), "point"_a.none(), "at"_a, "window"_a.none(), "outside"_a.none(), "policy"_a.none(),
           "interpolation"_a.none(), "hold_up_to_s"_a.none(), "measured"_a, nb::sig(twist_sig.c_str()))
      .def("block_for_twist", &wait_for_twist, "timeout_s"_a, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a.none(),
           "point"_a.none(), "at"_a, "window"_a.none(), "outside"_a.none(), "policy"_a.none(), "interpolation"_a.none(),
           "hold_up_to_s"_a.none(), "measured"_a, nb::sig(wait_twist_sig.c_str()))
      .def("check_motion", &check_motion, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a.none(), "point"_a.none(),
           "at"_a, "window"_a.none(), "outside"_a.none(), "policy"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(),
           "measured"_a, nb::sig(check_motion_sig.c_str()))
      .def(
          "watch_pose",
          [](Self self, ReadyQueue& queue, WaitId id, const std::string& of, const std::string& in_frame, std::int64_t at) {
            QueryContext context = core(self).defaults;
            context.is_waited_for = true;
            return core(self).forest->watch_pose({.of = of, .in_frame = in_frame, .at = When::exactly({at}), .context = context},
                                                 {id, &queue});
          },
          "queue"_a, "wait_id"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a,
          "Put the wait into the queue when this pose may have become known. False: it is, or it can never be.")
      .def(
          "forget_wait", [](Self self, WaitId id) { core(self).forest->forget_watch(id); }, "wait_id"_a)
      .def("waits_pending", [](Self self) { return core(self).forest->waits_pending(); })
      .def("close_waits", [](Self self) { core(self).forest->close(); })
      .def(
          "closer", [](Self self) { return nb::cpp_function([forest = core(self).forest] { forest->close(); }); },
          nb::sig("def closer(self) -> Callable[[], None]"), "What ends all waits without keeping the world.")
      .def(
          "as_stamp", [](Self, nb::handle at, const char* name) { return as_stamp(at, name); }, "at"_a.none(), "name"_a,
          nb::sig("def as_stamp(self, at: object, name: str) -> int"));
}

}  // namespace armillary::python
