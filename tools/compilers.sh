#!/bin/sh
# Reads every C++ file of the core and of its tests, each by itself, with the compilers that the README names.
# Nothing is made. An error or a warning fails; a compiler that is not installed is left out and named.
# Usage: compilers.sh [compiler ...]   (clang++-14 or clang++, g++-11 or g++)
set -u
cd "$(dirname "$0")/.." || exit 1

first_of() { # names: the first that is installed
  for name in "$@"; do
    command -v "$name" >/dev/null 2>&1 && echo "$name" && return
  done
  echo "$1"
}

[ $# -gt 0 ] || set -- "$(first_of clang++-14 clang++)" "$(first_of g++-11 g++)"
options="-std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unknown-pragmas"
checked=0
failed=0
for compiler in "$@"; do
  if ! command -v "$compiler" >/dev/null 2>&1; then
    echo "     $compiler is not installed: not checked"
  elif git ls-files 'cpp/src/*.cpp' 'cpp/tests/*.cpp' | grep -v _avx2 |
    xargs -P "$(nproc)" -n 4 "$compiler" $options -Icpp/include -Icpp/src -Icpp/tests; then
    checked=$((checked + 1))
    echo "ok   $compiler"
  else
    failed=$((failed + 1))
    echo "FAIL $compiler"
  fi
done
echo "$checked passed, $failed failed"
[ "$failed" -eq 0 ]
