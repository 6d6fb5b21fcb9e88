#pragma once

// A small test runner: the core's tests need nothing but a compiler.

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Case {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

/// Failed checks of the case that runs; checks may be made by several threads.
inline std::atomic<int>& failures() {
  static std::atomic<int> count{0};
  return count;
}

struct Register {
  Register(std::string name, std::function<void()> body) { cases().push_back({std::move(name), std::move(body)}); }
};

/// Counts a failure; false once it is not worth another line.
inline bool is_worth_a_line() {
  constexpr int kLinesPerCase = 5;
  return failures().fetch_add(1) < kLinesPerCase;
}

inline void that(bool holds, const char* what, const char* file, int line) {
  if (!holds && is_worth_a_line()) std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
}

inline void close(double a, double b, double tolerance, const char* file, int line) {
  if (std::abs(a - b) <= tolerance) return;
  if (is_worth_a_line()) std::fprintf(stderr, "%s:%d: %.17g is not within %g of %.17g\n", file, line, a, tolerance, b);
}

/// Ends the run, and says where, when a case takes too long: a hang is a failure like others.
class Watchdog {
 public:
  explicit Watchdog(const Case& test) {
    running() = test.name.c_str();
    std::signal(SIGALRM, [](int) { end(); });
    alarm(limit_s());
  }
  ~Watchdog() { alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  static const char*& running() {
    static const char* name = nullptr;
    return name;
  }
  static void end() {  // only calls that are allowed in a signal handler
    const auto print = [](const char* text) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
    };
    print("took too long: ");
    print(running());
    print("\n");
    std::_Exit(1);
  }
  static unsigned limit_s() {
    const char* given = std::getenv("ARMILLARY_TEST_LIMIT_S");
    return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 120;
  }
};

/// `text`: names that contain it; `-text`: names that do not.
inline bool is_chosen(const std::string& name, const char* filter) {
  if (filter == nullptr) return true;
  const bool without = filter[0] == '-';
  return (name.find(filter + (without ? 1 : 0)) != std::string::npos) != without;
}

/// Runs every case, or those that `filter` chooses; exit status 1 on any failure.
inline int run(const char* filter) {
  int passed = 0, failed = 0;
  for (const Case& test : cases()) {
    if (!is_chosen(test.name, filter)) continue;
    failures() = 0;
    {
      const Watchdog watchdog(test);
      test.body();
    }
    const bool ok = failures() == 0;
    (ok ? passed : failed) += 1;
    std::printf("%s %s\n", ok ? "ok  " : "FAIL", test.name.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) ::check::that(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_CLOSE(a, b, tolerance) ::check::close((a), (b), (tolerance), __FILE__, __LINE__)
#define TEST(identifier, name)                                         \
  static void identifier();                                            \
  static const ::check::Register identifier##_entry{name, identifier}; \
  static void identifier()
