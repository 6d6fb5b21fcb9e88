#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_set>

#include "convert.hpp"
#include "gil.hpp"
#include "raise.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// Waits that are to be asked again, in the order they were woken. One dispatcher thread takes them out.
class ReadyQueue : public Watcher {
 public:
  void wake(WaitId id) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    ready_.push_back(id);
    condition_.notify_one();
  }

  /// Takes out a wait that has ended. Now and then, so that its cost is small and what is left behind is, too.
  void forget(WaitId id) {
    const std::lock_guard<std::mutex> guard(mutex_);
    gone_.insert(id);
    if (gone_.size() < kFewGone + ready_.size() / 2) return;
    std::erase_if(ready_, [this](WaitId ready) { return gone_.contains(ready); });
    gone_.clear();
  }

  [[nodiscard]] std::size_t size() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return ready_.size();
  }

  /// The next wait, or 0 when `timeout_s` is over.
  WaitId pop(double timeout_s) {
    std::unique_lock<std::mutex> guard(mutex_);
    const auto is_ready = [this] { return !ready_.empty(); };
    if (timeout_s < 0) {
      condition_.wait(guard, is_ready);
    } else if (!condition_.wait_for(guard, std::chrono::duration<double>(std::min(timeout_s, 1e6)), is_ready)) {
      return 0;
    }
    const WaitId id = ready_.front();
    ready_.pop_front();
    return id;
  }

 private:
  static constexpr std::size_t kFewGone = 16;
  std::mutex mutex_;
  std::condition_variable condition_;
  std::deque<WaitId> ready_;
  std::unordered_set<WaitId> gone_;  // waits that have ended; some may stand in `ready_` still
};

/// Checks everything but whether the frames exist: a wait may be asked before they do.
NamedQuestion named_question(const WorldCore& world, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at,
                             nb::handle fixed_frame, nb::handle outside, nb::handle policy, nb::handle interpolation) {
  NamedQuestion question{std::string(text_of(of)),
                         std::string(text_of(in_frame)),
                         {},
                         as_when(at, "at"),
                         {},
                         as_context(world, outside, policy, interpolation)};
  if (of_at.is_none() != fixed_frame.is_none())
    raise("InvalidArgument", "of_at and fixed_frame go together: where `of` was at of_at, through a frame that stood still.");
  if (fixed_frame.is_none()) return question;
  question.fixed_frame = text_of(fixed_frame);
  question.of_at = as_when(of_at, "of_at");
  return question;
}

void check_question(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at, nb::handle fixed_frame,
                    nb::handle outside, nb::handle policy, nb::handle interpolation) {
  (void)named_question(core(self), of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation);
}

/// The Pose; None while something is missing that may still come; raises what cannot pass.
nb::object answer_or_watch(Self self, ReadyQueue& queue, WaitId id, nb::handle of, nb::handle in_frame, nb::handle at,
                           nb::handle of_at, nb::handle fixed_frame, nb::handle outside, nb::handle policy,
                           nb::handle interpolation) {
  const WorldCore& world = core(self);
  const NamedQuestion question = named_question(world, of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation);
  Result<PoseAnswer> result = world.forest->answer_or_watch(question, {id, &queue});
  if (result) return new_pose([&] { return make_pose(world, std::move(result.value), of, in_frame); });
  if (world.forest->is_watching(id)) return nb::none();
  raise_failure(world, result.failure, of, in_frame);
}

