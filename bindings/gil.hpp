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

/// Runs `work` without the GIL. A thread that comes back while the interpreter ends never gets the GIL again: CPython
/// ends it with pthread_exit, whose unwinding must not reach C++ frames. It stays here until the process is gone.
template <typename Work>
auto without_gil(Work work) {
  PyThreadState* state = PyEval_SaveThread();
  auto result = work();
  if (interpreter_ends() || Py_IsInitialized() == 0) stay_for_ever();
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    stay_for_ever();
  }
  return result;
}

}  // namespace armillary::python
