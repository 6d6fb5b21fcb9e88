#!/bin/sh
# Says what is missing before anything is built.

python=${PYTHON:-python3}
missing=""

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  missing="$missing\n  Python 3.11 or newer (found: $("$python" --version 2>/dev/null || echo none)). Name another with: make PYTHON=python3.12 ..."
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
  missing="$missing\n  the venv module of Python (Debian: apt-get install python3-venv)"

compiler=${CXX:-}
for candidate in c++ g++ clang++; do
  [ -n "$compiler" ] || ! command -v "$candidate" >/dev/null 2>&1 || compiler=$candidate
done
if [ -z "$compiler" ]; then
  missing="$missing\n  a C++ compiler with C++20 (Debian: apt-get install g++; macOS: xcode-select --install)"
elif ! echo '#include <compare>
#include <span>
int main() { return (1 <=> 2) == 0; }' | "$compiler" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
  missing="$missing\n  a compiler that knows C++20: '$compiler' does not (g++ 11 or clang++ 14 do)"
fi

if [ -n "$missing" ]; then
  printf 'Armillary cannot be built here. Missing:%b\n' "$missing" >&2
  exit 1
fi
