#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace armillary::python {

[[nodiscard]] inline bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

[[noreturn]] inline void stay_for_ever() {
  while (true) pause();
}

/// Gives the GIL away, and takes it back however the work in between ends.
///
/// A thread that comes back while the interpreter ends never gets the GIL again: CPython ends it with pthread_exit,
/// whose unwinding must not reach C++ frames. It stays here until the process is gone.
class GilGivenAway {
 public:
  GilGivenAway() : state_(PyEval_SaveThread()) {}
  ~GilGivenAway() {
    if (interpreter_ends() || Py_IsInitialized() == 0) stay_for_ever();
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      stay_for_ever();
    }
  }
  GilGivenAway(const GilGivenAway&) = delete;
  GilGivenAway& operator=(const GilGivenAway&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls Python code, which may give the GIL away: a thread that gets it back no more stays here as well.
template <typename Call>
auto call_python(Call call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    stay_for_ever();
  }
}

/// Runs `work` without the GIL. What it throws arrives in Python: std::bad_alloc as MemoryError.
template <typename Work>
auto without_gil(Work work) {
  const GilGivenAway given_away;
  return work();
}

}  // namespace armillary::python
