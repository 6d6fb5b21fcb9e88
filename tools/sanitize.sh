#!/bin/sh
# The C++ core under the address, undefined-behaviour and thread sanitizers.
# Each sanitizer is also given a program with a fault of the kind it is there for: a silent one fails the run.
# Usage: sanitize.sh [--python]   --python: the Python tests of the core under the address sanitizer as well
# ARMILLARY_STRESS_ANSWERS: answers that the stress test checks, under each sanitizer (200000)
# ARMILLARY_SANITIZE_BUILD: a folder to build in and keep
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
if [ -n "${ARMILLARY_SANITIZE_BUILD:-}" ]; then
  work=$ARMILLARY_SANITIZE_BUILD
  mkdir -p "$work"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
answers=${ARMILLARY_STRESS_ANSWERS:-200000}
passed=0
failed=0
faults='AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:'

pass() { passed=$((passed + 1)); echo "ok   $1"; }
fail() { failed=$((failed + 1)); echo "FAIL $1"; tail -n 40 "$2" | sed 's/^/     /'; }

# The thread sanitizer of GCC wants memory where it always is.
unrandomised() {
  if command -v setarch >/dev/null 2>&1; then setarch -R "$@"; else "$@"; fi
}

build() { # sanitizer, folder
  cmake -S "$here" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 -DARMILLARY_BUILD_TESTS=ON -DARMILLARY_SANITIZE="$1" >"$2.log" 2>&1 &&
    cmake --build "$2" >>"$2.log" 2>&1
}

run_tests() { # name, folder
  log=$2.tests
  ARMILLARY_STRESS_ANSWERS=$answers ARMILLARY_TEST_LIMIT_S=1800 unrandomised "$2/cpp/tests/armillary_tests" >"$log" 2>&1
  status=$?
  grep ' reads, ' "$log"
  if [ $status -eq 0 ] && ! grep -Eq "$faults" "$log"; then
    pass "$1: $(tail -n 1 "$log")"
  else
    fail "$1: tests" "$log"
  fi
}

expect_report() { # name, program, words of the report
  log=$2.out
  unrandomised "$2" >"$log" 2>&1
  if grep -Eq "$3" "$log"; then
    pass "$1 is reported: $(grep -Eo "$3" "$log" | head -n 1)"
  else
    fail "$1 is NOT reported: the sanitizer is blind here" "$log"
  fi
}

run_python() {
  venv=$work/venv
  log=$work/python.log
  runtime="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $(gcc -print-file-name=libstdc++.so)"
  {
    python3 -m venv "$venv" && "$venv/bin/python" -m pip -qq install "pip>=25.1" &&
      (cd "$here" && "$venv/bin/python" -m pip -qq install --group build --group test) &&
      "$venv/bin/python" -m pip -qq install --no-build-isolation "$here" -C build-dir="$work/python" \
        -C cmake.define.ARMILLARY_SANITIZE=address,undefined
  } >"$log" 2>&1 || { fail "address, undefined: Python build" "$log"; return; }
  (cd "$here" && LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 "$venv/bin/python" -m pytest -q -p no:cacheprovider tests/unit tests/laws) >"$log" 2>&1
  status=$?
  if [ $status -eq 0 ] && ! grep -Eq "$faults" "$log"; then
    pass "address, undefined: Python, $(tail -n 1 "$log")"
  else
    fail "address, undefined: Python tests" "$log"
  fi
}

export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=second_deadlock_stack=1

if build address,undefined "$work/address"; then
  run_tests "address, undefined" "$work/address"
  controls=$work/address/cpp/tests
  expect_report "address: a row read after it was retired" "$controls/control_address_after_retire" "heap-use-after-free"
  expect_report "undefined: stamps too far apart" "$controls/control_undefined_overflow" "signed integer overflow"
else
  fail "address, undefined: build" "$work/address.log"
fi

if build thread "$work/thread"; then
  run_tests "thread" "$work/thread"
  controls=$work/thread/cpp/tests
  expect_report "thread: rows read without a pin" "$controls/control_thread_no_pin" "ThreadSanitizer: (data race|heap-use-after-free)"
  expect_report "thread: a row changed after publication" "$controls/control_thread_changed_row" "ThreadSanitizer: data race"
else
  fail "thread: build" "$work/thread.log"
fi

[ "${1:-}" != --python ] || run_python

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
