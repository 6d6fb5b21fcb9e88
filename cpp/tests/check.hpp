#pragma once

// A test runner in thirty lines: the core's tests need nothing but a compiler.

#include <cmath>
#include <cstdio>
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

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(std::string name, std::function<void()> body) { cases().push_back({std::move(name), std::move(body)}); }
};

inline void that(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures();
  std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
}

inline void close(double a, double b, double tolerance, const char* file, int line) {
  if (std::abs(a - b) <= tolerance) return;
  ++failures();
  std::fprintf(stderr, "%s:%d: %.17g is not within %g of %.17g\n", file, line, a, tolerance, b);
}

/// Runs every case, or those whose name contains `only`; exit status 1 on any failure.
inline int run(const char* only) {
  int passed = 0, failed = 0;
  for (const Case& test : cases()) {
    if (only != nullptr && test.name.find(only) == std::string::npos) continue;
    const int before = failures();
    test.body();
    const bool ok = failures() == before;
    (ok ? passed : failed) += 1;
    std::printf("%s %s\n", ok ? "ok  " : "FAIL", test.name.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) ::check::that((condition), #condition, __FILE__, __LINE__)
#define CHECK_CLOSE(a, b, tolerance) ::check::close((a), (b), (tolerance), __FILE__, __LINE__)
#define TEST(identifier, name)                                     \
  static void identifier();                                        \
  static const ::check::Register identifier##_entry{name, identifier}; \
  static void identifier()