nb::object wait_for_pose(Self self, double timeout_s, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at,
                         nb::handle fixed_frame, nb::handle outside, nb::handle policy, nb::handle interpolation) {
  const WorldCore& world = core(self);
  const NamedQuestion question = named_question(world, of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation);
  // Signals reach the main thread only; another thread must not take the GIL while the interpreter ends.
  const nb::module_ threading = nb::module_::import_("threading");
  const bool is_main = threading.attr("current_thread")().is(threading.attr("main_thread")());
  const std::function<bool()> no_signal = !is_main ? std::function<bool()>{} : [] {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() == 0;
  };
  const std::int64_t timeout_ns = timeout_s < 0 ? -1 : static_cast<std::int64_t>(std::min(timeout_s, 1e9) * 1e9);
  bool hopeless = false;
  Result<PoseAnswer> result =
      without_gil([&] { return world.forest->wait_for_pose(question, timeout_ns, no_signal, &hopeless); });
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (result) return new_pose([&] { return make_pose(world, std::move(result.value), of, in_frame); });
  const nb::object reason = error_of(world, result.failure, of, in_frame, false);
  if (hopeless) raise_object(reason);
  raise_object(error_class("WaitTimeout")(of, in_frame, timeout_s, reason));
}

}  // namespace

void bind_world_waits(nb::module_& m, nb::class_<WorldCore>& world) {
  static const std::string question =
      "*, of: str, in_frame: str, at: int | Latest, of_at: int | Latest | None, fixed_frame: str | None, outside: str, policy: "
      "str, "
      "interpolation: str | None) -> ";
  static const std::string answer_sig =
      "def _answer_or_watch(self, queue: ReadyQueue, wait_id: int, " + question + "PoseAnswer | None";
  static const std::string wait_sig = "def _wait_for_pose(self, timeout_s: float, " + question + "PoseAnswer";
  static const std::string check_sig = "def _check_question(self, " + question + "None";
  nb::class_<ReadyQueue>(m, "ReadyQueue", "Waits that are to be asked again.")
      .def(nb::init<>())
      .def("wake", &ReadyQueue::wake, "wait_id"_a, "Put a wait in, as the world does when what it watches has changed.")
      .def("forget", &ReadyQueue::forget, "wait_id"_a, "Take out a wait that has ended.")
      .def("__len__", &ReadyQueue::size)
      .def(
          "pop", [](ReadyQueue& queue, double timeout_s) { return without_gil([&] { return queue.pop(timeout_s); }); },
          "timeout_s"_a, "The next wait, or 0 when the time is over; a negative time waits for ever.");
  world.def("_new_wait_id", [](Self self) { return core(self).forest->new_wait_id(); })
      .def("_answer_or_watch", &answer_or_watch, "queue"_a, "wait_id"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a,
           "of_at"_a.none(), "fixed_frame"_a.none(), "outside"_a, "policy"_a, "interpolation"_a.none(),
           nb::sig(answer_sig.c_str()))
      .def("_wait_for_pose", &wait_for_pose, "timeout_s"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(),
           "fixed_frame"_a.none(), "outside"_a, "policy"_a, "interpolation"_a.none(), nb::sig(wait_sig.c_str()))
      .def("_check_question", &check_question, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(),
           "fixed_frame"_a.none(), "outside"_a, "policy"_a, "interpolation"_a.none(), nb::sig(check_sig.c_str()))
      .def(
          "_watch_pose",
          [](Self self, ReadyQueue& queue, WaitId id, const std::string& of, const std::string& in_frame, std::int64_t at) {
            return core(self).forest->watch_pose({.of = of, .in_frame = in_frame, .at = When::exactly({at})}, {id, &queue});
          },
          "queue"_a, "wait_id"_a, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a,
          "Put the wait into the queue when this pose may have become known. False: it is, or it can never be.")
      .def(
          "_forget_wait", [](Self self, WaitId id) { core(self).forest->forget_watch(id); }, "wait_id"_a)
      .def("_waits_pending", [](Self self) { return core(self).forest->waits_pending(); })
      .def("_close", [](Self self) { core(self).forest->close(); })
      .def(
          "_closer", [](Self self) { return nb::cpp_function([forest = core(self).forest] { forest->close(); }); },
          nb::sig("def _closer(self) -> Callable[[], None]"), "What ends all waits without keeping the world.")
      .def(
          "_check_stamp", [](Self, nb::handle at, const char* name) { (void)as_stamp(at, name); }, "at"_a.none(), "name"_a,
          nb::sig("def _check_stamp(self, at: object, name: str) -> None"));
}

}  // namespace armillary::python
