#!/bin/sh
# Installs the C++ core to a temporary prefix, builds examples/cpp against it and checks what it prints.
# Usage: cpp_example.sh [BUILD]   BUILD: a folder in which the core is built already
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
core=${1:-}

build() {
  if [ -z "$core" ]; then
    core=$work/core
    cmake -S "$here" -B "$core" -G Ninja && cmake --build "$core" || return 1
  fi
  cmake --install "$core" --prefix "$work/prefix" --component core &&
    cmake -S "$here/examples/cpp" -B "$work/example" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" &&
    cmake --build "$work/example"
}

build >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/example/armillary_example" | tee "$work/out"
grep -q 'camera in map at 1.5 s: 1.600 0.000 0.400' "$work/out"
grep -q 'asked after the history' "$work/out"
echo "The C++ example found the installed core and answered."
